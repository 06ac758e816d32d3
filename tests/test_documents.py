"""What the pages show is so: code runs and prints what stands below it, and what is named is there."""

import ast
import contextlib
import importlib
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pandas
import pytest
from command_line import write_rolls

import comparison
import polyfold
import write_speed
from commands import PLAIN, succeed
from pages import ROOT, list_blocks, read_page, run_page

PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").glob("*.md")),
        ROOT / "docs/reference/index.md",
    ]
]

#: What a block may be: code that is run here, what Python code prints, JavaScript that `runners` runs, and what is
#: no code: lists, and what long measurements printed.
KINDS = {"python", "console", "output", "js", "text"}

#: `polyfold` and `python` are those of the tests.
PATH = PLAIN | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


#: What `make newcomer` does in a fresh clone, and targets of the Makefile, which `make check` runs or is.
ELSEWHERE = ("git clone ", "cd polyfold", "pip install .", "make ")


def list_commands(page):
    """Return the commands of a page's blocks of the shell."""
    shown = "".join(block.code for block in list_blocks(page) if block.kind == "console")
    return [line.removeprefix("$ ") for line in shown.splitlines()]


def having(kind):
    return [page for page in PAGES if any(block.kind == kind for block in list_blocks(page))]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_say_what_they_are(page):
    blocks = list_blocks(page)
    for block in blocks:
        assert block.kind in KINDS, (block.kind, block.code)
        assert block.kind == "console" or not re.search(r"^\$ ", block.code, flags=re.MULTILINE), block.code
    for before, block in zip([None, *blocks], blocks, strict=False):
        assert block.kind != "output" or before.kind == "python"
        assert block.kind != "js" or page == "docs/artefact.md"


#: What must have come out of a page, beside what it shows.
RESULTS = {
    "README.md": lambda names: names["rho"] < 0.02,
    "docs/family.md": lambda names: (
        (names["embedding"].diagnostics_.skipped, names["J"].shape) == ((1,), (5, 2, 3))
    ),
    "docs/any-learner.md": lambda names: names["rho"] < 0.02 and names["placed"].shape == (2000, 2),
    "docs/which-one.md": lambda names: names["Y"].shape == (5, 2),
    "docs/speed.md": lambda names: names["Y"].shape == (100_000, 2),
    "docs/scale.md": lambda names: names["stream"].diagnostics_.n_samples == 6000,
    "docs/explorer.md": lambda names: names["page"].startswith("<!doctype html>"),
    "docs/artefact.md": lambda names: min(names["aligned"].alignment.r2) > 0.99,
}


def test_results_are_of_pages_with_code():
    assert set(RESULTS) <= set(having("python"))


@pytest.mark.parametrize("page", having("text"))
def test_text_is_no_code(page):
    """What could be run is: but for a part of the Spark example, which `make spark` runs whole."""
    for block in list_blocks(page):
        if block.kind == "text" and "SparkSession" not in block.code:
            with contextlib.suppress(SyntaxError):
                parsed = ast.walk(ast.parse(textwrap.dedent(block.code)))
                assert not any(isinstance(node, (ast.Import, ast.ImportFrom, ast.Call)) for node in parsed), (
                    block.code
                )


@pytest.mark.parametrize("page", having("python"))
def test_python_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert RESULTS.get(page, lambda names: True)(run_page(page))


def write_samples(folder):
    """Write the tables that the commands of the documents read."""
    write_rolls(folder)
    (folder / "data").mkdir()
    for part in range(3):
        pandas.read_csv(folder / "roll.csv").drop(columns="t").to_parquet(folder / "data" / f"{part}.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("page", having("console"))
def test_commands_run(page, tmp_path):
    write_samples(tmp_path)
    for command in list_commands(page):
        if command.startswith(ELSEWHERE):
            continue
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], cwd=tmp_path, env=PATH, capture_output=True, text=True
        )
        # Who reads only the first lines ends the pipe early.
        assert done.returncode == 0 or "| head" in command, (command, done.stderr)
        assert "error" not in done.stderr


def test_options_in_the_documents_exist():
    page = read_page("docs/command-line.md")
    commands = ([], ["fit"], ["transform"], ["inspect"], ["explore"], ["export"])
    shown = "".join(succeed(*command, "--help").stdout for command in commands)
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page)):
        assert option in shown, option


@pytest.mark.slow
def test_the_example_of_the_command_line_runs(tmp_path):
    script = ROOT / "examples" / "command_line.py"
    done = subprocess.run(
        [sys.executable, script, "--folder", tmp_path], env=PLAIN, capture_output=True, text=True, check=True
    )
    assert "0.000604·z² + 0.000603·x²" in done.stdout
    for name in ("roll.html", "digits.html", "placed.csv", "roll.c", "roll.safetensors"):
        assert (tmp_path / name).stat().st_size > 1000


def test_the_part_of_the_spark_example_is_of_it():
    [shown] = [block.code for block in list_blocks("docs/scale.md") if "SparkSession" in block.code]
    assert shown in read_page("examples/spark.py")  # which `make spark` runs


@pytest.mark.parametrize("page", PAGES)
def test_what_is_named_is_there(page):
    text = read_page(page)
    targets = set(re.findall(r"^([a-z-]+):", read_page("Makefile"), flags=re.MULTILINE))
    made = re.findall(r"(?:`|^\$ )make ((?:[a-z-]+ ?)+)", text, flags=re.MULTILINE)
    for target in {word for words in made for word in words.split()}:
        assert target in targets, f"make {target}"
    for script in re.findall(r"`(?:\w+=\S+ )*python ((?:benchmarks|examples|tools)/\w+\.py)", text):
        assert (ROOT / script).exists(), script
    extras = tomllib.loads(read_page("pyproject.toml"))["project"]["optional-dependencies"]
    for extra in re.findall(r"polyfold\[([\w,]+)\]", text):
        assert set(extra.split(",")) <= set(extras), extra


def list_linked(page):
    """Return the files that a page links to, and the headings in them, by their anchors."""
    text = re.sub(r"^( *)```.*?^\1```", "", read_page(page), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"https?:", target):
            path, _, anchor = target.partition("#")
            yield (ROOT / page).parent / path if path else ROOT / page, anchor


def name_anchor(heading):
    """Return the anchor that GitHub, and Sphinx here, give to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for path, anchor in list_linked(page):
        built = {"tutorial": "examples/tutorial", "how-to": "examples/how_to"}.get(path.parent.name)
        if built and path.suffix == ".rst":  # made from a script, when the site is built
            path = (ROOT / built / path.name).with_suffix(".py")
            assert not anchor  # which only the site has, and `tests/test_site.py` follows
        assert path.exists(), path
        if anchor and path.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor in map(name_anchor, headings), f"{path.name}#{anchor}"


@pytest.mark.parametrize("page", PAGES)
def test_images_are_described(page):
    for described, path in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", read_page(page)):
        assert len(described.split()) >= 5, path
        assert ((ROOT / page).parent / path).exists(), path


def test_the_table_of_files_is_whole():
    table = read_page("CONTRIBUTING.md")
    package = Path(polyfold.__file__).parent
    modules = [path.name for path in package.glob("*.py") if path.name != "__init__.py"]
    rooms = [f"{path.parent.name}/" for path in package.glob("*/__init__.py")]
    scripts = [path.name for folder in ("tools", "benchmarks") for path in (ROOT / folder).glob("*.py")]
    assert {name for name in [*modules, *rooms, *scripts] if name not in table} == set()


def test_the_reference_lists_every_public_name():
    page = read_page("docs/reference/index.md")
    sections = re.split(r"currentmodule:: (\S+)", page)[1:]
    listed = {module: set() for module in sections[::2]}
    for module, text in zip(sections[::2], sections[1::2], strict=True):
        listed[module] |= set(re.findall(r"^   (\w+)$", text, flags=re.MULTILINE))
    for module in ("polyfold", "polyfold.metrics", "polyfold.datasets", "polyfold.plotting"):
        names = set(importlib.import_module(module).__all__)
        assert listed[module] == names - {"datasets", "metrics", "plotting"}


#: Whose facts the rows of what was measured belong to.
PARTS = {
    "polyfold": "polyfold",
    "scikit-learn": "scikit-learn",
    "umap-learn UMAP": "umap-learn",
    "umap-learn Parametric": "umap-learn (parametric)",
    "openTSNE": "openTSNE",
    "PaCMAP": "PaCMAP",
    "tapkee": "tapkee",
    "TorchDR": "TorchDR",
    "datafold": "datafold",
}


def test_the_comparison_is_as_the_facts():
    assert comparison.write_page(read_page("docs/comparison.md")) == read_page("docs/comparison.md")
    assert comparison.write_readme(read_page("README.md")) == read_page("README.md")
    libraries = {library["name"]: library for library in comparison.read_facts()}
    assert libraries["polyfold"]["version"] == polyfold.__version__
    facts = tomllib.loads(read_page("docs/comparison.toml"))["checked"]["measured"]
    measured = {row["library"]: row for row in facts}
    assert measured["polyfold NPPE"]["version"] == polyfold.__version__
    n_sizes = 0
    for row in facts:
        name = next(name for name in PARTS if row["library"].startswith(name))
        cells = libraries[PARTS[name]]["cells"]
        assert row["version"] == libraries[PARTS[name]]["version"]
        if "kept_kb" in row:
            n_sizes += 1
            assert f"{row['kept_kb']:,.0f}" in cells["model_size"]["value"], row["library"]
    assert n_sizes >= 10


def test_benchmarks_are_those_of_a_run():
    """The page has the table of `polyfold bench`, figure by figure, and the machine that it was measured on."""
    page = read_page("docs/speed.md")
    machine = page.split("<!-- bench -->\n")[1].split("\n")[0]
    assert re.search(r"\d+ cores; Python 3\.\d+", machine)
    figures = write_speed.read_figures(ROOT / "docs" / "bench.csv")
    assert len(figures) > 50
    assert write_speed.write_page(page, machine, figures) == page


def test_pages_of_the_gallery_are_in_order():
    """Each is in the order, and is Python; all that is code in it is run, but for what is no Python."""
    sys.path.append(str(ROOT / "docs" / "_extensions"))
    import gallery

    scripts = sorted(ROOT.glob("examples/*/plot_*.py"))
    assert sorted(gallery.ORDER) == sorted(path.stem.removeprefix("plot_") for path in scripts)
    for path in scripts:
        code = path.read_text(encoding="utf-8")
        compile(code, path, "exec")
        assert "code-block:: python" not in code, path


@pytest.mark.parametrize("page", [page for page in PAGES if "{line}`" in read_page(page)])
def test_lines_of_code_are_there(page):
    found = re.findall(r"\{line\}`(\S+\.py): ([^`]+)`", read_page(page))
    assert found
    for file, snippet in found:
        if file == "_gram.py" and page == "CONTRIBUTING.md":
            continue  # an example of the form
        lines = (Path(polyfold.__file__).parent / file).read_text(encoding="utf-8").splitlines()
        assert sum(snippet in line for line in lines) == 1, (file, snippet)


@pytest.mark.parametrize("page", ["docs/family.md", "docs/mathematics.md"])
def test_every_graph_is_described(page):
    from polyfold.objectives import GRAPHS

    for graph in GRAPHS:
        assert re.search(f'`"?{graph}"?`', read_page(page)), graph
        assert f'"{graph}"' in polyfold.PolynomialEmbedding.__doc__


def test_the_readme_has_what_it_must():
    page = read_page("README.md")
    first, second = page.index("!["), page.index("```python")
    assert first < second < page.index("## ")
    [first_code, *_] = [block.code for block in list_blocks("README.md") if block.kind == "python"]
    assert len([line for line in first_code.splitlines() if line]) <= 10
    table = page.split("<!-- comparison -->\n")[1].split("\n<!-- end of")[0]
    assert len(table.splitlines()) == 2 + 5
    assert {"make demo", "make test", "make check"} <= set(re.findall(r"make [a-z]+", page))


def test_the_changelog_has_this_version():
    assert f"## [{polyfold.__version__}]" in read_page("CHANGELOG.md")
