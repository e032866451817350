"""Checks a history by timestamps on Spark: for files that one machine does not hold.

    spark-submit ouro_spark.py --level session-si --keys 8 hdfs:///histories/2026-11-19

The history is native text (JSON Lines), Parquet, or .ouro files. It is cut into shards of keys and of
sessions, each of which the program `ouro` checks as a stream, and the verdicts are merged into that on the
whole: the same as `ouro check --evidence timestamps` gives. docs/scale.md of Ouro says why that is exact and
when it pays. Every machine needs the program, at the path that --ouro gives.

From Python: check(spark, path, level="session-si", keys=8) returns what `ouro check --json` prints, as a dict.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from pyspark import StorageLevel
from pyspark.sql import SparkSession

# Of records for the shuffle: what a line says of all of a shard comes before its transactions.
ABOUT_ALL, TRANSACTION = 0, 1
PLAN = -1  # Instead of a shard: the record is the plan of a part.


class OuroError(RuntimeError):
    """The program refused the history, or could not run; says why."""


def run(command, accepted=(0,)):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in accepted:
        raise OuroError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
    return done.stdout


def shard_names(keys, sessions):
    """All shards there can be, in the order of their partitions."""
    return (
        [f"keys-{i}" for i in range(1, keys + 1)]
        + ["rows"]
        + [f"sessions-{i}" for i in range(1, sessions + 1)]
        + ["clocks"]
    )


def is_transaction(line):
    if '"ops"' not in line:
        return False
    return line.startswith('{"session"') or "ops" in json.loads(line)


def is_about_all(line):
    """Whether it is the first line, or gives a key its initial value; version orders are not needed."""
    return bool(line.strip()) and not is_transaction(line) and "versions" not in json.loads(line)


def line_of(row):
    """A row of a table as a line of native text."""
    row = row.asDict(recursive=True)
    ops = row.pop("ops")
    if not isinstance(ops, str):  # A list; its operations may be JSON themselves.
        texts = [op if isinstance(op, str) else json.dumps(op) for op in ops]
        ops = f"[{','.join(texts)}]"
    known = {name: value for name, value in row.items() if value is not None or name == "session"}
    return json.dumps(known)[:-1] + f',"ops":{ops}}}'


def lines_of_file(ouro, path):
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "history.jsonl")
        run([ouro, "convert", path, text])
        with open(text, encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\n")


def read_lines(spark, path, form, ouro):
    """The lines of the history, in its order."""
    if form == "parquet":
        return spark.read.parquet(path).rdd.map(line_of)
    if form == "ouro":
        files = [path]
        if os.path.isdir(path):
            files = sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(".ouro"))
        parts = spark.sparkContext.parallelize(files, len(files))
        return parts.flatMap(lambda file: lines_of_file(ouro, file))
    return spark.sparkContext.textFile(path)


def projected(part, lines, job):
    """The records of a part: ((shard, kind, part, number), line), and the plan of the part."""
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "part.jsonl")
        count = 0
        with open(text, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in job["about_all"])
            for line in lines:
                file.write(line + "\n")
                count += 1
        if count == 0:
            return
        shards = os.path.join(folder, "shards")
        command = [job["ouro"], "shard", "split", text, "-q", "-o", shards]
        command += ["--keys", str(job["keys"]), "--sessions", str(job["sessions"])]
        run(command + ["--before", str(job["before"][part])])
        with open(os.path.join(shards, "shards.json"), encoding="utf-8") as file:
            yield (PLAN, ABOUT_ALL, part, 0), file.read()
        for shard, name in enumerate(shard_names(job["keys"], job["sessions"])):
            path = os.path.join(shards, name + ".jsonl")
            if not os.path.exists(path):
                continue
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file):
                    kind = ABOUT_ALL if number == 0 or line.startswith('{"key":') else TRANSACTION
                    yield (shard, kind, part, number), line.rstrip("\n")


def checked(shard, records, job):
    """The verdict on a shard, and the transactions that it names."""
    name = shard_names(job["keys"], job["sessions"])[shard]
    if name not in [each["name"] for each in json.loads(job["plan"])["shards"]]:
        return
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "shards.json"), "w", encoding="utf-8") as file:
            file.write(job["plan"])
        path = os.path.join(folder, name + ".jsonl")
        first = None  # Every part says what is about all; one is enough.
        about_all = []
        with open(path, "w", encoding="utf-8") as file:
            for (_, kind, part, _), line in records:
                if kind == ABOUT_ALL:
                    first = part if first is None else first
                    if part != first:
                        continue
                    about_all.append(line)
                file.write(line + "\n")
        command = [job["ouro"], "shard", "check", "-q", "--level", job["level"]]
        command += ["--examples", str(job["examples"]), "--clock-drift", str(job["clock_drift"]), path]
        run(command, accepted=(0, 1, 2))
        with open(os.path.join(folder, name + ".verdict"), encoding="utf-8") as file:
            verdict = file.read()
        named = {id for found in json.loads(verdict)["violations"] for id in found["transactions"]}
        kept = list(about_all)
        if named:
            ids = {json.dumps(json.loads(id)) for id in named}
            with open(path, encoding="utf-8") as file:
                for line in file:
                    if is_transaction(line) and json.dumps(json.loads(line).get("id")) in ids:
                        kept.append(line.rstrip("\n"))
        yield name, verdict, kept


def joined_plan(ouro, plans, folder):
    parts = []
    for number, plan in enumerate(plans):
        parts.append(os.path.join(folder, f"part-{number}"))
        os.mkdir(parts[-1])
        with open(os.path.join(parts[-1], "shards.json"), "w", encoding="utf-8") as file:
            file.write(plan)
    whole = os.path.join(folder, "whole")
    run([ouro, "shard", "join", "--plan-only", "-q", "-o", whole, *parts])
    return whole


def check(
    spark, path, level="session-si", keys=4, sessions=1, ouro="ouro", form="text", examples=1, clock_drift=0
):
    """Checks the history at `path`; returns what `ouro check --json` prints, as a dict.

    `form` is "text", "parquet" or "ouro". A table has a row for each transaction, with the columns that lines
    of native text have as members (session, ops, start_ts, commit_ts …); `ops` is JSON, or a list of
    operations, each of them JSON. Its order is that of the rows.
    """
    lines = read_lines(spark, path, form, ouro).persist(StorageLevel.DISK_ONLY)
    try:
        # Files beside the first have first lines of their own, which say the same.
        about_all = list(dict.fromkeys(lines.filter(is_about_all).collect()))
        txns = lines.filter(is_transaction)
        counts = txns.mapPartitions(lambda part: [sum(1 for _ in part)]).collect()
        job = {"ouro": ouro, "keys": keys, "sessions": sessions, "level": level}
        job.update(about_all=about_all, examples=examples, clock_drift=clock_drift)
        job["before"] = [sum(counts[:part]) for part in range(len(counts))]
        records = txns.mapPartitionsWithIndex(lambda part, it: projected(part, it, job))
        records = records.persist(StorageLevel.DISK_ONLY)
        try:
            return dict(merged(records, job), history=path)
        finally:
            records.unpersist()
    finally:
        lines.unpersist()


def merged(records, job):
    plans = records.filter(lambda record: record[0][0] == PLAN).sortByKey().values().collect()
    if not plans:
        raise OuroError("there are no transactions, so there is nothing to check")
    with tempfile.TemporaryDirectory() as folder:
        whole = joined_plan(job["ouro"], plans, folder)
        with open(os.path.join(whole, "shards.json"), encoding="utf-8") as file:
            job = dict(job, plan=file.read())
        count = len(shard_names(job["keys"], job["sessions"]))
        shards = records.filter(lambda record: record[0][0] != PLAN).repartitionAndSortWithinPartitions(
            numPartitions=count, partitionFunc=lambda key: key[0]
        )
        verdicts = shards.mapPartitionsWithIndex(lambda shard, it: checked(shard, it, job)).collect()
        for name, verdict, lines in verdicts:
            with open(os.path.join(whole, name + ".verdict"), "w", encoding="utf-8") as file:
                file.write(verdict)
            with open(os.path.join(whole, name + ".jsonl"), "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in lines)
        command = [job["ouro"], "shard", "merge", "--json", "--examples", str(job["examples"]), whole]
        return json.loads(run(command, accepted=(0, 1, 2)))


def main():
    parser = argparse.ArgumentParser(description="Checks a history by timestamps on Spark.")
    parser.add_argument("path", help="the history: a file, or a folder of files")
    parser.add_argument("--form", choices=("text", "parquet", "ouro"), default="text")
    parser.add_argument("-l", "--level", default="session-si")
    parser.add_argument("--keys", type=int, default=4, help="shards of keys [4]")
    parser.add_argument("--sessions", type=int, default=1, help="shards of sessions [1]")
    parser.add_argument("--examples", type=int, default=1, help="violations of each kind to tell [1]")
    parser.add_argument("--clock-drift", type=int, default=0)
    parser.add_argument("--ouro", default="ouro", help="the program, on every machine [ouro]")
    given = vars(parser.parse_args())
    spark = SparkSession.builder.appName("ouro").getOrCreate()
    try:
        verdict = check(spark, given.pop("path"), **given)
    except OuroError as error:
        print(f"ouro_spark: {error}", file=sys.stderr)
        return 254
    finally:
        spark.stop()
    print(json.dumps(verdict))
    return {"holds": 0, "violated": 1}.get(verdict["verdict"], 2)


if __name__ == "__main__":
    sys.exit(main())
