"""The licences of everything that polyfold and its extras install, as docs/licences.md.

Run by `make licences` in the environment of the tests, from the metadata of what is installed there. A licence
outside the families below fails the run, unless EXPLAINED says why it may stay.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from oldest import iterate_own_requirements, read_project

PAGE = Path(__file__).parent.parent / "docs" / "licences.md"
EXTRA = "test"  # pulls in every extra that the library imports

#: Families whose licences a BSD library can depend on. Weak copyleft binds the files of the dependency alone.
ALLOWED = {
    "permissive": {
        "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-CMU",
        "PSF-2.0", "Unlicense", "Zlib",
    },
    "exception": {"LLVM-exception"},
    "weak copyleft": {"MPL-2.0"},
}  # fmt: skip
#: A package whose licence is outside these families, and why it may stay.
EXPLAINED: dict[str, str] = {}
#: What packages write where an SPDX identifier belongs.
SPELLINGS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License": "Apache-2.0",
    "Apache License v2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD License": "BSD",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSFL": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
HEADING = """# Licences of the dependencies

Written by `make licences`, from the metadata of the packages that `pip install "polyfold[test]"` installs. Under
*asked for by* stands the core, or else the extras that bring a package, itself or with another. *BSD* is one of
the BSD licences, where a package does not say which. None of them is part of polyfold, which is BSD-3-Clause.

| package | licence | asked for by |
|---|---|---|
"""


def read_licence(package: str) -> str:
    """Return the licence that a package names: the SPDX expression, or a short text, or else its classifiers."""
    described = metadata.metadata(package)
    [expression] = described.get_all("License-Expression") or [""]
    text: str = (described.get_all("License") or [""])[0]
    if expression:
        return str(expression)
    if text and "\n" not in text and len(text) < 60:  # longer ones are the licence itself
        return SPELLINGS.get(text, text)
    classifiers = [line.split(" :: ") for line in described.get_all("Classifier") or []]
    names = [words[-1] for words in classifiers if words[0] == "License"]
    return " AND ".join(SPELLINGS.get(name, name) for name in names) or "unknown"


def find_refused(licence: str) -> list[str]:
    """Return the identifiers of a licence expression that are in none of the families allowed."""
    allowed = set().union(*ALLOWED.values())
    if licence in allowed:
        return []
    identifiers = re.split(r"\s+(?:AND|OR|WITH)\s+", licence.replace("(", " ").replace(")", " ").strip())
    return [identifier for identifier in identifiers if identifier not in allowed]


def iterate_needs(requirement: Requirement) -> Iterator[Requirement]:
    """Go through what an installed package asks for on this machine, with the extras it is asked with."""
    for line in metadata.requires(requirement.name) or []:
        need = Requirement(line)
        if need.marker is None or any(
            need.marker.evaluate({"extra": extra}) for extra in ("", *sorted(requirement.extras))
        ):
            yield need


def close_over(requirements: Iterable[Requirement]) -> set[str]:
    """Return the names of packages that requirements install, with all they need in turn."""
    waiting, seen = list(requirements), set()
    while waiting:
        requirement = waiting.pop()
        visit = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if visit not in seen:
            seen.add(visit)
            waiting.extend(iterate_needs(requirement))
    return {str(name) for name, _ in seen}


def find_askers() -> dict[str, list[str]]:
    """Return who asks for each package: the core alone, or else the extras in their order."""
    project = read_project()
    askers: dict[str, list[str]] = {}
    for extra, requirements in iterate_own_requirements(project, (EXTRA,)):
        for name in close_over(requirements):
            askers.setdefault(name, []).append(extra)
    return {name: ["core"] if "core" in askers[name] else sorted(askers[name]) for name in sorted(askers)}


def main() -> int:
    """Write the page, and tell of every licence that is not allowed."""
    rows, refused = [], []
    for name, extras in find_askers().items():
        licence = read_licence(name)
        rows.append(f"| {name} | {licence} | {', '.join(extras)} |\n")
        if find_refused(licence) and name not in EXPLAINED:
            refused.append(f"{name}: {licence} is in no family allowed; explain it in {Path(__file__).name}")
    PAGE.write_text(HEADING + "".join(rows), encoding="utf-8")
    print(f"{len(rows)} packages in {PAGE.name}, {len(refused)} with a licence that is not allowed")
    print("\n".join(refused), file=sys.stderr, end="\n" if refused else "")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
