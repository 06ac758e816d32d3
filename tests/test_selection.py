"""Coordinates that do not repeat each other: what is chosen, when nothing is, and what `diagnostics_` says."""

from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import eigh

from local_equations import build_graph
from polyfold import NPPE, SNPPE, PolynomialEmbedding
from polyfold._basis import build_basis
from polyfold._selection import learn_tangents, select_coordinates
from polyfold.datasets import make_gaussian, make_swiss_roll, make_toroidal_helix, make_twin_peaks
from polyfold.metrics import residual_variance


def score_naively(gradients, eigenvalues, chosen, tangents, turned):
    """The criterion as it is written, one sample at a time."""
    logs, signs = [], []
    for gradient, plane in zip(gradients, tangents.planes, strict=True):
        g = np.array([plane @ gradient[s] for s in chosen])
        volume = np.linalg.det(g) / np.prod(np.linalg.norm(g, axis=1))
        logs.append(max(np.log(abs(volume)), -5))
        signs.append(volume > 0)
    minority = turned(np.array(signs))
    return np.mean(logs) - 0.2 * np.log(eigenvalues[list(chosen)]).sum() - 5 * minority, np.mean(logs), minority


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_choice_is_the_best_of_all_sets_if_clearly_so(m, seed):
    """On flat samples all tangent planes are alike, so orientations are those of the first axis vectors."""
    random = np.random.default_rng(seed)
    X = random.uniform(size=(200, m))
    tangents = learn_tangents(X, m, n_jobs=None)
    orientation = np.sign(np.linalg.det(tangents.planes))
    # Waves along the sides: some repeat each other, some turn over.
    frequencies = random.integers(1, 4, size=7)
    sides = random.integers(0, m, size=7)
    gradients = np.zeros((200, 7, m))
    for c in range(7):
        gradients[:, c] = 0.3 * random.normal(size=m)
        gradients[:, c, sides[c]] += np.sin(np.pi * frequencies[c] * X[:, sides[c]])
    eigenvalues = np.sort(random.uniform(0.1, 10, size=7))

    def turned(signs):
        share = np.mean((np.where(signs, 1, -1) * orientation) > 0)
        return min(share, 1 - share)

    scores = {
        chosen: score_naively(gradients, eigenvalues, chosen, tangents, turned)
        for chosen in combinations(range(7), m)
    }
    found = tuple(select_coordinates(gradients, eigenvalues, m, tangents).tolist())
    best = max(scores, key=lambda chosen: scores[chosen][0])
    gain, more_independent, _ = np.subtract(scores[best], scores[tuple(range(m))])
    minority = scores[best][2]
    # The smallest are given up for nothing less than a clear improvement.
    is_better = gain - 5 * minority > 1 or (more_independent > 0.5 and minority <= 0.05)
    assert found == (best if is_better else tuple(range(m)))


def test_orientations_are_consistent_on_a_curved_surface():
    """Turned into the frame of the surface's own normal, all planes of a roll lie the same way round."""
    X, Z = make_swiss_roll(800, random_state=0)
    tangents = learn_tangents(X, 2, n_jobs=None)
    np.testing.assert_array_equal(tangents.samples, X)
    t = Z[:, 0]
    along = np.column_stack([np.cos(t) - t * np.sin(t), np.zeros(800), np.sin(t) + t * np.cos(t)])
    across = np.tile([0.0, 1.0, 0.0], (800, 1))
    own = np.stack([along / np.linalg.norm(along, axis=1, keepdims=True), across], axis=1)
    turns = np.sign(np.linalg.det(tangents.planes @ own.transpose(0, 2, 1))) * tangents.orientations
    assert abs(turns.mean()) > 0.99
    assert tangents.agreement > 0.98
    assert not tangents.are_noise


STRIPS = [(3, 4), (3, 5), (4, 4), (4, 5)]


@pytest.mark.parametrize(("turns", "degree"), STRIPS)
def test_a_long_strip_is_not_embedded_as_a_curve(turns, degree):
    X, Z = make_swiss_roll(4000, random_state=0, turns=turns)
    independent = NPPE(n_neighbors=10, degree=degree).fit(X)
    smallest = NPPE(n_neighbors=10, degree=degree, coordinates="smallest").fit(X)
    assert residual_variance(independent.embedding_, Z) < 0.07
    assert residual_variance(smallest.embedding_, Z) > 0.4
    diagnostics = independent.diagnostics_
    assert diagnostics.kept == (0, 2)
    assert diagnostics.skipped == (1,)
    assert diagnostics.n_candidates == 10
    assert "eigenvectors 1, 3 of 10; 2 skipped, as these are more independent" in repr(diagnostics)
    assert smallest.diagnostics_.kept == (0, 1)
    assert smallest.diagnostics_.skipped == ()
    np.testing.assert_allclose(np.abs(independent.embedding_[:, 0]), np.abs(smallest.embedding_[:, 0]), atol=1e-9)
    assert independent.eigenvalues_[0] == pytest.approx(smallest.eigenvalues_[0])
    assert independent.eigenvalues_[1] > smallest.eigenvalues_[1]
    # What is said of held-out folds is said of the coordinates that were kept.
    assert diagnostics.held_out_spread.shape == (2,)
    assert independent.diagnostics_.held_out_objective > smallest.diagnostics_.held_out_objective


@pytest.mark.parametrize("estimator", [NPPE, SNPPE])
@pytest.mark.parametrize("make", [make_swiss_roll, make_gaussian])
def test_coordinates_that_are_independent_already_are_left_alone(make, estimator):
    X, _ = make(1000, random_state=0)
    independent, smallest = (
        estimator(n_neighbors=10, coordinates=choice).fit(X) for choice in ("independent", "smallest")
    )
    assert independent.diagnostics_.kept == (0, 1)
    assert "the first 2, which are independent" in repr(independent.diagnostics_)
    np.testing.assert_allclose(independent.embedding_, smallest.embedding_, atol=1e-9)
    assert independent.diagnostics_.alpha == smallest.diagnostics_.alpha


def test_gate_where_tangent_planes_are_noise():
    X = np.random.default_rng(0).normal(size=(400, 8))
    fitted = NPPE(n_neighbors=20).fit(X)
    assert fitted.diagnostics_.tangent_agreement < 0.5
    assert "tangent planes are noise" in repr(fitted.diagnostics_)
    np.testing.assert_array_equal(
        fitted.embedding_, NPPE(n_neighbors=20, coordinates="smallest").fit(X).embedding_
    )


@pytest.mark.parametrize("constraint", ["embedding", "orthogonal"])
def test_held_out_folds_are_rated_by_the_coordinates_kept(constraint):
    """Against folds done by hand: learned from nine tenths, rated on the rest."""
    X, _ = make_twin_peaks(400, random_state=0)
    fitted = PolynomialEmbedding(2, graph="laplacian", n_neighbors=10, alpha=0, constraint=constraint).fit(X)
    kept = list(fitted.diagnostics_.kept)
    assert fitted.diagnostics_.skipped or constraint == "orthogonal"
    Z = (X - X.mean(axis=0)) / np.sqrt(np.square(X - X.mean(axis=0)).sum(axis=1).mean())
    graph, Phi = build_graph("laplacian", Z, 10), build_basis("kronecker", 3, 2).expand(Z)
    pairs = []
    for fold in range(10):
        L, counted, D, _ = graph.write(np.arange(fold, 400, 10))
        F, R = Phi[counted], L @ Phi
        pairs.append((R.T @ R, F.T @ (D[:, np.newaxis] * F), D @ F, D.sum()))
    whole = [sum(parts) for parts in zip(*pairs, strict=True)]
    logs = []
    for fold in pairs:
        A, B, total, weight = (w - f for w, f in zip(whole, fold, strict=True))
        mean = total / weight
        B = B - weight * np.outer(mean, mean)
        V = eigh(A, B if constraint == "embedding" else np.eye(len(A)))[1][:, kept]
        V = V / np.sqrt(np.diag(V.T @ B @ V))
        held = fold[1] - np.outer(mean, fold[2]) - np.outer(fold[2], mean) + fold[3] * np.outer(mean, mean)
        logs.append(np.log(np.trace(V.T @ fold[0] @ V) / np.trace(V.T @ held @ V)))
    assert fitted.diagnostics_.held_out_objective == pytest.approx(np.exp(np.mean(logs)), rel=1e-3)


def test_gate_where_samples_have_fewer_dimensions():
    """A surface has no third coordinate and a curve no second: nothing to choose by."""
    surface, curve = make_swiss_roll(1000, random_state=0)[0], make_toroidal_helix(1000, random_state=0)[0]
    for X, m in ((surface, 3), (curve, 2)):
        fitted = NPPE(m, n_neighbors=10).fit(X)
        assert fitted.diagnostics_.tangent_extent < 0.2
        assert "neighbourhoods have fewer dimensions" in repr(fitted.diagnostics_)
        assert fitted.diagnostics_.kept == tuple(range(m))


@pytest.mark.parametrize(
    ("X", "m"), [(make_twin_peaks(149, random_state=0)[0], 2), (np.linspace(0, 1, 200)[:, None], 2)]
)
def test_gate_where_there_is_too_little(X, m):
    fitted = NPPE(m, n_neighbors=10, alpha=1e-3).fit(X)
    assert np.isnan(fitted.diagnostics_.tangent_agreement)
    assert "too few samples or columns" in repr(fitted.diagnostics_)


def test_one_coordinate_has_nothing_to_repeat():
    X, _ = make_swiss_roll(500, random_state=0)
    fitted = NPPE(1, n_neighbors=10).fit(X)
    assert fitted.diagnostics_.kept == (0,)
    assert "the first 1" in repr(fitted.diagnostics_)


@pytest.mark.parametrize("sides", [(4, 1, 1), (4, 2, 1, 0.7), (3, 2, 1, 1, 0.5)])
@pytest.mark.parametrize("seed", range(3))
def test_many_coordinates(sides, seed):
    """A box much longer than wide: the waves along its length come before those across it.

    Every set is looked at for three coordinates; beyond, they are added one at a time.
    """
    m = len(sides)
    X = np.random.default_rng(seed).uniform(size=(3000, m)) * sides
    parameters = {"graph": "laplacian", "degree": 2, "n_neighbors": 20}
    independent = PolynomialEmbedding(m, **parameters).fit(X)
    smallest = PolynomialEmbedding(m, coordinates="smallest", **parameters).fit(X)
    chosen, first = (residual_variance(fitted.embedding_, X) for fitted in (independent, smallest))
    assert chosen < 0.3
    assert chosen < 0.7 * first
    assert len(independent.diagnostics_.skipped) >= 1


def test_candidates_are_at_most_the_rank():
    X = np.random.default_rng(0).uniform(size=(300, 2)) * [5, 1]
    fitted = PolynomialEmbedding(2, graph="laplacian", degree=2, n_neighbors=10).fit(X)
    assert fitted.diagnostics_.n_candidates == fitted.diagnostics_.rank == 5
    linear = PolynomialEmbedding(2, graph="laplacian", degree=1, n_neighbors=10).fit(X)
    assert linear.diagnostics_.kept == (0, 1)


@pytest.mark.parametrize("coordinates", ["best", None, 2])
def test_wrong_coordinates(coordinates):
    with pytest.raises(ValueError, match="`coordinates` must be one of 'independent', 'smallest', got"):
        NPPE(coordinates=coordinates).fit(make_twin_peaks(60, random_state=0)[0])


def test_wrong_constraint():
    with pytest.raises(ValueError, match="`constraint` must be one of 'embedding', 'orthogonal', got 'unit'"):
        PolynomialEmbedding(constraint="unit").fit(make_twin_peaks(60, random_state=0)[0])
