"""A worker of a fleet: start it on as many machines as there are, as often as you like.

    pyselene fleet install --dsn "dbname=app"
    python fleet_worker.py "dbname=app" &
    psql app -c "select selene.register('mail-1', handler => 'mail', input => 'to you')"
    pyselene fleet status --dsn "dbname=app"

SIGTERM ends it: what runs may finish, the rest goes back to the fleet.
"""

from __future__ import annotations

import sys
import time

import pyselene as selene
from pyselene.fleet import Fleet

scheduler = selene.Scheduler()


@scheduler.handler("mail")
def mail(run: selene.Run) -> bytes:
    """Sends a letter; whoever delivers it refuses one of a lower fence."""
    time.sleep(0.1)
    print(f"{run.id}: {run.input.decode()} (attempt {run.attempt}, fence {run.fence})", flush=True)
    return b"sent"


if __name__ == "__main__":
    with Fleet(sys.argv[1]).worker(scheduler):
        scheduler.run_forever(lanes=4)
