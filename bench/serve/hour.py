#!/usr/bin/env python3
"""How much memory and disk `ouro serve --memory` takes in an hour, backlogs included.

    bench/serve/hour.py [--seconds 3600] [--rate 20000] [--memory 256] [--retention 600]
                        [--build build] [--folder DIR] [--out hour.csv]

Starts the service with a state folder, feeds it with `ouro_bench_stream send`, and prints a line of
CSV every five seconds: the resident memory of the service, what that and its checkpointing copy
take together (proportional, so shared pages count once), what the stream accounts for, the bytes of
its folder, and the transactions so far. Twice there is a backlog of a minute: at a third of the time
the service is stopped (SIGSTOP), at two thirds its sender pauses; afterwards all that waits comes at once.
Ends with 1 if something was accused, lost, or not judged.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--memory", type=int, default=256, help="MB")
    parser.add_argument("--retention", type=int, default=600)
    parser.add_argument("--pause", type=int, default=60, help="seconds that a backlog lasts")
    parser.add_argument("--ouro")
    parser.add_argument("--sender")
    parser.add_argument("--folder", default="hour-state")
    parser.add_argument("--out", default="hour.csv")
    return parser.parse_args()


def start_service(o):
    command = [o.ouro or "build/ouro", "serve", "--listen", "127.0.0.1:0", "--tcp", "127.0.0.1:0",
               "--initial", "0", "--state", o.folder, "--memory", f"{o.memory}MB",
               "--retention", str(o.retention)]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ports = {}
    while len(ports) < 2:
        line = service.stderr.readline()
        if not line:
            sys.exit("hour: the service did not start")
        found = re.search(r"(http|tcp)(?:://| )127\.0\.0\.1:(\d+)", line)
        if found:
            ports[found[1]] = int(found[2])
    return service, ports


def status(pid, name, file="status"):
    try:
        with open(f"/proc/{pid}/{file}") as lines:
            for line in lines:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) // 1024
    except OSError:
        pass
    return 0


def together(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as children:
        pids = [pid] + [int(child) for child in children.read().split()]
    # A copy is made by whatever thread: look at all processes of this group.
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/children") as children:
                pids += [int(child) for child in children.read().split()]
        except OSError:
            pass
    return sum(status(each, "Pss", "smaps_rollup") for each in set(pids))


def disk(folder):
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.stat(os.path.join(root, name)).st_blocks * 512
            except OSError:
                pass
    return total >> 20


def summary(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/summary", timeout=2) as answer:
            return json.load(answer)
    except OSError:
        return {}


class Backlogs:
    """Stops the service, and later its sender, for a while."""

    def __init__(self, o, service, sender):
        self.plan = [(o.seconds / 3, signal.SIGSTOP, service),
                     (o.seconds / 3 + o.pause, signal.SIGCONT, service),
                     (o.seconds * 2 / 3, signal.SIGUSR1, sender),
                     (o.seconds * 2 / 3 + o.pause, signal.SIGUSR1, sender)]

    def act(self, now):
        while self.plan and now >= self.plan[0][0]:
            _, what, process = self.plan.pop(0)
            process.send_signal(what)


def sample(o, service, ports, sender, out):
    begin = time.monotonic()
    backlogs = Backlogs(o, service, sender)
    out.write("second,resident_mb,together_mb,accounted_mb,disk_mb,txns,waiting_mb\n")
    peaks = [0, 0]
    while sender.poll() is None:
        now = time.monotonic() - begin
        backlogs.act(now)
        told = summary(ports["http"])
        resident = status(service.pid, "VmRSS")
        both = together(service.pid)
        peaks = [max(peaks[0], resident), max(peaks[1], both)]
        out.write(f"{now:.0f},{resident},{both},{told.get('stream_bytes', 0) >> 20},"
                  f"{disk(o.folder)},{told.get('transactions', 0)},"
                  f"{told.get('queue_bytes', 0) >> 20}\n")
        out.flush()
        time.sleep(5)
    return peaks


def main():
    o = options()
    service, ports = start_service(o)
    sender = None
    try:
        with open(o.out, "w") as out, open(o.out + ".sent", "w") as sent:
            sender = subprocess.Popen(
                [o.sender or "build/bench/ouro_bench_stream", "send", str(ports["tcp"]),
                 str(o.seconds), str(o.rate), str(o.keys)], stdout=sent)
            resident, both = sample(o, service, ports, sender, out)
        service.send_signal(signal.SIGTERM)
        said = service.communicate(timeout=60)[0]
    finally:
        for process in (sender, service):
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
    print(said.strip())
    print(f"resident at most {resident} MB, with its copy {both} MB; limit {o.memory} MB")
    return 0 if sender.returncode == 0 and service.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
