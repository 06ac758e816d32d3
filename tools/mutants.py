"""What a mutation run left alive, and why: docs/mutants.md.

Run by `make mutants`, after mutmut. Of every mutant that no test noticed a rule of mutants-explained.toml must say
why; one without a reason, or fewer killed than the share below, fails the run.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "mutants.md"
RULES = Path(__file__).parent / "mutants-explained.toml"

#: Of all mutants, that tests must kill.
LEAST_KILLED = 0.85

#: What mutmut calls the outcome of the tests, by their exit code. Without a test is as alive as any.
ALIVE = {0, 5, 33}
NOT_RUN = None

HEADING = """# Mutants

Written by `make mutants`. mutmut changes one thing in the code at a time, and the tests, with numba switched off
so that the compiled loops count, must notice it. Here is how many they killed, and each one that lives, with the
reason.

| file | mutants | killed | share |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Survivor:
    """A mutant that no test noticed: the function, the line before and after, and why it may live."""

    function: str
    before: str
    after: str
    why: str


def iterate_results(folder: Path) -> Iterator[tuple[str, dict[str, int | None]]]:
    """Go through the files with mutants, and the exit code of the tests of each mutant."""
    for path in sorted(folder.glob("src/polyfold/**/*.meta")):
        codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
        if codes:
            yield str(path.relative_to(folder / "src" / "polyfold").with_suffix("")), codes


def read_change(mutant: str, folder: Path) -> tuple[str, str]:
    """Return the lines that a mutant takes away and puts in their place."""
    command = [sys.executable, "-m", "mutmut", "show", mutant]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()
    lines = [line for line in shown if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    before = " ".join(line[1:].strip() for line in lines if line[0] == "-")
    return before, " ".join(line[1:].strip() for line in lines if line[0] == "+")


def explain(function: str, after: str, rules: list[dict[str, str]]) -> str:
    """Return why a mutant may live: the reason of the first rule that names its function and its line."""
    for rule in rules:
        if re.search(rule["function"], function) and re.search(rule.get("line", ""), after):
            return rule["why"]
    return ""


def look_at(name: str, mutant: str, folder: Path, rules: list[dict[str, str]]) -> Survivor:
    """Return what a mutant of a file changes, and why it may live."""
    function = name + ": " + re.sub(r"^.*\.(?:x_|xǁ)", "", mutant.rpartition("__mutmut_")[0]).replace("ǁ", ".")
    before, after = read_change(mutant, folder)
    return Survivor(function, before, after, explain(function, after, rules))


def forget_unexplained(folder: Path, rules: list[dict[str, str]]) -> int:
    """Let those that lived without a reason be tried again, by tests that there are now; return how many."""
    n_forgotten = 0
    for path in sorted(folder.glob("mutants/src/polyfold/**/*.meta")):
        found = json.loads(path.read_text(encoding="utf-8"))
        codes, name = (
            found["exit_code_by_key"],
            str(path.relative_to(folder / "mutants/src/polyfold").with_suffix("")),
        )
        for mutant in [mutant for mutant, code in codes.items() if code in ALIVE]:
            if not look_at(name, mutant, folder, rules).why:
                codes[mutant] = NOT_RUN
                n_forgotten += 1
        path.write_text(json.dumps(found), encoding="utf-8")
    return n_forgotten


def write_page(counts: dict[str, Counter[str]], survivors: list[Survivor]) -> None:
    """Write the table and the survivors by their reasons."""
    rows = [
        f"| `{name}` | {count['all']} | {count['killed']} | {count['killed'] / count['all']:.1%} |"
        for name, count in counts.items()
    ]
    n_all, n_killed = (sum(count[key] for count in counts.values()) for key in ("all", "killed"))
    rows.append(f"| all | {n_all} | {n_killed} | {n_killed / n_all:.1%} |")
    by_reason = defaultdict(list)
    for survivor in survivors:
        by_reason[survivor.why].append(survivor)
    parts = [HEADING + "\n".join(rows), "\n## Those that live\n"]
    for why, group in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        lines = [f"{each.function}\n  - {each.before}\n  + {each.after}" for each in group]
        parts.append(
            f"### {why or 'Not explained'}\n\n{len(group)} of them.\n\n```text\n" + "\n".join(lines) + "\n```\n"
        )
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def main() -> int:
    """Count, explain, write, and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT, help="where mutmut ran")
    parser.add_argument("--measured", type=Path, help="file for the figures, as JSON")
    parser.add_argument(
        "--again", action="store_true", help="only let those that lived without a reason be tried again"
    )
    arguments = parser.parse_args()
    rules = tomllib.loads(RULES.read_text(encoding="utf-8"))["rule"]
    if arguments.again:
        print(f"{forget_unexplained(arguments.folder, rules)} mutants are to be tried again")
        return 0
    counts: dict[str, Counter[str]] = {}
    survivors: list[Survivor] = []
    for name, codes in iterate_results(arguments.folder / "mutants"):
        if NOT_RUN in codes.values():
            raise SystemExit(
                f"Mutants of {name} were not tried: the run was not finished. Run `mutmut run` again."
            )
        alive = [mutant for mutant, code in codes.items() if code in ALIVE]
        counts[name] = Counter(all=len(codes), killed=len(codes) - len(alive))
        survivors += [look_at(name, mutant, arguments.folder, rules) for mutant in alive]
    write_page(counts, survivors)
    n_all, n_killed = (sum(count[key] for count in counts.values()) for key in ("all", "killed"))
    unexplained = [each for each in survivors if not each.why]
    print(f"{n_killed:,} of {n_all:,} mutants killed ({n_killed / n_all:.1%}), {len(unexplained)} not explained")
    for each in unexplained:
        print(f"{each.function}\n  - {each.before}\n  + {each.after}", file=sys.stderr)
    if arguments.measured:
        figures = {"mutants": n_all, "killed": n_killed, "alive": len(survivors)}
        arguments.measured.write_text(json.dumps(figures), encoding="utf-8")
    return int(bool(unexplained) or n_killed < LEAST_KILLED * n_all)


if __name__ == "__main__":
    sys.exit(main())
