"""The code keeps to its rooms, the diagrams show it as it is, and a graph is one file."""

import ast
import html
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import polyfold
from polyfold.datasets import make_swiss_roll

ROOT = Path(__file__).parents[1]

import architecture  # noqa: E402
import draw_architecture  # noqa: E402

PACKAGE = Path(polyfold.__file__).parent


def copy_package(folder):
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(PACKAGE, folder / "polyfold", ignore=ignored))


def lint(folder):
    """Ask import-linter about the package in a folder."""
    script = Path(sys.executable).parent / "lint-imports"
    config = ["--config", ROOT / "pyproject.toml", "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run([script, *config], cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_the_contracts_are_kept(tmp_path):
    copy_package(tmp_path)
    code, said = lint(tmp_path)
    assert code == 0, said
    assert "4 kept, 0 broken" in said


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("_gram", "from polyfold import embedding", "Steps, maps and metrics do not import estimators"),
        ("objectives/lle", "import polyfold._transformer", "Steps, maps and metrics do not import estimators"),
        ("_validation", "from polyfold import _frame", "Each room calls only those below it"),
        ("export/c", "from polyfold import _gram", "A map knows nothing of how it was learned"),
        ("polymap", "import sklearn", "A map knows nothing of how it was learned, nor of scikit-learn"),
        ("_ridge", "import pandas", "The core imports no extra"),
        ("_neighbors", "import faiss", "The core imports no extra"),
    ],
)
def test_contracts_can_be_broken(module, line, broken, tmp_path):
    path = copy_package(tmp_path) / f"{module}.py"
    path.write_text(path.read_text(encoding="utf-8") + f"\n{line}\n", encoding="utf-8")
    code, said = lint(tmp_path)
    assert code == 1
    assert re.search(re.escape(broken) + r".*BROKEN", said), said


def test_a_module_without_a_room_is_told(tmp_path):
    (copy_package(tmp_path) / "_helpers.py").touch()
    code, said = lint(tmp_path)
    assert code == 1
    assert "_helpers" in said


def list_third_parties():
    """Return what the library imports that is neither its own nor Python's."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            found |= {name.partition(".")[0] for name in names}
    return found - set(sys.stdlib_module_names) - {"polyfold"}


def test_what_is_imported_is_of_the_core_or_of_a_room():
    """A package that is neither asked for by the core nor in the contract of extras is imported nowhere."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = {"scikit-learn": "sklearn"}
    core = {re.match(r"[\w-]+", line)[0] for line in project["project"]["dependencies"]}
    contracts = project["tool"]["importlinter"]["contracts"]
    [extras] = [contract for contract in contracts if contract["id"] == "extras"]
    allowed = {names.get(name, name) for name in core} | set(extras["forbidden_modules"])
    assert list_third_parties() <= allowed


def test_steps_are_all_that_stands_below_the_estimators():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contracts = contracts["contracts"]
    [steps] = [contract for contract in contracts if contract["id"] == "steps"]
    rooms = architecture.read_rooms()
    shared = next(i for i, room in enumerate(rooms) if "_transformer" in room.modules)
    below = {module for room in rooms[shared + 1 :] for module in room.modules}
    named = {module.removeprefix("polyfold.") for module in steps["source_modules"]}
    assert named <= below
    of_a_fit = [room for room in rooms if {"_local", "_gram", "_streaming"} & set(room.modules)]
    solving = {module for room in of_a_fit for module in room.modules}
    assert solving - named == set()


def test_rooms_are_in_order():
    """By another reading of the imports than import-linter's: these do not follow where a name is used."""
    rooms = architecture.read_rooms()
    imports = architecture.read_imports()
    assert len(imports) > 200
    assert ("embedding", "_gram") in imports
    assert ("_gram", "_graph") in imports
    for above, below in architecture.join_rooms(rooms, imports):
        assert above < below, (rooms[above].title, rooms[below].title)


def test_every_module_is_in_one_room():
    modules = [module for room in architecture.read_rooms() for module in room.modules]
    found = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    assert sorted(modules) == sorted(found - {"__init__"})


def test_the_flow_is_what_a_fit_does():
    """The steps that are drawn are called by a fit, in their order."""
    drawn = [step.name for step in architecture.read_steps("embedding", "_fit_held")]
    called = []

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_name in drawn:
            called.append(frame.f_code.co_name)

    X, _ = make_swiss_roll(200, random_state=0)
    for graph, missing in (("lle", {"solve_global"}), ("isomap", {"build_gram_folds", "solve_local"})):
        called.clear()
        sys.setprofile(note)
        try:
            polyfold.PolynomialEmbedding(graph=graph, n_neighbors=10, reduce=None).fit(X)
        finally:
            sys.setprofile(None)
        assert list(dict.fromkeys(called)) == [name for name in drawn if name not in missing]


def test_values_go_from_step_to_step():
    steps = {step.name: step for step in architecture.read_steps("embedding", "_fit_held")}
    assert steps["build_features"].takes == frozenset()
    assert steps["solve_local"].takes >= {"build_gram_folds", "build_features"}
    assert steps["write_map"].takes >= {"solve_local", "solve_global"}
    assert steps["build_gram_folds"].makes == "folds"


def list_arrows(diagram):
    return set(re.findall(r'data-from="([^"]+)" data-to="([^"]+)"', diagram))


def test_boxes_do_not_overlap():
    boxes = re.findall(
        r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', draw_architecture.draw_flow()
    )
    boxes = [tuple(map(float, box)) for box in boxes]
    assert len(boxes) == 9
    for i, (x, y, width, height) in enumerate(boxes):
        for to_x, to_y, to_width, to_height in boxes[:i]:
            apart = x + width <= to_x or to_x + to_width <= x or y + height <= to_y or to_y + to_height <= y
            assert apart


def test_diagrams_name_all_that_they_draw():
    rooms, flow = html.unescape(draw_architecture.draw_rooms()), draw_architecture.draw_flow()
    for room in architecture.read_rooms():
        assert f">{room.title}<" in rooms
    places = [room.title for room in architecture.read_rooms()]
    found = architecture.reduce_edges(
        architecture.join_rooms(architecture.read_rooms(), architecture.read_imports())
    )
    assert list_arrows(rooms) == {(places[a], places[b]) for a, b in found}
    assert list_arrows(flow) == {
        ("X", "build_features"),
        ("build_features", "_find_relations"),
        ("_find_relations", "build_gram_folds"),
        ("_find_relations", "solve_global"),
        ("build_gram_folds", "solve_local"),
        ("solve_local", "write_map"),
        ("solve_global", "write_map"),
        ("write_map", "complete_map"),
        ("complete_map", "PolynomialMap"),
    }
    assert re.findall(r'class="label"[^>]*>([^<]+)<', flow).count("solution") == 2
    for text in ("build_features", "find_relations", "solve_local", "solve_global", "cross_validate", "to_onnx"):
        assert text in flow


@pytest.mark.parametrize(
    ("edges", "kept"),
    [
        ({(0, 1), (1, 2), (0, 2)}, {(0, 1), (1, 2)}),
        ({(0, 2), (1, 2)}, {(0, 2), (1, 2)}),
        ({(0, 1), (0, 3), (1, 2), (2, 3)}, {(0, 1), (1, 2), (2, 3)}),
    ],
)
def test_edges_that_follow_from_others_are_left_out(edges, kept):
    assert architecture.reduce_edges(edges) == kept


def test_a_graph_is_one_file(tmp_path):
    """One more file in objectives/ is one more graph: in memory, in blocks, and at the command line."""
    shutil.copy(ROOT / "examples" / "how_to" / "laplacian_rank.py", copy_package(tmp_path) / "objectives")
    script = """
import numpy as np, polyfold
from polyfold.datasets import make_swiss_roll
X, _ = make_swiss_roll(600, random_state=0)
fit = lambda **settings: polyfold.PolynomialEmbedding(graph="laplacian_rank", n_neighbors=10, **settings).fit(X)
held, block = fit(), fit(reference_size=599)
assert np.isfinite(held.embedding_).all()
assert min(block.map_.align_to(held.map_, X).alignment.r2) > 0.9
print("laplacian_rank" in held.diagnostics_.graph)
"""
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    run = {"env": environment, "cwd": tmp_path, "capture_output": True, "text": True, "check": True}
    assert subprocess.run([sys.executable, "-c", script], **run).stdout == "True\n"
    shown = subprocess.run([sys.executable, "-m", "polyfold.cli", "fit", "--help"], **run).stdout
    assert "laplacian_rank" in re.sub(r"[\s│]+", "", shown)
