"""For tests: `assert_isolated`."""
from __future__ import annotations

from typing import Any

from .verdict import Level, Verdict, check


def assert_isolated(history: Any, level: Level = "serializable", **options: Any) -> Verdict:
    """Fails, with the story, unless `history` satisfies `level`. A verdict that is undecided fails,
    too. Returns the verdict. `options` are those of `ouro.check`."""
    __tracebackhide__ = True
    verdict = check(history, level, **options)
    if not verdict.holds:
        raise IsolationError(verdict)
    return verdict


class IsolationError(AssertionError):
    """The history does not satisfy the level; `verdict` says why."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.text)
        self.verdict = verdict
