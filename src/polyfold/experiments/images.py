"""Section 5.3: image manifolds, and what of their degrees of freedom an embedding recovers, by measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold.datasets import load_frey_faces, load_isomap_faces, load_usps
from polyfold.experiments.image_facts import measure_balance, measure_zeros, predict_facts, reduce_images
from polyfold.experiments.methods import OURS, PAPER, TRAINING_COLOUR, UNSEEN_COLOUR
from polyfold.experiments.outcome import Drawing, Outcome, Row, Table, tabulate
from polyfold.experiments.plan import Plan
from polyfold.experiments.style import add_legend, draw_bars, make_axes, make_canvas
from polyfold.experiments.timing import draw_times, time_locating
from polyfold.metrics import trustworthiness
from polyfold.plotting import plot_thumbnails

#: Not an embedding, but what the pixels tell in more coordinates.
REFERENCE = "20 principal axes"

#: R² is drawn down to this.
FLOOR = -0.5

#: Faces that are learned from in the quick form.
QUICK_TRAINING = 300


@dataclass(frozen=True)
class Album:
    """An image set and how it is used.

    Attributes
    ----------
    read : callable
        From a folder to what the loader of the set returns.
    prepare : callable
        From that and a seed to images of shape (n, height, width) and facts of shape (n, n_facts).
    facts : tuple of str
        What the facts are.
    n_train, n_unseen, n_shown, n_neighbors, n_components : int
        Training images, unseen images, unseen images that are drawn; k and m.
    methods : dict
        Method to its number of neighbours, None being `n_neighbors`.
    drawn : tuple of str
        Methods whose embeddings are drawn with images.
    shades : str
        Colour map of the images.
    n_splits : int
        Splits of the full run.
    """

    read: Callable[[Any], Any]
    prepare: Callable[[Any, int], tuple[NDArray[Any], NDArray[Any]]]
    facts: tuple[str, ...]
    n_train: int
    n_unseen: int
    n_shown: int
    n_neighbors: int
    n_components: int
    methods: dict[str, int | None]
    drawn: tuple[str, ...]
    shades: str
    n_splits: int


def prepare_faces(X: NDArray[Any], seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the Frey faces, the paper's `lleface`, and the balance of left and right."""
    faces = X.reshape(-1, 28, 20)
    return faces, measure_balance(faces)


def prepare_zeros(digits: tuple[NDArray[Any], NDArray[Any]], seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return 765 of the USPS zeros, drawn by seed, with stroke width, aspect and slant."""
    X, y = digits
    zeros = X[y == 0].reshape(-1, 16, 16)
    zeros = zeros[np.sort(np.random.default_rng(seed).choice(len(zeros), 765, replace=False))]
    return zeros, measure_zeros(zeros)


def prepare_poses(faces: tuple[NDArray[Any], NDArray[Any]], seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the Isomap faces with light, pan and tilt."""
    X, truth = faces
    return X.reshape(-1, 32, 32), truth


ALBUMS = {
    "lleface": Album(
        load_frey_faces,
        prepare_faces,
        ("left-right balance",),
        1500,
        400,
        40,
        15,
        2,
        {PAPER: None, OURS: None, "NPP": None, "KE": None, "Isomap map": None},
        (PAPER, OURS, "NPP", "KE"),
        "gray",
        4,
    ),
    "usps-0": Album(
        load_usps,
        prepare_zeros,
        ("stroke width", "aspect", "slant"),
        600,
        150,
        20,
        5,
        2,
        {PAPER: None, OURS: None, "ONPP": None, "KE": None, "Isomap map": None},
        (PAPER, OURS, "ONPP", "KE"),
        "gray_r",
        6,
    ),
    "Isomap faces": Album(
        load_isomap_faces,
        prepare_poses,
        ("light", "pan", "tilt"),
        548,
        150,
        40,
        8,
        3,
        {PAPER: None, OURS: None, "NPP": None, "KE": None, "LTSA map": 14, "Isomap map": None},
        (PAPER, OURS, "Isomap map"),
        "gray",
        3,
    ),
}


def run(plan: Plan) -> Outcome:
    """Embed each image set that is found."""
    recovered: list[Row] = []
    times: list[Row] = []
    drawings: list[Drawing] = []
    left_out = []
    for name, album in ALBUMS.items():
        try:
            loaded = album.read(plan.data)
        except (OSError, ValueError) as error:
            left_out.append(f"{name}: {error}")
            continue
        for seed in plan.track(plan.list_seeds(full=album.n_splits, quick=1), f"images: {name}"):
            rows, spent, drawing = embed(plan, name, album, loaded, seed)
            recovered += rows
            if seed == plan.seed:
                times += spent
                drawings.append(drawing)
    text = (
        "Images are embedded, unseen ones are located, and what is known of each image is predicted from its "
        "coordinates: the balance of left and right of a face (it turns), stroke width, aspect and slant of a "
        f"zero, light, pan and tilt of the Isomap faces. R² is that of unseen images. “{REFERENCE}” are no "
        "embedding, but tell what is in the pixels. “Isomap map” and “LTSA map” are polyfold's quadratic maps of "
        "other graphs."
    )
    if plan.quick:
        text += f" In the quick form {QUICK_TRAINING} faces are learned from, at half their size."
    title = "Learning image manifolds (Section 5.3)"
    if not recovered:
        return Outcome(title, text, [], [], left_out)
    seconds = Table("images_times", "Seconds that locating takes.", times, shown=False, timed=True)
    facts, *summaries = list_tables(recovered)
    drawings += [draw_recovery(facts), draw_all_times(seconds)]
    return Outcome(title, text, [facts, *summaries, seconds], drawings, left_out)


def list_tables(recovered: list[Row]) -> list[Table]:
    """Return what each method recovers in each split, and summaries of it."""
    facts = Table(
        "images", "R² of each quantity of unseen images, and how neighbourhoods are kept.", recovered, False
    )
    affine = (
        "R² of each quantity on unseen images, by an affine function of the coordinates: median (least to most)."
    )
    nearby = "The same, by the mean of the 15 nearest training images in the embedding."
    spread = "Spread of unseen over that of training images, the coordinate with the most; 1 is right."
    once = Table("", "", [row for row in recovered if row["what"] == ALBUMS[row["set"]].facts[0]])
    return [
        facts,
        tabulate(facts, "method", "what", "r2_affine", affine),
        tabulate(facts, "method", "what", "r2_neighbours", nearby, "images_neighbours_summary"),
        tabulate(once, "method", "set", "unseen_spread", spread, "images_spread_summary"),
    ]


def embed(plan: Plan, name: str, album: Album, loaded: Any, seed: int) -> tuple[list[Row], list[Row], Drawing]:
    """Learn from some images by each method and locate others; draw them."""
    images, facts = album.prepare(loaded, seed)
    order = np.random.default_rng(seed).permutation(len(images))
    small = plan.quick and images.shape[1] > 16
    n_train = QUICK_TRAINING if small else album.n_train
    train, unseen = order[:n_train], order[n_train : n_train + album.n_unseen]
    X = flatten(shrink(images) if small else images)
    models = {
        each: plan.fit(each, X[train], k or album.n_neighbors, album.n_components)
        for each, k in album.methods.items()
        if not (plan.quick and each == "LTSA map")
    }
    places = {each: (model.embedding_, model.transform(X[unseen])) for each, model in models.items()}
    rows = []
    for method, (Y, located) in (places | {REFERENCE: reduce_images(X[train], X[unseen])}).items():
        affine, nearby = predict_facts(Y, facts[train], located, facts[unseen])
        common = {
            "set": name,
            "seed": seed,
            "method": method,
            "trustworthiness": trustworthiness(X[unseen], located, n_neighbors=10),
            "unseen_spread": float(np.max(located.std(axis=0) / Y.std(axis=0))),
        }
        for fact, first, second in zip(album.facts, affine, nearby, strict=True):
            rows.append(common | {"what": fact, "r2_affine": float(first), "r2_neighbours": float(second)})
    times: list[Row] = []
    if seed == plan.seed:
        times = time_locating(plan, models, X[unseen], {"set": name})
    chosen = np.random.default_rng(seed)
    shown = chosen.permutation(n_train)[:100], chosen.permutation(album.n_unseen)[: album.n_shown]
    drawing = draw_album(name, album, images[train], images[unseen], places, shown)
    return rows, times, drawing


def flatten(images: NDArray[Any]) -> NDArray[np.float64]:
    """Return images as rows."""
    return np.asarray(images.reshape(len(images), -1), dtype=np.float64)


def shrink(images: NDArray[Any]) -> NDArray[np.float64]:
    """Return images of half the size: means of two by two pixels."""
    n, height, width = images.shape
    return np.asarray(images.reshape(n, height // 2, 2, width // 2, 2).mean(axis=(2, 4)))


def draw_album(
    name: str,
    album: Album,
    train: NDArray[Any],
    unseen: NDArray[Any],
    places: dict[str, tuple[NDArray[Any], NDArray[Any]]],
    shown: tuple[NDArray[Any], NDArray[Any]],
) -> Drawing:
    """Draw training images on the left and unseen ones on the right, a row for each method."""
    canvas = make_canvas(11.0, 5.0 * len(album.drawn))
    axes = canvas.subplots(len(album.drawn), 2, squeeze=False)
    for (left, right), method in zip(axes, album.drawn, strict=True):
        Y, located = (each[:, :2] for each in places[method])
        common: dict[str, Any] = {"background": Y, "cmap": album.shades}
        plot_thumbnails(Y[shown[0]], train[shown[0]], color=TRAINING_COLOUR, ax=left, **common)
        plot_thumbnails(located[shown[1]], unseen[shown[1]], color=UNSEEN_COLOUR, ax=right, **common)
        left.set_title(f"{method}: 100 of {len(train):,} training images")
        right.set_title(f"{method}: {len(shown[1])} of {len(unseen)} unseen images")
        for panel in (left, right):
            panel.set(xlabel="first coordinate", ylabel="")
        left.set_ylabel("second coordinate")
    caption = (
        f"{name}: images at their places in the plane of the first two coordinates; grey dots are all training "
        "images. An image whose place is taken stands beside it, with a line to its place; what lies outside the "
        "frame is marked by a cross at its edge."
    )
    return Drawing(f"images_{name.lower().replace(' ', '_')}", caption, canvas)


def draw_recovery(table: Table) -> Drawing:
    """Draw R² of each quantity."""
    facts = table.list_values("what")
    canvas = make_canvas(10.4, 3.8)
    sets = table.list_values("set")
    counts = [len(table.list_values("what", set=each)) for each in sets]
    axes = canvas.subplots(1, len(sets), squeeze=False, width_ratios=counts, sharey=True)[0]
    for panel, each in zip(axes, sets, strict=True):
        facts = table.list_values("what", set=each)
        values = {
            name: np.array([table.select("r2_neighbours", method=name, set=each, what=fact) for fact in facts])
            for name in table.list_values("method", set=each)
        }
        draw_bars(panel, facts, values, label="R² on unseen images" if panel is axes[0] else "")
        panel.axhline(0, color="black", linewidth=0.8)
        panel.set_title(each)
        panel.set_ylim(FLOOR, 1.0)
        mark_cut_bars(panel)
    add_legend(canvas, axes)
    caption = (
        "What the coordinates tell of unseen images: R² of each quantity, predicted from the nearest training "
        "images in the embedding; bars are medians, dots the splits. Below 0 is worse than the mean; what is cut "
        "at −0.5 has its median written in."
    )
    return Drawing("images_recovered", caption, canvas)


def mark_cut_bars(panel: Any) -> None:
    """Write at the foot of each bar that goes beyond the frame how far it goes."""
    for bar in panel.patches:
        if bar.get_height() < FLOOR:
            place = (bar.get_x() + bar.get_width() / 2, FLOOR + 0.02)
            panel.annotate(f"{bar.get_height():.2g}", place, rotation=90, ha="center", va="bottom", fontsize=7)


def draw_all_times(seconds: Table) -> Drawing:
    """Draw time against the number of located images."""
    sets = seconds.list_values("set")
    canvas, axes = make_axes(1, len(sets), 3.6, 3.4)
    for panel, each in zip(axes[0], sets, strict=True):
        draw_times(panel, seconds, set=each)
        panel.set(xlabel="located images", title=each)
    add_legend(canvas, axes)
    return Drawing("images_times", "Time of locating images against their number.", canvas)
