#!/usr/bin/env python3
"""A driver for 'ouro run exec:COMMAND': connects ouro to any database with a Python DB-API module.

    ouro run 'exec:python3 ouro_driver.py sqlite'
    ouro run 'exec:python3 ouro_driver.py duckdb'
    ouro run 'exec:python3 ouro_driver.py dbapi --module psycopg2 --connect "dbname=test"'

Copy this file and change it: class Dialect says what differs between databases, class Session is one
connection, and class Server speaks the protocol, which docs/drivers.md of ouro describes.
"""
import argparse
import importlib
import json
import os
import queue
import re
import sys
import threading

PROTOCOL = 1
COLUMNS = ("c0", "c1", "c2")


class Dialect:
    """What differs between databases. This one suits many servers; the others change it."""

    abilities = ["registers", "lists", "scans", "rows", "row-changes", "deletes", "whole"]
    # (name, level that it promises, whether timestamps are told, SQL that begins a transaction)
    isolations = [("serializable", "serializable", False,
                   ["BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE"]),
                  ("repeatable read", "si", False,
                   ["BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ"]),
                  ("read committed", "rc", False,
                   ["BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED"])]
    mark = "%s"  # What stands for a parameter in SQL.
    # Errors whose text matches this say for certain that the transaction has no effect.
    aborted = "serializ|deadlock|conflict|could not obtain lock|lock wait"

    def __init__(self, arguments):
        self.arguments = arguments
        self.module = importlib.import_module(arguments.module)
        if arguments.aborted:
            self.aborted = arguments.aborted
        if arguments.mark:
            self.mark = arguments.mark
        if arguments.steps:
            self.abilities = [ability for ability in self.abilities if ability != "whole"]
        if arguments.threads and "threads" not in self.abilities:
            self.abilities = self.abilities + ["threads"]

    def name(self):
        return f"{self.module.__name__} {getattr(self.module, '__version__', '')}".strip()

    def connect(self, folder):
        connection = self.module.connect(self.arguments.connect)
        connection.autocommit = True  # We send BEGIN and COMMIT ourselves.
        return connection

    def upsert(self, columns):
        """Inserts a row or overwrites it; parameters are the key and the columns."""
        names = ", ".join(columns)
        marks = ", ".join(["?"] * (len(columns) + 1))
        sets = ", ".join(f"{column} = excluded.{column}" for column in columns)
        return f"INSERT INTO ouro_data (k, {names}) VALUES ({marks}) ON CONFLICT (k) DO UPDATE SET {sets}"


class Sqlite(Dialect):
    isolations = [("serializable", "serializable", True, ["BEGIN"])]
    mark = "?"
    aborted = "database is locked|database table is locked"

    def name(self):
        return f"SQLite {self.module.sqlite_version} by Python"

    def connect(self, folder):
        path = self.arguments.connect or os.path.join(folder, "data.db")
        connection = self.module.connect(path, isolation_level=None, timeout=0.2,
                                         cached_statements=1000, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        return connection


class Duckdb(Dialect):
    # Only one process may open the file, so this one serves all clients.
    abilities = Dialect.abilities + ["threads"]
    isolations = [("snapshot", "si", False, ["BEGIN"])]
    mark = "?"
    aborted = "conflict|Constraint Error|TransactionContext Error: Cannot commit"

    def __init__(self, arguments):
        super().__init__(arguments)
        self.root = None
        self.lock = threading.Lock()

    def name(self):
        return f"DuckDB {self.module.__version__}"

    def connect(self, folder):
        with self.lock:
            if self.root is None:
                self.root = self.module.connect(self.arguments.connect or ":memory:")
            return self.root.cursor()


class Session:
    """One connection, which runs one transaction at a time."""

    def __init__(self, dialect, request):
        self.dialect = dialect
        self.model = request["model"]
        self.timestamps = request["timestamps"]
        self.begin_sql = next(sql for name, _, _, sql in dialect.isolations
                              if name == request["isolation"])
        self.connection = dialect.connect(request["folder"])
        self.cursor = self.connection.cursor()
        self.times = {}

    def execute(self, sql, parameters=()):
        # With no parameters and the mark %s, some modules would still look for '%'.
        if self.dialect.mark != "?":
            sql = sql.replace("?", self.dialect.mark)
        return self.cursor.execute(sql, parameters) if parameters else self.cursor.execute(sql)

    def rows(self, sql, parameters=()):
        self.execute(sql, parameters)
        return self.cursor.fetchall()

    def make_table(self):
        column = {"registers": "v BIGINT", "lists": "v TEXT",
                  "rows": "c0 BIGINT, c1 BIGINT, c2 BIGINT"}[self.model]
        self.execute("DROP TABLE IF EXISTS ouro_data")
        self.execute(f"CREATE TABLE ouro_data (k BIGINT PRIMARY KEY, {column})")
        if self.timestamps:  # A counter of commits, which gives every transaction its place.
            self.execute("DROP TABLE IF EXISTS ouro_count")
            self.execute("CREATE TABLE ouro_count (n BIGINT)")
            self.execute("INSERT INTO ouro_count VALUES (0)")

    def drop_table(self):
        self.execute("DROP TABLE IF EXISTS ouro_data")
        self.execute("DROP TABLE IF EXISTS ouro_count")

    def begin(self):
        self.times = {}
        for sql in self.begin_sql:
            self.execute(sql)

    def note_start(self):
        if self.timestamps and "start_ts" not in self.times:
            self.times["start_ts"] = 2 * self.rows("SELECT n FROM ouro_count")[0][0] + 1

    def note_write(self):
        self.note_start()
        if self.timestamps and "commit_ts" not in self.times:
            self.execute("UPDATE ouro_count SET n = n + 1")
            self.times["commit_ts"] = 2 * self.rows("SELECT n FROM ouro_count")[0][0]

    def run(self, op):
        """Runs one operation and returns its result."""
        kind = op[0]
        if kind in ("w", "append", "d", "update", "delete"):
            self.note_write()
            return getattr(self, "do_" + kind)(*op[1:])
        self.note_start()
        return getattr(self, "do_" + kind)(*op[1:])

    def do_r(self, key):
        if self.model == "rows":
            found = self.rows("SELECT c0, c1, c2 FROM ouro_data WHERE k = ?", (key,))
            return list(found[0]) if found else None
        found = self.rows("SELECT v FROM ouro_data WHERE k = ?", (key,))
        if self.model == "lists":
            return [int(word) for word in found[0][0].split(",")] if found else []
        return found[0][0] if found else None

    def do_w(self, key, value):
        if self.model == "rows":
            self.execute(self.dialect.upsert(COLUMNS), (key, *value))
        else:
            self.execute(self.dialect.upsert(["v"]), (key, value))

    def do_append(self, key, number):
        self.execute("INSERT INTO ouro_data (k, v) VALUES (?, ?) "
                     "ON CONFLICT (k) DO UPDATE SET v = ouro_data.v || ',' || excluded.v",
                     (key, str(number)))

    def do_d(self, key):
        self.execute("DELETE FROM ouro_data WHERE k = ?", (key,))

    def do_scan(self, lower, upper):
        return [list(row) for row in self.rows(
            "SELECT k, v FROM ouro_data WHERE k BETWEEN ? AND ?", (lower, upper))]

    @staticmethod
    def where(conditions):
        text = " AND ".join(f"{column} BETWEEN {int(lower)} AND {int(upper)}"
                            for column, lower, upper in conditions)
        return " WHERE " + text if text else ""

    def do_select(self, conditions):
        rows = self.rows("SELECT k, c0, c1, c2 FROM ouro_data" + self.where(conditions))
        return [[row[0], list(row[1:])] for row in rows]

    def do_aggregate(self, kind, column, conditions):
        value = self.rows(f"SELECT {kind}({column}) FROM ouro_data" + self.where(conditions))[0][0]
        return None if value is None else int(value)

    def do_update(self, conditions, assignments):
        found = self.do_select(conditions)
        for change in found:
            after = list(change[1])
            for column, number in assignments:
                after[COLUMNS.index(column)] = number
            change.append(after)
            self.do_w(change[0], after)
        return found

    def do_delete(self, conditions):
        found = self.do_select(conditions)
        for key, _ in found:
            self.do_d(key)
        return found

    def rollback(self):
        try:
            self.execute("ROLLBACK")
        except Exception as error:  # Some databases have rolled back on their own.
            if not re.search("no transaction|not in a transaction|transaction is (not )?active",
                             str(error), re.IGNORECASE):
                raise


class Server:
    """Reads requests, one JSON object per line, and answers each."""

    def __init__(self, dialect):
        self.dialect = dialect
        self.sessions = {}
        self.queues = {}
        self.setup = None
        self.output = threading.Lock()
        self.threads = "threads" in dialect.abilities

    def serve(self):
        for line in sys.stdin:
            request = json.loads(line)
            connection = request.get("connection")
            if not self.threads or connection is None:
                self.answer(request)
                if request["do"] == "end":
                    return
                continue
            if connection not in self.queues:
                self.queues[connection] = queue.SimpleQueue()
                threading.Thread(target=self.work, args=(connection,), daemon=True).start()
            self.queues[connection].put(request)

    def work(self, connection):
        while True:
            request = self.queues[connection].get()
            self.answer(request)
            if request["do"] == "close":
                return

    def answer(self, request):
        try:
            members = getattr(self, "on_" + request["do"])(request)
        except Exception as error:
            members = self.refusal(error)
        text = json.dumps({"id": request["id"], **(members or {})}, separators=(",", ":"))
        with self.output:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()

    def refusal(self, error):
        certain = re.search(self.dialect.aborted, str(error), re.IGNORECASE)
        return {"outcome": "aborted" if certain else "failed", "reason": str(error)[:200]}

    def on_hello(self, request):
        return {"protocol": PROTOCOL, "name": self.dialect.name(), "version": "1",
                "can": self.dialect.abilities,
                "isolation": [{"name": name, "promises": level, "timestamps": timestamps}
                              for name, level, timestamps, _ in self.dialect.isolations]}

    def on_setup(self, request):
        self.setup = Session(self.dialect, request)
        self.setup.make_table()

    def on_open(self, request):
        self.sessions[request["connection"]] = Session(self.dialect, request)

    def on_close(self, request):
        self.sessions.pop(request["connection"]).connection.close()

    def on_begin(self, request):
        self.sessions[request["connection"]].begin()

    def on_op(self, request):
        return {"result": self.sessions[request["connection"]].run(request["op"])}

    def on_rollback(self, request):
        self.sessions[request["connection"]].rollback()

    def on_commit(self, request):
        session = self.sessions[request["connection"]]
        try:
            session.execute("COMMIT")
        except Exception as error:
            refusal = self.refusal(error)
            if refusal["outcome"] != "aborted":  # We cannot know whether it took effect.
                return {"outcome": "unknown", "reason": refusal["reason"]}
            session.rollback()
            return refusal
        return {"outcome": "committed", **session.times}

    def on_txn(self, request):
        """A whole transaction: begin, operations, commit."""
        session = self.sessions[request["connection"]]
        results = []
        try:
            session.begin()
            for op in request["ops"]:
                results.append(session.run(op))
        except Exception as error:
            session.rollback()
            return {**self.refusal(error), "results": results}
        return {**self.on_commit(request), "results": results}

    def on_end(self, request):
        if self.setup is not None:
            self.setup.drop_table()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", choices=["sqlite", "duckdb", "dbapi"])
    parser.add_argument("--module", help="the DB-API module, for dbapi")
    parser.add_argument("--connect", default="", help="a file, or what connect() of the module takes")
    parser.add_argument("--aborted", help="regular expression of errors that abort for certain")
    parser.add_argument("--mark", help="what stands for a parameter in SQL: %%s or ?")
    parser.add_argument("--steps", action="store_true",
                        help="one message per operation, so that transactions overlap more")
    parser.add_argument("--threads", action="store_true",
                        help="one process for all clients, with a thread for each")
    arguments = parser.parse_args()
    kinds = {"sqlite": Sqlite, "duckdb": Duckdb, "dbapi": Dialect}
    arguments.module = arguments.module or {"sqlite": "sqlite3"}.get(arguments.database,
                                                                    arguments.database)
    Server(kinds[arguments.database](arguments)).serve()


if __name__ == "__main__":
    main()
