"""
Explain a coordinate
====================

A coordinate of a map is a polynomial in the columns, so what it means can be read, and checked. Here two
coordinates of a table of wines: which columns make them, how a single wine moves when a column does, and whether
that explanation holds for wines that the map has not seen.
"""

# %%
# A map of a table
# ----------------
#
# Thirteen measurements in different units, so they are standardised; ``set_output`` keeps their names. The
# cultivar is not shown to the map, and a quarter of the wines is kept back.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from polyfold import NPPE
from polyfold.plotting import plot_embedding, plot_sensitivity

wines, cultivar = load_wine(return_X_y=True, as_frame=True)
wines = wines.rename(columns={"od280/od315_of_diluted_wines": "od280_od315"})
raw_train, raw_unseen, _, unseen_cultivar = train_test_split(wines, cultivar, stratify=cultivar, random_state=0)
scaler = StandardScaler().set_output(transform="pandas").fit(raw_train)
train, unseen = scaler.transform(raw_train), scaler.transform(raw_unseen)
learned = NPPE(n_neighbors=30).fit(train).map_
print(learned)

# %%
# Which columns move it
# ---------------------
#
# ``sensitivity`` is how much a coordinate moves when one column moves by its standard deviation and the others
# stay, averaged over samples; with ``signed=True`` it says which way, and what goes up here and down there
# cancels.
sensitivity = learned.sensitivity(unseen, signed=True)
print(sensitivity.largest(8))

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
plot_embedding(learned.transform(unseen), unseen_cultivar, color_label="cultivar", ax=left)
left.set_title("unseen wines")
plot_sensitivity(sensitivity, coordinate="y0", largest=8, ax=middle)
plot_sensitivity(sensitivity, coordinate="y1", largest=8, ax=right)
for ax in (middle, right):
    ax.set_xlabel("change for one standard deviation")
    ax.locator_params(axis="x", nbins=4)

# %%
# Flavanoids, total phenols and hue lower y0, alcohol and colour lower y1. The cultivars lie apart, though the map
# knows nothing of them.
#
# Read the polynomial
# -------------------
#
# ``terms`` writes the map out in its columns, here in standard deviations. ``formula`` has the terms that move a
# coordinate most, and the table the share of its variance that each term explains; shares of all terms add up to
# 1.
terms = learned.terms(X=train)
print(terms.formula(largest=3), end="\n\n")
table = terms.to_pandas()
print(table.sort_values("share of y0", ascending=False).head(6).round(3).to_string(), end="\n\n")
degrees = [len(columns) for columns, _ in terms]
print(table[["share of y0", "share of y1"]].groupby(degrees).sum().rename_axis("degree").round(3).to_string())

# %%
# Terms of degree 1 explain nearly all: among these wines the map is almost a plane, and one list of columns
# explains it everywhere. Where terms of degree 2 have a large share, a column may move the coordinate one way here
# and another there; then ask for the slopes at the sample in question.
#
# Explain one sample
# ------------------
#
# ``jacobian`` has the exact slopes at a sample: entry (i, c, j) is how much coordinate c of sample i grows per
# unit of column j. Divided by the scaler's unit it is per unit of the table, such as per percent of alcohol.
wine = unseen.iloc[[0]]
slopes = learned.jacobian(wine)[0] / scaler.scale_
print(f"{'per unit of the table':<30}{'y0':>10}{'y1':>10}")
for column in ("alcohol", "flavanoids", "color_intensity", "hue"):
    y0, y1 = slopes[:, wines.columns.get_loc(column)]
    print(f"{column:<30}{y0:>10.4f}{y1:>10.4f}")

# %%
# Check the explanation
# ---------------------
#
# Move a column and see the coordinate move. By a small step it moves as the slope says; by one and by five
# standard deviations nearly so, and the difference is how far the polynomial bends. Moving one column alone makes
# wines that there are not, since columns go together: ``extrapolation`` is above 1 where the step is large.


def move(column: str, step: float) -> tuple[float, float]:
    """Return how far y0 moves per unit of a column, over a step, and the extrapolation score after it."""
    moved = wine.assign(**{column: wine[column] + step})
    moves = (learned.transform(moved) - learned.transform(wine)) / step
    return float(moves[0, 0]), float(learned.extrapolation(moved)[0])


exact = learned.jacobian(wine)[0, 0]
print(f"{'y0, per unit':<18}{'slope':>9}{'step 0.001':>12}{'step 1':>9}{'step 5':>9}{'outside after step 5':>22}")
for column in ("total_phenols", "flavanoids", "hue", "proline"):
    moves = [move(column, step)[0] for step in (0.001, 1, 5)]
    figures = f"{exact[wines.columns.get_loc(column)]:>9.4f}{moves[0]:>12.4f}{moves[1]:>9.4f}{moves[2]:>9.4f}"
    print(f"{column:<18}{figures}{move(column, 5)[1]:>22.2f}")

# %%
# And does what makes y0 on the training wines make it on the unseen ones? The four columns with the largest
# shares, as a sum of standard deviations with their signs, against y0:
single = table.iloc[1 : 1 + len(wines.columns)]  # the terms of one column each, in the order of the columns
leading = np.argsort(-single["share of y0"].to_numpy())[:4]
by_hand = unseen.iloc[:, leading] @ np.sign(single["y0"].to_numpy()[leading])
print("leading:", ", ".join(wines.columns[leading]))
print(f"correlation with y0, unseen wines: {np.corrcoef(by_hand, learned.transform(unseen)[:, 0])[0, 1]:.2f}")

# %%
# For a paper
# -----------
print(learned.to_latex(largest=3))

# %%
# Where columns are pixels
# ------------------------
#
# A list of 64 pixels explains nothing: lay them out as an image. Ink on red pixels raises the coordinate, ink on
# blue ones lowers it. With many columns the polynomial is written in principal axes, and ``terms(largest=10)``
# picks the terms in pixels that matter.
images, digits = load_digits(return_X_y=True)
threes = images[digits == 3]
strokes = NPPE().fit(threes[:140]).map_
figure, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
for ax, name in zip(axes, strokes.coordinate_names, strict=True):
    plot_sensitivity(strokes, threes[140:], coordinate=name, shape=(8, 8), ax=ax)

# %%
# Sensitivity speaks of the map, not of causes: a column that goes along with others shares its effect with them.
# Formulas in other languages, from SQL to SymPy, are in :doc:`/artefact`.
