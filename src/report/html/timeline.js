// Sessions over time: a row each, those of the story first, and a bar for each transaction, those of
// the story in colour. What was done to the database while they ran is shaded.
//
// Only what is in view is drawn, so that any zoom works.

const kUnits = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

// Units of a clock from its own unit up, each with how many of that it has; none if it is not known.
function unitsFrom(own) {
  const size = kUnits.find(([, name]) => name === own)?.[0];
  return size === undefined ? [] : kUnits.filter(([each]) => each >= size).map(([each, name]) => [each / size, name]);
}
const kStatuses = ['committed', 'aborted', 'unknown'];
const kEndings = {pause: 'resume', kill: 'restart', cut: 'join'};

function niceStep(span, most) {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find(each => each * power >= rough);
  return factor * power;
}

// "pause node 1" … "resume node 1" is one band; what is not known to end is a moment.
function troubleBands(events, span) {
  const bands = [];
  events.forEach(([time, what], i) => {
    const [verb, ...rest] = what.split(' ');
    if (Object.values(kEndings).includes(verb)) return;
    const ending = [kEndings[verb], ...rest].join(' ');
    const end = events.slice(i + 1).find(event => event[1] === ending);
    bands.push({start: time, end: end ? end[0] : verb in kEndings ? span : time, what});
  });
  return bands;
}

class TimelineView {
  constructor(timelines, stories) {
    this.timelines = timelines;
    this.stories = stories;
    this.labels = new Map();
    this.info = html('p', {class: 'info', 'aria-live': 'polite'});
    this.note = html('p', {class: 'dim'});
    this.legend = html('ul', {class: 'legend'});
    this.pinned = null;  // The bar that was chosen.
    this.names = html('div', {class: 'names'});
    this.plot = html('div', {class: 'plot', tabindex: 0, role: 'group',
                             'aria-label': 'Timeline; left and right move, plus and minus zoom, up and down go from bar to bar'});
    this.element = html('section', {class: 'timeline'}, html('h3', {}, 'Sessions over time'),
                        this.controls(), this.note,
                        html('div', {class: 'rows'}, this.names, this.plot), this.legend, this.info);
    this.listen();
    this.select(0, 0);
    onResize(this.plot, () => this.draw());
  }

  controls() {
    const button = (name, title, action) =>
        html('button', {type: 'button', class: 'small', title, 'aria-label': title, onclick: action}, name);
    const bar = html('div', {class: 'controls'},
        button('−', 'Zoom out', () => this.zoom(2)), button('+', 'Zoom in', () => this.zoom(0.5)),
        button('◀', 'Earlier', () => this.move(-0.4)), button('▶', 'Later', () => this.move(0.4)),
        button('Whole history', 'Show the whole history', () => this.fitAll()));
    if (this.stories.length > 0) {
      bar.append(button('Violation', 'Show what surrounds the violation', () => this.fitStory()));
    }
    if (this.stories.length > 1) {
      this.storyChoice = html('select', {'aria-label': 'Violation to show', onchange: event =>
          this.select(this.which, Number(event.target.value))},
          this.stories.map((story, i) => html('option', {value: i}, `${i + 1}. ${story.name}`)));
      bar.append(this.storyChoice);
    }
    if (this.timelines.length > 1) {
      bar.append(html('select', {'aria-label': 'Clock', class: 'clock', onchange: event =>
          this.select(Number(event.target.value), this.story)},
          this.timelines.map((line, i) => html('option', {value: i}, `by ${line.title}`))));
    }
    return bar;
  }

  listen() {
    let drag = null;
    this.plot.addEventListener('pointerdown', event => {
      drag = {x: event.clientX, view: [...this.view]};
    });
    this.plot.addEventListener('pointermove', event => {
      if (!drag || event.buttons === 0) return;
      const by = (event.clientX - drag.x) / this.plot.clientWidth * (drag.view[1] - drag.view[0]);
      this.show(drag.view[0] - by, drag.view[1] - by);
    });
    for (const end of ['pointerup', 'pointercancel', 'pointerleave']) {
      this.plot.addEventListener(end, () => { drag = null; });
    }
    this.plot.addEventListener('wheel', event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const at = (event.clientX - this.plot.getBoundingClientRect().left) / this.plot.clientWidth;
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, at);
    }, {passive: false});
    this.plot.addEventListener('keydown', event => {
      const action = {ArrowLeft: () => this.move(-0.2), ArrowRight: () => this.move(0.2),
                      ArrowUp: () => this.step(-1), ArrowDown: () => this.step(1),
                      '+': () => this.zoom(0.5), '-': () => this.zoom(2), Home: () => this.fitAll()}[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
  }

  get line() {
    return this.timelines[this.which];
  }

  select(which, story) {
    this.which = which;
    this.story = story;
    if (this.storyChoice) this.storyChoice.value = String(story);
    this.labels = new Map((this.stories[story]?.txns ?? []).map(txn => [txn.index, txn.label]));
    this.pinned = null;
    this.note.textContent = this.aboutWhatIsShown();
    const tall = this.line.sessions.length <= 16;
    this.rowHeight = tall ? 28 : 16;
    this.orderRows();
    clear(this.names).append(...this.sessionOf.map((session, row) => {
      const name = this.line.sessions[session];
      const involved = row < this.involvedRows;
      const cell = html('div', {title: name, class: involved ? 'involved' : ''}, shortened(name, 12));
      cell.style.height = `${this.rowHeight}px`;
      return cell;
    }));
    this.fillLegend();
    this.tell(null);
    if (this.labels.size > 0) this.fitStory();
    else this.fitAll();
  }

  aboutWhatIsShown() {
    const {line} = this;
    const unit = unitsFrom(line.unit).length > 0 ? '' : ', in their own unit';
    const parts = [`By ${line.title}${unit}.`];
    if (line.bars.length < line.total || line.hiddenSessions > 0) {
      parts.push(`Shows ${line.bars.length.toLocaleString('en-US')} of ${counted(line.total, 'transaction')}: those of the violations, those around them, and a sample of the others.`);
    }
    if (line.hiddenSessions > 0) parts.push(`${counted(line.hiddenSessions, 'session')} left out.`);
    return parts.join(' ');
  }

  // Which session each row shows: those of the violation first.
  orderRows() {
    const involved = new Set(this.line.bars.filter(bar => this.labels.has(bar[4])).map(bar => bar[0]));
    const rank = session => (involved.has(session) ? 0 : 1);
    this.involvedRows = involved.size;
    this.sessionOf = this.line.sessions.map((_, i) => i).sort((a, b) => rank(a) - rank(b) || a - b);
    this.rowOf = [];
    this.sessionOf.forEach((session, row) => { this.rowOf[session] = row; });
  }

  // What bars look like, of those that occur.
  fillLegend() {
    const {bars} = this.line;
    const add = (kind, text) => this.legend.append(html('li', {},
        html('span', {class: `swatch box bar-${kind}`, 'aria-hidden': 'true'}), text));
    clear(this.legend);
    if (this.labels.size > 0) add('involved', 'of the violation');
    if (bars.some(bar => bar[3] === 0 && !this.labels.has(bar[4]))) add('committed', 'committed');
    if (bars.some(bar => bar[3] === 1)) add('aborted', 'aborted');
    if (bars.some(bar => bar[3] === 2)) add('unknown', 'outcome unknown');
    if (bars.some(bar => bar[2] === null)) add('open', 'pale: its end is not known');
    if (this.line.events.length > 0) add('trouble', 'shaded: what was done to the database');
  }

  // Says what a bar is, with its times.
  tell(bar) {
    if (bar === null) {
      this.info.textContent = 'Point at a bar, or click it, for its operations and times.';
      return;
    }
    const [session, start, end, status, index, ops] = bar;
    const label = this.labels.get(index);
    const times = end === null ? `from ${this.exactTime(start)}, end not known`
        : `from ${this.exactTime(start)} to ${this.exactTime(end)}, took ${this.duration(end - start)}`;
    this.info.textContent = `${label ? `${label}, ` : ''}session ${this.line.sessions[session]}, transaction ${(index + 1).toLocaleString('en-US')}, ` +
        `${kStatuses[status]}, ${times}: ${ops}`;
  }

  pin(bar) {
    this.pinned = bar;
    this.tell(bar);
    this.draw();
  }

  // Chooses the next bar in view, or the one before: from row to row, and within a row by time.
  step(by) {
    const [from, to] = this.view;
    const seen = this.line.bars.filter(bar => this.end(bar) >= from && bar[1] <= to)
                     .sort((a, b) => this.rowOf[a[0]] - this.rowOf[b[0]] || a[1] - b[1]);
    if (seen.length === 0) return;
    const at = seen.indexOf(this.pinned);
    this.pin(seen[at < 0 ? (by > 0 ? 0 : seen.length - 1) : clamp(at + by, 0, seen.length - 1)]);
  }

  exactTime(time) {
    const origin = Number(this.line.origin);
    const known = Number.isSafeInteger(origin);
    return (known ? '' : '+') + this.duration(known ? origin + time : time);
  }

  // A length of time, in the largest unit that is not larger.
  duration(time) {
    const units = unitsFrom(this.line.unit);
    if (units.length === 0) return time.toLocaleString('en-US');
    const [size, name] = units.find(([each]) => Math.abs(time) >= each) ?? units.at(-1);
    return `${(time / size).toLocaleString('en-US', {maximumFractionDigits: 6})} ${name}`;
  }

  end(bar) {
    return bar[2] === null ? this.line.span : bar[2];
  }

  fitAll() {
    this.show(-this.line.span * 0.02, this.line.span * 1.02);
  }

  fitStory() {
    const bars = this.line.bars.filter(bar => this.labels.has(bar[4]));
    if (bars.length === 0) return this.fitAll();
    const first = Math.min(...bars.map(bar => bar[1]));
    const last = Math.max(...bars.map(bar => (bar[2] === null ? bar[1] : bar[2])));
    const margin = Math.max((last - first) * 0.35, this.line.span * 1e-6, 0.5);
    this.show(first - margin, last + margin);
  }

  zoom(factor, at = 0.5) {
    const [from, to] = this.view;
    const middle = from + (to - from) * at;
    this.show(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  move(share) {
    const by = (this.view[1] - this.view[0]) * share;
    this.show(this.view[0] + by, this.view[1] + by);
  }

  show(from, to) {
    const whole = Math.max(this.line.span, 1) * 1.2;
    const width = clamp(to - from, Math.max(this.line.span, 1) * 1e-7, whole);
    const middle = clamp((from + to) / 2, 0, this.line.span);  // Stays in the middle, and within.
    const start = middle - width / 2;
    this.view = [start, start + width];
    this.draw();
  }

  timeText(time, step) {
    const origin = Number(this.line.origin);
    const known = Number.isSafeInteger(origin);
    const value = known ? origin + time : time;
    const sign = known ? '' : '+';
    const units = unitsFrom(this.line.unit);
    if (units.length === 0) {
      const digits = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step)));
      return sign + value.toLocaleString('en-US', {minimumFractionDigits: digits, maximumFractionDigits: digits});
    }
    const [unit, name] = units.find(([size]) => step >= size) ?? units.at(-1);
    return `${sign}${(value / unit).toLocaleString('en-US', {maximumFractionDigits: step < 1 ? 2 : 0})} ${name}`;
  }

  draw() {
    const width = this.plot.clientWidth;
    if (width === 0 || !this.view) return;
    const axis = 26;
    const troubles = this.line.events.length > 0 ? 16 : 0;
    const height = axis + this.line.sessions.length * this.rowHeight + 6 + troubles;
    const [from, to] = this.view;
    const x = time => (time - from) / (to - from) * width;
    const picture = svg('svg', {width, height, class: 'bars', 'aria-hidden': 'false'});
    this.drawRows(picture, width, axis);
    this.drawBands(picture, x, width, height, axis);
    this.drawAxis(picture, x, width, height, axis);
    this.beside = new Map();  // By row, where labels are that stand beside their bars.
    const faint = [];
    const bright = [];
    for (const bar of this.line.bars) {
      if (this.end(bar) < from || bar[1] > to) continue;
      (this.labels.has(bar[4]) ? bright : faint).push(bar);
    }
    for (const bar of [...faint, ...bright]) picture.append(this.drawBar(bar, x, width, axis));
    // Whatever had the focus is replaced. The bar that was chosen gets it if it can.
    const focused = this.plot.contains(document.activeElement);
    clear(this.plot).append(picture);
    if (focused) (this.plot.querySelector('.bar.chosen[tabindex]') ?? this.plot).focus({preventScroll: true});
    this.names.style.paddingTop = `${axis}px`;
  }

  drawRows(picture, width, axis) {
    this.line.sessions.forEach((_, row) => {
      picture.append(svg('rect', {class: row % 2 ? 'row odd' : 'row', x: 0, y: axis + row * this.rowHeight,
                                  width, height: this.rowHeight}));
    });
  }

  drawBands(picture, x, width, height, axis) {
    for (const band of troubleBands(this.line.events, this.line.span)) {
      const left = clamp(x(band.start), -2, width + 2);
      const right = clamp(x(band.end), -2, width + 2);
      if (right < 0 || left > width) continue;
      const w = Math.max(2, right - left);
      picture.append(svg('g', {class: 'trouble'}, svg('title', {}, band.what),
          svg('rect', {x: left, y: axis, width: w, height: height - axis}),
          w > band.what.length * 6.4 ? svg('text', {x: left + 4, y: height - 5}, band.what) : null));
    }
  }

  drawAxis(picture, x, width, height, axis) {
    const [from, to] = this.view;
    const step = niceStep(to - from, Math.max(2, width / (width < 400 ? 80 : 130)));
    const origin = Number(this.line.origin);
    const base = Number.isSafeInteger(origin) ? origin : 0;
    let free = 0;  // Where the next label may begin.
    for (let tick = Math.ceil((from + base) / step) * step - base; tick <= to; tick += step) {
      picture.append(svg('line', {class: 'tick', x1: x(tick), x2: x(tick), y1: axis - 5, y2: height}));
      const text = this.timeText(tick, step);
      const left = x(tick) + 3;
      const right = left + textWidth(text, '11px', '--sans');
      if (left < free || right > width) continue;
      picture.append(svg('text', {class: 'tick', x: left, y: 14}, text));
      free = right + 8;
    }
  }

  // Where the label of a bar begins that is too narrow for it: at its right or left, where neither
  // another bar of the row nor its label is. Null if there is no room: a click tells the name, too.
  besideBar(bar, left, w, label, x) {
    const letters = label.length * 8;
    const free = from => from >= 0 && !this.line.bars.some(other => other !== bar && other[0] === bar[0] &&
        x(other[1]) < from + letters && Math.max(x(this.end(other)), x(other[1]) + 3) > from) &&
      !(this.beside.get(bar[0]) ?? []).some(([begin, end]) => begin < from + letters && end > from);
    const at = [left + w + 4, left - 4 - letters].find(free) ?? null;
    if (at !== null) this.beside.set(bar[0], [...this.beside.get(bar[0]) ?? [], [at, at + letters]]);
    return at;
  }

  drawBar(bar, x, width, axis) {
    const [session, start, , status, index, ops] = bar;
    const row = this.rowOf[session];
    const label = this.labels.get(index);
    const known = bar[2] !== null;
    const left = clamp(x(start), -4, width + 4);
    const right = clamp(x(this.end(bar)), -4, width + 4);
    const pad = this.rowHeight > 20 ? 4 : 2;
    const w = Math.max(known ? 3 : 8, right - left);
    const words = kStatuses[status];
    const about = `${label ? label + ', ' : ''}session ${this.line.sessions[session]}, transaction ${index + 1}, ${words}: ${ops}`;
    const tell = () => this.tell(bar);
    const focus = () => {
      this.pinned = bar;
      this.plot.querySelectorAll('.chosen').forEach(other => other.classList.remove('chosen'));
      group.classList.add('chosen');
      tell();
    };
    const chosen = bar === this.pinned ? ' chosen' : '';
    const group = svg('g', {class: `bar ${words}${label ? ' involved' : ''}${known ? '' : ' open'}${this.rowHeight > 20 ? '' : ' low'}${chosen}`,
                            'data-txn': label, onmouseenter: tell, onmouseleave: () => this.tell(this.pinned),
                            onfocus: focus, onclick: () => this.pin(bar), tabindex: label ? 0 : null,
                            role: 'img', 'aria-label': about},
        svg('rect', {x: round(left), y: axis + row * this.rowHeight + pad, width: round(w),
                     height: this.rowHeight - 2 * pad, rx: 3}));
    if (label) {
      const inside = w > label.length * 8 + 6;
      const at = inside ? Math.max(left, 0) + 5 : this.besideBar(bar, left, w, label, x);
      if (at !== null) {
        group.append(svg('text', {x: round(at), y: axis + row * this.rowHeight + (this.rowHeight > 20 ? 18 : 12),
                                  class: inside ? 'in' : 'out'}, label));
      }
    }
    return group;
  }
}
