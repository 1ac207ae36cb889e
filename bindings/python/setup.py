"""The build's own steps: makes the library with the project's Makefile, puts it into the package, names the wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
#: The sources of the library: beside this folder, or in a source distribution's own copy.
ROOT = HERE / "native" if (HERE / "native").exists() else HERE.parent.parent
NEEDED = ("Makefile", "Sources", "include", ".ci", "LICENSE")


def make(folder: Path, *arguments: str) -> None:
    """Runs make; what it prints goes to the standard error, as the standard output is the build tool's."""
    if subprocess.run(["make", "--no-print-directory", "-C", folder, *arguments], stdout=sys.stderr).returncode:
        sys.exit("pyselene: the library could not be built; what is wrong stands above")


def need_tools(folder: Path) -> None:
    """Ends the build with a list of what is missing to compile the library."""
    if shutil.which("make") is None:
        sys.exit("pyselene: the library is compiled here, for which make is missing (Debian and Ubuntu: make)")
    command = ["make", "--no-print-directory", "-C", folder, "deps"]
    told = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
    if told.returncode:
        found = "\n".join(line for line in told.stderr.splitlines() if not line.startswith("make:"))
        sys.exit(f"pyselene: the library is compiled here, and something for that is missing.\n\n{found}\n")


def build_library() -> Path:
    """Compiles the library where the project does, and links it with SQLite inside."""
    if os.environ.get("PYSELENE_LIBRARY"):
        return Path(os.environ["PYSELENE_LIBRARY"]).resolve()
    # In a folder of its own: the project's libselene.so stays as it is.
    folder = "build/python/library"
    make(ROOT, f"OUT={folder}", "SQLITE=-l:libsqlite3.a", "libraries")
    return (ROOT / folder / "libselene.so").resolve()


class BuildLibrary(build_py):
    """Puts the library beside the modules."""

    def run(self) -> None:
        """Builds both."""
        if not os.environ.get("PYSELENE_LIBRARY"):
            need_tools(ROOT)
        super().run()
        target = HERE / "src/pyselene" if self.editable_mode else Path(self.build_lib, "pyselene")
        shutil.copy(build_library(), target / "libselene.so")
        if not self.editable_mode:
            # Where it is edited, the files are read where they are.
            shutil.copytree(ROOT / "Sources/Fleet", target / "fleet/sql", dirs_exist_ok=True)
        if not self.editable_mode:
            shutil.copy(ROOT / "LICENSE", target)


class NativeWheel(bdist_wheel):
    """A wheel for every Python 3 on one platform, named after the oldest C library that it runs with."""

    def get_tag(self) -> tuple[str, str, str]:
        """The wheel's name."""
        platform = super().get_tag()[2]
        library = next(Path(self.bdist_dir or ".").glob("**/pyselene/libselene.so"), None)
        if library is None:
            library = next(HERE.glob("build/lib*/pyselene/libselene.so"), None)
        if library is not None and platform.startswith("linux_"):
            command = ["readelf", "--dynamic", "--version-info", library]
            told = subprocess.run(command, capture_output=True, text=True, check=True)
            versions = [tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", told.stdout)]
            if versions:
                # Below 2.17 there is no such name for this kind of processor.
                platform = platform.replace("linux_", "manylinux_{}_{}_".format(*max(*versions, (2, 17))))
            elif re.search(r"NEEDED.*\[libc\.(so|musl-.*)\]", told.stdout):
                # musl has no versions of symbols; 1.2 is that of today, and all of it is compatible.
                platform = platform.replace("linux_", "musllinux_1_2_")
        return "py3", "none", platform


class SourceWithLibrary(sdist):
    """A source distribution has the sources of the library too."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Copies them."""
        super().make_release_tree(base_dir, files)
        for name in NEEDED:
            source, target = ROOT / name, Path(base_dir, "native", name)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)


class Native(Distribution):
    """Not the same on every platform."""

    def has_ext_modules(self) -> bool:
        """Whether it is bound to a platform."""
        return True


setup(
    distclass=Native,
    cmdclass={"build_py": BuildLibrary, "bdist_wheel": NativeWheel, "sdist": SourceWithLibrary},
)
