"""A private broker of Kafka in KRaft mode, and a producer that feeds it lines."""

import os
import shutil
import signal
import socket
import subprocess
import time

CLUSTER = "ouroouroouroouroouroow"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, condition, seconds=120):
    """Waits until condition() is true, and returns it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"after {seconds} s still not: {what}")


class Broker:
    """Only this machine can reach it; its heap has 512 MB."""

    def __init__(self, folder, jars):
        self.folder, self.jars = folder, jars
        self.port, self.controller = free_port(), free_port()
        self.process = None
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with open(f"{folder}/server.properties", "w") as file:
            file.write(
                f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{self.controller}
listeners=PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self.controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{self.port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/logs
num.partitions=3
auto.create.topics.enable=true
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=16777216
"""
            )
        self.java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c",
                  f"{folder}/server.properties").wait(60)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def java(self, main, *arguments, heap="128m", **options):
        command = ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                   "-cp", f"{self.jars}/*", main, *arguments]
        options.setdefault("stdout", subprocess.DEVNULL)
        options.setdefault("stderr", subprocess.DEVNULL)
        return subprocess.Popen(command, **options)

    def start(self):
        with open(f"{self.folder}/out", "ab") as out:
            self.process = self.java("kafka.Kafka", f"{self.folder}/server.properties", heap="512m",
                                     stdout=out, stderr=out)

        def answers():
            if self.process.poll() is not None:
                raise AssertionError(f"the broker has ended; see {self.folder}/out")
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        wait_for("the broker answers", answers)

    def kill(self):
        """As kill -9 does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()

    def producer(self, topic):
        return Producer(self, topic)


class Producer:
    """Sends lines with the key that their session is, each once, even if the broker restarts."""

    def __init__(self, broker, topic):
        self.process = broker.java(
            "kafka.tools.ConsoleProducer", "--bootstrap-server", broker.address, "--topic", topic,
            "--property", "parse.key=true", "--property", "key.separator=\t",
            "--message-send-max-retries", "1000000", "--max-block-ms", "300000",
            "--request-required-acks", "all", "--producer-property", "enable.idempotence=true",
            "--producer-property", "delivery.timeout.ms=300000",
            "--producer-property", "linger.ms=20", stdin=subprocess.PIPE)

    def send(self, session, line):
        self.process.stdin.write(f"{session}\t{line}\n".encode())

    def flush(self):
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(300) == 0, "the producer failed"
