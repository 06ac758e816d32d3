"""The command line on the Swiss roll, and two pages to open in a browser.

Run by `make demo`. Shows each command and what it prints, and writes to demo_output.
"""

from __future__ import annotations

import argparse
import csv
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from sklearn.datasets import load_digits

from polyfold import PolynomialEmbedding
from polyfold.datasets import make_swiss_roll

COMMANDS = (
    "polyfold fit roll.csv -o roll.safetensors --n-neighbors 10 --keep id --exclude t --force",
    "polyfold inspect roll.safetensors",
    "polyfold transform roll.safetensors unseen.csv -o placed.csv --keep id --extrapolation --force",
    "polyfold export roll.safetensors -o roll.c --force",
    "polyfold explore roll.safetensors roll.csv -o roll.html --force",
)


def write_table(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def write_rolls(folder: Path) -> None:
    """Write a Swiss roll to learn from, with an id and the true position along it, and unseen points of it."""
    X, Z = make_swiss_roll(1000, random_state=0)
    rows = [[f"{i:05d}", *x, t] for i, (x, t) in enumerate(zip(X.tolist(), Z[:, 0].tolist(), strict=True))]
    write_table(folder / "roll.csv", ["id", "x", "y", "z", "t"], rows)
    unseen, _ = make_swiss_roll(10_000, random_state=1)
    rows = [[f"{i:05d}", *x] for i, x in enumerate(unseen.tolist())]
    write_table(folder / "unseen.csv", ["id", "x", "y", "z"], rows)


def write_digits_page(path: Path) -> None:
    """Write a page of handwritten digits, whose map takes images."""
    X, y = load_digits(return_X_y=True)
    learned = PolynomialEmbedding(3, graph="laplacian").fit(X).map_
    page = learned.to_html(X, labels={"digit": y}, image_shape=(8, 8), title="Handwritten digits")
    path.write_text(page, encoding="utf-8")


def main() -> None:
    """Write the data, run the commands, and name the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("demo_output"))
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    write_rolls(folder)
    for command in COMMANDS:
        print(f"$ {command}", flush=True)
        arguments = [sys.executable, "-m", "polyfold.cli", *shlex.split(command)[1:]]
        subprocess.run(arguments, cwd=folder, check=True)
        print()
    write_digits_page(folder / "digits.html")
    print("Open in a browser, drop unseen.csv on the first, move the sliders:")
    print(f"  {folder / 'roll.html'}\n  {folder / 'digits.html'}")


if __name__ == "__main__":
    main()
