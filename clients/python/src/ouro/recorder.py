"""Records what a program does with a database, as a history.

    recorder = ouro.Recorder("history.jsonl", initials={"stock": 10})
    connection = recorder.wrap(sqlite3.connect("shop.db", isolation_level=None))
    connection.execute("BEGIN")
    stock = connection.read("stock", "SELECT n FROM items WHERE name = ?", ("stock",))
    connection.write("stock", stock - 1, "UPDATE items SET n = ? WHERE name = ?",
                     (stock - 1, "stock"))
    connection.commit()

The recorder knows when transactions begin and end and how that went; what a statement read and wrote
is told to it, as above or with `connection.note`.
"""
from __future__ import annotations

import os
import socket
import threading
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Type, TypeVar, Union

from . import _json
from ._drivers import (FAILED, IDLE, OPEN, autocommits, commits_by_begin, may_be_retried, module_of,
                       rolled_back, sqlite_refused, state, was_refused)
from ._statements import classify
from .history import History, PathLike

T = TypeVar("T")
COMMITTED, ABORTED, UNKNOWN = "committed", "aborted", "unknown"


class Unclear(Exception):
    """It is not known whether the transaction was committed, so it must not be tried again blindly.
    The cause is the driver's error."""


class _Txn:
    """A transaction under way."""

    def __init__(self, invoked: int) -> None:
        self.invoked = invoked
        self.committing: Optional[int] = None
        self.completed: Optional[int] = None
        self.status: Optional[str] = None  # Set: it has ended, and is written when the next begins.
        self.ops: List[str] = []
        self.statements = 0  # That succeeded.
        # Savepoints that are open: their names, and how many operations there were.
        self.savepoints: List[Tuple[str, int]] = []


class Session:
    """What is recorded of one connection: where it notes what statements read and wrote.

    Keys are ints, texts, or tuples of them; values are ints, texts, floats, Decimals, bools, None,
    or dicts of these for rows.
    """

    def __init__(self, recorder: "Recorder", name: str, connection: Any,
                 aborted: Optional[Callable[[BaseException], bool]] = None,
                 autocommit: Optional[bool] = None) -> None:
        self._recorder = recorder
        self._base = self.name = name
        self._connection = connection
        self._aborted = aborted
        self._autocommit = autocommit
        self._txn: Optional[_Txn] = None
        self._explicit = False  # Whether BEGIN was sent.
        self._unknown_count = 0

    # ---- what statements did ----

    def read(self, key: Any, value: Any) -> None:
        """Notes a read of `value`; None: nothing was there; a list or tuple: a list."""
        self.op(f'["r",{_json.name(key)},{_json.value(value)}]')

    def write(self, key: Any, value: Any) -> None:
        """Notes a write. Writing None deletes."""
        self.op(f'["w",{_json.name(key)},{_json.value(value)}]')

    def append(self, key: Any, element: Any) -> None:
        """Notes that `element` was appended to a list."""
        self.op(f'["append",{_json.name(key)},{_json.value(element)}]')

    def delete(self, key: Any) -> None:
        """Notes a delete."""
        self.op(f'["d",{_json.name(key)}]')

    def scan(self, lower: Any, upper: Any, rows: "Iterable[Tuple[Any, Any]]") -> None:
        """Notes a read of all keys from `lower` to `upper`, both included (None: no bound), that
        found these keys and values."""
        bounds = ",".join("null" if one is None else _json.name(one) for one in (lower, upper))
        found = ",".join(f"[{_json.name(key)},{_json.value(value)}]" for key, value in rows)
        self.op(f'["scan",{bounds},[{found}]]')

    def op(self, operation: Any) -> None:
        """Notes any operation of docs/formats.md, as JSON text or as a list."""
        txn = self._txn
        if txn is None:
            raise RuntimeError("no transaction is under way; execute the statement first, then note "
                               "what it did, before the transaction ends")
        txn.ops.append(operation if isinstance(operation, str) else _json.value(operation))

    # ---- what happens to transactions ----

    def _open(self) -> _Txn:
        """The transaction under way; begins one if there is none."""
        if self._txn is not None and self._txn.status is None:
            return self._txn
        self._flush()
        self._recorder._must_be_open()
        self._txn = _Txn(self._recorder._clock())
        return self._txn

    def _flush(self) -> None:
        """Writes the transaction that has ended."""
        txn, self._txn = self._txn, None
        if txn is None:
            return
        status = txn.status or UNKNOWN
        if txn.ops:
            self._recorder._write(self.name, txn, status)
        if status == UNKNOWN:
            # Its commit may still take effect after what the connection does next, which is why that
            # belongs to another session.
            self._unknown_count += 1
            self.name = f"{self._base} #{self._unknown_count + 1}"

    def _end(self, status: str) -> None:
        self._explicit = False
        txn = self._txn
        if txn is None or txn.status is not None:
            return
        txn.status = status
        if status != UNKNOWN:
            txn.completed = self._recorder._clock()

    def _is_alone(self) -> bool:
        """Whether a statement that was just executed was a transaction of its own."""
        known = state(self._connection)
        if known is not None:
            return known == IDLE
        alone = autocommits(self._connection) if self._autocommit is None else self._autocommit
        return alone and not self._explicit

    def _look_for_end(self) -> None:
        """Notices if the transaction has ended in a way that was not recorded."""
        txn = self._txn
        if txn is not None and txn.status is None and txn.statements > 0 and \
                state(self._connection) == IDLE:
            self._end(UNKNOWN)
            self._flush()

    def begin(self, call: "Callable[[], T]") -> T:
        """Records `call`, which begins a transaction."""
        self._look_for_end()
        if self._txn is not None and self._txn.status is None and \
                commits_by_begin(self._connection):
            result = self._commit_and_begin(call)
        else:
            self._open()
            result = call()
        self._explicit = True
        if self._txn is not None:
            self._txn.statements += 1
        return result

    def _commit_and_begin(self, call: "Callable[[], T]") -> T:
        """The transaction under way is committed by the same call that begins the next."""
        invoked = self._recorder._clock()
        assert self._txn is not None
        self._txn.committing = invoked
        try:
            result = call()
        except BaseException as error:
            self._end(ABORTED if self._says_aborted(error) else UNKNOWN)
            self._flush()
            raise
        self._end(COMMITTED)
        self._flush()
        self._txn = _Txn(invoked)
        return result

    def commit(self, call: "Callable[[], T]") -> T:
        """Records `call`, which commits. Errors are those of `call`."""
        txn = self._txn
        if txn is None or txn.status is not None:
            return call()
        doomed = state(self._connection) == FAILED  # PostgreSQL then answers with a rollback.
        txn.committing = self._recorder._clock()
        try:
            result = call()
        except BaseException as error:
            if self._says_aborted(error) or doomed:
                self._end(ABORTED)
                self._flush()
            elif module_of(self._connection) == "sqlite3" and state(self._connection) == OPEN:
                txn.committing = None  # SQLite was busy: the transaction is as it was.
            else:
                self._end(UNKNOWN)
                self._flush()
            raise
        self._end(ABORTED if doomed else COMMITTED)
        self._flush()
        return result

    def rollback(self, call: "Callable[[], T]") -> T:
        """Records `call`, which rolls back. Whatever comes of it, nobody asked for a commit."""
        try:
            return call()
        finally:
            self._end(self._given_up())
            self._flush()

    def _given_up(self) -> str:
        """The status of a transaction that nobody goes on with: of a commit that was interrupted
        nobody knows the outcome."""
        return UNKNOWN if self._txn is not None and self._txn.committing is not None else ABORTED

    def statement(self, sql: Any, call: "Callable[[], T]", operation: Optional[str] = None) -> T:
        """Records `call`, which executes `sql`. `operation` is what it does if it succeeds, if that
        is known before."""
        kind, name = classify(sql)
        if kind == "begin":
            return self.begin(call)
        if kind == "commit":
            return self.commit(call)
        if kind == "rollback":
            return self.rollback(call)
        self._look_for_end()
        txn = self._open()
        noted = len(txn.ops)
        if operation is not None:
            txn.ops.append(operation)
        try:
            result = call()
        except BaseException as error:
            self._statement_failed(txn, noted, error)
            raise
        self._statement_done(txn, kind, name)
        return result

    def _statement_done(self, txn: _Txn, kind: str, name: Optional[str]) -> None:
        txn.statements += 1
        if kind == "prepare":
            self._end(UNKNOWN)  # Whoever commits it is not recorded.
        elif kind == "savepoint":
            txn.savepoints.append((name or "", len(txn.ops)))
        elif kind in ("back to", "release"):
            self._savepoint_ends(txn, name or "", undone=kind == "back to")
        if txn.status is None and self._is_alone():
            txn.committing = txn.committing or txn.invoked
            self._end(COMMITTED)

    def _statement_failed(self, txn: _Txn, noted: int, error: BaseException) -> None:
        known = state(self._connection)
        ended = known == IDLE or (known is None and self._is_alone())
        if rolled_back(error):
            self._end(ABORTED)
        elif not ended:
            # It goes on without the statement, or will be rolled back.
            del txn.ops[noted:]
        elif self._says_aborted(error) or (
                module_of(self._connection) == "sqlite3" and
                (txn.statements > 0 or sqlite_refused(error))):
            self._end(ABORTED)
        else:
            self._end(UNKNOWN)

    def _savepoint_ends(self, txn: _Txn, name: str, undone: bool) -> None:
        at = len(txn.savepoints) - 1
        while at >= 0 and txn.savepoints[at][0].lower() != name.lower():
            at -= 1
        if at < 0:
            return
        found, first = txn.savepoints[at]
        if undone:
            part = [op for op in txn.ops[first:]]
            del txn.ops[first:]
            if part:
                txn.ops.append('["rolled-back",[' + ",".join(part) + "]]")
            # The savepoint itself is still there, and begins behind what was undone.
            del txn.savepoints[at:]
            txn.savepoints.append((found, len(txn.ops)))
        else:
            del txn.savepoints[at:]

    def _says_aborted(self, error: BaseException) -> bool:
        return was_refused(error) or (self._aborted is not None and bool(self._aborted(error)))

    def close(self) -> None:
        """The connection was closed: what was not committed never will be."""
        self._end(self._given_up())
        self._flush()


class RecordedCursor:
    """A cursor of the driver whose statements are recorded."""

    def __init__(self, inner: Any, connection: "RecordedConnection") -> None:
        self._inner = inner
        self._recorded = connection

    @property
    def connection(self) -> "RecordedConnection":
        return self._recorded

    def execute(self, sql: Any, *arguments: Any, **named: Any) -> "RecordedCursor":
        self._recorded.note.statement(sql, lambda: self._inner.execute(sql, *arguments, **named))
        return self

    def executemany(self, sql: Any, *arguments: Any, **named: Any) -> "RecordedCursor":
        self._recorded.note.statement(sql, lambda: self._inner.executemany(sql, *arguments, **named))
        return self

    def callproc(self, name: Any, *arguments: Any, **named: Any) -> Any:
        return self._recorded.note.statement(
            "call", lambda: self._inner.callproc(name, *arguments, **named))

    def executescript(self, sql: Any) -> Any:
        raise NotImplementedError("a script commits by itself, which cannot be recorded; execute its "
                                  "statements one by one, or on the connection that is not recorded")

    def __iter__(self) -> Any:
        return iter(self._inner)

    def __enter__(self) -> "RecordedCursor":
        self._inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._inner.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class RecordedConnection:
    """A DB-API connection that is recorded. Everything that the driver's connection has is here,
    too. `note` is where to note what statements did, if `read`, `write` and the others do not fit.
    Of one connection only one thread at a time may use this."""

    def __init__(self, inner: Any, note: Session) -> None:
        self._inner = inner
        self.note = note

    def cursor(self, *arguments: Any, **named: Any) -> RecordedCursor:
        return RecordedCursor(self._inner.cursor(*arguments, **named), self)

    def execute(self, sql: Any, *arguments: Any, **named: Any) -> RecordedCursor:
        """Executes a statement by a new cursor."""
        return self.cursor().execute(sql, *arguments, **named)

    def executescript(self, sql: Any) -> Any:
        return self.cursor().executescript(sql)

    def executemany(self, sql: Any, *arguments: Any, **named: Any) -> RecordedCursor:
        return self.cursor().executemany(sql, *arguments, **named)

    def begin(self, *arguments: Any) -> Any:
        return self.note.begin(lambda: self._inner.begin(*arguments))

    def commit(self) -> Any:
        return self.note.commit(self._inner.commit)

    def rollback(self) -> Any:
        return self.note.rollback(self._inner.rollback)

    def close(self) -> Any:
        try:
            return self._inner.close()
        finally:
            self.note.close()

    # Statements together with what they do.

    def read(self, key: Any, sql: Any, parameters: Any = ()) -> Any:
        """Executes a query for the value of `key` and notes it: the first column of the only row;
        None if there is no row. Of a row with several columns: a dict of them."""
        cursor = self.cursor()
        cursor.execute(sql, parameters)
        found = _value_of(cursor, cursor.fetchone())
        self.note.read(key, found)
        return found

    def read_list(self, key: Any, sql: Any, parameters: Any = ()) -> "List[Any]":
        """Executes a query whose rows are the elements of a list, in order, and notes it."""
        found = [row[0] for row in self.execute(sql, parameters).fetchall()]
        self.note.read(key, found)
        return found

    def scan(self, lower: Any, upper: Any, sql: Any, parameters: Any = ()) -> "List[Tuple[Any, Any]]":
        """Executes a query for all keys from `lower` to `upper` and their values, and notes it. Its
        rows have the key and the value."""
        found = [(row[0], row[1]) for row in self.execute(sql, parameters).fetchall()]
        self.note.scan(lower, upper, found)
        return found

    def write(self, key: Any, value: Any, sql: Any, parameters: Any = ()) -> int:
        """Executes a statement that writes `value`, and notes it. Returns the rows that it changed;
        a statement that changed none wrote nothing, and nothing is noted."""
        return self._change(f'["w",{_json.name(key)},{_json.value(value)}]', sql, parameters)

    def append(self, key: Any, element: Any, sql: Any, parameters: Any = ()) -> int:
        """The same for a statement that appends an element to a list."""
        return self._change(f'["append",{_json.name(key)},{_json.value(element)}]', sql, parameters)

    def delete(self, key: Any, sql: Any, parameters: Any = ()) -> int:
        """The same for a statement that deletes."""
        return self._change(f'["d",{_json.name(key)}]', sql, parameters)

    def _change(self, operation: str, sql: Any, parameters: Any) -> int:
        cursor = self._inner.cursor()
        self.note.statement(sql, lambda: cursor.execute(sql, parameters), operation)
        count = int(getattr(cursor, "rowcount", -1))
        txn = self.note._txn
        if count == 0 and txn is not None and txn.ops and txn.ops[-1] == operation:
            txn.ops.pop()
        return count

    def run(self, work: "Callable[[RecordedConnection], T]", retries: int = 10) -> T:
        """Calls work(connection) and commits. If the database asks to try again, rolls back and does
        so, up to `retries` times; each attempt is a transaction of its own in the history. Raises
        Unclear if it is not known whether the commit had an effect."""
        for attempt in range(retries + 1):
            try:
                result = work(self)
            except BaseException as error:
                self._roll_back_quietly()
                if attempt < retries and may_be_retried(error):
                    _wait(attempt)
                    continue
                raise
            unclear = self.note._unknown_count
            try:
                self.commit()
                return result
            except Exception as error:
                if self.note._unknown_count != unclear:
                    raise Unclear("whether the transaction was committed is not known") from error
                self._roll_back_quietly()
                if attempt == retries or not may_be_retried(error):
                    raise
                _wait(attempt)
        raise AssertionError("not reached")

    def _roll_back_quietly(self) -> None:
        try:
            self.rollback()
        except Exception:
            pass  # The error that led here says more.

    def __enter__(self) -> "RecordedConnection":
        return self

    def __exit__(self, kind: "Optional[Type[BaseException]]", error: Any, trace: Any) -> None:
        if kind is None:
            self.commit()
        else:
            self._roll_back_quietly()
        if module_of(self._inner) == "psycopg":  # As its own connections do.
            self.close()

    def __getattr__(self, name: str) -> Any:
        if name in _UNSEEN:
            raise NotImplementedError(f"what '{name}' does to transactions cannot be recorded; use "
                                      "run(), or commit() and rollback()")
        return getattr(self._inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_inner", "note"):
            object.__setattr__(self, name, value)
        else:
            setattr(self._inner, name, value)


# Of drivers' connections: what begins or ends transactions past the recorder.
_UNSEEN = {"transaction", "pipeline", "reset", "tpc_begin", "tpc_prepare", "tpc_commit",
           "tpc_rollback"}


def _wait(attempt: int) -> None:
    time.sleep(min(0.2, 0.001 * 2 ** attempt))


def _value_of(cursor: Any, row: Any) -> Any:
    if row is None:
        return None
    if len(row) == 1:
        return row[0]
    return {column[0]: cell for column, cell in zip(cursor.description, row)}


class Recorder:
    """Writes a history while a program uses a database: a line for each transaction, as it ends. A
    file that a killed program left is complete but for transactions under way.

    `initial` is what every key holds at the start, `initials` what single keys do. `clock` gives the
    client's clock, in any unit; the default, time.monotonic_ns, is the same for all processes of a
    machine. With `append`, several processes can record into one file, which then must exist or be
    begun by one of them. Any number of threads may use one recorder.
    """

    def __init__(self, path: PathLike, *, initial: Any = None,
                 initials: Optional[Mapping[Any, Any]] = None,
                 info: Optional[Mapping[str, str]] = None, append: bool = False,
                 clock: "Callable[[], int]" = time.monotonic_ns) -> None:
        self.path = os.fspath(path)
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: List[Session] = []
        self._prefix = f"{socket.gethostname()}:{os.getpid()} " if append else ""
        flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
        self._file: Optional[int] = os.open(self.path, flags, 0o644)
        lines = [f'{{"key":{_json.name(key)},"initial":{_json.value(value)}}}'
                 for key, value in (initials or {}).items()]
        if not append or os.fstat(self._file).st_size == 0:
            about = {str(name): str(text) for name, text in (info or {}).items()}
            lines.insert(0, f'{{"ouro":1,"initial":{_json.value(initial)},'
                            f'"info":{_json.value(about)}}}')
        self._put("".join(line + "\n" for line in lines))

    def wrap(self, connection: Any, session: Optional[str] = None, *,
             aborted: Optional[Callable[[BaseException], bool]] = None,
             autocommit: Optional[bool] = None) -> RecordedConnection:
        """A DB-API connection that is recorded. REQUIRES: no transaction is open on it.

        `session` is its name in the history. `aborted(error)` may say that an error of a commit means
        for certain that it had no effect, where the recorder does not know the driver; otherwise the
        outcome is unknown. `autocommit` says whether statements outside of BEGIN … COMMIT are
        transactions of their own, where the driver does not tell."""
        return RecordedConnection(connection, self._session(connection, session, aborted, autocommit))

    def attach(self, engine: Any) -> None:
        """Records all connections that a SQLAlchemy engine opens from now on. What statements did is
        noted at `recorder.of(connection)`. REQUIRES: the engine's pool is empty."""
        from ._sqlalchemy import attach

        attach(self, engine)

    def of(self, connection: Any) -> Session:
        """Where to note what is done with a SQLAlchemy Connection or Session."""
        from ._sqlalchemy import session_of

        return session_of(self, connection)

    def _session(self, connection: Any, name: Optional[str],
                 aborted: Optional[Callable[[BaseException], bool]] = None,
                 autocommit: Optional[bool] = None) -> Session:
        with self._lock:
            name = name or f"connection {len(self._sessions) + 1}"
            session = Session(self, self._prefix + name, connection, aborted, autocommit)
            taken = {one._base for one in self._sessions}
            if session._base in taken:
                raise ValueError(f"two connections are called '{session._base}'; sessions need "
                                 "names of their own")
            self._sessions.append(session)
            return session

    def _write(self, session: str, txn: _Txn, status: str) -> None:
        fields: Dict[str, Any] = {"session": _json.name(session)}
        if status != COMMITTED:
            fields["status"] = f'"{status}"'
        fields["invoked"] = txn.invoked
        if txn.committing is not None and txn.committing != txn.invoked:
            fields["committing"] = txn.committing
        if txn.completed is not None:
            fields["completed"] = txn.completed
        fields["ops"] = "[" + ",".join(txn.ops) + "]"
        line = "{" + ",".join(f'"{name}":{text}' for name, text in fields.items()) + "}\n"
        with self._lock:
            self._put(line)

    def _put(self, text: str) -> None:
        self._must_be_open()
        assert self._file is not None
        end = os.fstat(self._file).st_size
        left = memoryview(text.encode())
        try:
            while left:
                left = left[os.write(self._file, left):]
        except OSError:
            if not self._prefix:  # Nobody else writes: what is there stays a history.
                os.ftruncate(self._file, end)
            raise

    def _must_be_open(self) -> None:
        if self._file is None:
            raise ValueError(f"{self.path}: the recorder was closed")

    def close(self) -> None:
        """Writes transactions that are still under way, with an unknown outcome, and closes the
        file."""
        if self._file is None:
            return
        for session in list(self._sessions):
            session._flush()
        with self._lock:
            os.close(self._file)
            self._file = None

    def history(self) -> History:
        """What was recorded of all transactions that have ended."""
        for session in list(self._sessions):
            if session._txn is not None and session._txn.status is not None:
                session._flush()
        return History.read(self.path, format="native")

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
