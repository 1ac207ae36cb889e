"""A worker of pyselene, which is killed between complete_in and the commit of it, or is not: dying.py DSN dies|lives."""

from __future__ import annotations

import os
import signal
import sys
import threading

import psycopg
import pyselene
from pyselene.fleet import Fleet


def main(dsn: str, dies: bool) -> None:
    """Until its input ends."""
    scheduler = pyselene.Scheduler()

    @scheduler.handler("once")
    def once(run: pyselene.Run) -> None:
        with psycopg.connect(dsn) as connection:
            connection.execute("insert into public.effect values (%s, %s)", (run.fence, run.attempt))
            run.complete_in(connection, result=b"done")
            if dies:
                os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=scheduler.run_forever, daemon=True).start()
    with Fleet(dsn).worker(scheduler, lease=3, poll=0.05):
        sys.stdin.read()
    scheduler.close(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "dies")
