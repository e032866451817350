'use strict';
// Asks for /summary once a second and shows it. Texts from the service only ever become text nodes.
const find = id => document.getElementById(id);
const make = (tag, kind, text) => {
  const node = document.createElement(tag);
  if (kind) node.className = kind;
  if (text !== undefined) node.textContent = text;
  return node;
};
const svg = (tag, attributes) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
};

const count = n => n < 10000 ? Math.round(n).toLocaleString('en-US')
  : n < 1e6 ? (n / 1e3).toFixed(1) + ' k' : (n / 1e6).toFixed(2) + ' M';
const bytes = n => n < 1 << 20 ? (n / 1024).toFixed(0) + ' KiB'
  : n < 2 ** 30 ? (n / 2 ** 20).toFixed(1) + ' MiB' : (n / 2 ** 30).toFixed(2) + ' GiB';
const span = s => s < 0.0995 ? (s * 1000).toFixed(1) + ' ms' : s < 60 ? s.toFixed(1) + ' s'
  : s < 3600 ? Math.floor(s / 60) + ' min' : s < 86400 ? (s / 3600).toFixed(1) + ' h'
  : (s / 86400).toFixed(1) + ' d';
const several = (n, word) => count(n) + ' ' + word + (n === 1 ? '' : 's');

// Columns of the samples.
const TXNS = 0, LAG = 1, MEMORY = 2, WINDOW = 3, FLIPS = 4, VIOLATIONS = 5;
const last = (samples, column) => samples.length ? samples[samples.length - 1][column] : 0;
const tiles = [
  ['Throughput', TXNS, s => count(last(s.samples, TXNS)) + ' /s',
   s => several(s.transactions, 'transaction') + ' in all'],
  ['Lag', LAG, s => span(s.lag_seconds), s => bytes(s.queue_bytes) + ' waiting'],
  ['Memory', MEMORY, s => bytes(s.resident_bytes),
   s => (s.memory_limit ? 'check: ' + bytes(s.stream_bytes) + ' of ' + bytes(s.memory_limit)
                        : several(s.keys, 'key')) +
        (s.disk_bytes ? ', ' + bytes(s.disk_bytes) + ' on disk' : '')],
  ['Window', WINDOW, s => count(s.window), s => 'final after ' + span(s.timeout_seconds)],
  ['Flip-flops', FLIPS, s => count(s.flips),
   s => several(s.flipped_transactions, 'transaction') + ', ' + several(s.stragglers, 'straggler')],
  ['Violations', VIOLATIONS,
   s => count(Object.values(s.violations).reduce((sum, n) => sum + n, 0) - s.provisional),
   s => count(s.provisional) + ' not final'],
].map(([title, column, number, detail]) => {
  const tile = make('article', 'tile');
  const parts = {column, number, detail, value: make('p', 'number', '–'), more: make('p', 'detail'),
                 area: svg('path', {class: 'area'}), curve: svg('path', {class: 'curve'})};
  const plot = svg('svg', {viewBox: '0 0 180 40', preserveAspectRatio: 'none', 'aria-hidden': 'true'});
  plot.append(parts.area, parts.curve);
  tile.append(make('h3', '', title), parts.value, parts.more, plot);
  find('tiles').append(tile);
  return parts;
});

// The samples, oldest first, as a curve that ends at the right.
function draw(parts, samples) {
  const values = samples.map(sample => sample[parts.column]);
  if (values.length < 2) return;
  const top = Math.max(...values) || 1;
  const step = 180 / (Math.max(values.length, 30) - 1);  // At least half a minute wide.
  const left = 180 - step * (values.length - 1);
  const points = values.map((value, i) =>
    (left + step * i).toFixed(2) + ' ' + (38 - 35 * value / top).toFixed(2));
  const curve = 'M' + points.join('L');
  parts.curve.setAttribute('d', curve);
  parts.area.setAttribute('d', curve + 'L180 40L' + left.toFixed(2) + ' 40Z');
}

function show(summary) {
  find('level').textContent = summary.level + ' by timestamps';
  const verdict = find('verdict');
  verdict.className = summary.verdict;
  find('word').textContent = {holds: 'Holds', violated: 'Violated', undecided: 'Undecided'}[summary.verdict];
  const found = Object.entries(summary.violations).map(([name, n]) => count(n) + ' × ' + name);
  find('why').textContent = summary.verdict === 'violated' ? found.join(', ')
    : summary.verdict === 'undecided' ? several(summary.lost_stragglers, 'transaction') + ' came too late'
    : summary.transactions === 0 ? 'No transaction came yet.'
    : several(summary.transactions, 'transaction') + ', all as the level promises.';
  for (const parts of tiles) {
    parts.value.textContent = parts.number(summary);
    parts.more.textContent = parts.detail(summary);
    draw(parts, summary.samples);
  }
  find('total').textContent = summary.events ? summary.events + ' so far' +
    (summary.events > summary.recent.length ? ', the latest ' + summary.recent.length + ' here' : '') : '';
  list(summary.recent);
  find('uptime').textContent = 'up ' + span(summary.uptime_seconds) +
    (summary.rejected ? ', ' + count(summary.rejected) + ' rejected' : '');
}

let listed = '';
function list(recent) {
  const now = recent.map(event => event.event).join();
  if (now === listed) return;
  listed = now;
  find('none').hidden = recent.length > 0;
  find('events').replaceChildren(...recent.map(event => {
    const item = make('li', event.kind), button = make('button');
    const text = event.kind === 'withdrawal' ? 'event ' + event.withdraws + ' was none: ' + event.headline
      : event.headline;
    const time = make('time', '', new Date(event.reported * 1000).toLocaleTimeString());
    time.dateTime = new Date(event.reported * 1000).toISOString();
    button.append(make('span', 'event-number', event.event), make('span', 'headline', text), time);
    button.addEventListener('click', () => tell(event.event));
    item.append(button);
    return item;
  }));
}

async function tell(number) {
  const answer = await ask('/event/' + number);
  if (!answer.ok) return;
  const event = await answer.json();
  find('story-title').textContent = 'Event ' + event.event + ': ' +
    (event.kind === 'withdrawal' ? 'withdraws event ' + event.withdraws : event.anomaly);
  find('story-facts').textContent = event.level + ', reported ' +
    new Date(event.reported * 1000).toLocaleString() + (event.reported - event.arrived < 0.001 ? ' at once'
      : ', ' + span(event.reported - event.arrived) + ' after the last transaction it needed');
  find('story-text').hidden = !event.text;
  find('story-text').textContent = event.text || '';
  find('story-txns').textContent = event.transactions.map(txn => JSON.stringify(txn)).join('\n');
  find('story').showModal();
}

let token = sessionStorage.getItem('token') || '';
const ask = path => fetch(path, {cache: 'no-store',
  headers: token ? {Authorization: 'Bearer ' + token} : {}});
find('ask').addEventListener('submit', event => {
  event.preventDefault();
  token = find('token').value;
  sessionStorage.setItem('token', token);
  refresh();
});

async function refresh() {
  const link = find('link');
  try {
    const answer = await ask('/summary');
    find('ask').hidden = answer.status !== 401;
    // Plain links cannot show the token.
    for (const link of document.querySelectorAll('footer a')) link.hidden = token !== '';
    if (answer.ok) show(await answer.json());
    link.className = answer.ok ? '' : 'lost';
    link.textContent = answer.ok ? 'live' : answer.status === 401 ? 'locked' : 'error ' + answer.status;
  } catch {
    link.className = 'lost';
    link.textContent = 'no connection';
  }
}

refresh();
setInterval(() => { if (!document.hidden) refresh(); }, 1000);
document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });
