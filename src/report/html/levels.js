// The lattice of isolation levels with the verdicts, each said once. A level that nobody asked for is
// marked faintly if another one answers for it. On a wide page each level stands in the row that comes
// with the lattice; on a narrow one, where there is room below those that are stronger.

const kLevelHeight = 30;
const levelWidth = level => Math.ceil(textWidth(level.name, '12.5px', '--sans')) + 44;

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

// A row for each level, below all that are stronger, such that no row is wider than the page.
function narrowRows(lattice, width) {
  const rows = new Map();
  const widths = [];
  for (const level of [...lattice].sort((a, b) => a.row - b.row || a.x - b.x)) {
    const above = lattice.filter(other => other.below.includes(level.name)).map(other => rows.get(other.name));
    let row = Math.max(0, ...above.map(other => other + 1));
    const own = levelWidth(level) + 2 * kBoxGap;  // Room for the lines that pass, too.
    while ((widths[row] ?? 0) + own > width && (widths[row] ?? 0) > 0) ++row;
    widths[row] = (widths[row] ?? 0) + own;
    rows.set(level.name, row);
  }
  const used = [...new Set(rows.values())].sort((a, b) => a - b);
  return lattice.map(level => used.indexOf(rows.get(level.name)));
}

class LevelsView {
  constructor(lattice, history) {
    this.lattice = lattice;
    this.history = history;
    this.known = new Map(history.levels.map(level => [level.name, level]));
    this.implied = history.implies
        ? impliedOutcomes(lattice, new Map(history.levels.map(level => [level.name, level.outcome]))) : new Map();
    this.holder = html('div', {class: 'lattice-holder'});
    this.detail = html('div', {class: 'inspector', 'aria-live': 'polite'});
    this.element = html('section', {class: 'level-view'}, html('h3', {}, 'Levels'),
        html('p', {class: 'dim'}, 'A level promises everything that those below it promise. Choose one to read what it promises.'),
        html('div', {class: 'columns even'}, this.holder, html('div', {class: 'drawing'}, this.legend(), this.detail)));
    this.tell(null);
    onResize(this.holder, width => this.draw(width));
  }

  // What is known of a level: its outcome, how that is known, and a mark for it.
  verdict({name}) {
    const level = this.known.get(name);
    if (level) {
      const partly = level.outcome === 'holds' && level.remark !== '';  // Something was left out.
      const mark = partly ? '~' : kOutcomes[level.outcome].mark;
      return {outcome: level.outcome, how: '', mark, words: kOutcomes[level.outcome].word, remark: level.remark, partly};
    }
    const outcome = this.implied.get(name);
    if (outcome) {
      const words = `${kOutcomes[outcome].word}, as follows from another level`;
      return {outcome, how: ' implied', mark: kOutcomes[outcome].mark, words, remark: ''};
    }
    const why = this.history.undecidable[name];
    return {outcome: 'none', how: ' unasked', mark: '·', words: why ? `not decided: ${why}` : 'not asked for', remark: ''};
  }

  draw(width) {
    if (width < 50) return;
    const boxes = this.lattice.map(level => ({level, w: levelWidth(level), h: kLevelHeight}));
    const place = new Map(this.lattice.map((level, i) => [level.name, i]));
    const edges = this.lattice.flatMap((level, i) => level.below.map(below => (
        {from: i, to: place.get(below), labelWidth: 0, plain: true})));
    const rows = width >= 560 ? this.lattice.map(level => level.row) : narrowRows(this.lattice, width);
    const frame = layOut(boxes, edges, [], width - 20, rows, this.lattice.map(level => level.x));
    const scale = Math.min(1, (width - 2) / frame.w);
    const picture = svg('svg', {
      viewBox: [frame.x, frame.y, frame.w, frame.h].map(round).join(' '), width: round(frame.w * scale),
      class: 'lattice', role: 'group', 'aria-label': 'Isolation levels, the strongest at the top',
    });
    for (const edge of edges) picture.append(svg('path', {class: 'bond', d: edge.path, fill: 'none'}));
    this.pills = boxes.map(box => this.drawLevel(box));
    picture.append(...this.pills);
    clear(this.holder).append(picture);
    this.tell(this.told ?? null);
  }

  drawLevel({level, x, y, w, h}) {
    const {outcome, how, mark, words, remark} = this.verdict(level);
    const choose = () => this.tell(level);
    return svg('g', {class: `level ${outcome}${how}`, 'data-level': level.name,
                     'aria-label': `${level.name}: ${words}${remark ? `, ${remark}` : ''}`,
                     ...pressable(choose)},
        svg('rect', {x: round(x - w / 2), y: round(y - h / 2), width: round(w), height: h, rx: h / 2}),
        svg('text', {x: round(x - w / 2 + 14), y: round(y + 5), class: 'mark'}, mark),
        svg('text', {x: round(x - w / 2 + 30), y: round(y + 4.5)}, level.name));
  }

  // What a level promises, and why its verdict is what it is.
  tell(level) {
    this.told = level;
    clear(this.detail).classList.toggle('filled', level !== null);
    for (const pill of this.pills ?? []) pill.classList.toggle('selected', pill.dataset.level === level?.name);
    if (level === null) {
      append(this.detail, [this.remarks()]);
      return;
    }
    const {words, remark, partly} = this.verdict(level);
    append(this.detail, [
      html('h4', {}, level.name, level.alias ? html('small', {}, ` ${level.alias}`) : null),
      html('p', {}, level.definition[0].toUpperCase() + level.definition.slice(1), '.'),
      html('p', {class: 'why'}, words[0].toUpperCase() + words.slice(1), remark ? `${partly ? ', but ' : ': '}${remark}` : '', '.')]);
  }

  // Why levels are undecided or were not looked at, by reason.
  remarks() {
    const reasons = new Map();
    const add = (reason, name) => reasons.set(reason, [...(reasons.get(reason) ?? []), name]);
    for (const level of this.lattice) {
      const {outcome, remark, partly, words} = this.verdict(level);
      if (remark !== '' && (partly || outcome === 'undecided')) add(`${words}: ${remark}`, level.name);
      if (this.history.undecidable[level.name] && !this.known.has(level.name)) add(words, level.name);
    }
    if (reasons.size === 0) return html('p', {class: 'hint'}, 'What a level promises, and why it holds or not, is told here.');
    return html('ul', {class: 'reasons'}, [...reasons].map(([reason, names]) => html('li', {},
        html('b', {}, names.join(', ')), ` – ${reason}`)));
  }

  // What the marks mean, of those that occur.
  legend() {
    const verdicts = this.lattice.map(level => this.verdict(level));
    const list = html('ul', {class: 'legend'});
    const add = (mark, kind, text) => list.append(html('li', {class: kind},
        html('b', {class: 'mark', 'aria-hidden': 'true'}, mark), ` ${text}`));
    for (const [outcome, {mark, word}] of Object.entries(kOutcomes)) {
      if (verdicts.some(each => each.outcome === outcome && each.mark === mark)) add(mark, outcome, word);
    }
    if (verdicts.some(each => each.partly)) add('~', 'holds', 'holds, but something was left out');
    if (verdicts.some(each => each.how === ' implied')) {
      list.append(html('li', {}, html('span', {class: 'swatch dashed', 'aria-hidden': 'true'}), 'dashed: follows from another level'));
    }
    if (verdicts.some(each => each.how === ' unasked')) add('·', '', 'not decided');
    return list;
  }
}
