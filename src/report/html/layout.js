// Where the boxes of a graph go, and how its arrows run, given the layers that they are in. An arrow
// runs straight through its places in the layers, and bends only between them.

const kBoxGap = 18;    // Between boxes side by side.
const kLineGap = 12;   // Between other things.
const kTipLength = 10;
const kRounds = 150;   // Of moving stops towards their neighbours.
const kPortGap = 22;   // Between arrows at one side of a box, if there is room.

function gapBetween(a, b) {
  return (a.w + b.w) / 2 + (a.box && b.box ? kBoxGap : kLineGap);
}

// The places nearest to those wanted, in order and at least as far apart as they must be (weighted
// least squares: neighbours that would overlap move as one). `low` and `high` bound their middles.
function spread(layer, wants, weights, width) {
  const offsets = [0];
  for (let i = 1; i < layer.length; ++i) offsets.push(offsets[i - 1] + gapBetween(layer[i - 1], layer[i]));
  const groups = [];
  layer.forEach((_, i) => {
    groups.push({sum: (wants[i] - offsets[i]) * weights[i], weight: weights[i], count: 1});
    while (groups.length > 1) {
      const [a, b] = groups.slice(-2);
      if (a.sum / a.weight <= b.sum / b.weight) break;
      groups.splice(-2, 2, {sum: a.sum + b.sum, weight: a.weight + b.weight, count: a.count + b.count});
    }
  });
  const low = layer[0].w / 2;
  const high = Math.max(low, width - layer.at(-1).w / 2 - offsets.at(-1));
  let i = 0;
  for (const group of groups) {
    const place = clamp(group.sum / group.weight, low, high);
    for (let n = 0; n < group.count; ++n, ++i) layer[i].x = place + offsets[i];
  }
}

// Where a line leaves a box, from its middle: each has its own port, in the order of its other ends.
function portOf(stop, side, neighbour, nth) {
  if (!stop.box) return 0;
  const near = stop[side].map((each, i) => ({each, i})).sort((a, b) => a.each.at - b.each.at || a.i - b.i);
  let index = near.findIndex(({each}) => each === neighbour);
  index += nth;
  const step = near.length < 2 ? 0 : Math.min(kPortGap, (stop.box.w - 28) / (near.length - 1));
  return (index - (near.length - 1) / 2) * step - (stop.w - stop.box.w) / 2;
}

// Gives each line between two layers its ends, as distances from the middles of its stops.
function assignPorts(edges) {
  const met = new Map();  // Lines that join the same two boxes directly, one after the other.
  for (const edge of edges) {
    if (!edge.chain) continue;
    edge.ports = [];
    for (let i = 0; i + 1 < edge.chain.length; ++i) {
      const [a, b] = [edge.chain[i], edge.chain[i + 1]];
      const nth = met.get(a)?.get(b) ?? 0;
      if (!met.has(a)) met.set(a, new Map());
      met.get(a).set(b, nth + 1);
      edge.ports.push([portOf(a, 'down', b, nth), portOf(b, 'up', a, nth)]);
    }
  }
}

// The lines at each stop: to which other stop, with the ports at both ends.
function linesOf(edges) {
  const lines = new Map();
  const add = (stop, line) => lines.set(stop, [...(lines.get(stop) ?? []), line]);
  for (const {chain, ports} of edges) {
    if (!chain) continue;
    for (let i = 0; i + 1 < chain.length; ++i) {
      const [a, b] = [chain[i], chain[i + 1]];
      const weight = (a.box ? 1 : 4) * (b.box ? 1 : 4);
      add(a, {other: b, shift: ports[i][1] - ports[i][0], weight});
      add(b, {other: a, shift: ports[i][0] - ports[i][1], weight});
    }
  }
  return lines;
}

function widthOf(layer) {
  let width = (layer[0].w + layer.at(-1).w) / 2;
  for (let i = 1; i < layer.length; ++i) width += gapBetween(layer[i - 1], layer[i]);
  return width;
}

// Gives each stop its x: lines as straight as the others permit, all within `width` if that is enough.
// Returns the width they are in.
function placeAcross(layers, edges, width) {
  const most = Math.max(width, ...layers.map(widthOf));
  const lines = linesOf(edges);
  for (const layer of layers) spread(layer, layer.map(() => most / 2), layer.map(() => 1), most);
  for (let round = 0, moved = Infinity; round < kRounds && moved > 0.1; ++round) {
    moved = 0;
    for (const layer of round % 2 === 0 ? layers : [...layers].reverse()) {
      const wants = [];
      const weights = [];
      for (const stop of layer) {
        const own = lines.get(stop) ?? [];
        const weight = own.reduce((sum, line) => sum + line.weight, 0);
        weights.push(weight || 0.01);
        wants.push(weight === 0 ? most / 2
            : own.reduce((sum, line) => sum + line.weight * (line.other.x + line.shift), 0) / weight);
      }
      const before = layer.map(stop => stop.x);
      spread(layer, wants, weights, most);
      layer.forEach((stop, i) => { moved = Math.max(moved, Math.abs(stop.x - before[i])); });
    }
  }
  return most;
}

// Makes each run of stops of an arrow one straight line where nothing is in the way.
function straighten(layers, edges, width) {
  const layerOf = new Map(layers.flatMap(layer => layer.map(stop => [stop, layer])));
  const room = stop => {
    const layer = layerOf.get(stop);
    const [before, after] = [layer[stop.at - 1], layer[stop.at + 1]];
    return [before ? before.x + gapBetween(before, stop) : stop.w / 2,
            after ? after.x - gapBetween(stop, after) : width - stop.w / 2];
  };
  for (const {chain} of edges) {
    const stops = (chain ?? []).filter(stop => !stop.box);
    while (stops.length > 0) {
      let [low, high] = room(stops[0]);
      let count = 1;
      for (; count < stops.length; ++count) {
        const [left, right] = room(stops[count]);
        if (Math.max(low, left) > Math.min(high, right)) break;
        [low, high] = [Math.max(low, left), Math.min(high, right)];
      }
      const run = stops.splice(0, count);
      const middle = run.reduce((sum, stop) => sum + stop.x, 0) / count;
      for (const stop of run) stop.x = clamp(middle, low, high);
    }
  }
}

// Gives each layer its top and bottom. There is more room where lines go far to the side.
function placeDown(layers, edges) {
  const far = layers.map(() => 0);
  const tips = layers.map(() => false);
  const layerOf = new Map(layers.flatMap((layer, i) => layer.map(stop => [stop, i])));
  for (const {chain, ports} of edges) {
    if (!chain) continue;
    for (let i = 0; i + 1 < chain.length; ++i) {
      const above = layerOf.get(chain[i]);
      const shift = Math.abs(chain[i].x + ports[i][0] - chain[i + 1].x - ports[i][1]);
      far[above] = Math.max(far[above], shift);
      if (chain[i].box || chain[i + 1].box) tips[above] = true;
    }
  }
  let y = 0;
  return layers.map((layer, i) => {
    const top = y;
    const bottom = top + Math.max(...layer.map(stop => stop.h));
    y = bottom + (tips[i] ? 20 : 8) + clamp(far[i] * 0.2, 4, 48);
    for (const stop of layer) stop.y = (top + bottom) / 2;
    return {top, bottom};
  });
}

// The path of an arrow as SVG writes it, interrupted by its label, and the place of its tip.
function routeOf(edge, bands, layerOf) {
  const {chain, ports} = edge;
  const down = chain[0].box === edge.ends[0];  // Whether the arrow points down.
  const tip = edge.plain ? 0 : kTipLength;
  const stem = edge.plain ? 0 : kTipLength - 2;  // What the tip covers of it is left out.
  const at = [];
  const line = (x, y) => at.push(`L${round(x)} ${round(y)}`);
  const first = chain[0];
  at.push(`M${round(first.x + ports[0][0])} ${round(first.y + first.h / 2 + (down ? 0 : stem))}`);
  for (let i = 0; i + 1 < chain.length; ++i) {
    const [a, b] = [chain[i], chain[i + 1]];
    const [x1, x2] = [a.x + ports[i][0], b.x + ports[i][1]];
    const y1 = bands[layerOf.get(a)].bottom + (i === 0 && !down ? tip : 0);
    const y2 = bands[layerOf.get(b)].top - (i + 2 === chain.length && down ? tip : 0);
    line(x1, y1);
    const middle = round((y1 + y2) / 2);
    at.push(Math.abs(x1 - x2) < 0.5 ? `L${round(x2)} ${round(y2)}`
                                    : `C${round(x1)} ${middle} ${round(x2)} ${middle} ${round(x2)} ${round(y2)}`);
    if (b.label) {
      line(b.x, b.y - b.h / 2);
      at.push(`M${round(b.x)} ${round(b.y + b.h / 2)}`);
    }
  }
  const last = chain.at(-1);
  const end = last.y - last.h / 2;
  line(last.x + ports.at(-1)[1], end - (down ? stem : 0));
  edge.path = at.join(' ');
  edge.tip = down ? {x: last.x + ports.at(-1)[1], y: end, angle: Math.PI / 2}
                  : {x: first.x + ports[0][0], y: first.y + first.h / 2, angle: -Math.PI / 2};
  const label = chain.find(stop => stop.label);
  edge.label = label ? {x: label.x, y: label.y, w: label.w, h: label.h} : null;
}

// An arrow from a box to itself, at its right.
function loopOf(edge, box) {
  const right = box.x + box.w / 2;
  edge.path = `M${round(right)} ${round(box.y - 9)} C${round(right + 26)} ${round(box.y - 9)} ` +
              `${round(right + 26)} ${round(box.y + 9)} ${round(right + kTipLength - 2)} ${round(box.y + 9)}`;
  edge.tip = {x: right, y: box.y + 9, angle: Math.PI};
  edge.label = {x: right + 24 + edge.labelWidth / 2, y: box.y, w: edge.labelWidth, h: 20};
}

// Lays out a graph for a page so wide. `boxes` have w and h, and get x and y, their middle; `edges` have
// from, to and labelWidth (0: no label) and may be plain (no tip), and get path, tip and label. The boxes of `cycle` go around. `ranks` says
// which layer each box is in, if that is known. Returns the frame of all.
function layOut(boxes, edges, cycle, width, ranks = null, keys = null) {
  const widest = Math.max(...boxes.map(box => box.w));
  const columns = Math.max(2, Math.floor((width + kBoxGap) / (widest + kBoxGap)));
  const known = ranks ?? rankBoxes(boxes.length, edges, cycle, columns);
  const order = keys ?? boxes.map((_, i) => (cycle.includes(i) ? cycle.indexOf(i) : cycle.length + i));
  const layers = makeLayers(boxes, edges, known, order, width);
  for (const stop of layers.flat()) {
    if (!stop.box) continue;
    stop.box.w = Math.max(stop.box.w, 28 + 12 * (Math.max(stop.up.length, stop.down.length) - 1));
    const loops = edges.filter(edge => edge.from === edge.to && boxes[edge.from] === stop.box);
    stop.w = stop.box.w + Math.max(0, ...loops.map(edge => edge.labelWidth + 26));
  }
  orderLayers(layers);
  assignPorts(edges);
  straighten(layers, edges, placeAcross(layers, edges, width));
  const bands = placeDown(layers, edges);
  const layerOf = new Map(layers.flatMap((layer, i) => layer.map(stop => [stop, i])));
  for (const stop of layers.flat()) {
    if (!stop.box) continue;
    stop.box.x = stop.x - (stop.w - stop.box.w) / 2;
    stop.box.y = stop.y;
  }
  for (const edge of edges) {
    edge.ends = [boxes[edge.from], boxes[edge.to]];
    if (edge.chain) routeOf(edge, bands, layerOf);
    else loopOf(edge, boxes[edge.from]);
  }
  const lefts = layers.flat().map(stop => stop.x - stop.w / 2);
  const rights = layers.flat().map(stop => stop.x + stop.w / 2);
  const margin = 8;
  return {x: Math.min(...lefts) - margin, y: -margin,
          w: Math.max(...rights) - Math.min(...lefts) + 2 * margin, h: bands.at(-1).bottom + 2 * margin};
}
