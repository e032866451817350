import json
import sqlite3

import pytest

import ouro
from ouro._statements import classify


class Lost(Exception):
    """The connection is gone."""


class Refused(Exception):
    sqlstate = "40001"


class FakeCursor:
    def __init__(self, connection):
        self.connection = connection
        self.rowcount = 1
        self.description = [("v",)]

    def execute(self, sql, parameters=()):
        self.connection.sent.append(sql)
        self.connection.open = not self.connection.autocommit
        if "fail" in sql:
            raise self.connection.failure

    def fetchone(self):
        return (7,)


class FakeConnection:
    """A driver whose commits end as told."""

    autocommit = False

    def __init__(self, *ends):
        self.ends, self.sent, self.open, self.failure = list(ends), [], False, Lost("gone")

    @property
    def in_transaction(self):
        return self.open

    def cursor(self):
        return FakeCursor(self)

    def commit(self):
        end = self.ends.pop(0) if self.ends else None
        self.open = False
        if end is not None:
            raise end

    def rollback(self):
        self.open = False

    def close(self):
        self.open = False


def lines(recorder):
    with open(recorder.path) as file:
        return [json.loads(line) for line in file][1:]


@pytest.fixture
def recorder(tmp_path):
    ticks = iter(range(1, 10_000))
    with ouro.Recorder(tmp_path / "h.jsonl", clock=lambda: next(ticks)) as made:
        yield made


def test_commits_rollbacks_and_clocks(recorder):
    connection = recorder.wrap(FakeConnection(), "a")
    assert connection.read("x", "SELECT v") == 7
    connection.write("x", 8, "UPDATE")
    connection.commit()
    connection.write("x", 9, "UPDATE")
    connection.rollback()
    assert lines(recorder) == [
        {"session": "a", "invoked": 1, "committing": 2, "completed": 3,
         "ops": [["r", "x", 7], ["w", "x", 8]]},
        {"session": "a", "status": "aborted", "invoked": 4, "completed": 5, "ops": [["w", "x", 9]]}]


def test_a_commit_that_is_not_answered_is_unknown_and_ends_the_session(recorder):
    connection = recorder.wrap(FakeConnection(Lost("gone"), Refused("serialize"), None), "a")
    for value in (1, 2):
        connection.write("x", value, "UPDATE")
        with pytest.raises((Lost, Refused)):
            connection.commit()
    connection.write("x", 3, "UPDATE")
    connection.commit()
    found = lines(recorder)
    assert [(one["session"], one.get("status")) for one in found] == [
        ("a", "unknown"), ("a #2", "aborted"), ("a #2", None)]
    assert "completed" not in found[0] and "completed" in found[1]


def test_only_what_was_refused_is_tried_again(recorder):
    def work(connection):
        connection.write("x", len(connection.sent), "UPDATE")
        return "done"

    inner = FakeConnection(Refused("once"), Refused("twice"), None)
    assert recorder.wrap(inner, "a").run(work) == "done"
    inner = FakeConnection(Lost("gone"), None)
    with pytest.raises(ouro.Unclear):
        recorder.wrap(inner, "b").run(work)
    with pytest.raises(Refused):
        recorder.wrap(FakeConnection(Refused("1"), Refused("2")), "c").run(work, retries=1)
    assert [one.get("status") for one in lines(recorder)] == [
        "aborted", "aborted", None, "unknown", "aborted", "aborted"]
    assert [one["ops"][0][2] for one in lines(recorder)[:3]] == [0, 1, 2]


class Deadlock(Exception):
    def __init__(self):
        super().__init__(1213, "Deadlock found")


class FakeMysql(FakeConnection):
    """Answers errors without saying what became of the transaction."""

    in_transaction = None


FakeMysql.__module__ = Deadlock.__module__ = "pymysql"


def test_a_deadlock_of_mysql_rolls_everything_back(recorder):
    inner = FakeMysql()
    inner.failure = Deadlock()
    connection = recorder.wrap(inner, "a")
    connection.write("x", 1, "UPDATE")
    with pytest.raises(Deadlock):
        connection.write("x", 2, "UPDATE fail")
    connection.write("x", 3, "UPDATE")
    connection.commit()
    assert [(one.get("status"), one["ops"]) for one in lines(recorder)] == [
        ("aborted", [["w", "x", 1], ["w", "x", 2]]), (None, [["w", "x", 3]])]


def test_begin_commits_what_mysql_has_under_way(recorder):
    connection = recorder.wrap(FakeMysql(), "a")
    connection.execute("BEGIN")
    connection.write("x", 1, "UPDATE")
    connection.execute("START TRANSACTION")
    connection.write("x", 2, "UPDATE")
    connection.rollback()
    assert lines(recorder) == [
        {"session": "a", "invoked": 1, "committing": 2, "completed": 3, "ops": [["w", "x", 1]]},
        {"session": "a", "status": "aborted", "invoked": 2, "completed": 4, "ops": [["w", "x", 2]]}]


def test_statements_of_their_own(recorder):
    inner = FakeConnection()
    inner.autocommit = True
    connection = recorder.wrap(inner, "a")
    connection.write("x", 1, "UPDATE")
    with pytest.raises(Lost):
        connection.write("x", 2, "UPDATE fail")
    connection.read("x", "SELECT")
    assert [(one["session"], one.get("status"), one["ops"]) for one in lines_of(recorder)] == [
        ("a", None, [["w", "x", 1]]), ("a", "unknown", [["w", "x", 2]]),
        ("a #2", None, [["r", "x", 7]])]


def lines_of(recorder):
    recorder.history()
    return lines(recorder)


def test_savepoints(recorder):
    connection = recorder.wrap(sqlite3.connect(":memory:", isolation_level=None), "a")
    connection.execute("CREATE TABLE t (k, v)")
    connection.execute("BEGIN")
    connection.write("x", 1, "INSERT INTO t VALUES ('x', 1)")
    connection.execute("SAVEPOINT one")
    connection.write("x", 2, "UPDATE t SET v = 2")
    connection.execute("ROLLBACK TO one")
    connection.read("x", "SELECT v FROM t")
    connection.execute("SAVEPOINT two")
    connection.write("x", 3, "UPDATE t SET v = 3")
    connection.execute("RELEASE two")
    connection.execute("ROLLBACK TO one")
    connection.read("x", "SELECT v FROM t")
    connection.execute("COMMIT")
    assert lines(recorder)[-1]["ops"] == [
        ["w", "x", 1], ["rolled-back", [["w", "x", 2]]],
        ["rolled-back", [["r", "x", 1], ["w", "x", 3]]], ["r", "x", 1]]
    assert ouro.check(recorder.history(), "serializable").holds


def test_sqlite_reads_before_the_first_write_are_transactions_of_their_own(recorder):
    # Python's module begins a transaction with the first write only.
    connection = recorder.wrap(sqlite3.connect(":memory:"), "a")
    connection.execute("CREATE TABLE t (k, v)")
    assert connection.read("x", "SELECT v FROM t") is None
    connection.write("x", 1, "INSERT INTO t VALUES ('x', 1)")
    connection.write("y", 1, "UPDATE t SET v = 1 WHERE k = 'y'")  # No row: no write.
    connection.commit()
    assert [one["ops"] for one in lines(recorder)] == [[["r", "x", None]], [["w", "x", 1]]]


def test_a_busy_sqlite_can_commit_later(recorder, tmp_path):
    path = tmp_path / "db"
    one = sqlite3.connect(path, isolation_level=None, timeout=0)
    one.execute("CREATE TABLE t (v)")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM t").fetchall()
    connection = recorder.wrap(one, "a")
    connection.execute("BEGIN")
    connection.write("x", 1, "INSERT INTO t VALUES (1)")
    with pytest.raises(sqlite3.OperationalError):
        connection.commit()
    assert lines(recorder) == []
    reader.execute("COMMIT")
    connection.commit()
    assert "status" not in lines(recorder)[0]


def test_lost_updates_of_a_program_show(recorder, tmp_path):
    path = tmp_path / "db"
    sqlite3.connect(path).executescript("CREATE TABLE t (k, v); INSERT INTO t VALUES ('x', 0)")
    both = [recorder.wrap(sqlite3.connect(path, isolation_level=None), name) for name in "ab"]
    for connection in both:  # Read in one transaction, write in the next: the update gets lost.
        connection.read("x", "SELECT v FROM t")
    for value, connection in enumerate(both, 1):
        connection.write("x", value, "UPDATE t SET v = ?", (value,))
    history = recorder.history()
    assert history.transactions == 4 and ouro.check(history).violated  # x was not null at first.
    assert ouro.check(ouro.History(lines(recorder), initials={"x": 0})).holds


def test_what_cannot_be_recorded_is_refused(recorder):
    connection = recorder.wrap(sqlite3.connect(":memory:"), "a")
    with pytest.raises(NotImplementedError, match="script"):
        connection.executescript("BEGIN; COMMIT")
    with pytest.raises(ValueError, match="several statements"):
        connection.execute("BEGIN; UPDATE t SET v = 1; COMMIT")
    with pytest.raises(RuntimeError, match="no transaction"):
        connection.note.read("x", 1)
    with pytest.raises(NotImplementedError, match="run"):
        connection.transaction()
    with pytest.raises(ValueError, match="two connections"):
        recorder.wrap(sqlite3.connect(":memory:"), "a")


def test_what_is_open_at_the_end_is_unknown(tmp_path):
    inner = FakeConnection()
    with ouro.Recorder(tmp_path / "h.jsonl", info={"run": "one"}) as recorder:
        connection = recorder.wrap(inner, "a")
        connection.write("x", 1, "UPDATE")
        closed = recorder.wrap(FakeConnection(), "b")
        closed.write("x", 2, "UPDATE")
        closed.close()
    assert [one["status"] for one in lines(recorder)] == ["aborted", "unknown"]
    with pytest.raises(ValueError, match="closed"):
        connection.write("x", 3, "UPDATE")
    assert inner.sent == ["UPDATE"]  # It was not executed unseen.


def test_several_recorders_in_one_file(tmp_path):
    for _ in range(2):
        with ouro.Recorder(tmp_path / "h.jsonl", append=True) as recorder:
            connection = recorder.wrap(FakeConnection())
            connection.read("x", "SELECT")
            connection.commit()
    assert ouro.History.read(tmp_path / "h.jsonl").transactions == 2


@pytest.mark.parametrize("sql, kind, name", [
    ("SELECT 1", "other", None), (" -- x\n BEGIN IMMEDIATE", "begin", None),
    ("START TRANSACTION READ ONLY", "begin", None), ("/* a */ Commit;", "commit", None),
    ("END", "commit", None), ("ROLLBACK", "rollback", None), ("abort", "rollback", None),
    ("ROLLBACK TO SAVEPOINT \"a\"", "back to", "a"), ("rollback work to b", "back to", "b"),
    ("SAVEPOINT `c`", "savepoint", "c"), ("RELEASE SAVEPOINT d;", "release", "d"),
    ("PREPARE TRANSACTION 'x'", "prepare", None), ("COMMIT PREPARED 'x'", "other", None),
    ("endless", "other", None), ("SELECT '; commit'", "other", None), (b"BEGIN", "begin", None),
])
def test_statements_that_begin_and_end(sql, kind, name):
    assert classify(sql) == (kind, name)


def test_sqlalchemy(tmp_path):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    text = sqlalchemy.text
    recorder = ouro.Recorder(tmp_path / "h.jsonl")
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/db")
    recorder.attach(engine)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (k TEXT PRIMARY KEY, v INT)"))
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO t VALUES ('x', 1)"))
        recorder.of(connection).write("x", 1)
    with pytest.raises(ZeroDivisionError), engine.begin() as connection:
        connection.execute(text("UPDATE t SET v = 2"))
        recorder.of(connection).write("x", 2)
        raise ZeroDivisionError
    with sqlalchemy.orm.Session(engine) if hasattr(sqlalchemy, "orm") else engine.connect() as one:
        found = one.execute(text("SELECT v FROM t")).scalar()
        recorder.of(one).read("x", found)
    recorder.close()
    assert [(one.get("status"), one["ops"]) for one in lines(recorder)] == [
        (None, [["w", "x", 1]]), ("aborted", [["w", "x", 2]]), (None, [["r", "x", 1]])]
    with pytest.raises(ValueError, match="recorded already"):
        recorder.attach(engine)
