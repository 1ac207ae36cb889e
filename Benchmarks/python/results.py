"""What was found in one run of all benchmarks: measurements, what each way does, the machine, what was left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from measure import Measurement


@dataclass
class Results:
    """Filled line by line from what the programs print."""

    form: str
    machine: dict[str, str]
    measurements: list[Measurement] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def read(self, lines: str) -> None:
        """Adds what a program printed with --json."""
        for line in lines.splitlines():
            found = json.loads(line)
            if "about" in found:
                self.about[found["way"]] = found["about"]
            else:
                self.measurements.append(Measurement(**found))

    def find(self, what: str, way: str, tasks: int = 0) -> Measurement | None:
        """The one measurement of that name."""
        for found in self.measurements:
            if (found.what, found.way, found.tasks) == (what, way, tasks):
                return found
        return None

    def ways(self, what: str) -> list[str]:
        """Who was measured in this, in the order of the programs."""
        return list(dict.fromkeys(found.way for found in self.measurements if found.what == what))

    def of(self, what: str, way: str) -> dict[int, Measurement]:
        """By number of tasks."""
        return {found.tasks: found for found in self.measurements if (found.what, found.way) == (what, way)}

    def sizes(self) -> list[int]:
        """All numbers of tasks that something was measured with."""
        return sorted({found.tasks for found in self.measurements} - {0})

    def disagreements(self) -> Iterator[str]:
        """Those who answer the question that Selene answers must pick the tasks that Selene picks."""
        for way in self.ways("choice"):
            for tasks, found in self.of("choice", way).items():
                own = self.find("choice", "Selene", tasks)
                if own and own.median != found.median:
                    yield f"{way} picked other tasks than Selene among {tasks}"

    def write(self, path: Path) -> None:
        """As JSON."""
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")
