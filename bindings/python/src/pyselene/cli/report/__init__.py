"""The HTML page of a report: one file that needs nothing else."""

from .model import Away, Fate, History, Run, Task, Window
from .page import render

__all__ = ["Away", "Fate", "History", "Run", "Task", "Window", "render"]
