// Numbers of the service with their last three minutes: what each is, now and over time.

const shortCount = n => (n < 10000 ? Math.round(n).toLocaleString('en-US')
    : n < 1e6 ? `${(n / 1e3).toFixed(1)} k` : `${(n / 1e6).toFixed(2)} M`);
const byteCount = n => (n < 2 ** 20 ? `${(n / 1024).toFixed(0)} KiB`
    : n < 2 ** 30 ? `${(n / 2 ** 20).toFixed(1)} MiB` : `${(n / 2 ** 30).toFixed(2)} GiB`);
const timeSpan = s => (s < 0.0995 ? `${(s * 1000).toFixed(1)} ms` : s < 60 ? `${s.toFixed(1)} s`
    : s < 3600 ? `${Math.floor(s / 60)} min` : s < 86400 ? `${(s / 3600).toFixed(1)} h` : `${(s / 86400).toFixed(1)} d`);

// The columns of the samples, one sample a second.
const [TXNS, LAG, MEMORY, WINDOW, FLIPS, VIOLATIONS] = [0, 1, 2, 3, 4, 5];
const kTiles = [
  {title: 'Throughput', column: TXNS, unit: n => `${shortCount(n)}/s`,
   number: s => `${shortCount(s.samples.at(-1)?.[TXNS] ?? 0)} /s`,
   detail: s => `${counted(s.transactions, 'transaction')} in all`,
   explained: 'Transactions that arrive each second.'},
  {title: 'Lag', column: LAG, unit: timeSpan, number: s => timeSpan(s.lag_seconds),
   detail: s => `${byteCount(s.queue_bytes)} waiting`,
   explained: 'From the arrival of a batch to its verdict.'},
  {title: 'Memory', column: MEMORY, unit: byteCount, number: s => byteCount(s.resident_bytes),
   detail: s => (s.memory_limit ? `check: ${byteCount(s.stream_bytes)} of ${byteCount(s.memory_limit)}` : counted(s.keys, 'key')) +
                (s.disk_bytes ? `, ${byteCount(s.disk_bytes)} on disk` : ''),
   explained: 'Of the whole process.'},
  {title: 'Window', column: WINDOW, unit: shortCount, number: s => shortCount(s.window),
   detail: s => `final after ${timeSpan(s.timeout_seconds)}`,
   explained: 'Transactions whose verdict may still change, since others may be on their way.'},
  {title: 'Flips', column: FLIPS, unit: shortCount, number: s => shortCount(s.flips),
   detail: s => `${counted(s.flipped_transactions, 'transaction')}, ${counted(s.stragglers, 'straggler')}`,
   explained: 'Provisional verdicts that changed. A straggler came after the verdict on one that it affects.'},
  {title: 'Violations', column: VIOLATIONS, unit: shortCount, number: s => shortCount(standing(s)),
   detail: s => `${shortCount(s.provisional)} not final`,
   explained: 'Those that stand. One that is not final may turn out to be none.'},
];

// How many violations stand and are final.
function standing(summary) {
  return Object.values(summary.violations).reduce((sum, n) => sum + n, 0);
}

class Tile {
  constructor(about) {
    this.about = about;
    this.number = html('p', {class: 'number'}, '–');
    this.detail = html('p', {class: 'detail'});
    this.area = svg('path', {class: 'area'});
    this.curve = svg('path', {class: 'curve'});
    this.top = html('span', {});
    this.ago = html('span', {});
    this.element = html('article', {class: 'tile'}, html('h3', {}, about.title), this.number, this.detail,
        html('div', {class: 'chart', 'aria-hidden': 'true'},
             html('div', {class: 'y'}, this.top, html('span', {}, about.unit(0))),
             svg('svg', {viewBox: '0 0 180 40', preserveAspectRatio: 'none'}, this.area, this.curve),
             html('div', {class: 'x'}, this.ago, html('span', {}, 'now'))),
        html('p', {class: 'explained'}, about.explained));
  }

  show(summary) {
    this.number.textContent = this.about.number(summary);
    this.detail.textContent = this.about.detail(summary);
    this.draw(summary.samples.map(sample => sample[this.about.column]));
  }

  // The samples, oldest first, as a curve that ends at the right.
  draw(values) {
    const seconds = Math.max(values.length, 30) - 1;  // At least half a minute wide.
    this.ago.textContent = `${seconds >= 120 ? `${Math.round(seconds / 60)} min` : `${seconds} s`} ago`;
    const top = Math.max(...values, 0) || 1;
    this.top.textContent = this.about.unit(top);
    if (values.length < 2) return;
    const step = 180 / seconds;
    const left = 180 - step * (values.length - 1);
    const points = values.map((value, i) => `${(left + step * i).toFixed(2)} ${(40 - 38 * value / top).toFixed(2)}`);
    const curve = `M${points.join('L')}`;
    this.curve.setAttribute('d', curve);
    this.area.setAttribute('d', `${curve}L180 40L${left.toFixed(2)} 40Z`);
  }
}
