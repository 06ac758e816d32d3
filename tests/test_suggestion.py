"""polyfold.suggest: a few maps tried on held-out samples."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

import polyfold
from image_sets import needs
from polyfold import ExplicitEmbedding, PolynomialEmbedding
from polyfold.datasets import make_swiss_hole, make_swiss_roll, make_twin_peaks
from polyfold.metrics import residual_variance
from polyfold.suggestion import Trial


@pytest.fixture
def without_tsne(monkeypatch):
    """Leave out the one candidate that takes seconds."""
    monkeypatch.setattr("polyfold.suggestion.TSNE_SAMPLES", 0)


def suggest(X, *arguments, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return polyfold.suggest(X, *arguments, verbose=0, **parameters)


@pytest.mark.usefixtures("without_tsne")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("surface", [make_swiss_roll, make_swiss_hole])
def test_rolled_sheets_are_unrolled(surface, seed):
    X, _ = surface(500, random_state=seed)
    unseen, truth = surface(2000, random_state=100 + seed)
    found = suggest(X)
    assert residual_variance(found.estimator.transform(unseen), truth) < 0.1


def test_tsne_is_among_what_is_tried():
    X, _ = make_twin_peaks(200, random_state=0)
    found = suggest(X)
    names = [trial.name for trial in found.trials]
    assert "map of TSNE" in names
    followed = found.trials[names.index("map of TSNE")].estimator
    assert isinstance(followed, ExplicitEmbedding)
    assert followed.estimator.random_state == 0
    assert not any("TSNE" in trial.name for trial in suggest(X, 4, time_budget=30).trials)


@pytest.mark.usefixtures("without_tsne")
def test_the_best_is_fitted_to_all_samples_and_explained():
    X, _ = make_swiss_roll(300, random_state=0)
    found = suggest(X)
    scores = [trial.score for trial in found.trials]
    assert np.round(scores, 3).tolist() == sorted(np.round(scores, 3), reverse=True)
    best = found.trials[0]
    assert found.estimator.get_params() == best.estimator.get_params()
    np.testing.assert_array_equal(found.estimator.embedding_, clone(best.estimator).fit(X).embedding_)
    assert {trial.estimator.degree for trial in found.trials} == {1, 2, 3}
    assert len(found.trials) == 1 + 9 + 6 + 6
    assert found.reason.startswith(f"{best.name}, degree {best.estimator.degree}, keeps")
    report = repr(found)
    assert f"* {best.name}" in report
    assert report.count("\n") > len(found.trials)
    assert found.n_untried == 0
    table = pd.DataFrame(found.trials)
    assert list(table["score"]) == scores


@pytest.mark.usefixtures("without_tsne")
def test_scores_are_what_ranking_held_out_samples_among_all_gives():
    X, _ = make_swiss_roll(200, random_state=3)
    found = suggest(X)
    [trial] = [t for t in found.trials if t.name == "lle, 10 neighbours" and t.estimator.degree == 2]
    rng = np.random.default_rng(0)
    rng.permutation(200)  # which samples are used: all
    order = rng.permutation(200)
    Z = (X - X.mean(axis=0)) / np.sqrt(np.square(X - X.mean(axis=0)).sum(axis=1).mean())
    scores = []
    for fold in range(3):
        held_out = np.sort(order[fold::4])
        kept = np.setdiff1d(np.arange(200), held_out)
        model = PolynomialEmbedding(graph="lle", n_neighbors=8, alpha=1e-3)  # three quarters of 10
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Y = model.fit(Z[kept]).transform(Z)
        in_data, in_map = cdist(Z, Z), cdist(Y, Y)
        above = []
        for K in range(1, 11):
            common = [
                len(set(np.argsort(in_data[i])[1 : K + 1]) & set(np.argsort(in_map[i])[1 : K + 1]))
                for i in held_out
            ]
            above.append((199 * np.mean(common) / K - K) / (199 - K))
        scores.append(np.average(above, weights=1 / np.arange(1, 11)))
    assert trial.score == pytest.approx(np.mean(scores), abs=1e-9)
    assert trial.error == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3), abs=1e-9)


@pytest.mark.usefixtures("without_tsne")
def test_every_candidate_is_rated_by_coordinates_of_its_own():
    X, _ = make_swiss_roll(300, random_state=1)
    scores = {}
    for trial in suggest(X).trials:
        if trial.estimator.degree == 2:
            scores[trial.name] = trial.score
    assert len(set(scores.values())) == len(scores) == 15


def test_of_equal_scores_the_lower_degree_comes_first():
    low, high = (PolynomialEmbedding(degree=degree) for degree in (1, 3))
    ranks = [Trial(high, 0.90001, 0.1, 1.0).rank, Trial(low, 0.9, 0.1, 1.0).rank, Trial(low, 0.89, 0.1, 1.0).rank]
    assert sorted(ranks) == [ranks[1], ranks[0], ranks[2]]


@pytest.mark.usefixtures("without_tsne")
def test_what_is_suggested_has_as_many_coordinates_as_asked_for():
    line = np.outer(np.linspace(0, 1, 100), [1, 2, 3.0])  # no geodesics of two dimensions
    assert suggest(line, 2).estimator.embedding_.shape == (100, 2)
    assert suggest(line[:, :1], 1).estimator.embedding_.shape == (100, 1)
    for n_components in (20, 30):
        with pytest.raises(ValueError, match="No map could be fitted"):
            suggest(np.random.default_rng(0).normal(size=(25, 40)), n_components)


@pytest.mark.usefixtures("without_tsne")
def test_the_next_best_is_taken_where_the_best_cannot_be_fitted_to_all(monkeypatch):
    X, _ = make_swiss_roll(200, random_state=0)
    fit = PolynomialEmbedding.fit

    def refuse(self, X, *rest):
        if self.graph.startswith("isomap"):
            raise ValueError("not this one")
        return fit(self, X, *rest)

    monkeypatch.setattr(PolynomialEmbedding, "fit", refuse)
    found = suggest(X)
    assert not getattr(found.estimator, "graph", "").startswith("isomap")
    assert any(trial.failure == "not this one" for trial in found.trials)


@pytest.mark.usefixtures("without_tsne")
def test_the_same_twice_and_whatever_the_unit():
    X, _ = make_swiss_roll(200, random_state=0)
    first, second, scaled = suggest(X), suggest(X), suggest(X * 1e-30)
    assert [trial.score for trial in first.trials] == [trial.score for trial in second.trials]
    assert first.trials[0].name == scaled.trials[0].name


@pytest.mark.usefixtures("without_tsne")
def test_no_trial_is_begun_after_the_time_is_up():
    X, _ = make_swiss_roll(200, random_state=0)
    found = suggest(X, time_budget=0)
    assert len(found.trials) == 1
    assert found.n_untried == 21
    assert "21 more were not tried: the time was up." in found.reason
    assert found.estimator.embedding_.shape == (200, 2)


@pytest.mark.usefixtures("without_tsne")
def test_trials_are_made_on_a_part_of_many_samples(monkeypatch):
    monkeypatch.setattr("polyfold.suggestion.TRIAL_SAMPLES", 150)
    X, _ = make_swiss_roll(400, random_state=0)
    found = suggest(X)
    assert (found.n_samples, found.n_held_out) == (150, 38)
    assert len(found.estimator.embedding_) == 400


@pytest.mark.usefixtures("without_tsne")
def test_what_cannot_be_fitted_is_told_and_left(monkeypatch):
    hessian, isomap = (
        PolynomialEmbedding(graph=graph, n_neighbors=k) for graph, k in (("hessian", 4), ("isomap", 8))
    )
    monkeypatch.setattr("polyfold.suggestion._list_candidates", lambda *rest: [hessian, isomap])
    X, _ = make_swiss_roll(200, random_state=0)
    found = suggest(X)
    failed = found.trials[-1]
    assert "need at least 6 neighbours" in failed.failure
    assert failed.failure in repr(found)
    assert np.isnan(failed.score)
    assert found.trials[0].name == "isomap, 8 neighbours"
    monkeypatch.setattr("polyfold.suggestion._list_candidates", lambda *rest: [hessian])
    with pytest.raises(ValueError, match=r"No map could be fitted\. hessian, 4 neighbours: .*at least 6"):
        suggest(X)


@pytest.mark.usefixtures("without_tsne")
def test_small_tables_and_named_columns():
    X, _ = make_swiss_roll(20, random_state=0)
    found = suggest(pd.DataFrame(X, columns=["x", "y", "z"]))
    assert list(found.estimator.feature_names_in_) == ["x", "y", "z"]


@pytest.mark.usefixtures("without_tsne")
def test_progress_on_standard_error_only(capsys):
    X, _ = make_swiss_roll(100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        polyfold.suggest(X)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "maps tried" in shown.err
    suggest(X)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("X", "parameters", "match"),
    [
        (np.ones((5, 3)), {}, "minimum of 20 is required"),
        (np.full((30, 3), np.nan), {}, "contains NaN"),
        (np.ones((30, 3)), {}, "All samples of X are equal"),
        (np.eye(30), {"n_components": 0}, "`n_components` must be an integer >= 1"),
        (np.eye(30), {"time_budget": -1}, "`time_budget` must be"),
        (np.eye(30), {"random_state": None}, "`random_state` must be an integer >= 0"),
    ],
)
def test_bad_input(X, parameters, match):
    with pytest.raises(ValueError, match=match):
        suggest(X, **parameters)


def test_progress_that_is_none_is_refused():
    with pytest.raises(ValueError, match="`verbose` must be an integer >= 0, got 'x'"):
        polyfold.suggest(np.eye(30), verbose="x")


@pytest.mark.slow
@needs("isomap")
def test_faces_get_a_map_that_knows_light_pan_and_tilt():
    from suggestions import measure_faces

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.mean([measure_faces(seed)[1] for seed in range(5)]) >= 0.88


@pytest.mark.slow
@needs("usps", "frey")
@pytest.mark.parametrize(("name", "seeds", "least"), [("zeros", range(3), 0.875), ("frey", range(1), 0.90)])
def test_unseen_images_keep_their_neighbours(name, seeds, least):
    from suggestions import measure_images

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.mean([measure_images(name, seed)[1] for seed in seeds]) >= least
