"""The job on a real Spark: what it says is what `ouro check` says of the whole."""

import json
import os
import stat
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import ouro_spark  # noqa: E402

OURO = os.environ.get("OURO", "build/ouro")


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    # Two cores, and each task is tried four times.
    session = (
        SparkSession.builder.master("local[2,4]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.addPyFile(ouro_spark.__file__)
    yield session
    session.stop()


def generated(path, *flags):
    command = [OURO, "generate", "--timestamps", "--clocks", "-l", "strong-si", "-o", str(path), *flags]
    subprocess.run(command, check=True, capture_output=True)
    return str(path)


def whole(path, level):
    command = [OURO, "check", "--evidence", "timestamps", "--json", "-l", level, path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def assert_same(ours, theirs):
    assert ours["verdict"] == theirs["verdict"]
    assert ours.get("counts") == theirs.get("counts")
    assert ours["transactions"] == theirs["transactions"]
    assert bool(ours["anomalies"]) == bool(theirs["anomalies"])


@pytest.mark.parametrize("level", ["si", "session-si", "strong-si", "serializable"])
@pytest.mark.parametrize("fault", ["lost-update=0.02", "lost-update=0"])
def test_text_in_several_parts(spark, tmp_path, level, fault):
    path = generated(tmp_path / "h.jsonl", "-n", "3000", "--keys", "300", "--fault", fault)
    lines = open(path).read().splitlines(keepends=True)
    folder = tmp_path / "parts"
    folder.mkdir()
    for part in range(3):  # The first line, which is about all, is in the first file only.
        (folder / f"part-{part}.jsonl").write_text("".join(lines[part * 1001 : (part + 1) * 1001]))
    verdict = ouro_spark.check(spark, str(folder), level=level, keys=3, sessions=2, ouro=OURO)
    assert_same(verdict, whole(path, level))


def test_ranges_and_absent_clocks(spark, tmp_path):
    path = generated(tmp_path / "h.jsonl", "-w", "range-b", "-n", "400", "--keys", "60", "--fault", "lost-update=0.05")
    assert_same(ouro_spark.check(spark, path, level="si", keys=2, ouro=OURO), whole(path, "si"))


def test_files_of_ouro(spark, tmp_path):
    text = generated(tmp_path / "h.jsonl", "-n", "1000", "--fault", "lost-update=0.05")
    binary = str(tmp_path / "h.ouro")
    subprocess.run([OURO, "convert", text, binary], check=True)
    assert_same(ouro_spark.check(spark, binary, level="si", ouro=OURO, form="ouro"), whole(text, "si"))


def test_parquet(spark, tmp_path):
    text = generated(tmp_path / "h.jsonl", "-n", "1000", "--fault", "lost-update=0.05")
    rows = [json.loads(line) for line in open(text) if '"ops"' in line]
    for row in rows:
        row["ops"] = [json.dumps(op) for op in row["ops"]]
        row["session"] = str(row["session"])
    columns = sorted({name for row in rows for name in row})
    table = str(tmp_path / "table")
    data = [tuple(row.get(name) for name in columns) for row in rows]
    spark.createDataFrame(data, columns, samplingRatio=1.0).repartitionByRange(3, "commit_ts").sortWithinPartitions(
        "commit_ts"
    ).write.parquet(table)
    verdict = ouro_spark.check(spark, table, level="si", ouro=OURO, form="parquet")
    assert verdict["counts"] == whole(text, "si")["counts"]


def test_tasks_that_fail_are_tried_again(spark, tmp_path):
    path = generated(tmp_path / "h.jsonl", "-n", "2000", "--keys", "100", "--fault", "lost-update=0.05")
    marks = tmp_path / "marks"
    marks.mkdir()
    # Each command with shards fails the first time that it is run, half way.
    flaky = tmp_path / "flaky"
    flaky.write_text(
        f"""#!/bin/sh
mark={marks}/$(echo "$*" | sed 's,[^ ]*tmp[^ ]*/,,g' | tr -c 'a-z0-9\\n' _)
case "$1$2" in shardsplit | shardcheck)
  if mkdir "$mark" 2>/dev/null; then echo "the disk is gone" >&2; exit 254; fi ;;
esac
exec {os.path.abspath(OURO)} "$@"
"""
    )
    flaky.chmod(flaky.stat().st_mode | stat.S_IXUSR)
    verdict = ouro_spark.check(spark, path, level="si", keys=2, ouro=str(flaky))
    assert len(list(marks.iterdir())) >= 3
    assert_same(verdict, whole(path, "si"))


def test_what_is_wrong_is_said(spark, tmp_path):
    (tmp_path / "none.jsonl").write_text('{"ouro":1}\n')
    with pytest.raises(ouro_spark.OuroError, match="no transactions"):
        ouro_spark.check(spark, str(tmp_path / "none.jsonl"), ouro=OURO)
    (tmp_path / "bare.jsonl").write_text('{"session":1,"ops":[["w","x",1]]}\n')
    with pytest.raises(ouro_spark.OuroError, match="no timestamps"):
        ouro_spark.check(spark, str(tmp_path / "bare.jsonl"), ouro=OURO)
