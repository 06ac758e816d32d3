"""Parts of the experiments: facts of images, exponents, tables, and stages timed."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from colour_vision import VISION, convert_to_lab
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
