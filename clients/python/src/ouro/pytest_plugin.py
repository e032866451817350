"""For pytest, which finds this plugin by itself once `ouro` is installed.

- the fixture `assert_isolated`, which is `ouro.assert_isolated` and with --ouro-reports=FOLDER
  leaves the HTML report and the history of a failed test in that folder;
- the fixture `ouro_recorder`, a Recorder whose history is in the test's temporary folder.
"""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

from .recorder import Recorder
from .testing import IsolationError
from .testing import assert_isolated as _assert_isolated
from .verdict import Verdict, _history_of


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("ouro", "isolation of databases")
    group.addoption("--ouro-reports", metavar="FOLDER", default=None,
                    help="leave report and history of tests whose history is not isolated here")


@pytest.fixture
def assert_isolated(request: Any) -> "Callable[..., Verdict]":
    """`ouro.assert_isolated`, with reports if --ouro-reports asks for them."""
    folder = request.config.getoption("--ouro-reports")

    def checked(history: Any, level: Any = "serializable", **options: Any) -> Verdict:
        __tracebackhide__ = True
        if folder is None:
            return _assert_isolated(history, level, **options)
        how = {name: options.pop(name, None) for name in ("format", "model")}
        known = _history_of(history, how["format"], how["model"], options.get("threads"))
        try:
            return _assert_isolated(known, level, **options)
        except IsolationError as error:
            Path(folder).mkdir(parents=True, exist_ok=True)
            stem = re.sub(r"[^\w.-]+", "_", request.node.nodeid)[-150:]
            error.verdict.write_html(Path(folder) / f"{stem}.html")
            known.write(Path(folder) / f"{stem}.jsonl")
            raise

    return checked


@pytest.fixture
def ouro_recorder(tmp_path: Path) -> "Iterator[Recorder]":
    """A Recorder that writes to history.jsonl in the test's temporary folder."""
    with Recorder(tmp_path / "history.jsonl") as recorder:
        yield recorder
