// Runs in a worker, behind the engine: checks a history at a time.

let engine = null;

// Takes a text that the engine made.
function taken(pointer) {
  const text = engine.UTF8ToString(pointer);
  engine._ouro_free(pointer);
  return text;
}

// Calls `work` with the address of an error, as the C interface has them; throws what it says.
function orThrow(work) {
  const place = engine._malloc(4);
  engine.HEAPU32[place >> 2] = 0;
  try {
    const result = work(place);
    const error = engine.HEAPU32[place >> 2];
    if (error === 0) return result;
    const text = engine.UTF8ToString(engine._ouro_error_text(error));
    engine._ouro_error_free(error);
    throw new Error(text);
  } finally {
    engine._free(place);
  }
}

function withOptions(given, work) {
  const options = orThrow(error => engine._ouro_options_new(error));
  try {
    for (const [name, value] of Object.entries(given)) {
      orThrow(error => engine.ccall('ouro_options_set', 'number',
          ['number', 'string', 'string', 'number'], [options, name, value, error]));
    }
    return work(options);
  } finally {
    engine._ouro_options_free(options);
  }
}

function parse(bytes, options) {
  const place = engine._malloc(bytes.length + 1);
  if (place === 0) throw new Error('this history is too large for a browser; use the program');
  engine.HEAPU8.set(bytes, place);
  try {
    return orThrow(error => engine._ouro_history_parse(place, bytes.length, options, error));
  } finally {
    engine._free(place);
  }
}

// What a page shows of the verdict on `bytes` at `level`.
function judge({bytes, level, seconds}) {
  return withOptions({level, 'time-limit': String(seconds), threads: '1'}, options => {
    const history = parse(bytes, options);
    try {
      const verdict = orThrow(error => engine._ouro_check(history, options, error));
      const levels = [];
      for (let i = 0; i < engine._ouro_verdict_levels(verdict); ++i) {
        levels.push(engine.UTF8ToString(engine._ouro_verdict_level(verdict, i)));
      }
      const answer = {
        levels,
        outcome: engine._ouro_verdict_outcome(verdict),
        transactions: engine.ccall('ouro_history_transactions', 'number', ['number'], [history]),
        html: taken(orThrow(error => engine._ouro_verdict_html(verdict, error))),
        json: taken(orThrow(error => engine._ouro_verdict_json(verdict, error))),
      };
      engine._ouro_verdict_free(verdict);
      return answer;
    } finally {
      engine._ouro_history_free(history);
    }
  });
}

// Answers a request: {number, bytes, level, seconds}.
async function answer(request) {
  try {
    engine ??= await ouroEngine();
    return {number: request.number, ...judge(request)};
  } catch (problem) {
    return {number: request.number, problem: String(problem.message ?? problem)};
  }
}

if (typeof WorkerGlobalScope !== 'undefined') {
  onmessage = async event => postMessage(await answer(event.data));
}
