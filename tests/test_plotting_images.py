"""Pictures of images at their places, and of pixels and columns that move a coordinate."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist, pdist

from pictures import draw, fit_threes, load_threes, match_rows
from polyfold import NPPE, PolynomialMap, plotting
from polyfold.plotting._axes import STRIKING
from polyfold.plotting._coordinates import find_limits
from polyfold.plotting._sensitivity import ABOVE, BELOW
from polyfold.plotting._thumbnails import choose_cells, choose_spread, count_cells, lay_out, shrink


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


@pytest.fixture(name="Y")
def draw_coordinates():
    return np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture
def threes():
    return load_threes()


@pytest.fixture
def fitted():
    return fit_threes()


@pytest.mark.parametrize("shape", [(28, 20), (16, 16), (32, 32), (10, 40)])
@pytest.mark.parametrize("kind", ["spread", "heap", "line"])
def test_no_image_hides_another(shape, kind):
    random = np.random.default_rng(0)
    places = {"spread": random.uniform(size=(100, 2)), "heap": np.full((100, 2), 0.5), "line": np.zeros((100, 2))}
    wanted = places[kind] * (n_cells := count_cells(*shape, 100))
    cells = choose_cells(wanted, n_cells)
    assert len({tuple(cell) for cell in cells}) == 100
    assert (cells >= 0).all()
    assert (cells < n_cells).all()
    sheet = lay_out(random.uniform(size=(100, *shape)), cells, n_cells)
    assert (~sheet.mask).sum() == 100 * shape[0] * shape[1]


def test_an_image_stands_at_its_place_where_it_is_free():
    n_cells = count_cells(16, 16, 100)
    wanted = np.array([[0.5, 0.5], [5.4, 3.6], [n_cells[0] - 0.5, n_cells[1] - 0.5]])
    np.testing.assert_array_equal(choose_cells(wanted, n_cells), np.floor(wanted))


def test_the_sheet_of_images_has_its_first_row_on_top():
    image = np.arange(6.0).reshape(1, 2, 3)
    sheet = lay_out(image, np.array([[1, 0]]), np.array([2, 2]))
    assert sheet.shape == (6, 8)
    np.testing.assert_allclose(sheet[3:5, 4:7], image[0])


def test_the_frame_leaves_out_what_lies_far_away():
    dots = np.random.default_rng(0).normal(size=(1000, 2))
    dots[0] = 1e9
    low, high = find_limits(dots)
    assert (low > -5).all()
    assert (high < 5).all()


@pytest.mark.parametrize("shape", [(8, 8), (1, 64), (64, 1), (1, 1000)])
@pytest.mark.parametrize("n_images", [1, 2, 10, 300])
def test_there_is_a_cell_for_each_image(shape, n_images):
    n_cells = count_cells(*shape, n_images)
    assert (n_cells >= 1).all()
    assert n_cells.prod() >= n_images


def test_a_frame_has_an_extent_around_points_that_have_none():
    for points in ([[0.0, 0.0]], [[1e9, -3.0]] * 5):
        low, high = find_limits(np.array(points))
        assert (low < points[0]).all()
        assert (high > points[0]).all()


def test_chosen_points_are_spread():
    random = np.random.default_rng(0)
    points = np.vstack([random.normal(0.2, 0.01, size=(990, 2)), random.uniform(size=(10, 2))])
    chosen = choose_spread(points, 30)
    assert len(set(chosen)) == 30
    np.testing.assert_array_equal(chosen, choose_spread(points, 30))
    assert set(range(990, 1000)) <= set(chosen), "the few that lie apart are among them"
    # No point is farther from the chosen ones than these are from each other.
    assert cdist(points, points[chosen]).min(axis=1).max() <= pdist(points[chosen]).min()
    np.testing.assert_array_equal(choose_spread(points, 1000), np.arange(1000))
    assert len(set(choose_spread(np.zeros((9, 2)), 5))) == 5


@pytest.mark.parametrize("flat", [False, True])
def test_images_stand_at_their_places(ax, flat):
    places = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0], [5.0, 5.0]])
    images = np.arange(1.0, 6.0)[:, np.newaxis, np.newaxis] * np.ones((5, 6, 4))
    images[:, :3] *= 10  # the upper half
    given = {"images": images.reshape(5, 24), "shape": (6, 4)} if flat else {"images": images}
    plotting.plot_thumbnails(places, **given, cmap="gray_r", color=STRIKING, max_images=20, ax=ax)
    [sheet] = ax.images
    values = sheet.get_array()
    assert sheet.origin == "upper"
    assert sheet.get_extent() == [*ax.get_xlim(), *ax.get_ylim()]
    assert (~values.mask).sum() == images.size
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    n_cells = count_cells(6, 4, 20)
    for place, image in zip(places, images, strict=True):
        rows, columns = np.nonzero((values == image[0, 0]) & ~values.mask)
        top, left = rows.min(), columns.min()
        np.testing.assert_array_equal(values[top : top + 6, left : left + 4], image)
        centre = low + (high - low) * [(left + 2.5) / values.shape[1], 1 - (top + 3.5) / values.shape[0]]
        assert (np.abs(centre - place) <= (high - low) / n_cells).all()
    dots, marks, beyond = ax.collections[0], ax.collections[2], ax.collections[3]
    np.testing.assert_array_equal(dots.get_offsets(), places)
    np.testing.assert_array_equal(marks.get_offsets(), places)
    assert len(beyond.get_offsets()) == 0
    assert to_hex(marks.get_facecolors()[0]).upper() == STRIKING
    assert ax.images[0].get_cmap().name == "gray_r"
    lines = np.array(ax.collections[1].get_segments())
    np.testing.assert_array_equal(lines[:, 0], places)
    draw(ax)


def test_images_of_many_samples_are_a_few_that_are_spread(ax, fitted):
    Y = fitted.embedding_
    numbers = np.arange(len(Y))[:, np.newaxis] * np.ones(64)
    plotting.plot_thumbnails(Y, numbers, shape=(8, 8), max_images=30, ax=ax)
    low, high = find_limits(Y)
    starts, ends = np.array(ax.collections[1].get_segments()).transpose(1, 0, 2)
    shown = match_rows(starts, Y.clip(low, high))
    assert len(set(shown)) == 30
    sheet = ax.images[0].get_array()
    assert (~sheet.mask).sum() == 30 * 64
    columns, rows = ((ends - low) / (high - low) * sheet.shape[::-1]).astype(int).T
    np.testing.assert_array_equal(sheet[len(sheet) - 1 - rows, columns], shown)
    apart = (starts - low) / (high - low)
    evenly, at_random = pdist(apart).min(), pdist(((Y - low) / (high - low))[:30]).min()
    assert evenly > 2 * at_random
    again = plotting.plot_thumbnails(Y, numbers, shape=(8, 8), max_images=30, ax=Figure().subplots())
    np.testing.assert_array_equal(again.images[0].get_array(), ax.images[0].get_array())


def test_images_of_unseen_samples_stand_in_the_frame_of_the_background(ax):
    background = np.random.default_rng(0).uniform(size=(500, 2))
    places = np.array([[0.5, 0.5], [40.0, 0.5]])
    plotting.plot_thumbnails(places, np.ones((2, 3, 3)), background=background, ax=ax)
    dots, _, marks, beyond = ax.collections
    np.testing.assert_array_equal(dots.get_offsets(), background)
    np.testing.assert_array_equal(marks.get_offsets(), places[:1])
    assert ax.get_xlim()[1] < 1.2
    np.testing.assert_allclose(beyond.get_offsets(), [[ax.get_xlim()[1], 0.5]])
    draw(ax)


def test_large_images_are_drawn_smaller(ax):
    images = np.random.default_rng(0).uniform(size=(2, 300, 97))
    small = shrink(images)
    assert small.shape == (2, 75, 48)
    assert small[1, 3, 5] == pytest.approx(images[1, 12:16, 10:12].mean())
    assert shrink(images[:, :96, :96]).shape == (2, 96, 96)
    plotting.plot_thumbnails([[0.0, 0.0], [1.0, 1.0]], np.ones((2, 2000, 2000)), max_images=2, ax=ax)
    assert ax.images[0].get_array().size < 1_000_000


def test_bad_images(ax, Y):
    def check(message, images, **settings):
        with pytest.raises(ValueError, match=message):
            plotting.plot_thumbnails(Y, images, ax=ax, **settings)

    check(r"`images` must have the shape \(n_samples, height, width\), or .* with `shape` given, got \(60, 64\)",
          np.zeros((60, 64)))  # fmt: skip
    check(
        r"`images` must have 8 x 9 = 72 pixels each by `shape`, got the shape \(60, 64\)",
        np.zeros((60, 64)),
        shape=(8, 9),
    )
    check(r"by `shape`, got the shape \(60, 8, 8\)", np.zeros((60, 8, 8)), shape=(8, 7))
    check("`images` must have one entry for each of the 60 samples, got 59", np.zeros((59, 8, 8)))
    check(r"got \(60, 8, 8, 3\)", np.zeros((60, 8, 8, 3)))
    check(r"got \(60, 0, 8\)", np.zeros((60, 0, 8)))
    check("`images` must hold numbers, got <U1", np.full((60, 2, 2), "a"))
    for shape in ((8,), 8, (8, 0), (8.0, 8.0)):
        check("`shape` must be a height and a width, each at least 1, got", np.zeros((60, 64)), shape=shape)
    check("`max_images` must be an integer >= 1, got 0", np.zeros((60, 8, 8)), max_images=0)
    check("`background` must have as many coordinates as `Y`, 3, got 2", np.zeros((60, 8, 8)), background=Y[:, :2])
    assert not ax.has_data()


def read_bars(ax):
    labels = [label.get_text() for label in ax.get_yticklabels()]
    return (
        labels,
        [bar.get_width() for bar in ax.patches],
        [to_hex(bar.get_facecolor()).upper() for bar in ax.patches],
    )


@pytest.mark.parametrize("signed", [True, False])
def test_bars_are_the_columns_that_move_a_coordinate_most(ax, fitted, threes, signed):
    measured = fitted.map_.sensitivity(threes, signed=signed)
    for source, arguments in ((fitted, (threes,)), (fitted.map_, (threes,)), (measured, ())):
        ax.clear()
        plotting.plot_sensitivity(source, *arguments, signed=signed, coordinate=1, largest=7, ax=ax)
        labels, widths, colors = read_bars(ax)
        order = sorted(range(64), key=lambda j: -abs(measured["y1"][j]))[:7]
        assert labels == [measured.labels[j] for j in order]
        np.testing.assert_allclose(widths, measured["y1"][order], rtol=1e-12)
        assert colors == [BELOW if width < 0 else ABOVE for width in widths]
        assert (min(widths) < 0) == signed
        assert ax.get_title() == "what moves y1"
        assert ax.get_ylim()[0] > ax.get_ylim()[1], "the largest is on top"
        draw(ax)


def test_a_picture_has_zero_in_the_middle_of_its_scale(ax, fitted, threes):
    measured = fitted.map_.sensitivity(threes, signed=True)
    plotting.plot_sensitivity(fitted.map_, threes, coordinate="y1", shape=(8, 8), ax=ax)
    [picture] = ax.images
    np.testing.assert_allclose(picture.get_array(), measured.images((8, 8))[1])
    low, high = picture.get_clim()
    assert low == -high
    assert high == np.abs(measured["y1"]).max()
    np.testing.assert_allclose(picture.get_cmap()(0.5)[:3], 1, atol=0.05)
    red, _, blue = picture.get_cmap()(0.9)[:3]
    assert red > blue
    assert len(ax.figure.axes) == 2
    alone = plotting.plot_sensitivity(measured, shape=(8, 8), colorbar=False, ax=Figure().subplots())
    assert alone.figure.axes == [alone]
    np.testing.assert_allclose(alone.images[0].get_array(), measured.images((8, 8))[0])
    draw(ax)


def test_names_of_columns_are_taken_as_they_are(ax):
    names = [r"a $\x$", "b\n", "c" * 50]
    line = PolynomialMap(
        shift=np.zeros(3), scale=1.0, basis="hadamard", degree=1, coefficients=[[3.0], [2.0], [1.0]],
        offset=[0.0], columns=names,
    )  # fmt: skip
    plotting.plot_sensitivity(line, [[0.0, 0.0, 0.0], [2.0, 2.0, 2.0]], ax=ax)
    labels, widths, _ = read_bars(ax)
    assert labels == [r"a $\x$", "b ", "c" * 27 + "…"]
    np.testing.assert_allclose(widths, [3, 2, 1])
    draw(ax)


def test_bad_sensitivity(ax, fitted, threes):
    measured = fitted.map_.sensitivity(threes)

    def check(error, message, *arguments, **settings):
        with pytest.raises(error, match=message):
            plotting.plot_sensitivity(*arguments, ax=ax, **settings)

    check(ValueError, "`X` must be given with a map", fitted)
    check(ValueError, "`X` must be None with a Sensitivity", measured, threes)
    check(TypeError, "`source` must be a PolynomialMap, .* got NPPE", NPPE(), threes)
    check(TypeError, "`source` must be a PolynomialMap, .* got ndarray", threes)
    for coordinate in (2, "y2"):
        check(
            ValueError,
            "`coordinate` must be one of y0, y1 or a position from 0 to 1",
            measured,
            coordinate=coordinate,
        )
    check(ValueError, "`coordinate` must be an integer >= 0, got -1", measured, coordinate=-1)
    check(ValueError, "`shape` must multiply to the 64 columns, got", measured, shape=(8, 9))
    check(ValueError, "`shape` must be a height and a width, got", measured, shape=(4, 4, 4))
    check(ValueError, "`largest` must be an integer >= 1, got 0", measured, largest=0)
    assert not ax.has_data()
