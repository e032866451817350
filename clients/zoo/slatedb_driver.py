#!/usr/bin/env python3
"""A driver for 'ouro run exec:COMMAND': SlateDB in memory, by its package from PyPI.

    ouro run 'exec:python3 slatedb_driver.py' -w phantom

The protocol is described in docs/drivers.md. One process serves all connections; the requests of one come
one after the other.
"""
import asyncio
import importlib.metadata
import json
import sys

from slatedb.uniffi import DbBuilder, IsolationLevel, KeyRange, ObjectStore, WriteOptions

LEVELS = {"serializable snapshot": (IsolationLevel.SERIALIZABLE_SNAPSHOT, "serializable"),
          "snapshot": (IsolationLevel.SNAPSHOT, "si")}
OFFSET = 1 << 62  # Added to keys, so that their bytes are in the order of the numbers.


def key_bytes(key):
    return (key + OFFSET).to_bytes(8, "big")


def key_range(lower, upper):
    return KeyRange(start=key_bytes(lower), start_inclusive=True, end=key_bytes(upper),
                    end_inclusive=True)


def write_options():
    """Commits do not wait for the object store; what is in memory is seen by all at once."""
    try:
        return WriteOptions(await_durable=False)
    except TypeError:  # Later versions have more members.
        return WriteOptions(await_durable=False, now=0)


class Driver:
    def __init__(self):
        self.db = None
        self.transactions = {}
        self.levels = {}

    async def hello(self, request):
        version = importlib.metadata.version("slatedb")
        return {"protocol": 1, "name": f"SlateDB {version}", "version": "1",
                "can": ["registers", "scans", "deletes", "whole", "threads"],
                "isolation": [{"name": name, "promises": level} for name, (_, level) in LEVELS.items()]}

    async def setup(self, request):
        self.db = await DbBuilder("ouro", ObjectStore.resolve("memory:///")).build()

    async def open(self, request):
        self.levels[request["connection"]] = LEVELS[request["isolation"]][0]

    async def close(self, request):
        await self.rollback(request)

    async def end(self, request):
        await self.db.shutdown()

    async def begin(self, request):
        connection = request["connection"]
        self.transactions[connection] = await self.db.begin(self.levels[connection])

    async def op(self, request):
        return {"result": await self.run(self.transactions[request["connection"]], request["op"])}

    async def run(self, transaction, op):
        if op[0] == "r":
            value = await transaction.get(key_bytes(op[1]))
            return None if value is None else int(value)
        if op[0] == "w":
            return await transaction.put(key_bytes(op[1]), str(op[2]).encode())
        if op[0] == "d":
            return await transaction.delete(key_bytes(op[1]))
        rows = await transaction.scan(key_range(op[1], op[2]))
        found = []
        while (row := await rows.next()) is not None:
            found.append([int.from_bytes(row.key, "big") - OFFSET, int(row.value)])
        return found

    async def commit(self, request):
        transaction = self.transactions.pop(request["connection"])
        try:
            await transaction.commit_with_options(write_options())
        except Exception as error:
            # A conflict is found before anything is written, so it is certain.
            certain = type(error).__name__ == "Transaction"
            return {"outcome": "aborted" if certain else "unknown", "reason": str(error)[:80]}
        return {"outcome": "committed"}

    async def rollback(self, request):
        transaction = self.transactions.pop(request["connection"], None)
        if transaction is not None:
            await transaction.rollback()

    async def txn(self, request):
        await self.begin(request)
        transaction = self.transactions[request["connection"]]
        results = []
        try:
            for op in request["ops"]:
                results.append(await self.run(transaction, op))
        except Exception as error:
            await self.rollback(request)
            return {"outcome": "failed", "reason": str(error)[:80], "results": results}
        return {**await self.commit(request), "results": results}

    async def answer(self, request):
        try:
            members = await getattr(self, request["do"])(request)
        except Exception as error:
            members = {"outcome": "failed", "reason": str(error)[:80]}
        sys.stdout.write(json.dumps({"id": request["id"], **(members or {})}) + "\n")
        sys.stdout.flush()


async def main():
    driver = Driver()
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    queues = {}

    async def serve(queue):
        while True:
            await driver.answer(await queue.get())

    while line := await lines.readline():
        request = json.loads(line)
        connection = request.get("connection")
        if connection is None:
            await driver.answer(request)
            if request["do"] == "end":
                return
            continue
        if connection not in queues:
            queues[connection] = asyncio.Queue()
            queues[connection].task = asyncio.create_task(serve(queues[connection]))
        queues[connection].put_nowait(request)


asyncio.run(main())
