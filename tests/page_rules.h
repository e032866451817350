// What must be true of every page that tests look at, as expressions for Browser::evaluate: each
// gives a list of what is wrong, so that "[]" is right.
#pragma once

namespace ouro {

// A list of what overlaps in the pictures of a page: boxes, labels of arrows, the arrows themselves
// (which may cross each other, but nothing else), and the frame. All lattices are the same, so one
// is looked at.
inline constexpr const char* kClashes =
    R"([...document.querySelectorAll('.picture'),
  document.querySelector('.lattice')].filter(Boolean).flatMap(picture => {
  const rect = e => e.getBoundingClientRect();
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 &&
                         a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const things = [...picture.querySelectorAll('.node, .edge-label, .level')]
      .map(e => ({name: e.textContent, r: rect(e)})).filter(({r}) => r.width > 0);
  const frame = rect(picture);
  const bad = [];
  things.forEach(({name, r}, i) => {
    if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.top < frame.top - 1 ||
        r.bottom > frame.bottom + 1) bad.push(['out of frame', name]);
    things.slice(i + 1).forEach(other => {
      if (meet(r, other.r)) bad.push([name, other.name]);
    });
  });
  const {a: scale, e: left, f: top} = picture.getScreenCTM();  // Neither turned nor skewed.
  const across = (x, y) => {
    const at = {x: x * scale + left, y: y * scale + top};
    return things.find(({r}) => at.x > r.left + 1.5 && at.x < r.right - 1.5 &&
                                at.y > r.top + 1.5 && at.y < r.bottom - 1.5);
  };
  for (const line of picture.querySelectorAll('.line, .bond')) {
    for (let along = 0; along <= line.getTotalLength(); along += 4) {
      const {x, y} = line.getPointAtLength(along);
      const hit = across(x, y);
      if (!hit) continue;
      bad.push(['arrow', line.parentNode.getAttribute('aria-label'), hit.name]);
      break;
    }
  }
  for (const tip of picture.querySelectorAll('.tip')) {
    for (const {x, y} of tip.points) {
      const hit = across(x, y);
      if (hit) bad.push(['tip', tip.parentNode.getAttribute('aria-label'), hit.name]);
    }
  }
  return bad;
}))";

// A list of texts that cannot be read well: fainter than 4.5 to 1, or wider than what they are in.
inline constexpr const char* kUnreadable = R"((() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const colour = text => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const solid = text => text !== 'none' && colour(text)[3] > 250;
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const fill = getComputedStyle(e).backgroundColor;
      if (solid(fill)) return fill;
    }
    return 'white';
  };
  const behind = text => {
    const r = text.getBoundingClientRect();
    const [x, y] = [r.left + r.width / 2, r.top + r.height / 2];
    const shapes = [...text.ownerSVGElement.querySelectorAll('rect, path, polygon')].filter(shape => {
      const s = shape.getBoundingClientRect();
      const style = getComputedStyle(shape);
      return text.compareDocumentPosition(shape) & Node.DOCUMENT_POSITION_PRECEDING && style.opacity === '1' &&
             s.left < x && x < s.right && s.top < y && y < s.bottom && solid(style.fill);
    });
    return shapes.length > 0 ? getComputedStyle(shapes.at(-1)).fill : ground(text.ownerSVGElement.parentElement);
  };
  const bad = [];
  for (const text of document.querySelectorAll('svg text')) {
    const ratio = contrast(light(colour(getComputedStyle(text).fill)), light(colour(behind(text))));
    if (ratio < 4.5) bad.push([text.textContent, ratio]);
    const frame = text.closest('.node, .edge-label, .level')?.querySelector('rect');
    const [inner, outer] = [text.getBoundingClientRect(), frame?.getBoundingClientRect()];
    if (frame && (inner.left < outer.left || inner.right > outer.right)) bad.push([text.textContent, 'too wide']);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (seen.has(e) || e.closest('svg, script, style') || !walker.currentNode.data.trim() || !e.offsetParent) continue;
    seen.add(e);
    const ratio = contrast(light(colour(getComputedStyle(e).color)), light(colour(ground(e))));
    if (ratio < 4.5) bad.push([e.textContent.slice(0, 60), ratio]);
  }
  for (const e of document.body.querySelectorAll('*')) {
    if (e.closest('svg, .plot') || !e.offsetParent || getComputedStyle(e).display === 'inline') continue;
    if (e.scrollWidth > e.clientWidth + 1) bad.push([e.className || e.tagName, 'cut', e.scrollWidth, e.clientWidth]);
  }
  return bad;
})())";

// A list of texts of timelines that are cut by the edge of their picture or run into another one of
// the axis.
inline constexpr const char* kBadTicks =
    R"([...document.querySelectorAll('.plot')].flatMap(plot => {
  const frame = plot.getBoundingClientRect();
  const ticks = [...plot.querySelectorAll('text.tick')].map(e => ({name: e.textContent, r: e.getBoundingClientRect()}));
  const bad = ticks.filter(({r}) => r.left < frame.left - 1 || r.right > frame.right + 1).map(({name}) => [name, 'cut']);
  ticks.sort((a, b) => a.r.left - b.r.left).forEach(({name, r}, i) => {
    if (i > 0 && r.left < ticks[i - 1].r.right + 2) bad.push([ticks[i - 1].name, name]);
  });
  if (ticks.length === 0) bad.push('an axis without a label');
  return bad;
}))";

// A list of labels in timelines that run into another label, or over a bar that is not their own.
inline constexpr const char* kBadBarLabels =
    R"([...document.querySelectorAll('.plot')].flatMap(plot => {
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const bars = [...plot.querySelectorAll('.bar')];
  const things = bars.flatMap(bar => [...bar.querySelectorAll('rect, text')].map(e => ({bar, e, r: e.getBoundingClientRect()})));
  return things.filter(({e}) => e.tagName === 'text').flatMap(({bar, e, r}) =>
      things.filter(other => other.bar !== bar && meet(r, other.r)).map(other => [e.textContent, other.bar.getAttribute('aria-label')]));
}))";

// A list of what is wrong with the stories of a page: one whose arrows are all grey, an open case
// without a sentence, a box whose name the words do not say.
inline constexpr const char* kBadStories =
    R"([...document.querySelectorAll('.story')].flatMap(story => {
  const bad = [];
  const about = story.closest('.history')?.querySelector('h2').textContent + ', ' + story.id;
  const edges = [...story.querySelectorAll('.graph .edge')];
  if (edges.length > 0 && edges.every(e => e.classList.contains('faint'))) bad.push([about, 'all grey']);
  for (const each of story.querySelectorAll('.case:not(.closed)')) {
    const said = [...each.querySelectorAll('li')].filter(e => e.textContent.trim() !== '');
    if (said.length === 0) bad.push([about, 'a case without a sentence', each.textContent]);
  }
  const words = [...story.querySelectorAll('header, .words')].map(e => e.textContent).join(' ');
  for (const node of story.querySelectorAll('.node[data-txn]')) {
    if (!new RegExp(`\\b${node.dataset.txn}\\b`).test(words)) bad.push([about, 'not told of', node.dataset.txn]);
  }
  if (story.querySelectorAll('.case').length > 0 && story.querySelectorAll('.case.active').length !== 1) bad.push([about, 'no case']);
  return bad;
}))";

// What has the focus of the keyboard, and what is wrong with how that is shown: it is not in view,
// something covers it, or it looks as if it had no focus. Null if nothing has it.
inline constexpr const char* kFocused = R"((() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const name = [e.tagName, e.id, e.getAttribute('class'), e.getAttribute('aria-label') ?? e.textContent.slice(0, 40)].join(' ');
  const bad = [];
  const line = e.querySelector('.line');
  const matrix = line?.getScreenCTM();
  const r = e.getBoundingClientRect();
  const share = [0.5, 0.1, 0.25, 0.75, 0.9];
  const points = line ? share.map(at => line.getPointAtLength(line.getTotalLength() * at).matrixTransform(matrix))
      : share.flatMap(x => share.map(y => ({x: r.left + r.width * x, y: r.top + r.height * y})));
  const seen = points.filter(({x, y}) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight);
  if (r.width === 0 || seen.length === 0) bad.push('out of view');
  else if (!seen.some(({x, y}) => { const hit = document.elementFromPoint(x, y); return hit && (e.contains(hit) || hit.contains(e)); })) bad.push('covered');
  const look = () => [e, ...e.querySelectorAll('rect, path')].map(part => {
    const s = getComputedStyle(part);
    return [s.outlineStyle, s.outlineWidth, s.stroke, s.strokeWidth, s.fill, s.opacity].join();
  }).join('|');
  const on = look();
  e.blur();
  if (look() === on) bad.push('looks the same without focus');
  e.focus({preventScroll: true});
  return [name, ...bad];
})())";

}  // namespace ouro
