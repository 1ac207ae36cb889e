"""A backend for Django's tasks: what an application enqueues is in a store, and processes of its own run it.

Needs Django 6, or an earlier one with the package django-tasks (pip install 'pyselene[django]' brings what fits):

    INSTALLED_APPS = [..., "pyselene.django"]
    TASKS = {
        "default": {
            "BACKEND": "pyselene.django.SeleneBackend",
            "OPTIONS": {"store": BASE_DIR / "tasks.db"},
        }
    }

    python manage.py selene_worker --serve    # has the store and runs tasks; one process
    python manage.py selene_worker            # any number more

Web workers enqueue and look at results through the process that has the store, whichever that is: `pyselene serve` and
`selened` will do, too. When enqueue() has returned the task is on the disk. Each process may be killed: what a worker
was at is tried again by another one, after half a minute. So a task is run at least once.
"""

from __future__ import annotations

from ._backend import SeleneBackend

__all__ = ["SeleneBackend"]
