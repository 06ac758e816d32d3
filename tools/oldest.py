"""The oldest versions that pyproject.toml allows: as constraints for pip, and compared with what is installed.

Run by `make oldest`, whose environment holds these versions. Printed, they are what `pip install --constraint`
reads; with ``--check``, the versions beside this interpreter must be them.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
#: Packages that are not asked for by polyfold but by old versions of what is, and of their time: newer ones say
#: that these old versions call them by deprecated names, and warnings are errors in the tests.
OF_THEIR_TIME = {"click": "<8.4", "pyparsing": "<3.3"}


def read_project(path: Path = PYPROJECT) -> dict[str, Any]:
    """Read the ``project`` table of a pyproject.toml."""
    project: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return project


def iterate_own_requirements(
    project: Mapping[str, Any], extras: tuple[str, ...]
) -> Iterator[tuple[str, list[Requirement]]]:
    """Go through what an install asks for itself: the core, then the extras with the extras that they name.

    Parameters
    ----------
    project : mapping
        The ``project`` table of a pyproject.toml.
    extras : tuple of str
        The extras asked for; empty for the core alone.

    Yields
    ------
    asker : str
        ``"core"`` or the name of an extra.
    requirements : list of Requirement
        What it asks of other packages.
    """
    own = canonicalize_name(project["name"])
    yield "core", [Requirement(line) for line in project["dependencies"]]
    waiting, seen = list(extras), set()
    while waiting:
        extra = waiting.pop(0)
        if extra in seen:
            continue
        seen.add(extra)
        requirements = [Requirement(line) for line in project["optional-dependencies"][extra]]
        for requirement in requirements:
            if canonicalize_name(requirement.name) == own:
                waiting.extend(sorted(requirement.extras))
        yield extra, [asked for asked in requirements if canonicalize_name(asked.name) != own]


def find_lower_bound(requirement: Requirement) -> Version:
    """Return the version after ``>=``; without exactly one, the requirement allows what no run has tested."""
    bounds = [Version(bound.version) for bound in requirement.specifier if bound.operator == ">="]
    if len(bounds) != 1:
        raise ValueError(f"`{requirement}` must have one lower bound, such as `{requirement.name}>=1.0`.")
    return bounds[0]


def find_oldest(project: Mapping[str, Any], extras: tuple[str, ...] = ("test",)) -> dict[str, Version]:
    """Return the oldest version allowed of each package, by its name; of several bounds, the highest."""
    oldest: dict[str, Version] = {}
    for _, requirements in iterate_own_requirements(project, extras):
        for requirement in requirements:
            name, bound = canonicalize_name(requirement.name), find_lower_bound(requirement)
            oldest[name] = max(bound, oldest.get(name, bound))
    return dict(sorted(oldest.items()))


def format_constraints(oldest: Mapping[str, Version]) -> str:
    """Write the versions as a constraints file of pip, with what must be of their time."""
    pinned = "".join(f"{name}=={version}\n" for name, version in oldest.items())
    return pinned + "".join(f"{name}{bound}\n" for name, bound in OF_THEIR_TIME.items())


def compare_installed(oldest: Mapping[str, Version]) -> bool:
    """Print a table of the bounds and of what is installed, and tell whether they are the same."""
    print(f"{'package':<20} {'bound':<12} installed")
    same = True
    for name, bound in oldest.items():
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            installed = "missing"
        agrees = installed != "missing" and Version(installed) == bound
        same &= agrees
        print(f"{name:<20} {bound!s:<12} {installed}{'' if agrees else '   <- differs'}")
    return same


def main() -> int:
    """Print the constraints, or compare them with what is installed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with what is installed here")
    oldest = find_oldest(read_project())
    if not parser.parse_args().check:
        print(format_constraints(oldest), end="")
        return 0
    if compare_installed(oldest):
        return 0
    print("The environment does not hold the oldest versions; remove it and run `make oldest`.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
