"""
From a CSV file to a map in production
======================================

Eight magnetic probes stand in a row, and a magnet with alternating poles moves past them on a machine. Two things
vary: the position of the magnet, and the temperature of the electronics, which lifts all readings. The position
was measured by a laser for ten samples only. This part goes the whole way: read a CSV file, learn a map, judge it,
explain it, hand it to a database, and watch for samples that do not belong.
"""

# %%
# The data
# --------
#
# The readings are simulated, so that what is found can be compared with what is true; nothing below looks at the
# truth until it says so. All columns share a unit. Columns of different units would have to be standardised first.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

probes = np.linspace(0, 16, 8)  # where they stand, in mm
folder = Path(tempfile.mkdtemp())


def measure(n_samples, seed, magnet=1.0, weak_probe=1.0):
    """Simulate some time: readings, positions and temperatures."""
    random = np.random.default_rng(seed)
    position, temperature = random.uniform(0, 16, n_samples), random.uniform(20, 60, n_samples)
    distance = position[:, np.newaxis] - probes
    field = magnet * np.cos(2 * np.pi * distance / 16) * np.exp(-((distance / 8) ** 2) / 2)
    field[:, 3] *= weak_probe
    offset = (temperature - 40)[:, np.newaxis] / 20
    readings = field + offset + random.normal(scale=0.01, size=field.shape)
    table = pd.DataFrame(readings.round(5), columns=[f"probe_{j}" for j in range(8)])
    table.insert(0, "minute", np.arange(n_samples))
    return table, position, temperature


table, position, temperature = measure(1500, seed=0)
table.to_csv(folder / "week_1.csv", index=False)
print(table.head(3))

# %%
# Read and learn
# --------------
#
# Columns that are not readings are left out. A fifth of the samples is kept back to judge by. No arguments are
# given: neighbours, ridge and axes are chosen, and the report says how.
from polyfold import NPPE

readings = pd.read_csv(folder / "week_1.csv").drop(columns="minute")
train, kept_back = readings[:1200], readings[1200:]
embedding = NPPE(n_components=2).fit(train)
print(embedding.diagnostics_)

# %%
# From the shell it is ``polyfold fit week_1.csv -o probes.safetensors --exclude minute``, see
# :doc:`/command-line`.
#
# Judge
# -----
#
# First without any truth: do neighbours stay neighbours, on samples that were kept back, and is it better than the
# linear map that one would have used?
from sklearn.decomposition import PCA

from polyfold.metrics import trustworthiness


def judge(name, Y):
    """Print how trustworthy the coordinates of the samples kept back are."""
    print(f"{name:32} trustworthiness {trustworthiness(kept_back.to_numpy(), Y, n_neighbors=10):.3f}")


judge("PCA", PCA(2).fit(train).transform(kept_back))
judge("NPPE with defaults", embedding.transform(kept_back))

# %%
# No better than linear: samples lie on each other that are far apart. Before looking for reasons, let
# :func:`polyfold.suggest` try other graphs and degrees on held-out samples. It needs no truth either.
import polyfold

found = polyfold.suggest(train, verbose=0)
print(found)

# %%
# The estimator that it returns is learned from all of ``train``. This surface is rolled up further than two powers
# of the readings and the weights of LLE can undo; a better one is found here without looking at the truth.
learned = found.estimator.map_
judge("suggested", learned.transform(kept_back))

# %%
# Then with the little that is known. The laser saw ten of the first 1,200 samples. A straight line through their
# two coordinates tells the position of samples that were kept back; a line through their eight readings would need
# more than ten. The samples without labels have shown the map the geometry.
from sklearn.linear_model import LinearRegression

from polyfold import PolynomialMap


def calibrate(samples, known):
    """Return a line through what is known."""
    return LinearRegression().fit(samples, position[known])


def rate(calibration, samples, truth):
    """Return R² of positions."""
    return 1 - np.mean((calibration.predict(samples) - truth) ** 2) / np.var(truth)


print("R² of the position of samples kept back, for five choices of ten samples:")
for seed in range(5):
    known = np.random.default_rng(seed).choice(1200, 10, replace=False)
    by_map = calibrate(learned.transform(train)[known], known)
    by_readings = calibrate(train.iloc[known], known)
    first = rate(by_map, learned.transform(kept_back), position[1200:])
    print(f"  from coordinates {first:.3f}   from readings {rate(by_readings, kept_back, position[1200:]):6.3f}")
calibration = by_map

# %%
# Now the truth: the coordinates of the samples kept back, coloured by what the machine did.
Y = learned.transform(kept_back)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
for ax, name, values in zip(axes, ("position in mm", "temperature in °C"), (position, temperature), strict=True):
    drawn = ax.scatter(*Y.T, c=values[1200:], s=10)
    figure.colorbar(drawn, ax=ax, label=name)
    ax.set(xlabel="$y_0$", ylabel="$y_1$", title=f"unseen samples, by {name.split()[0]}")

# %%
# Explain
# -------
#
# Which probes move which coordinate: exact slopes, averaged over samples with their signs. All probes together
# move the coordinate that follows the temperature; the one that follows the position moves with some against the
# others.
sensitivity = learned.sensitivity(train, signed=True)
print(sensitivity)

figure, ax = plt.subplots(figsize=(9, 3.2), layout="constrained")
for shift, name in zip((-0.2, 0.2), learned.coordinate_names, strict=True):
    ax.bar(np.arange(8) + shift, sensitivity[name] / np.abs(sensitivity[name]).max(), 0.4, label=name)
ax.axhline(0, color="grey", linewidth=0.8)
ax.set(xticks=range(8), xticklabels=learned.column_names, ylabel="moves it (scaled)")
ax.set_title("what each probe does to the coordinates")
ax.legend()

# %%
# Keep and hand over
# ------------------
#
# The file has the map, the names of the columns, what they covered, and how it was learned. Loading it needs no
# scikit-learn and runs no code. The same map is a SELECT: new readings are placed where they are stored.
import duckdb

learned.save(folder / "probes.safetensors")
print(f"{(folder / 'probes.safetensors').stat().st_size / 1000:.0f} kB")
service = PolynomialMap.load(folder / "probes.safetensors")

week_2, *_ = measure(500, seed=2)
week_2.to_csv(folder / "week_2.csv", index=False)
database = duckdb.connect()
database.execute(f"CREATE TABLE readings AS SELECT * FROM '{folder / 'week_2.csv'}'")
database.execute(f"CREATE VIEW placed AS {service.to_sql('duckdb', table='readings', keep=['minute'])}")
print(database.execute("SELECT * FROM placed ORDER BY minute LIMIT 3").df())

placed = database.execute("SELECT y0, y1 FROM placed ORDER BY minute").df().to_numpy()
difference = np.abs(placed - service.transform(week_2.drop(columns="minute"))).max() / np.abs(placed).max()
print("the database and Python agree to 12 digits:", difference < 1e-12)

# %%
# :doc:`/artefact` has the other forms: ONNX, C, JSON, LaTeX, a web page.
#
# Watch
# -----
#
# In the third week a probe loses its strength, little by little. Coordinates alone would not tell: they still are
# numbers. The extrapolation score does. The limit is set on samples that were kept back, so that 1 % of good ones
# raise an alarm.
limit = np.quantile(service.extrapolation(kept_back), 0.99)
strengths = np.linspace(1.0, 0.5, 10)
week_3 = pd.concat([measure(50, seed=10 + i, weak_probe=s)[0] for i, s in enumerate(strengths)], ignore_index=True)
score_2 = service.extrapolation(week_2.drop(columns="minute"))
score_3 = service.extrapolation(week_3.drop(columns="minute"))
print(f"limit {limit:.2f}; above it in week 2: {np.mean(score_2 > limit):.1%}")
for strength, scores in zip(strengths, np.split(score_3, 10), strict=True):
    print(f"probe 3 at {strength:4.0%} of its strength: {np.mean(scores > limit):4.0%} of the samples above it")

figure, ax = plt.subplots(figsize=(9, 3.4), layout="constrained")
ax.plot(np.r_[score_2, score_3], ".", markersize=3)
ax.axhline(limit, color="black", linewidth=1, linestyle="--", label="limit")
ax.axvline(500, color="grey", linewidth=1)
ax.set(xlabel="sample of weeks 2 and 3", ylabel="extrapolation score", title="a probe that gets weak")
ax.legend()

# %%
# Learn again, keep the axes
# --------------------------
#
# The probe is mended, and the magnet replaced by one that is half as strong again. The old map still gives
# coordinates, but the calibration no longer fits them. A new map is learned from the fourth week, without a label.
# Its coordinates may come in another order, sign and scale, so it is aligned with the old map on the samples of
# the first week: limits, calibrations and habits stay. The agreement is kept in the map.
from sklearn.base import clone

table_4, position_4, _ = measure(1500, seed=4, magnet=1.5)
week_4 = table_4.drop(columns="minute")
new = clone(found.estimator).fit(week_4).map_
aligned = new.align_to(service, train)
print("agreement on week 1:", aligned.alignment)
print("R² of positions in week 4, by the calibration of week 1:")
print(f"  old map {rate(calibration, service.transform(week_4), position_4):.3f}")
print(f"  new map {rate(calibration, aligned.transform(week_4), position_4):.3f}")

# %%
# What stands in production is a file of a few kilobytes and a view in a database. What it promises, and how that
# is tried, stands in :doc:`/guarantees`.
import shutil

database.close()
shutil.rmtree(folder)
