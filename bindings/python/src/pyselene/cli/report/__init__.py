"""The HTML page of a report: one file that needs nothing else."""

from .fresh import Fresh, Result, result
from .model import Away, Fate, History, Refusal, Run, Spent, Task, Track, Window
from .page import render

__all__ = [
    "Away", "Fate", "Fresh", "History", "Refusal", "Result", "Run", "Spent", "Task", "Track", "Window", "render",
    "result",
]  # fmt: skip
