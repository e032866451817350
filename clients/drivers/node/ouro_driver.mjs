// A driver for 'ouro run exec:COMMAND': connects ouro to databases inside Node.js.
//
//     ouro run 'exec:node ouro_driver.mjs turso'        Turso, many writers at once (MVCC)
//     ouro run 'exec:node ouro_driver.mjs turso-wal'    Turso, one writer at a time
//     ouro run 'exec:node ouro_driver.mjs sqlite'       node:sqlite, needs Node.js 22.13 or newer
//
// With --steps ouro sends a message per operation, so that transactions overlap more.
//
// Copy this file and change it: ENGINES says what differs between databases, class Session is one connection, and
// the rest speaks the protocol, which docs/drivers.md of ouro describes. The main thread reads requests and gives
// those of a connection to a thread of its own, so that connections do not wait for each other.
import { createInterface } from "node:readline";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

async function openTurso(path, journal) {
  const { Database } = await import("@tursodatabase/database/compat");
  const database = new Database(path);
  database.defaultSafeIntegers(true); // Numbers are 64-bit integers: BigInt, since others are rounded.
  const [mode] = database.prepare(`PRAGMA journal_mode = '${journal}'`).all();
  if (mode.journal_mode !== journal) throw new Error(`the journal mode is ${mode.journal_mode}, not ${journal}`);
  database.exec("PRAGMA busy_timeout = 200");
  database.exec("PRAGMA synchronous = OFF"); // The disk is not what is tested.
  return database;
}

async function openSqlite(path) {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path);
  database.exec("PRAGMA busy_timeout = 200; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  return database;
}

async function tursoVersion() {
  const { readFileSync } = await import("node:fs");
  const main = fileURLToPath(import.meta.resolve("@tursodatabase/database"));
  return JSON.parse(readFileSync(join(main, "../../package.json"), "utf8")).version;
}

const ENGINES = {
  turso: {
    name: async () => `Turso ${await tursoVersion()} (MVCC)`,
    isolation: { name: "concurrent", promises: "si" },
    begin: "BEGIN CONCURRENT",
    open: (path) => openTurso(path, "mvcc"),
  },
  "turso-0.4": { // Its name for the same, before version 0.5.
    name: async () => `Turso ${await tursoVersion()} (MVCC)`,
    isolation: { name: "concurrent", promises: "si" },
    begin: "BEGIN CONCURRENT",
    open: (path) => openTurso(path, "experimental_mvcc"),
  },
  "turso-wal": {
    name: async () => `Turso ${await tursoVersion()} (WAL)`,
    isolation: { name: "serializable", promises: "serializable" },
    begin: "BEGIN",
    open: (path) => openTurso(path, "wal"),
  },
  sqlite: {
    name: async () => `SQLite ${process.versions.sqlite} by Node.js ${process.versions.node}`,
    isolation: { name: "serializable", promises: "serializable" },
    begin: "BEGIN",
    open: openSqlite,
  },
};

// Errors that say for certain that the transaction has no effect once it is rolled back.
const ABORTED = /conflict|database is locked|busy/i;
// What ROLLBACK says if the database has rolled back on its own.
const NO_TRANSACTION = /no transaction is active/i;

// One connection, which runs one transaction at a time.
class Session {
  static async open(engine, folder) {
    const session = new Session();
    session.engine = engine;
    session.database = await engine.open(join(folder, "data.db"));
    session.statements = new Map();
    return session;
  }

  prepare(sql) {
    if (!this.statements.has(sql)) {
      const statement = this.database.prepare(sql);
      statement.setReadBigInts?.(true); // node:sqlite; Turso was told by openTurso.
      this.statements.set(sql, statement);
    }
    return this.statements.get(sql);
  }

  makeTable() {
    this.database.exec("DROP TABLE IF EXISTS ouro_data");
    this.database.exec("CREATE TABLE ouro_data (k INTEGER PRIMARY KEY, v BIGINT)");
  }

  // Runs one operation and returns its result.
  run([kind, ...words]) {
    const numbers = words.map(BigInt);
    switch (kind) {
      case "r": {
        const rows = this.prepare("SELECT v FROM ouro_data WHERE k = ?").all(...numbers);
        return rows.length ? rows[0].v : null;
      }
      case "w":
        this.prepare("INSERT INTO ouro_data (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v")
          .run(...numbers);
        return null;
      case "d":
        this.prepare("DELETE FROM ouro_data WHERE k = ?").run(...numbers);
        return null;
      case "scan":
        return this.prepare("SELECT k, v FROM ouro_data WHERE k BETWEEN ? AND ?").all(...numbers)
          .map((row) => [row.k, row.v]);
      default:
        throw new Error(`unknown operation ${kind}`);
    }
  }

  begin() {
    this.database.exec(this.engine.begin);
  }

  rollback() {
    try {
      this.database.exec("ROLLBACK");
    } catch (error) {
      if (!NO_TRANSACTION.test(error.message)) throw error;
    }
  }

  commit() {
    try {
      this.database.exec("COMMIT");
      return { outcome: "committed" };
    } catch (error) {
      const answer = refusal(error);
      if (answer.outcome !== "aborted") return { ...answer, outcome: "unknown" };
      try {
        this.rollback();
      } catch (second) { // It may still be open, or have committed.
        return { outcome: "unknown", reason: `${answer.reason}; ${second.message}` };
      }
      return answer;
    }
  }

  // A whole transaction: begin, operations, commit.
  whole(ops) {
    const results = [];
    try {
      this.begin();
      for (const op of ops) results.push(this.run(op));
    } catch (error) {
      this.rollback();
      return { ...refusal(error), results };
    }
    return { ...this.commit(), results };
  }

  answer(request) {
    switch (request.do) {
      case "begin": return this.begin();
      case "op": return { result: this.run(request.op) };
      case "commit": return this.commit();
      case "rollback": return this.rollback();
      case "txn": return this.whole(request.ops);
      case "close": return this.database.close();
      default: throw new Error(`unknown request ${request.do}`);
    }
  }
}

function refusal(error) {
  const message = String(error.message);
  return { outcome: ABORTED.test(message) ? "aborted" : "failed", reason: message.slice(0, 200) };
}

// JSON with 64-bit integers: long numbers travel through JSON.parse and JSON.stringify as strings like "123n".
function parse(line) {
  const quoted = line.replace(/(?<=[[,:])-?\d{16,}(?=[,\]}])/g, '"$&n"');
  return JSON.parse(quoted, (_, value) =>
    typeof value === "string" && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value);
}

function print(id, members) {
  const text = JSON.stringify({ id, ...members }, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
  process.stdout.write(text.replace(/"(-?\d+)n"/g, "$1") + "\n");
}

// The thread of a connection. It answers to the main thread, which prints.
function serveConnection() {
  const engine = ENGINES[workerData.engine];
  let session;
  let last = Promise.resolve();
  const work = async (request) => {
    let members;
    try {
      if (request.do === "open") session = await Session.open(engine, request.folder);
      else members = session.answer(request);
    } catch (error) {
      members = refusal(error);
    }
    parentPort.postMessage({ id: request.id, members });
    if (request.do === "close") parentPort.close();
  };
  parentPort.on("message", (request) => { last = last.then(() => work(request)); });
}

async function serve() {
  const name = process.argv[2];
  const engine = ENGINES[name];
  if (!engine) {
    console.error(`usage: node ouro_driver.mjs ${Object.keys(ENGINES).join("|")} [--steps]`);
    process.exit(2);
  }
  const can = ["registers", "scans", "deletes", "threads"];
  if (!process.argv.includes("--steps")) can.push("whole");
  const workers = new Map();
  let setup; // Kept open, so that the database stays open between connections.

  const answer = async (request) => {
    switch (request.do) {
      case "hello":
        return { protocol: 1, name: await engine.name(), version: "1", can, isolation: [engine.isolation] };
      case "setup":
        setup = await Session.open(engine, request.folder);
        return setup.makeTable();
      case "end":
        return setup?.database.close();
      default:
        throw new Error(`unknown request ${request.do}`);
    }
  };

  for await (const line of createInterface({ input: process.stdin })) {
    const request = parse(line);
    if (request.connection !== undefined) {
      if (request.do === "open") {
        const worker = new Worker(new URL(import.meta.url), { workerData: { engine: name } });
        worker.on("message", ({ id, members }) => print(id, members));
        workers.set(request.connection, worker);
      }
      workers.get(request.connection).postMessage(request);
      continue;
    }
    let members;
    try {
      members = await answer(request);
    } catch (error) {
      members = refusal(error);
    }
    print(request.id, members);
    if (request.do === "end") break;
  }
  for (const worker of workers.values()) worker.unref();
  process.stdin.destroy();
}

if (isMainThread) await serve();
else serveConnection();
