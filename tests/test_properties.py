"""What holds for any data: an answer or a documented error, and what the answer must not depend on.

`make test-deep` tries each property on 10,000 examples.
"""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import special_ortho_group

from polyfold import ExplicitEmbedding, KernelExtrapolation, NystromExtension, PolynomialEmbedding
from strategies import ANSWERED, count_examples, embeddings, finite_arrays, polynomial_maps, sample_clouds

GUARANTEES = Path(__file__).parents[1] / "docs" / "guarantees.md"


def read_documented_errors():
    """The errors of `fit` that the document lists, as patterns: … stands for anything."""
    section = GUARANTEES.read_text().split("## Errors of fit")[1].split("\n## ")[0]
    listed = re.findall(r"^- `(\w+)`: “(.+?)”", section, flags=re.MULTILINE | re.DOTALL)
    return [
        (name, ".*".join(re.escape(" ".join(part.split())) for part in text.split("…"))) for name, text in listed
    ]


DOCUMENTED = read_documented_errors()


def assert_documented(error):
    """The type is one of those that callers catch, itself and no subclass, and the message is in the document."""
    message = " ".join(str(error).split())
    for name, pattern in DOCUMENTED:
        if type(error).__name__ == name and re.search(pattern, message, flags=re.DOTALL):
            return
    raise AssertionError(f"not documented: {type(error).__name__}: {message}") from error


def fit_or_refuse(embedding, X, **rest):
    """Return the fitted estimator, or None where X is refused by a documented error. No warning but polyfold's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        try:
            return embedding.fit(X, **rest)
        except Exception as error:
            assert_documented(error)
            return None


def assert_finite_map(learned):
    for name in ("shift", "coefficients", "offset", "scale"):
        assert np.isfinite(getattr(learned, name)).all(), name
    assert learned.axes is None or np.isfinite(learned.axes).all()
    if learned.decoder is not None:
        assert_finite_map(learned.decoder)


@given(X=finite_arrays(), embedding=embeddings())
@count_examples(60)
def test_any_finite_array_fits_or_is_refused(X, embedding):
    fitted = fit_or_refuse(embedding, X)
    if fitted is None:
        return
    assert_finite_map(fitted.map_)
    ANSWERED["test_any_finite_array_fits_or_is_refused"] += 1
    assert np.isfinite(fitted.embedding_).all()
    assert not np.isnan(fitted.eigenvalues_).any()  # of Isomap squared lengths, which may be infinite
    assert not np.isnan(fitted.map_.extrapolation(X)).any()
    np.testing.assert_array_equal(fitted.transform(X), fitted.embedding_)


@given(X=finite_arrays(), weights=st.none() | st.lists(st.floats(0, 1e308), min_size=2, max_size=24))
@count_examples(60)
def test_any_weights_fit_or_are_refused(X, weights):
    if X.ndim == 2 and weights is not None and len(weights) % 2:  # others are refused for their number
        weights = np.resize(weights, len(X))
    fitted = fit_or_refuse(PolynomialEmbedding(1, n_neighbors=2), X, sample_weight=weights)
    if fitted is not None:
        ANSWERED["test_any_weights_fit_or_are_refused"] += 1
        assert_finite_map(fitted.map_)
        assert np.isfinite(fitted.embedding_).all()


@given(X=finite_arrays(), Y=finite_arrays(), degree=st.integers(1, 3), alpha=st.sampled_from(["auto", 0.0, 1e-3]))
@count_examples(60)
def test_any_coordinates_are_followed_or_refused(X, Y, degree, alpha):
    """Half of the time coordinates that belong to the samples: others are refused for their shape."""
    if X.ndim == 2 and Y.size >= len(X) and Y.size % 2:
        Y = np.resize(Y, (len(X), 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        try:
            fitted = ExplicitEmbedding("precomputed", degree=degree, alpha=alpha).fit(X, Y)
        except Exception as error:
            assert_documented(error)
            return
    ANSWERED["test_any_coordinates_are_followed_or_refused"] += 1
    assert_finite_map(fitted.map_)
    assert np.isfinite(fitted.embedding_).all()


@given(learned=polynomial_maps(), X=finite_arrays(), apart=st.sampled_from([True, False, False, False]))
@count_examples(100)
def test_any_finite_array_is_placed_or_refused(learned, X, apart):
    """Never NaN: what overflows is told. Of four arrays three have as many columns as the map."""
    if X.ndim == 2 and X.size and not apart:
        X = np.resize(X, (len(X), learned.n_inputs))
        if X.dtype == np.float64 and np.abs(X).max() < 1e100:  # near what the map knows
            X = learned.shift + learned.scale * X
    uses = {"transform": learned.transform, "jacobian": learned.jacobian, "sensitivity": sense(learned)}
    if learned.domain is not None:
        uses["extrapolation"] = learned.extrapolation
    if learned.decoder is not None:
        uses["inverse"] = lambda X: learned.inverse(np.resize(X, (len(X), learned.n_outputs)) if X.ndim else X)
    for name, use in uses.items():
        try:
            found = use(X)
        except Exception as error:
            assert_documented(error)
        else:
            assert not np.isnan(found).any(), name
            assert name == "extrapolation" or np.isfinite(found).all(), name
            ANSWERED["test_any_finite_array_is_placed_or_refused"] += name == "transform"


def sense(learned):
    return lambda X: learned.sensitivity(X).values


@given(X=finite_arrays(), seed=st.integers(0, 2), follow=st.booleans())
@count_examples(40)
def test_implicit_methods_fit_or_refuse(X, seed, follow):
    """Those that the explicit maps are compared with: the same errors, and never NaN."""
    implicit = [NystromExtension(1, graph=graph, n_neighbors=2) for graph in ("lle", "laplacian", "isomap")][seed]
    fitted = fit_or_refuse(KernelExtrapolation() if follow else implicit, X)
    if fitted is not None:
        ANSWERED["test_implicit_methods_fit_or_refuse"] += 1
        assert np.isfinite(fitted.embedding_).all()
        np.testing.assert_array_equal(fitted.transform(X), fitted.embedding_)
        for others in (X[::-1] / 2, X[:1] / 2 + X[-1:] / 3):
            try:
                assert np.isfinite(fitted.transform(others)).all()
            except ValueError as error:
                assert_documented(error)


def fit_quietly(X, **parameters):
    """Fit with what the invariances hold for: neighbours without ties, a ridge that is given, no choice to tip."""
    parameters = {
        "n_neighbors": 5,
        "degree": 2,
        "alpha": 1e-2,
        "coordinates": "smallest",
        "reduce": None,
    } | parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return PolynomialEmbedding(2, **parameters).fit(X)


def assert_same_answer(found, expected, order=slice(None), scale=1.0):
    """Equal eigenvalues; and the first coordinate equal, as far as the gap to the second lets it be."""
    values, reference = found.eigenvalues_ * scale**2, expected.eigenvalues_
    np.testing.assert_allclose(values, reference, rtol=1e-5, atol=1e-8 * reference[-1])
    gap = (reference[1] - reference[0]) / reference[1]
    assume(gap > 1e-4)
    first, other = expected.embedding_[order, 0], found.embedding_[:, 0] / scale
    other = other * np.sign(first @ other)
    np.testing.assert_allclose(other, first, atol=1e-8 / gap * np.abs(first).max())


LOCAL = st.sampled_from(["lle", "mlle", "ltsa", "laplacian", "diffusion"])
BASES = st.sampled_from(["kronecker", "hadamard"])
CLOUDS = sample_clouds(min_samples=12, max_samples=40, max_columns=3)


@given(X=CLOUDS, graph=LOCAL, basis=BASES, seed=st.integers(0, 2**32 - 1))
@count_examples(25)
def test_order_of_rows(X, graph, basis, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    expected = fit_quietly(X, graph=graph, basis=basis)
    assert_same_answer(fit_quietly(X[order], graph=graph, basis=basis), expected, order)


@given(X=CLOUDS, graph=LOCAL, basis=BASES, seed=st.integers(0, 2**32 - 1))
@count_examples(25)
def test_order_of_columns(X, graph, basis, seed):
    order = np.random.default_rng(seed).permutation(X.shape[1])
    assert_same_answer(
        fit_quietly(X[:, order], graph=graph, basis=basis), fit_quietly(X, graph=graph, basis=basis)
    )


@given(X=CLOUDS, graph=LOCAL, seed=st.integers(0, 2**32 - 1))
@count_examples(25)
def test_rotation(X, graph, seed):
    assume(X.shape[1] > 1)
    turned = X @ special_ortho_group.rvs(X.shape[1], random_state=seed)
    assert_same_answer(
        fit_quietly(turned, graph=graph, basis="kronecker"), fit_quietly(X, graph=graph, basis="kronecker")
    )


@given(X=CLOUDS, graph=LOCAL, basis=BASES, scale=st.floats(1e-6, 1e6), shift=st.floats(-100, 100))
@count_examples(25)
def test_shift_and_scale(X, graph, basis, scale, shift):
    """The unit and the origin: shifts in units of the spread, since larger ones round the samples."""
    moved = scale * (X + shift * X.std())
    assert_same_answer(fit_quietly(moved, graph=graph, basis=basis), fit_quietly(X, graph=graph, basis=basis))


@given(X=CLOUDS, basis=BASES, times=st.integers(2, 3), seed=st.integers(0, 2**32 - 1))
@count_examples(25)
def test_duplicated_rows_weigh_more(X, basis, times, seed):
    """With an affinity of all pairs, each sample `times` over: W has times² the weight, and so has YᵀDY."""
    random = np.random.default_rng(seed)
    near = random.uniform(0.1, 1, size=(len(X), len(X)))
    W = near + near.T
    expected = fit_quietly(X, graph=W, basis=basis)
    repeated = fit_quietly(np.tile(X, (times, 1)), graph=np.tile(W, (times, times)), basis=basis)
    np.testing.assert_allclose(repeated.eigenvalues_, expected.eigenvalues_, rtol=1e-6)
    gap = np.diff(expected.eigenvalues_)[0] / expected.eigenvalues_[1]
    assume(gap > 1e-4)
    first, other = expected.embedding_[:, 0], times * repeated.embedding_[: len(X), 0]
    np.testing.assert_allclose(other * np.sign(first @ other), first, atol=1e-8 / gap * np.abs(first).max())


@given(X=CLOUDS, embedding=embeddings(), seed=st.integers(0, 2**32 - 1))
@count_examples(25)
def test_duplicated_rows_are_counted_and_share_a_place(X, embedding, seed):
    again = np.random.default_rng(seed).integers(0, len(X), size=len(X) // 2)
    fitted = fit_or_refuse(embedding, np.concatenate([X, X[again]]))
    if fitted is not None:
        assert fitted.diagnostics_.n_duplicates == len(again)
        np.testing.assert_array_equal(fitted.embedding_[len(X) :], fitted.embedding_[again])


@given(learned=polynomial_maps(), cuts=st.lists(st.integers(0, 40), max_size=4), seed=st.integers(0, 2**32 - 1))
@count_examples(60)
def test_a_batch_may_be_split_anywhere(learned, cuts, seed):
    """Bit for bit; what else is computed of samples is to rounding."""
    X = learned.shift + learned.scale * np.random.default_rng(seed).normal(size=(40, learned.n_inputs))
    batches = [part for part in np.split(X, sorted(cuts)) if len(part)]
    np.testing.assert_array_equal(np.concatenate(list(map(learned.transform, batches))), learned.transform(X))
    uses = [learned.jacobian] + [learned.extrapolation] * (learned.domain is not None)
    for use in uses:
        whole = use(X)
        parts = np.concatenate(list(map(use, batches)))
        np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-12 * np.abs(whole).max())
    if learned.decoder is not None:
        Y = learned.offset + np.random.default_rng(seed).normal(size=(40, learned.n_outputs))
        batches = [part for part in np.split(Y, sorted(cuts)) if len(part)]
        whole = learned.inverse(Y)
        parts = np.concatenate(list(map(learned.inverse, batches)))
        np.testing.assert_allclose(parts, whole, atol=1e-12 * np.abs(whole).max())


@given(X=sample_clouds(min_samples=30), graph=LOCAL, rows=st.integers(1, 30))
@count_examples(25)
def test_a_fit_in_blocks_of_any_size(X, graph, rows):
    expected = fit_quietly(X, graph=graph)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("_gram", "_blocks"):
            patch.setattr(f"polyfold.{module}.BLOCK_BYTES", 64 * rows)
        patch.setattr("polyfold._gram.SMALL_BLOCK_BYTES", 64 * rows)
        patch.setattr("polyfold._conditioning.SMALL_BLOCK_BYTES", 64 * rows)
        patch.setattr("polyfold._gram.HELD_BYTES", 0)
        assert_same_answer(fit_quietly(X, graph=graph), expected)


@given(X=sample_clouds(min_samples=40), graph=LOCAL, cuts=st.lists(st.integers(0, 10), max_size=3))
@count_examples(25)
def test_a_stream_may_be_cut_anywhere_after_its_first_batch(X, graph, cuts):
    first, rest = X[:30], X[30:]
    streams = []
    for parts in ([rest], np.split(rest, sorted(cuts))):
        embedding = PolynomialEmbedding(
            2, graph=graph, n_neighbors=5, alpha=1e-2, reduce=None, coordinates="smallest"
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            embedding.partial_fit(first)
            for part in parts:
                if len(part):
                    embedding.partial_fit(part)
        embedding.embedding_ = embedding.transform(X)
        streams.append(embedding)
    assert_same_answer(streams[1], streams[0])
