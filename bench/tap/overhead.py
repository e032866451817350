#!/usr/bin/env python3
"""What `ouro tap` costs: pgbench through a proxy that only copies bytes, and through the tap.

    createdb bench && pgbench -i -s 2 bench
    bench/tap/overhead.py postgres://postgres@127.0.0.1/bench

The server needs wal_level = logical. The two take turns, so that what else the machine does harms
both; the best of all rounds counts. Prints lines for the table of docs/tap.md.
"""
import argparse
import os
import re
import signal
import subprocess
import sys


def run(options, protocol, flags):
    """Runs pgbench once. Returns transactions per second, latency and CPU time of the tap in ms."""
    tap = subprocess.Popen(
        [options.ouro, "tap", options.url, "--listen", "127.0.0.1:0", *flags],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    port = None
    for line in tap.stderr:
        found = re.search(r"listening at .*:(\d+)", line)
        if found:
            port = found[1]
            break
    if port is None:
        sys.exit("the tap did not start: " + line)
    name = re.sub(r".*/", "", options.url)
    user = re.match(r"postgres(?:ql)?://([^:@/]+)", options.url)
    bench = subprocess.run(
        ["pgbench", "-n", "-M", protocol, "-c", str(options.clients), "-j", "1",
         "-t", str(options.transactions), "-h", "127.0.0.1", "-p", port,
         "-U", user[1] if user else "postgres", name],
        capture_output=True, text=True)
    if bench.returncode != 0:
        sys.exit(bench.stderr)
    tap.send_signal(signal.SIGTERM)
    tap.stderr.read()
    _, _, used = os.wait4(tap.pid, 0)
    count = options.clients * options.transactions
    return (float(re.search(r"tps = ([\d.]+)", bench.stdout)[1]),
            float(re.search(r"latency average = ([\d.]+)", bench.stdout)[1]),
            (used.ru_utime + used.ru_stime) * 1000 / count)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("url", help="postgres://USER@HOST/DATABASE, as `pgbench -i` made it")
    parser.add_argument("--ouro", default="build/ouro")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--transactions", type=int, default=400, help="of each client")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("| | copies bytes only | tap | | latency | CPU of the tap |\n|---|---|---|---|---|---|")
    for protocol in ("simple", "extended", "prepared"):
        copied, tapped = [], []
        for _ in range(options.rounds):
            copied.append(run(options, protocol, ["--copy-only"]))
            tapped.append(run(options, protocol, ["--level", "read-committed", "--time-limit", "1"]))
        plain, tap = max(copied), max(tapped)
        cpu = min(each[2] for each in copied), min(each[2] for each in tapped)
        print(f"| `-M {protocol}` | {plain[0]:,.0f} /s | {tap[0]:,.0f} /s | "
              f"{100 * tap[0] / plain[0]:.0f} % | {plain[1]:.1f} → {tap[1]:.1f} ms | "
              f"{cpu[0]:.2f} → {cpu[1]:.2f} ms |", flush=True)


if __name__ == "__main__":
    main()
