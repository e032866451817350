// A story as a picture: a box for each transaction with the operations that matter, an arrow for
// each reason why one precedes another.

const kLineHeight = 18;
const kHeadHeight = 24;
const kMostLines = 6;   // Of operations in a box.
const kMostEdges = 12;  // Of all cases in one picture.
const kKinds = {
  so: 'one after the other in a session',
  wr: 'the second reads what the first wrote',
  ww: 'the second overwrites the first',
  rw: 'the first reads what the second overwrites',
  rt: 'the first completed before the second began',
  'rt-commit': 'the first completed before the second asked for its commit',
  'rt-begin': 'the first had begun before the second asked for its commit',
  forced: 'a reader saw the first, yet read the second',
  conflict: 'both wrote it, and neither saw the other',
};

function edgeKey(edge) {
  return [edge.from, edge.to, edge.kind, edge.key, edge.fromOp, edge.toOp, edge.reader, edge.read]
      .join('|');
}

// The edges of a case: those of its cycle, then those that stand for what it assumes.
function caseEdges(each) {
  return [...each.edges, ...each.supposed ?? []];
}

// The arrows of all cases, each once. `uses` says in which case an arrow is, and where there.
function graphEdges(story) {
  const edges = new Map();
  const add = (edge, use) => {
    if (edge.from === -1 || edge.to === -1) return;
    const key = edgeKey(edge);
    if (!edges.has(key)) edges.set(key, {...edge, uses: [], support: use === null});
    if (use) edges.get(key).uses.push(use);
  };
  story.cases.forEach((each, c) => caseEdges(each).forEach((edge, i) => add(edge, {c, i})));
  story.support.forEach(edge => add(edge, null));
  (story.links ?? []).forEach((edge, i) => add(edge, {c: 0, i}));
  return [...edges.values()];
}

// Whether the arrows of all cases are in one picture, since there are few.
function showsAllCases(story, edges) {
  return story.cases.length < 3 && edges.length <= kMostEdges;
}

// A name for each key in so many letters, no two the same if that can be helped: of long keys that
// would look alike, the part in which they differ.
function keyNames(story, most) {
  const keys = new Set([...story.txns.flatMap(txn => txn.ops.filter(op => op.matters).map(op => op.key)),
                        ...story.cases.flatMap(each => caseEdges(each).map(edge => edge.key)),
                        ...story.support.map(edge => edge.key)]);
  const alike = new Map();
  for (const key of keys) {
    if (key !== undefined) alike.set(shortened(key, most), [...alike.get(shortened(key, most)) ?? [], key]);
  }
  const names = new Map();
  for (const [short, group] of alike) {
    const rest = group.length > 1 ? withoutCommonEnds(group) : [short];
    group.forEach((key, i) => names.set(key, [...rest[i]].length <= most ? rest[i] : shortened(rest[i], most)));
  }
  return names;
}

// Texts without the words that all of them begin or end with.
function withoutCommonEnds(texts) {
  const words = texts.map(text => text.split(/(?<=[^\p{L}\p{N}])|(?=[^\p{L}\p{N}])/u));
  const least = Math.min(...words.map(each => each.length));
  let head = 0;
  while (head < least - 1 && words.every(each => each[head] === words[0][head])) ++head;
  let tail = 0;
  while (tail < least - 1 - head && words.every(each => each.at(-1 - tail) === words[0].at(-1 - tail))) ++tail;
  return words.map(each => (head > 0 ? '…' : '') + each.slice(head, each.length - tail).join('') + (tail > 0 ? '…' : ''));
}

// A value in so many letters. Of a row, its first column is the one that matters: its name gives way
// before what it holds. Of a list, the part that matters is behind the first gap.
function briefValue(value, most) {
  const plain = value.replace(/"([^"]*)":/g, '$1:');
  if ([...plain].length <= most) return plain;
  const row = /^\{([^:]*):(.*?)(?:, … |,[^:,"{}[\]]+:|\}$)/su.exec(plain);
  if (row) {
    const [, name, held] = row;
    const first = [...`${name}:${held}`].length;
    if (first < most) return `${[...plain.slice(1)].slice(0, most - 1).join('')}…`;
    const left = most - 1 - [...held].length;
    return left >= 3 ? `${shortened(name, left)}:${held}` : shortened(held, most);
  }
  const list = /^\[.*? … \d+ more … ,(.*)\]$/su.exec(plain);
  if (list) return shortened(`[… ${list[1].replace(/, … \d+ more … ,/gu, ' … ')}]`, most);
  return `${[...plain].slice(0, most - 1).join('')}…`;
}

// An operation in so many letters; `name` is what its key is called. If there are few letters, the
// key is left out, since the arrows name it.
function briefOp(text, name, most) {
  const at = text.indexOf('=');
  if ([...text].length <= most || at < 0 || name === undefined) return shortened(text, most);
  const verb = text.split(' ')[0];
  const value = text.slice(at + 1);
  const head = [...`${verb} ${name}=`].length;
  const enough = Math.min([...value].length, 8);
  if (most - head >= enough) return `${verb} ${name}=${briefValue(value, most - head)}`;
  const short = `${verb} …=`;
  return short + briefValue(value, most - short.length);
}

function boxLines(txn, letters, names) {
  const matter = txn.ops.filter(op => op.matters);
  const shown = (matter.length > 0 ? matter : txn.ops).slice(0, kMostLines);
  const lines = shown.map(op => ({i: op.i, text: briefOp(op.text, names.get(op.key), letters)}));
  const left = (matter.length > 0 ? matter.length : txn.ops.length) - shown.length;
  if (left > 0) lines.push({i: -1, text: `… ${left} more`});
  return lines;
}

class Graph {
  // `story` of the data; `onNode` and `onEdge` are called with what was chosen, `onHover` with a
  // node or null.
  constructor(story, {onNode, onEdge, onHover}) {
    this.story = story;
    this.handlers = {onNode, onEdge, onHover};
    this.edges = graphEdges(story);
    this.names = keyNames(story, 11);
    this.hasInitial = this.edges.some(edge => edge.from === null || edge.to === null);
    this.element = html('div', {class: 'graph'});
    this.activeCase = 0;
    this.width = 0;
  }

  node(number) {
    return number === null ? this.story.txns.length : number;
  }

  makeBoxes(nodes, width) {
    // On a phone two boxes fit side by side.
    const letters = width < 400 ? Math.max(12, Math.min(16, Math.floor(((width - 50) / 2 - 22) / 7.3))) : width < 520 ? 18 : 30;
    const names = letters < 20 ? this.names : keyNames(this.story, 18);
    return nodes.map(number => {
      const txn = this.story.txns[number];
      if (!txn) return {txn: null, lines: [], w: 112, h: 32};
      const lines = boxLines(txn, letters, names);
      const session = shortened(txn.session.length < 4 ? `session ${txn.session}` : txn.session, letters - 2);
      const head = textWidth(txn.label, '700 13px', '--sans') + textWidth(session, '11.5px', '--sans') + 30;
      const longest = Math.max(0, ...lines.map(line => textWidth(line.text, '12px', '--mono'))) + 22;
      return {txn, lines, session, w: Math.ceil(Math.max(84, head, longest)),
              h: kHeadHeight + Math.max(1, lines.length) * kLineHeight + 8};
    });
  }

  // What is drawn while a case is told: everything if that is little, else what the case needs. A case
  // without arrows has none of others.
  partsFor(activeCase) {
    const all = this.story.txns.map((_, i) => i);
    if (this.hasInitial) all.push(all.length);
    const own = this.edges.filter(edge => edge.uses.some(use => use.c === activeCase));
    if (own.length === 0) return {nodes: all, edges: this.edges.filter(edge => edge.support)};
    if (showsAllCases(this.story, this.edges)) return {nodes: all, edges: this.edges};
    const nodes = new Set(own.flatMap(edge => [edge.from, edge.to, ...(edge.reader === undefined ? [] : [edge.reader])])
                              .map(number => this.node(number)).filter(number => number !== -1));
    const near = this.edges.filter(edge => edge.support && (nodes.has(this.node(edge.from)) || nodes.has(this.node(edge.to))));
    for (const edge of near) nodes.add(this.node(edge.from)).add(this.node(edge.to));
    return {nodes: [...nodes].sort((a, b) => a - b), edges: [...own, ...near]};
  }

  // The longest cycle of the cases that are drawn: the others are laid out around it. A story without
  // cases may have one of two.
  backbone(edges) {
    const there = edges.find(({from, to}) => from < to && edges.some(other => other.from === to && other.to === from));
    let longest = there && this.story.cases.length === 0 ? [there.from, there.to].map(number => this.node(number)) : [];
    this.story.cases.forEach((each, c) => {
      if (edges !== this.edges && c !== this.activeCase) return;
      const cycle = each.edges.filter(edge => edge.from !== -1).map(edge => this.node(edge.from));
      if (cycle.length > longest.length) longest = cycle;
    });
    return longest;
  }

  // Draws for a page that is so wide.
  draw(width) {
    if (width < 50) return;
    this.width = width;
    const parts = this.partsFor(this.activeCase);
    this.drawn = parts.edges;
    const place = new Map(parts.nodes.map((number, i) => [number, i]));
    const boxes = this.makeBoxes(parts.nodes, width);
    const edges = parts.edges.map(edge => {
      const text = edgeLabel(edge, this.names);
      return {edge, from: place.get(this.node(edge.from)), to: place.get(this.node(edge.to)), text, plain: edge.kind === 'conflict',
              labelWidth: text === '' ? 0 : Math.ceil(textWidth(text, '600 11.5px', '--mono')) + 18};
    });
    const cycle = this.backbone(parts.edges).map(number => place.get(number)).filter(at => at !== undefined);
    const frame = layOut(boxes, edges, cycle, width - 32);
    this.shapes = {boxes: [], edges: []};
    const picture = svg('svg', {
      viewBox: [frame.x, frame.y, frame.w, frame.h].map(round).join(' '), width: round(frame.w),
      class: 'picture', role: 'group', 'aria-label': 'Transactions and why each precedes the next',
    });
    for (const edge of edges) picture.append(this.drawEdge(edge));
    boxes.forEach((box, i) => picture.append(this.drawBox(box, parts.nodes[i])));
    for (const shape of this.shapes.edges) picture.append(shape.label);
    clear(this.element).append(picture);
    this.show(this.activeCase, this.selected);
  }

  drawEdge({edge, path, tip, label, text}) {
    const points = [[0, 0], [-kTipLength, -4.5], [-kTipLength + 2, 0], [-kTipLength, 4.5]].map(([x, y]) => [
      round(tip.x + x * Math.cos(tip.angle) - y * Math.sin(tip.angle)),
      round(tip.y + x * Math.sin(tip.angle) + y * Math.cos(tip.angle))].join(','));
    const choose = () => this.handlers.onEdge(edge);
    const light = on => () => this.light(edge, on);
    const kind = `k-${edge.kind || 'none'}`;
    const group = svg('g', {
      class: `edge ${kind}${edge.support ? ' support' : ''}`,
      'aria-label': edge.sentence, ...pressable(choose),
      onmouseenter: light(true), onmouseleave: light(false), onfocus: light(true),
      onblur: light(false),
    }, svg('path', {class: 'hit', d: path, fill: 'none'}),
       svg('path', {class: 'line', d: path, fill: 'none'}),
       edge.kind === 'conflict' ? null : svg('polygon', {class: 'tip', points: points.join(' ')}));
    const tag = svg('g', {
      class: `edge-label ${kind}`, 'aria-hidden': 'true', onclick: choose,
      onmouseenter: light(true), onmouseleave: light(false),
    });
    if (label) {
      tag.append(svg('rect', {x: round(label.x - label.w / 2), y: round(label.y - label.h / 2),
                              width: round(label.w), height: label.h, rx: label.h / 2}),
                 svg('text', {x: round(label.x), y: round(label.y + 4), 'text-anchor': 'middle'}, text));
    }
    this.shapes.edges.push({edge, group, label: tag});
    return group;
  }

  drawBox(box, number) {
    const left = box.x - box.w / 2;
    const top = box.y - box.h / 2;
    if (box.txn === null) {
      const group = svg('g', {class: 'node initial'},
          svg('rect', {x: left, y: top, width: box.w, height: box.h, rx: 16}),
          svg('text', {x: box.x, y: box.y + 4, 'text-anchor': 'middle'}, 'initial state'));
      this.shapes.boxes.push({number, group, lines: new Map()});
      return group;
    }
    const {txn} = box;
    const lines = new Map();
    const enter = () => this.handlers.onHover(txn);
    const leave = () => this.handlers.onHover(null);
    const group = svg('g', {
      class: `node ${txn.status}`, 'data-txn': txn.label,
      'aria-label': `${txn.label}, ${txn.where}: ${txn.ops.map(op => op.text).join(', ')}`,
      ...pressable(() => this.handlers.onNode(txn)),
      onmouseenter: enter, onmouseleave: leave, onfocus: enter, onblur: leave,
    }, svg('rect', {class: 'box', x: left, y: top, width: box.w, height: box.h, rx: 8}),
       svg('path', {class: 'head', d: `M${left} ${top + kHeadHeight} v${8 - kHeadHeight} q0,-8 8,-8 ` +
           `h${box.w - 16} q8,0 8,8 v${kHeadHeight - 8} z`}),
       svg('text', {class: 'name', x: left + 10, y: top + 17}, txn.label),
       svg('text', {class: 'session', x: left + box.w - 10, y: top + 17, 'text-anchor': 'end'}, box.session));
    box.lines.forEach((line, i) => {
      const y = top + kHeadHeight + 4 + i * kLineHeight;
      const part = svg('g', {class: 'op'},
          svg('rect', {x: left + 4, y, width: box.w - 8, height: kLineHeight, rx: 4}),
          svg('text', {x: left + 11, y: y + 13}, line.text));
      lines.set(line.i, part);
      group.append(part);
    });
    if (box.lines.length === 0) {
      group.append(svg('text', {class: 'none', x: left + 11, y: top + kHeadHeight + 17}, 'no operations'));
    }
    this.shapes.boxes.push({number, group, lines});
    return group;
  }

  // The operations that an arrow is about light up while it does.
  light(edge, on) {
    if (!this.shapes) return;
    for (const shape of this.shapes.edges) {
      const lit = on && shape.edge === edge;
      shape.group.classList.toggle('lit', lit);
      shape.label.classList.toggle('lit', lit);
    }
    for (const box of this.shapes.boxes) {
      for (const [i, part] of box.lines) {
        const shown = [on ? edge : null, this.selected].some(e => e && (
            (this.node(e.from) === box.number && e.fromOp === i) ||
            (this.node(e.to) === box.number && e.toOp === i) ||
            (e.reader === box.number && e.read === i)));
        part.classList.toggle('lit', shown);
      }
    }
  }

  // Makes the arrows of a case bright and all others grey, and one of them more so.
  show(activeCase, selected = null) {
    const other = activeCase !== this.activeCase;
    this.activeCase = activeCase;
    this.selected = selected;
    if (!this.shapes) return;
    if (other && this.partsFor(activeCase).edges !== this.drawn) {
      this.draw(this.width);
      return;
    }
    const cycle = this.story.cases[activeCase];
    const involved = new Set();
    for (const {edge, group, label} of this.shapes.edges) {
      const use = edge.uses.find(each => each.c === activeCase);
      const active = Boolean(use) || edge.support;
      if (active) [edge.from, edge.to, edge.reader].forEach(n => involved.add(n));
      for (const part of [group, label]) {
        part.classList.toggle('faint', !active);
        part.classList.toggle('closing', Boolean(use) && cycle !== undefined &&
                                         cycle.edges.length > 1 && use.i === cycle.edges.length - 1);
        part.classList.toggle('assumed', this.isAssumed(edge, use));
        part.classList.toggle('selected', edge === selected);
        part.classList.toggle('supposed', Boolean(use) && cycle !== undefined && use.i >= cycle.edges.length);
      }
    }
    for (const box of this.shapes.boxes) {
      const known = box.number === this.story.txns.length ? null : box.number;
      box.group.classList.toggle('faint', this.story.cases.length > 1 && !involved.has(known));
    }
    this.light(null, false);
  }

  // Whether the arrow rests on what its case assumes: of several the one that is told.
  isAssumed(edge, use = edge.uses[0]) {
    return use !== undefined && Boolean(this.story.cases[use.c] && caseEdges(this.story.cases[use.c])[use.i].assumed);
  }

  find(caseNumber, i) {
    return this.edges.find(edge => edge.uses.some(use => use.c === caseNumber && use.i === i));
  }
}

function round(number) {
  return Math.round(number * 10) / 10;
}

function edgeLabel(edge, names) {
  const kind = edge.kind === 'forced' ? 'seen' : edge.kind;
  return edge.key === undefined ? kind : `${kind} ${names?.get(edge.key) ?? shortened(edge.key, 11)}`.trim();
}

// What colours and lines mean, of those that occur.
function legend(story, edges) {
  const kinds = Object.keys(kKinds).filter(kind => edges.some(edge => edge.kind === kind));
  const list = html('ul', {class: 'legend'}, kinds.map(kind => html('li', {class: `k-${kind}`},
      html('span', {class: 'swatch', 'aria-hidden': 'true'}), html('b', {}, edgeLabel({kind})), ' ',
      kKinds[kind])));
  const style = (name, text) => list.append(html('li', {},
      html('span', {class: `swatch ${name}`, 'aria-hidden': 'true'}), text));
  const cycles = story.cases.some(each => each.edges.length > 1);
  if (edges.some(edge => edge.kind === '')) style('none', 'what the sentence says');
  if (cycles) style('thick', 'thick: closes the cycle');
  const assumed = story.cases.flatMap(each => each.edges).filter(edge => edge.assumed);
  if (assumed.length > 0) {
    style('dashed', assumed.every(edge => edge.given !== undefined) ? 'dashed: only in that order of the writes'
                                                                     : 'dashed: only in that case');
  }
  const supposed = story.cases.some(each => each.supposed?.length > 0);
  if (supposed || edges.some(edge => edge.support)) style('dotted', 'dotted: on no cycle, but needed for it');
  if (story.cases.length > 1 && showsAllCases(story, edges)) style('grey', 'grey: of another case');
  const has = status => story.txns.some(txn => txn.status === status);
  if (has('aborted')) style('box aborted', 'aborted');
  if (has('unknown')) style('box unknown', 'outcome unknown');
  return list;
}
