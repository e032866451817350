"""What database drivers tell of transactions and errors, each in its own way."""
from __future__ import annotations

from typing import Any, Optional

IDLE, OPEN, FAILED = "idle", "open", "failed"

# SQLSTATE classes with which a server refuses a commit: there was no effect. Not among them: lost
# connections (08), shutdowns (57), system errors (58, XX), and 40003, "completion unknown".
_REFUSED = {"0A", "21", "22", "23", "25", "27", "2D", "40", "42", "44", "55", "P0"}
_TRY_AGAIN = {"40001", "40P01"}
_MYSQL_TRY_AGAIN = {1205, 1213, 3572}  # Lock wait timeout, deadlock, NOWAIT.
_MYSQL_ROLLED_BACK = {1213}
_MYSQL_MODULES = ("pymysql", "mysql", "MySQLdb", "mariadb")


def module_of(connection: Any) -> str:
    return type(connection).__module__.split(".")[0]


def state(connection: Any) -> Optional[str]:
    """Whether a transaction is open, as far as the driver knows it without asking the server: IDLE,
    OPEN, FAILED (open, but it can only be rolled back), or None if the driver does not tell."""
    try:
        inside = getattr(connection, "in_transaction", None)  # sqlite3, mysql.connector.
        if isinstance(inside, bool):
            return OPEN if inside else IDLE
        if hasattr(connection, "get_transaction_status"):  # psycopg2.
            number = int(connection.get_transaction_status())
        elif hasattr(connection, "info") and hasattr(connection.info, "transaction_status"):
            number = int(connection.info.transaction_status)  # psycopg.
        elif isinstance(getattr(connection, "server_status", None), int):  # PyMySQL.
            if connection.server_status & 1:
                return OPEN
            # Answers with rows leave it as it was, so only autocommit says that nothing is open.
            return IDLE if connection.server_status & 2 else None
        else:
            return None
    except Exception:  # A connection that is gone tells nothing.
        return None
    return {0: IDLE, 1: OPEN, 2: OPEN, 3: FAILED}.get(number)


def autocommits(connection: Any) -> bool:
    """Whether a statement outside of BEGIN … COMMIT is a transaction of its own, where state()
    does not tell."""
    if module_of(connection) in ("duckdb", "_duckdb"):
        return True
    said = getattr(connection, "autocommit", None)
    if isinstance(said, bool):
        return said
    if hasattr(connection, "get_autocommit"):
        return bool(connection.get_autocommit())
    return False


def sqlstate(error: BaseException) -> Optional[str]:
    for name in ("sqlstate", "pgcode"):
        code = getattr(error, name, None)
        if isinstance(code, str) and len(code) == 5:
            return code
    original = getattr(error, "orig", None)  # SQLAlchemy wraps errors.
    return sqlstate(original) if isinstance(original, BaseException) else None


def _mysql_code(error: BaseException) -> Optional[int]:
    if type(error).__module__.split(".")[0] not in _MYSQL_MODULES:
        return None
    code = getattr(error, "errno", None)
    if isinstance(code, int):
        return code
    first = error.args[0] if error.args else None
    return first if isinstance(first, int) else None


def _sqlite_busy(error: BaseException) -> bool:
    if type(error).__module__ != "sqlite3":
        return False
    name = getattr(error, "sqlite_errorname", "") or ""
    said = str(error)
    return name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or said.startswith(
        ("database is locked", "database table is locked"))


def sqlite_refused(error: BaseException) -> bool:
    """Whether SQLite says for certain that a statement outside of a transaction has no effect: all
    but errors of the disk do."""
    name = getattr(error, "sqlite_errorname", "") or ""
    said = str(error)
    return type(error).__module__ == "sqlite3" and not (
        name.startswith(("SQLITE_IOERR", "SQLITE_FULL")) or "disk" in said)


def rolled_back(error: BaseException) -> bool:
    """Whether the database has rolled back the whole transaction in which this happened."""
    original = getattr(error, "orig", None)
    return _mysql_code(original if isinstance(original, BaseException) else error) in \
        _MYSQL_ROLLED_BACK


def commits_by_begin(connection: Any) -> bool:
    """Whether BEGIN within a transaction commits it. Others refuse it, or go on."""
    return module_of(connection) in _MYSQL_MODULES


def was_refused(error: BaseException) -> bool:
    """Whether this answer to a commit says for certain that it has no effect."""
    original = getattr(error, "orig", None)
    if isinstance(original, BaseException):
        return was_refused(original)
    code = sqlstate(error)
    if code is not None and code != "40003" and code[:2] in _REFUSED:
        return True
    if _mysql_code(error) in _MYSQL_ROLLED_BACK:
        return True
    text = str(error)
    return type(error).__module__.startswith(("duckdb", "_duckdb")) and (
        "ransaction conflict" in text or "Cannot commit" in text or "onstraint" in text)


def may_be_retried(error: BaseException) -> bool:
    """Whether the database asks to try again: a conflict, a deadlock, a lock."""
    original = getattr(error, "orig", None)
    if isinstance(original, BaseException):
        return may_be_retried(original)
    return (sqlstate(error) in _TRY_AGAIN or _mysql_code(error) in _MYSQL_TRY_AGAIN or
            _sqlite_busy(error) or
            (type(error).__module__.startswith(("duckdb", "_duckdb")) and
             "onflict" in str(error)))
