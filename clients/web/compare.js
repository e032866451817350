// Whether the engine in WebAssembly says the same as the program:
//   node compare.js PROGRAM ENGINE.js FOLDER
// checks the histories of the folder, and some that are generated, at all levels with both and compares
// what they tell.
'use strict';
const {execFileSync} = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const vm = require('vm');

const [program, enginePath, folder] = process.argv.slice(2);
globalThis.ouroEngine = require(path.resolve(enginePath));
vm.runInThisContext(fs.readFileSync(path.join(__dirname, 'page', 'worker.js'), 'utf8') + '\nglobalThis.answer = answer;');

function histories(from) {
  return fs.readdirSync(from, {withFileTypes: true}).flatMap(entry => {
    const name = path.join(from, entry.name);
    if (entry.isDirectory()) return histories(name);
    return /\.(jsonl|ouro|edn|hist|bincode)$/.test(entry.name) ? [name] : [];
  });
}

// All that is told, but for the names of files and the times.
function told(json) {
  const apart = ['history', 'file', 'seconds'];
  return JSON.stringify(JSON.parse(json), (key, value) => apart.includes(key) ? undefined : value);
}

// Histories that are made: a store at each of these levels, with each of these.
const kStores = ['read-committed', 'causal', 'parallel-si', 'si', 'serializable'];
const kKinds = [[], ['--duplicates'], ['-w', 'list-append'], ['--timestamps', '--clocks'], ['--version-orders'],
  ['--fault', 'lost-update=0.05'], ['--abort-share', '0.2']];

function generated(to) {
  return kStores.flatMap(level => kKinds.map((kind, number) => {
    const name = path.join(to, `${level}-${number}.jsonl`);
    execFileSync(program, ['generate', '-l', level, '-n', '60', '--ops', '4', '--keys', '12', '--sessions', '5',
      '--seed', String(number + 1), ...kind, '-o', name], {stdio: 'ignore'});
    return name;
  }));
}

function native(file) {
  try {
    return {json: execFileSync(program, ['check', '--level', 'all', '--json', '--time-limit', '20', file],
        {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28})};
  } catch (problem) {
    if (problem.status === 1 || problem.status === 2) return {json: problem.stdout};
    return {problem: problem.stderr};
  }
}

(async () => {
  let compared = 0, refused = 0;
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'ouro-web-'));
  process.on('exit', () => fs.rmSync(made, {recursive: true}));
  for (const file of [...histories(folder), ...generated(made)]) {
    const expected = native(file);
    const bytes = new Uint8Array(fs.readFileSync(file));
    const got = await answer({number: 0, bytes, level: 'all', seconds: 20});
    const same = expected.problem !== undefined ? got.problem !== undefined
        : got.problem === undefined && told(got.json) === told(expected.json);
    if (!same) {
      console.error(`${file}:\n program ${expected.problem ?? told(expected.json)}\n` +
          ` browser ${got.problem ?? told(got.json)}`);
      process.exitCode = 1;
    }
    expected.problem === undefined ? ++compared : ++refused;
  }
  if (compared === 0) throw new Error(`no history in ${folder}`);
  console.log(`${compared} histories told alike at all levels, ${refused} refused by both`);
})();
