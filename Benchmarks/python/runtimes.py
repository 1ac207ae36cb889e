"""What a pulled run costs in each binding beside C: `make runtimes` builds the programs and runs this.

Each program registers 1 000 tasks and then, for each line that it reads, pulls a window of 500 runs and answers ns a
run. They are asked in turn, round after round, so that what the machine does meanwhile meets them all; each round's
figure is divided by that of C in the same round.
"""

from __future__ import annotations

import shlex
import statistics
import subprocess
import sys

ROUNDS = 200


class Program:
    """One binding's program, and what it answered."""

    def __init__(self, name: str, command: str) -> None:
        self.name = name
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.times: list[float] = []

    def ask(self) -> None:
        """One window."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.times.append(float(self.process.stdout.readline()))


def main(arguments: list[str]) -> int:
    """Prints the table; arguments are NAME=COMMAND, C first."""
    programs = [Program(*argument.split("=", 1)) for argument in arguments]
    for _ in range(20):
        for program in programs:
            program.ask()
    for program in programs:
        program.times.clear()
    for _ in range(ROUNDS):
        for program in programs:
            program.ask()
    reference = programs[0].times
    print(f"a pulled run of a window of 500, {ROUNDS} rounds")
    print(f"{'':12} {'best':>9} {'median':>9} {'times C, median':>16}")
    for program in programs:
        ratio = statistics.median(time / other for time, other in zip(program.times, reference, strict=True))
        best, middle = min(program.times), statistics.median(program.times)
        print(f"{program.name:12} {best:6.0f} ns {middle:6.0f} ns {ratio:16.2f}")
        program.process.communicate()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
