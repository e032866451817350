import array

import pytest

import ouro

COLUMNS = {
    "session": ["shop", "clerk 1", "clerk 1", "clerk 2", "clerk 2"],
    "txn": [1, 2, 2, 3, 3],
    "op": ["w", "r", "w", "r", "w"],
    "key": ["stock"] * 5,
    "value": [10, 10, 9, 10, 8],
}
SAME = [
    {"session": "shop", "id": 1, "ops": [["w", "stock", 10]]},
    {"session": "clerk 1", "id": 2, "ops": [["r", "stock", 10], ["w", "stock", 9]]},
    {"session": "clerk 2", "id": 3, "ops": [["r", "stock", 10], ["w", "stock", 8]]},
]


def with_(**changed):
    return {**COLUMNS, **changed}


def test_columns_are_a_history():
    assert ouro.History(COLUMNS).to_bytes() == ouro.History(SAME).to_bytes()
    numbers = with_(value=array.array("i", [10, 10, 9, 10, 8]), txn=array.array("Q", [1, 2, 2, 3, 3]))
    assert ouro.History(numbers).to_bytes() == ouro.History(SAME).to_bytes()


def test_attributes_of_transactions():
    history = ouro.History(with_(
        status=[None, "aborted", "aborted", "unknown", "unknown"], level=[None] * 3 + ["si"] * 2,
        invoked=[5, 2**61, 2**61, None, None], completed=[7, 2**62, 2**62, None, None],
        start_ts=[1, 2, 2, 3, 3], commit_ts=[1, None, None, 4, 4]))
    assert history.to_bytes() == ouro.History([
        {**SAME[0], "invoked": 5, "completed": 7, "start_ts": 1, "commit_ts": 1},
        {**SAME[1], "status": "aborted", "invoked": 2**61, "completed": 2**62, "start_ts": 2},
        {**SAME[2], "status": "unknown", "level": "si", "start_ts": 3, "commit_ts": 4}]).to_bytes()


def test_lists_and_absent_values():
    history = ouro.History({
        "session": [1, 1, 2, 2, 3], "txn": ["a", "a", "b", "b", "c"],
        "op": ["append", "append", "r", "read", None], "key": ["l", "l", "l", "x", None],
        "value": [1, 2, None, None, None], "list": [None, None, [1, 2], None, None]})
    assert history.to_bytes() == ouro.History([
        {"session": 1, "id": "a", "ops": [["append", "l", 1], ["append", "l", 2]]},
        {"session": 2, "id": "b", "ops": [["r", "l", [1, 2]], ["r", "x", None]]},
        {"session": 3, "id": "c", "ops": []}]).to_bytes()


def test_counters_sets_and_other_values():
    history = ouro.History({"session": [1, 2, 2], "txn": [1, 2, 3], "op": ["inc", "add", "d"],
                            "key": ["c", "s", "x"], "value": [5, 7, None]})
    assert b'["inc","c",5]' in history.to_bytes() and b'["add","s",7]' in history.to_bytes()
    for values in (["a", "b", None, "a", "c"], [True, False, None, True, True],
                   [0.5, 1.5, None, 0.5, 2.5]):
        ouro.History(with_(value=values, op=["w"] * 5))


@pytest.mark.parametrize("changed, message", [
    ({"ops": ["r"] * 5}, "unknown column 'ops'; did you mean 'op'"),
    ({"op": ["w", "r", "x", "r", "w"]}, "row 2: unknown operation 'x'"),
    ({"txn": [1, 2, 3, 2, 3]}, "row 3: the transaction was there before"),
    ({"txn": [1, 2, None, 3, 3]}, "row 2: expected a txn"),
    ({"key": [1.5] * 5}, "row 0: expected a key"),
    ({"status": ["committed", "aborted", None, None, None]}, "row 2: 'status' differs"),
    ({"status": ["done"] * 5}, "row 0: expected 'status'"),
    ({"invoked": ["x"] * 5}, "expected 'invoked' to be a signed integer"),
    ({"invoked": [9] * 5, "completed": [8] * 5}, "completed"),
    ({"level": ["nothing"] * 5}, "expected 'level' to name a level"),
    ({"list": [[1]] * 5}, "row 0: only a read may have a list"),
    ({"value": [[1]] * 5}, "name its column 'list'"),
])
def test_errors_name_the_row(changed, message):
    with pytest.raises(ouro.OuroError, match=message):
        ouro.History(with_(**changed))


def test_columns_must_fit():
    with pytest.raises(ValueError, match="different lengths"):
        ouro.History(with_(value=[1]))
    with pytest.raises(TypeError, match="one kind"):
        ouro.History(with_(value=[1, "a", 2, 3, 4]))
    with pytest.raises(TypeError, match="booleans and other values"):
        ouro.History(with_(value=[1, True, 2, 3, 4]))
    with pytest.raises(ouro.OuroError, match="no column 'key'"):
        ouro.History({name: column for name, column in COLUMNS.items() if name != "key"})


def test_pyarrow():
    pa = pytest.importorskip("pyarrow")
    table = pa.table(COLUMNS)
    assert ouro.History(table).to_bytes() == ouro.History(SAME).to_bytes()
    encoded = table.set_column(2, "op", table["op"].dictionary_encode())
    assert ouro.History(encoded).to_bytes() == ouro.History(SAME).to_bytes()
    cut = pa.concat_tables([table.slice(0, 2), table.slice(2)])  # A transaction in two batches.
    assert ouro.History(cut).to_bytes() == ouro.History(SAME).to_bytes()
    assert ouro.History(cut.to_reader()).transactions == 3
    lists = pa.table({"session": [1], "txn": [1], "op": ["r"], "key": ["l"], "list": [["a", "b"]]})
    assert b'["r","l",["a","b"]]' in ouro.History(lists).to_bytes()
    with pytest.raises(ouro.OuroError, match="column 'value': type"):
        ouro.History(pa.table(with_(value=pa.array([b"x"] * 5, pa.binary()))))


def test_pandas():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(COLUMNS)
    assert ouro.History(frame).to_bytes() == ouro.History(SAME).to_bytes()
    gaps = frame.assign(value=pd.array([None, 10, 9, 10, 8], dtype="Int64"))
    assert b'["w","stock",null]' in ouro.History(gaps).to_bytes()
    odd = frame[::-1].sort_values("txn", kind="stable").astype({"op": "category"})
    assert ouro.History(odd).transactions == 3
