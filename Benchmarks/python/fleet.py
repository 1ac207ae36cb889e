"""What a fleet costs beside raw SKIP LOCKED and other queues on PostgreSQL, in one run.

    make bench FORM=fleet

Starts a server of its own (fsync and synchronous_commit on) and prints the best and the median of the rounds, and how
each compares with the first of its table. Ends with 1 if a program failed.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys

import fleet_peers
import fleet_records
import fleet_server
import fleet_workers

#: In the order in which a round takes them.
PARTS = {**fleet_records.PARTS, **fleet_workers.PARTS, **fleet_peers.PARTS}
#: These take long and differ little.
ONCE = {"flatness", "snapshot", "restart", "survivors"}


def play(bench: fleet_server.Bench, parts: list[str], rounds: int) -> bool:
    """All rounds; whether nothing failed."""
    failed = False
    for number in range(rounds):
        for part in parts:
            if number > 0 and part in ONCE:
                continue
            try:
                PARTS[part](bench)
            except ImportError as error:
                if number == 0:
                    print(f"left out: {error.name} is not installed")
            except Exception as error:
                failed = True
                print(f"failed: {part}: {type(error).__name__}: {error}")
    return not failed


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=20_000, help="of each worker; multiples of 1000")
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement in the database alone")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    given = parser.parse_args()
    logging.disable()
    bench = fleet_server.Bench(given.tasks, given.seconds)
    succeeded = False
    try:
        with contextlib.suppress(KeyboardInterrupt):
            succeeded = play(bench, given.only, given.rounds)
    finally:
        bench.server.remove()
    bench.tell()
    return int(not succeeded)


if __name__ == "__main__":
    sys.exit(main())
