"""The exceptions: one class for each status of the library, all under SeleneError."""

from __future__ import annotations

from . import _raw
from ._fault import Fault

__all__ = [
    "AlreadyCompleted",
    "AlreadyExists",
    "Busy",
    "Closed",
    "Exhausted",
    "Forked",
    "ImmediateRunIneligible",
    "Internal",
    "InvalidArgument",
    "InvalidHandle",
    "NotFound",
    "NotPermitted",
    "OutOfQuota",
    "OutcomeUnknown",
    "OwnerAway",
    "Reentrant",
    "Refused",
    "SeleneError",
    "StaleRun",
    "StoreCannotOpen",
    "StoreCorrupt",
    "StoreError",
    "StoreForeign",
    "StoreFull",
    "StoreIO",
    "StoreLocked",
    "StoreMoved",
    "StoreNewer",
    "TooLarge",
    "TooManyPending",
    "TooSoon",
    "Unavailable",
    "Unsupported",
    "UnsupportedStruct",
]

_NO_FAULT = Fault()


class SeleneError(Exception):
    """A call was refused or failed; nothing changed.

    `status` is the library's number, `name` its name, `detail` says which field, what was found, what is allowed. The
    same as data, None where there is no such thing:

    - `field`: the parameter: "priority", "tags[2]".
    - `found`: what it was: a number, a name, a path; seconds for a length of time, a datetime for an instant.
    - `allowed`: what it may be, in words: "1 … 5".
    - `limits`: the least and the greatest number that is allowed; None for the one that does not exist.

    >>> import pyselene as selene
    >>> with selene.Scheduler() as scheduler:
    ...     try:
    ...         scheduler.run_cycle(budget=5, lanes=1025)
    ...     except selene.InvalidArgument as error:
    ...         error.detail, error.field, error.found, error.limits
    ('lanes is 1025; allowed: 1 … 1024', 'lanes', 1025, (1, 1024))
    """

    def __init__(self, status: int, name: str, detail: str, fault: Fault = _NO_FAULT) -> None:
        super().__init__(status, name, detail, fault)
        self.status = status
        self.name = name
        self.detail = detail
        self._fault = fault
        self.field, self.found, self.allowed, self.limits = fault[:4]

    def __str__(self) -> str:
        return f"{self.detail} [{self.name}]"


class Unavailable(SeleneError):
    """The kind is switched off."""


class TooManyPending(SeleneError):
    """The limit of pending requests of this kind, or of waiting successors, is reached."""


class NotPermitted(SeleneError):
    """The scheduler was opened with a list of permitted ids and this is not among them."""


class OutOfQuota(SeleneError):
    """The quota of expedited tasks is used up."""


class ImmediateRunIneligible(SeleneError):
    """The task of a window of one task cannot run now."""


class InvalidArgument(SeleneError, ValueError):
    """A parameter is outside what is allowed."""


class InvalidHandle(SeleneError):
    """The run, cycle or scheduler was never given out or is closed."""


class Closed(InvalidHandle):
    """The scheduler or cycle is closed."""


class UnsupportedStruct(SeleneError):
    """The library and pyselene do not belong together."""


class Unsupported(SeleneError):
    """The combination is not supported."""


class TooLarge(SeleneError, ValueError):
    """The input is larger than the scheduler's max_input_size."""


class NotFound(SeleneError, LookupError):
    """No task or handler has that name."""


class AlreadyExists(SeleneError):
    """A handler of that name is registered, or its last run has not returned."""


class AlreadyCompleted(SeleneError):
    """The run was completed before; the first outcome stands."""


class StaleRun(SeleneError):
    """The run was stopped, expired, or belongs to an earlier life of the scheduler."""


class Busy(SeleneError):
    """A cycle is open, or too many threads are still in handlers that overran."""


class TooSoon(SeleneError):
    """The minimum interval of the kind has not passed."""


class Reentrant(SeleneError):
    """The call is not legal inside a callback of the same scheduler."""


class Forked(SeleneError):
    """The scheduler was opened before fork() and belongs to the parent process.

    The child may open one of its own, with another store: this one is the parent's while that lives (StoreLocked).
    """


class Exhausted(SeleneError):
    """A resource ran out, such as threads."""


class Internal(SeleneError):
    """An internal consistency check failed: an error of the library."""


class StoreError(SeleneError):
    """Something is wrong with the store."""


class StoreCannotOpen(StoreError, OSError):
    """The store cannot be opened or made: a directory, no such folder, no permission, read-only."""

    __init__ = StoreError.__init__


class StoreLocked(StoreError):
    """Another scheduler, in this process or another, has the store open; `detail` names the process."""


class StoreCorrupt(StoreError):
    """The file is damaged; salvage_store() saves what can be read. It was left as it is."""


class StoreForeign(StoreError):
    """The file is not a Selene store. It was left as it is."""


class StoreNewer(StoreError):
    """The store was written by a newer version of Selene. It was left as it is."""


class StoreFull(StoreError):
    """The disk or the quota is full; nothing changed."""


class StoreIO(StoreError):
    """Reading or writing failed; nothing changed."""


class OutcomeUnknown(StoreError):
    """A write could not be brought to the disk: the store is of no use until it is opened again."""


class StoreMoved(StoreError):
    """The file of the store or its log was removed, renamed or replaced while it was open; nothing changed."""


class OwnerAway(SeleneError):
    """No process serves the store, or the one that did has ended or does not answer; the detail says whether what was
    asked may have been carried out.
    """

    @property
    def timeout(self) -> float | None:
        """How many seconds the owner was waited for, if there is one and it did not answer in time; else None."""
        return self._fault.timeout

    @property
    def in_doubt(self) -> bool:
        """Whether what was asked may have been carried out; else nothing was changed."""
        return self._fault.in_doubt


class Refused(SeleneError):
    """The process that has the store open does not permit this user to do so."""


_CLASSES: dict[int, type[SeleneError]] = {
    _raw.SELENE_ERROR_UNAVAILABLE: Unavailable,
    _raw.SELENE_ERROR_TOO_MANY_PENDING: TooManyPending,
    _raw.SELENE_ERROR_NOT_PERMITTED: NotPermitted,
    _raw.SELENE_ERROR_OUT_OF_QUOTA: OutOfQuota,
    _raw.SELENE_ERROR_IMMEDIATE_RUN_INELIGIBLE: ImmediateRunIneligible,
    _raw.SELENE_ERROR_INVALID_ARGUMENT: InvalidArgument,
    _raw.SELENE_ERROR_INVALID_HANDLE: InvalidHandle,
    _raw.SELENE_ERROR_UNSUPPORTED_STRUCT: UnsupportedStruct,
    _raw.SELENE_ERROR_UNSUPPORTED: Unsupported,
    _raw.SELENE_ERROR_TOO_LARGE: TooLarge,
    _raw.SELENE_ERROR_NOT_FOUND: NotFound,
    _raw.SELENE_ERROR_ALREADY_EXISTS: AlreadyExists,
    _raw.SELENE_ERROR_ALREADY_COMPLETED: AlreadyCompleted,
    _raw.SELENE_ERROR_STALE_RUN: StaleRun,
    _raw.SELENE_ERROR_BUSY: Busy,
    _raw.SELENE_ERROR_TOO_SOON: TooSoon,
    _raw.SELENE_ERROR_REENTRANT: Reentrant,
    _raw.SELENE_ERROR_FORKED: Forked,
    _raw.SELENE_ERROR_EXHAUSTED: Exhausted,
    _raw.SELENE_ERROR_INTERNAL: Internal,
    _raw.SELENE_ERROR_STORE_CANNOT_OPEN: StoreCannotOpen,
    _raw.SELENE_ERROR_STORE_LOCKED: StoreLocked,
    _raw.SELENE_ERROR_STORE_CORRUPT: StoreCorrupt,
    _raw.SELENE_ERROR_STORE_FOREIGN: StoreForeign,
    _raw.SELENE_ERROR_STORE_NEWER: StoreNewer,
    _raw.SELENE_ERROR_STORE_FULL: StoreFull,
    _raw.SELENE_ERROR_STORE_IO: StoreIO,
    _raw.SELENE_ERROR_OUTCOME_UNKNOWN: OutcomeUnknown,
    _raw.SELENE_ERROR_STORE_MOVED: StoreMoved,
    _raw.SELENE_ERROR_OWNER_AWAY: OwnerAway,
    _raw.SELENE_ERROR_REFUSED: Refused,
}


def error_class(status: int) -> type[SeleneError]:
    """The class of a status."""
    return _CLASSES.get(status, SeleneError)
