// The page: examples, the worker that checks, and what it found.

const kSeconds = 60;
const kSaid = ['holds', 'violated', 'undecided'];

// Histories to begin with.
const kExamples = {
  'a lost update': [
    '{"ouro":1,"initial":10}',
    '{"session":"ann","ops":[["r","stock",10],["w","stock",9]]}',
    '{"session":"bob","ops":[["r","stock",10],["w","stock",8]]}',
  ],
  'write skew: two doctors go off call': [
    '{"ouro":1,"initial":"on"}',
    '{"session":"alice","ops":[["r","alice","on"],["r","bob","on"],["w","alice","off"]]}',
    '{"session":"bob","ops":[["r","alice","on"],["r","bob","on"],["w","bob","off"]]}',
  ],
  'a long fork': [
    '{"ouro":1,"initial":0}',
    '{"session":"a","ops":[["w","x",1]]}',
    '{"session":"b","ops":[["w","y",1]]}',
    '{"session":"c","ops":[["r","x",1],["r","y",0]]}',
    '{"session":"d","ops":[["r","x",0],["r","y",1]]}',
  ],
  'two transfers that hold': [
    '{"ouro":1,"initial":100}',
    '{"session":"a","ops":[["r","ann",100],["r","bob",100],["w","ann",70],["w","bob",130]]}',
    '{"session":"b","ops":[["r","bob",130],["r","cy",100],["w","bob",80],["w","cy",150]]}',
  ],
};

let worker = null;
let number = 0;
let opened = null;  // The bytes of a file that is too large, or no text, to be shown.

function find(id) { return document.getElementById(id); }

function startWorker() {
  const program = find('engine').textContent;
  worker = new Worker(URL.createObjectURL(new Blob([program], {type: 'text/javascript'})));
  worker.onmessage = event => show(event.data);
  worker.onerror = event => show({number, problem: event.message});
}

function busy(is) {
  find('check').disabled = is;
  find('stop').hidden = !is;
}

// A report says how high it is only once it is laid out.
function fit() {
  const inside = find('report').contentDocument;
  if (inside?.body) find('report').style.height = `${inside.documentElement.scrollHeight + 4}px`;
}

function show(answer) {
  if (answer.number !== number) return;
  busy(false);
  find('problem').hidden = answer.problem === undefined;
  find('report').hidden = answer.problem !== undefined;
  if (answer.problem !== undefined) {
    find('problem').textContent = answer.problem;
    find('state').textContent = '';
    return;
  }
  const levels = find('level');
  if (levels.length === 1) levels.append(...answer.levels.map(name => new Option(name)));
  find('state').textContent = `${kSaid[answer.outcome]}, ${answer.transactions} transactions`;
  const report = find('report');
  report.onload = () => {
    fit();
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(report.contentDocument.body);
  };
  report.srcdoc = answer.html;
}

function check() {
  if (worker === null) startWorker();
  busy(true);
  find('state').textContent = 'Checking…';
  const bytes = opened ?? new TextEncoder().encode(find('history').value);
  worker.postMessage({number: ++number, bytes, level: find('level').value, seconds: kSeconds});
}

function stop() {
  worker.terminate();
  worker = null;
  ++number;
  busy(false);
  find('state').textContent = 'Stopped: undecided.';
}

async function openFile() {
  const [file] = find('file').files;
  if (file === undefined) return;
  const packed = /\.gz$/.test(file.name);
  const stream = packed ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream();
  try {
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const kShown = 1 << 20;
    const text = bytes.length <= kShown ? new TextDecoder().decode(bytes) : null;
    opened = text === null || text.includes('\0') ? bytes : null;
    find('history').value = opened === null ? text : `(${file.name}, ${bytes.length} bytes)`;
    check();
  } catch (problem) {
    show({number, problem: `${file.name}: ${problem.message}`});
  }
}

function choose() {
  opened = null;
  find('history').value = kExamples[find('example').value].join('\n') + '\n';
}

find('top').prepend(emblem());
find('top').append(themeButton());
find('example').append(...Object.keys(kExamples).map(name => new Option(name)));
find('example').addEventListener('change', () => { choose(); check(); });
find('history').addEventListener('input', () => { opened = null; });
find('file').addEventListener('change', openFile);
find('form').addEventListener('submit', event => { event.preventDefault(); check(); });
find('stop').addEventListener('click', stop);
choose();
check();
