"""Known vulnerabilities of what is installed beside this interpreter, by pip-audit.

Run by `make audit`. Exit codes: 0 where every package was looked up and every finding is explained in
audit-explained.toml, 1 where a finding is not explained, 3 where a package could not be looked up. pip-audit ends
with 0 where it could look up nothing; here this is never taken for a clean answer.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from pip._internal.models.index import PyPI

EXPLAINED = Path(__file__).parent / "audit-explained.toml"
NOT_EXPLAINED, NOT_LOOKED_UP = 1, 3
OWN = "polyfold"  # not a dependency of its own


def ask_pip_audit(service: str) -> list[dict[str, Any]]:
    """Return what pip-audit tells of each package installed, or nothing where its service cannot be reached."""
    command = [sys.executable, "-m", "pip_audit", "--vulnerability-service", service, "--format", "json"]
    ended = subprocess.run([*command, "--progress-spinner", "off"], capture_output=True, text=True, check=False)
    try:
        packages: list[dict[str, Any]] = json.loads(ended.stdout)["dependencies"]
    except (json.JSONDecodeError, KeyError):
        reason = (ended.stderr.strip() or "no answer").splitlines()[-1]
        print(f"pip-audit could not ask {service}: {reason}", file=sys.stderr)
        return []
    return [package for package in packages if package["name"] != OWN]


def ask_newest(name: str, version: str) -> list[dict[str, Any]] | None:
    """Return the vulnerabilities of a version from the page of its project, nothing where it is not the newest.

    A mirror of PyPI can have the page of a project, which tells of the newest version, and not those of versions,
    which pip-audit asks for.
    """
    try:
        with urllib.request.urlopen(f"{PyPI.pypi_url}/{name}/json", timeout=30) as answer:
            page = json.load(answer)
    except (OSError, ValueError):
        return None
    if page["info"]["version"] != version or not isinstance(page.get("vulnerabilities"), list):
        return None
    return [found for found in page["vulnerabilities"] if not found.get("withdrawn")]


def look_up(packages: Iterable[Mapping[str, Any]]) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Return the vulnerabilities of each package that could be looked up, and the names of the others."""
    found: dict[str, list[dict[str, Any]]] = {}
    missing = []
    for package in packages:
        name = package["name"]
        answer = package["vulns"] if "skip_reason" not in package else ask_newest(name, metadata.version(name))
        if answer is None:
            missing.append(f"{name} {metadata.version(name)}")
        else:
            found[name] = answer
    return found, missing


def select_unexplained(
    found: Mapping[str, Iterable[Mapping[str, Any]]], explained: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Print every finding once under all its names, and return those that no explanation names."""
    unexplained: list[tuple[str, str]] = []
    for package, findings in found.items():
        told: set[str] = set()
        for finding in findings:
            names = {finding["id"], *finding["aliases"]}
            if names & told:
                continue
            told |= names
            reason = next((explained[name] for name in sorted(names) if name in explained), None)
            what = f"{package} {metadata.version(package)}: {', '.join(sorted(names))}"
            print(f"{what}: {reason or 'NOT EXPLAINED'}")
            if reason is None:
                unexplained.append((package, finding["id"]))
    return unexplained


def main() -> int:
    """Look up every package, and tell of what was found and of what was not looked up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measured", type=Path, help="file for the figures, as JSON")
    measured = parser.parse_args().measured
    explained: dict[str, str] = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["explained"]
    packages = ask_pip_audit("pypi")
    if not packages or all("skip_reason" in package for package in packages):
        packages = ask_pip_audit("osv") or packages
    found, missing = look_up(packages)
    unexplained = select_unexplained(found, explained)
    known = {name for findings in found.values() for one in findings for name in (one["id"], *one["aliases"])}
    for stale in sorted(set(explained) - known):
        print(f"{stale} is explained and was not found: remove it from {EXPLAINED.name}")
    print(f"{len(found)} packages looked up, {len(missing)} not; {len(unexplained)} findings not explained")
    if measured:
        figures = {"looked_up": len(found), "explained": len(explained), "unexplained": len(unexplained)}
        measured.write_text(json.dumps(figures | {"missing": missing}), encoding="utf-8")
    if unexplained:
        return NOT_EXPLAINED
    if missing or not found:
        print(f"NOT AUDITED, for want of an advisory service: {', '.join(missing) or 'anything'}", file=sys.stderr)
        return NOT_LOOKED_UP
    return 0


if __name__ == "__main__":
    sys.exit(main())
