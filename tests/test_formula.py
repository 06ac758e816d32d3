"""A map as a person reads it: table, formula, LaTeX, SymPy."""

import re

import numpy as np
import pandas
import polars
import pytest
import sympy
from hypothesis import given

from maps import random_map
from polyfold import NPPE, PolynomialMap
from polyfold.datasets import make_swiss_roll
from strategies import count_examples, polynomial_maps


def fit_roll(seed):
    X, _ = make_swiss_roll(1000, random_state=seed)
    X = pandas.DataFrame(X, columns=["x", "y", "z"])
    return X, NPPE(n_neighbors=10).fit(X).map_


@pytest.mark.parametrize("seed", range(5))
def test_the_swiss_roll_reads_as_x2_plus_z2(seed):
    """Its angle grows as the square of the distance from its axis: no other term counts, and both are alike."""
    X, learned = fit_roll(seed)
    terms = learned.terms(X=X)
    along = int(np.argmax(terms.shares[terms.monomials.index("x²")]))
    line = terms.formula().splitlines()[along]
    first, second = line.split(" = ")[1].replace("−", "+ −").split(" + ")[:2]
    assert {first.split("·")[-1], second.split("·")[-1]} == {"x²", "z²"}
    squares = [terms.coefficients[terms.monomials.index(name), along] for name in ("x²", "z²")]
    assert squares[0] == pytest.approx(squares[1], rel=0.05)
    assert sum(terms.shares[terms.monomials.index(name), along] for name in ("x²", "z²")) > 0.95
    latex = learned.to_latex().splitlines()[1 + along]
    assert set(re.findall(r"\\,([^ ]*)", latex)[:2]) == {"x^{2}", "z^{2}"}


def test_shares_add_up_and_are_those_of_the_samples():
    X, learned = fit_roll(0)
    terms = learned.terms(X=X)
    np.testing.assert_allclose(terms.shares.sum(axis=0), 1, atol=1e-9)
    Y = learned.transform(X)
    for monomial, column in (("x²", X["x"] ** 2), ("x·y", X["x"] * X["y"]), ("z", X["z"])):
        position = terms.monomials.index(monomial)
        for c in range(2):
            part = terms.coefficients[position, c] * column
            expected = np.cov(part, Y[:, c], bias=True)[0, 1] / Y[:, c].var()
            assert terms.shares[position, c] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert terms.shares[terms.monomials.index("1")].tolist() == [0, 0]


def test_shares_without_samples_are_near_those_with():
    X, learned = fit_roll(0)
    np.testing.assert_allclose(learned.terms().shares, learned.terms(X=X).shares, atol=0.1)
    np.testing.assert_allclose(learned.terms().shares.sum(axis=0), 1, atol=1e-9)
    centered = learned.terms(centered=True)
    np.testing.assert_allclose(centered.shares.sum(axis=0), 1, atol=1e-9)
    assert centered.monomials[1].startswith("[x − ")
    with pytest.raises(ValueError, match="X must have at least 2 samples"):
        learned.terms(X=X[:1])
    # With all directions known, columns spread exactly as they did.
    np.testing.assert_allclose(learned.terms().deviations[1:4] * learned.scale, X.std(ddof=0), rtol=1e-9)
    assert np.isnan(random_map("kronecker", 2).terms().shares).all()


def test_shares_through_axes():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 12)) @ random.normal(size=(12, 12))
    learned = NPPE(reduce=4, n_neighbors=20, alpha=1e-2).fit(X).map_
    np.testing.assert_allclose(learned.terms().shares.sum(axis=0), 1, atol=1e-6)
    some = learned.terms(largest=5, X=X)
    whole = learned.terms(X=X)
    for factors, shares in zip(some.factors, some.shares, strict=True):
        np.testing.assert_allclose(shares, whole.shares[whole.factors.index(factors)], atol=1e-9)


def test_table():
    _, learned = fit_roll(0)
    terms = learned.terms()
    frame = terms.to_pandas()
    assert list(frame.columns) == ["y0", "y1", "share of y0", "share of y1"]
    assert list(frame.index) == ["1", "x", "y", "z", "x²", "x·y", "x·z", "y²", "y·z", "z²"]
    assert frame.loc["x²", "y0"] == learned.terms()[4].coefficients[0]
    assert polars.DataFrame(terms.to_dict()).shape == (10, 5)
    assert repr(terms).splitlines()[0].split("  ")[0] == "monomial"
    assert len(repr(terms).splitlines()) == 11
    html = random_map("kronecker", 1, 2, columns=["<b>", "a&b"]).terms()._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "… and 1 more" in repr(random_map("kronecker", 2, 5).terms())
    with pytest.raises(KeyError, match="'y7' is none of y0, y1"):
        _ = terms.table["y7"]


def test_formula():
    learned = PolynomialMap(
        [0.0, 0.0], 1.0, "kronecker", 2, np.zeros((5, 3)), [0.0, -2.0, 0.5], columns=["a", "b"]
    )
    assert learned.terms().formula().splitlines() == ["y0 = 0", "y1 = −2", "y2 = 0.5"]
    coefficients = np.array([[1, 0.001, 12345678.0], [-2, 3, 0], [0, 0, 0], [0, 1e-9, 0], [0, 0, -1.23456]])
    learned = PolynomialMap([0.0, 0.0], 1.0, "kronecker", 2, coefficients, [0, 0, 1], columns=["a", "b"])
    lines = learned.terms().formula().splitlines()
    assert lines[0] == "y0 = −2·b + 1·a"
    assert lines[1] == "y1 = 3·b + …"
    assert lines[2] == "y2 = 1.23·10⁷·a + 1 + …"
    assert learned.terms().formula(digits=5, largest=1).splitlines()[2] == "y2 = 1.2346·10⁷·a + 1 + …"
    for parameters in ({"largest": 0}, {"digits": 0}, {"digits": 1.5}):
        with pytest.raises(ValueError, match="must be an integer >= 1"):
            learned.terms().formula(**parameters)
        with pytest.raises(ValueError, match="must be an integer >= 1"):
            learned.to_latex(**parameters)


def test_latex():
    names = ["x", "x3", "petal_length (cm)", "50% & more", "a\\b{c}^d~#$"]
    learned = random_map("kronecker", 2, 5, columns=names)
    text = learned.to_latex(largest=20)
    assert text.startswith("\\begin{aligned}\ny_{0} &= ")
    assert text.endswith("\n\\end{aligned}")
    assert r"x_{3}" in text
    assert r"\mathrm{petal\_length\ (cm)}" in text
    assert r"\mathrm{50\%\ \&\ more}" in text
    assert r"\mathrm{a\backslash b\{c\}\wedge d\sim \#\$}" in text
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert r"\cdots" in learned.to_latex(largest=2)


@pytest.mark.parametrize("factor", [1e-150, 1e-80, 1e80, 1e150])
def test_units_do_not_change_what_is_shown(factor):
    X, _ = make_swiss_roll(300, random_state=0)
    plain, other = (NPPE(n_neighbors=10).fit(X * each).map_ for each in (1.0, factor))
    for c in range(2):
        shown, also = (each.terms().rank(c, 6, 3) for each in (plain, other))
        assert [term.powers for term in shown[0]] == [term.powers for term in also[0]]
        assert shown[1] == also[1]
    with pytest.raises(ValueError, match="Give the columns another unit"):
        random_map("kronecker", 3, scale=factor**2).terms(largest=3)


def test_names_that_are_no_word():
    learned = random_map("kronecker", 2, 2, columns=["od280/od315", "petal length (cm)"])
    assert learned.terms().monomials[-2] == "[od280/od315]·[petal length (cm)]"


@pytest.mark.parametrize("n_axes", [None, 30])
def test_latex_of_many_columns(n_axes):
    learned = random_map("kronecker" if n_axes else "hadamard", 2, 784, n_axes=n_axes)
    lines = learned.to_latex().splitlines()
    assert len(lines) == 4
    assert all(len(line) < 300 for line in lines)


def test_latex_is_drawn(tmp_path):
    """By matplotlib's own reader of formulas, which has most of LaTeX's math."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, learned = fit_roll(0)
    figure = pyplot.figure()
    for line in learned.to_latex().splitlines()[1:-1]:
        figure.text(0, 0, "$" + line.replace("&", "").replace(r"\\", "") + "$")
    figure.savefig(tmp_path / "formula.png")
    pyplot.close(figure)


@given(learned=polynomial_maps(max_columns=3, max_degree=3))
@count_examples(40)
def test_any_map_can_be_written(learned):
    assert len(learned.to_latex().splitlines()) == learned.n_outputs + 2
    terms = learned.terms()
    assert len(terms.formula().splitlines()) == learned.n_outputs
    assert len(repr(terms).splitlines()) == min(len(terms), 20) + 1 + (len(terms) > 20)
    assert terms.coefficients.shape == terms.shares.shape


def test_sympy():
    _, learned = fit_roll(0)
    expressions = learned.to_sympy()
    x, y, z = (sympy.Symbol(name, real=True) for name in "xyz")
    assert expressions.shape == (2, 1)
    assert expressions.free_symbols == {x, y, z}
    polynomial = sympy.Poly(expressions[0], x, y, z)
    assert float(polynomial.coeff_monomial(x**2)) == learned.terms().coefficients[4, 0]
    slope = sympy.diff(expressions[0], x).subs({x: 1.0, y: 2.0, z: 3.0})
    assert float(slope) == pytest.approx(learned.jacobian([[1.0, 2.0, 3.0]])[0, 0, 0], rel=1e-9)
    nested = learned.to_sympy(expanded=False)
    for one, other in zip(sympy.expand(nested), expressions, strict=True):
        difference = sympy.Poly(one - other, x, y, z)
        assert max(abs(float(c)) for c in difference.coeffs()) < 1e-12
    with pytest.raises(ValueError, match="308,505 terms"):
        random_map("kronecker", 2, 784, n_axes=3).to_sympy()


def test_sympy_hands_on_every_digit():
    """What it prints, as for functions of Python, is the double that it was given, and not 15 digits of it."""
    learned = PolynomialMap([-119.06554042012345], 1.0, "hadamard", 1, [[1 / 3]], [0.1])
    [expression] = learned.to_sympy(expanded=False)
    assert {float(number) for number in re.findall(r"\d+\.\d+", str(expression))} == {
        119.06554042012345,
        1 / 3,
        0.1,
    }
