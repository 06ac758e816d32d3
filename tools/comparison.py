"""Write docs/comparison.toml, what is known of other libraries, as tables into docs/comparison.md and README.md.

`python tools/comparison.py` after a change of that file; a test tells where it was forgotten.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from guarantees import replace_between_marks

ROOT = Path(__file__).parents[1]
FACTS = ROOT / "docs" / "comparison.toml"
PAGE, README = ROOT / "docs" / "comparison.md", ROOT / "README.md"

#: What is compared: heading in the table, and what it asks.
QUESTIONS = {
    "explicit_map": ("explicit map", "Is what you keep a formula of the columns?"),
    "nonlinear": ("nonlinear", "Does it follow curved data?"),
    "inverse": ("inverse", "Is there a way from coordinates back to samples?"),
    "gradients": ("gradients", "Does it give exact derivatives of the coordinates by the columns?"),
    "onnx": ("ONNX", "Can what places new samples be exported to ONNX?"),
    "sql": ("SQL", "Can a database place new samples?"),
    "model_size": ("model size", "What must be kept, for 1,000 samples of 64 columns and 2 coordinates?"),
    "training_data_needed": ("needs training data", "Must the training samples be kept to place new ones?"),
    "batch_independent": ("batch-independent", "Is a sample placed alike alone, in any batch, and each time?"),
    "out_of_core": ("out-of-core", "Can it learn from more data than fit into memory?"),
    "distributed": ("distributed", "Can a cluster do the learning?"),
    "sparse": ("sparse", "Does it learn from SciPy's sparse matrices?"),
}

#: The rows of the README's table, and its columns.
IN_SHORT = ("explicit_map", "nonlinear", "training_data_needed", "model_size", "onnx")
#: What of a library is meant.
IN_WORDS = {"polyfold": "NPPE", "scikit-learn": "Isomap, LLE", "umap-learn": "UMAP"}
PEERS = ("polyfold", "scikit-learn", "umap-learn", "umap-learn (parametric)", "openTSNE")


def read_facts() -> list[dict[str, Any]]:
    """Return the libraries; each has a cell for each question, with a value, a reason and a source."""
    libraries: list[dict[str, Any]] = tomllib.loads(FACTS.read_text(encoding="utf-8"))["library"]
    for library in libraries:
        cells = library["cells"]
        if list(cells) != list(QUESTIONS):
            raise SystemExit(f"{library['name']} must have the cells {list(QUESTIONS)}, has {list(cells)}.")
        for question, cell in cells.items():
            if not all(cell.get(key) for key in ("value", "why", "source")):
                raise SystemExit(f"{library['name']}: {question} needs a value, a reason and a source.")
    return libraries


def write_row(cells: list[str]) -> str:
    """Write a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def write_overview(libraries: list[dict[str, Any]]) -> str:
    """Write the table of all libraries and questions."""
    rows = [["", *(heading for heading, _ in QUESTIONS.values())], ["---"] * (1 + len(QUESTIONS))]
    for library in libraries:
        name = f"**{library['name']}**" if library["name"] == "polyfold" else library["name"]
        rows.append([name, *(cell["value"] for cell in library["cells"].values())])
    return "\n".join(map(write_row, rows))


def write_details(library: dict[str, Any]) -> str:
    """Write what was found out about one library, with the sources."""
    note = f"{library['note']}. " if library.get("note") else ""
    lines = [f"### {library['name']}", "", f"{note}Version {library['version']}.", ""]
    rows = [["", "", "why", "source"], ["---"] * 4]
    for (heading, _), cell in zip(QUESTIONS.values(), library["cells"].values(), strict=True):
        rows.append([heading, cell["value"], cell["why"], write_source(cell["source"])])
    return "\n".join([*lines, *map(write_row, rows)])


def write_source(source: str) -> str:
    """Link what are addresses, and say what was measured or read here."""
    parts = [part.strip() for part in source.split(" ; ")]
    return ", ".join(f"[{_name(part)}]({part.removeprefix('docs/')})" if "/" in part else part for part in parts)


def _name(address: str) -> str:
    """Return the host of an address or the folder of a page, and the last part of its path."""
    parts = address.removeprefix("https://").rstrip("/").split("#")[0].split("/")
    return parts[0] if len(parts) == 1 else f"{parts[0]}: {parts[-1]}"


def write_in_short(libraries: list[dict[str, Any]]) -> str:
    """Write the README's table: five questions, and the libraries that most people know."""
    found = {library["name"]: (IN_WORDS.get(library["name"], ""), library["cells"]) for library in libraries}
    titles = [f"{name} ({found[name][0]})" if found[name][0] else name for name in PEERS]
    rows = [["", *titles], ["---"] * (1 + len(PEERS))]
    rows += [
        [QUESTIONS[question][0], *(found[name][1][question]["value"] for name in PEERS)] for question in IN_SHORT
    ]
    return "\n".join(map(write_row, rows))


def write_page(page: str) -> str:
    """Return the page of the comparison with its tables as the facts are."""
    libraries = read_facts()
    page = replace_between_marks(page, "overview", write_overview(libraries))
    return replace_between_marks(page, "details", "\n\n".join(map(write_details, libraries)))


def write_readme(page: str) -> str:
    """Return the README with its table as the facts are."""
    return replace_between_marks(page, "comparison", write_in_short(read_facts()))


def main() -> None:
    """Write both pages."""
    for path, write in ((PAGE, write_page), (README, write_readme)):
        path.write_text(write(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
