"""
Use it in pipelines and cross-validation
========================================

Every embedding here is a scikit-learn transformer: it goes into pipelines, is cloned, searched and
cross-validated, and hands on names. Since ``transform`` places unseen samples, a classifier behind it is judged as
it will be used: on samples that neither it nor the embedding has seen.
"""

# %%
# A pipeline
# ----------
#
# Columns of different units are standardised before, and coordinates after: those of LLE's graph are small
# numbers, which a regularised classifier would hardly see. Within ``cross_val_score`` all steps are fitted to the
# training folds.
import tempfile
from pathlib import Path
from typing import Any

import joblib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from polyfold import NPPE, PolynomialEmbedding, PolynomialMap

wines, cultivar = load_wine(return_X_y=True, as_frame=True)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
print(f"{'wine, 2 coordinates':<24}accuracy")
for reduction in (PCA(2), NPPE(2, n_neighbors=30)):
    model = make_pipeline(StandardScaler(), reduction, StandardScaler(), LogisticRegression())
    scores = cross_val_score(model, wines, cultivar, cv=folds)
    print(f"{type(reduction).__name__:<24}{scores.mean():.3f} ± {scores.std():.3f} over folds")

# %%
# On this small table both do well, and the difference is about that between folds: PCA, which is simpler, will do.
#
# Names and data frames
# ---------------------
#
# ``set_output`` makes every step hand on data frames. The map knows its columns by name, and coordinates are named
# after the embedding.
model = make_pipeline(StandardScaler(), NPPE(2, n_neighbors=30)).set_output(transform="pandas")
print(model.fit_transform(wines).head(3).round(4))
print(model.get_feature_names_out())
print(model[-1].map_.columns[:3], "…")
print(clone(model)[-1])

# %%
# What leaks where the embedding is fitted first
# ----------------------------------------------
#
# An embedding sees no labels; is it not safe to embed all samples once, and cross-validate the classifier behind?
# No: the held-out samples have then taken part in the graph, each next to its own kind. With 600 digits and two
# coordinates it makes a difference that new digits will not see.
digits, labels = load_digits(return_X_y=True)
some, later, some_labels, later_labels = train_test_split(
    digits, labels, train_size=600, stratify=labels, random_state=3
)


def put_behind(reduction: Any) -> Pipeline:
    """Return a classifier behind a reduction; pixels share a unit and are not standardised before."""
    return make_pipeline(reduction, StandardScaler(), KNeighborsClassifier(10))


print(f"{'digits, 2 coordinates':<24}{'embedded first':>16}{'within folds':>14}{'1,197 later ones':>18}")
for name, reduction in {
    "PCA": PCA(2),
    'graph="isomap"': PolynomialEmbedding(graph="isomap", n_neighbors=10),
    'graph="laplacian"': PolynomialEmbedding(graph="laplacian", n_neighbors=10),
}.items():
    model = put_behind(reduction)
    leaky = cross_val_score(model[1:], reduction.fit_transform(some), some_labels, cv=folds).mean()
    honest = cross_val_score(model, some, some_labels, cv=folds).mean()
    unseen = model.fit(some, some_labels).score(later, later_labels)
    print(f"{name:<24}{leaky:>16.3f}{honest:>14.3f}{unseen:>18.3f}")

# %%
# The first column promises what later digits do not keep, above all for the Laplacian's graph; the second is what
# comes out, but for the chance of 600 digits. PCA, which has no graph, is hardly affected.
#
# Search parameters
# -----------------
#
# Steps of a pipeline are searched by their names, here for the digits that were not set aside. The score is that
# of the task: where coordinates serve a classifier, its accuracy counts, and not how the picture looks.
found = GridSearchCV(
    put_behind(PolynomialEmbedding(graph="isomap", reduce=20)),
    {
        "polynomialembedding__n_components": [2, 5, 10],
        "polynomialembedding__n_neighbors": [6, 10],
        "polynomialembedding__degree": [1, 2],
    },
    cv=3,
).fit(some, some_labels)
linear = GridSearchCV(put_behind(PCA()), {"pca__n_components": [2, 5, 10]}, cv=3).fit(some, some_labels)
without = KNeighborsClassifier(10).fit(some, some_labels)
for name, value in found.best_params_.items():
    print(f"{name:<36}{value}")
print()
print(f"{'digits set aside':<36}accuracy")
print(f"{'behind the map that was found':<36}{found.score(later, later_labels):.2f}")
print(f"{'behind PCA':<36}{linear.score(later, later_labels):.2f}")
print(f"{'from all 64 pixels':<36}{without.score(later, later_labels):.2f}")

# %%
tried = found.cv_results_
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
numbers = [2, 5, 10]
for degree, style in ((1, "--"), (2, "-")):
    for n_neighbors, color in ((6, "tab:blue"), (10, "tab:orange")):
        chosen = (tried["param_polynomialembedding__degree"] == degree) & (
            tried["param_polynomialembedding__n_neighbors"] == n_neighbors
        )
        label = f"degree {degree}, {n_neighbors} neighbours"
        ax.plot(numbers, tried["mean_test_score"][chosen], style, color=color, marker="o", label=label)
ax.plot(numbers, linear.cv_results_["mean_test_score"], color="0.5", marker="s", label="PCA")
ax.set(xlabel="coordinates", ylabel="accuracy, 3 folds", xticks=numbers, title="digits, by the 10 nearest")
ax.legend()

# %%
# With two coordinates the map of degree 2 tells more than PCA, with five they are level, and all pixels tell the
# most. A map pays where coordinates must be few: to look at, to store, to compare fast.
#
# Keep what was learned
# ---------------------
#
# The pipeline as a whole goes into joblib or pickle, like any of scikit-learn's: it needs the versions it was
# written with, and loading one runs code, so load none from others. The map alone goes into a file that runs
# nothing and needs no scikit-learn; here nothing stands before it, so that it takes pixels as they are.
best = found.best_estimator_
with tempfile.TemporaryDirectory() as folder:
    joblib.dump(best, Path(folder, "pipeline.joblib"))
    best[0].map_.save(Path(folder, "map.safetensors"))
    for path in sorted(Path(folder).iterdir()):
        print(f"{path.name:<18}{path.stat().st_size / 1000:>6.0f} kB")
    service = PolynomialMap.load(Path(folder, "map.safetensors"))
print("the same coordinates:", np.array_equal(service.transform(later), best[0].transform(later)))

# %%
# The whole pipeline as one ONNX model, without Python: see :doc:`/artefact`.
