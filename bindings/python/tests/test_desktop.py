"""The desktop's services: a real bus of the test's own, with services of the test's own on it."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pyselene as selene

dbus_fast = pytest.importorskip("dbus_fast")
from dbus_fast import BusType, PropertyAccess  # noqa: E402
from dbus_fast.aio import MessageBus  # noqa: E402
from dbus_fast.service import ServiceInterface, dbus_property  # noqa: E402

from pyselene import desktop  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={folder}/bus</listen><auth>EXTERNAL</auth>
<policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy>
</busconfig>"""


@pytest.fixture
def bus() -> Iterator[str]:
    daemon = shutil.which("dbus-daemon")
    if daemon is None:
        if os.environ.get("SELENE_TEST_ALL"):
            pytest.fail("there is no dbus-daemon; install the package dbus")
        pytest.skip("there is no dbus-daemon; install the package dbus")
    # The path of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        configuration = Path(folder, "bus.conf")
        configuration.write_text(CONFIGURATION.format(folder=folder))
        command = [daemon, f"--config-file={configuration}", "--nofork", "--print-address=1"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
            process.terminate()


class Login(ServiceInterface):
    def __init__(self) -> None:
        super().__init__("org.freedesktop.login1.Manager")
        self.idle = False

    @dbus_property(access=PropertyAccess.READ, name="IdleHint")
    def idle_hint(self) -> "b":  # type: ignore[name-defined]  # noqa: F821, UP037
        return self.idle

    def tell(self, idle: bool) -> None:
        self.idle = idle
        self.emit_properties_changed({"IdleHint": idle})


class Network(ServiceInterface):
    def __init__(self, metered: int) -> None:
        super().__init__("org.freedesktop.NetworkManager")
        self.metered = metered

    @dbus_property(access=PropertyAccess.READ, name="Metered")
    def metered_property(self) -> "u":  # type: ignore[name-defined]  # noqa: F821, UP037
        return self.metered

    def tell(self, metered: int, *, in_full: bool = True) -> None:
        self.metered = metered
        self.emit_properties_changed({"Metered": metered} if in_full else {}, [] if in_full else ["Metered"])


class Power(ServiceInterface):
    def __init__(self, name: str, profile: str) -> None:
        super().__init__(name)
        self.profile = profile

    @dbus_property(access=PropertyAccess.READ, name="ActiveProfile")
    def active_profile(self) -> "s":  # type: ignore[name-defined]  # noqa: F821, UP037
        return self.profile

    def tell(self, profile: str) -> None:
        self.profile = profile
        self.emit_properties_changed({"ActiveProfile": profile})


@asynccontextmanager
async def serving(address: str, name: str, path: str, interface: ServiceInterface) -> AsyncIterator[None]:
    connection = await MessageBus(address, BusType.SYSTEM).connect()
    connection.export(path, interface)
    await connection.request_name(name)
    try:
        yield
    finally:
        connection.disconnect()
        await connection.wait_for_disconnect()  # type: ignore[no-untyped-call]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


def reading(scheduler: selene.Scheduler, name: str) -> Any:
    found = scheduler.signals[name]
    return bool(found.value) if found.source is selene.Source.HOST else None


def is_metered(scheduler: selene.Scheduler, wanted: bool | None) -> bool:
    return reading(scheduler, "metered") is wanted


LOGIN = ("org.freedesktop.login1", "/org/freedesktop/login1")
NETWORK = ("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager")
POWER = ("org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles")
OLD_POWER = ("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles")
NAMES = ("user_active", "metered", "low_power_mode")


def test_it_reads_what_is_there_follows_it_and_takes_it_back(bus: str) -> None:
    async def main() -> None:
        login, network, power = Login(), Network(3), Power(POWER[0], "balanced")
        with selene.Scheduler() as scheduler:
            async with serving(bus, *LOGIN, login), serving(bus, *NETWORK, network), serving(bus, *POWER, power):
                async with desktop.follow(scheduler, bus):
                    assert [reading(scheduler, name) for name in NAMES] == [True, True, False]
                    login.tell(True)
                    await until(lambda: reading(scheduler, "user_active") is False)
                    power.tell("power-saver")
                    await until(lambda: reading(scheduler, "low_power_mode") is True)
                    for metered, wanted in ((1, True), (2, False), (3, True), (4, False), (0, None)):
                        network.tell(metered)
                        await until(partial(is_metered, scheduler, wanted))
                    network.tell(1, in_full=False)
                    await until(lambda: reading(scheduler, "metered") is True)
                assert [reading(scheduler, name) for name in NAMES] == [None, None, None]

    asyncio.run(main())


def test_services_come_and_go(bus: str) -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:
            async with desktop.follow(scheduler, bus):
                assert [reading(scheduler, name) for name in NAMES] == [None, None, None]
                for _ in range(2):
                    async with serving(bus, *NETWORK, Network(1)):
                        await until(lambda: reading(scheduler, "metered") is True)
                    await until(lambda: reading(scheduler, "metered") is None)

    asyncio.run(main())


def test_power_profiles_has_two_names_of_which_one_is_enough(bus: str) -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:
            async with desktop.follow(scheduler, bus), serving(bus, *OLD_POWER, Power(OLD_POWER[0], "power-saver")):
                await until(lambda: reading(scheduler, "low_power_mode") is True)
                async with serving(bus, *POWER, Power(POWER[0], "power-saver")):
                    await asyncio.sleep(0.05)
                await asyncio.sleep(0.05)
                assert reading(scheduler, "low_power_mode") is True

    asyncio.run(main())


def test_others_cannot_speak_for_a_service(bus: str) -> None:
    async def main() -> None:
        stranger = Network(1)
        with selene.Scheduler() as scheduler:
            async with (
                serving(bus, *NETWORK, Network(2)),
                serving(bus, "org.example.Stranger", NETWORK[1], stranger),
                desktop.follow(scheduler, bus),
            ):
                stranger.tell(1)
                await asyncio.sleep(0.1)
                assert reading(scheduler, "metered") is False

    asyncio.run(main())


def test_a_veto_from_the_desktop_preempts(bus: str) -> None:
    async def main() -> list[str]:
        login, seen = Login(), []
        login.idle = True
        running = asyncio.Event()
        with selene.Scheduler() as scheduler:
            scheduler.governor.profile = "apple"
            scheduler.governor.used()

            @scheduler.task(kind="processing", schedule="once")
            async def work(run: selene.Run) -> None:
                running.set()
                try:
                    await asyncio.sleep(20)
                except asyncio.CancelledError:
                    seen.append(str(run.stopping.reason))
                    raise

            async with serving(bus, *LOGIN, login), desktop.follow(scheduler, bus), scheduler.driver():
                await asyncio.wait_for(running.wait(), 20)
                login.tell(False)
                await until(lambda: bool(seen))
        return seen

    assert asyncio.run(main()) == ["preempted"]


def test_no_bus_is_an_error_of_the_system(tmp_path: Path) -> None:
    async def main() -> None:
        with selene.Scheduler() as scheduler:
            async with desktop.follow(scheduler, f"unix:path={tmp_path}/none"):
                pass

    with pytest.raises(OSError, match=r"^no D-Bus at unix:path=.*/none to follow: .*No such file"):
        asyncio.run(main())
