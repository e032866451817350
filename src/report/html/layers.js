// A graph in layers, from top to bottom (Sugiyama's method): which layer each box is in, and in which
// order the boxes of a layer stand. No elements here, only numbers; the same graph always looks the
// same.
//
// Between two layers of boxes there are layers for the labels of arrows. An arrow has a stop in every
// layer between its ends, a place that nothing else occupies; one of them is its label. So an arrow
// needs a way only from one layer to the next, where there is nothing but arrows.

const kStopWidth = 4;
const kMostLabelRows = 8;  // Between two layers of boxes.
const kSweeps = 24;

// Layers for the boxes of a cycle of `count`: down and up again, as often as columns allow and the
// height needs. Neighbours are in adjacent layers, but for the last and the first of an odd cycle.
function cycleRanks(count, columns) {
  const deep = Math.ceil(count / 2) - 1;
  let times = 1;
  while (2 * (times + 1) <= columns && Math.ceil(deep / times) > 4) ++times;
  const ranks = [0, 1];
  for (let i = 0; i < times; ++i) {
    const depth = Math.floor(deep * (i + 1) / times) - Math.floor(deep * i / times);
    for (let d = 0; d < depth; ++d) ranks.push(ranks.at(-1) + 1);
    for (let d = 0; d < depth; ++d) ranks.push(ranks.at(-1) - 1);
  }
  return ranks.slice(0, count);
}

// The best layer for a box, given those that have one: near its neighbours, never with them.
function bestRank(node, ranks, edges, columns) {
  const known = ranks.filter(rank => rank !== undefined);
  if (known.length === 0) return 0;
  let best = null;
  for (let rank = Math.min(...known) - 1; rank <= Math.max(...known) + 1; ++rank) {
    const there = ranks.filter((other, i) => i !== node && other === rank).length;
    let cost = there * 0.01 + Math.max(0, there + 1 - columns) * 3;
    for (const {from, to} of edges) {
      if (from === to || (from !== node && to !== node)) continue;
      const other = ranks[from === node ? to : from];
      if (other === undefined) continue;
      cost += other === rank ? 1e6 : Math.abs(other - rank);
      if ((from === node) !== (rank < other)) cost += 0.4;  // Downwards is nicer.
    }
    if (best === null || cost < best.cost) best = {rank, cost};
  }
  return best.rank;
}

// A layer for each box, such that no arrow stays within one: those of the cycle first, then the others
// around them.
function rankBoxes(count, edges, cycle, columns) {
  const ranks = Array(count).fill(undefined);
  const ring = [...new Set(cycle)];
  cycleRanks(ring.length, columns).forEach((rank, i) => { ranks[ring[i]] = rank; });
  const others = [];
  for (let node = 0; node < count; ++node) if (ranks[node] === undefined) others.push(node);
  const ties = node => edges.filter(({from, to}) =>
      (from === node && ranks[to] !== undefined) || (to === node && ranks[from] !== undefined)).length;
  for (let left = [...others]; left.length > 0;) {
    const next = left.reduce((a, b) => (ties(b) > ties(a) ? b : a));
    ranks[next] = bestRank(next, ranks, edges, columns);
    left = left.filter(node => node !== next);
  }
  for (let round = 0; round < 3; ++round) {
    for (const node of others) {
      ranks[node] = undefined;
      ranks[node] = bestRank(node, ranks, edges, columns);
    }
  }
  const used = [...new Set(ranks)].sort((a, b) => a - b);
  return ranks.map(rank => used.indexOf(rank));
}

// In how many rows labels of these widths fit, side by side with the lines of the others.
function labelRows(widths, lines, width) {
  for (let rows = 1; rows < kMostLabelRows; ++rows) {
    const fits = Array.from({length: rows}, (_, row) => widths.filter((_, i) => i % rows === row))
        .every(own => own.reduce((sum, w) => sum + w + 12, 0) + (lines - own.length) * 18 <= width);
    if (fits) return rows;
  }
  return kMostLabelRows;
}

// For each gap between layers of boxes, the edges that have their label there.
function labelsOfGaps(edges, ranks, gaps) {
  const labels = Array.from({length: gaps}, () => []);
  const load = gap => labels[gap].reduce((sum, edge) => sum + edge.labelWidth, 0);
  for (const edge of edges) {
    const top = Math.min(ranks[edge.from], ranks[edge.to]);
    const bottom = Math.max(ranks[edge.from], ranks[edge.to]);
    if (top === bottom || edge.labelWidth === 0) continue;
    let best = top;
    for (let gap = top; gap < bottom; ++gap) if (load(gap) < load(best)) best = gap;
    labels[best].push(edge);
  }
  return labels;
}

// The layers as lists of stops. Gives each edge its chain of stops, from top to bottom, the boxes
// included. A stop has: w, h, up and down (its neighbours), and box or label if it is one.
function makeLayers(boxes, edges, ranks, keys, width) {
  const last = Math.max(...ranks);
  const layers = [];
  const layerOf = [];  // Of each rank.
  const rowsOf = [];   // The label rows below each rank.
  const crossing = gap => edges.filter(({from, to}) => Math.min(ranks[from], ranks[to]) <= gap &&
                                                       Math.max(ranks[from], ranks[to]) > gap);
  const labels = labelsOfGaps(edges, ranks, last);
  for (let rank = 0; rank <= last; ++rank) {
    layerOf[rank] = layers.length;
    layers.push([]);
    if (rank === last) break;
    const own = labels[rank];
    rowsOf[rank] = own.length === 0 ? 0 : labelRows(own.map(edge => edge.labelWidth), crossing(rank).length, width);
    for (let row = 0; row < rowsOf[rank]; ++row) layers.push([]);
  }
  const stops = boxes.map((box, i) => ({box, w: box.w, h: box.h, key: keys[i], up: [], down: []}));
  stops.forEach((stop, i) => layers[layerOf[ranks[i]]].push(stop));
  for (const edge of edges) {
    if (ranks[edge.from] === ranks[edge.to]) continue;
    const [top, bottom] = ranks[edge.from] < ranks[edge.to] ? [edge.from, edge.to] : [edge.to, edge.from];
    const gap = labels.findIndex(own => own.includes(edge));
    const labelLayer = gap < 0 ? -1 : layerOf[gap] + 1 + labels[gap].indexOf(edge) % rowsOf[gap];
    edge.chain = [stops[top]];
    for (let layer = layerOf[ranks[top]] + 1; layer < layerOf[ranks[bottom]]; ++layer) {
      const label = layer === labelLayer;
      const stop = {label, w: label ? edge.labelWidth : kStopWidth, h: label ? 20 : 0,
                    key: (keys[top] + keys[bottom]) / 2, up: [], down: []};
      edge.chain.push(stop);
      layers[layer].push(stop);
    }
    edge.chain.push(stops[bottom]);
    for (let i = 1; i < edge.chain.length; ++i) {
      edge.chain[i - 1].down.push(edge.chain[i]);
      edge.chain[i].up.push(edge.chain[i - 1]);
    }
  }
  return layers;
}

// How many pairs of lines between neighbours of `a` and of `b` cross if `a` stands left of `b`.
function crossingsOf(a, b) {
  let count = 0;
  for (const side of ['up', 'down']) {
    for (const p of a[side]) for (const q of b[side]) count += p.at > q.at ? 1 : 0;
  }
  return count;
}

function allCrossings(layers) {
  let count = 0;
  for (const layer of layers) {
    layer.forEach((a, i) => {
      for (const b of layer.slice(i + 1)) {
        for (const p of a.down) for (const q of b.down) count += p.at > q.at ? 1 : 0;
      }
    });
  }
  return count;
}

function number(layer) {
  layer.forEach((stop, i) => { stop.at = i; });
}

// One sweep: each layer in the order of the middles of its neighbours in the layer before.
function sweep(layers, side) {
  for (const layer of side === 'up' ? layers : [...layers].reverse()) {
    for (const stop of layer) {
      const near = stop[side];
      stop.middle = near.length === 0 ? stop.at : near.reduce((sum, each) => sum + each.at, 0) / near.length;
    }
    layer.sort((a, b) => a.middle - b.middle || a.at - b.at);
    number(layer);
  }
}

// Exchanges neighbours while that makes fewer lines cross.
function exchange(layers) {
  for (let round = 0, better = true; better && round < 10; ++round) {
    better = false;
    for (const layer of layers) {
      for (let i = 0; i + 1 < layer.length; ++i) {
        const [a, b] = [layer[i], layer[i + 1]];
        if (crossingsOf(b, a) >= crossingsOf(a, b)) continue;
        [layer[i], layer[i + 1]] = [b, a];
        number(layer);
        better = true;
      }
    }
  }
}

// Orders each layer so that few lines cross.
function orderLayers(layers) {
  for (const layer of layers) {
    layer.sort((a, b) => a.key - b.key);
    number(layer);
  }
  let best = null;
  const remember = () => {
    const crossings = allCrossings(layers);
    if (best === null || crossings < best.crossings) best = {crossings, layers: layers.map(layer => [...layer])};
  };
  remember();
  for (let i = 0; i < kSweeps && best.crossings > 0; ++i) {
    sweep(layers, i % 2 === 0 ? 'up' : 'down');
    remember();
    if (i % 4 !== 3) continue;
    exchange(layers);
    remember();
  }
  best.layers.forEach((layer, i) => {
    layers[i] = layer;
    number(layer);
  });
  exchange(layers);
}
