"""Which map suits the data: a few graphs, degrees and neighbour counts, tried on held-out samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from textwrap import wrap
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.utils.validation import check_array

from polyfold._blocks import show_progress
from polyfold._frame import build_frame
from polyfold._global import build_kernel
from polyfold._learner import embed
from polyfold._neighborhoods import TRIAL_ALPHA
from polyfold._neighbors import find_exact_neighbors
from polyfold._refusal import refuse_disguised, refuse_equal_names
from polyfold._validation import check_integer, check_nonnegative, check_verbose, check_workers
from polyfold.embedding import PolynomialEmbedding
from polyfold.explicit import ExplicitEmbedding
from polyfold.metrics._ranks import average_scales, count_common, measure_agreement, rank_others
from polyfold.objectives import GEODESIC

#: Trials are made on at most this many samples.
TRIAL_SAMPLES = 2000

#: A quarter of them is held out, this many times.
FOLD_SHARE, N_FOLDS = 4, 3

#: Neighbourhoods of up to this share of the samples are compared, and of at least so many neighbours.
LOCAL_SHARE, LEAST_LOCAL = 0.05, 10

#: Neighbours for geodesics, for those between mutual neighbours, and for local relations.
GEODESIC_NEIGHBORS, MUTUAL_NEIGHBORS, LOCAL_NEIGHBORS = (5, 7, 10, 14, 20), (8, 10, 14, 20), (10, 30)
LOCAL_GRAPHS = ("lle", "mlle", "laplacian")

#: t-SNE is followed up to this many samples and coordinates: beyond, it takes too long.
TSNE_SAMPLES, TSNE_COMPONENTS = 5000, 3

#: The degree of the first round, and those that its best are tried with in the second.
FIRST_DEGREE, OTHER_DEGREES, N_BEST = 2, (1, 3), 3


@dataclass(frozen=True, eq=False)
class Trial:
    """What one estimator did on held-out samples.

    Attributes
    ----------
    estimator : estimator
        Not fitted.
    score : float
        How well held-out samples keep their nearest neighbours among all samples; at most 1, chance is 0. NaN
        where it could not be fitted.
    error : float
        Standard error of the score over the folds.
    seconds : float
        What the trial took.
    failure : str
        Why it could not be fitted, or nothing.
    """

    estimator: Any
    score: float
    error: float
    seconds: float
    failure: str = ""

    @property
    def name(self) -> str:
        """What is kept, or followed, and with how many neighbours."""
        if isinstance(self.estimator, ExplicitEmbedding):
            return f"map of {type(self.estimator.estimator).__name__}"
        return f"{self.estimator.graph}, {self.estimator.n_neighbors} neighbours"

    @property
    def rank(self) -> tuple[float, int]:
        """What trials are sorted by: the score to three digits, then the lower degree."""
        return (np.inf if np.isnan(self.score) else -round(self.score, 3), self.estimator.degree)


@dataclass(frozen=True, eq=False)
class Suggestion:
    """The best estimator of those tried; prints as a table of all.

    Attributes
    ----------
    estimator : estimator
        Fitted to all samples.
    trials : tuple of Trial
        The best first.
    n_samples, n_held_out : int
        On how many samples trials were made, and how many of them were held out at a time.
    n_untried : int
        How many there was no time for.
    """

    estimator: Any
    trials: tuple[Trial, ...]
    n_samples: int
    n_held_out: int
    n_untried: int

    @property
    def reason(self) -> str:
        """Why it was chosen, in a sentence or two."""
        best = self.trials[0]
        text = (
            f"{best.name}, degree {best.estimator.degree}, keeps the nearest neighbours of held-out samples best: "
            f"{best.score:.3f} ± {best.error:.3f}, where 1 is all of them and 0 is chance"
        )
        others = [trial for trial in self.trials[1:] if trial.name != best.name and not trial.failure]
        if others:
            second = others[0]
            text += f"; next is {second.name}, degree {second.estimator.degree}, with {second.score:.3f}"
            if best.score - second.score < best.error + second.error:
                text += ", which is as good within the errors"
        if self.n_untried:
            text += f". {self.n_untried} more were not tried: the time was up"
        return text + "."

    def __repr__(self) -> str:
        width = max(len(trial.name) for trial in self.trials)
        lines = [f"{self.estimator!r}", "", *wrap(self.reason, 100), ""]
        lines.append(f"  {'tried':<{width}}  degree  score  error  seconds")
        for position, trial in enumerate(self.trials):
            mark = "*" if position == 0 else " "
            row = f"{mark} {trial.name:<{width}}  {trial.estimator.degree:>6}"
            figures = f"  {trial.score:.3f}  {trial.error:.3f}  {trial.seconds:>7.1f}"
            lines.append(row + (f"  {trial.failure}" if trial.failure else figures))
        lines.append("")
        lines.append(
            f"On {self.n_samples:,} samples, {self.n_held_out:,} held out {N_FOLDS} times and ranked among all; "
            "error: of the mean."
        )
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))


def suggest(
    X: ArrayLike,
    n_components: int = 2,
    *,
    time_budget: float = 120.0,
    n_jobs: int | None = None,
    random_state: int = 0,
    verbose: int = 1,
) -> Suggestion:
    """Try a few kinds of map on held-out samples, and fit the best to all.

    First, with degree 2, explicit maps of Isomap's coordinates (5 to 20 neighbours, also mutual ones), of t-SNE's,
    and of local graphs ("lle", "mlle", "laplacian", with 10 and 30 neighbours); then the best three of
    these with degrees 1 and 3. A map is learned from three quarters of the samples and places the others. What
    counts is how many of the nearest neighbours of a held-out sample, among all samples, are its nearest in the
    embedding: R_NX(K), as in :func:`polyfold.metrics.coranking_auc`, averaged over K up to 5 % of the samples with
    weights 1/K. Its error is the standard error of the mean of three such trials. PCA is there for comparison.
    Only small neighbourhoods are compared, so that a surface that is rolled up may be unrolled.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples, at least 20; standardise columns of different units first. Trials are made on at most 2,000.
    n_components : int, default=2
        Number of coordinates.
    time_budget : float, default=120
        Seconds after which no further trial is begun. The last one, and the fit to all samples, are not cut short.
    n_jobs : int, default=None
        Threads for each fit.
    random_state : int, default=0
        Seed for the samples that are drawn and held out, and for t-SNE.
    verbose : int, default=1
        1 shows progress on standard error, 0 nothing.

    Returns
    -------
    Suggestion
        ``estimator``, fitted, ``trials``, the best first, and ``reason``; prints as a table.

    See Also
    --------
    PolynomialEmbedding, ExplicitEmbedding : What is tried.
    polyfold.metrics.coranking_auc : The score over neighbourhoods of all sizes.

    Notes
    -----
    Each of the 23 maps at most is fitted three times to s = min(N, 2,000) samples of n columns and ranked: O(s d²
    + d³ + s² (n + log s)) each, d the monomials. A learner's coordinates are computed once, Isomap's with k
    neighbours in O(s² (k + log s)) and t-SNE's in O(s log s) per step. The last fit has the cost of the estimator
    chosen, on all N samples.

    What a learner with a neighbour graph of its own finds (Isomap, t-SNE) is computed once, with all samples; the
    map that follows it sees three quarters. t-SNE has ``early_exaggeration=4``, which tears less. Isomap's map is
    rated by a regression on its coordinates, which the estimator that is returned,
    ``PolynomialEmbedding(graph="isomap")``, comes close to. Beyond 5,000 samples or 3 coordinates t-SNE is not
    tried.

    References
    ----------
    Lee, Peluffo-Ordóñez, Verleysen, "Multi-scale similarities in stochastic neighbour embedding: reducing
    dimensionality while preserving both local and global structure", Neurocomputing 169 (2015) 246-261 (the
    score).

    Tenenbaum, de Silva, Langford, "A global geometric framework for nonlinear dimensionality reduction", Science
    290 (2000) 2319-2323.

    van der Maaten, Hinton, "Visualizing data using t-SNE", Journal of Machine Learning Research 9 (2008)
    2579-2605.

    Examples
    --------
    >>> import polyfold
    >>> from polyfold.datasets import make_swiss_roll
    >>> X, Z = make_swiss_roll(300, random_state=0)
    >>> suggestion = polyfold.suggest(X, verbose=0)
    >>> suggestion.estimator.graph, suggestion.estimator.degree > 1
    ('isomap_mutual', True)
    >>> suggestion.trials[0].score > 0.8
    True
    """
    n_components = check_integer("n_components", n_components, 1)
    time_budget = check_nonnegative("time_budget", time_budget)
    seed = check_integer("random_state", random_state, 0)
    check_workers(n_jobs)
    check_verbose(verbose)
    refuse_disguised(X)
    refuse_equal_names(X)
    with np.errstate(over="ignore", invalid="ignore"):  # of the sum by which scikit-learn looks for NaN
        samples = check_array(X, dtype=np.float64, ensure_min_samples=20, input_name="X")
    bench = _Bench(samples, n_components, seed, n_jobs)
    candidates = _list_candidates(len(samples), samples.shape[1], n_components, seed)
    total = len(candidates) + N_BEST * len(OTHER_DEGREES)
    trials: list[Trial] = []
    n_untried = 0
    start = perf_counter()
    for estimator in show_progress(_propose(candidates, trials), total, "maps tried", verbose):
        if trials and perf_counter() - start > time_budget:
            n_untried = total - len(trials)
            break
        trials.append(bench.rate(estimator))
    trials.sort(key=lambda trial: trial.rank)
    while not trials[0].failure:
        best = trials[0]
        try:
            fitted = clone(best.estimator).set_params(n_jobs=n_jobs).fit(X)
        except ValueError as error:  # what holds of a part of the samples need not hold of all
            trials[0] = replace(best, score=np.nan, error=np.nan, failure=str(error))
            trials.sort(key=lambda trial: trial.rank)
            continue
        return Suggestion(fitted, tuple(trials), bench.n_samples, bench.n_held_out, n_untried)
    raise ValueError(f"No map could be fitted. {trials[0].name}: {trials[0].failure}")


def _list_candidates(n_samples: int, n_columns: int, n_components: int, seed: int) -> list[Any]:
    """Return the estimators of the first round, those first that are quick."""
    n_held_out = -(-min(n_samples, TRIAL_SAMPLES) // FOLD_SHARE)
    n_kept = min(n_samples, TRIAL_SAMPLES) - n_held_out
    kinds = [(graph, k) for graph, numbers in _PLANS for k in numbers if k < n_kept]
    maps: list[Any] = [
        PolynomialEmbedding(n_components, graph=graph, n_neighbors=k, degree=FIRST_DEGREE) for graph, k in kinds
    ]
    if n_components <= min(n_kept, n_columns):
        maps.insert(0, ExplicitEmbedding(PCA(n_components), degree=1))
    if n_samples <= TSNE_SAMPLES and n_components <= TSNE_COMPONENTS:
        # Less exaggeration than usual: pieces that were never torn apart need not be joined again.
        learner = TSNE(n_components, perplexity=min(30, n_held_out), early_exaggeration=4, random_state=seed)
        n_geodesic = sum(graph in GEODESIC for graph, _ in kinds)
        maps.insert(n_geodesic + 1, ExplicitEmbedding(learner, degree=FIRST_DEGREE))
    return maps


_PLANS = (
    ("isomap", GEODESIC_NEIGHBORS),
    ("isomap_mutual", MUTUAL_NEIGHBORS),
    *((graph, LOCAL_NEIGHBORS) for graph in LOCAL_GRAPHS),
)


def _propose(candidates: list[Any], trials: list[Trial]) -> Iterator[Any]:
    """Yield the first round, then the best of it with other degrees."""
    yield from candidates
    curved = [trial for trial in trials if not trial.failure and trial.estimator.degree == FIRST_DEGREE]
    for trial in sorted(curved, key=lambda trial: trial.rank)[:N_BEST]:
        for degree in OTHER_DEGREES:
            yield clone(trial.estimator).set_params(degree=degree)


class _Bench:
    """The samples of the trials, the folds, and the coordinates that learners gave them, each computed once."""

    def __init__(self, samples: NDArray[np.float64], n_components: int, seed: int, n_jobs: int | None) -> None:
        rng = np.random.default_rng(seed)
        drawn = np.sort(rng.permutation(len(samples))[:TRIAL_SAMPLES])
        frame, columns, _ = build_frame(samples[drawn], None, center=True, random_state=None)
        if columns is None or not frame.variances.any():
            raise ValueError("All samples of X are equal: nothing tells them apart.")
        self.X = columns
        self.n_components, self.n_jobs = n_components, n_jobs
        order = rng.permutation(self.n_samples)
        self.folds = [np.sort(order[fold::FOLD_SHARE]) for fold in range(N_FOLDS)]
        self.ranks = [rank_others(self.X, held_out) for held_out in self.folds]
        self.max_neighbors = min(max(round(LOCAL_SHARE * self.n_samples), LEAST_LOCAL), self.n_samples - 2)
        self._targets: dict[str, NDArray[np.float64]] = {}

    @property
    def n_samples(self) -> int:
        return len(self.X)

    @property
    def n_held_out(self) -> int:
        return len(self.folds[0])

    def rate(self, estimator: Any) -> Trial:
        """Fit the estimator without each fold, and score where the fold is placed."""
        start = perf_counter()
        failure, scores = "", np.full(N_FOLDS, np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the best one has to warn of, its fit to all samples will
            try:
                fit = self._prepare(estimator)
                for fold, held_out in enumerate(self.folds):
                    kept = np.setdiff1d(np.arange(self.n_samples), held_out)
                    ranks = rank_others(fit(kept).transform(self.X), held_out)
                    counts = count_common(self.ranks[fold], ranks)
                    scores[fold] = average_scales(*measure_agreement(counts, len(held_out), self.max_neighbors))
            except (ValueError, RuntimeError) as error:  # the latter of eigensolvers that give up
                failure, scores = str(error), np.full(N_FOLDS, np.nan)
        spread = float(scores.std(ddof=1) / np.sqrt(N_FOLDS))
        return Trial(estimator, float(scores.mean()), spread, perf_counter() - start, failure)

    def _prepare(self, estimator: Any) -> Callable[[NDArray[np.intp]], Any]:
        """Return what fits the estimator to some of the samples."""
        if isinstance(estimator, PolynomialEmbedding) and estimator.graph not in GEODESIC:
            # As many neighbours for the samples that are left: neighbourhoods of the same size.
            number = round((1 - 1 / FOLD_SHARE) * float(estimator.n_neighbors))
            fewer = clone(estimator).set_params(n_neighbors=max(number, 1), alpha=TRIAL_ALPHA, n_jobs=self.n_jobs)
            return lambda kept: fewer.fit(self.X[kept])
        key = f"{getattr(estimator, 'estimator', '')} {getattr(estimator, 'graph', '')}"
        key += f" {getattr(estimator, 'n_neighbors', '')}"
        if key not in self._targets:
            self._targets[key] = self._embed(estimator)
        targets = self._targets[key]
        follow = ExplicitEmbedding("precomputed", degree=estimator.degree, n_jobs=self.n_jobs)

        def fit(kept: NDArray[np.intp]) -> Any:
            fitted = follow.fit(self.X[kept], targets[kept])
            if fitted.diagnostics_.rank < self.n_components:
                raise ValueError(f"Only {fitted.diagnostics_.rank} features are linearly independent.")
            return fitted

        return fit

    def _embed(self, estimator: Any) -> NDArray[np.float64]:
        """Return the coordinates that the estimator's learner gives to all samples."""
        if isinstance(estimator, ExplicitEmbedding):
            return embed(clone(estimator.estimator), self.X, None, self.n_samples)
        work: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": 0}
        if self.n_components >= self.n_samples:
            raise ValueError(f"{self.n_samples} samples have fewer coordinates.")
        neighbors = find_exact_neighbors(self.X, estimator.n_neighbors, **work)
        mutual = GEODESIC[estimator.graph].mutual
        kernel = build_kernel(self.X, neighbors, np.ones(self.n_samples), mutual=mutual, random_state=None, **work)
        coordinates = kernel.find_coordinates(self.n_components)
        if coordinates.shape[1] < self.n_components:
            raise ValueError(f"Geodesic distances span only {coordinates.shape[1]} coordinates.")
        return coordinates
