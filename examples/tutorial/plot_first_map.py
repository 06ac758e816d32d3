r"""
What an explicit map is
=======================

Data with many columns often lie near a surface of few dimensions that is curved: images of one object under
changing light, spectra of one mixture, the states of one machine. **Manifold learning** finds coordinates on that
surface. An **explicit map** is a formula for them, :math:`y = f(x)`, which places samples that were not there when
it was learned. This part makes one by hand, then with polyfold, and shows how to tell a good one from a bad one.
"""

# %%
# Curved data
# -----------
#
# The Swiss roll is a sheet with two true coordinates, rolled up in three columns: :math:`t` along the roll, and
# the height :math:`h`. A learner sees the three columns only.
import matplotlib.pyplot as plt
import numpy as np

from polyfold.datasets import make_swiss_roll

X, Z = make_swiss_roll(1000, random_state=0)
unseen, truth = make_swiss_roll(2000, random_state=1)
print("columns:", X[0].round(2), "  true coordinates:", Z[0].round(2))


def draw_roll(axes, samples, colours, title):
    axes.scatter(*samples.T, c=colours, s=8)
    axes.view_init(elev=14, azim=-76)
    axes.set_title(title)


def draw_plane(axes, Y, colours, title):
    axes.scatter(*Y.T, c=colours, s=4)
    axes.set(xlabel="$y_0$", ylabel="$y_1$", title=title)


# %%
# Linear coordinates are not enough. Principal components are the best linear ones in the sense of squares, and
# they look at the roll from the side: samples that are far apart along the sheet fall on each other.
from sklearn.decomposition import PCA

figure = plt.figure(figsize=(9, 4), layout="constrained")
draw_roll(figure.add_subplot(1, 2, 1, projection="3d"), X, Z[:, 0], "the roll, coloured by $t$")
draw_plane(figure.add_subplot(1, 2, 2), PCA(2).fit(X).transform(unseen), truth[:, 0], "two principal components")

# %%
# What survives of the sheet: local relations
# -------------------------------------------
#
# Near a point the sheet is almost flat, so that a sample is almost an affine combination of its neighbours:
# :math:`x_i \approx \sum_j r_{ij} x_j` with :math:`\sum_j r_{ij} = 1`. The weights say how the sample lies among
# its neighbours and do not change when the sheet is bent or turned. Locally linear embedding, LLE, looks for
# coordinates :math:`y_i` that keep them: :math:`\sum_i \lVert y_i - \sum_j r_{ij} y_j \rVert^2` small, with spread
# one.
#
# LLE finds one :math:`y_i` for each training sample, and no formula. NPPE, the method of Qiao, Zhang, Wang and
# Zhang, puts the formula into the problem: :math:`y = \phi(x) V`, with :math:`\phi(x)` the monomials of the
# columns. What was a problem of 1,000 unknown points becomes one of 9 unknown coefficients for each coordinate.
# Here it is, by hand, in a few lines.
from scipy.linalg import eigh
from sklearn.neighbors import NearestNeighbors

k, scaled = 8, (X - X.mean(axis=0)) / X.std()
near = NearestNeighbors(n_neighbors=k).fit(scaled).kneighbors(return_distance=False)

L = np.eye(len(X))  # row i: the sample less the combination of its neighbours
for i, neighbours in enumerate(near):
    offsets = scaled[neighbours] - scaled[i]
    G = offsets @ offsets.T
    weights = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(k), np.ones(k))
    L[i, neighbours] -= weights / weights.sum()


def expand(samples):
    """Return all monomials of degree 1 and 2."""
    x, y, z = ((samples - X.mean(axis=0)) / X.std()).T
    return np.column_stack([x, y, z, x * x, y * y, z * z, x * y, x * z, y * z])


center = expand(X).mean(axis=0)
features = expand(X) - center  # without their mean, or else a constant would be the best coordinate
A, B = (L @ features).T @ (L @ features), features.T @ features
eigenvalues, V = eigh(A, B)  # A v = λ B v; the smallest are the coordinates
by_hand = (expand(unseen) - center) @ V[:, :2]

# %%
# The same with polyfold
# ----------------------
#
# :class:`polyfold.NPPE` solves this problem, with what it takes to be safe on other data: rank, scale, a ridge. On
# this clean roll the ridge hardly matters and the coordinates are those found by hand, up to their signs.
from polyfold import NPPE

embedding = NPPE(n_components=2, n_neighbors=8).fit(X)
Y = embedding.transform(unseen)
for c in range(2):
    print(f"y{c}: correlation with the one made by hand {abs(np.corrcoef(Y[:, c], by_hand[:, c])[0, 1]):.4f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
draw_plane(left, by_hand, truth[:, 0], "2,000 unseen samples, map by hand")
draw_plane(right, Y, truth[:, 0], "by NPPE")

# %%
# The map itself
# --------------
#
# What was learned is a formula. It can be read: the first coordinate is mostly :math:`x^2 + z^2`, which on the
# roll is :math:`t^2`, and the second mostly :math:`y`, the height.
print(embedding.map_)
print(embedding.map_.terms().formula(digits=2))

# %%
# Since it is a formula, its slopes are exact: how much each coordinate grows per unit of each column.
print(embedding.map_.jacobian(X[:1]).round(4))

# %%
# How good is it?
# ---------------
#
# Where the truth is known, as here: the share of its variance that the coordinates miss, after the best affine
# fit. 0 is a perfect unrolling. Always on samples that were not learned from.
from polyfold.metrics import continuity, residual_variance, trustworthiness

maps = {"PCA": PCA(2).fit(X).transform(unseen), "by hand": by_hand, "NPPE": Y}
print(f"{'':10}{'residual variance':>20}{'trustworthiness':>18}{'continuity':>12}")
for name, coordinates in maps.items():
    trust = trustworthiness(unseen, coordinates, n_neighbors=10)
    kept = continuity(unseen, coordinates, n_neighbors=10)
    print(f"{name:10}{residual_variance(coordinates, truth):20.3f}{trust:18.3f}{kept:12.3f}")

# %%
# Where it is not known, as with most data, ask whether neighbours stay neighbours. *Trustworthiness* falls where
# samples become neighbours that were not, as PCA makes them; *continuity* where neighbours are torn apart.
#
# What the report says
# --------------------
#
# ``diagnostics_`` says what was found and chosen, and how the map does on samples that were held out. An objective
# that is much the same there and on training samples, and a spread near 1, are what a map that generalises must
# have; whether it shows what you want, they cannot tell.
print(embedding.diagnostics_)

# %%
# What to remember
# ----------------
#
# - A graph says what is to be kept (here LLE's weights), a basis says which formulas are allowed (here monomials
#   up to degree 2), and the map is the best of these. The other graphs are described in :doc:`/family`, all of the
#   mathematics, beside the lines of code, in :doc:`/mathematics`.
# - Judge on unseen samples.
# - The formula is all that is kept. What one does with it is the next part.
