"""Which statements of SQL begin and end transactions."""
from __future__ import annotations

import re
from typing import NamedTuple, Optional

_NOISE = re.compile(r"\A(?:\s+|;|--[^\n]*(?:\n|\Z)|/\*.*?\*/)+", re.S)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.S)
_SEVERAL = re.compile(
    r";\s*(begin|start\s+transaction|commit|end|rollback|abort|savepoint|release)\b", re.I)
_NAME = r"[\"'`\[]?(?P<name>[^\s\"'`\];]+)"
_FORMS = [(kind, re.compile(pattern, re.I | re.S)) for kind, pattern in [
    ("begin", r"(begin|start\s+transaction)\b"),
    ("back to", r"(?:rollback|abort)(?:\s+(?:work|transaction))?\s+to\s+(?:savepoint\s+)?" + _NAME),
    ("prepare", r"(?:prepare\s+transaction|xa\s+prepare)\b"),
    ("other", r"(?:commit|rollback)\s+prepared\b"),
    ("rollback", r"(rollback|abort)\b"),
    ("commit", r"(commit|end)\b"),
    ("savepoint", r"savepoint\s+" + _NAME),
    ("release", r"release\s+(?:savepoint\s+)?" + _NAME),
]]


class Statement(NamedTuple):
    kind: str  # begin, commit, rollback, prepare, savepoint, back to, release, other.
    name: Optional[str] = None  # Of the savepoint.


def classify(sql: object) -> Statement:
    """What a statement does to the transaction. Raises ValueError if it is several statements of
    which a later one begins or ends a transaction."""
    text = sql.decode(errors="replace") if isinstance(sql, bytes) else str(sql)
    text = _NOISE.sub("", text)
    if ";" in text and _SEVERAL.search(_QUOTED.sub("''", text)):
        raise ValueError("several statements in one call begin or end transactions; execute one "
                         "after the other, so that what happened can be recorded")
    for kind, form in _FORMS:
        match = form.match(text)
        if match:
            return Statement(kind, match.groupdict().get("name"))
    return Statement("other")
