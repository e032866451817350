"""Measurements that programs of bench/ make: the stream, and predicates by version orders."""
import csv
import io
import json
import os
import re
import subprocess
import sys


def output(command):
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if process.returncode != 0:
        sys.exit(f"evaluation: {' '.join(command)}: exit status {process.returncode}")
    return process.stdout


def shown(command):
    """The command as the page shows it, without the folder of the build."""
    return " ".join([os.path.basename(command[0]), *command[1:]])


def throughput(build):
    """Transactions a second that the stream takes, of CPU of the thread that feeds it."""
    command = [os.path.join(build, "bench", "ouro_bench_stream"), "throughput", "500000"]
    pattern = re.compile(r"^(.{10}) (\S+)\s+(\d+) txns\s+(\d+)/s,\s+(\d+)/cpu s.*memory (\d+) MB")
    for line in output(command).splitlines():
        if (found := pattern.match(line)) is not None:
            name, level, _, _, per_cpu, memory = found.groups()
            yield {"series": f"ouro, {level}", "x": name.strip(), "verdict": "holds",
                   "rate": float(per_cpu), "peak": float(memory), "command": shown(command)}


def flips(build):
    """The share of transactions whose judgement changes, by the deviation of the delays."""
    command = [os.path.join(build, "bench", "ouro_bench_stream"), "flips"]
    for row in csv.DictReader(io.StringIO(output(command))):
        numbers = list(row.values())
        if numbers[0] != "100":
            continue
        yield {"series": "ouro, mean 100 ms", "x": numbers[1], "verdict": "holds",
               "share": 100 * float(row["flipped"]) / float(row["txns"]),
               "command": shown(command)}


def steady(build):
    """Resident memory over time under a limit."""
    folder = os.path.join(build, "evaluation-archive")
    command = [os.path.join(build, "bench", "ouro_bench_stream"), "steady", "60", "256", folder]
    for row in csv.DictReader(io.StringIO(output(command))):
        yield {"series": "ouro", "x": row["second"], "verdict": "holds",
               "peak": float(row["resident_kib"]) * 1024 / 1e6, "command": shown(command[:-1])}


def google(build, names):
    """What a benchmark of bench/ says: its name, seconds of CPU and of the clock."""
    command = [os.path.join(build, "bench", "ouro_bench"), f"--benchmark_filter={names}",
               "--benchmark_format=json"]
    for found in json.loads(output(command))["benchmarks"]:
        yield {"name": found["name"], "cpu": found["cpu_time"] / 1000,
               "check": found["real_time"] / 1000, "command": shown(command[:2])}


def predicates(build):
    """Emme's mix of items and predicates, by version orders, with version sets and without."""
    for found in google(build, "BM_VersionsOfPredicates"):
        said = dict(word.split(":") for word in found["name"].split("/") if ":" in word)
        if said.get("level") not in ("11", None) and int(said["level"]) == 4:
            continue
        sets = "version sets given" if said["sets"] == "1" else "version sets by timestamps"
        yield {"series": f"ouro, {sets}", "x": f"{int(said['txns']):,} txns, {said['rows']} rows",
               "verdict": "holds", "cpu": found["cpu"], "check": found["check"],
               "command": found["command"]}


PROGRAMS = {"throughput": throughput, "flips": flips, "steady": steady, "predicates": predicates}
