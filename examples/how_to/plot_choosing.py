"""
Choose neighbours, degree and graph
===================================

Three parameters decide what a map is: the graph, the number of neighbours, and the degree. Here they are chosen
without knowing the truth, on a sheet whose truth is known, so that each way of choosing can be judged. What a fit
reports, and what it warns of, says when a choice was wrong.
"""

# %%
# A sheet that is rolled up
# -------------------------
#
# A Swiss roll: 1,000 points in space, of which two coordinates, along the roll and across, say everything. 2,000
# more are unseen by any fit. The residual variance of these compares with the true coordinates: near 0 is
# unrolled, near 0.5 is one coordinate found and the other not.
import warnings
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV

import polyfold
from polyfold import NPPE
from polyfold.datasets import make_swiss_roll
from polyfold.metrics import coranking_curve, residual_variance
from polyfold.plotting import plot_embedding, plot_quality, plot_ridge

X, _ = make_swiss_roll(1000, random_state=0)
unseen, truth = make_swiss_roll(2000, random_state=1)

# %%
# Let it try
# ----------
#
# :func:`polyfold.suggest` fits some twenty maps to three quarters of the samples and places the others. It counts
# how many of the nearest neighbours of these are kept, in small neighbourhoods only, so that a rolled sheet may be
# unrolled. The error tells which differences mean something.
found = polyfold.suggest(X, verbose=0)
print(found)
print()
print(f"residual variance, unseen: {residual_variance(found.estimator.transform(unseen), truth):.3f}")

# %%
# Search by hand
# --------------
#
# ``score`` is the co-ranking AUC over neighbourhoods of all sizes. Large ones count straight distances through
# space, and where a sheet is rolled up these are what must not be kept: the score does not tell rolled from
# unrolled. A scorer that looks at the nearest 5 % only does.


def score_nearby(estimator: Any, X: NDArray[np.float64], y: object = None) -> float:
    """Return how well coordinates keep neighbourhoods of up to 5 % of the samples; chance is 0."""
    size, kept = coranking_curve(X, estimator.transform(X))
    near = size <= 0.05 * len(X)
    return float(np.average(kept[near], weights=1 / size[near]))


grid = {"n_neighbors": [6, 8, 10, 15, 30], "degree": [1, 2, 3]}
scoring = {"score": lambda fitted, X, y=None: fitted.score(X), "near": score_nearby}
search = GridSearchCV(NPPE(), grid, cv=5, scoring=scoring, refit=False).fit(X)
results = search.cv_results_
print(f"{'neighbours':>10}{'degree':>8}{'score':>8}{'nearby':>8}{'unseen, residual variance':>28}")
for place in np.argsort(-results["mean_test_near"]):
    parameters = results["params"][place]
    error = residual_variance(NPPE(**parameters).fit(X).transform(unseen), truth)
    figures = f"{results['mean_test_score'][place]:>8.3f}{results['mean_test_near'][place]:>8.3f}{error:>28.3f}"
    print(f"{parameters['n_neighbors']:>10}{parameters['degree']:>8}{figures}")

# %%
# The first by the score nearby unroll the sheet, and the first by the score over all sizes do not. Folds leave
# fewer samples, so that the same number of neighbours reaches farther: 15 short-cut the roll there, and not with
# all samples.
#
# What the curves show
# --------------------
#
# ``R_NX(K)`` is the share of the K nearest neighbours that is kept, rescaled so that chance is 0; here for unseen
# points. PCA keeps the large neighbourhoods, which lead through space from one turn of the roll to the next. Left
# of the dotted line, which is at 5 %, a map that has unrolled the sheet may stand out. That of Isomap's graph
# does, by far. That of LLE's graph with 8 neighbours has unrolled it as well and hardly does: its coordinates have
# the same variance whatever the shape of the sheet, and what is stretched loses neighbours. Where proportions
# matter, take ``graph="isomap"``.
good = NPPE(n_neighbors=8).fit(X)
short_cut = NPPE(n_neighbors=30).fit(X)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
placed = {"suggested": found.estimator.transform(unseen)}
placed |= {"NPPE, 8 neighbours": good.transform(unseen), "NPPE, 30 neighbours": short_cut.transform(unseen)}
placed["PCA"] = PCA(2).fit(X).transform(unseen)
plot_quality(unseen, placed, ax=left)
left.axvline(0.05 * len(unseen), color="0.6", linewidth=0.8, linestyle=":")
left.set_title("how unseen points keep their neighbours")
plot_embedding(placed["NPPE, 30 neighbours"], truth[:, 0], color_label="truth: along the roll", ax=right)
right.set_title("NPPE, 30 neighbours: edges short-cut the roll")

# %%
# What the ridge says
# -------------------
#
# The ridge is chosen by the objective on held-out folds, and ``plot_ridge`` draws all that were tried. Where the
# curve is flat on the left, as for the roll alone, the samples suffice for the polynomial and the ridge hardly
# matters. With 17 columns of noise beside it, the minimum is inside: without a ridge the map does worse on
# held-out samples. A minimum at the right end says that the polynomial finds nothing: fewer columns, a lower
# degree, or more samples.
random = np.random.default_rng(2)
noisy = np.hstack([X, random.normal(size=(len(X), 17))])
buried = NPPE(n_neighbors=8).fit(noisy)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot_ridge(good, ax=left)
left.set_title("the roll")
plot_ridge(buried, ax=right)
right.set_title("the roll and 17 columns of noise")

# %%
# What a fit warns of
# -------------------
#
# Each warning names its cure. Four ways to go wrong:


def show_warning(what: str, embedding: NPPE, samples: NDArray[np.float64]) -> None:
    """Fit, and print the warning that comes of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        embedding.fit(samples)
    print(f"{what}:")
    for warning in caught:
        print(fill(str(warning.message), 100, initial_indent="    ", subsequent_indent="    "))


show_warning("too few neighbours", NPPE(n_neighbors=3), X)
show_warning("a column in another unit", NPPE(n_neighbors=8), X * [1, 1, 1000])
show_warning("the same samples twice", NPPE(n_neighbors=8), np.vstack([X, X[:100]]))
show_warning("too many monomials for the samples", NPPE(n_neighbors=8, alpha=0, reduce=None), noisy[:250])

# %%
# Edges that short-cut the roll give no warning: the graph is in one piece and the map generalises. But equations
# across a fold are hard to fulfil, and the objective on held-out folds jumps where the first such edges come in. A
# good fit's report, to compare with, and that objective as neighbours grow:
print(good.diagnostics_)
for n_neighbors in (5, 8, 10, 20, 30):
    report = NPPE(n_neighbors=n_neighbors).fit(X).diagnostics_
    print(f"{n_neighbors:>3} neighbours: objective on held-out folds {report.held_out_objective:.1e}")

# %%
# In short
# --------
#
# =========================================  ====================================================================
# what you see                               what to do
# =========================================  ====================================================================
# graph in several pieces                    more neighbours, or fit each piece on its own
# fewer neighbours give another picture      the graph short-cuts: trust the fewer, as long as it is in one piece
# held-out objective jumps as they grow       the same
# held-out spread far from 1                 a lower degree, more samples
# ridge at the right end of its curve        a lower degree, or fewer columns
# objective held out far above training      the same as for the ridge
# best graph within the error of the next    take the lower degree, or the smaller map
# =========================================  ====================================================================
#
# What suits which data, measured: :doc:`/which-one`.
