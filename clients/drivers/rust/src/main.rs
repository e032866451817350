//! A driver for 'ouro run exec:COMMAND': connects ouro to databases inside a Rust program.
//!
//!     ouro run 'exec:target/release/ouro-driver fjall'    optimistic transactions, many writers at once
//!     ouro run 'exec:target/release/ouro-driver redb'     one writer at a time
//!
//! With --steps ouro sends a message per operation, so that transactions overlap more.
//!
//! Copy this file and change it: the traits Store and Transaction are what a database must give,
//! Connection runs the requests of one connection, and main speaks the protocol, which
//! docs/drivers.md of ouro describes. Each connection has a thread of its own.
use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use fjall::Readable;
use redb::{ReadableDatabase, ReadableTable};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How a commit ended, if it did not fail in another way (which is unknown).
enum Outcome {
    Committed,
    Aborted(String),
}

/// A database with one table of numbers.
trait Store: Send + Sync {
    fn begin(&self, read_only: bool) -> Result<Box<dyn Transaction>>;
}

/// A transaction; dropping it rolls it back.
trait Transaction {
    fn read(&mut self, key: i64) -> Result<Option<i64>>;
    fn scan(&mut self, lower: i64, upper: i64) -> Result<Vec<(i64, i64)>>;
    fn write(&mut self, key: i64, value: i64) -> Result<()>;
    fn delete(&mut self, key: i64) -> Result<()>;
    fn commit(self: Box<Self>) -> Result<Outcome>;
}

// ---- redb: a writer waits in begin until it is the only one; readers see the last commit ----

const TABLE: redb::TableDefinition<i64, i64> = redb::TableDefinition::new("ouro_data");

struct Redb(redb::Database);

impl Redb {
    fn create(folder: &Path) -> Result<Redb> {
        let path = folder.join("data.redb");
        if path.exists() {
            std::fs::remove_file(&path)?;
        }
        let database = redb::Database::create(path)?;
        let transaction = database.begin_write()?;
        transaction.open_table(TABLE)?;
        transaction.commit()?;
        Ok(Redb(database))
    }
}

impl Store for Redb {
    fn begin(&self, read_only: bool) -> Result<Box<dyn Transaction>> {
        if read_only {
            return Ok(Box::new(RedbReader(
                self.0.begin_read()?.open_table(TABLE)?,
            )));
        }
        let mut transaction = self.0.begin_write()?;
        transaction.set_durability(redb::Durability::None)?; // The disk is not what is tested.
        Ok(Box::new(RedbWriter(transaction)))
    }
}

fn redb_read(table: &impl ReadableTable<i64, i64>, key: i64) -> Result<Option<i64>> {
    Ok(table.get(key)?.map(|found| found.value()))
}

fn redb_scan(
    table: &impl ReadableTable<i64, i64>,
    lower: i64,
    upper: i64,
) -> Result<Vec<(i64, i64)>> {
    let mut rows = Vec::new();
    for row in table.range(lower..=upper)? {
        let (key, value) = row?;
        rows.push((key.value(), value.value()));
    }
    Ok(rows)
}

struct RedbWriter(redb::WriteTransaction);

impl Transaction for RedbWriter {
    fn read(&mut self, key: i64) -> Result<Option<i64>> {
        redb_read(&self.0.open_table(TABLE)?, key)
    }
    fn scan(&mut self, lower: i64, upper: i64) -> Result<Vec<(i64, i64)>> {
        redb_scan(&self.0.open_table(TABLE)?, lower, upper)
    }
    fn write(&mut self, key: i64, value: i64) -> Result<()> {
        self.0.open_table(TABLE)?.insert(key, value)?;
        Ok(())
    }
    fn delete(&mut self, key: i64) -> Result<()> {
        self.0.open_table(TABLE)?.remove(key)?;
        Ok(())
    }
    fn commit(self: Box<Self>) -> Result<Outcome> {
        self.0.commit()?;
        Ok(Outcome::Committed)
    }
}

struct RedbReader(redb::ReadOnlyTable<i64, i64>);

impl Transaction for RedbReader {
    fn read(&mut self, key: i64) -> Result<Option<i64>> {
        redb_read(&self.0, key)
    }
    fn scan(&mut self, lower: i64, upper: i64) -> Result<Vec<(i64, i64)>> {
        redb_scan(&self.0, lower, upper)
    }
    fn write(&mut self, _key: i64, _value: i64) -> Result<()> {
        Err("the transaction is read-only".into())
    }
    fn delete(&mut self, _key: i64) -> Result<()> {
        Err("the transaction is read-only".into())
    }
    fn commit(self: Box<Self>) -> Result<Outcome> {
        Ok(Outcome::Committed)
    }
}

// ---- fjall: transactions note what they read and are refused at commit if that has changed ----

struct Fjall {
    database: fjall::OptimisticTxDatabase,
    keyspace: fjall::OptimisticTxKeyspace,
}

impl Fjall {
    fn create(folder: &Path) -> Result<Fjall> {
        let path = folder.join("fjall");
        if path.exists() {
            std::fs::remove_dir_all(&path)?;
        }
        let database = fjall::OptimisticTxDatabase::builder(path).open()?;
        let keyspace = database.keyspace("ouro_data", fjall::KeyspaceCreateOptions::default)?;
        Ok(Fjall { database, keyspace })
    }
}

impl Store for Fjall {
    fn begin(&self, _read_only: bool) -> Result<Box<dyn Transaction>> {
        let transaction = self.database.write_tx()?;
        Ok(Box::new(FjallTransaction {
            transaction,
            keyspace: self.keyspace.clone(),
        }))
    }
}

struct FjallTransaction {
    transaction: fjall::OptimisticWriteTx,
    keyspace: fjall::OptimisticTxKeyspace,
}

/// Keys are bytes whose order is that of the numbers: big-endian, with the sign turned.
fn encode_key(key: i64) -> [u8; 8] {
    ((key as u64) ^ (1 << 63)).to_be_bytes()
}

fn decode_key(bytes: &[u8]) -> Result<i64> {
    Ok((u64::from_be_bytes(bytes.try_into()?) ^ (1 << 63)) as i64)
}

fn decode_value(bytes: &[u8]) -> Result<i64> {
    Ok(i64::from_be_bytes(bytes.try_into()?))
}

impl Transaction for FjallTransaction {
    fn read(&mut self, key: i64) -> Result<Option<i64>> {
        let found = self.transaction.get(&self.keyspace, encode_key(key))?;
        found.map(|bytes| decode_value(&bytes)).transpose()
    }
    fn scan(&mut self, lower: i64, upper: i64) -> Result<Vec<(i64, i64)>> {
        let mut rows = Vec::new();
        for row in self
            .transaction
            .range(&self.keyspace, encode_key(lower)..=encode_key(upper))
        {
            let (key, value) = row.into_inner()?;
            rows.push((decode_key(&key)?, decode_value(&value)?));
        }
        Ok(rows)
    }
    fn write(&mut self, key: i64, value: i64) -> Result<()> {
        self.transaction
            .insert(&self.keyspace, encode_key(key), value.to_be_bytes());
        Ok(())
    }
    fn delete(&mut self, key: i64) -> Result<()> {
        self.transaction.remove(&self.keyspace, encode_key(key));
        Ok(())
    }
    fn commit(self: Box<Self>) -> Result<Outcome> {
        Ok(match self.transaction.commit()? {
            Ok(()) => Outcome::Committed,
            Err(conflict) => Outcome::Aborted(conflict.to_string()),
        })
    }
}

// ---- The protocol ----

fn number(value: &Value) -> Result<i64> {
    value
        .as_i64()
        .ok_or_else(|| format!("{value} is no 64-bit integer").into())
}

/// Runs one operation and returns its result.
fn run(transaction: &mut dyn Transaction, op: &Value) -> Result<Value> {
    match op[0].as_str() {
        Some("r") => Ok(json!(transaction.read(number(&op[1])?)?)),
        Some("scan") => Ok(json!(transaction.scan(number(&op[1])?, number(&op[2])?)?)),
        Some("w") => Ok(json!(transaction.write(number(&op[1])?, number(&op[2])?)?)),
        Some("d") => Ok(json!(transaction.delete(number(&op[1])?)?)),
        _ => Err(format!("unknown operation {op}").into()),
    }
}

fn commit(transaction: Box<dyn Transaction>) -> Value {
    match transaction.commit() {
        Ok(Outcome::Committed) => json!({"outcome": "committed"}),
        Ok(Outcome::Aborted(reason)) => json!({"outcome": "aborted", "reason": reason}),
        Err(error) => json!({"outcome": "unknown", "reason": error.to_string()}),
    }
}

fn failed(error: Box<dyn Error>) -> Value {
    json!({"outcome": "failed", "reason": error.to_string()})
}

/// One connection, which runs one transaction at a time.
struct Connection {
    store: Arc<dyn Store>,
    transaction: Option<Box<dyn Transaction>>,
}

impl Connection {
    fn answer(&mut self, request: &Value) -> Result<Value> {
        let read_only = request["read_only"] == true;
        match request["do"].as_str() {
            Some("open") => {}
            Some("begin") => self.transaction = Some(self.store.begin(read_only)?),
            Some("op") => {
                let transaction = self.transaction.as_mut().ok_or("no transaction is open")?;
                return Ok(json!({"result": run(transaction.as_mut(), &request["op"])?}));
            }
            Some("commit") => {
                return Ok(commit(
                    self.transaction.take().ok_or("no transaction is open")?,
                ));
            }
            Some("rollback" | "close") => self.transaction = None,
            Some("txn") => return self.whole(read_only, &request["ops"]),
            _ => return Err(format!("unknown request {}", request["do"]).into()),
        }
        Ok(json!({}))
    }

    /// A whole transaction: begin, operations, commit. An error before the commit drops it, which
    /// rolls back.
    fn whole(&self, read_only: bool, ops: &Value) -> Result<Value> {
        let mut transaction = self.store.begin(read_only)?;
        let mut results = Vec::new();
        for op in ops.as_array().ok_or("ops is no list")? {
            results.push(run(transaction.as_mut(), op)?);
        }
        let mut answer = commit(transaction);
        answer["results"] = json!(results);
        Ok(answer)
    }
}

fn print(request: &Value, mut answer: Value) {
    answer["id"] = request["id"].clone();
    let mut output = stdout().lock();
    // If ouro is gone, nobody reads the answer, and the next line of input is the end.
    let _ = writeln!(output, "{answer}").and_then(|()| output.flush());
}

fn serve_connection(store: Arc<dyn Store>, requests: mpsc::Receiver<Value>) {
    let mut connection = Connection {
        store,
        transaction: None,
    };
    for request in requests {
        let answer = connection.answer(&request).unwrap_or_else(failed);
        print(&request, answer);
    }
}

fn hello(database: &str, steps: bool) -> Value {
    let mut can = vec!["registers", "scans", "deletes", "threads"];
    if !steps {
        can.push("whole");
    }
    let version = if database == "redb" {
        "4.4.0"
    } else {
        "3.1.13"
    }; // As in Cargo.lock.
    json!({"protocol": 1, "name": format!("{database} {version}"), "version": "1", "can": can,
           "isolation": [{"name": "serializable", "promises": "serializable"}]})
}

fn create(database: &str, request: &Value) -> Result<Arc<dyn Store>> {
    let folder = Path::new(request["folder"].as_str().ok_or("no folder")?);
    Ok(if database == "redb" {
        Arc::new(Redb::create(folder)?)
    } else {
        Arc::new(Fjall::create(folder)?)
    })
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let database = arguments.first().map_or("", String::as_str);
    if database != "redb" && database != "fjall" {
        return Err("usage: ouro-driver redb|fjall [--steps]".into());
    }
    let steps = arguments.iter().any(|argument| argument == "--steps");
    let mut store: Option<Arc<dyn Store>> = None;
    let mut connections: HashMap<i64, mpsc::Sender<Value>> = HashMap::new();
    for line in stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        match request["do"].as_str() {
            Some("hello") => print(&request, hello(database, steps)),
            Some("setup") => {
                store = None; // Closes the one before, whose files are replaced.
                let answer = create(database, &request).map(|made| store = Some(made));
                print(&request, answer.map_or_else(failed, |()| json!({})));
            }
            Some("end") => {
                print(&request, json!({}));
                break;
            }
            _ => {
                let id = number(&request["connection"])?;
                if request["do"] == "open" {
                    let store = store.clone().ok_or("open before setup")?;
                    let (sender, receiver) = mpsc::channel();
                    thread::spawn(move || serve_connection(store, receiver));
                    connections.insert(id, sender);
                }
                connections
                    .get(&id)
                    .ok_or("the connection is not open")?
                    .send(request)?;
            }
        }
    }
    Ok(())
}
