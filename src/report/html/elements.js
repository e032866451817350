// Making elements. Text is always a text node, so nothing in a history is ever markup.

function append(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

function put(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  return element;
}

function html(tag, attributes = {}, ...children) {
  return append(put(document.createElement(tag), attributes), children);
}

function svg(tag, attributes = {}, ...children) {
  return append(put(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes),
                children);
}

function clear(element) {
  element.replaceChildren();
  return element;
}

function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

// Keeps both ends of what is too long.
function shortened(text, most) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const tail = Math.floor((most - 1) / 3);
  return letters.slice(0, most - 1 - tail).join('') + '…' + letters.slice(letters.length - tail).join('');
}

// How wide a text is in a font of the page: `style` is as in CSS, `family` a variable of the style sheet.
const textMeasure = document.createElement('canvas').getContext('2d');
const fontFamilies = new Map();
function textWidth(text, style, family) {
  if (!fontFamilies.has(family)) {
    fontFamilies.set(family, getComputedStyle(document.documentElement).getPropertyValue(family));
  }
  textMeasure.font = `${style} ${fontFamilies.get(family)}`;
  return textMeasure.measureText(text).width;
}

function counted(count, noun, several = noun + 's') {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : several}`;
}

// What this browser was told to remember for the pages; null if nothing, or if it refuses to.
function remembered(name) {
  try {
    return localStorage.getItem(`ouro-${name}`);
  } catch {
    return null;
  }
}

function remember(name, text) {
  try {
    localStorage.setItem(`ouro-${name}`, text);
  } catch {
    // A page that may not store anything forgets it.
  }
}

// Calls `action` with the width of the element, now and whenever it changes.
function onResize(element, action) {
  let width = -1;
  new ResizeObserver(() => requestAnimationFrame(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    action(width);
  })).observe(element);
}

// What a click does, done by Enter and the space bar, too.
function pressable(action) {
  return {
    tabindex: 0,
    role: 'button',
    onclick: action,
    onkeydown: event => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      action(event);
    },
  };
}

const kOutcomes = {
  holds: {word: 'holds', mark: '✓'},
  violated: {word: 'violated', mark: '✗'},
  undecided: {word: 'undecided', mark: '?'},
  unreadable: {word: 'unreadable', mark: '!'},
};

function badge(outcome) {
  const known = kOutcomes[outcome];
  return html('span', {class: `badge ${outcome}`},
              html('span', {'aria-hidden': 'true'}, known.mark + ' '), known.word);
}
