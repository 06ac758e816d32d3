"""What must be kept to place new samples, and what else the libraries of docs/comparison.toml do: measured.

    python benchmarks/peers.py [--toml] [--only NAME ...]

Each library that is installed learns two coordinates of 1,000 of scikit-learn's digits (64 columns), and of 1,500,
with its defaults, a seed where it takes one, and places the last 20 digits. Prints a table:

kept            bytes that must be kept to place new samples: the file or the pickle of what is fitted (of a neural
                network that alone), and the training samples where they are to be given again
kept, 1,500     the same for 1,500 training samples
grows           yes where the second is more than a tenth larger: it keeps samples, or something for each
in a batch      the largest difference of a coordinate between 20 samples placed together and one by one, over the
                range of the 20; 0 is none
again           the same between two calls with the 20
sparse          whether `fit` takes a scipy.sparse matrix
inverse         whether there is an `inverse_transform`, and it gives back 64 columns for the 20

`--toml` prints the figures as docs/comparison.toml has them, `--verbose` says why something does not run. What is
not installed is named at the end. Needs any of umap-learn (and tensorflow for ParametricUMAP), openTSNE, pacmap,
tapkee, torchdr (and matplotlib), datafold. As of 2.0 datafold wants an older scikit-learn than polyfold: it is
measured by a run in an environment of its own, where polyfold is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import logging
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

N_PLACED = 20
GROWTH = 1.1
WIDTHS = 100, 100, 100  # of ParametricUMAP's network, and so of TorchDR's here


@dataclass
class Peer:
    """A learner: how it is fitted, places samples, goes back, and what of it must be kept."""

    name: str
    distribution: str
    modules: tuple[str, ...]
    fit: Callable
    place: Callable | None = lambda model, X, train: model.transform(X)
    keep: Callable = lambda model, train: len(pickle.dumps(model))
    invert: Callable = lambda model, Y: model.inverse_transform(Y)


def count_files(write):
    """Return the bytes of the files that `write` makes in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def fit_polyfold(X):
    from polyfold import NPPE

    return NPPE().fit(X)


def invert_polyfold(model, Y):
    from polyfold import NPPE

    return NPPE(fit_inverse_transform=True).fit(load_digits().data[:1000]).inverse_transform(Y)


def fit_isomap(X):
    from sklearn.manifold import Isomap

    return Isomap().fit(X)


def fit_lle(X):
    from sklearn.manifold import LocallyLinearEmbedding

    return LocallyLinearEmbedding(random_state=0).fit(X)


def fit_umap(X):
    from umap import UMAP

    return UMAP(random_state=0).fit(X)


def fit_parametric(X):
    from umap.parametric_umap import ParametricUMAP

    return ParametricUMAP(random_state=0, verbose=False, keras_fit_kwargs={"verbose": 0}).fit(X)


def keep_parametric(model, train):
    """Return the bytes of the network, which is all that places samples."""
    return count_files(lambda folder: model.encoder.save(folder / "encoder.keras"))


def fit_tsne(X):
    from openTSNE import TSNE

    return TSNE(random_state=0).fit(X)


def fit_pacmap(X):
    from pacmap import PaCMAP

    model = PaCMAP(random_state=0, save_tree=True)  # or else the training samples are to be given again
    model.fit(X, save_pairs=False)  # pairs are for fitting
    return model


def keep_pacmap(model, train):
    from pacmap.pacmap import save

    return count_files(lambda folder: save(model, str(folder / "model")))


def fit_torchdr(X):
    from torchdr import UMAP

    return fit_torch(UMAP(random_state=0), X)


def fit_torchdr_network(X):
    from torch import manual_seed, nn
    from torchdr import UMAP

    manual_seed(0)
    sizes = X.shape[1], *WIDTHS
    layers = [layer for pair in zip(sizes, WIDTHS, strict=False) for layer in (nn.Linear(*pair), nn.ReLU())]
    encoder = nn.Sequential(*layers, nn.Linear(WIDTHS[-1], 2))
    return fit_torch(UMAP(random_state=0, encoder=encoder, optimizer="Adam", lr=1e-3), X)


def fit_torch(model, X):
    model.fit_transform(X if hasattr(X, "tocsr") else X.astype(np.float32))
    return model


def place_torchdr(model, X, train):
    return model.transform(X.astype(np.float32), X_train=train.astype(np.float32))


def keep_torchdr(model, train):
    """Return the bytes of the model and of the training samples, which `transform` asks for."""
    return len(pickle.dumps(model)) + train.astype(np.float32).nbytes


def fit_datafold(X):
    from datafold.dynfold import DiffusionMaps
    from datafold.pcfold import GaussianKernel, PCManifold

    dense = X.toarray() if hasattr(X, "toarray") else X
    guess = PCManifold(dense)
    guess.optimize_parameters(random_state=0)
    model = DiffusionMaps(GaussianKernel(epsilon=guess.kernel.epsilon), n_eigenpairs=3).fit(X)
    return model.set_target_coords([1, 2])  # the first is constant


def fit_tapkee(X):
    import tapkee

    return tapkee.embed(X.T, method="npe", num_neighbors=10)


def find_peers():
    return [
        Peer("polyfold NPPE", "polyfold", ("polyfold",), fit_polyfold, keep=keep_map, invert=invert_polyfold),
        Peer("scikit-learn Isomap", "scikit-learn", ("sklearn",), fit_isomap),
        Peer("scikit-learn LocallyLinearEmbedding", "scikit-learn", ("sklearn",), fit_lle),
        Peer("umap-learn UMAP", "umap-learn", ("umap",), fit_umap),
        Peer(
            "umap-learn ParametricUMAP",
            "umap-learn",
            ("umap", "tensorflow"),
            fit_parametric,
            keep=keep_parametric,
        ),
        Peer("openTSNE", "openTSNE", ("openTSNE",), fit_tsne),
        Peer("PaCMAP", "pacmap", ("pacmap",), fit_pacmap, keep=keep_pacmap),
        Peer("tapkee NPE", "tapkee", ("tapkee",), fit_tapkee, place=None),
        Peer("TorchDR UMAP", "torchdr", ("torchdr",), fit_torchdr, place_torchdr, keep_torchdr),
        Peer(
            "TorchDR UMAP with a network",
            "torchdr",
            ("torchdr",),
            fit_torchdr_network,
            lambda model, X, train: model.transform(X.astype(np.float32)),
            lambda model, train: len(pickle.dumps(model.encoder)),
        ),
        Peer("datafold DiffusionMaps", "datafold", ("datafold",), fit_datafold),
    ]


def keep_map(model, train):
    return count_files(lambda folder: model.map_.save(folder / "map.safetensors"))


def find_missing(peer):
    """Return what keeps a learner from being measured here, or None."""
    try:
        for module in peer.modules:
            importlib.import_module(module)
        version(peer.distribution)
    except (ImportError, PackageNotFoundError) as error:
        return str(error)
    return None


def measure_placing(peer, model, train, unseen):
    """Return the largest differences between a batch and single rows, and between two calls, over the range."""
    place = lambda X: np.asarray(peer.place(model, X, train), dtype=float)  # noqa: E731
    together, again = place(unseen), place(unseen)
    alone = np.vstack([place(row[None]) for row in unseen])
    spread = np.ptp(together, axis=0)
    return (abs(alone - together) / spread).max(), (abs(again - together) / spread).max(), together


def runs(function):
    """Return whether a call works: some libraries refuse what they do not take, others fail within."""
    try:
        function()
    except Exception as error:
        logging.getLogger(__name__).info("%s: %s", type(error).__name__, error)
        return False
    return True


def check_inverse(peer, model, Y):
    if np.shape(peer.invert(model, Y)) != (len(Y), 64):
        raise ValueError("not 64 columns")


def measure(peer):
    X = load_digits().data
    train, more, unseen = X[:1000], X[:1500], X[-N_PLACED:]
    model = peer.fit(train)
    figures = {"library": peer.name, "version": version(peer.distribution)}
    if peer.place is not None:
        kept, kept_more = peer.keep(model, train), peer.keep(peer.fit(more), more)
        batch, again, Y = measure_placing(peer, model, train, unseen)
        figures |= {"kept_kb": kept / 1000, "kept_kb_1500": kept_more / 1000, "grows": kept_more > GROWTH * kept}
        figures |= {"batch_difference": batch, "repeat_difference": again}
    figures["sparse"] = runs(lambda: peer.fit(csr_matrix(train)))
    figures["inverse"] = peer.place is not None and runs(lambda: check_inverse(peer, model, Y))
    return figures


def show_size(value):
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


FORMATS = {
    "kept_kb": ("kept, kB", show_size),
    "kept_kb_1500": ("kept, 1,500, kB", show_size),
    "grows": ("grows", lambda value: "yes" if value else "no"),
    "batch_difference": ("in a batch", "{:.0e}".format),
    "repeat_difference": ("again", "{:.0e}".format),
    "sparse": ("sparse", lambda value: "yes" if value else "no"),
    "inverse": ("inverse", lambda value: "yes" if value else "no"),
}


def print_table(rows):
    print(f"| library | version | {' | '.join(title for title, _ in FORMATS.values())} |")
    print("|---" * (len(FORMATS) + 2) + "|")
    for row in rows:
        cells = [show(row[key]) if key in row else "–" for key, (_, show) in FORMATS.items()]
        print(f"| {row['library']} | {row['version']} | {' | '.join(cells)} |")


def write_value(value):
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.1f}" if value >= 1 else f"{value:.1e}" if value else "0.0"


def print_toml(rows):
    for row in rows:
        print("\n[[checked.measured]]")
        print("\n".join(f"{key} = {write_value(value)}" for key, value in row.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toml", action="store_true", help="print the figures as docs/comparison.toml has them")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="parts of the names to measure")
    parser.add_argument("--verbose", action="store_true", help="say why something does not run")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.basicConfig(level=logging.INFO)
    logging.disable(logging.NOTSET if arguments.verbose else logging.CRITICAL)
    rows, missing = [], {}
    for peer in find_peers():
        if arguments.only and not any(part.lower() in peer.name.lower() for part in arguments.only):
            continue
        if reason := find_missing(peer):
            missing[peer.name] = reason
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            rows.append(measure(peer))
    (print_toml if arguments.toml else print_table)(rows)
    for name, reason in missing.items():
        print(f"\n{'# ' if arguments.toml else ''}Not measured: {name} ({reason})")


if __name__ == "__main__":
    main()
