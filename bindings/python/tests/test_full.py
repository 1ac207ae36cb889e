"""A driver goes on when a full disk has room again (V23)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: Files may not grow any more from when work begins, until the scheduler says that its store refuses.
PROGRAM = """
import asyncio, os, resource, sys, threading, time
import pyselene as selene

COUNT = 40
done, over = threading.Semaphore(0), threading.Event()
scheduler = selene.Scheduler(sys.argv[1])

@scheduler.handler("report")
def report(run):
    done.release()
    return os.urandom(4000)

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

for number in range(COUNT):
    scheduler.enqueue(f"report {number}", handler="report")
largest = max(os.path.getsize(sys.argv[1] + end) for end in ("", "-wal"))
limit(largest + 20_000)

def make_room():
    while not scheduler.info().troubles:
        time.sleep(0.01)
    limit(resource.RLIM_INFINITY)
    for _ in range(COUNT):
        done.acquire()
    over.set()
    scheduler.stop()

threading.Thread(target=make_room).start()
if sys.argv[2] == "forever":
    scheduler.run_forever()
elif sys.argv[2] == "on a loop":
    asyncio.run(scheduler.run_forever_async())
else:
    with scheduler.driver():
        over.wait()
print(scheduler.info().succeeded)
scheduler.close()
"""


@pytest.mark.parametrize("way", ["forever", "on a loop", "driver"])
def test_v23_what_was_full_goes_on_when_there_is_room(tmp_path: Path, way: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "store"), way], capture_output=True, text=True, timeout=300
    )
    assert (told.returncode, told.stdout) == (0, "40\n"), told.stderr
