"""A worker of pyselene that says what it does, as c/worker.c: worker.py DSN NAME [KEY=VALUE]..., with the same keys and lines."""

from __future__ import annotations

import logging
import sys
import threading
import time

import pyselene
from pyselene.fleet import Fleet

SPEAKS = threading.Lock()


def say(*words: object) -> None:
    """A line."""
    with SPEAKS:
        print(*words, flush=True)


def main(dsn: str, name: str, *options: str) -> None:
    """Until its input ends."""
    told = dict(one.split("=", 1) for one in options)
    scheduler = pyselene.Scheduler(stop_grace=3600)

    def seconds(key: str, ms: int) -> float:
        return int(told.get(key, ms)) / 1000

    @scheduler.handler("send")
    def send(run: pyselene.Run) -> bytes:
        say("begin", run.id, run.attempt, run.fence)
        time.sleep(seconds("ms", 0))
        say("end", run.id)
        return b"sent " + run.input

    @scheduler.handler("fail")
    def fail(run: pyselene.Run) -> None:
        say("begin", run.id, run.attempt, run.fence)
        raise ValueError('no "luck"')

    @scheduler.handler(name)
    @scheduler.handler("last")
    def last(run: pyselene.Run) -> None:
        say("begin", run.id, run.attempt, run.fence)
        run.stopping.wait()
        say("stop", run.id, str(run.stopping.reason))

    @scheduler.handler("quit")
    def quit(run: pyselene.Run) -> None:
        say("begin", run.id, run.attempt, run.fence)
        run.stopping.wait()
        raise RuntimeError("was asked to stop")

    def tell(event: pyselene.Event) -> None:
        if event.detail is pyselene.Trouble.FLEET:
            say("trouble", "begins" if event.error else "ends", event.error or "")
        if event.detail is pyselene.Trouble.FLEET_CLOCK:
            say("clock", "begins" if event.error else "ends", event.error or "")

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "cannot listen" in record.getMessage():
                say("pooled", record.getMessage())

    logging.getLogger("pyselene").addHandler(Listening())
    scheduler.observe(tell)
    worker = Fleet(dsn, listen_dsn=told.get("listen_dsn")).worker(
        scheduler,
        name=name,
        labels={"eu"},
        lease=seconds("lease", 30_000),
        poll=seconds("poll", 50),
        horizon=seconds("horizon", 250),
        listen=told.get("polls") != "1",
        relaxed=told.get("relaxed") == "1",
    )
    worker.open()
    windows = threading.Thread(target=scheduler.run_forever, kwargs={"lanes": int(told.get("lanes", 4))}, daemon=True)
    windows.start()
    ended = threading.Event()

    def read() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    listens = False
    while not ended.wait(0.01):
        now = worker.info().listens
        if now and not listens:
            say("listens")
        listens = now
    worker.close(seconds("grace", 30_000))
    say("stopped", 0)
    scheduler.close(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
