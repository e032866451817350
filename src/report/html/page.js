// The page: who it is about, one part for each history, light and dark.

const report = JSON.parse(document.getElementById('data').textContent);

const kFewAsked = 3;  // Of so many levels each is named.

// What was asked, and the answer; the levels below say the rest.
function summaryOf(history) {
  if (history.error !== undefined) return history.error;
  const by = history.evidence === 'observed' ? '' : ` by ${history.evidence}`;
  const words = {holds: 'holds', violated: 'is violated', undecided: 'is undecided'};
  const say = ({name, outcome, remark}) => `${name} ${words[outcome]}${remark ? ` (${remark})` : ''}`;
  const asked = history.levels.filter(level => level.asked);
  const few = asked.length <= kFewAsked;
  const told = few ? asked : asked.filter(level => level.outcome === 'undecided' ||
      (level.outcome === 'violated' && history.weakest.split(', ').includes(level.name)));
  const parts = told.map(say);
  const strongest = history.strongest.split(', ').filter(name => name !== 'none');
  const more = !few || strongest.some(name => !asked.some(level => level.name === name));
  if (strongest.length > 0 && more) parts.push(`${strongest.join(', ')} ${strongest.length > 1 ? 'hold' : 'holds'}`);
  const left = history.leftOut ? ` Left out: ${history.leftOut}.` : '';
  return `${few ? '' : `Of ${asked.length} levels asked: `}${parts.join('; ')}${by}.${left}`;
}

function factsView(history) {
  const rows = [...history.facts.map(([label, text]) => [label.trim(), text, label.startsWith(' ')]),
                ...history.remarks.map(([label, text]) => [label, text, false])];
  return html('section', {class: 'facts'}, html('h3', {}, 'Counts'),
      html('dl', {}, rows.map(([label, text, detail]) => html('div', {class: detail ? 'detail' : ''},
          html('dt', {}, label), html('dd', {}, text)))));
}

function fillHistory(body, history, number) {
  if (history.error !== undefined) {
    body.append(html('p', {class: 'plain'}, history.error));
    return;
  }
  if (history.brief) {
    body.append(html('p', {class: 'dim'}, 'Left out of this page, which would be too large: check this history alone for its stories.'),
                new LevelsView(report.lattice, history).element);
    return;
  }
  const timeline = history.timelines.length > 0 ? new TimelineView(history.timelines, history.stories) : null;
  history.stories.forEach((story, i) => {
    const timed = timeline && story.txns.some(txn => history.timelines[0].bars.some(bar => bar[4] === txn.index));
    const show = !timed ? null : () => {
      timeline.select(timeline.which, i);
      timeline.element.scrollIntoView({behavior: 'smooth', block: 'center'});
    };
    body.append(new StoryView(story, `story-${number}-${i + 1}`, show).element);
  });
  if (history.hiddenStories > 0) {
    body.append(html('p', {class: 'dim'}, `${counted(history.hiddenStories, 'more story', 'more stories')} left out of this page.`));
  }
  if (history.outcome === 'violated' && !history.complete) {
    body.append(html('p', {class: 'dim'}, 'There may be more violations; --examples N tells up to N of each name.'));
  }
  body.append(new LevelsView(report.lattice, history).element);
  if (timeline) body.append(timeline.element);
  body.append(factsView(history));
}

function historyView(history, number, alone) {
  const body = html('div', {class: 'body'});
  const head = [html('h2', {}, badge(history.outcome), ' ', history.name), html('p', {class: 'summary'}, summaryOf(history))];
  let filled = false;
  const fill = () => {
    if (!filled) fillHistory(body, history, number);
    filled = true;
  };
  if (alone) {
    fill();
    return html('section', {class: 'history', id: `history-${number}`}, head, body);
  }
  return html('details', {class: 'history', id: `history-${number}`, ontoggle: event => { if (event.target.open) fill(); }},
              html('summary', {}, head), body);
}

function showPage() {
  const {histories} = report;
  const alone = histories.length === 1;
  const main = document.getElementById('report');
  const tally = Object.keys(kOutcomes).map(outcome => [outcome, histories.filter(h => h.outcome === outcome).length])
                    .filter(([, count]) => count > 0);
  main.append(html('header', {class: 'top'}, emblem(),
      html('h1', {}, 'Ouro', html('small', {}, alone ? 'isolation report' : `isolation report on ${counted(histories.length, 'history', 'histories')}`)),
      html('span', {class: 'tally'}, alone ? null : tally.map(([outcome, count]) => html('span', {}, badge(outcome), ` ${count}`))),
      themeButton()));
  histories.forEach((history, i) => main.append(historyView(history, i + 1, alone)));
  if (!alone) {
    const first = Math.max(0, histories.findIndex(history => history.outcome === 'violated'));
    const views = main.querySelectorAll('details.history');
    if (views[first]) views[first].open = true;
  }
  const text = document.getElementById('text');
  text.open = false;
  document.title = alone ? `${histories[0].name}: ${histories[0].outcome} – Ouro` : 'Ouro report';
  text.after(html('footer', {}, `Made by ouro ${report.version}. This page loads nothing and sends nothing.`));
}

showPage();
