"""Django's tasks, which are part of it since Django 6 and a package of their own before."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any


def _found() -> str:
    for name in ("django.tasks", "django_tasks"):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
            return name
    text = "pyselene.django needs Django 6, or django-tasks beside an earlier one; pip install 'pyselene[django]'"
    raise ModuleNotFoundError(text, name="django.tasks")


_NAME = _found()
_base: Any = importlib.import_module(f"{_NAME}.base")

BaseTaskBackend: Any = importlib.import_module(f"{_NAME}.backends.base").BaseTaskBackend
TaskResultDoesNotExist: Any = importlib.import_module(f"{_NAME}.exceptions").TaskResultDoesNotExist
signals: Any = importlib.import_module(f"{_NAME}.signals")
task_backends: Any = importlib.import_module(_NAME).task_backends
TaskContext: Any = _base.TaskContext
TaskError: Any = _base.TaskError
TaskResult: Any = _base.TaskResult
TaskResultStatus: Any = _base.TaskResultStatus
