"""The figures and lists of docs/guarantees.md, from what the trials measured and the tests say of themselves.

Run by `make guarantees`, after `make trials`, `make test-deep`, `make coverage`, `make mutants` and `make audit`,
each of which leaves a file in guarantees_output. What stands between the marks of the page is written anew, and
nothing else; figures of a command that was not run again stay as they are, with their day and commit. With
``--lists`` only the lists are written, which need no measurement.
"""

from __future__ import annotations

import argparse
import ast
import json
import platform
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

from covered import read_shares

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "guarantees.md"
MEASURED = ROOT / "guarantees_output"

#: Lists of the page, and the tests whose first sentences they are.
LISTS = {
    "hard inputs": "tests/test_hard_outcomes.py",
    "hostile files": "tests/test_hostile_files.py",
    "hostile names": "tests/test_hostile_names.py",
}

#: What the trials leave behind, and the commands that do.
COMMANDS = {
    "trials.xml": "trials",
    "deep.xml": "test-deep",
    "coverage.json": "coverage",
    "mutants.json": "mutants",
    "audit.json": "audit",
}

#: What stands where there never was a figure.
NOT_MEASURED = "not measured yet"

#: Libraries on whose versions bits depend.
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "safetensors", "faiss-cpu")


def list_tests(path: Path) -> Iterator[tuple[str, str]]:
    """Go through the tests of a file, and the first sentence that each says of itself."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            said = ast.get_docstring(node) or ""
            if not said:
                raise SystemExit(f"{path.name}: {node.name} does not say what it promises.")
            yield node.name, " ".join(said.split("\n\n")[0].split())


def write_list(source: str) -> str:
    """Return a list of what the tests of a file promise."""
    return "\n".join(f"- {said} (`{source}::{name}`)" for name, said in list_tests(ROOT / source))


def read_trials(name: str) -> tuple[int, int, dict[str, list[float]]]:
    """Return how many tests of a run passed and were skipped, and the figures that they recorded.

    A test that was tried again afterwards counts as it ended then.
    """
    first = MEASURED / name
    runs = [first, *sorted(MEASURED.glob(f"{first.stem}-*.xml"), key=lambda path: path.stat().st_mtime)]
    cases = {
        (case.attrib["classname"], case.attrib["name"]): case
        for run in runs
        for case in ElementTree.parse(run).iter("testcase")
    }
    failed = [test for (_, test), case in cases.items() if case.find("failure") is not None]
    failed += [test for (_, test), case in cases.items() if case.find("error") is not None]
    if failed:
        raise SystemExit(f"make {COMMANDS[name]} did not pass: {', '.join(failed)}. No figure is written.")
    n_skipped = sum(case.find("skipped") is not None for case in cases.values())
    figures = defaultdict(list)
    for case in cases.values():
        for found in case.iter("property"):
            figures[found.attrib["name"]].append(float(found.attrib["value"]))
    return len(cases) - n_skipped, n_skipped, figures


def write_figures(page: str) -> str:
    """Return the table of figures, and the machine that they are of."""
    parts = (list_trials, list_properties, list_coverage, list_mutants, list_audit)
    rows: list[str] = []
    for (name, command), list_rows in zip(COMMANDS.items(), parts, strict=True):
        if (MEASURED / name).exists():
            when = tell_when(MEASURED / name)
            rows += [f"| {what} | {figure} | `make {command}` | {when} |" for what, figure in list_rows()]
        else:
            kept = re.findall(rf"^\| .+ \| `make {command}` \| .+ \|$", page, flags=re.MULTILINE)
            rows += kept or [f"| `make {command}` | {NOT_MEASURED} | `make {command}` | never |"]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in LIBRARIES)
    return (
        f"Python {platform.python_version()} on {platform.machine()}; {versions}.\n\n"
        "| what was tried | what came out | command | when, after which commit |\n|---|---|---|---|\n"
        + "\n".join(rows)
    )


def tell_when(path: Path) -> str:
    """Return the day on which a file was written, and the last commit before it."""
    written = path.stat().st_mtime
    command = ["git", "log", "-1", "--format=%h", f"--before={int(written)}"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    return f"{date.fromtimestamp(written)}, {commit}"


def list_trials() -> Iterator[tuple[str, str]]:
    """Go through what `make trials` found: what was tried, and what came out."""
    n_passed, n_skipped, found = read_trials("trials.xml")
    totals = {name: f"{int(sum(values)):,}" for name, values in found.items()}
    n_kills = int(sum(sum(found[f"kills_{key}"]) for key in ("old", "new", "other")))
    yield from {
        "kill -9 while a file is written": f"{n_kills} times, {totals['kills_unfinished']} of them before the "
        f"end; found afterwards: old file {totals['kills_old']}, new file {totals['kills_new']}, other "
        f"{totals['kills_other']}",
        "Ctrl-C, in every stage of a fit": f"{totals['interrupted_stages']} stages; ended after "
        f"{max(found['interrupt_seconds']):.2f} s at most; signals unheard for "
        f"{max(found['silent_seconds']):.2f} s at most",
        "two processes that save to one path": f"{totals['rival_saves']} saves; {totals['rival_reads']} reads "
        "meanwhile, each of a whole file",
        "8 threads, one map, 60 s": f"{totals['thread_results']} results, all of the same bits",
        "memory after 2 × 100,000 transforms of one row": f"grown by {max(found['grown_kilobytes']):.0f} kB "
        "at most",
        "processes with other threads of ours and of BLAS": f"{totals['equal_processes']}, all of the same bits",
        "damaged and hostile model files": f"{totals['damaged_files']}, `ModelFormatError` and nothing else",
        "damaged and hostile tables and images": f"{totals['damaged_tables']}, an error that names the file, "
        "or the samples, and nothing else",
        "all trials": f"{n_passed} passed, {n_skipped} skipped",
    }.items()


def list_properties() -> Iterator[tuple[str, str]]:
    """Go through what `make test-deep` found."""
    n_passed, _, found = read_trials("deep.xml")
    assert len(found["examples"]) == n_passed, "every property counts its examples"
    yield "properties", f"{n_passed} passed, each on {int(min(found['examples'])):,} examples at least"
    n_any, n_answered = int(sum(found["refusable"])), int(sum(found["answered"]))
    yield "any data", f"{n_answered:,} of {n_any:,} examples were answered, the others refused as listed below"


def list_coverage() -> Iterator[tuple[str, str]]:
    """Go through what `make coverage` found."""
    shares = read_shares(MEASURED / "coverage.json")
    yield "coverage", ", ".join(f"{share:.1f} % of {what}" for what, share in shares.items())


def list_mutants() -> Iterator[tuple[str, str]]:
    """Go through what `make mutants` found."""
    found = json.loads((MEASURED / "mutants.json").read_text(encoding="utf-8"))
    share = found["killed"] / found["mutants"]
    figure = f"{found['killed']:,} of {found['mutants']:,} ({share:.1%}); [the others](mutants.md)"
    yield "mutants killed", figure


def list_audit() -> Iterator[tuple[str, str]]:
    """Go through what `make audit` found."""
    found = json.loads((MEASURED / "audit.json").read_text(encoding="utf-8"))
    figure = f"{found['looked_up']} packages, {found['unexplained']} findings, {found['explained']} explained"
    missing = ", ".join(found["missing"])
    yield "known vulnerabilities", figure + (f"; could not be asked about: {missing}" if missing else "")


def replace_between_marks(page: str, name: str, text: str) -> str:
    """Put text between the two marks of a part."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", flags=re.DOTALL)
    if len(marks.findall(page)) != 1:
        raise SystemExit(f"{PAGE.name} must have the marks of '{name}' once.")
    return marks.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page)


def write_lists(page: str) -> str:
    """Return the page with its lists written anew."""
    for name, source in LISTS.items():
        page = replace_between_marks(page, name, write_list(source))
    return page


def main() -> int:
    """Write the lists and the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lists", action="store_true", help="only the lists")
    page = write_lists(PAGE.read_text(encoding="utf-8"))
    if not parser.parse_args().lists:
        page = replace_between_marks(page, "figures", write_figures(page))
    PAGE.write_text(page, encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
