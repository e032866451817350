"""Records what goes through a SQLAlchemy engine (1.4 or 2), whatever its driver."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Tuple

if TYPE_CHECKING:
    from .recorder import Recorder, Session

_NAME = "_ouro_sessions"


def _raw(connection: Any) -> Any:
    """The driver's own connection."""
    inner = getattr(connection, "dbapi_connection", None)
    return connection if inner is None else inner


def attach(recorder: "Recorder", engine: Any) -> None:
    """Puts itself around the calls by which the dialect of `engine` reaches the driver."""
    engine = getattr(engine, "sync_engine", engine)
    dialect = engine.dialect
    if hasattr(dialect, _NAME):
        raise ValueError("the engine is recorded already")
    sessions: "Dict[int, Tuple[Any, Session]]" = {}
    setattr(dialect, _NAME, (recorder, sessions))

    def session(connection: Any) -> "Session":
        raw = _raw(connection)
        known = sessions.get(id(raw))
        if known is None:
            known = sessions[id(raw)] = (raw, recorder._session(raw, None))
        return known[1]

    def around_end(name: str) -> None:
        inner = getattr(dialect, "do_" + name)

        def end(connection: Any) -> Any:
            return getattr(session(connection), name)(lambda: inner(connection))

        setattr(dialect, "do_" + name, end)

    def around_execute(name: str) -> None:
        inner = getattr(dialect, name)

        def execute(cursor: Any, statement: Any, *arguments: Any, **named: Any) -> Any:
            context = named.get("context", arguments[-1] if arguments else None)
            owner = getattr(context, "root_connection", None)
            if owner is None:
                return inner(cursor, statement, *arguments, **named)
            return session(owner.connection).statement(
                statement, lambda: inner(cursor, statement, *arguments, **named))

        setattr(dialect, name, execute)

    def around_close(name: str) -> None:
        inner = getattr(dialect, name)

        def close(connection: Any) -> Any:
            try:
                return inner(connection)
            finally:
                known = sessions.pop(id(_raw(connection)), None)
                if known is not None:
                    known[1].close()

        setattr(dialect, name, close)

    for name in ("commit", "rollback"):
        around_end(name)
    for name in ("do_execute", "do_executemany", "do_execute_no_params"):
        around_execute(name)
    for name in ("do_close", "do_terminate"):
        if hasattr(dialect, name):
            around_close(name)


def session_of(recorder: "Recorder", connection: Any) -> "Session":
    """The session of a Connection, or of an ORM Session's connection."""
    if callable(getattr(connection, "connection", None)):  # An ORM Session.
        connection = connection.connection()
    attached = getattr(connection.dialect, _NAME, None)
    if attached is None or attached[0] is not recorder:
        raise ValueError("the engine of this connection is not recorded; call recorder.attach(engine)")
    raw = _raw(connection.connection)
    known = attached[1].get(id(raw))
    if known is None:
        known = attached[1][id(raw)] = (raw, recorder._session(raw, None))
    session: "Session" = known[1]
    return session
