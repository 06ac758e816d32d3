"""What the diagrams of docs/architecture.md show, read from the code: what a fit does, and who imports whom.

`python tools/architecture.py` prints it; `draw_architecture.py` draws it.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polyfold

ROOT = Path(__file__).parents[1]
SOURCE = Path(polyfold.__file__).parent

#: What the rooms are called, by one of the modules in each.
TITLES = {
    "cli": "command line",
    "experiments": "the paper's experiments",
    "plotting": "benchmarks, pictures",
    "embedding": "estimators",
    "_transformer": "what estimators share",
    "io": "files and clusters",
    "_diagnostics": "reports and warnings",
    "_streaming": "fits in blocks",
    "_local": "solutions",
    "polymap": "the map and its exporters",
    "_gram": "features and sums over samples",
    "metrics": "metrics",
    "objectives": "graphs, neighbours, eigenvectors",
    "_kernels": "compiled loops, blocks, monomials",
    "_validation": "checks, errors, files",
}


@dataclass(frozen=True)
class Room:
    """Modules that stand on one level: each may import what is below, and its neighbours."""

    title: str
    modules: tuple[str, ...]


def read_rooms() -> list[Room]:
    """Return the rooms from the highest to the lowest, as the contract in pyproject.toml has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    [layers] = [contract["layers"] for contract in contracts if contract["id"] == "layers"]
    rooms = [tuple(layer.split(" : ")) for layer in layers]
    titles = [[TITLES[module] for module in modules if module in TITLES] for modules in rooms]
    if any(len(found) != 1 for found in titles):
        raise SystemExit(f"Each room needs one title in {Path(__file__).name}: {titles}")
    return [Room(title, modules) for [title], modules in zip(titles, rooms, strict=True)]


def read_imports() -> set[tuple[str, str]]:
    """Return who imports whom: modules and folders of the package, in pairs."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        importer = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in _walk_running(ast.parse(path.read_text(encoding="utf-8"))):
            for name in _list_imported(node):
                parts = name.split(".")
                if parts[0] == "polyfold" and len(parts) > 1 and parts[1] != importer != "__init__":
                    found.add((importer, parts[1]))
    return {pair for pair in found if not pair[1].startswith("__") and _is_module(pair[1])}


def _is_module(name: str) -> bool:
    return (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").exists()


def _walk_running(node: ast.AST) -> Iterator[ast.AST]:
    """Walk through a module, but for what only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING"):
            yield child
            yield from _walk_running(child)


def _list_imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom) and node.module == "polyfold":
        return [f"polyfold.{each.name}" for each in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []


def join_rooms(rooms: list[Room], imports: set[tuple[str, str]]) -> set[tuple[int, int]]:
    """Return which rooms import from which, by their places in the list."""
    place = {module: i for i, room in enumerate(rooms) for module in room.modules}
    return {(place[a], place[b]) for a, b in imports if place[a] != place[b]}


@dataclass(frozen=True)
class Step:
    """A call in a function that reads straight down: what it makes, of what, and where it is defined."""

    name: str
    module: str
    makes: str
    takes: frozenset[str]


def read_steps(module: str, function: str) -> list[Step]:
    """Return the calls of a function to other modules of polyfold, in order, and what each takes from which."""
    tree = ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))
    homes = {
        alias.asname or alias.name: (node.module or "").removeprefix("polyfold.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polyfold.")
        for alias in node.names
    }
    [body] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function]
    made_by: dict[str, set[str]] = {}
    steps: dict[str, Step] = {}
    for statement in _list_statements(body):
        value = statement.value
        used = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} if value else set()
        sources = frozenset(name for variable in used for name in made_by.get(variable, ()))
        called = _name_call(value, homes)
        if called:
            before = steps[called].takes if called in steps else frozenset()
            makes = (_list_targets(statement) or [""])[0]
            home = homes.get(called.lstrip("_"), module)  # a method may hand over to a function of its name
            steps[called] = Step(called, home, makes, before | sources)
        for variable in _list_targets(statement):
            # A value that is made in two branches comes from both.
            makers = {called} if called else set(sources)
            made_by[variable] = made_by.get(variable, set()) | makers if called else makers
    return list(steps.values())


def _list_statements(body: ast.FunctionDef) -> Iterator[ast.Assign | ast.AugAssign]:
    found = [node for node in ast.walk(body) if isinstance(node, (ast.Assign, ast.AugAssign))]
    return iter(sorted(found, key=lambda node: node.lineno))


def _list_targets(statement: ast.Assign | ast.AugAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def _name_call(value: ast.expr | None, homes: dict[str, str]) -> str | None:
    """Name the step that a value comes from: a function of another module, or a private method of this one."""
    if not isinstance(value, ast.Call):
        return None
    if isinstance(value.func, ast.Name) and homes.get(value.func.id, "").startswith("_"):
        return value.func.id
    is_own = isinstance(value.func, ast.Attribute) and getattr(value.func.value, "id", "") == "self"
    return value.func.attr if is_own and isinstance(value.func, ast.Attribute) else None


def list_calls(module: str, function: str) -> list[str]:
    """Return the functions of polyfold that a function calls, in order, those of its own module followed."""
    tree = ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("polyfold.")
        for alias in node.names
    }
    own = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        calls = [
            node for node in ast.walk(own[name]) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            assert isinstance(call.func, ast.Name)
            called = call.func.id
            if called in own and called.startswith("_"):
                visit(called)
            elif (called in imported or called in own) and called[0].islower() and called not in PLUMBING:
                found[called] = None

    visit(function)
    return list(found)


#: Calls that say nothing of what is computed.
PLUMBING = {"show_stage", "show_progress", "map_blocks", "row_slices"}


def reduce_edges(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Leave out what follows from other edges; places grow along each edge."""
    below: dict[int, set[int]] = {}
    kept = set()
    for a in sorted({a for a, _ in edges}, reverse=True):
        reached: set[int] = set()
        for b in sorted(b for first, b in edges if first == a):
            if b not in reached:
                kept.add((a, b))
            reached |= {b} | below.get(b, set())
        below[a] = reached
    return kept


def describe(module: str, function: str) -> str:
    """Return the first line of a function's docstring, plain."""
    tree = ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))
    [node] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function]
    return (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ").replace("``", "").replace("`", "")


def main() -> None:
    """Print what the diagrams are drawn from."""
    for step in read_steps("embedding", "_fit_held"):
        print(f"{step.name} ({step.module}.py) takes {sorted(step.takes)}")
    rooms = read_rooms()
    for a, b in sorted(join_rooms(rooms, read_imports())):
        print(f"{rooms[a].title} -> {rooms[b].title}")


if __name__ == "__main__":
    main()
