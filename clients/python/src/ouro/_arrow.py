"""Columns in memory as a stream of Apache Arrow's C interface, without Arrow.

Numbers of array.array and numpy are handed over where they lie; lists are converted once. Texts
become a dictionary: each different one is stored once.
"""
from __future__ import annotations

import array
import ctypes
import sys
from typing import Any, Dict, List, Optional, Sequence


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


_ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
_ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
_ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
_GetError = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))

Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
    ("release", _ReleaseSchema), ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
    ("release", _ReleaseArray), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [
    ("get_schema", _GetSchema), ("get_next", _GetNext), ("get_last_error", _GetError),
    ("release", _ReleaseStream), ("private_data", ctypes.c_void_p)]


def _zeroed(struct: Any) -> None:
    struct.contents.release = type(struct.contents.release)()


# What the structures of a table begin with; everything belongs to the Table, which outlives them.
_release_schema = _ReleaseSchema(_zeroed)
_release_array = _ReleaseArray(_zeroed)
_release_stream = _ReleaseStream(_zeroed)

# Arrow's names for types of struct and numpy, by size, for signed, unsigned and floating point.
_SIGNED = {1: b"c", 2: b"s", 4: b"i", 8: b"l"}
_UNSIGNED = {1: b"C", 2: b"S", 4: b"I", 8: b"L"}
_FLOAT = {4: b"f", 8: b"g"}


def _format_of(view: memoryview) -> Optional[bytes]:
    kind = view.format.lstrip("@=<" if sys.byteorder == "little" else "@=>")
    if view.ndim != 1 or not view.contiguous or len(kind) != 1:
        return None
    types = _SIGNED if kind in "bhilqn" else _UNSIGNED if kind in "BHILQN" else \
        _FLOAT if kind in "fd" else {}
    return types.get(view.itemsize)


class _Column:
    """The structures of one column, and what keeps its memory."""

    def __init__(self, name: str, format: bytes, length: int, buffers: Sequence[Any],
                 null_count: int = 0, dictionary: "Optional[_Column]" = None,
                 items: "Optional[_Column]" = None) -> None:
        self.keep = [buffers, dictionary, items, name.encode()]
        self.buffers = (ctypes.c_void_p * max(1, len(buffers)))(*map(_address, buffers))
        self.schema = Schema(format=format, name=name.encode(), flags=2, release=_release_schema)
        self.array = Array(length=length, null_count=null_count, n_buffers=len(buffers),
                           buffers=self.buffers, release=_release_array)
        if dictionary is not None:
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
            self.array.dictionary = ctypes.pointer(dictionary.array)
        if items is not None:
            adopt(self, [items])


def adopt(parent: Any, children: "List[_Column]") -> None:
    """Makes the columns the children of a list or of the whole table."""
    count = len(children)
    parent.schemas = (ctypes.POINTER(Schema) * count)(*[ctypes.pointer(c.schema) for c in children])
    parent.arrays = (ctypes.POINTER(Array) * count)(*[ctypes.pointer(c.array) for c in children])
    parent.schema.n_children = parent.array.n_children = count
    parent.schema.children = parent.schemas
    parent.array.children = parent.arrays


def _address(buffer: Any) -> Optional[int]:
    if buffer is None:
        return None
    if isinstance(buffer, memoryview) and buffer.readonly:
        # ctypes asks for writable memory; the address of what is only read takes a detour.
        return _address_of_readonly(buffer)
    if len(memoryview(buffer)) == 0:
        return None
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))


def _address_of_readonly(view: memoryview) -> Optional[int]:
    interface = getattr(view.obj, "__array_interface__", None)
    if interface is not None and view.nbytes:
        return int(interface["data"][0])
    return None


def _validity(given: Sequence[Any]) -> "tuple[Optional[bytearray], int]":
    nulls = sum(1 for one in given if one is None)
    if nulls == 0:
        return None, 0
    bits = bytearray((len(given) + 7) // 8)
    for at, one in enumerate(given):
        if one is not None:
            bits[at >> 3] |= 1 << (at & 7)
    return bits, nulls


def _texts(name: str, texts: "List[str]") -> _Column:
    data = bytearray()
    ends = array.array("q", [0])
    for text in texts:
        data += text.encode("utf-8", "backslashreplace")
        ends.append(len(data))
    return _Column(name, b"U", len(texts), [None, ends, data or bytearray(1)])


def _of_objects(name: str, given: Sequence[Any]) -> _Column:
    """Of a list or another sequence of Python objects: all integers, all texts, all floats, all
    booleans, or all lists; None anywhere."""
    valid, nulls = _validity(given)
    kinds = {type(one) for one in given} - {type(None)}
    if not kinds:
        return _Column(name, b"n", len(given), [], len(given))
    if all(issubclass(kind, bool) for kind in kinds) and kinds:
        bits = bytearray((len(given) + 7) // 8 or 1)
        for at, one in enumerate(given):
            if one:
                bits[at >> 3] |= 1 << (at & 7)
        return _Column(name, b"b", len(given), [valid, bits], nulls)
    if all(issubclass(kind, str) for kind in kinds):
        numbers: Dict[str, int] = {}
        codes = array.array("i", [0 if one is None else numbers.setdefault(one, len(numbers))
                                  for one in given])
        return _Column(name, b"i", len(given), [valid, codes], nulls, _texts(name, list(numbers)))
    if all(issubclass(kind, (list, tuple)) for kind in kinds):
        ends = array.array("q", [0])
        items: List[Any] = []
        for one in given:
            items.extend(one or ())
            ends.append(len(items))
        return _Column(name, b"+L", len(given), [valid, ends], nulls,
                       items=column(name, items))
    floats = any(issubclass(kind, float) for kind in kinds)
    for word, type_ in (("floats", float), ("booleans", bool)):
        matching = [issubclass(kind, type_) for kind in kinds]
        if any(matching) and not all(matching):
            raise TypeError(f"column '{name}' has {word} and other values; give one kind of values "
                            "in a column, or give the history as dicts")
    try:
        numbers_of = array.array("d" if floats else "q", [0 if one is None else one
                                                          for one in given])
    except (TypeError, OverflowError) as error:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"column '{name}' has values of the types {names} ({error}); give one kind "
                        "of values in a column, or give the history as dicts") from None
    return _Column(name, b"g" if floats else b"l", len(given), [valid, numbers_of], nulls)


def column(name: str, given: Any) -> _Column:
    """A column of anything that is a sequence: of numpy and array.array without a copy."""
    try:
        view = memoryview(given)
        format = _format_of(view)
    except (TypeError, ValueError):
        view, format = None, None
    if view is not None and format is not None:
        if view.readonly and _address_of_readonly(view) is None:
            given = array.array(view.format.lstrip("@=<>"), view)
            view = memoryview(given)
        return _Column(name, format, len(view), [None, view])
    if hasattr(given, "tolist"):
        given = given.tolist()
    return _of_objects(name, given if isinstance(given, (list, tuple)) else list(given))


class Table:
    """Columns as one stream with one batch; `stream` is what a consumer takes."""

    def __init__(self, columns: "Dict[str, Any]") -> None:
        self.columns = [column(name, given) for name, given in columns.items()]
        lengths = {one.array.length for one in self.columns}
        if len(lengths) > 1:
            raise ValueError("the columns have different lengths: " + ", ".join(
                f"{one.schema.name.decode()} {one.array.length}" for one in self.columns))
        self.buffers = (ctypes.c_void_p * 1)(None)
        self.schema = Schema(format=b"+s", name=b"", release=_release_schema)
        self.array = Array(length=lengths.pop() if lengths else 0, n_buffers=1,
                           buffers=self.buffers, release=_release_array)
        adopt(self, self.columns)
        self.done = False
        self._callbacks = (_GetSchema(self._get_schema), _GetNext(self._get_next),
                           _GetError(lambda stream: None))
        self.stream = Stream(get_schema=self._callbacks[0], get_next=self._callbacks[1],
                             get_last_error=self._callbacks[2], release=_release_stream)

    def _get_schema(self, stream: Any, out: Any) -> int:
        ctypes.memmove(out, ctypes.byref(self.schema), ctypes.sizeof(Schema))
        return 0

    def _get_next(self, stream: Any, out: Any) -> int:
        if self.done:
            ctypes.memset(out, 0, ctypes.sizeof(Array))
        else:
            ctypes.memmove(out, ctypes.byref(self.array), ctypes.sizeof(Array))
        self.done = True
        return 0

    def address(self) -> int:
        return ctypes.addressof(self.stream)


def address_of_capsule(capsule: Any) -> int:
    """Where the stream in a capsule lies that __arrow_c_stream__() gave."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, b"arrow_array_stream"))
