"""Parts of the experiments: images at their places, facts of images, exponents, tables, and stages timed."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from polyfold import NPPE
from polyfold.bench.timing import time_stages
from polyfold.datasets import make_swiss_roll
from polyfold.experiments.complexity import COSTS, GROWTHS, P_OF_MANY, fit_exponents
from polyfold.experiments.image_facts import measure_balance, measure_zeros, predict_facts
from polyfold.experiments.images import shrink
from polyfold.experiments.methods import METHODS
from polyfold.experiments.outcome import Table, show_value, tabulate
from polyfold.experiments.plan import Plan
from polyfold.experiments.surfaces import count_short_cuts
from polyfold.experiments.thumbnails import choose_cells, count_cells, find_limits, lay_out


@pytest.mark.parametrize("shape", [(28, 20), (16, 16), (32, 32), (10, 40)])
@pytest.mark.parametrize("kind", ["spread", "heap", "line"])
def test_no_image_hides_another(shape, kind):
    random = np.random.default_rng(0)
    places = {"spread": random.uniform(size=(100, 2)), "heap": np.full((100, 2), 0.5), "line": np.zeros((100, 2))}
    wanted = places[kind] * (n_cells := count_cells(*shape))
    cells = choose_cells(wanted, n_cells)
    assert len({tuple(cell) for cell in cells}) == 100
    assert (cells >= 0).all()
    assert (cells < n_cells).all()
    sheet = lay_out(random.uniform(size=(100, *shape)), cells, n_cells)
    assert (~sheet.mask).sum() == 100 * shape[0] * shape[1]


def test_an_image_stands_at_its_place_where_it_is_free():
    n_cells = count_cells(16, 16)
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


def draw_ring(width, aspect, slant):
    """Return a zero: an ellipse drawn by a pen of some width."""
    rows, columns = np.indices((64, 64)) - 31.5
    radius = np.hypot((columns - slant * rows) / aspect, rows)
    return (np.abs(radius - 20) < width / 2) * 255.0


def test_the_facts_of_zeros_follow_how_they_are_drawn():
    for which, values in enumerate([(3, 5, 8), (0.6, 0.8, 1.0), (-0.4, 0.0, 0.4)]):
        settings = [[5.0, 0.8, 0.0] for _ in values]
        for each, value in zip(settings, values, strict=True):
            each[which] = value
        facts = measure_zeros(np.array([draw_ring(*each) for each in settings]))[:, which]
        assert (np.diff(facts) > 0).all()
    [[width, _, slant]] = measure_zeros(draw_ring(6, 0.7, 0.3)[np.newaxis])
    assert width == pytest.approx(6, rel=0.35)
    assert slant == pytest.approx(0.3, abs=0.03)
    assert measure_zeros(draw_ring(6, 0.7, 0.0)[np.newaxis])[0, 1] == pytest.approx(0.7, abs=0.03)


def test_balance_is_left_less_right():
    faces = np.zeros((2, 28, 20), dtype=np.uint8)
    faces[0, :, :10] = 200
    faces[1, :, 10:] = 100
    np.testing.assert_allclose(measure_balance(faces), [[200], [-100]])


def test_facts_are_predicted_where_they_are_and_not_where_they_are_not():
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, size=600)
    Y = np.column_stack([np.cos(angle), np.sin(angle)])
    facts = np.column_stack([Y[:, 0], np.cos(2 * angle), random.normal(size=600)])
    affine, nearby = predict_facts(Y[:500], facts[:500], Y[500:], facts[500:])
    assert affine[0] > 0.99
    assert affine[1] < 0.1
    assert nearby[1] > 0.9
    assert max(affine[2], nearby[2]) < 0.2


def test_shrunk_images_are_means():
    images = np.arange(2 * 28 * 20).reshape(2, 28, 20)
    small = shrink(images)
    assert small.shape == (2, 14, 10)
    assert small[1, 3, 4] == images[1, 6:8, 8:10].mean()


def test_exponents_are_found_in_times_that_have_them():
    truth = {"N": 0.0, "n": 1.3, "p": 0.9, P_OF_MANY: 1.1, "m": 2.1, "d": 0.8}
    rows = [
        {"method": name, "grows": size, "size": value, "seconds": 2e-6 * value ** truth[size]}
        for name, (_, known, _) in COSTS.items()
        for size in known
        for value in GROWTHS[size].values
    ]
    fits = fit_exponents(Table("times", "", rows))
    for row in fits.rows:
        assert row["measured"] == pytest.approx(truth[row["grows"]], abs=1e-9)
        assert row["standard_error"] < 1e-7
        assert row["upper_half"] == pytest.approx(truth[row["grows"]], abs=1e-9)


#: What people without one kind of cone see, of linear red, green and blue (Machado, Oliveira, Fernandes 2009).
VISION = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def convert_to_lab(colours, vision):
    """Return L*a*b* of colours as they are seen; a distance of 10 and more is plain to see."""
    rgb = np.array([[int(each[k : k + 2], 16) / 255 for k in (1, 3, 5)] for each in colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ np.transpose(vision)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = linear.clip(0, 1) @ to_xyz.T / to_xyz.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])


@pytest.mark.parametrize("vision", VISION)
def test_methods_are_told_apart_by_people_of_any_colour_vision(vision):
    seen = convert_to_lab([method.colour for method in METHODS.values()], VISION[vision])
    assert pdist(seen).min() > 15
    assert len({method.marker for method in METHODS.values()}) == len(METHODS)


def test_short_cuts_are_counted():
    X, Z = make_swiss_roll(1000, random_state=0)
    assert count_short_cuts(X, Z, 5) == 0
    assert count_short_cuts(X, Z, 40) > 100


def test_tables_select_and_tabulate():
    rows = [
        {"method": m, "case": c, "seed": s, "rho": s + len(m)} for m in ("a", "bb") for c in "xy" for s in range(3)
    ]
    table = Table("t", "", [row for row in rows if (row["method"], row["case"]) != ("bb", "y")])
    np.testing.assert_array_equal(table.select("rho", method="a", case="y"), [1, 2, 3])
    with pytest.raises(LookupError, match="Table t has no row with"):
        table.select("rho", method="c")
    shown = tabulate(table, "method", "case", "rho", "caption").rows
    assert shown == [
        {"method": "a", "x": "2 (1 to 3)", "y": "2 (1 to 3)"},
        {"method": "bb", "x": "3 (2 to 4)", "y": ""},
    ]


def test_values_are_written_for_people():
    assert [show_value(v) for v in (0.123456, True, 7, "text", float("nan"), np.float64(1e-9), None, 12345.6)] == [
        "0.123", "yes", "7", "text", "", "1e-09", "", "12,346",
    ]  # fmt: skip


def test_warnings_of_fits_are_counted_and_not_shown(recwarn):
    plan = Plan()
    X = np.random.default_rng(0).normal(size=(30, 3))
    plan.fit("NPPE (polyfold)", np.repeat(X, 2, axis=0), 5)
    assert not recwarn.list
    assert all(name == "NPPE (polyfold)" for name, _ in plan.heard)
    assert sum(plan.heard.values()) >= 1
    assert not any(character.isdigit() for _, text in plan.heard for character in text)


def test_stages_are_timed_while_asked_and_counted_once():
    from time import perf_counter

    X, _ = make_swiss_roll(2000, random_state=0)
    start = perf_counter()
    with time_stages() as seconds:
        NPPE(n_neighbors=10).fit(X)
    whole = perf_counter() - start
    assert {"columns", "features", "neighbours", "Gram pair", "whitening", "ridge", "coordinates"} <= set(seconds)
    assert all(spent > 0 for spent in seconds.values())
    assert sum(seconds.values()) <= whole
    before = dict(seconds)
    NPPE(n_neighbors=10).fit(X)
    assert seconds == before


def test_a_loop_that_is_left_early_leaves_no_clock_running():
    from polyfold._blocks import _stage_seconds, show_progress

    with time_stages() as seconds:
        steps = show_progress(range(3), 3, "steps", 0)
        next(steps)
    steps.close()
    assert _stage_seconds.get() is None
    assert not seconds


def test_stages_are_timed_after_an_error():
    with time_stages() as outer:
        with pytest.raises(ValueError, match="n_neighbors"), time_stages():
            NPPE(n_neighbors=0).fit(make_swiss_roll(100, random_state=0)[0])
        NPPE(n_neighbors=5).fit(make_swiss_roll(100, random_state=0)[0])
    assert "Gram pair" in outer
