// A story as a picture: a box for each transaction with the operations that matter, an arrow for
// each reason why one precedes another.

const kLineHeight = 18;
const kHeadHeight = 24;
const kMostLines = 6;  // Of operations in a box.
const kKinds = {
  so: 'one after the other in a session',
  wr: 'the second reads what the first wrote',
  ww: 'the second overwrites the first',
  rw: 'the first reads what the second overwrites',
  rt: 'the first completed before the second began',
  'rt-commit': 'the first completed before the second asked for its commit',
  'rt-begin': 'the first had begun before the second asked for its commit',
  forced: 'a reader saw the first, yet read the second',
};

function edgeKey(edge) {
  return [edge.from, edge.to, edge.kind, edge.key, edge.fromOp, edge.toOp, edge.reader, edge.read]
      .join('|');
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
  story.cases.forEach((each, c) => each.edges.forEach((edge, i) => add(edge, {c, i})));
  story.support.forEach(edge => add(edge, null));
  (story.links ?? []).forEach((edge, i) => add(edge, {c: 0, i}));
  return [...edges.values()];
}

function boxLines(txn, letters) {
  const matter = txn.ops.filter(op => op.matters);
  const shown = (matter.length > 0 ? matter : txn.ops).slice(0, kMostLines);
  const lines = shown.map(op => ({i: op.i, text: shortened(op.text, letters)}));
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
    this.hasInitial = this.edges.some(edge => edge.from === null || edge.to === null);
    this.element = html('div', {class: 'graph'});
    this.activeCase = 0;
    this.width = 0;
  }

  node(number) {
    return number === null ? this.story.txns.length : number;
  }

  makeBoxes(width) {
    const letters = width < 520 ? 15 : 27;
    const letterWidth = 7.3;
    const boxes = this.story.txns.map(txn => {
      const lines = boxLines(txn, letters);
      const session = shortened(txn.session.length < 4 ? `session ${txn.session}` : txn.session, 14);
      const head = (txn.label.length + session.length + 4) * letterWidth;
      const longest = Math.max(0, ...lines.map(line => [...line.text].length)) * letterWidth;
      return {
        txn, lines, session,
        w: Math.max(84, head + 16, longest + 24),
        h: kHeadHeight + Math.max(1, lines.length) * kLineHeight + 8,
      };
    });
    if (this.hasInitial) boxes.push({txn: null, lines: [], w: 112, h: 32});
    return boxes;
  }

  // Draws for a page that is so wide.
  draw(width) {
    if (width === this.width || width < 50) return;
    this.width = width;
    const boxes = this.makeBoxes(width);
    const edges = this.edges.map(edge => {
      const label = edgeLabel(edge);
      return {edge, from: this.node(edge.from), to: this.node(edge.to), text: label,
              labelWidth: [...label].length * 7 + 6};
    });
    const first = this.story.cases[0];
    const cycle = first ? first.edges.filter(e => e.from !== -1).map(e => this.node(e.from)) : [];
    placeBoxes(boxes, edges.filter(e => e.from !== e.to), cycle, width);
    routeEdges(boxes, edges);
    const frame = frameOf(boxes, edges);
    this.shapes = {boxes: [], edges: []};
    const picture = svg('svg', {
      viewBox: `${frame.x} ${frame.y} ${frame.w} ${frame.h}`,
      width: round(frame.w * clamp((width - 20) / frame.w, 0.62, 1.2)),
      class: 'picture', role: 'group', 'aria-label': 'Transactions and why each precedes the next',
    });
    for (const edge of edges) picture.append(this.drawEdge(edge));
    boxes.forEach((box, i) => picture.append(this.drawBox(box, i)));
    for (const shape of this.shapes.edges) picture.append(shape.label);
    clear(this.element).append(picture);
    this.show(this.activeCase, this.selected);
  }

  drawEdge({edge, curve, label, text}) {
    const [p, q, r] = curve;
    const path = `M${p.map(round)} Q${q.map(round)} ${r.map(round)}`;
    const angle = Math.atan2(r[1] - q[1], r[0] - q[0]);
    const tip = [[0, 0], [-10, -4.5], [-8, 0], [-10, 4.5]].map(([x, y]) => [
      round(r[0] + x * Math.cos(angle) - y * Math.sin(angle)),
      round(r[1] + x * Math.sin(angle) + y * Math.cos(angle))]);
    const choose = () => this.handlers.onEdge(edge);
    const light = on => () => this.light(edge, on);
    const group = svg('g', {
      class: `edge k-${edge.kind || 'none'}${edge.support ? ' support' : ''}`,
      'aria-label': edge.sentence, ...pressable(choose),
      onmouseenter: light(true), onmouseleave: light(false), onfocus: light(true),
      onblur: light(false),
    }, svg('path', {class: 'hit', d: path, fill: 'none'}),
       svg('path', {class: 'line', d: path, fill: 'none'}),
       svg('polygon', {class: 'tip', points: tip.map(point => point.join(',')).join(' ')}));
    const tag = svg('g', {
      class: `edge-label k-${edge.kind || 'none'}`, 'aria-hidden': 'true', onclick: choose,
      onmouseenter: light(true), onmouseleave: light(false),
    });
    if (text !== '') {
      tag.append(svg('rect', {x: round(label.x - label.w / 2 + 3), y: round(label.y - 9),
                              width: round(label.w - 6), height: 18, rx: 9}),
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

  // Brings the arrows of a case to the front, and one of them more so.
  show(activeCase, selected = null) {
    this.activeCase = activeCase;
    this.selected = selected;
    if (!this.shapes) return;
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
        part.classList.toggle('assumed', edge.given !== undefined);
        part.classList.toggle('selected', edge === selected);
      }
    }
    for (const box of this.shapes.boxes) {
      const known = box.number === this.story.txns.length ? null : box.number;
      box.group.classList.toggle('faint', this.story.cases.length > 1 && !involved.has(known));
    }
    this.light(null, false);
  }

  find(caseNumber, i) {
    return this.edges.find(edge => edge.uses.some(use => use.c === caseNumber && use.i === i));
  }
}

function round(number) {
  return Math.round(number * 10) / 10;
}

function edgeLabel(edge) {
  const kind = edge.kind === 'forced' ? 'seen' : edge.kind;
  return edge.key === undefined ? kind : `${kind} ${shortened(edge.key, 11)}`.trim();
}

// What the colours mean, of those that occur.
function legend(edges) {
  const kinds = Object.keys(kKinds).filter(kind => edges.some(edge => edge.kind === kind));
  const list = html('ul', {class: 'legend'}, kinds.map(kind => html('li', {class: `k-${kind}`},
      html('span', {class: 'swatch', 'aria-hidden': 'true'}), html('b', {}, edgeLabel({kind})), ' ',
      kKinds[kind])));
  if (edges.some(edge => edge.given !== undefined)) {
    list.append(html('li', {}, html('span', {class: 'swatch dashed', 'aria-hidden': 'true'}),
                     'dashed: only in that order of the writes'));
  }
  return list;
}
