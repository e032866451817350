"""Values as the native text format writes them (docs/formats.md, Names and values)."""
from __future__ import annotations

import datetime
import decimal
import json
import math
import uuid
from typing import Any

_INFINITIES = {math.inf: '"Infinity"', -math.inf: '"-Infinity"'}


def text(given: str) -> str:
    """A text as JSON. What is no character, such as half of a surrogate pair, is spelled out."""
    return json.dumps(given.encode("utf-8", "backslashreplace").decode())


def _float(number: float) -> str:
    if math.isnan(number):
        return '{"@float":"NaN"}'
    return f'{{"@float":{_INFINITIES.get(number) or repr(float(number))}}}'


def _decimal(number: decimal.Decimal) -> str:
    if not number.is_finite():
        return _float(float(number))
    return format(number, "f")


def scalar(value: Any) -> str:
    """A value as native JSON. Floats are floating-point numbers there, Decimals exact numbers."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return json.dumps(bytes(value).hex())
    if isinstance(value, (datetime.date, datetime.time, datetime.datetime)):
        return json.dumps(value.isoformat())
    if isinstance(value, uuid.UUID):
        return json.dumps(str(value))
    if hasattr(value, "item"):  # A number of numpy.
        return scalar(value.item())
    raise TypeError(f"a value of type {type(value).__name__} cannot be recorded; make it an int, a "
                    "float, a Decimal, a str, a bool, None, a dict of these, or a list")


def value(given: Any) -> str:
    """A value, a row (dict) or a list as native JSON."""
    if isinstance(given, dict):
        if given.keys() == {"@float"}:  # Spelled as the format has it.
            return json.dumps(given)
        return "{" + ",".join(f"{text(str(k))}:{value(v)}" for k, v in given.items()) + "}"
    if isinstance(given, (list, tuple)):
        return "[" + ",".join(value(one) for one in given) + "]"
    return scalar(given)


def name(given: Any) -> str:
    """The name of a key or session: an int or a text. Other values are named by their text; tuples,
    such as keys of several columns, by their parts with '/' between."""
    if isinstance(given, bool) or given is None:
        raise TypeError(f"{given!r} is no name of a key or session; give an int or a str")
    if isinstance(given, int):
        return str(int(given))
    if isinstance(given, str):
        return text(given)
    if isinstance(given, (tuple, list)):
        return text("/".join(str(part) for part in given))
    if hasattr(given, "item"):
        return name(given.item())
    return text(str(given))
