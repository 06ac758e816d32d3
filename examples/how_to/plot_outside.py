"""
Tell samples that lie outside of what was learned
=================================================

Is a new sample an anomaly, an outlier, something that was never learned? A polynomial has a value everywhere, also
where it has seen nothing, and it leaves the range of its training data fast. ``map_.extrapolation`` says how far
outside a sample lies: 0 is the mean of the training samples, 1 the edge of what was learned. The score is part of
the map, a few kilobytes, and needs no training sample.
"""

# %%
# Learn a map of one thing
# ------------------------
#
# Handwritten threes stand for what a process looks like when all is well. A quarter of them is kept back: only
# unseen samples tell how many false alarms there will be.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from polyfold import NPPE
from polyfold.plotting import plot_unseen

images, digits = load_digits(return_X_y=True)
threes = images[digits == 3]
train, kept_back = threes[:130], threes[130:]
others = images[digits != 3]

embedding = NPPE().fit(train)
learned = embedding.map_

# %%
# Score what comes
# ----------------
#
# The score is the larger of two distances: within the map's variables, a Mahalanobis distance, and off them. Each
# is divided by its 99th percentile on the training samples.
own, strange = learned.extrapolation(kept_back), learned.extrapolation(others)
print(f"unseen threes above 1:  {np.mean(own > 1):.0%}")
print(f"other digits above 1:   {np.mean(strange > 1):.0%}")
is_strange = np.repeat([False, True], [len(own), len(strange)])
print(f"AUC of threes against other digits: {roc_auc_score(is_strange, np.r_[own, strange]):.3f}")

# %%
# Choose a threshold
# ------------------
#
# 1 is drawn tight where training samples are few: here a quarter of the unseen threes lie above it. For a rate of
# false alarms of your own, take that quantile of the score on samples that were kept back; from the fifty or so
# here it is a rough one.
threshold = np.quantile(own, 0.95)
print(f"threshold for 5 % of false alarms: {threshold:.2f}")
print(f"other digits above it:             {np.mean(strange > threshold):.0%}")

# %%
# Look at it
# ----------
#
# On the left unseen threes and other digits where the map places them: triangles lie outside. Coordinates alone do
# not tell them apart, which is why there is a score.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
placed = np.vstack([kept_back, others[:100]])
plot_unseen(embedding.embedding_, learned.transform(placed), extrapolation=learned.extrapolation(placed), ax=left)
left.set_title("unseen threes and other digits")
bins = np.linspace(0, 6, 49)
right.hist(np.minimum(own, 6), bins, density=True, alpha=0.7, label="unseen threes")
right.hist(np.minimum(strange, 6), bins, density=True, alpha=0.7, label="other digits")
right.axvline(1, color="black", linewidth=1, linestyle="--")
right.set(xlabel="extrapolation score, 1 is the edge", ylabel="density", title="how far outside")
right.legend()

# %%
# In production
# -------------
#
# ``transform`` never computes the score, so ask for it where you place samples; the command line does with
# ``polyfold transform … --extrapolation``, and so does the page that ``to_html`` writes. If many new samples lie
# outside, the data have moved: fit again with them, and keep last year's axes by ``align_to``.
