"""
Come from scikit-learn, umap-learn or a MATLAB toolbox
======================================================

What you call there has a name here, or there is a reason why it has none. The tables say which; below each of them
the translation is run beside the original, or checked where the original cannot run. One thing is different
throughout: what is learned is a polynomial, so new samples are placed by a formula, and the training samples need
not be kept.
"""

# %%
# From scikit-learn
# -----------------
#
# A ``graph`` is a parameter of :class:`polyfold.PolynomialEmbedding`, and says what is kept of the samples.
#
# .. list-table::
#    :header-rows: 1
#    :widths: 50 50
#
#    * - scikit-learn
#      - polyfold
#    * - ``LocallyLinearEmbedding()``
#      - :class:`NPPE() <polyfold.NPPE>`, or ``graph="lle"``
#    * - ``method="modified"``, ``"ltsa"``, ``"hessian"``
#      - ``graph="mlle"``, ``"ltsa"``, ``"hessian"``
#    * - ``Isomap()``
#      - ``graph="isomap"``
#    * - ``SpectralEmbedding()``
#      - ``graph="laplacian_binary"``
#    * - ``SpectralEmbedding(affinity="rbf")``
#      - ``graph=rbf_kernel(X)``
#    * - ``TSNE()``, ``MDS()`` and the rest
#      - :class:`ExplicitEmbedding(TSNE()) <polyfold.ExplicitEmbedding>`
#    * - ``PCA()``
#      - linear maps that look at neighbours: :class:`NPE() <polyfold.NPE>`, :class:`LPP() <polyfold.LPP>`,
#        :class:`LLTSA() <polyfold.LLTSA>`
#    * - ``fit_transform``, ``embedding_``, ``n_components``, ``n_neighbors``, ``n_jobs``
#      - the same
#    * - ``transform``, which ``SpectralEmbedding`` and ``TSNE`` do not have
#      - ``transform``, of every estimator
#    * - ``reg``, ``eigen_solver``, ``tol``, ``max_iter``
#      - none; ``alpha``, the ridge of the polynomial, is chosen automatically
#    * - ``neighbors_algorithm``, ``metric``
#      - ``neighbors``: ``"exact"``, ``"approx"`` or a neighbours transformer
#    * - ``reconstruction_error_``
#      - ``eigenvalues_``, and ``diagnostics_`` for how it does on held-out samples
#
# More on what differs in each is in :doc:`/family`. Side by side on the Swiss roll, by the residual variance of
# unseen samples (0 is a perfect unrolling), and by what has to be kept to place them:
import pickle
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.io import loadmat, savemat
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.neighbors import KNeighborsTransformer

from polyfold import NPE, NPPE, ExplicitEmbedding, PolynomialEmbedding, PolynomialMap
from polyfold.datasets import make_swiss_roll
from polyfold.metrics import residual_variance
from polyfold.plotting import plot_embedding

X, Z = make_swiss_roll(1000, random_state=0)
unseen, truth = make_swiss_roll(2000, random_state=1)
lle = {"n_neighbors": 10, "random_state": 0}
pairs = {
    "LLE": (LocallyLinearEmbedding(**lle), NPPE(n_neighbors=10)),
    "modified LLE": (
        LocallyLinearEmbedding(method="modified", **lle),
        PolynomialEmbedding(graph="mlle", n_neighbors=10),
    ),
    "LTSA": (LocallyLinearEmbedding(method="ltsa", **lle), PolynomialEmbedding(graph="ltsa", n_neighbors=10)),
    "Isomap": (Isomap(n_neighbors=8), PolynomialEmbedding(graph="isomap", n_neighbors=8)),
    "PCA, NPE": (PCA(n_components=2), NPE(n_neighbors=10)),
}
placed = {}
print(f"{'':<13} {'scikit-learn':>22} {'polyfold':>22}")
for name, (theirs, ours) in pairs.items():
    placed[name] = theirs.fit(X).transform(unseen), ours.fit(X).transform(unseen)
    rhos = [residual_variance(Y, truth) for Y in placed[name]]
    kept = len(pickle.dumps(theirs)) / 1000, len(pickle.dumps(ours.map_)) / 1000
    print(f"{name:<13}", *(f"{rho:9.4f} {size:9.1f} kB" for rho, size in zip(rhos, kept, strict=True)))

# %%
# Linear methods do not unroll it, whoever computes them. Where data are flat but tilted, they suffice.
figure, panels = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
pictures = {
    "LocallyLinearEmbedding": placed["LLE"][0],
    "NPPE": placed["LLE"][1],
    "Isomap": placed["Isomap"][0],
    "the graph isomap": placed["Isomap"][1],
}
for panel, (title, Y) in zip(panels, pictures.items(), strict=True):
    plot_embedding(Y, truth[:, 0], size=3, color_label="along the roll", legend=panel is panels[-1], ax=panel)
    panel.set_title(title, fontsize="medium")

# %%
# A ``PCA`` that is fitted already, or any other affine map, needs no translation: it is a polynomial of degree 1,
# and as a :class:`polyfold.PolynomialMap` it can be written as SQL, C, ONNX or JSON.


def take_affine(mean, matrix):
    """Return the map that subtracts a mean and multiplies with a matrix."""
    offset = np.zeros(matrix.shape[1])
    return PolynomialMap(shift=mean, scale=1.0, basis="hadamard", degree=1, coefficients=matrix, offset=offset)


pca = pairs["PCA, NPE"][0]
affine = take_affine(pca.mean_, pca.components_.T)
print(affine)
print("as PCA places them:", np.allclose(affine.transform(unseen), pca.transform(unseen), rtol=0, atol=1e-12))

# %%
# From umap-learn
# ---------------
#
# .. list-table::
#    :header-rows: 1
#    :widths: 30 70
#
#    * - umap-learn
#      - polyfold
#    * - ``n_neighbors``, ``n_components``
#      - the same
#    * - ``min_dist``, ``spread``
#      - none: coordinates solve an eigenproblem, and are no layout whose gaps can be tuned
#    * - ``metric``
#      - ``neighbors``, a neighbours transformer with that metric: it decides who is a neighbour; what is kept of
#        neighbours is measured in the columns all the same
#    * - ``transform``
#      - ``transform``, and ``map_.transform`` where no training data are to be had; a sample gets the same place
#        alone and in any batch
#    * - ``inverse_transform``
#      - ``inverse_transform``, of what was fitted with ``fit_inverse_transform=True``
#    * - ``update``
#      - ``partial_fit``, from the first batch on: :doc:`/scale`
#    * - ``AlignedUMAP``
#      - ``map_.align_to``, afterwards
#    * - ``ParametricUMAP``
#      - ``ExplicitEmbedding(UMAP())``: the same layout, by a polynomial in place of a network
#    * - a target ``y``, ``densmap``, ``n_epochs``, ``learning_rate``, ``init``, ``negative_sample_rate``
#      - none; with labels ``graph=W`` can say which samples belong together
#
# If it is UMAP's picture that you want, keep UMAP and give it a map, ``ExplicitEmbedding(UMAP(min_dist=0.5))``:
# :doc:`/any-learner` measures how faithful such maps are, and when they blur. If it is coordinates, translate:
by_city_block = KNeighborsTransformer(n_neighbors=10, metric="manhattan")
translated = NPPE(neighbors=by_city_block, fit_inverse_transform=True).fit(X)
Y = translated.transform(unseen)
back = translated.inverse_transform(Y)
print(f"neighbours by another metric: residual variance {residual_variance(Y, truth):.4f}")
off, width = np.linalg.norm(back - unseen, axis=1).mean(), np.ptp(X, axis=0).max()
print(f"there and back: off by {off:.2f} on average, in a roll {width:.0f} wide")

# %%
# From MATLAB's toolbox for dimensionality reduction
# --------------------------------------------------
#
# The functions are those of drtoolbox 0.8 by Laurens van der Maaten.
#
# .. list-table::
#    :header-rows: 1
#    :widths: 50 50
#
#    * - drtoolbox
#      - polyfold
#    * - ``compute_mapping(X, 'LLE', 2, 12)``
#      - ``NPPE(2, n_neighbors=12)``
#    * - ``'LTSA'``, ``'HessianLLE'``, ``'Laplacian'``, ``'DiffusionMaps'``
#      - ``graph="ltsa"``, ``"hessian"``, ``"laplacian"``, ``"diffusion"``
#    * - ``'Isomap'``, ``'LandmarkIsomap'``
#      - ``graph="isomap"``; with landmarks where there are more than 3,000 samples
#    * - ``'NPE'``, ``'LPP'``
#      - ``NPE(center=False)``, ``LPP(center=False)``: these two solve without centring the samples there
#    * - ``'LLTSA'``
#      - :class:`LLTSA() <polyfold.LLTSA>`
#    * - ``'MVU'``, ``'tSNE'``, ``'Sammon'`` and the rest
#      - ``ExplicitEmbedding("precomputed")``, fitted to ``X`` and the coordinates from MATLAB
#    * - ``k``, 12 unless given
#      - ``n_neighbors``, ``"auto"`` unless given
#    * - ``sigma`` of heat kernels, 1 unless given
#      - chosen from the distances of neighbours
#    * - ``out_of_sample(points, mapping)``
#      - ``transform``. There it is ``(points - mapping.mean) * mapping.M`` for linear methods, and for LLE, Isomap
#        and Laplacian a search of the training samples, which ``mapping`` holds
#    * - ``out_of_sample_est(points, X, mappedX)``
#      - ``ExplicitEmbedding("precomputed")``, a polynomial; there each sample follows its nearest training sample
#
# Data come by ``loadmat``. Here a file is written first, as MATLAB would by ``save('run.mat', 'X', 'mappedX',
# 'mapping', '-v7')``; in the place of what a run left there are Isomap's coordinates, and PCA's mean and axes.
# (Files of ``-v7.3`` are HDF5, which ``loadmat`` does not read.)
folder = tempfile.TemporaryDirectory()
run = Path(folder.name) / "run.mat"
mapping = {"name": "PCA", "mean": pca.mean_[np.newaxis], "M": pca.components_.T}
savemat(run, {"X": X, "mappedX": pairs["Isomap"][0].embedding_, "mapping": mapping})

# %%
# Coordinates that MATLAB computed get a map, and a ``mapping`` of a linear method is one:
found = loadmat(run, simplify_cells=True)
explicit = ExplicitEmbedding("precomputed", degree=3).fit(found["X"], found["mappedX"])
print("faithful to mappedX, R² of samples left out:", explicit.diagnostics_.left_out_r2.round(3))
print(f"residual variance of unseen samples: {residual_variance(explicit.transform(unseen), truth):.4f}")

linear = take_affine(found["mapping"]["mean"], found["mapping"]["M"])
print("as PCA places them:", np.allclose(linear.transform(unseen), pca.transform(unseen), rtol=0, atol=1e-12))

# %%
# Run a map in MATLAB
# -------------------
#
# A map is six arrays. Each row of ``monomials`` lists the variables that are multiplied, from 1 as MATLAB counts,
# with zeros where there are fewer. This one is of 64 pixels, and goes through principal axes; a map without
# ``axes`` is saved with the identity.
images, _ = load_digits(return_X_y=True)
learned = PolynomialEmbedding(3, graph="isomap").fit(images[:1000]).map_
monomials = np.zeros((learned.n_features, learned.degree))
for row, variables in zip(monomials, learned.monomials, strict=True):
    row[: len(variables)] = np.add(variables, 1)
arrays = {
    "shift": learned.shift[np.newaxis],
    "scale": learned.scale,
    "axes": np.eye(learned.n_inputs) if learned.axes is None else learned.axes,
    "monomials": monomials,
    "weights": learned.weights,
    "offset": learned.offset[np.newaxis],
}
saved = Path(folder.name) / "map.mat"
savemat(saved, arrays)
print(f"{saved.name}: {saved.stat().st_size / 1000:.0f} kB")

# %%
# In MATLAB (R2016b or newer), or in Octave, these lines place the rows of X:
#
# .. code-block:: matlab
#
#    m = load('map.mat');
#    z = (X - m.shift) / m.scale * m.axes;
#    Y = repmat(m.offset, size(X, 1), 1);
#    for f = 1:size(m.monomials, 1)
#        variables = m.monomials(f, m.monomials(f, :) > 0);
#        Y = Y + prod(z(:, variables), 2) * m.weights(f, :);
#    end
#
# MATLAB does not run where this page is built; GNU Octave 7.3 did when it was written, and agreed with
# ``transform`` to rounding. The same arithmetic in NumPy, from the file:
m = loadmat(saved)
z = (images[1000:] - m["shift"]) / m["scale"] @ m["axes"]
Y = np.repeat(m["offset"], len(z), axis=0)
for factors, weights in zip(m["monomials"].astype(int), m["weights"], strict=True):
    Y += np.prod(z[:, factors[factors > 0] - 1], axis=1, keepdims=True) * weights
expected = learned.transform(images[1000:])
difference = np.abs(Y - expected).max() / np.abs(expected).max()
print(f"{len(Y)} unseen images, within 1e-12 of transform: {difference < 1e-12}")
folder.cleanup()
