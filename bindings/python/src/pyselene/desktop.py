"""Signals that the desktop's services know: whether anybody is active, whether the network is metered, power saving.

Needs the extra `dbus` (pip install 'pyselene[dbus]'). The library reads files alone; what stands behind D-Bus is set by
the host, which this module is:

    async with desktop.follow(scheduler):
        async with scheduler.driver():
            ...
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ._callbacks import log
from ._errors import Closed
from ._signal import Signal

try:
    from dbus_fast import BusType, Message, MessageType
    from dbus_fast.aio import MessageBus
except ModuleNotFoundError as error:
    text = "pyselene.desktop needs dbus-fast; pip install 'pyselene[dbus]' brings it"
    raise ModuleNotFoundError(text, name=error.name) from error

if TYPE_CHECKING:
    from ._scheduler import Scheduler

__all__ = ["follow"]

_PROPERTIES: Final = "org.freedesktop.DBus.Properties"
_BUS: Final = "org.freedesktop.DBus"


def _metered(value: object) -> int | None:
    """NetworkManager's Metered: 1 yes, 2 no, 3 guessed yes, 4 guessed no; 0 is unknown."""
    return {1: 1, 3: 1, 2: 0, 4: 0}.get(value) if isinstance(value, int) else None


@dataclass(frozen=True, slots=True)
class _Fact:
    """A property of a service, and the signal that it is."""

    signal: Signal
    service: str
    path: str
    interface: str
    property: str
    read: Callable[[object], int | None]


_FACTS: Final = (
    _Fact(
        Signal.USER_ACTIVE, "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
        "IdleHint", lambda value: int(not value) if isinstance(value, bool) else None,
    ),
    _Fact(
        Signal.METERED, "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager",
        "org.freedesktop.NetworkManager", "Metered", _metered,
    ),
    # Under its present name, and the one before.
    *(
        _Fact(
            Signal.LOW_POWER_MODE, name, path, name, "ActiveProfile",
            lambda value: int(value == "power-saver") if isinstance(value, str) else None,
        )
        for name, path in (
            ("org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles"),
            ("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles"),
        )
    ),
)  # fmt: skip


@contextlib.asynccontextmanager
async def follow(scheduler: Scheduler, address: str | None = None) -> AsyncIterator[None]:
    """Sets signals as the desktop's services say, and again whenever they say otherwise; takes them back at the end.

    - user_active: logind says that not everybody is idle (IdleHint).
    - metered: NetworkManager says or guesses so (Metered is 1 or 3).
    - low_power_mode: power-profiles-daemon's profile is "power-saver".

    A service that is not there leaves its signal unknown, until it comes. `address` is that of a bus other than the
    system's. OSError: there is no bus.
    """
    bus = MessageBus(address, BusType.SYSTEM)
    try:
        await bus.connect()
    except Exception as error:
        raise OSError(f"no D-Bus at {address or 'the address of the system bus'} to follow: {error}") from error
    follower = _Follower(scheduler, bus)
    try:
        await follower.begin()
        yield
    finally:
        follower.end()
        bus.disconnect()
        with contextlib.suppress(Exception):
            await bus.wait_for_disconnect()  # type: ignore[no-untyped-call]


class _Follower:
    """What is followed on one bus."""

    def __init__(self, scheduler: Scheduler, bus: MessageBus) -> None:
        self._scheduler = scheduler
        self._bus = bus
        self._set: set[Signal] = set()
        #: Which service has what unique name now; signals come under that.
        self._owners: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """Subscribes first and reads then, so that no change is missed."""
        self._bus.add_message_handler(self._received)
        for fact in _FACTS:
            await self._match(
                f"type='signal',sender='{fact.service}',path='{fact.path}',interface='{_PROPERTIES}',"
                f"member='PropertiesChanged',arg0='{fact.interface}'"
            )
            await self._match(
                f"type='signal',sender='{_BUS}',interface='{_BUS}',member='NameOwnerChanged',arg0='{fact.service}'"
            )
        for fact in _FACTS:
            owner = await self._call(_BUS, "/org/freedesktop/DBus", _BUS, "GetNameOwner", "s", [fact.service])
            self._owners[fact.service] = owner or ""
            await self._read(fact)

    def end(self) -> None:
        """Takes back what it set."""
        self._bus.remove_message_handler(self._received)
        for task in tuple(self._tasks):
            task.cancel()
        with contextlib.suppress(Closed):
            for signal in tuple(self._set):
                self._scheduler.signals.clear(signal)

    async def _match(self, rule: str) -> None:
        await self._call(_BUS, "/org/freedesktop/DBus", _BUS, "AddMatch", "s", [rule])

    async def _call(self, service: str, path: str, interface: str, member: str, signature: str, body: list[Any]) -> Any:
        """The first value of the answer; None if there is none."""
        reply = await self._bus.call(
            Message(destination=service, path=path, interface=interface, member=member, signature=signature, body=body)
        )
        if reply is None or reply.message_type is MessageType.ERROR or not reply.body:
            return None
        return reply.body[0]

    async def _read(self, fact: _Fact) -> None:
        found = await self._call(fact.service, fact.path, _PROPERTIES, "Get", "ss", [fact.interface, fact.property])
        if found is not None:
            self._say(fact, found.value)

    def _received(self, message: Message) -> None:
        """Something was announced."""
        if message.message_type is not MessageType.SIGNAL:
            return
        if message.member == "NameOwnerChanged" and message.sender == _BUS:
            self._moved(*message.body)
        elif message.member == "PropertiesChanged":
            interface, changed, invalidated = message.body
            for fact in _FACTS:
                if fact.interface != interface or self._owners.get(fact.service) != message.sender:
                    continue
                if fact.property in changed:
                    self._say(fact, changed[fact.property].value)
                elif fact.property in invalidated:
                    self._soon(fact)

    def _moved(self, service: str, _before: str, owner: str) -> None:
        """A service has come, gone, or been replaced."""
        self._owners[service] = owner
        for fact in _FACTS:
            if fact.service == service:
                if owner:
                    self._soon(fact)
                else:
                    self._say(fact, None)

    def _soon(self, fact: _Fact) -> None:
        task = asyncio.get_running_loop().create_task(self._read(fact))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _say(self, fact: _Fact, value: object) -> None:
        found = fact.read(value)
        try:
            if found is not None:
                self._set.add(fact.signal)
                self._scheduler.signals.set(fact.signal, found)
            elif fact.signal in self._set and not self._has_twin(fact):
                self._set.discard(fact.signal)
                self._scheduler.signals.clear(fact.signal)
        except Closed:
            log.debug("the scheduler is closed; %s is not followed any more", fact.signal)

    def _has_twin(self, fact: _Fact) -> bool:
        """Whether another service that is there says the same."""
        return any(
            other.signal is fact.signal and other.service != fact.service and self._owners.get(other.service)
            for other in _FACTS
        )
