import importlib.metadata
import json
import math
import os
import subprocess
import threading
from decimal import Decimal

import pytest

import ouro

LOST_UPDATE = [
    {"session": "shop", "ops": [["w", "stock", 10]]},
    {"session": "clerk 1", "ops": [["r", "stock", 10], ["w", "stock", 9]]},
    {"session": "clerk 2", "ops": [["r", "stock", 10], ["w", "stock", 8]]},
]


def test_a_verdict_tells_what_was_found():
    verdict = ouro.check(LOST_UPDATE, "si", title="the shop")
    assert verdict.outcome == "violated" and verdict.violated and not verdict
    assert verdict.levels == {"si": "violated"}
    assert verdict.headline == "the shop: VIOLATED si (lost update)"
    assert "one update is lost" in verdict.text
    assert verdict.anomalies[0]["id"] == "lost-update"
    assert verdict.strongest == ["prefix"]
    assert verdict.to_dict()["schema"] == 1
    assert json.loads(verdict.to_json()) == verdict.to_dict()
    assert verdict.to_html().startswith("<!doctype html>")
    assert verdict._repr_html_().startswith("<iframe sandbox")
    assert "the shop: VIOLATED" in repr(verdict)
    assert verdict.counterexample().transactions == 3


def test_all_levels_and_several():
    verdict = ouro.check(LOST_UPDATE, ["causal", "si"])
    assert verdict.levels == {"causal": "holds", "si": "violated"}
    assert len(ouro.check(LOST_UPDATE, "all").levels) > 10
    assert ouro.check(LOST_UPDATE, "causal").holds
    assert ouro.check(LOST_UPDATE).levels == {"serializable": "violated"}


def test_paths_and_bytes(tmp_path):
    history = ouro.History(LOST_UPDATE)
    for name, format in [("h.jsonl", "native"), ("h.ouro", "ouro"), ("h.jsonl.gz", "native")]:
        assert history.write(tmp_path / name, format) == []
        assert ouro.check(tmp_path / name, "si").violated
        assert ouro.check(str(tmp_path / name), "causal").holds
    assert ouro.History.parse(history.to_bytes("ouro")).to_bytes() == history.to_bytes()
    assert ouro.History.read(tmp_path / "h.ouro").operations == 5


def test_certificates():
    verdict = ouro.check(LOST_UPDATE, ["causal", "si"])
    for level in verdict.levels:
        assert ouro.certify(LOST_UPDATE, verdict.certificate(level)) is None
    assert "history" in ouro.certify(LOST_UPDATE[:2], verdict.certificate())
    with pytest.raises(ouro.OuroError):
        ouro.certify(LOST_UPDATE, b"nonsense")


def test_errors_say_where():
    with pytest.raises(ouro.OuroError) as caught:
        ouro.History.parse('{"session":1,"ops":[]}\n{"session":1,"op":[]}\n', name="h")
    assert str(caught.value) == "h:2: unknown field 'op'; did you mean 'ops'?"
    assert (caught.value.file, caught.value.line) == ("h", 2)
    with pytest.raises(ouro.OuroError, match="did you mean 'serializable'"):
        ouro.check(LOST_UPDATE, "serialisable")
    with pytest.raises(ouro.OuroError, match="/nowhere/h.jsonl"):
        ouro.check("/nowhere/h.jsonl")
    with pytest.raises(ouro.OuroError, match="time-limit"):
        ouro.check(LOST_UPDATE, time_limit=-1)
    with pytest.raises(ouro.OuroError):
        ouro.check([])
    with pytest.raises(TypeError, match="pair"):
        ouro.History([1])


def test_values():
    history = ouro.History([
        ("a", [["w", 1, 0.5], ["w", 2, Decimal("0.50")], ["w", 3, True], ["w", 4, {"c": math.nan}],
               ["w", 5, 2**64 - 1], ["append", "l", "ä\ud800"], ["w", 6, b"\xff"]]),
        ("b", [["r", 1, 0.5], ["r", 2, Decimal("0.5")], ["r", 3, True], ["r", 4, {"c": math.nan}],
               ["r", 5, 2**64 - 1], ["r", "none", None]]),
    ])
    assert ouro.check(history, "serializable").holds
    assert b'["w",1,{"@float":0.5}],["w",2,0.5],["w",3,true]' in history.to_bytes()
    assert not ouro.check([("a", [["w", 1, 1.0]]), ("b", [["r", 1, 1]])], "rc").holds


def test_initial_values_and_versions():
    assert ouro.check(ouro.History([("a", [["r", "x", 0]])], initial=0)).holds
    assert ouro.check(ouro.History([("a", [["r", "x", 7]])], initials={"x": 7})).holds
    history = ouro.History([("a", [["w", "x", 1]]), ("b", [["w", "x", 2]]),
                            ("a", [["r", "x", 2], ["w", "x", 3]])],
                           versions={"x": [2, 1, 3]}, complete=True)
    assert ouro.check(history, "si", evidence="versions").violated
    assert ouro.check(history, "si").holds


def test_expectations_and_limits():
    assert ouro.check(LOST_UPDATE, expect="si violated\nshows lost-update\n").holds
    assert ouro.check(LOST_UPDATE, expect="si holds\n").violated
    assert ouro.check(LOST_UPDATE, "si", time_limit=100, memory_limit=100_000, threads=1).violated
    assert ouro.check(LOST_UPDATE, "si", explain="nothing").anomalies == []


def test_threads_share_a_history():
    history = ouro.History(LOST_UPDATE)
    found = []
    threads = [threading.Thread(target=lambda: found.append(ouro.check(history, "si").outcome))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["violated"] * 4


def entry_points_of_pytest():
    found = importlib.metadata.entry_points()
    return found.select(group="pytest11") if hasattr(found, "select") else found["pytest11"]


def test_assert_isolated():
    ouro.assert_isolated(LOST_UPDATE, "causal")
    with pytest.raises(AssertionError, match="one update is lost") as caught:
        ouro.assert_isolated(LOST_UPDATE, "si")
    assert caught.value.verdict.violated


def test_the_plugin_leaves_reports(pytester):
    pytester.makepyfile("""
        def test_shop(assert_isolated):
            assert_isolated([("a", [["r", "x", 1]])], "rc")
        def test_recorder(ouro_recorder):
            assert ouro_recorder.path.endswith("history.jsonl")
    """)
    found = [entry for entry in entry_points_of_pytest() if entry.name == "ouro"]
    plugin = [] if found else ["-p", "ouro.pytest_plugin"]
    result = pytester.runpytest_inprocess(*plugin, "--ouro-reports=reports")
    result.assert_outcomes(passed=1, failed=1)
    reports = sorted(path.suffix for path in (pytester.path / "reports").iterdir())
    assert reports == [".html", ".jsonl"]


@pytest.mark.skipif("OURO_PROGRAM" not in os.environ, reason="OURO_PROGRAM does not name the program")
@pytest.mark.parametrize("level", ["si", "all", "causal,serializable"])
def test_json_is_that_of_the_program(tmp_path, level):
    path = str(tmp_path / "h.jsonl")
    ouro.History(LOST_UPDATE).write(path)
    program = subprocess.run([os.environ["OURO_PROGRAM"], "check", "--json", "-l", level, path],
                             capture_output=True, text=True)
    said, found = json.loads(program.stdout), ouro.check(path, level).to_dict()
    for times in ("seconds", "stages"):
        assert said.pop(times).keys() == found.pop(times).keys()
    assert said == found
