"""Put what `polyfold bench` measured into docs/speed.md: the machine, the table, the picture.

Run by `make bench`, after it. What stands between the marks of the page is written anew, and nothing else.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from guarantees import replace_between_marks

ROOT = Path(__file__).parents[1]
PAGE, PICTURE = ROOT / "docs" / "speed.md", ROOT / "docs" / "images" / "bench.png"
MEASURED = ROOT / "bench_output"


def write_page(page: str, measured: str) -> str:
    """Return the page with the machine and the table as they were measured."""
    machine, _, table = measured.partition("\n\n")
    return replace_between_marks(page, "bench", f"{machine.rstrip('.')}.\n\n{table.strip()}")


def main() -> None:
    """Write the page and its picture."""
    measured = (MEASURED / "bench.md").read_text(encoding="utf-8")
    PAGE.write_text(write_page(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")
    shutil.copy(MEASURED / "bench.png", PICTURE)
    print(f"{PAGE.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)} are as measured.")


if __name__ == "__main__":
    main()
