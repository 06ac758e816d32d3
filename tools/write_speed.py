"""Put what `polyfold bench` measured into docs/speed.md: the machine, the table, the picture.

Run by `make bench`, after it. The figures are kept in docs/bench.csv, from which the table is written; what stands
between the marks of the page is written anew, and nothing else.
"""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

from guarantees import replace_between_marks
from polyfold.bench.report import HEADER, Figure

ROOT = Path(__file__).parents[1]
PAGE, PICTURE, KEPT = (ROOT / "docs" / name for name in ("speed.md", "images/bench.png", "bench.csv"))
MEASURED = ROOT / "bench_output"


def read_figures(path: Path) -> list[Figure]:
    """Return the figures of a run, as `polyfold bench` keeps them."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Figure(
                row["suite"],
                row["polyfold"],
                row["against"],
                float(row["ours"]),
                float(row["theirs"]),
                float(row["target"]) if row["target"] else None,
                row["unit"],
            )
            for row in csv.DictReader(file)
        ]


def write_page(page: str, machine: str, figures: list[Figure]) -> str:
    """Return the page with the machine and the table as they were measured."""
    rows = [HEADER, ["---"] * len(HEADER), *(figure.list_cells() for figure in figures)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return replace_between_marks(page, "bench", f"{machine.rstrip('.')}.\n\n{table}")


def main() -> None:
    """Write the page, its picture and its figures."""
    machine = (MEASURED / "bench.md").read_text(encoding="utf-8").partition("\n")[0]
    shutil.copy(MEASURED / "bench.csv", KEPT)
    shutil.copy(MEASURED / "bench.png", PICTURE)
    PAGE.write_text(write_page(PAGE.read_text(encoding="utf-8"), machine, read_figures(KEPT)), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)} are as measured.")


if __name__ == "__main__":
    main()
