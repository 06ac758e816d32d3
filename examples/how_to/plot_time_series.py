"""
Follow a sensor over time
=========================

A press strikes about once a second, and a sensor on it records knock and rebound. The shape of a stroke drifts
slowly with two things that nobody measures. A map learned from 900 strokes follows both in a later recording,
stroke by stroke, and its extrapolation score says when a shape is unlike any that it has learned.
"""

# %%
# A signal whose truth is known
# -----------------------------
#
# The signal is simulated, so that there is something to judge by. ``speed`` makes the rebound come earlier,
# ``wear`` makes it wider and lower; both wander between 0 and 1. In the later recording a second rebound begins to
# grow: a fault, which is in no stroke that is learned from.
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.signal import find_peaks
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score, roc_auc_score

from polyfold import PolynomialEmbedding
from polyfold.plotting import plot_embedding

RATE = 250  # samples a second


def bump(time: NDArray[np.float64], center: float, width: float) -> NDArray[np.float64]:
    """Return a pulse of height 1."""
    return np.asarray(np.exp(-((time - center) ** 2) / (2 * width**2)))


def record(n_strokes: int, seed: int, n_faulty: int = 0) -> tuple[NDArray[np.float64], ...]:
    """Return the signal, and speed, wear and fault at each stroke."""
    random = np.random.default_rng(seed)
    start, period = random.uniform(0, 2 * np.pi, 2), random.uniform([60, 100], [90, 150])
    speed, wear = 0.5 + 0.5 * np.sin(start + 2 * np.pi * np.arange(n_strokes)[:, None] / period).T
    fault = np.r_[np.zeros(n_strokes - n_faulty), np.linspace(0, 0.6, n_faulty)]
    onsets = np.cumsum(random.uniform(0.7, 0.9, n_strokes))
    time = np.arange(0, onsets[-1] + 1, 1 / RATE)
    signal = random.normal(scale=0.02, size=len(time))
    for onset, fast, worn, faulty in zip(onsets, speed, wear, fault, strict=True):
        delay, width = 0.28 - 0.08 * fast, 0.03 + 0.05 * worn
        signal += bump(time, onset, 0.008) + 0.7 * (1 - 0.5 * worn) * bump(time, onset + delay, width)
        signal += faulty * bump(time, onset + 0.45, 0.02)
    return signal, speed, wear, fault


learned_from, speed, wear, _ = record(900, seed=0)
later, later_speed, later_wear, fault = record(500, seed=1, n_faulty=100)
before = fault == 0

# %%
# Cut windows that begin with the stroke
# --------------------------------------
#
# Windows cut every so many samples begin anywhere in a stroke, and where they begin is then what differs most
# between them. So each window is aligned to its knock, which a peak finder sees. Where nothing marks a beginning,
# take features that do not know the phase, such as the magnitudes of a spectrum.
WINDOW, LEAD = 150, 15  # 0.6 seconds, of which 0.06 before the knock


def cut_windows(signal: NDArray[np.float64], lead: int | NDArray[np.int_] = LEAD) -> NDArray[np.float64]:
    """Return a window for each stroke, as rows."""
    knocks, _ = find_peaks(signal, height=0.8, distance=RATE // 2)
    return np.asarray(sliding_window_view(signal, WINDOW)[knocks - lead])


strokes, new_strokes = cut_windows(learned_from), cut_windows(later)
print(f"{len(strokes)} strokes to learn from, {len(new_strokes)} later, {strokes.shape[1]} samples each")

# %%
# Learn, and place the later strokes
# ----------------------------------
#
# A pulse that shifts leaves a curved surface, which ``graph="isomap"`` unrolls; the samples of one sensor share a
# unit, and are not standardised. Coordinates are turned into speed and wear by a straight line, fitted to the
# strokes learned from; in practice a few strokes with measurements do. R² is over the later strokes before the
# fault.
truth, later_truth = np.column_stack([speed, wear]), np.column_stack([later_speed, later_wear])


def judge(name: str, embedding: Any, windows: NDArray[np.float64], later_windows: NDArray[np.float64]) -> None:
    """Print how well coordinates of later strokes tell speed and wear."""
    line = LinearRegression().fit(embedding.fit_transform(windows), truth)
    told = line.predict(embedding.transform(later_windows[before]))
    r2 = r2_score(later_truth[before], told, multioutput="raw_values")
    print(f"{name:<36}{r2[0]:>9.2f}{r2[1]:>8.2f}")


print(f"{'later strokes':<36}{'R² speed':>9}{'wear':>8}")
judge("PCA", PCA(2), strokes, new_strokes)
embedding = PolynomialEmbedding(graph="isomap", n_neighbors=10, degree=3)
judge('graph="isomap"', embedding, strokes, new_strokes)
random = np.random.default_rng(2)
anywhere = [
    cut_windows(each, random.integers(0, WINDOW, len(n))) for each, n in ((learned_from, speed), (later, fault))
]
judge("the same, windows not aligned", PolynomialEmbedding(graph="isomap", n_neighbors=10, degree=3), *anywhere)

# %%
# See when something is new
# -------------------------
#
# A coordinate alone does not reveal a fault: a polynomial has a value for any window. ``extrapolation`` does.
# Noise alone brings each stroke near the edge here, and some beyond; the median of the last nine strokes is
# steadier, at the price of an alarm that comes some strokes later.
learned = embedding.map_
score = learned.extrapolation(new_strokes)
steady = np.median(sliding_window_view(score, 9), axis=1)  # the first is that of strokes 0 to 8
first_faulty = int(np.argmax(fault > 0))
print(f"strokes before the fault above 1:     {np.mean(score[before] > 1):.1%}")
print(f"medians of nine before it above 1:    {np.mean(steady[: first_faulty - 8] > 1):.1%}")
alarm = first_faulty + int(np.argmax(steady[first_faulty - 8 :] > 1))
print(f"alarm after the fault began:          {alarm - first_faulty} strokes, at {fault[alarm]:.2f} of a knock")
print(f"AUC of faulty against other strokes:  {roc_auc_score(~before, score):.3f}")

# %%
# Look at it
# ----------
#
# On the left each tenth stroke that was learned from, on the right all of them in the embedding.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
seconds = (np.arange(WINDOW) - LEAD) / RATE
for stroke, worn in zip(strokes[::10], wear[::10], strict=True):
    left.plot(seconds, stroke, color=plt.get_cmap("viridis")(worn), linewidth=0.6)
left.set(xlabel="seconds after the knock", ylabel="signal", title="aligned windows")
plot_embedding(embedding.embedding_, wear, color_label="true wear", ax=right)
right.set_title("strokes learned from, embedded")

# %%
# The later recording in the order of time: what the coordinates tell, the truth, and how far outside each stroke
# is. Where the score is far above 1, nothing vouches for the coordinates.
line = LinearRegression().fit(embedding.embedding_, truth)
told = line.predict(learned.transform(new_strokes))
figure, axes = plt.subplots(3, 1, figsize=(10, 6.5), sharex=True, layout="constrained")
for ax, name, values, true in zip(axes, ("speed", "wear"), told.T, later_truth.T, strict=False):
    ax.plot(true, color="0.6", linewidth=3, label="truth")
    ax.plot(values, color="tab:blue", linewidth=1, label="by the map")
    ax.set(ylabel=name, ylim=(-0.3, 1.6))
axes[0].legend(loc="upper left", ncols=2)
axes[2].plot(score, color="0.7", linewidth=0.8, label="each stroke")
axes[2].plot(np.arange(8, len(score)), steady, color="tab:red", label="median of the last nine")
axes[2].axhline(1, color="black", linewidth=0.8, linestyle="--")
axes[2].set(ylabel="extrapolation", xlabel="stroke")
axes[2].legend(loc="upper left")
for ax in axes:
    ax.axvspan(first_faulty, len(score), color="tab:red", alpha=0.08)
axes[0].set_title("a later recording; shaded: a second rebound grows")

# %%
# In production
# -------------
#
# The map needs a window and nothing else: no earlier stroke, no search. A single window is placed as it comes.
print(learned)
print(learned.transform(new_strokes[:1]).round(3), learned.extrapolation(new_strokes[:1]).round(2))

# %%
# How to choose a threshold of your own is on the page "Tell samples that lie outside of what was learned". A map
# whose coordinates must be smooth in time can have the order of time as its graph: see "Your own graph" in
# :doc:`/family`.
