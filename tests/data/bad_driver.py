"""A driver that works until it does not: bad_driver.py FAULT REQUEST [N [OPTION]...]

It is the reference driver for SQLite, but does FAULT at the N-th REQUEST [3rd] of a process, once in a
run. If N is 1, each process does it; if N is 0, at each such request.
"""
import json
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../clients/drivers/python"))
import ouro_driver  # noqa: E402

fault, request_kind = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
nth = int(sys.argv[3]) if len(sys.argv) > 3 else 3
sys.argv = [sys.argv[0], "sqlite"] + sys.argv[4:] + (["--steps"] if request_kind in ("begin", "op", "commit") else [])


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def change(members):
    """Returns the answer with a wrong value in it."""
    wrong = {"wrong-outcome": {"outcome": "perhaps"}, "no-outcome": {"outcome": None},
             "wrong-result": {"result": "seven", "results": ["seven"]},
             "too-few": {"results": []}, "too-many": {"results": [None] * 999},
             "wrong-id": {"id": 12345}, "text-id": {"id": "one"}, "protocol": {"protocol": 99},
             "ability": {"can": ["miracles"]}, "level": {"isolation": [{"name": "x", "promises": "y"}]},
             "no-evidence": {"isolation": [{"name": "serializable", "promises": "rc"}]},
             "no-levels": {"isolation": []}, "no-name": {"name": ""}, "unknown": {"outcome": "unknown"},
             "no-times": {"start_ts": None, "commit_ts": None},
             "late-start": {"start_ts": 10**6, "commit_ts": 5}, "one-time": {"start_ts": 7, "commit_ts": 7},
             "fails": {"outcome": "failed", "reason": "red \x1b[31m"}, "name": {"name": "ev\x1b[31mil"},
             "isolation": {"isolation": [{"name": "s\x1b[2J", "promises": "ser"}]},
             "twice-row": {"results": [part * 2 if isinstance(part, list) else part
                                       for part in members.get("results", [])]}}[fault]
    return {**members, **wrong}


class BadServer(ouro_driver.Server):
    count = 0
    folder = None

    def strikes(self, request):
        self.folder = request.get("folder", self.folder)
        fits = request["do"] == request_kind
        if fault == "wrong-result" and fits and request_kind == "op":
            fits = request["op"][0] == "r"
        self.count += fits
        if fits and nth == 0:
            return True
        if not fits or self.count != nth:
            return False
        try:
            if nth > 1:
                os.close(os.open(os.path.join(self.folder, "struck"), os.O_CREAT | os.O_EXCL))
            return True
        except FileExistsError:
            return False

    def answer(self, request):
        if not self.strikes(request):
            return super().answer(request)
        if fault == "silent":
            time.sleep(1000)
        elif fault == "exit":
            os._exit(3)
        elif fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif fault == "kill-after":  # What was asked for is done, but the answer is lost.
            sys.stdout = open(os.devnull, "w")
            super().answer(request)
            os.kill(os.getpid(), signal.SIGKILL)
        elif fault == "nonsense":
            say("Traceback (most recent call last):\n")
        elif fault == "list":
            say("[1,2,3]\n")
        elif fault == "half":
            say('{"id":%d,"outc' % request["id"])
            time.sleep(1000)
        elif fault == "half-exit":
            say('{"id":%d,"outc' % request["id"])
            os._exit(0)
        elif fault == "huge":
            while True:
                say("x" * 65536)
        elif fault == "late":  # When nobody waits for it any more.
            time.sleep(3)
            super().answer(request)
        elif fault == "late-lie":
            time.sleep(3)
            self.say_well({**self.done(request), "outcome": "aborted"})
        elif fault == "deaf":  # Lives on without its standard output.
            os.close(1)
            time.sleep(1000)
        elif fault == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif fault == "flood":
            while True:
                say('{"id":0}\n' * 1000)
        elif fault == "drip":
            while True:
                say("x")
                time.sleep(0.05)
        elif fault == "blank":
            say("\n")
            super().answer(request)
        elif fault == "deep":
            say('{"id":%d,"x":' % request["id"] + "[" * 1000000 + "]" * 1000000 + "}\n")
        elif fault == "orphan":  # Leaves a process behind that keeps the pipes open.
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
        elif fault == "complains":  # Good answers from here on.
            sys.stderr.write(("x" * 99999 + "\n") * 100)
            super().answer(request)
        elif fault == "long":
            self.say_well({**self.done(request), "comment": "y" * (8 << 20)})
        elif fault == "pieces":
            for character in json.dumps(self.done(request)) + "\r\n":
                say(character)
        elif fault == "twice":
            super().answer(request)
            super().answer({"do": "end", "id": request["id"]} if request_kind == "end" else
                           {**request, "do": "hello"})
        elif fault == "two-outcomes":
            members = self.on_txn(request)
            say('{"id":%d,%s,"outcome":"aborted"}\n' % (request["id"], json.dumps(members)[1:-1]))
        else:
            self.say_well(change(self.done(request)))

    def done(self, request):
        """Does what is asked for; returns the answer."""
        return {"id": request["id"], **(getattr(self, "on_" + request["do"])(request) or {})}

    @staticmethod
    def say_well(members):
        say(json.dumps(members) + "\n")


# Mistakes of a driver that speaks the protocol but does not do what it is asked for.
MISTAKES = {
    "keeps-rollback": ("rollback", lambda self: self.execute("COMMIT")),
    "open-scan": ("do_scan", lambda self, lower, upper: [list(row) for row in self.rows(
        "SELECT k, v FROM ouro_data WHERE k >= ? AND k < ?", (lower, upper))]),
    "no-append": ("do_append", lambda self, key, number: None),
    "count-null": ("do_aggregate", lambda self, kind, column, conditions: None),
    "no-delete": ("do_d", lambda self, key: None),
}
if fault in MISTAKES:
    setattr(ouro_driver.Session, *MISTAKES[fault])
    request_kind = None
    sys.argv.append("--threads")  # Fewer processes to start.
ouro_driver.Server = BadServer
ouro_driver.main()
