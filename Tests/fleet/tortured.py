"""One worker of the torture: tortured.py DSN NUMBER LEDGER. It writes down what it does, and may be killed at any moment.

It is a node, whose handlers take up to 4 ms and fail once in twenty times. It ends when a file `stop` is in the ledger's folder.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from pathlib import Path

from node import Node, Run

LEASE = 2_000_000_000


def main(dsn: str, name: str, folder: Path) -> None:
    """Until it may stop."""
    chance = random.Random(os.getpid())
    ledger = (folder / f"{name}.{os.getpid()}").open("a", buffering=1)

    def say(*words: object) -> None:
        ledger.write(" ".join(map(str, words)) + "\n")

    def handle(_: Run) -> None:
        time.sleep(chance.random() * 0.004)
        if chance.random() < 0.05:
            raise ValueError("once in twenty times")

    node = Node(dsn, {"h": handle}, name=name, lease=LEASE, say=say)

    def watch() -> None:
        while not (folder / "stop").exists():
            time.sleep(0.05)
        node.close()

    threading.Thread(target=watch, daemon=True).start()
    node.work()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
