"""A process that runs what a selened hands out, and says what it does, as c/member.c: member.py SOCKET MILLISECONDS."""

from __future__ import annotations

import sys
import threading
import time

import pyselene as selene


def say(*words: object) -> None:
    """One line, whole."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(path: str, takes: float) -> None:
    """Until its input ends."""
    with selene.connect(path, pool="python", wait=60) as scheduler:

        def send(run: selene.Run) -> bytes:
            say("begin", run.id, run.attempt, run.fence)
            time.sleep(takes)
            say("end", run.id)
            return b"sent " + run.input

        def last(run: selene.Run) -> None:
            say("begin", run.id, run.attempt, run.fence)
            while not run.stopping:
                time.sleep(0.002)
            say("stop", run.id, run.stopping.reason)

        scheduler.register_handler("send", send)
        scheduler.register_handler("last", last)

        def until_told() -> None:
            sys.stdin.read()
            scheduler.stop()

        threading.Thread(target=until_told, daemon=True).start()
        say("serves")
        scheduler.run_forever(lanes=2, signals=False)
    say("closed", "OK")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) / 1000)
