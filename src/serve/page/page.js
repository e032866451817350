// The page of the service: asks for /summary once a second and shows it. Texts from the service only ever
// become text nodes.

const find = id => document.getElementById(id);

let token = sessionStorage.getItem('token') ?? '';
const ask = path => fetch(path, {cache: 'no-store', headers: token ? {Authorization: `Bearer ${token}`} : {}});

const tiles = kTiles.map(about => new Tile(about));
const log = new EventLog({onOpen: openEvent, onChange: showEvents});
const seen = {event: Infinity, at: 0};  // What was on the screen when somebody last looked.
let busy = false;

// Only what is new is read out.
function say(id, text) {
  if (find(id).textContent !== text) find(id).textContent = text;
}

function showVerdict(summary) {
  say('level', `${summary.level} by timestamps`);
  find('verdict').className = `card ${summary.verdict}`;
  say('word', {holds: 'Holds', violated: 'Violated', undecided: 'Undecided'}[summary.verdict]);
  const found = Object.entries(summary.violations).map(([name, n]) => log.described(name, n));
  say('why', summary.verdict === 'violated' ? found.join(', ')
      : summary.verdict === 'undecided' ? whyUndecided(summary)
      : summary.transactions === 0 ? 'No transaction came yet.'
      : `${counted(summary.transactions, 'transaction')}, all as the level promises.`);
  document.title = `${find('word').textContent} – Ouro`;
}

function whyUndecided(summary) {
  const parts = [];
  if (summary.lost_stragglers > 0) parts.push(`${counted(summary.lost_stragglers, 'transaction')} came too late to be judged`);
  for (const {source, doubt} of summary.sources) {
    if (doubt) parts.push(`${summary.sources.length < 2 ? '' : `source ${sourceName(source)}: `}${doubt.reason}`);
  }
  if (summary.undecided > 0) parts.push(`${counted(summary.undecided, 'violation')} could not be judged after all`);
  return `${parts.join(', ') || 'Something could not be judged'}.`;
}

// The verdict of each source, if there are several; a click shows its events only.
let sourcesShown = '';
function showSources(sources) {
  const text = JSON.stringify(sources.map(({source, verdict}) => [source, verdict]));
  if (text === sourcesShown) return;
  sourcesShown = text;
  find('sources').replaceChildren(...(sources.length < 2 ? [] : sources).map(({source, verdict}) => html('li', {},
      html('button', {type: 'button', class: 'small', onclick: () => { log.filter.source = sourceName(source); showEvents(); }},
           sourceName(source), ' ', badge(verdict)))));
}

function showEvents() {
  const {last, events, filter} = log;
  find('none').hidden = last > 0;
  find('total').textContent = last === 0 ? '' : `${counted(last, 'event')} so far` +
      (last > events.length ? `, the latest ${events.length} here` : '');
  log.fillFilters(find('filters'));
  find('filters').hidden = events.length === 0;
  log.show(find('events'), seen.event);
  if (events.length > 0 && !events.some(event => log.wanted(event))) {
    find('events').append(html('li', {class: 'dim'}, 'No event is like that. ',
        html('button', {type: 'button', class: 'small', onclick: () => {
          Object.assign(filter, {kind: '', source: '', key: '', after: 0});
          log.shape = '';
          showEvents();
        }}, 'Show all')));
  }
}

// Fetches the events that are not here yet.
async function fetchEvents(count) {
  if (count < log.last) log.forget();  // The service began anew.
  if (count === log.last && find('events').childElementCount > 0) return;
  if (count > log.last) {
    const answer = await ask(`/events?live=no&after=${Math.max(log.last, count - kMostEvents)}`);
    if (answer.ok) log.add(await answer.text());
  }
  showEvents();
}

// Says what happened since somebody last looked, if that was not just now.
function tellWhileAway(summary) {
  const stored = JSON.parse(remembered(`seen-${location.host}`) ?? 'null');
  if (seen.event === Infinity) {
    const known = stored !== null && stored.event <= summary.events;
    Object.assign(seen, known ? stored : {event: stored === null ? summary.events : 0, at: stored?.at ?? Date.now()});
  }
  const news = log.after(seen.event);
  const gone = (Date.now() - seen.at) / 1000;
  if (news.length === 0 || gone < 15) {
    if (find('away').hidden) looked(summary.events);
    return;
  }
  const kinds = new Map();
  for (const event of news) {
    const name = event.kind === 'withdrawal' ? 'withdrawn' : event.anomaly;
    kinds.set(name, (kinds.get(name) ?? 0) + 1);
  }
  const all = summary.events - seen.event;
  const restarted = summary.uptime_seconds < gone ? ` The service was restarted ${timeSpan(summary.uptime_seconds)} ago.` : '';
  const close = () => {
    find('away').hidden = true;
    looked(log.last);
  };
  clear(find('away')).append(
      html('h2', {}, 'While you were away'),
      html('p', {}, `Since ${timeText(seen.at / 1000)}, ${timeSpan(gone)} ago: ${counted(all, 'new event')}` +
           `${all > news.length ? ', of which the latest' : ':'} ${[...kinds].map(([name, n]) => `${n} × ${name}`).join(', ')}.${restarted}`),
      html('div', {class: 'controls'},
           html('button', {type: 'button', class: 'small', onclick: () => {
             log.filter.after = seen.event;
             close();
             showEvents();
             find('found').scrollIntoView();
           }}, 'Show them'),
           html('button', {type: 'button', class: 'small', onclick: () => { close(); showEvents(); }}, 'Seen')));
  find('away').hidden = false;
}

function looked(event) {
  Object.assign(seen, {event, at: Date.now()});
  remember(`seen-${location.host}`, JSON.stringify(seen));
}

function fact(event) {
  const late = event.reported - event.arrived;
  const about = [event.level, event.source === undefined ? undefined : `source ${sourceName(event.source)}`];
  return `${[...about, ''].filter(each => each !== undefined).join(', ')}reported ${timeText(event.reported)}` +
      (late < 0.001 ? ' at once' : `, ${timeSpan(late)} after the last transaction it needed`) + '.';
}

// What a recorder's fault means for verdicts.
const kVoids = {
  reads: 'Transactions are missing that may have written what others read. So nothing is held against reads of this source any more.',
  everything: 'Its recorder says that what it sent may be wrong. So nothing of this source is judged any more, and what was found counts no more.',
};

function openEvent(event) {
  const body = clear(find('story-body'));
  find('story-title').textContent = event.withdraws !== undefined
      ? `Event ${event.event}: event ${event.group?.event ?? event.withdraws} ${becameOf(event)}` : `Event ${event.event}: ${event.anomaly}`;
  find('story-facts').textContent = fact(event);
  if (event.takenBack === 'withdrawal') body.append(html('p', {class: 'plain'}, 'This was withdrawn: transactions that came later showed that it was none.'));
  if (event.takenBack === 'undecided') body.append(html('p', {class: 'plain'}, 'This could not be judged after all: a transaction came too late, or is missing.'));
  if (event.reason !== undefined) body.append(html('p', {class: 'plain'}, `${event.reason}.`), html('p', {}, kVoids[event.voids]));
  else if (event.kind === 'undecided' && event.withdraws === undefined && event.transactions?.length > 0) {
    body.append(html('p', {class: 'plain'}, 'It cannot be judged whether this is a violation.'));
  }
  if (event.group) {
    body.append(html('p', {}, event.kind === 'undecided' ? 'A transaction came too late to tell whether it was one. ' : 'Transactions that came later showed that it was none. ',
        html('button', {type: 'button', class: 'small', onclick: () => openEvent(event.group)}, 'Show that event')));
  }
  if (event.story) body.append(new StoryView(event.story, `event-${event.event}`, null).element);
  else if (event.text) body.append(html('pre', {tabindex: 0}, event.text));
  if (event.transactions?.length > 0) {
    body.append(html('details', {id: 'story-txns'}, html('summary', {}, `${counted(event.transactions.length, 'transaction')} as they arrived`),
        html('pre', {tabindex: 0}, event.transactions.map(txn => JSON.stringify(txn)).join('\n'))));
  }
  history.replaceState(null, '', `#event-${event.event}`);
  if (!find('story').open) find('story').showModal();
}

// Opens the event that the address names.
async function openNamed() {
  const number = /^#event-(\d+)$/.exec(location.hash)?.[1];
  if (number === undefined || find('story').open) return;
  const here = log.events.find(event => event.event === Number(number));
  const answer = here ? null : await ask(`/event/${number}`);
  if (here) openEvent(here);
  else if (answer.ok) openEvent(await answer.json());
}

// A plain link cannot show the token, so the page asks itself.
async function openLink(event) {
  if (token === '') return;
  event.preventDefault();
  const path = event.target.getAttribute('href');
  const answer = await ask(path);
  find('story-title').textContent = path;
  find('story-facts').textContent = answer.ok ? '' : `error ${answer.status}`;
  clear(find('story-body')).append(html('pre', {tabindex: 0}, await answer.text()));
  if (!find('story').open) find('story').showModal();
}

function setLink(text, lost) {
  find('link').textContent = text;
  find('link').className = lost ? 'lost' : '';
}

async function refresh() {
  if (busy) return;
  busy = true;
  try {
    const answer = await ask('/summary');
    const locked = answer.status === 401;
    const first = answer.ok && find('main').hidden;
    find('ask').hidden = !locked;
    find('wrong').hidden = !locked || token === '';
    find('main').hidden = locked || (find('main').hidden && !answer.ok);
    if (answer.ok) {
      const summary = await answer.json();
      showVerdict(summary);
      showSources(summary.sources ?? []);
      for (const tile of tiles) tile.show(summary);
      await fetchEvents(summary.events);
      showVerdict(summary);  // The events have better names for it.
      tellWhileAway(summary);
      find('uptime').textContent = `up ${timeSpan(summary.uptime_seconds)}` +
          (summary.rejected ? `, ${counted(summary.rejected, 'batch', 'batches')} or lines rejected` : '');
      if (first) await openNamed();
    }
    setLink(answer.ok ? 'live' : locked ? 'locked' : `error ${answer.status}`, !answer.ok);
  } catch {
    setLink('no connection', true);
  }
  busy = false;
}

find('top').prepend(emblem());
find('top').append(themeButton());
find('tiles').append(...tiles.map(tile => tile.element));
find('ask').addEventListener('submit', event => {
  event.preventDefault();
  token = find('token').value;
  sessionStorage.setItem('token', token);
  refresh();
});
find('story').addEventListener('close', () => {
  // Events that came meanwhile have replaced what the story was opened by.
  if (!find('events').contains(document.activeElement)) log.focus(find('events'), location.hash.slice(1).replace('-', ' '));
  clear(find('story-body'));
  history.replaceState(null, '', location.pathname);
});
for (const link of document.querySelectorAll('footer a')) link.addEventListener('click', openLink);
window.addEventListener('hashchange', openNamed);
refresh();
setInterval(() => { if (!document.hidden) refresh(); }, 1000);
document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });
