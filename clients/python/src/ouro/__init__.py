"""Decides whether what a database did is what its isolation level promises.

    >>> import ouro
    >>> history = ouro.History([
    ...     {"session": "clerk 1", "ops": [["r", "stock", None], ["w", "stock", 9]]},
    ...     {"session": "clerk 2", "ops": [["r", "stock", None], ["w", "stock", 8]]},
    ... ])
    >>> verdict = ouro.check(history, "si")
    >>> verdict.outcome
    'violated'
    >>> verdict.anomalies[0]["name"]
    'lost update'

`check` decides, `History` is what clients saw, `Recorder` writes such histories while a program uses
a database, and `assert_isolated` is for tests.
"""
from ._library import OuroError, library_path, version
from .history import History
from .recorder import Recorder, RecordedConnection, Session, Unclear
from .testing import assert_isolated
from .verdict import Verdict, certify, check

__version__ = version()
__all__ = [
    "History", "OuroError", "RecordedConnection", "Recorder", "Session", "Unclear", "Verdict",
    "__version__", "assert_isolated", "certify", "check", "library_path", "version",
]
