// The lattice of isolation levels with the verdicts. A level that nobody asked for is marked faintly
// if another one answers for it. Where each level stands (x, row) comes with the lattice.

const kRowHeight = 58;
const levelY = level => 30 + level.row * kRowHeight;
const levelWidth = level => level.name.length * 7.2 + 40;

// Which verdicts follow from those that are known: what is weaker than a level that holds holds, what
// is stronger than a violated one is violated.
function impliedOutcomes(lattice, known) {
  const below = new Map(lattice.map(level => [level.name, level.below]));
  const weaker = new Map();
  for (const {name} of lattice) {
    const seen = new Set();
    const open = [...below.get(name)];
    while (open.length > 0) {
      const next = open.pop();
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...below.get(next));
    }
    weaker.set(name, seen);
  }
  const implied = new Map();
  for (const {name} of lattice) {
    if (known.has(name)) continue;
    for (const [other, outcome] of known) {
      if (outcome === 'holds' && weaker.get(other).has(name)) implied.set(name, 'holds');
      if (outcome === 'violated' && weaker.get(name).has(other)) implied.set(name, 'violated');
    }
  }
  return implied;
}

// The line from a level to one directly below it. Over many rows it goes straight down and then along
// the bottom if no level stands in that column, else it bends around them.
function latticeLine(lattice, from, to) {
  const [x1, y1, x2, y2] = [from.x, levelY(from), to.x, levelY(to)];
  if (to.row - from.row <= 2) return `M${x1} ${y1} L${x2} ${y2}`;
  const inTheWay = level => level.row > from.row && Math.abs(level.x - x1) < levelWidth(level) / 2;
  if (!lattice.some(inTheWay)) {
    return `M${x1} ${y1} V${y2 - 4} Q${x1} ${y2 + 34} ${x1 + 50} ${y2 + 34} H${x2 - 60} Q${x2 - 14} ${y2 + 34} ${x2} ${y2}`;
  }
  return `M${x1} ${y1} C${(x1 + x2) / 2 + 40} ${y1 + 50} ${x2} ${y2 - 190} ${x2} ${y2}`;
}

function latticePicture(lattice, history) {
  const known = new Map(history.levels.map(level => [level.name, level.outcome]));
  const implied = history.implies ? impliedOutcomes(lattice, known) : new Map();
  const remarks = new Map(history.levels.map(level => [level.name, level.remark]));
  const height = 82 + kRowHeight * Math.max(...lattice.map(level => level.row));
  const picture = svg('svg', {viewBox: `0 0 720 ${height}`, class: 'lattice', role: 'img',
                              'aria-label': 'Isolation levels; the table beside says the same'});
  const named = new Map(lattice.map(level => [level.name, level]));
  for (const level of lattice) {
    for (const below of level.below) {
      const line = latticeLine(lattice, level, named.get(below));
      picture.append(svg('path', {class: 'bond', d: line, fill: 'none'}));
    }
  }
  for (const level of lattice) {
    const {name, definition, x} = level;
    const y = levelY(level);
    const outcome = known.get(name) ?? implied.get(name) ?? 'none';
    const how = known.has(name) ? '' : implied.has(name) ? ' implied' : ' unasked';
    const partly = outcome === 'holds' && remarks.get(name);  // Something was left out.
    const mark = partly ? '~' : kOutcomes[outcome]?.mark ?? '·';
    const w = levelWidth(level);
    picture.append(svg('g', {class: `level ${outcome}${how}`, 'data-level': name},
        svg('title', {}, [definition, remarks.get(name), history.undecidable[name]].filter(Boolean).join(' — ')),
        svg('rect', {x: x - w / 2, y: y - 15, width: w, height: 30, rx: 15}),
        svg('text', {x: x - w / 2 + 14, y: y + 5, class: 'mark'}, mark),
        svg('text', {x: x - w / 2 + 29, y: y + 4}, name)));
  }
  return picture;
}

function levelsTable(history) {
  const rows = history.levels.map(level => html('tr', {},
      html('th', {scope: 'row'}, level.name), html('td', {}, badge(level.outcome)), html('td', {}, level.remark)));
  for (const [name, why] of Object.entries(history.undecidable)) {
    if (history.levels.length < 6) continue;
    rows.push(html('tr', {class: 'dim'}, html('th', {scope: 'row'}, name), html('td', {colspan: 2}, why)));
  }
  return html('table', {class: 'levels'}, html('caption', {}, 'Verdicts'), html('tbody', {}, rows));
}

function levelsView(lattice, history) {
  const asked = history.levels.length < lattice.length
      ? html('p', {class: 'dim'}, 'Pale marks follow from other levels; a dot means that nobody asked.') : null;
  return html('section', {class: 'level-view'}, html('h3', {}, 'Levels'),
      html('div', {class: 'columns even'}, html('div', {class: 'scroll'}, latticePicture(lattice, history)),
           html('div', {class: 'scroll'}, levelsTable(history))), asked);
}
