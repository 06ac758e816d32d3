"""The two diagrams of docs/architecture.md, drawn from the code: what a fit does, and who imports whom.

`python tools/architecture.py` prints what they are drawn from.
"""

from __future__ import annotations

import ast
import html
import textwrap
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
            steps[called] = Step(called, homes.get(called, module), _list_targets(statement)[0], before | sources)
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


# -- drawing ----------------------------------------------------------------------------------------------------

#: Widths fit a phone, where text of a wide diagram could not be read.
WIDTH, LINE, PAD, GAP = 440, 17, 10, 34


@dataclass(frozen=True)
class Box:
    """Some lines of text at a place, the first one a title."""

    x: float
    y: float
    width: float
    lines: tuple[tuple[str, str], ...]

    @property
    def height(self) -> float:
        """As the lines need."""
        return 2 * PAD + LINE * len(self.lines)

    def draw(self) -> str:
        """Write it as SVG."""
        baselines = [self.y + PAD + LINE * (i + 0.75) for i in range(len(self.lines))]
        texts = "".join(
            f'<text class="{kind}" x="{self.x + PAD}" y="{y:.1f}">{html.escape(text)}</text>'
            for y, (kind, text) in zip(baselines, self.lines, strict=True)
        )
        frame = f'<rect x="{self.x}" y="{self.y}" width="{self.width}" height="{self.height}" rx="5"/>'
        return f"<g>{frame}{texts}</g>"


def wrap(kind: str, text: str, width: float) -> list[tuple[str, str]]:
    """Break a text into lines as wide as a box."""
    per_character = {"title": 8.2, "code": 7.3}.get(kind, 6.6)
    lines = textwrap.wrap(text, int((width - 2 * PAD) / per_character), break_long_words=False)
    return [(kind, line) for line in lines]


def write_svg(shapes: list[str], height: float, description: str) -> str:
    """Write a whole diagram; how it looks is up to the page's style."""
    arrow = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" '
        'markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="head" d="M0,0 L8,4 L0,8 z"/></marker></defs>'
    )
    return (
        f'<svg class="diagram" role="img" viewBox="0 0 {WIDTH} {height:.0f}" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{html.escape(description)}</title>{arrow}{''.join(shapes)}</svg>"
    )


def draw_arrow(x: float, y: float, to_x: float, to_y: float, label: str = "") -> str:
    """Write an arrow downwards, and what it carries."""
    middle = (y + to_y) / 2
    path = (
        f'<path class="edge" marker-end="url(#arrow)" d="M{x},{y} C{x},{middle} {to_x},{middle} {to_x},{to_y}"/>'
    )
    return path + (
        f'<text class="label" x="{(x + to_x) / 2 + 7}" y="{middle + 4}">{label}</text>' if label else ""
    )


def describe(module: str, function: str) -> str:
    """Return the first line of a function's docstring, plain."""
    tree = ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))
    [node] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function]
    return (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ").replace("``", "").replace("`", "")


def draw_rooms() -> str:
    """Draw who imports whom."""
    rooms = read_rooms()
    edges = reduce_edges(join_rooms(rooms, read_imports()))
    width, y, boxes = WIDTH - 70, 4.0, []
    for room in rooms:
        lines = [*wrap("title", room.title, width), *wrap("code", ", ".join(room.modules), width)]
        boxes.append(Box(4, y, width, tuple(lines)))
        y += boxes[-1].height + 20
    shapes, lanes = [box.draw() for box in boxes], [0] * len(edges)  # the first free lane beside the boxes
    for a, b in sorted(edges):
        first, last = boxes[a], boxes[b]
        if b == a + 1:
            x = first.x + width / 2
            shapes.append(draw_arrow(x, first.y + first.height, x, last.y))
            continue
        lane = next(i for i, taken in enumerate(lanes) if taken <= a)
        lanes[lane] = b
        right, bend = first.x + width, 12 + 9 * lane
        start, end = first.y + first.height - 7 - 3 * lane, last.y + 7 + 3 * lane
        shapes.append(
            f'<path class="edge" marker-end="url(#arrow)" d="M{right},{start} h{bend - 6} q6,0 6,6 V{end - 6} '
            f'q0,6 -6,6 H{right}"/>'
        )
    names = "; ".join(f"{rooms[a].title} imports {rooms[b].title}" for a, b in sorted(edges))
    return write_svg(shapes, y, f"Who imports whom, from the top down: {names}.")


def draw_flow() -> str:
    """Draw what a fit of samples in memory does, step by step."""
    steps = {step.name: step for step in read_steps("embedding", "_fit_held")}
    names = list(steps)
    index = {name: i for i, name in enumerate(names)}
    edges = reduce_edges({(index[a], index[b]) for b in names for a in steps[b].takes if a != b})
    levels: dict[int, int] = {}
    for b in range(len(names)):
        levels[b] = 1 + max([levels[a] for a, to in edges if to == b], default=-1)
    boxes: dict[int, Box] = {}
    y = 4.0 + _draw_ends(0)[0].height + GAP
    for level in range(max(levels.values()) + 1):
        members = [b for b in levels if levels[b] == level]
        width = WIDTH - 8 if len(members) == 1 and not _is_branch(level, levels) else (WIDTH - 24) / 2
        for b in members:
            side = 0 if width > WIDTH / 2 or names[b] != "solve_global" else 1
            boxes[b] = Box(4 + side * (width + 16), y, width, _write_step(steps[names[b]], width))
        y = (
            max(boxes[b].y + boxes[b].height for b in members if names[b] != "solve_global" or len(members) == 1)
            + GAP
        )
    first, last = _draw_ends(0)[0], _draw_ends(y)[1]
    shapes = [first.draw(), last.draw(), *(box.draw() for box in boxes.values())]
    shapes.append(draw_arrow(WIDTH / 2, first.y + first.height, WIDTH / 2, boxes[0].y, "training samples"))
    for a, b in sorted(edges):
        start, end = boxes[a], boxes[b]
        narrow = end if end.width < WIDTH / 2 else start
        x = narrow.x + narrow.width / 2
        shapes.append(draw_arrow(x, start.y + start.height, x, end.y, steps[names[a]].makes))
    bottom = boxes[len(names) - 1]
    shapes.append(draw_arrow(WIDTH / 2, bottom.y + bottom.height, WIDTH / 2, last.y, "learned"))
    order = ", ".join(name.strip("_") for name in names)
    return write_svg(shapes, last.y + last.height + 4, f"What a fit does, from samples to a map: {order}.")


def _is_branch(level: int, levels: dict[int, int]) -> bool:
    """Say whether another branch passes beside a level."""
    return list(levels.values()).count(level) == 1 and list(levels.values()).count(level - 1) > 1


def _write_step(step: Step, width: float) -> tuple[tuple[str, str], ...]:
    module, function = step.module, step.name
    if function == "_find_relations":
        module, function = "_relations", "find_relations"
    inner = [name for name in list_calls(module, function) if not name.startswith("check_")]
    return (
        *wrap("title", function, width),
        *wrap("text", describe(module, function), width),
        *wrap("code", f"{module}.py" + (f": {', '.join(inner)}" if inner else ""), width),
    )


def _draw_ends(y: float) -> tuple[Box, Box]:
    """Return the boxes of what goes in and of what comes out."""
    from polyfold import PolynomialMap

    methods = [
        name for name in dir(PolynomialMap) if not name.startswith("_") and callable(getattr(PolynomialMap, name))
    ]
    width = WIDTH - 8
    first = Box(
        4, 4, width, (("title", "fit(X)"), *wrap("text", "samples, checked: _check_training_samples", width))
    )
    lines = [("title", "PolynomialMap"), *wrap("text", "all that is kept; it needs none of the above", width)]
    return first, Box(4, y, width, (*lines, *wrap("code", ", ".join(methods), width)))


def main() -> None:
    """Print what the diagrams are drawn from."""
    for step in read_steps("embedding", "_fit_held"):
        print(f"{step.name} ({step.module}.py) takes {sorted(step.takes)}")
    rooms = read_rooms()
    for a, b in sorted(join_rooms(rooms, read_imports())):
        print(f"{rooms[a].title} -> {rooms[b].title}")


if __name__ == "__main__":
    main()
