"""The report and the warnings: what was chosen, why, and what to do."""

import warnings

import numpy as np
import pandas as pd
import pytest

from polyfold import NPPE
from polyfold.datasets import make_gaussian, make_swiss_roll

RANDOM = np.random.default_rng(0)
WIDE = make_gaussian(300, random_state=0)[0] @ RANDOM.normal(size=(3, 30)) + 0.05 * RANDOM.normal(size=(300, 30))


def test_report_of_what_was_chosen():
    fitted = NPPE(fit_inverse_transform=True).fit(WIDE)
    facts = fitted.diagnostics_
    report = str(facts)
    assert report == repr(facts)
    for words in (
        "300 of 30 columns, 0 duplicates",
        f"about {facts.intrinsic_dimension:.1f}",
        f"{fitted.n_neighbors_} (auto: 1 % of the samples and m(m+1)/2 for dimension m, within 10 to 50)",
        f"{facts.n_axes} principal axes (auto: up to 500 features and 0.8 for each sample)",
        f"(co-ranking AUC of a trial {facts.space_scores[facts.space]:.3f}, in",
        f"{facts.n_features} monomials of degree 1 to 2 (kronecker), rank {facts.rank}, condition",
        f"{fitted.alpha_:.2g} (auto: the best objective on held-out folds; without a ridge it is",
        f"{facts.training_objective:.2g} on training folds, {facts.held_out_objective:.2g} on held-out ones",
        f"{facts.held_out_spread[0]:.2f}, {facts.held_out_spread[1]:.2f} of the training spread",
        f"{facts.round_trip_error:.1%} of the variance is lost",
    ):
        assert words in report, words
    assert max(map(len, report.splitlines())) <= 135


def test_report_of_what_was_given():
    report = repr(NPPE(alpha=0.5, n_neighbors=12, reduce=4).fit(WIDE).diagnostics_)
    assert "12 (given)" in report
    assert "0.5 (given)" in report
    assert "4 principal axes (given)" in report
    assert "round trip" not in report
    bare = repr(NPPE(n_neighbors=10).fit(make_swiss_roll(300, random_state=0)[0]).diagnostics_)
    assert "all used as they are" in bare
    assert "measured in          the columns\n" in bare


def test_notebooks_show_the_report():
    class Printer:
        shown = ""

        def text(self, text):
            self.shown += text

    facts, printer = NPPE(n_neighbors=12).fit(WIDE).diagnostics_, Printer()
    facts._repr_pretty_(printer, cycle=False)
    assert printer.shown == repr(facts)


@pytest.mark.parametrize("unit", [1e2, 1e9])
def test_metres_and_nanometres(unit):
    """One column in small units carries all the variance; standardised, none does."""
    X = make_gaussian(300, random_state=0)[0]
    mixed = X * [1.0, unit, 1.0]
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        NPPE(n_neighbors=10).fit(mixed)
    messages = [str(warning.message) for warning in raised]
    assert any("Column 1 carries" in m and "of the variance" in m and "StandardScaler" in m for m in messages)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NPPE(n_neighbors=10).fit((mixed - mixed.mean(axis=0)) / mixed.std(axis=0))
        NPPE(n_components=1, n_neighbors=10).fit(X[:, :1])  # a single column carries all of it by right
    with pytest.raises(ValueError, match="standardise columns of different units"):
        NPPE(n_components=5, n_neighbors=10).fit(X * [1.0, 1e12, 1.0])


def test_several_columns_in_small_units():
    """Three in metres and three in nanometres: no single column dominates, and yet three are unseen."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(200, 6)) * [1, 1, 1, 1e9, 1e9, 1e9], columns=list("abcdef"))
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        NPPE(n_neighbors=10).fit(frame)
    assert any("differ by a factor of 1e+09" in str(warning.message) for warning in raised)
    frame["f"] *= 1e3
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        NPPE(n_neighbors=10).fit(frame)
    assert any("Column 'f' carries" in str(warning.message) for warning in raised)


@pytest.mark.parametrize("method", ["fit", "fit_transform"])
@pytest.mark.parametrize("output", ["default", "pandas"])
def test_warnings_point_at_the_line_of_the_user(method, output):
    pieces = np.concatenate([make_gaussian(50, random_state=0)[0], make_gaussian(50, random_state=1)[0] + 100])
    model = NPPE(n_neighbors=5).set_output(transform=output)
    with pytest.warns(UserWarning, match="connected components") as raised:
        getattr(model, method)(pieces)
    assert {warning.filename for warning in raised} == {__file__}
