r"""
What a polynomial map cannot do
===============================

A map that is a polynomial is smooth, has few coefficients, and has a value everywhere. That is why it generalises,
fits into a few kilobytes and needs no training data; and it is what sets its limits. This part shows each of them
on data where it can be seen, with what tells you that you have met it, and what to do instead.
"""

# %%
# Clusters blur
# -------------
#
# t-SNE and UMAP tear data into islands with empty space between. A polynomial is continuous: it cannot jump, so
# that samples between two islands are spread over the space between. Here t-SNE draws ten digits, and a map
# follows it.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LinearRegression
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsClassifier

from polyfold import NPPE, SNPPE, ExplicitEmbedding, PolynomialEmbedding
from polyfold.datasets import make_swiss_roll
from polyfold.metrics import residual_variance

images, digits = load_digits(return_X_y=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", UserWarning)
    followed = ExplicitEmbedding(TSNE(random_state=0)).fit(images[:1200])
print("warned:", next(str(w.message) for w in caught if "tear" in str(w.message) or "follow" in str(w.message)))
print("R² of samples left out:      ", np.round(followed.diagnostics_.left_out_r2, 2))
print("R² within neighbourhoods:    ", np.round(followed.diagnostics_.local_r2, 2))

# %%
# The islands are reached, and yet within a neighbourhood the map explains nothing: below 0 it is worse than the
# mean. Where classes are what you are after, use a classifier, or a learner that keeps the data in one piece;
# where the islands matter, one map for each of them.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
colours = {"cmap": "tab10", "vmin": -0.5, "vmax": 9.5, "s": 4}
left.scatter(*followed.estimator_.embedding_.T, c=digits[:1200], **colours)
left.set_title("t-SNE, training samples")
placed = followed.transform(images[1200:])
drawn = right.scatter(*placed.T, c=digits[1200:], **colours)
figure.colorbar(drawn, ax=right, label="digit", ticks=range(10))
right.set_title("its quadratic map, unseen samples")
classifier = KNeighborsClassifier(10).fit(followed.embedding_, digits[:1200])
print(f"unseen digits classified in the map's coordinates: {classifier.score(placed, digits[1200:]):.0%}")
in_columns = KNeighborsClassifier(10).fit(images[:1200], digits[:1200])
print(f"in all 64 columns:                                 {in_columns.score(images[1200:], digits[1200:]):.0%}")

# %%
# Outside it is wrong, and grows
# ------------------------------
#
# Outside of its training samples a polynomial of degree p grows like the p-th power of the distance. It is learned
# here on the inner two thirds of a roll, and asked about the rest.
X, Z = make_swiss_roll(3000, random_state=0)
unseen, truth = make_swiss_roll(2000, random_state=1)
end = np.quantile(Z[:, 0], 2 / 3)
known, inside = Z[:, 0] < end, truth[:, 0] < end
print(f"{'degree':>6}{'inside':>10}{'beyond the end':>16}{'of these above 1':>18}")
for degree in (2, 3, 4):
    embedding = NPPE(n_neighbors=10, degree=degree).fit(X[known])
    line = LinearRegression().fit(embedding.embedding_, Z[known, 0])
    error = np.abs(line.predict(embedding.transform(unseen)) - truth[:, 0])
    above = np.mean(embedding.map_.extrapolation(unseen[~inside]) > 1)
    print(f"{degree:6}{error[inside].mean():10.2f}{error[~inside].mean():16.2f}{above:18.0%}")

# %%
# The errors of unseen samples are in units of the way along the roll, of which the last third is missing. Beyond
# the end they are several times those inside, and where they come out smallest is luck. A score above 1 tells that
# a sample is outside of what was learned; it cannot tell whether the map happens to be right there: see
# :ref:`sphx_glr_how-to_plot_outside.py`.
#
# A higher degree is not always better
# ------------------------------------
#
# More features follow more, noise too, and give a local method new ways to satisfy its equations without unrolling
# anything. Unseen samples of rolls of which 1,000 samples were learned, the mean and the worst of ten draws; 0 is
# perfect.
print(f"{'degree':>6}{'features':>10}{'mean':>8}{'worst':>8}")
for degree in (1, 2, 3, 4):
    learned = [
        NPPE(n_neighbors=8, degree=degree).fit(make_swiss_roll(1000, random_state=seed)[0])
        for seed in range(10, 20)
    ]
    rho = [residual_variance(each.transform(unseen), truth) for each in learned]
    print(f"{degree:6}{learned[0].map_.n_features:10}{np.mean(rho):8.3f}{np.max(rho):8.3f}")

# %%
# Start with 2, and let :func:`polyfold.suggest` compare degrees on held-out samples.
#
# Some surfaces have no flat map
# ------------------------------
#
# A circle has no single coordinate, and a sphere no two: any continuous map must lay some of it on top of the
# rest. No degree and no graph changes that. Ask for one more coordinate.
angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 1000)
circle = np.c_[np.cos(angles), np.sin(angles)] + np.random.default_rng(1).normal(scale=0.02, size=(1000, 2))
for n_components in (1, 2):
    Y = PolynomialEmbedding(n_components, graph="laplacian", n_neighbors=10).fit_transform(circle)
    nearest = np.argsort(((Y[:, np.newaxis] - Y[np.newaxis]) ** 2).sum(axis=2), axis=1)[:, 1]
    apart = np.abs(np.angle(np.exp(1j * (angles - angles[nearest]))))
    print(
        f"{n_components} coordinate(s): nearest in the embedding is over a tenth of the circle away for "
        f"{np.mean(apart > 0.2 * np.pi):.0%} of the samples"
    )

# %%
# Cost grows with the columns
# ---------------------------
#
# All monomials of n columns up to degree p are :math:`\binom{n+p}{p} - 1`, and a fit costs their square for each
# sample, and their cube once. Two ways out are built in: principal axes first, which ``reduce="auto"`` takes where
# there would be more than 500 monomials, and which loses what lies off the axes; and pure powers without cross
# terms (SNPPE), which are no longer invariant under rotations.
from math import comb

print(f"{'columns':>8}{'degree 2':>12}{'degree 3':>14}{'SNPPE, degree 2':>18}")
for n in (3, 10, 30, 64, 784):
    print(f"{n:8,}{comb(n + 2, 2) - 1:12,}{comb(n + 3, 3) - 1:14,}{2 * n:18,}")

# %%
# Turned by 45 degrees about two axes, the same roll is unrolled by all monomials, and not by pure powers.
turn = np.array([[1, 0, -1], [0, np.sqrt(2), 0], [1, 0, 1]]) / np.sqrt(2)
tilt = np.array([[1, -1, 0], [1, 1, 0], [0, 0, np.sqrt(2)]]) / np.sqrt(2)
turned = tilt @ turn
for name, estimator in {"NPPE": NPPE(n_neighbors=10), "SNPPE": SNPPE(n_neighbors=10)}.items():
    rho = [residual_variance(estimator.fit(X @ R.T).transform(unseen @ R.T), truth) for R in (np.eye(3), turned)]
    print(f"{name:6} as it is {rho[0]:.3f}, turned {rho[1]:.3f}")

# %%
# What is noise stays noise
# -------------------------
#
# Where there is no surface there is nothing to find, and coordinates come out all the same. The report of a fit
# shows the signs: an intrinsic dimension far above the number of coordinates, tangent planes that are noise, a
# large ridge. And unseen samples tell: their neighbours are kept no better than by any two of the columns.
from polyfold.metrics import trustworthiness

random = np.random.default_rng(0)
noise, more_noise = random.normal(size=(500, 20)), random.normal(size=(500, 20))
embedding = NPPE().fit(noise)
print(embedding.diagnostics_)
print(f"trustworthiness of unseen samples {trustworthiness(more_noise, embedding.transform(more_noise)):.2f}")
print(f"                   of two columns {trustworthiness(more_noise, more_noise[:, :2]):.2f}")

# %%
# In short
# --------
#
# =====================  ========================================  ==========================================
# limit                  what tells you                            what to do
# =====================  ========================================  ==========================================
# islands blur           ``local_r2`` near or below 0, a warning   another learner, one map for each island
# outside is wrong       ``map_.extrapolation`` above 1            do not trust it; learn again with them
# too high a degree      score on unseen samples falls             a lower one
# closed surfaces        trustworthiness stays low                 one more coordinate
# many columns           an error that counts features             ``reduce``, or SNPPE
# no structure           the report; trustworthiness as of noise   nothing: there is none
# =====================  ========================================  ==========================================
