// The lattice of isolation levels with the verdicts. A level that nobody asked for is marked faintly
// if another one answers for it.

const kPlaces = {
  'strict-serializable': [360, 0], 'strong-si': [190, 1], 'session-serializable': [530, 1],
  'gsi': [60, 2], 'session-si': [320, 2], 'serializable': [620, 2],
  'prefix': [190, 3], 'parallel-si': [330, 3], 'repeatable-read': [640, 3],
  'causal': [260, 4], 'read-atomic': [260, 5], 'read-committed': [260, 6], 'si': [480, 6],
};
const kRowHeight = 58;

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

function latticeLine(from, to) {
  const [x1, r1] = kPlaces[from];
  const [x2, r2] = kPlaces[to];
  const y1 = 30 + r1 * kRowHeight;
  const y2 = 30 + r2 * kRowHeight;
  if (to === 'si' && from === 'gsi') {
    return `M${x1} ${y1} V${y2 - 4} Q${x1} ${y2 + 34} ${x1 + 50} ${y2 + 34} H${x2 - 60} Q${x2 - 14} ${y2 + 34} ${x2} ${y2}`;
  }
  if (r2 - r1 > 2) return `M${x1} ${y1} C${(x1 + x2) / 2 + 40} ${y1 + 50} ${x2} ${y2 - 190} ${x2} ${y2}`;
  return `M${x1} ${y1} L${x2} ${y2}`;
}

function latticePicture(lattice, history) {
  const known = new Map(history.levels.map(level => [level.name, level.outcome]));
  const implied = history.evidence === 'observed' ? impliedOutcomes(lattice, known) : new Map();
  const remarks = new Map(history.levels.map(level => [level.name, level.remark]));
  const picture = svg('svg', {viewBox: '0 0 720 430', class: 'lattice', role: 'img',
                              'aria-label': 'Isolation levels; the table beside says the same'});
  for (const level of lattice) {
    for (const below of level.below) {
      picture.append(svg('path', {class: 'bond', d: latticeLine(level.name, below), fill: 'none'}));
    }
  }
  for (const {name, definition} of lattice) {
    const [x, row] = kPlaces[name];
    const y = 30 + row * kRowHeight;
    const outcome = known.get(name) ?? implied.get(name) ?? 'none';
    const how = known.has(name) ? '' : implied.has(name) ? ' implied' : ' unasked';
    const mark = kOutcomes[outcome]?.mark ?? '·';
    const w = name.length * 7.2 + 40;
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
