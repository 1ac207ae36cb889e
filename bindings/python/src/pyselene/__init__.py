"""Selene: an embeddable scheduler for background work that fits it into a time budget and explains itself.

>>> import pyselene as selene
>>> scheduler = selene.Scheduler()  # or Scheduler("tasks.db"), which remembers
>>> @scheduler.task(priority=selene.Priority.HIGH, expected=2.0)
... def feature_flags(run):
...     return True  # there was new data
>>> report = scheduler.run_cycle(budget=30)
>>> print(report.runs[0].id, report.runs[0].outcome)
feature_flags new_data
>>> scheduler.close()

Durations are seconds (int, float) or timedelta, instants are aware datetimes; results also have both exactly, as
whole nanoseconds, under the same name with `_ns`. Enumerations are taken as members or by name. Loggers: "pyselene"
for what handlers and callbacks raise, "pyselene.library" for what the library says of stores, troubles and drivers.
"""

from __future__ import annotations

from ._conditions import Conditions, Constraint
from ._connect import connect, connect_async
from ._cycle import Cycle, Wait
from ._decision import Decision, Finding, Verdict
from ._driver import Driver
from ._errors import *  # noqa: F403
from ._errors import __all__ as _error_names
from ._event import Event, EventStream, EventType, Subscription, Trouble
from ._explanation import Explanation, Reason, ReasonCode
from ._failure import LastFailure
from ._fields import TaskInfo
from ._governor import Balance, ForecastWindow, Governor
from ._group import GroupInfo
from ._info import SchedulerInfo
from ._library import library_version
from ._output import Output
from ._pace import Pace
from ._pause import Pause
from ._profile import BuiltIn, Factor, Measure, Mode, Profile, Quota, Rule
from ._progress import Progress
from ._report import Plan, PlanRun, Report, ReportRun
from ._run import PENDING, Abandon, Kind, Outcome, Priority, Retry, Run, Stopped, Stopping, StopReason
from ._scheduler import Scheduler
from ._server import Client, Peer, Right, Server, ServerInfo
from ._signal import Presence, Reading, Signal, Source, Thermal
from ._signals import Signals
from ._store import StoreFindings, StoreInfo, check_store, salvage_store
from ._task import Task
from ._terms import Backoff, Disposition, Existing, Exponential, Linear, NoBackoff, QuotaPolicy, Schedule, State
from ._time import Duration
from ._trace import Replay, Trace, replay_trace
from ._waits import WaitChange, WaitPart, Waits

__version__ = "0.2.0"

__all__ = [
    "PENDING",
    "Abandon",
    "Backoff",
    "Balance",
    "BuiltIn",
    "Client",
    "Conditions",
    "Constraint",
    "Cycle",
    "Decision",
    "Disposition",
    "Driver",
    "Duration",
    "Event",
    "EventStream",
    "EventType",
    "Existing",
    "Explanation",
    "Exponential",
    "Factor",
    "Finding",
    "ForecastWindow",
    "Governor",
    "GroupInfo",
    "Kind",
    "LastFailure",
    "Linear",
    "Measure",
    "Mode",
    "NoBackoff",
    "Outcome",
    "Output",
    "Pace",
    "Pause",
    "Peer",
    "Plan",
    "PlanRun",
    "Presence",
    "Priority",
    "Profile",
    "Progress",
    "Quota",
    "QuotaPolicy",
    "Reading",
    "Reason",
    "ReasonCode",
    "Replay",
    "Report",
    "ReportRun",
    "Retry",
    "Right",
    "Rule",
    "Run",
    "Schedule",
    "Scheduler",
    "SchedulerInfo",
    "Server",
    "ServerInfo",
    "Signal",
    "Signals",
    "Source",
    "State",
    "StopReason",
    "Stopped",
    "Stopping",
    "StoreFindings",
    "StoreInfo",
    "Subscription",
    "Task",
    "TaskInfo",
    "Thermal",
    "Trace",
    "Trouble",
    "Verdict",
    "Wait",
    "WaitChange",
    "WaitPart",
    "Waits",
    "check_store",
    "connect",
    "connect_async",
    "library_version",
    "replay_trace",
    "salvage_store",
]
__all__ += _error_names
