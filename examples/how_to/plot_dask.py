"""
Learn from data larger than memory with Dask
============================================

A map is solved from sums over samples, so it can be learned a block at a time from data larger than memory. Give
``fit`` a Dask collection instead of an array: parameters and report are the same, what it returns is lazy, and the
map is the same as long as neighbours are looked for among all rows.
"""

# %%
# A collection that is never whole
# --------------------------------
#
# Each block of this array comes from a function, as from a file, whenever somebody asks for it. 100,000 rows stand
# for many more. (Of files: ``dask.array.from_zarr``, ``dask.dataframe.read_parquet``.)
import tempfile
from pathlib import Path

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from polyfold import NPPE
from polyfold.datasets import make_swiss_roll
from polyfold.metrics import residual_variance
from polyfold.plotting import plot_embedding

BLOCKS, ROWS = 10, 10_000
reads = []  # one entry for each time that a block is made


def read_block(block_info=None):
    """Return one block of samples, as a file would hold it."""
    number = block_info[None]["chunk-location"][0]
    reads.append(number)
    return make_swiss_roll(ROWS, random_state=number)[0]


X = da.map_blocks(read_block, chunks=((ROWS,) * BLOCKS, (3,)), dtype=float, meta=np.empty((0, 3)))
print(X)

# %%
# Fit
# ---
#
# Dask's threads in this process do the work. The samples are read three times: for their moments, for the scale of
# the monomials, and for the sums that the map is solved from.
embedding = NPPE(n_neighbors=10).fit(X)
print(embedding.map_)
print(f"times that each block was read: {np.bincount(reads)}")
print()
print(embedding.diagnostics_)

# %%
# Where a client is connected, by ``client = dask.distributed.Client(address)``, the workers of its cluster do it
# instead; not a line changes.
#
# Columns of different units are standardised first, and by Dask, since ``StandardScaler`` would load all samples:
# ``X = (X - X.mean(axis=0)) / X.std(axis=0)``.
#
# Place and write, block by block
# -------------------------------
#
# ``transform`` returns a lazy array with the same blocks, and computes nothing. Writing it places one block after
# the other; here each becomes a file. The map itself, a few kilobytes, is kept as any other is, and places rows
# without Dask too.
reads.clear()
placed = embedding.transform(X)
print(placed)
print("blocks read so far:", len(reads))
with tempfile.TemporaryDirectory() as folder:
    da.to_npy_stack(folder, placed)
    files = sorted(Path(folder).glob("*.npy"))
    print(f"{len(files)} files of {files[0].stat().st_size / 1000:.0f} kB; blocks read: {len(reads)}")
    first = np.load(Path(folder) / "0.npy")

held, truth = make_swiss_roll(ROWS, random_state=0)  # the first block once more
print("the first file is what the map says:", np.array_equal(first, embedding.map_.transform(held)))

# %%
# To keep a key beside the coordinates, place the parts of a Dask data frame one by one: :doc:`/scale` has the
# lines.
#
# The same map as in memory
# -------------------------
#
# These samples fit into memory, so the two can be compared: by the residual variance of unseen samples, 0 being a
# perfect unrolling, and by the coordinates themselves. ``align_to`` brings a map to the axes of another, and what
# differs after that is really different, here in units of the largest coordinate.
unseen, unseen_truth = make_swiss_roll(5000, random_state=BLOCKS)
in_memory = NPPE(n_neighbors=10).fit(X.compute()).map_
expected = in_memory.transform(unseen)
differences = {}


def compare(name, learned):
    """Print how well a map unrolls, and how far it is from the one in memory."""
    aligned = learned.align_to(in_memory, unseen).transform(unseen)
    differences[name] = np.abs(aligned - expected).max() / np.abs(expected).max()
    rho = residual_variance(learned.transform(unseen), unseen_truth)
    print(f"{name:<24} {rho:17.4f} {differences[name]:23.1e}")


print(f"{'':<24} {'residual variance':>17} {'largest difference':>23}")
print(f"{'in memory':<24} {residual_variance(expected, unseen_truth):17.4f}")
compare("by Dask", embedding.map_)

# %%
# Fewer samples to look for neighbours among
# ------------------------------------------
#
# Every sample is visited, but its neighbours are looked for in a reference set, of which each worker holds an
# index. Up to a million samples of few columns are all in it, and the fit is exact, as above. Of more, or with
# ``reference_size``, so many are drawn, the same ones whatever the blocks. A smaller set takes less memory and
# time, and gives another map; if it were very different, ``align_to`` would warn.
for size in (1000, 3000, 10_000, 30_000):
    compare(f"reference_size={size}", NPPE(n_neighbors=10, reference_size=size).fit(X).map_)

# %%
# A stream
# --------
#
# What comes once and is gone is learned by ``partial_fit``. The first batch fixes mean, scale and the reference
# set, so it should show the shape of all that follows: of data in some order, begin with a sample of them.
stream = NPPE(n_neighbors=10)
for block in X.blocks:
    stream.partial_fit(block.compute())
compare("stream", stream.map_)

# %%
# Look at it
# ----------
#
# On the left the first file, coloured by how far along the roll a sample lies. On the right how far maps of
# smaller reference sets are from the one in memory; with all samples in the set it is rounding. One draw of a
# reference set is luckier than another, so the line need not fall at every step.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
plot_embedding(first, truth[:, 0], size=2, color_label="along the roll", ax=left)
left.set_title("10,000 of 100,000 rows, placed by Dask")
sizes = {int(name.split("=")[1]): each for name, each in differences.items() if "=" in name}
right.loglog(list(sizes), list(sizes.values()), "o-", label="reference_size")
right.axhline(differences["stream"], color="tab:orange", linestyle="--", label="stream, first batch of 10,000")
right.set_ylim(bottom=1e-3)
right.set(xlabel="samples in the reference set", ylabel="largest difference, in largest coordinates")
right.set_title("how far from the map in memory")
_ = right.legend()

# %%
# At the keyboard
# ---------------
#
# ``polyfold fit 'data/*.parquet' -o map.safetensors`` learns from files in the same way, with a worker for each
# processor, and ``polyfold transform`` places them, in one process and bounded memory: :doc:`/command-line`. What
# a fit of ten million rows takes, and what one of a billion would cost, is in :doc:`/scale`.
