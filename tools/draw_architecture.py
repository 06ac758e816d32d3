"""The two diagrams of docs/architecture.md as SVG, from what `architecture.py` reads in the code."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass

from architecture import Step, describe, join_rooms, list_calls, read_imports, read_rooms, read_steps, reduce_edges
from polyfold import PolynomialMap

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


Point = tuple[float, float]


def name_ends(ends: tuple[str, str]) -> str:
    """Write from where to where an arrow goes, for who reads the file."""
    return f' data-from="{html.escape(ends[0])}" data-to="{html.escape(ends[1])}"'


def draw_arrow(start: Point, end: Point, ends: tuple[str, str], label: str = "") -> str:
    """Write an arrow downwards, and what it carries."""
    (x, y), (to_x, to_y) = start, end
    middle = (y + to_y) / 2
    path = (
        f'<path class="edge"{name_ends(ends)} marker-end="url(#arrow)" '
        f'd="M{x},{y} C{x},{middle} {to_x},{middle} {to_x},{to_y}"/>'
    )
    text = f'<text class="label" x="{(x + to_x) / 2 + 7}" y="{middle + 4}">{label}</text>'
    return path + (text if label else "")


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
            ends = rooms[a].title, rooms[b].title
            shapes.append(draw_arrow((x, first.y + first.height), (x, last.y), ends))
            continue
        lane = next(i for i, taken in enumerate(lanes) if taken <= a)
        lanes[lane] = b
        right, bend = first.x + width, 12 + 9 * lane
        start, end = first.y + first.height - 7 - 3 * lane, last.y + 7 + 3 * lane
        shapes.append(
            f'<path class="edge"{name_ends((rooms[a].title, rooms[b].title))} marker-end="url(#arrow)" '
            f'd="M{right},{start} h{bend - 6} q6,0 6,6 V{end - 6} '
            f'q0,6 -6,6 H{right}"/>'
        )
    names = "; ".join(f"{rooms[a].title} imports {rooms[b].title}" for a, b in sorted(edges))
    return write_svg(shapes, y, f"Who imports whom, from the top down: {names}.")


@dataclass(frozen=True)
class Layout:
    """Where the steps of a flow stand: one below the other, and a branch beside those that it passes.

    Attributes
    ----------
    levels : dict
        The row of each step: below all that it takes from.
    beside : frozenset
        The steps that stand in the right column.
    narrow : frozenset
        The rows that have two columns.
    """

    levels: dict[str, int]
    beside: frozenset[str]
    narrow: frozenset[int]


def arrange(steps: list[Step], edges: set[tuple[str, str]]) -> Layout:
    """Put each step below all that it takes from; of two that could stand in a row, the longer way goes left."""
    levels: dict[str, int] = {}
    for step in steps:
        levels[step.name] = 1 + max([levels[a] for a, b in edges if b == step.name], default=-1)
    to_go: dict[str, int] = {}
    for step in reversed(steps):
        to_go[step.name] = 1 + max([to_go[b] for a, b in edges if a == step.name], default=-1)
    beside, narrow = set(), set()
    for level in set(levels.values()):
        members = sorted((name for name in levels if levels[name] == level), key=lambda name: -to_go[name])
        for name in members[1:]:
            beside.add(name)
            narrow |= set(range(level, min(levels[b] for a, b in edges if a == name)))
    return Layout(levels, frozenset(beside), frozenset(narrow))


def draw_flow() -> str:
    """Draw what a fit of samples in memory does, step by step."""
    steps = read_steps("embedding", "_fit_held")
    names = [step.name for step in steps]
    pairs = {(names.index(a), b) for b, step in enumerate(steps) for a in step.takes if a != step.name}
    edges = {(names[a], names[b]) for a, b in reduce_edges(pairs)}
    layout, whole = arrange(steps, edges), WIDTH - 8
    first = Box(4, 4, whole, (("title", "fit(X)"), ("text", "samples, checked")))
    boxes, y = {}, first.y + first.height + GAP
    for level in range(max(layout.levels.values()) + 1):
        width = (WIDTH - 24) / 2 if level in layout.narrow else whole
        for step in (each for each in steps if layout.levels[each.name] == level):
            x = 4 + (width + 16) * (step.name in layout.beside)
            boxes[step.name] = Box(x, y, width, write_step(step, width))
        y = max(box.y + box.height for name, box in boxes.items() if name not in layout.beside) + GAP
    last = write_map_box(y, whole)
    shapes = [first.draw(), last.draw(), *(box.draw() for box in boxes.values())]
    made = {step.name: step.makes for step in steps}
    for a, b in sorted(edges):
        start, end = boxes[a], boxes[b]
        narrow = end if end.width < whole else start
        x = narrow.x + narrow.width / 2
        shapes.append(draw_arrow((x, start.y + start.height), (x, end.y), (a, b), made[a]))
    top, bottom, middle = boxes[names[0]], boxes[names[-1]], WIDTH / 2
    shapes.append(
        draw_arrow((middle, first.y + first.height), (middle, top.y), ("X", names[0]), "training samples")
    )
    ends = names[-1], "PolynomialMap"
    shapes.append(draw_arrow((middle, bottom.y + bottom.height), (middle, last.y), ends, made[names[-1]]))
    order = ", ".join(name.strip("_") for name in names)
    return write_svg(shapes, last.y + last.height + 4, f"What a fit does, from samples to a map: {order}.")


def write_step(step: Step, width: float) -> tuple[tuple[str, str], ...]:
    """Write what a step is called, says of itself, and calls."""
    module, function = step.module, step.name.lstrip("_")
    inner = [name for name in list_calls(module, function) if not name.startswith("check_")]
    return (
        *wrap("title", function, width),
        *wrap("text", describe(module, function), width),
        *wrap("code", f"{module}.py" + (f": {', '.join(inner)}" if inner else ""), width),
    )


def write_map_box(y: float, width: float) -> Box:
    """Write what comes out, and what it offers."""
    offered = [name for name in dir(PolynomialMap) if not name.startswith("_")]
    methods = ", ".join(name for name in offered if callable(getattr(PolynomialMap, name)))
    said = wrap("text", "all that is kept; it needs none of the above", width)
    return Box(4, y, width, (("title", "PolynomialMap"), *said, *wrap("code", methods, width)))
