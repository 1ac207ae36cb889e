"""Two machines and the wire between them: two network namespaces, and a thread that carries each packet from one to the other.

It may lose what goes one way or the other, or carry it late, and nobody is told: no reset, no error. The kernel's own netem does
the same, where it has that.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time
from pathlib import Path

WORKER, DATABASE = "10.77.0.1", "10.77.0.2"
NEW_NETWORK = 0x40000000
SET_INTERFACE, TUN_WITHOUT_HEAD = 0x400454CA, 0x1001


class Refused(Exception):
    """The machine has no namespaces for us."""


class Wire:
    """It carries, until it is closed."""

    def __init__(self) -> None:
        self.machines: list[subprocess.Popen[bytes]] = []
        #: Which ways everything is lost.
        self.loses_to_database = self.loses_to_worker = False
        #: How late everything comes, in seconds, and how many of a hundred packets are lost.
        self.delay, self.loss = 0.0, 0
        self.ends: list[int] = []
        self.problem = ""
        self.closed = False
        ready = threading.Event()
        try:
            for _ in range(2):
                self.machines.append(
                    subprocess.Popen(["unshare", "--net", "sleep", "infinity"], stderr=subprocess.PIPE)
                )
            end = time.monotonic() + 30
            while len({self.namespace(place) for place in (0, 1, None)}) < 3:
                if any(one.poll() is not None for one in self.machines) or time.monotonic() > end:
                    raise Refused("the machine refuses network namespaces")
                time.sleep(0.01)
            # A thread may be in another namespace than the others of its process.
            self.thread = threading.Thread(target=self.work, args=(ready,), daemon=True)
            self.thread.start()
            ready.wait()
            if self.problem:
                raise Refused(f"the machine refuses a network between namespaces: {self.problem}")
        except (Refused, OSError) as error:
            self.close()
            raise Refused(str(error)) from error

    def namespace(self, place: int | None) -> str:
        """That of a machine, or our own."""
        process = "self" if place is None else str(self.machines[place].pid)
        return str(Path(f"/proc/{process}/ns/net").readlink())

    def on(self, place: int) -> list[str]:
        """What starts a program on the worker's machine (0), or on the database's (1)."""
        return ["nsenter", f"--net=/proc/{self.machines[place].pid}/ns/net"]

    def cut(self) -> None:
        """Nothing arrives any more."""
        self.loses_to_database = self.loses_to_worker = True

    def heal(self) -> None:
        """Everything arrives again."""
        self.loses_to_database = self.loses_to_worker = False
        self.delay, self.loss = 0.0, 0

    def close(self) -> None:
        """Takes both machines away."""
        self.closed = True
        if self.ends:
            self.thread.join()
        for one in self.machines:
            one.kill()
            one.wait()
            if one.stderr:
                one.stderr.close()

    def enter(self, place: int) -> int:
        """The calling thread goes to a machine, and lays the wire's end there."""
        libc = ctypes.CDLL(None, use_errno=True)
        with Path(f"/proc/{self.machines[place].pid}/ns/net").open("rb") as there:
            if libc.setns(there.fileno(), NEW_NETWORK) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        self.ends.append(end)
        fcntl.ioctl(end, SET_INTERFACE, struct.pack("16sH22s", b"wire", TUN_WITHOUT_HEAD, b""))
        own, other = (WORKER, DATABASE) if place == 0 else (DATABASE, WORKER)
        for words in (f"addr add {own} peer {other} dev wire", "link set wire up", "link set lo up"):
            subprocess.run(["ip", *words.split()], check=True, capture_output=True)
        return end

    def work(self, ready: threading.Event) -> None:
        """Lays both ends and carries."""
        try:
            ends = [self.enter(0), self.enter(1)]
        except (OSError, subprocess.CalledProcessError) as error:
            self.problem = str(error)
            return
        finally:
            ready.set()
        chance, order = random.Random(1), 0
        late: list[tuple[float, int, int, bytes]] = []
        while not self.closed:
            wait = min(max(late[0][0] - time.monotonic(), 0), 0.1) if late else 0.1
            for end in select.select(ends, [], [], wait)[0]:
                packet = os.read(end, 65536)
                to_database = end == ends[0]
                if self.loses_to_database if to_database else self.loses_to_worker:
                    continue
                if chance.random() * 100 < self.loss:
                    continue
                order += 1
                heapq.heappush(
                    late, (time.monotonic() + self.delay, order, ends[1] if to_database else ends[0], packet)
                )
            while late and late[0][0] <= time.monotonic():
                _, _, end, packet = heapq.heappop(late)
                os.write(end, packet)
        for end in ends:
            os.close(end)
