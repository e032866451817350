// Where the boxes of a graph go, and how its arrows run. No elements here, only numbers; the same
// story always looks the same.
//
// A story is a cycle, so the boxes go around a grid: along the first row, to and fro through the
// rest, and back up the first column. Those that are on no cycle stand beside the ones they belong
// to. Then boxes change places as long as that makes arrows shorter, or less in each other's way.

// The cells of a ring around a grid, in order. REQUIRES: rows is 1 or even.
function ringCells(rows, columns) {
  const cells = [];
  for (let c = 0; c < columns; ++c) cells.push([0, c]);
  for (let r = 1; r < rows; ++r) {
    for (let i = 1; i < columns; ++i) cells.push([r, r % 2 === 1 ? columns - i : i]);
  }
  for (let r = rows - 1; r >= 1; --r) cells.push([r, 0]);
  return cells;
}

// A grid for `count` boxes, at most `widest` side by side.
function gridFor(count, widest) {
  if (count <= 2 && widest >= 2) return {rows: 1, columns: Math.max(1, count)};
  let best = null;
  for (let columns = 2; columns <= Math.max(2, widest); ++columns) {
    let rows = Math.ceil(count / columns);
    rows += rows % 2;
    // Few empty cells, and about as wide as a page.
    const cost = (rows * columns - count) + 1.5 * Math.abs(columns - 1.3 * rows);
    if (best === null || cost < best.cost) best = {rows, columns, cost};
  }
  return best;
}

// All boxes in one round: the cycle first, then each other one beside a neighbour.
function roundOrder(count, cycle, edges) {
  const order = [];
  for (const node of cycle) if (!order.includes(node)) order.push(node);
  const rest = [];
  for (let node = 0; node < count; ++node) if (!order.includes(node)) rest.push(node);
  while (rest.length > 0) {
    const near = node => edges.find(e => (e.from === node && order.includes(e.to)) ||
                                         (e.to === node && order.includes(e.from)));
    const at = Math.max(0, rest.findIndex(node => near(node)));
    const node = rest.splice(at, 1)[0];
    const edge = near(node);
    if (!edge) {
      order.push(node);
    } else if (edge.from === node) {
      order.splice(order.indexOf(edge.to), 0, node);
    } else {
      order.splice(order.indexOf(edge.from) + 1, 0, node);
    }
  }
  return order;
}

function turn(a, b, c) {
  return Math.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
}

function cross(a, b, c, d) {
  return turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0;
}

// How bad it is to have the boxes in these cells.
function placementCost(cells, edges) {
  let cost = 0;
  for (const [i, edge] of edges.entries()) {
    const a = cells[edge.from];
    const b = cells[edge.to];
    const length = Math.hypot(a[0] - b[0], a[1] - b[1]);
    cost += length * length;
    for (const [n, cell] of cells.entries()) {
      if (n === edge.from || n === edge.to || turn(a, b, cell) !== 0) continue;
      const inside = (cell[0] - a[0]) * (cell[0] - b[0]) + (cell[1] - a[1]) * (cell[1] - b[1]);
      if (inside < 0) cost += 4;
    }
    for (let j = 0; j < i; ++j) {
      if (cross(a, b, cells[edges[j].from], cells[edges[j].to])) cost += 3;
    }
  }
  return cost;
}

// Exchanges boxes, also with empty cells, while that helps.
function improve(cells, free, edges) {
  let best = placementCost(cells, edges);
  for (let round = 0; round < 6; ++round) {
    let better = false;
    for (let a = 0; a < cells.length; ++a) {
      for (let b = a + 1; b < cells.length + free.length; ++b) {
        const take = () => {
          const other = b < cells.length ? cells[b] : free[b - cells.length];
          if (b < cells.length) cells[b] = cells[a];
          else free[b - cells.length] = cells[a];
          cells[a] = other;
        };
        take();
        const cost = placementCost(cells, edges);
        if (cost < best - 1e-9) {
          best = cost;
          better = true;
        } else {
          take();
        }
      }
    }
    if (!better) return;
  }
}

const kMostImproved = 36;  // Boxes; more take too long.

// Gives each box its x and y (the middle). `boxes` have w and h.
function placeBoxes(boxes, edges, cycle, width) {
  const labelWidth = Math.max(0, ...edges.map(edge => edge.labelWidth));
  const gapX = width < 520 ? 48 : clamp(labelWidth + 56, 96, 190);
  const gapY = 76;
  const boxWidth = Math.max(...boxes.map(box => box.w));
  const widest = Math.max(1, Math.floor((width + gapX - 16) / (boxWidth + gapX)));
  const {rows, columns} = gridFor(boxes.length, widest);
  const ring = ringCells(rows, columns);
  const order = roundOrder(boxes.length, cycle, edges);
  const cells = [];
  order.forEach((node, i) => { cells[node] = ring[i]; });
  const free = ring.slice(order.length);
  if (boxes.length <= kMostImproved && boxes.length > 3) improve(cells, free, edges);
  const rowHeights = Array(rows).fill(0);
  boxes.forEach((box, i) => {
    rowHeights[cells[i][0]] = Math.max(rowHeights[cells[i][0]], box.h);
  });
  const rowTops = [];
  let top = 0;
  for (const height of rowHeights) {
    rowTops.push(top);
    top += height === 0 ? 0 : height + gapY;
  }
  boxes.forEach((box, i) => {
    const [row, column] = cells[i];
    box.x = column * (boxWidth + gapX) + boxWidth / 2;
    box.y = rowTops[row] + rowHeights[row] / 2;
  });
}

function curveAt([p, q, r], t) {
  const mix = i => (1 - t) * (1 - t) * p[i] + 2 * t * (1 - t) * q[i] + t * t * r[i];
  return [mix(0), mix(1)];
}

// The part of a quadratic curve between two places on it.
function partOfCurve([p, q, r], from, to) {
  const mix = (a, b, t) => [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t];
  const blossom = (s, t) => mix(mix(p, q, s), mix(q, r, s), t);
  return [blossom(from, from), blossom(from, to), blossom(to, to)];
}

function within(box, [x, y], margin) {
  return Math.abs(x - box.x) < box.w / 2 + margin && Math.abs(y - box.y) < box.h / 2 + margin;
}

// Cuts off what lies in the boxes at its ends.
function clipped(curve, from, to) {
  const kSteps = 200;
  let first = 0;
  while (first < kSteps && within(from, curveAt(curve, first / kSteps), 1)) ++first;
  let last = kSteps;
  while (last > first && within(to, curveAt(curve, last / kSteps), 3)) --last;
  return partOfCurve(curve, first / kSteps, last / kSteps);
}

// How badly two boxes are in each other's way; none is better than a little.
function overlap(a, b) {
  const w = Math.min(a.x + a.w / 2, b.x + b.w / 2) - Math.max(a.x - a.w / 2, b.x - b.w / 2);
  const h = Math.min(a.y + a.h / 2, b.y + b.h / 2) - Math.max(a.y - a.h / 2, b.y - b.h / 2);
  return w > 0 && h > 0 ? 0.4 + Math.min(1, w * h / (b.w * b.h)) : 0;
}

function bentCurve(from, to, bend) {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy) || 1;
  const middle = [(from.x + to.x) / 2 - dy / length * bend * 2, (from.y + to.y) / 2 + dx / length * bend * 2];
  return [[from.x, from.y], middle, [to.x, to.y]];
}

function loopCurve(box) {
  const top = box.y - box.h / 2;
  return [[box.x - 24, top], [box.x, top - 90], [box.x + 24, top]];
}

// Gives each edge its curve and the place of its label; in order, each keeps out of the way of those
// before it. `edges` have labelWidth.
function routeEdges(boxes, edges) {
  const labels = [];
  const kBends = [0, 28, -28, 54, -54, 80, -80, 112, -112, 160, -160, 220, -220];
  for (const edge of edges) {
    const from = boxes[edge.from];
    const to = boxes[edge.to];
    const between = edges.filter(e => (e.from === edge.from && e.to === edge.to) ||
                                      (e.from === edge.to && e.to === edge.from));
    const bends = edge.from === edge.to ? [0] : between.length > 1 ? kBends.slice(1) : kBends;
    let best = null;
    for (const bend of bends) {
      const whole = edge.from === edge.to ? loopCurve(from) : bentCurve(from, to, bend);
      const curve = edge.from === edge.to ? whole : clipped(whole, from, to);
      const [x, y] = curveAt(curve, 0.5);
      const label = {x, y, w: edge.labelWidth + 6, h: 20};
      let cost = Math.abs(bend) / 60 + (bend < 0 ? 0.05 : 0);
      for (const other of labels) cost += 8 * overlap(other, label);
      boxes.forEach((box, i) => {
        cost += 8 * overlap(box, label);
        if (i === edge.from || i === edge.to) return;
        for (let t = 1; t < 16; ++t) if (within(box, curveAt(curve, t / 16), 6)) cost += 1.5;
      });
      if (best === null || cost < best.cost) best = {curve, label, cost};
    }
    edge.curve = best.curve;
    edge.label = best.label;
    labels.push(best.label);
  }
}

// The smallest frame around everything.
function frameOf(boxes, edges) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const add = (x, y, w, h) => {
    left = Math.min(left, x - w / 2);
    right = Math.max(right, x + w / 2);
    top = Math.min(top, y - h / 2);
    bottom = Math.max(bottom, y + h / 2);
  };
  for (const box of boxes) add(box.x, box.y, box.w, box.h);
  for (const edge of edges) {
    add(edge.label.x, edge.label.y, edge.label.w, edge.label.h);
    for (let t = 0; t <= 8; ++t) add(...curveAt(edge.curve, t / 8), 4, 4);
  }
  const margin = 10;
  return {x: left - margin, y: top - margin, w: right - left + 2 * margin, h: bottom - top + 2 * margin};
}
