"""The functions of libouro_c (ouro/c.h), found and declared for ctypes."""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Optional

HOLDS, VIOLATED, UNDECIDED = 0, 1, 2
OUTCOMES = {HOLDS: "holds", VIOLATED: "violated", UNDECIDED: "undecided"}
_NAME = "libouro_c.so.1"


class OuroError(Exception):
    """What could not be read, checked or written, and why.

    `what` is the reason; `file`, `line` (from 1) and `byte` (from 0) are the place, as far as there
    is one; `internal` is true if it is a bug of Ouro.
    """

    def __init__(self, text: str, what: str = "", file: Optional[str] = None,
                 line: Optional[int] = None, byte: Optional[int] = None,
                 internal: bool = False) -> None:
        super().__init__(text)
        self.what = what or text
        self.file = file
        self.line = line
        self.byte = byte
        self.internal = internal


def _candidates() -> "list[str]":
    """Where the library may be, first the likeliest: what OURO_LIBRARY says, beside this file, and
    where the system has it."""
    said = os.environ.get("OURO_LIBRARY")
    if said:
        return [said]
    here = Path(__file__).resolve().parent
    found = [str(path) for path in sorted(here.glob("libouro_c.so*"))]
    return found + [_NAME]


def _load() -> ctypes.CDLL:
    candidates = _candidates()
    for path in candidates:
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            reason = error
    raise ImportError(
        f"the library of Ouro cannot be loaded ({reason}); install it with 'make install', or set "
        f"OURO_LIBRARY to the path of {_NAME}")


lib = _load()

_error = POINTER(c_void_p)
# Name: what it returns, and what it takes. Texts that the caller owns are c_void_p, as ctypes would
# lose the address of a c_char_p.
_FUNCTIONS: "dict[str, tuple[Any, list[Any]]]" = {
    "version": (c_char_p, []),
    "free": (None, [c_void_p]),
    "error_kind": (c_int, [c_void_p]),
    "error_text": (c_char_p, [c_void_p]),
    "error_what": (c_char_p, [c_void_p]),
    "error_file": (c_char_p, [c_void_p]),
    "error_line": (c_int64, [c_void_p]),
    "error_byte": (c_int64, [c_void_p]),
    "error_free": (None, [c_void_p]),
    "options_new": (c_void_p, [_error]),
    "options_free": (None, [c_void_p]),
    "options_set": (c_int, [c_void_p, c_char_p, c_char_p, _error]),
    "options_cancel": (None, [c_void_p]),
    "history_read": (c_void_p, [c_char_p, c_void_p, _error]),
    "history_parse": (c_void_p, [c_char_p, c_size_t, c_void_p, _error]),
    "history_free": (None, [c_void_p]),
    "history_transactions": (c_uint64, [c_void_p]),
    "history_operations": (c_uint64, [c_void_p]),
    "history_sessions": (c_uint64, [c_void_p]),
    "history_keys": (c_uint64, [c_void_p]),
    "history_write": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(c_void_p), _error]),
    "history_print": (c_void_p,
                      [c_void_p, c_char_p, POINTER(c_size_t), POINTER(c_void_p), _error]),
    "builder_new": (c_void_p, [_error]),
    "builder_free": (None, [c_void_p]),
    "builder_finish": (c_void_p, [c_void_p, _error]),
    "builder_lines": (c_int, [c_void_p, c_char_p, c_size_t]),
    "builder_arrow": (c_int, [c_void_p, c_void_p]),
    "check": (c_void_p, [c_void_p, c_void_p, _error]),
    "verdict_free": (None, [c_void_p]),
    "verdict_outcome": (c_int, [c_void_p]),
    "verdict_levels": (c_size_t, [c_void_p]),
    "verdict_level": (c_char_p, [c_void_p, c_size_t]),
    "verdict_level_outcome": (c_int, [c_void_p, c_size_t]),
    "verdict_headline": (c_void_p, [c_void_p, _error]),
    "verdict_text": (c_void_p, [c_void_p, _error]),
    "verdict_json": (c_void_p, [c_void_p, _error]),
    "verdict_html": (c_void_p, [c_void_p, _error]),
    "verdict_counterexample": (c_void_p, [c_void_p, _error]),
    "verdict_certificate": (c_void_p, [c_void_p, c_size_t, POINTER(c_size_t), _error]),
    "certify": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p), _error]),
}
for _function, (_returns, _takes) in _FUNCTIONS.items():
    getattr(lib, "ouro_" + _function).restype = _returns
    getattr(lib, "ouro_" + _function).argtypes = _takes


def version() -> str:
    """The version of the library: "0.1.0"."""
    return str(lib.ouro_version().decode())


def library_path() -> str:
    """The file that the library was loaded from."""
    return str(lib._name)


def _to_exception(error: c_void_p) -> Exception:
    try:
        kind = lib.ouro_error_kind(error)
        text = lib.ouro_error_text(error).decode(errors="replace")
        what = lib.ouro_error_what(error).decode(errors="replace")
        file = lib.ouro_error_file(error).decode(errors="replace")
        line = lib.ouro_error_line(error)
        byte = lib.ouro_error_byte(error)
    finally:
        lib.ouro_error_free(error)
    if kind == 2:
        return MemoryError(text)
    return OuroError(text, what, file or None, line or None, None if byte < 0 else byte,
                     kind == 3)


def call(name: str, *arguments: Any) -> Any:
    """Calls a function whose last parameter is an error; raises that if there is one."""
    error = c_void_p()
    result = getattr(lib, "ouro_" + name)(*arguments, byref(error))
    if error.value:
        if result and name == "check":  # Nothing returns a handle and an error; but if so:
            lib.ouro_verdict_free(result)
        raise _to_exception(error)
    return result


def take(address: Optional[int], length: Optional[int] = None) -> bytes:
    """The bytes of a text that the library gave away; gives it back."""
    if not address:
        return b""
    try:
        return ctypes.string_at(address) if length is None else ctypes.string_at(address, length)
    finally:
        lib.ouro_free(address)


class Options:
    """Options for reading and checking, with the names of the command line."""

    def __init__(self, **options: Any) -> None:
        self.handle: Optional[int] = call("options_new")
        for name, value in options.items():
            if value is not None:
                call("options_set", self.handle, name.replace("_", "-").encode(),
                     _spelled(value).encode())

    def cancel(self) -> None:
        lib.ouro_options_cancel(self.handle)

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            lib.ouro_options_free(self.handle)
            self.handle = None


def _spelled(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(str(one) for one in value)
    return str(value)
