"""
Use a graph of your own, and add one to the library
===================================================

What a map keeps of the data is up to its graph. There are three ways to bring your own: an affinity matrix, where
you know what belongs together; a callable, where you know equations that good coordinates fulfil; and a file in
the library, where a new method is to work as those that are there: in blocks, on clusters, with cross-validation,
at the command line.
"""

# %%
# An affinity matrix
# ------------------
#
# Any symmetric matrix whose entries say how near samples are, sparse or not: large is near. Here it is the cosine
# of the angle between two images, kept for the 15 nearest of each; on these digits it does no better than the heat
# kernel of distances.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph

from polyfold import PolynomialEmbedding

images, digits = load_digits(return_X_y=True)
train, unseen = images[:1200], images[1200:]

W = kneighbors_graph(train, 15, mode="distance", metric="cosine")
W.data = 1 - W.data
W = (W + W.T) / 2

embeddings = {
    "heat kernel": PolynomialEmbedding(graph="laplacian", n_neighbors=15).fit(train),
    "cosines": PolynomialEmbedding(graph=W).fit(train),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (name, embedding) in zip(axes, embeddings.items(), strict=True):
    Y = embedding.transform(unseen)
    classifier = KNeighborsClassifier(10).fit(embedding.embedding_, digits[:1200])
    drawn = ax.scatter(*Y.T, c=digits[1200:], cmap="tab10", vmin=-0.5, vmax=9.5, s=6)
    ax.set(title=f"{name}: {classifier.score(Y, digits[1200:]):.0%} of unseen digits right", xticks=[], yticks=[])
figure.colorbar(drawn, ax=axes, label="digit", ticks=range(10))

# %%
# Equations
# ---------
#
# A callable is given the samples and returns ``L``, one row for each equation and one column for each sample, and
# ``D``, a weight for each sample. The map then has the smallest ``||L Y||``. Rows of ``L`` must sum to zero. Here
# samples come in the order of time, and each is to be the mean of those before and after it: a noisy walk along a
# curve gets a slow coordinate.
time = np.linspace(0, 1, 600)


def walk(seed):
    """Return noisy samples along a curve."""
    noise = np.random.default_rng(seed).normal(scale=0.1, size=(600, 3))
    return np.c_[np.cos(5 * time), np.sin(5 * time), 2 * time] + noise


def keep_pace(samples):
    """Return equations by which each sample is the mean of the 10 before and the 10 after it."""
    n = len(samples)
    around = sum(np.eye(n, k=k) for k in range(-10, 11) if k) / 20
    return (around - np.eye(n))[10:-10], np.ones(n)


slow = PolynomialEmbedding(1, graph=keep_pace).fit(walk(0))
unseen_walk = slow.transform(walk(1))[:, 0]
print(f"correlation with time, on another walk: {abs(np.corrcoef(unseen_walk, time)[0, 1]):.3f}")

# %%
# A file in the library
# ---------------------
#
# Each graph is one file in ``src/polyfold/objectives``, and its name is the name of the file. It has a function
# that writes the equations of a *patch*, some samples and their neighbours, and ends with an ``OBJECTIVE``. This
# one weights edges by rank:
#
# .. literalinclude:: ../../examples/how_to/laplacian_rank.py
#    :language: python
#    :caption: laplacian_rank.py
#
# There is nothing else to do. To show it without changing the library that is installed, it is copied to a folder
# here, as a clone would be, and the file is put there.
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import polyfold

use = """
from polyfold import PolynomialEmbedding
from polyfold.datasets import make_swiss_roll
from polyfold.metrics import residual_variance

X, Z = make_swiss_roll(2000, random_state=0)
unseen, truth = make_swiss_roll(2000, random_state=1)
for graph in ("laplacian", "laplacian_rank"):
    embedding = PolynomialEmbedding(graph=graph, n_neighbors=10, degree=3).fit(X)
    print(f"{graph:15} residual variance {residual_variance(embedding.transform(unseen), truth):.3f}")
"""
with tempfile.TemporaryDirectory() as folder:
    shutil.copytree(Path(polyfold.__file__).parent, Path(folder) / "polyfold")
    shutil.copy("laplacian_rank.py", Path(folder) / "polyfold" / "objectives")
    run = [sys.executable, "-c", use]
    done = subprocess.run(run, env=os.environ | {"PYTHONPATH": folder}, capture_output=True, text=True, check=True)
    print(done.stdout)

# %%
# With it came the ridge by cross-validation, out-of-core and distributed fits, weights of samples, and ``--graph
# laplacian_rank`` at the command line. What a graph must know of all samples beforehand, such as a bandwidth, it
# returns from ``prepare``; how many neighbours it needs, it says in ``least_neighbors``. ``tests/test_graphs.py``
# tries every graph there is: its equations against a dense oracle, which a new one adds, and in blocks against all
# at once, which a new one is given.
