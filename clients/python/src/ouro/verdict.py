"""Checks and what they found."""
from __future__ import annotations

import html
import json
import os
import threading
from ctypes import byref, c_size_t, c_void_p
from typing import Any, Dict, List, Optional, Sequence, Union

from ._library import OUTCOMES, Options, call, lib, take
from .history import History, PathLike

Level = Union[str, Sequence[str]]


class Verdict:
    """What a check found. In a notebook it shows itself as the HTML report.

    True in a condition if, and only if, all levels hold. An undecided verdict is not true.
    """

    def __init__(self, handle: int) -> None:
        self._handle: Optional[int] = handle
        self._json: Optional[Dict[str, Any]] = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.ouro_verdict_free(self._handle)
            self._handle = None

    @property
    def outcome(self) -> str:
        """"holds", "violated" or "undecided": of several levels the worst."""
        return OUTCOMES[lib.ouro_verdict_outcome(self._handle)]

    @property
    def holds(self) -> bool:
        """Whether all levels hold."""
        return self.outcome == "holds"

    @property
    def violated(self) -> bool:
        """Whether a level is violated."""
        return self.outcome == "violated"

    @property
    def undecided(self) -> bool:
        """Whether a limit was reached before it was known; see `reason`."""
        return self.outcome == "undecided"

    def __bool__(self) -> bool:
        return self.holds

    @property
    def levels(self) -> "Dict[str, str]":
        """The outcome of each level that was asked for."""
        return {lib.ouro_verdict_level(self._handle, i).decode():
                OUTCOMES[lib.ouro_verdict_level_outcome(self._handle, i)]
                for i in range(lib.ouro_verdict_levels(self._handle))}

    def to_dict(self) -> "Dict[str, Any]":
        """What 'ouro check --json' prints, as docs/json.md describes it."""
        if self._json is None:
            self._json = json.loads(self.to_json())
        return self._json

    def to_json(self) -> str:
        """The same as text."""
        return take(call("verdict_json", self._handle)).decode()

    @property
    def anomalies(self) -> "List[Dict[str, Any]]":
        """The stories of what is wrong, worst first, as in docs/json.md."""
        found: List[Dict[str, Any]] = self.to_dict().get("anomalies", [])
        return found

    @property
    def strongest(self) -> "List[str]":
        """The strongest levels that hold, as far as that took little work to find out."""
        found: List[str] = self.to_dict().get("strongest", [])
        return found

    @property
    def reason(self) -> Optional[str]:
        """If a single level is undecided: which limit was reached."""
        return self.to_dict().get("reason")

    @property
    def headline(self) -> str:
        """One line: "bank.jsonl: VIOLATED si (lost update)"."""
        return take(call("verdict_headline", self._handle)).decode().rstrip("\n")

    @property
    def text(self) -> str:
        """What 'ouro check' prints: the headline, the stories and counts."""
        return take(call("verdict_text", self._handle)).decode()

    def to_html(self) -> str:
        """A page with the same in words and pictures, which needs nothing else."""
        return take(call("verdict_html", self._handle)).decode()

    def write_html(self, path: PathLike) -> None:
        """Writes that page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_html())

    def counterexample(self) -> Optional[History]:
        """The first story as a history of its own; None if there is none."""
        handle = call("verdict_counterexample", self._handle)
        return History._of(handle) if handle else None

    def certificate(self, level: Optional[str] = None) -> bytes:
        """The proof of the verdict, or of one level of several, for `certify` and 'ouro certify'."""
        names = list(self.levels)
        number = 0 if level is None else names.index(level)
        length = c_size_t()
        proof = call("verdict_certificate", self._handle, number, byref(length))
        return take(proof, length.value)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<ouro.Verdict: {self.headline}>"

    def _repr_html_(self) -> str:
        page = html.escape(self.to_html(), quote=True)
        return (f'<iframe sandbox="allow-scripts" style="width:100%;height:720px;border:0" '
                f'title="{html.escape(self.headline, quote=True)}" srcdoc="{page}"></iframe>')


def _history_of(given: Any, format: Optional[str], model: Optional[str],
                threads: Optional[int]) -> History:
    if isinstance(given, History):
        return given
    if isinstance(given, (str, os.PathLike)):
        return History.read(given, format=format, model=model, threads=threads)
    return History(given)


def _interruptible(history: History, options: Options) -> int:
    """Checks on a thread of its own, so that Ctrl-C ends the check instead of waiting for it."""
    outcome: "List[Any]" = []

    def work() -> None:
        try:
            outcome.append(call("check", history._handle, options.handle))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=work, name="ouro-check")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.2)
    except BaseException:
        options.cancel()
        thread.join()
        if outcome and isinstance(outcome[0], int):
            lib.ouro_verdict_free(outcome[0])
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return int(outcome[0])


def check(history: Any, level: Optional[Level] = None, *, evidence: Optional[str] = None,
          time_limit: Optional[float] = None, memory_limit: Optional[float] = None,
          threads: Optional[int] = None, clock_drift: Optional[int] = None,
          examples: Optional[int] = None, expect: Optional[str] = None,
          explain: Optional[str] = None, title: Optional[str] = None,
          format: Optional[str] = None, model: Optional[str] = None) -> Verdict:
    """Decides whether `history` satisfies `level`, and explains why not.

    `history` is a History, a path, or anything that History() takes. `level` is a name ("si"), a
    list of names, or "all"; without it that of 'ouro check': serializable, unless the history asks
    for another one.

    `evidence` is "observed" (what was read and written alone), "versions" or "timestamps".
    `time_limit` is in seconds, `memory_limit` in 10^6 bytes of the whole process, `clock_drift` in
    the unit of the history's clocks. `examples` is how many stories of each name to tell, `explain`
    "weakest" (the weakest violated levels), "all" or "nothing", `expect` the text of an expectation
    (docs/ci.md). `format` and `model` are for reading a path.

    A limit that is reached makes the verdict undecided. Ctrl-C ends the check. Other threads of the
    program run on meanwhile. Raises OuroError if the history cannot be read or checked.
    """
    options = Options(level=level, evidence=evidence, time_limit=time_limit,
                      memory_limit=memory_limit, threads=threads, clock_drift=clock_drift,
                      examples=examples, expect=expect, explain=explain, title=title)
    checked = _history_of(history, format, model, threads)
    if threading.current_thread() is threading.main_thread():
        return Verdict(_interruptible(checked, options))
    return Verdict(call("check", checked._handle, options.handle))


def certify(history: Any, certificate: bytes) -> Optional[str]:
    """Re-checks a certificate against a history. Returns None if it is accepted, else why it is not.
    Raises OuroError if it cannot be read."""
    reason = c_void_p()
    checked = _history_of(history, None, None, None)
    accepted = call("certify", checked._handle, certificate, len(certificate), byref(reason))
    said = take(reason.value).decode()
    return None if accepted == 1 else said or "rejected"
