"""The HTML page of a report: one file that needs nothing else."""

from .model import Away, Fate, History, Refusal, Run, Task, Track, Window
from .page import render

__all__ = ["Away", "Fate", "History", "Refusal", "Run", "Task", "Track", "Window", "render"]
