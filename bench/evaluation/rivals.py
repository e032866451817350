"""Checkers from package registries, measured live on the same histories.

They are installed by hand or by 'make evaluation' in the folder rivals/ of the build; one that is not there
is left out, and the page says so by having no row of it.
"""
import os
import resource
import shutil
import signal
import subprocess
import sys

import programs

NAMES = ("adya", "Porcupine", "GSI+Z3", "ASI+Z3")


def installed(measurement, name):
    path = os.path.join(measurement.build, "rivals", "bin", name)
    if os.path.exists(path):
        return path
    found = shutil.which(name)
    if found is None:
        print(f"evaluation: {name} is not installed, so it is left out", file=sys.stderr)
    return found


def timed(command, limit):
    """Seconds of CPU, exit status, and what it printed. The limit is of CPU, so that a busy machine is no
    disadvantage; None as the status: it was reached."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    stopped = process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return cpu, None if stopped else process.returncode, process.stdout


def points(measurement):
    """Each point of the first sweep, by its numbers of transactions."""
    settings = measurement.figure["sweeps"][0][1]
    words = [word for word in settings.split() if not word.startswith("txns=")]
    sizes = next(word for word in settings.split() if word.startswith("txns="))
    for size in sizes[len("txns="):].split(","):
        yield size, " ".join([*words, f"txns={size}"])


def adya(measurement, model, level):
    """adya (crates.io), which is Elle's approach in Rust."""
    program = installed(measurement, "adya")
    rows = []
    for size, settings in points(measurement) if program else ():
        path, words = measurement.generate(settings, ".edn")
        command = [program, "check", "-m", model, "-c", level, path]
        cpu, status, _ = timed(command, measurement.limit)
        verdict = {0: "holds", 1: "violated", 2: "undecided", None: "timed out"}.get(status, "error")
        rows.append({"series": "adya", "x": size, "verdict": verdict, "cpu": cpu,
                     "command": f"ouro generate {words} -o h.edn; adya check -m {model} -c {level} h.edn"})
    return rows


def porcupine(measurement):
    """Porcupine (Go's proxy), a checker of linearizability."""
    program = installed(measurement, "porcupine")
    rows = []
    for size, settings in points(measurement) if program else ():
        path, words = measurement.generate(settings, ".jsonl")
        cpu, status, text = timed([program, path, "3600"], measurement.limit)
        verdict = "timed out" if status is None else text.split()[0] if status == 0 else "error"
        rows.append({"series": "Porcupine", "x": size, "verdict": verdict, "cpu": cpu,
                     "command": f"ouro generate {words} -o h.jsonl; porcupine h.jsonl"})
    return rows


def z3(measurement):
    """Encodings with Z3, as Viper's baselines."""
    if not os.path.exists(os.path.join(measurement.build, "bench", "ouro_bench")):
        print("evaluation: ouro_bench is not built, so the Z3 baselines are left out", file=sys.stderr)
        return []
    rows = []
    for found in programs.google(measurement.build, "BM_Z3"):
        _, encoding, size = found["name"].split("/")[:3]
        rows.append({"series": f"{encoding.upper()}+Z3", "x": size, "verdict": "holds",
                     "cpu": found["cpu"], "check": found["check"], "command": found["command"]})
    return rows


RIVALS = {
    "adya-lists": lambda m: adya(m, "list-append", "snapshot-isolation"),
    "adya-lists-si": lambda m: adya(m, "list-append", "strong-session-snapshot-isolation"),
    "porcupine": porcupine,
    "z3": z3,
}
