// A story: what it is called, the sentences, the picture, and what is known of what one points at.

function listOfLevels(names) {
  return names.length === 0 ? 'none' : names.join(', ');
}

function storyHead(story, number) {
  const names = [story.id, ...story.aliases.split(',')].map(name => name.trim())
                    .filter(name => name !== '' && name !== story.name.replaceAll(' ', '-'));
  const chips = html('span', {class: 'chips'}, [...new Set(names)].map(name => html('span', {class: 'chip'}, name)));
  const allowed = story.strongest.length === 0 ? null
      : [', allowed up to ', html('b', {}, listOfLevels(story.strongest))];
  return html('header', {},
      html('h3', {id: `${number}-title`}, story.name, ' ', chips),
      story.summary === story.plain ? null : html('p', {class: 'lead'}, story.summary),
      story.summary.includes(story.meaning) ? null
          : html('p', {class: 'dim'}, story.meaning[0].toUpperCase() + story.meaning.slice(1), '.'),
      html('p', {class: 'dim'}, 'Forbidden from ', html('b', {}, listOfLevels(story.weakest)), ' on',
           allowed, '.'),
      story.count > 1 ? html('p', {class: 'dim'}, `${counted(story.count, 'violation')} of this kind were counted in the history.`) : null,
      story.minimal ? null : html('p', {class: 'dim'}, 'Not proven minimal: fewer transactions may show it, too.'));
}

class StoryView {
  constructor(story, number, showOnTimeline) {
    this.story = story;
    this.sentences = [];
    this.pinned = null;
    this.graph = new Graph(story, {
      onNode: txn => this.pin({txn}),
      onEdge: edge => this.choose(edge),
      onHover: txn => this.inspect(txn ? {txn} : this.pinned),
    });
    this.inspector = html('div', {class: 'inspector', 'aria-live': 'polite'});
    this.words = html('div', {class: 'words'});
    this.fillWords();
    const actions = showOnTimeline
        ? html('button', {type: 'button', class: 'small', onclick: showOnTimeline}, 'Show on the timeline') : null;
    this.element = html('article', {class: 'story', id: number, 'aria-labelledby': `${number}-title`},
        storyHead(story, number),
        html('div', {class: story.txns.length > 8 ? 'columns wide' : 'columns'}, this.words,
             html('div', {class: 'drawing'}, this.graph.element, legend(story, this.graph.edges), this.inspector)),
        actions);
    this.activate(story.namedBy ?? 0);
    this.inspect(null);
    const unpin = event => {
      if (!this.element.isConnected) document.removeEventListener('keydown', unpin);
      else if (event.key === 'Escape' && this.pinned) {
        event.preventDefault();  // Else a dialog around the story would close.
        this.pin(null);
      }
    };
    document.addEventListener('keydown', unpin);
    onResize(this.graph.element, width => this.graph.draw(width));
  }

  fillWords() {
    const {story} = this;
    const say = (text, kind = '') => this.words.append(html('p', {class: kind}, text));
    if (story.plain !== undefined) say(story.plain, 'plain lead');
    story.others?.forEach(sentence => say(sentence));
    story.opening?.forEach(sentence => say(sentence));
    story.cases.forEach((each, c) => this.words.append(this.caseSection(each, c)));
    if (story.left) say(story.left, 'dim');
    if (story.closing) say(story.closing);
    if (story.hiddenTxns > 0) say(`The picture leaves out ${counted(story.hiddenTxns, 'transaction')}.`, 'dim');
  }

  caseSection(each, c) {
    const steps = html('ol', {},
        each.plain ? html('li', {}, html('p', {class: 'impossible'}, each.plain)) : null,
        each.edges.map((edge, i) => this.sentenceItem(edge, c, i)),
        each.hiddenEdges > 0 ? html('li', {class: 'dim'}, `… and ${counted(each.hiddenEdges, 'more step')}.`) : null);
    const title = each.premise === undefined ? null
        : html('button', {type: 'button', class: 'premise', 'aria-expanded': 'false',
                          onclick: () => { this.activate(c); this.pin(null); }}, each.premise);
    const same = each.mirrors === undefined ? null
        : html('p', {class: 'same dim'}, `the same, with ${each.renamed}.`);
    return html('section', {class: title ? 'case' : 'case alone'}, title, same, steps);
  }

  sentenceItem(edge, c, i) {
    const find = () => this.graph.find(c, i);
    const light = on => () => { const found = find(); if (found) this.graph.light(found, on); };
    const button = html('button', {
      type: 'button', class: `sentence k-${edge.kind}`,
      onclick: () => { this.activate(c); const found = find(); if (found) this.choose(found, c); },
      onmouseenter: light(true), onmouseleave: light(false), onfocus: light(true), onblur: light(false),
    }, edge.sentence);
    this.sentences.push({button, c, i});
    return html('li', {}, button);
  }

  activate(c) {
    this.activeCase = c;
    const few = this.story.cases.length <= 3;
    this.words.querySelectorAll('.case').forEach((section, i) => {
      const open = i === c || (few && this.story.cases[i].mirrors === undefined);
      section.classList.toggle('active', i === c);
      section.classList.toggle('closed', !open);
      section.querySelector('.premise')?.setAttribute('aria-expanded', String(open));
    });
    this.graph.show(c, this.pinned?.edge ?? null);
  }

  // An arrow was chosen; if it is not one of the case that is told now, its first case is.
  choose(edge, wanted = this.activeCase) {
    const use = edge.uses.find(each => each.c === wanted) ?? edge.uses[0];
    if (use && use.c !== this.activeCase) this.activate(use.c);
    this.pin({edge, use});
  }

  pin(what) {
    this.pinned = what;
    this.graph.show(this.activeCase, what?.edge ?? null);
    for (const {button, c, i} of this.sentences) {
      const chosen = what?.use !== undefined && what.use.c === c && what.use.i === i;
      button.classList.toggle('selected', chosen);
      if (chosen) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    }
    this.inspect(what);
  }

  tell(...parts) {
    append(this.inspector, parts);
  }

  inspect(what) {
    clear(this.inspector).classList.toggle('filled', Boolean(what));
    if (what?.txn) this.inspectTxn(what.txn);
    else if (what?.edge) this.inspectEdge(what.edge, what.use);
    else {
      this.tell(html('p', {class: 'hint'}, 'Point at a transaction for all its operations; click an arrow or a sentence for the reason, and for what the other order would imply.'));
    }
    // What is told stays in view, but not in front of what the keyboard came to.
    this.element?.querySelector(':focus-visible')?.scrollIntoView({block: 'nearest'});
  }

  inspectTxn(txn) {
    const rows = txn.ops.map(op => html('li', {class: op.matters ? 'matters' : ''}, op.text));
    if (txn.hidden > 0) rows.push(html('li', {class: 'dim'}, `… ${txn.hidden} more`));
    const times = [];
    if (txn.invoked !== undefined) times.push(`invoked at ${txn.invoked}`);
    if (txn.completed !== undefined) times.push(`completed at ${txn.completed}`);
    if (txn.timestamps !== undefined) times.push(`by database timestamps ${txn.timestamps}`);
    this.tell(html('h4', {}, txn.label, ' ', html('small', {}, txn.where)),
        html('ol', {class: 'ops'}, rows),
        times.length > 0 ? html('p', {class: 'dim'}, times.join(', ')) : null,
        txn.ops.length === 0 ? html('p', {class: 'dim'}, 'no operations') : null);
  }

  // The same case with one assumption turned round, if the story tells it.
  otherCases(told, edge) {
    const given = told.given[edge.given];
    return edge.given === undefined ? [] : this.story.cases.filter(each => each.given.some(
        other => other.key === given.key && other.first === given.second && other.second === given.first));
  }

  nameOf(number) {
    return number === null ? 'the initial state' : this.story.txns[number]?.label ?? 'another';
  }

  inspectEdge(edge, use) {
    const title = html('h4', {}, `${this.nameOf(edge.from)} → ${this.nameOf(edge.to)} `,
                       html('small', {class: `k-${edge.kind}`}, edgeLabel(edge, this.graph.names), kKinds[edge.kind] ? ` · ${kKinds[edge.kind]}` : ''));
    const told = use ? this.story.cases[use.c] : undefined;
    const own = told ? caseEdges(told)[use.i] : edge;
    this.tell(title, html('p', {class: 'why'}, own.sentence));
    if (told?.supposed?.includes(own)) return;
    if (own.assumed) {
      this.tell(html('p', {}, 'This holds only ', told.premise[0].toLowerCase() + told.premise.slice(1, -1), '.'));
      const others = this.otherCases(told, own);
      for (const other of others) {
        this.tell(html('div', {class: 'other'}, html('p', {}, 'The other order. ', other.premise),
            html('ul', {}, other.plain ? html('li', {}, other.plain) : null,
                 other.edges.map(each => html('li', {}, each.sentence)))));
      }
      if (others.length > 0) return;
    } else if (told && this.story.cases.length > 1) {
      this.tell(html('p', {}, 'This holds whatever the order of the writes.'));
    }
    if (own.otherwise !== '') {
      this.tell(html('p', {class: 'other'}, `If it were the other way round, ${own.otherwise}.`));
    }
  }
}
