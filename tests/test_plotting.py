"""Pictures: what is drawn where, in which colour, and what is said of bad input."""

import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist, pdist
from scipy.stats import rankdata

from colour_vision import VISION, convert_to_lab
from pages import ROOT, list_blocks, run_page
from pictures import draw, fit_threes, list_legend, load_threes, match_rows
from polyfold import plotting
from polyfold.plotting._axes import GREY, PALE_GREY, PALETTE, PLAIN, STRIKING


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture(autouse=True)
def no_windows():
    before = dict(matplotlib.rcParams)
    plt.switch_backend("Agg")
    before["backend"] = matplotlib.rcParams["backend"]
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == before


@pytest.fixture(name="Y")
def draw_coordinates():
    return np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture
def threes():
    return load_threes()


@pytest.fixture
def fitted():
    return fit_threes()


# The package


def test_nothing_is_imported_before_it_is_needed():
    script = (
        "import sys, polyfold.plotting\n"
        "assert polyfold.plotting.__all__ == sorted(polyfold.plotting.__all__)\n"
        "heavy = {'matplotlib', 'sklearn', 'scipy', 'numba', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_map_is_drawn_without_scikit_learn(fitted, tmp_path):
    fitted.map_.save(tmp_path / "map.safetensors")
    script = """
import sys
from matplotlib.figure import Figure
from polyfold import PolynomialMap
from polyfold.plotting import plot_embedding, plot_ridge, plot_sensitivity
learned = PolynomialMap.load(sys.argv[1])
X = [[0.0] * 64, [1.0] * 64]
plot_ridge(learned, ax=Figure().subplots())
plot_sensitivity(learned, X, shape=(8, 8), ax=Figure().subplots())
plot_embedding(learned.transform(X), ax=Figure().subplots())
assert not {"sklearn", "matplotlib.pyplot"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "map.safetensors")], check=True)


@pytest.mark.parametrize("name", plotting.__all__)
def test_without_matplotlib_the_cure_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arguments = [np.zeros((3, 2))] * (1 if name in ("plot_eigenvalues", "plot_ridge", "plot_embedding") else 2)
    with pytest.raises(ImportError, match=rf'{name}\(\) needs matplotlib: pip install "polyfold\[plot\]"'):
        getattr(plotting, name)(*arguments)


def test_axes_are_those_given_or_the_current_ones(Y, fitted, threes):
    draws = {
        "plot_eigenvalues": (fitted,),
        "plot_embedding": (Y,),
        "plot_quality": (Y, Y),
        "plot_ridge": (fitted,),
        "plot_sensitivity": (fitted, threes),
        "plot_thumbnails": (Y, np.zeros((60, 2, 2))),
        "plot_unseen": (Y, Y),
    }
    assert sorted(draws) == plotting.__all__
    figure, (first, second) = plt.subplots(1, 2)
    plt.sca(first)
    for name, arguments in draws.items():
        given = Figure().subplots()
        assert getattr(plotting, name)(*arguments, ax=given) is given
        assert not first.has_data()
    for name, arguments in draws.items():
        assert getattr(plotting, name)(*arguments) is first
        first.clear()
    assert not second.has_data()
    plt.close(figure)
    made = plotting.plot_embedding(Y)
    assert made is plt.gca()
    assert made.figure.get_layout_engine() is not None


def test_nothing_is_drawn_where_the_input_is_bad():
    with pytest.raises(ValueError, match="`Y` must"):
        plotting.plot_embedding(np.zeros((0, 2)))
    assert not plt.get_fignums()


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    panels = run_page("docs/plotting.md")["axes"]
    assert all(panel.has_data() for panel in panels.flat)
    assert (tmp_path / "threes.png").stat().st_size > 10_000
    assert all(f"{name}(" in list_blocks("docs/plotting.md")[0].code for name in plotting.__all__)
    assert (ROOT / "docs" / "images" / "plotting.png").stat().st_size < 200_000


# Coordinates


def test_two_of_several_coordinates_are_drawn(ax, Y):
    drawn = plotting.plot_embedding(Y, axes=(2, 0), ax=ax).collections[0]
    np.testing.assert_array_equal(drawn.get_offsets(), Y[:, [2, 0]])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("y2", "y0")
    assert drawn.get_rasterized()
    assert ax.get_aspect() == 1
    assert to_hex(drawn.get_facecolors()[0]) == PLAIN.lower()
    draw(ax)


@pytest.mark.parametrize("single", [lambda Y: Y[:, 0], lambda Y: Y[:, :1]])
def test_one_coordinate_is_drawn_along_a_line(Y, single):
    offsets = []
    for _ in range(2):
        ax = plotting.plot_embedding(single(Y), ax=Figure().subplots())
        offsets.append(np.asarray(ax.collections[0].get_offsets()))
    np.testing.assert_array_equal(offsets[0][:, 0], Y[:, 0])
    np.testing.assert_array_equal(*offsets)
    assert len(np.unique(offsets[0][:, 1])) == len(Y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("y0", "")
    assert ax.get_aspect() == "auto"


def test_coordinates_with_names_name_the_axes(ax, Y):
    plotting.plot_embedding(pd.DataFrame(Y, columns=["a", "b", "c"]), axes=(0, 2), ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "c")
    plotting.plot_embedding(pl.DataFrame(Y, schema=["p", "q", "r"]), ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("p", "q")


def test_axes_that_share_both_limits_can_be_drawn(Y):
    figure = Figure(layout="constrained")
    for panel in figure.subplots(1, 2, sharex=True, sharey=True):
        plotting.plot_embedding(Y, Y[:, 0], ax=panel)
    draw(panel)


def test_points_are_smaller_the_more_there_are(Y):
    def measure(n_points, **settings):
        points = np.zeros((n_points, 2))
        return plotting.plot_embedding(points, ax=Figure().subplots(), **settings).collections[0].get_sizes()[0]

    areas = [measure(n) for n in (10, 300, 3000, 30_000, 3_000_000)]
    assert sorted(areas, reverse=True) == areas
    assert len(set(areas)) == 5
    assert areas[0] <= 40
    assert areas[-1] >= 1
    assert measure(10, size=7.5) == 7.5


# Colours


@pytest.mark.parametrize("vision", VISION)
def test_classes_are_told_apart_by_people_of_any_colour_vision(vision):
    assert len(set(PALETTE)) == 12
    assert pdist(convert_to_lab(PALETTE, VISION[vision])).min() > 15
    assert cdist(convert_to_lab(PALETTE, VISION[vision]), convert_to_lab([PALE_GREY], VISION[vision])).min() > 10


CLASSES = {
    "integers": (np.array([3, 8, 3, 5]), ["3", "5", "8"]),
    "whole floats": (np.array([3.0, 8.0, 3.0, 5.0]), ["3", "5", "8"]),
    "text": (np.array(["b", "c", "b", "a"]), ["a", "b", "c"]),
    "truth": (np.array([True, False, True, True]), ["False", "True"]),
    "list": (["x", "y", "x", "z"], ["x", "y", "z"]),
    "mixed": (np.array(["x", 1, "x", 2], dtype=object), ["1", "2", "x"]),
    "series": (pd.Series(["b", "c", "b", "a"]), ["a", "b", "c"]),
    "categories": (pd.Series([1.5, 2.5, 1.5, 0.5]).astype("category"), ["0.5", "1.5", "2.5"]),
    "polars": (pl.Series(["b", "c", "b", "a"]), ["a", "b", "c"]),
    "odd names": (["_a", r"$\b$", "_a", "c\n"], [r"$\b$", "_a", "c "]),
}


@pytest.mark.parametrize("case", CLASSES)
def test_classes_have_a_colour_each(ax, case):
    color, names = CLASSES[case]
    Y = np.arange(8.0).reshape(4, 2)
    drawn = plotting.plot_embedding(Y, color, color_label="kind", ax=ax).collections[0]
    np.testing.assert_array_equal(drawn.get_offsets(), Y)
    expected = [to_rgba(PALETTE[k]) for k in rankdata(np.asarray(color).astype(str), "dense") - 1]
    np.testing.assert_allclose(drawn.get_facecolors(), expected)
    assert list_legend(ax) == names
    assert ax.get_legend().get_title().get_text() == "kind"
    handles = ax.get_legend().legend_handles
    assert [to_hex(each.get_color()).upper() for each in handles] == list(PALETTE[: len(names)])
    draw(ax)


NUMBERS = {
    "fractions": np.linspace(0, 1, 60),
    "many integers": np.arange(60) % 13,
    "few fractions": np.arange(60) % 3 / 2,
    "nullable": pd.Series(np.arange(60), dtype="Int64"),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_are_a_scale(ax, Y, case):
    color = NUMBERS[case]
    drawn = plotting.plot_embedding(Y, color, color_label=r"$\spent$", ax=ax).collections[0]
    np.testing.assert_array_equal(drawn.get_array(), np.asarray(color, dtype=float))
    np.testing.assert_array_equal(drawn.get_offsets(), Y[:, :2])
    assert drawn.get_cmap().name == "viridis"
    assert ax.get_legend() is None
    bar = next(each for each in ax.figure.axes if each is not ax)
    assert bar.get_ylabel() == r"$\spent$"
    draw(ax)


def test_the_caller_decides_what_is_a_class(ax, Y):
    twelve, thirteen = np.arange(60) % 12, np.arange(60) % 13
    plotting.plot_embedding(Y, twelve, ax=ax)
    assert len(list_legend(ax)) == 12
    as_scale = plotting.plot_embedding(Y, twelve, kind="continuous", ax=Figure().subplots())
    np.testing.assert_array_equal(as_scale.collections[0].get_array(), twelve)
    as_classes = plotting.plot_embedding(Y, thirteen, kind="categorical", ax=Figure().subplots())
    assert list_legend(as_classes)[-1] == "2 others"
    named = plotting.plot_embedding(Y, thirteen, labels=dict(enumerate("abcdefghijklm")), ax=Figure().subplots())
    assert list_legend(named) == [*"abcdefghijk", "2 others"]
    plain = plotting.plot_embedding(Y, twelve, legend=False, ax=Figure().subplots())
    assert plain.get_legend() is None
    bare = plotting.plot_embedding(Y, Y[:, 0], legend=False, ax=Figure().subplots())
    assert bare.figure.axes == [bare]
    black = plotting.plot_embedding(Y, "black", ax=Figure().subplots())
    assert to_hex(black.collections[0].get_facecolors()[0]) == "#000000"


def test_of_many_classes_the_frequent_have_colours_and_the_others_are_grey(ax):
    names = np.array([f"c{k:02}" for k in range(15) for _ in range(2 if k in (0, 5) else 3 + k)])
    Y = np.random.default_rng(0).normal(size=(len(names), 2))
    drawn = plotting.plot_embedding(Y, names, ax=ax).collections[0]
    # Those of 2, 2, 4 and 5 samples have no colour.
    shown = [f"c{k:02}" for k in range(15) if k not in (0, 5, 1, 2)]
    assert list_legend(ax) == [*shown, "4 others"]
    rows = match_rows(drawn.get_offsets(), Y)
    colors = dict(zip(shown, PALETTE, strict=False))
    expected = [to_rgba(colors.get(name, GREY)) for name in names[rows]]
    np.testing.assert_allclose(drawn.get_facecolors(), expected)
    n_grey = 2 + 2 + 4 + 5
    assert not np.isin(names[rows[:n_grey]], shown).any(), "grey is drawn first, below the others"


@pytest.mark.parametrize("missing", [np.nan, None, np.inf, np.float32("nan"), pd.NA])
def test_classes_that_are_not_known_are_pale(ax, missing):
    Y = np.arange(8.0).reshape(4, 2)
    drawn = plotting.plot_embedding(Y, np.array(["b", "a", missing, "b"], dtype=object), ax=ax).collections[0]
    np.testing.assert_array_equal(drawn.get_offsets(), Y[[2, 0, 1, 3]])
    expected = [PALE_GREY, PALETTE[1], PALETTE[0], PALETTE[1]]
    np.testing.assert_allclose(drawn.get_facecolors(), [to_rgba(each) for each in expected])
    assert list_legend(ax) == ["a", "b", "not known"]
    plotting.plot_embedding(Y, np.array([1, missing, 2, 1], dtype=object), ax=ax)
    assert list_legend(ax) == ["1", "2", "not known"]


def test_numbers_that_are_not_known_are_pale(ax, Y):
    color = Y[:, 0].copy()
    color[[4, 7]] = np.nan, np.inf
    drawn = plotting.plot_embedding(Y, color, ax=ax).collections[0]
    draw(ax)
    assert not np.ma.is_masked(drawn.get_offsets())
    order = np.r_[4, 7, np.delete(np.arange(60), [4, 7])]
    np.testing.assert_array_equal(drawn.get_offsets(), Y[order, :2])
    np.testing.assert_allclose(drawn.get_facecolors()[:2], [to_rgba(PALE_GREY)] * 2)
    assert drawn.get_clim() == (np.delete(color, [4, 7]).min(), np.delete(color, [4, 7]).max())
    known = matplotlib.colormaps["viridis"](drawn.norm(color[order[2:]]))
    np.testing.assert_allclose(drawn.get_facecolors()[2:], known)
    nothing = plotting.plot_embedding(Y, np.full(60, np.nan), kind="continuous", ax=Figure().subplots())
    assert nothing.figure.axes == [nothing]
    draw(nothing)


def test_classes_are_named(ax):
    Y = np.arange(8.0).reshape(4, 2)
    plotting.plot_embedding(Y, [2, 0, 2, 0], labels=["zero", "one", "two"], ax=ax)
    assert list_legend(ax) == ["zero", "two"]
    plotting.plot_embedding(Y, ["b", "a", "b", "b"], labels={"a": "first", "b": "first"}, ax=ax)
    assert list_legend(ax) == ["first", "first"]
    for labels in (["zero"], {0: "zero"}):
        with pytest.raises(ValueError, match="`labels` must name every class of `color`, got no name of 2"):
            plotting.plot_embedding(Y, [2, 0, 2, 0], labels=labels, ax=ax)
    for color in ([-1, 0, 0, 0], [*"abca"]):
        with pytest.raises(ValueError, match=r"A sequence is for classes 0, 1, …; of others give a dict"):
            plotting.plot_embedding(Y, color, labels=["zero"], ax=ax)


def test_bad_colours(ax, Y):
    def check(message, *arguments, **settings):
        with pytest.raises(ValueError, match=message):
            plotting.plot_embedding(Y, *arguments, ax=ax, **settings)

    check("`color` must have one entry for each of the 60 samples, got 59", np.arange(59))
    check(r"`color` must be a colour or of shape \(n_samples,\), got the shape \(60, 3\)", Y)
    check("must hold numbers, truth values or text, got datetime64", np.zeros(60, dtype="M8[s]"))
    check("must hold numbers, and `labels` be None", ["a"] * 60, kind="continuous")
    check("must hold numbers, and `labels` be None", np.arange(60), kind="continuous", labels=["a"])
    check(
        "`kind` must be one of 'auto', 'categorical', 'continuous', got 'classes'", np.arange(60), kind="classes"
    )
    check("`labels` name the classes of `color`", labels=np.arange(60))
    check("`size` must be a finite number >= 0", size=-1)
    check("`legend` must be True or False", legend="right")
    assert not ax.has_data()


BAD_COORDINATES = {
    "nan": (np.array([[0.0, 1.0], [2.0, np.nan], [np.inf, 0.0]]), r"finite, got 2 rows .* the first being row 1"),
    "empty": (np.zeros((0, 2)), r"shape \(n_samples, n_components\), with at least one of each, got \(0, 2\)"),
    "no columns": (np.zeros((3, 0)), r"got \(3, 0\)"),
    "cube": (np.zeros((3, 2, 2)), r"got \(3, 2, 2\)"),
    "number": (3.0, r"got \(\)"),
    "text": ([["a", "b"]], "must hold numbers"),
    "ragged": ([[1.0, 2.0], [3.0]], "must hold numbers"),
}


@pytest.mark.parametrize("case", BAD_COORDINATES)
def test_bad_coordinates(case):
    bad, message = BAD_COORDINATES[case]
    good = np.zeros((3, 2))
    with pytest.raises(ValueError, match=f"`Y` .*{message}"):
        plotting.plot_embedding(bad)
    with pytest.raises(ValueError, match=f"`Y` .*{message}"):
        plotting.plot_thumbnails(bad, np.zeros((3, 2, 2)))
    with pytest.raises(ValueError, match=f"`background` .*{message}"):
        plotting.plot_thumbnails(good, np.zeros((3, 2, 2)), background=bad)
    with pytest.raises(ValueError, match=f"`Y_train` .*{message}"):
        plotting.plot_unseen(bad, good)
    with pytest.raises(ValueError, match=f"`Y_unseen` .*{message}"):
        plotting.plot_unseen(good, bad)
    assert not plt.get_fignums()


@pytest.mark.parametrize("axes", [(0, 3), (1, 1), (-1, 0), (0,), (0, 1, 2), 1, "01", (0.0, 1.0), None])
def test_bad_axes(Y, axes):
    with pytest.raises(ValueError, match="`axes` must be two different coordinates of `Y`, from 0 to 2, got"):
        plotting.plot_embedding(Y, axes=axes)


# Unseen samples


def test_unseen_samples_among_training_samples(ax, Y):
    plotting.plot_unseen(Y[:40], Y[40:], axes=(1, 2), ax=ax)
    train, unseen = ax.collections
    np.testing.assert_array_equal(train.get_offsets(), Y[:40, [1, 2]])
    np.testing.assert_array_equal(unseen.get_offsets(), Y[40:, [1, 2]])
    assert [to_hex(each.get_facecolors()[0]).upper() for each in (train, unseen)] == [PALE_GREY, PLAIN]
    assert list_legend(ax) == ["40 training", "20 unseen"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("y1", "y2")
    draw(ax)


def test_samples_outside_of_what_was_learned_are_marked(ax, Y):
    scores = np.r_[0.2, 1.0, 1.01, np.inf, np.full(16, 0.5)]
    plotting.plot_unseen(Y[:40], Y[40:], extrapolation=scores, ax=ax)
    _, inside, outside = ax.collections
    np.testing.assert_array_equal(outside.get_offsets(), Y[42:44, :2])
    np.testing.assert_array_equal(inside.get_offsets(), np.delete(Y[40:, :2], [2, 3], axis=0))
    assert to_hex(outside.get_facecolors()[0]).upper() == STRIKING
    assert len(outside.get_paths()[0].vertices) == 4, "a triangle, closed"
    assert list_legend(ax) == [
        "40 training", "18 unseen, inside what was learned", "2 unseen, outside (extrapolation above 1)",
    ]  # fmt: skip


def test_samples_far_away_are_crosses_at_the_edge(ax):
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    unseen = np.array([[0.5, 0.5], [100.0, 1.0], [1.4, -300.0], [1.5, 1.0]])
    plotting.plot_unseen(corners, unseen, extrapolation=[0.1, 9, 9, 2], ax=ax)
    _, inside, outside, beyond = ax.collections
    np.testing.assert_array_equal(inside.get_offsets(), unseen[:1])
    np.testing.assert_array_equal(outside.get_offsets(), unseen[3:])
    np.testing.assert_allclose(beyond.get_offsets(), [[1.5, 1.0], [1.4, -1.0]])
    assert to_hex(beyond.get_edgecolors()[0]).upper() == STRIKING
    assert list_legend(ax)[-1] == "2 of them beyond the frame"
    draw(ax)
    assert ax.get_xlim() == pytest.approx((-0.075, 1.5))
    assert ax.get_ylim() == pytest.approx((-1.0, 2.15))


def test_unseen_samples_of_one_coordinate(ax, Y):
    plotting.plot_unseen(Y[:40, 0], Y[40:, 0], ax=ax)
    np.testing.assert_array_equal(ax.collections[1].get_offsets()[:, 0], Y[40:, 0])
    plotting.plot_unseen(np.ones(5), np.ones(5), ax=ax)
    draw(ax)


def test_bad_unseen_samples(ax, Y):
    with pytest.raises(ValueError, match="`Y_unseen` must have as many coordinates as `Y_train`, 3, got 2"):
        plotting.plot_unseen(Y, Y[:, :2], ax=ax)
    with pytest.raises(
        ValueError, match="`extrapolation` must have one entry for each of the 60 unseen samples, got 2"
    ):
        plotting.plot_unseen(Y, Y, extrapolation=[1, 2], ax=ax)
    with pytest.raises(ValueError, match=r"`extrapolation` must have the shape \(n_unseen,\), got \(60, 3\)"):
        plotting.plot_unseen(Y, Y, extrapolation=Y, ax=ax)
    with pytest.raises(ValueError, match="`extrapolation` must not be NaN, got 60 that are"):
        plotting.plot_unseen(Y, Y, extrapolation=np.full(60, np.nan), ax=ax)
    assert not ax.has_data()
