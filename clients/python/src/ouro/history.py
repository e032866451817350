"""Histories: what clients saw a database do."""
from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_size_t, c_void_p
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Union

from . import _json
from ._arrow import Table, address_of_capsule
from ._library import Options, call, lib, take

PathLike = Union[str, "os.PathLike[str]"]


class History:
    """What clients saw a database do, transaction by transaction. It never changes.

    `source` is one of

    - transactions: dicts with the fields of the native format (``session``, ``ops``, and where
      known ``id``, ``status``, ``invoked``, ``completed``, ``start_ts``, ``commit_ts``, ``level``),
      or pairs ``(session, ops)``. An operation is a list such as ``["r", key, value]``, as in
      docs/formats.md. A Python float is a floating-point number of the database, a Decimal an exact
      number.
    - a table with a row for each operation: a mapping of columns (lists, array.array, numpy), a
      pandas DataFrame, a pyarrow Table or RecordBatchReader, a polars DataFrame, or anything else
      that has ``__arrow_c_stream__``. Its columns are ``session``, ``txn``, ``op``, ``key`` and
      ``value``, and where known ``list`` (of reads that return lists), ``status``, ``invoked``,
      ``began``, ``committing``, ``completed``, ``start_ts``, ``commit_ts``, ``level``. Rows of a
      transaction stand together. No Python object is made for a row that comes from Arrow or numpy.

    `initial` is what every key holds at the start, `initials` what single keys do, and `versions`
    the versions of keys, oldest first; they are complete if `complete`.

    Raises OuroError, with the line or row, if it is not understood.
    """

    def __init__(self, source: Any = (), *, initial: Any = None,
                 initials: Optional[Mapping[Any, Any]] = None,
                 versions: Optional[Mapping[Any, Sequence[Any]]] = None,
                 complete: bool = False) -> None:
        self._handle: Optional[int] = None
        builder = call("builder_new")
        try:
            if initial is not None:
                _add_lines(builder, ['{"ouro":1,"initial":' + _json.value(initial) + "}"])
            if _is_table(source):
                _add_table(builder, source)
            else:
                _add_txns(builder, source)
            _add_lines(builder, _key_lines(initials or {}, versions or {}, complete))
        except BaseException:
            lib.ouro_builder_free(builder)
            raise
        self._handle = call("builder_finish", builder)

    @classmethod
    def _of(cls, handle: int) -> "History":
        history = cls.__new__(cls)
        history._handle = handle
        return history

    @classmethod
    def read(cls, path: PathLike, *, format: Optional[str] = None, model: Optional[str] = None,
             threads: Optional[int] = None) -> "History":
        """Reads a file or folder in any format that Ouro reads; the format is detected."""
        options = Options(format=format, model=model, threads=threads)
        return cls._of(call("history_read", os.fsencode(path), options.handle))

    @classmethod
    def parse(cls, text: Union[bytes, str], *, format: Optional[str] = None,
              model: Optional[str] = None, name: str = "input") -> "History":
        """Reads a history from memory. `name` stands in messages for the file."""
        content = text.encode() if isinstance(text, str) else bytes(text)
        options = Options(format=format, model=model, title=name)
        return cls._of(call("history_parse", content, len(content), options.handle))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.ouro_history_free(self._handle)
            self._handle = None

    def write(self, path: PathLike, format: str = "native") -> "List[str]":
        """Writes the history to a file, and returns what the format could not express. "native" and
        "ouro" express everything."""
        warnings = c_void_p()
        call("history_write", self._handle, os.fsencode(path), format.encode(), byref(warnings))
        return take(warnings.value).decode().splitlines()

    def to_bytes(self, format: str = "native") -> bytes:
        """The history in a format, as `write` would write it."""
        length = c_size_t()
        text = call("history_print", self._handle, format.encode(), byref(length), None)
        return take(text, length.value)

    @property
    def transactions(self) -> int:
        """How many transactions there are."""
        return int(lib.ouro_history_transactions(self._handle))

    @property
    def operations(self) -> int:
        """How many operations there are."""
        return int(lib.ouro_history_operations(self._handle))

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return int(lib.ouro_history_sessions(self._handle))

    @property
    def keys(self) -> int:
        """How many keys there are."""
        return int(lib.ouro_history_keys(self._handle))

    def __len__(self) -> int:
        return self.transactions

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return (f"<ouro.History: {self.transactions} transactions, {self.operations} operations, "
                f"{self.sessions} sessions, {self.keys} keys>")


def _is_table(source: Any) -> bool:
    if hasattr(source, "__arrow_c_stream__") or isinstance(source, Mapping):
        return True
    return _is_pandas(source)


def _is_pandas(source: Any) -> bool:
    return hasattr(source, "reset_index") and hasattr(source, "to_dict")


def _add_table(builder: int, source: Any) -> None:
    if _is_pandas(source):
        try:  # By pyarrow, if it is there and can.
            capsule = source.reset_index(drop=True).__arrow_c_stream__()
        except Exception:
            table = _of_pandas(source)  # It must live as long as the call.
            lib.ouro_builder_arrow(builder, table.address())
        else:
            lib.ouro_builder_arrow(builder, address_of_capsule(capsule))
    elif hasattr(source, "__arrow_c_stream__"):
        capsule = source.__arrow_c_stream__()
        lib.ouro_builder_arrow(builder, address_of_capsule(capsule))
    else:
        table = Table(dict(source))
        lib.ouro_builder_arrow(builder, table.address())


def _of_pandas(frame: Any) -> Table:
    """The columns of a DataFrame, where they lie if they are numbers without gaps. A column with
    gaps in pandas' own types is copied, missing values becoming None."""
    columns = {}
    for name in frame.columns:
        series = frame[name]
        values = series.to_numpy() if series.dtype.kind in "iuf" else None
        if values is None or not hasattr(series.dtype, "str") or \
                (series.dtype.kind == "f" and series.isna().any()):
            values = series.astype(object).where(series.notna(), None).tolist()
        columns[str(name)] = values
    return Table(columns)


def _add_lines(builder: int, lines: "Iterable[str]") -> None:
    text = "".join(line + "\n" for line in lines).encode()
    if text:
        lib.ouro_builder_lines(builder, text, len(text))


def _add_txns(builder: int, txns: "Iterable[Any]") -> None:
    lines: List[str] = []
    for txn in txns:
        if isinstance(txn, Mapping):
            lines.append(_json.value(dict(txn)))
        elif isinstance(txn, (tuple, list)) and len(txn) == 2:
            lines.append(_json.value({"session": txn[0], "ops": txn[1]}))
        else:
            raise TypeError(f"expected a dict with 'session' and 'ops', or a pair of both, not "
                            f"{txn!r:.80}")
        if len(lines) == 10_000:
            _add_lines(builder, lines)
            lines.clear()
    _add_lines(builder, lines)


def _key_lines(initials: "Mapping[Any, Any]", versions: "Mapping[Any, Sequence[Any]]",
               complete: bool) -> "List[str]":
    lines = [f'{{"key":{_json.name(key)},"initial":{_json.value(value)}}}'
             for key, value in initials.items()]
    lines += [f'{{"key":{_json.name(key)},"versions":{_json.value(list(order))},'
              f'"complete":{_json.scalar(complete)}}}' for key, order in versions.items()]
    return lines
