#!/usr/bin/python3
"""Runs JDBC, pgx and psycopg through `ouro tap`, in front of a private PostgreSQL.

    clients/tap/test.py --ouro build/ouro --jdbc postgresql.jar --pgx tapclient

Each driver does what applications do (clients/tap/java, clients/tap/go): every protocol that it has,
batches, cursors, COPY, failures, savepoints, cancelled statements, and compares what comes back. What
the tap recorded must hold at the level that was promised; and the lost updates of a shop at read
committed must be found. Needs PostgreSQL's server programs, and their user `postgres` if run as root.
"""

import argparse
import glob
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A private PostgreSQL, which is deleted at the end."""

    def __init__(self):
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.folder = tempfile.mkdtemp(prefix="ouro-tap-")
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.port = free_port()
        data = os.path.join(self.folder, "data")
        self.call("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                  "--locale=C", "-N")
        settings = {"port": self.port, "listen_addresses": "127.0.0.1", "wal_level": "logical",
                    "unix_socket_directories": self.folder, "fsync": "off"}
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen(
            [os.path.join(self.programs, "postgres"), "-D", data, *words],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=self.become)
        self.wait()

    def become(self):
        if self.user:
            os.setgid(self.user.pw_gid)
            os.setuid(self.user.pw_uid)

    def call(self, program, *words):
        subprocess.run([os.path.join(self.programs, program), *words], check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL, preexec_fn=self.become)

    def wait(self):
        for _ in range(600):
            ready = subprocess.run([os.path.join(self.programs, "pg_isready"), "-q", "-h",
                                    "127.0.0.1", "-p", str(self.port)], check=False)
            if ready.returncode == 0:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        sys.exit("test: PostgreSQL does not start")

    def sql(self, text):
        self.call("psql", "-X", "-q", "-h", self.folder, "-p", str(self.port), "-U", "postgres",
                  "-v", "ON_ERROR_STOP=1", "-c", text)

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Tap:
    """`ouro tap` in front of the server."""

    def __init__(self, ouro, server, *words):
        self.process = subprocess.Popen(
            [ouro, "tap", f"postgres://postgres@127.0.0.1:{server.port}/postgres", "--listen",
             "127.0.0.1:0", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while True:
            line = self.process.stderr.readline()
            found = re.search(r"127\.0\.0\.1:(\d+)", line.replace(f":{server.port}", ""))
            if found:
                self.port = found[1]
                return
            if not line:
                sys.exit("test: the tap does not start")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, out, err


SHOP = """
SET client_min_messages = warning;
DROP TABLE IF EXISTS stock, sale;
CREATE TABLE stock (item int PRIMARY KEY, pieces int, name text);
INSERT INTO stock SELECT i, 1000, 'item ' || i FROM generate_series(1, 4) i;
CREATE TABLE sale (id bigserial PRIMARY KEY, buyer text, amount numeric);
"""


def psycopg(port, *what):
    """The protocol of psycopg 2: simple, with the constants in the text."""
    import psycopg2  # Of the system: python3-psycopg2.
    link = psycopg2.connect(host="127.0.0.1", port=port, user="postgres", dbname="postgres",
                            application_name="psycopg")
    link.set_session(isolation_level="READ COMMITTED" if what else "REPEATABLE READ")
    with link.cursor() as cursor:
        for sale in range(20):
            cursor.execute("SELECT pieces FROM stock WHERE item = %s", (1 + sale % 4,))
            left = cursor.fetchone()[0]
            cursor.execute("UPDATE stock SET pieces = %s WHERE item = %s", (left - 1, 1 + sale % 4))
            link.commit()
    link.close()


def run(o, server, name, client):
    """Returns how many things went wrong."""
    wrong = 0
    for shop in (False, True):
        server.sql(SHOP)
        load = () if shop else ("--load", "tables")
        with tempfile.TemporaryDirectory() as folder:
            tap = Tap(o.ouro, server, "--output", os.path.join(folder, "h.jsonl"), "--level",
                      "serializable", *load)
            try:
                client(tap.port, *(["shop"] if shop else []))
            except (subprocess.CalledProcessError, AssertionError) as failure:
                print(f"{name}: FAILED: {failure}")
                wrong += 1
            status, out, err = tap.end()
            healthy = status == 0
            judged = re.search(r"(\d+) % of ([\d,]+) reads judged", out + err)
            print(f"{name}{' shop' if shop else ''}: exit {status}, "
                  f"{judged[0] if judged else 'nothing judged'}")
            lossy = shop and name != "psycopg"  # That one has one clerk only.
            if not judged or healthy == lossy or "recording ended" in err:
                print(out[-3000:] + err[-3000:])
                wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ouro", required=True)
    parser.add_argument("--jdbc", required=True)
    parser.add_argument("--pgx", required=True)
    o = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    java = ["java", "-cp", o.jdbc, os.path.join(here, "java", "TapClient.java")]
    server = Server()
    try:
        wrong = run(o, server, "psycopg", psycopg)
        wrong += run(o, server, "JDBC",
                     lambda port, *what: subprocess.run([*java, port, *what], check=True))
        wrong += run(o, server, "pgx",
                     lambda port, *what: subprocess.run([o.pgx, port, *what], check=True))
    finally:
        server.close()
    print(f"{6 - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
