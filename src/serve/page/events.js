// The events of the service: by what happened and to which key, filtered as asked.

const kMostEvents = 500;  // How many of the latest are kept.
const kMostKeys = 12;     // How many keys of a kind are listed at first.

// "16:40:01" of today, else with the date.
function timeText(seconds) {
  const date = new Date(seconds * 1000);
  const today = date.toDateString() === new Date().toDateString();
  const time = date.toLocaleTimeString([], {hour: '2-digit', minute: '2-digit', second: '2-digit'});
  return today ? `today ${time}` : `${date.toLocaleDateString([], {day: 'numeric', month: 'short', year: 'numeric'})} ${time}`;
}

function timeElement(seconds) {
  return html('time', {datetime: new Date(seconds * 1000).toISOString()}, timeText(seconds));
}

function sourceName(source) {
  return source === undefined || source === '' ? 'default' : source;
}

// The keys that the story of an event is about.
function keysOf(event) {
  const {story} = event;
  if (!story) return [];
  const edges = [...story.cases.flatMap(each => each.edges), ...(story.links ?? [])];
  const keys = [...new Set(edges.map(edge => edge.key).filter(key => key !== undefined))];
  if (keys.length > 0) return keys;
  const ops = story.txns.flatMap(txn => txn.ops).filter(op => op.matters && op.key !== undefined);
  return [...new Set(ops.map(op => op.key))];
}

// What an event says about the one that it takes back.
function becameOf(event) {
  return event.kind === 'undecided' ? 'could not be judged after all' : 'was none';
}

// Whether a violation may be none since its recorder lost something; docs/serve.md explains "voids".
function isVoid(event, voids) {
  const kind = event.counted_as ?? event.anomaly;
  return voids === 'everything' || kind === 'snapshot mismatch' || kind === 'result-set mismatch';
}

class EventLog {
  constructor({onOpen, onChange}) {
    this.onOpen = onOpen;
    this.onChange = onChange;
    this.events = [];       // The latest, oldest first.
    this.last = 0;          // The number of the last event that was asked for.
    this.open = new Set();  // The groups that are unfolded, and the kinds of which all are listed.
    this.filter = {kind: '', source: '', key: '', after: 0};
  }

  // Takes lines of events. Events that were taken back are marked.
  add(lines) {
    for (const line of lines.split('\n')) {
      if (line.trim() === '') continue;
      const event = JSON.parse(line);
      event.keys = keysOf(event);
      if (event.withdraws !== undefined) {
        const other = this.events.find(each => each.source === event.source && each.kind === 'violation' &&
                                               (each.number ?? each.event) === event.withdraws);
        if (other) {
          other.takenBack = event.kind;
          [event.keys, event.group] = [other.keys, other];
        }
      }
      if (event.voids !== undefined) {
        for (const other of this.events) {
          if (other.source === event.source && other.kind === 'violation' && isVoid(other, event.voids)) other.takenBack ??= 'undecided';
        }
      }
      this.events.push(event);
      this.last = Math.max(this.last, event.event);
    }
    this.events.splice(0, Math.max(0, this.events.length - kMostEvents));
  }

  forget() {
    this.events = [];
    this.last = 0;
  }

  after(number) {
    return this.events.filter(event => event.event > number);
  }

  // `count` violations of a kind in words: those that have a better name by that, as far as they are
  // known here.
  described(kind, count) {
    const better = new Map();
    for (const {story, anomaly, takenBack} of this.events) {
      if (story?.kind === kind && anomaly !== kind && !takenBack) better.set(anomaly, (better.get(anomaly) ?? 0) + 1);
    }
    const rest = count - [...better.values()].reduce((sum, each) => sum + each, 0);
    const parts = [...better, [kind, rest]].filter(([, n]) => n > 0).map(([name, n]) => `${shortCount(n)} × ${name}`);
    if (rest >= 0 && this.last <= this.events.length) return parts.join(', ');
    const among = better.size > 0 ? ` (${[...better.keys()].sort().join(', ')} among them)` : '';
    return `${shortCount(count)} × ${kind}${among}`;
  }

  wanted(event) {
    const {kind, source, key, after} = this.filter;
    const about = event.group ?? event;
    return event.event > after && (kind === '' || about.anomaly === kind) &&
           (source === '' || sourceName(event.source) === source) &&
           (key === '' || event.keys.some(each => each.toLowerCase().includes(key.toLowerCase())));
  }

  // The events that are wanted, by what happened: [{anomaly, meaning, events, groups}], and those by
  // key and source. What has the latest event comes first.
  kinds() {
    const latest = (a, b) => b.events.at(-1).event - a.events.at(-1).event;
    const add = (map, name, about, event) => {
      if (!map.has(name)) map.set(name, {name, events: [], ...about});
      map.get(name).events.push(event);
    };
    const kinds = new Map();
    for (const event of this.events.filter(each => this.wanted(each))) {
      const {anomaly, story} = event.group ?? event;
      add(kinds, anomaly, {groups: new Map()}, event);
      const kind = kinds.get(anomaly);
      kind.meaning ??= story?.meaning;
      add(kind.groups, JSON.stringify([anomaly, event.keys, event.source ?? '']), {keys: event.keys, source: event.source}, event);
    }
    return [...kinds.values()].map(kind => ({...kind, groups: [...kind.groups.values()].sort(latest)})).sort(latest);
  }

  // Fills `filters` with controls for what there is to choose from, and keeps what is chosen.
  fillFilters(filters) {
    const {filter} = this;
    const anomalies = [...new Set(this.events.map(event => event.anomaly))].sort();
    const sources = [...new Set(this.events.map(event => sourceName(event.source)))].sort();
    const shape = JSON.stringify([anomalies, sources, filter.after, filter.source]);
    if (shape === this.shape) return;
    this.shape = shape;
    const change = name => event => { filter[name] = event.target.value; this.onChange(); };
    const choice = (label, name, options) => html('label', {}, label, html('select', {'data-filter': name, onchange: change(name)},
        html('option', {value: ''}, 'all'),
        options.map(each => html('option', {value: each, selected: each === filter[name]}, each))));
    clear(filters).append(choice('Kind', 'kind', anomalies),
        html('label', {}, 'Key', html('input', {type: 'search', 'data-filter': 'key', placeholder: 'part of its name', value: filter.key, oninput: change('key')})));
    if (sources.length > 1) filters.append(choice('Source', 'source', sources));
    if (filter.after > 0) {
      filters.append(html('button', {type: 'button', class: 'small', onclick: () => { filter.after = 0; this.onChange(); }},
                          'Only what is new ✕'));
    }
  }

  // Fills the list. What had the focus keeps it.
  show(list, seen) {
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.place : undefined;
    list.replaceChildren(...this.kinds().map(kind => this.kindItem(kind, seen)));
    if (focused !== undefined) this.focus(list, focused);
  }

  focus(list, place) {
    [...list.querySelectorAll('[data-place]')].find(each => each.dataset.place === place)?.focus({preventScroll: true});
  }

  kindItem({name, meaning, events, groups}, seen) {
    const found = events.filter(event => event.withdraws === undefined);
    const most = this.open.has(name) ? Infinity : kMostKeys;
    const left = groups.length - Math.min(groups.length, most);
    const keys = new Set(groups.map(group => JSON.stringify(group.keys))).size;
    const more = left === 0 ? null : html('button', {type: 'button', class: 'small', onclick: () => {
      this.open.add(name);
      this.onChange();
    }}, `Show ${left} more`);
    return html('li', {class: `kind ${found.some(event => !event.takenBack) ? found[0].kind : 'withdrawn'}`},
        html('h3', {}, html('span', {class: 'name'}, name), ' ', html('span', {class: 'count'}, counted(found.length, 'event')),
             keys > 1 ? [' ', html('span', {class: 'count'}, counted(keys, 'key'))] : null),
        meaning ? html('p', {class: 'dim'}, meaning[0].toUpperCase() + meaning.slice(1), '.') : null,
        html('ul', {}, groups.slice(0, most).map(group => this.groupItem(group, seen))), more);
  }

  // The events of a kind on the same keys, folded.
  groupItem(group, seen) {
    const {name, keys, source, events} = group;
    const found = events.filter(event => event.withdraws === undefined);
    const taken = found.filter(event => event.takenBack === 'withdrawal').length;
    const open = found.filter(event => event.takenBack === 'undecided').length;
    const times = [...new Set([events[0], events.at(-1)].map(event => timeText(event.reported)))];
    const body = html('ol', {});
    const fill = () => append(body, [...events].reverse().map(event => this.eventItem(event, seen)));
    const details = html('details', {ontoggle: () => {
      if (details.open) this.open.add(name);
      else this.open.delete(name);
      if (details.open && body.childElementCount === 0) fill();
    }}, html('summary', {'data-place': name}, keys.length === 0 ? 'no key' : ['on ', html('b', {}, keys.map(key => shortened(key, 60)).join(', '))],
        ' ', html('span', {class: 'count'}, counted(found.length, 'event')),
        source === undefined ? null : [' ', html('span', {class: 'chip'}, `source ${sourceName(source)}`)],
        ' ', html('span', {class: 'dim'}, times.join(' to ').replace(/ to today /, ' to '),
             taken > 0 ? `, ${taken} withdrawn: later transactions showed that ${taken === 1 ? 'it was' : 'they were'} none` : null,
             open > 0 ? `, ${open} that could not be judged after all` : null)), body);
    if (this.open.has(name)) {
      fill();
      details.open = true;
    }
    return html('li', {class: `group${taken + open === found.length ? ' withdrawn' : ''}`}, details);
  }

  eventItem(event, seen) {
    const about = event.withdraws === undefined ? '' : `event ${event.group?.event ?? event.withdraws} ${becameOf(event)}: `;
    return html('li', {class: `${event.kind}${event.takenBack ? ' taken-back' : ''}${event.event > seen ? ' new' : ''}`},
        html('button', {type: 'button', 'data-place': `event ${event.event}`, onclick: () => this.onOpen(event)},
             html('span', {class: 'event-number'}, `${event.event}`),
             html('span', {class: 'headline'}, about, event.headline), timeElement(event.reported)));
  }
}
