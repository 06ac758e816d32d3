"""What is measured: each suite yields figures, and curves to draw."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from operator import matmul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold.bench.report import Curve, Figure
from polyfold.bench.timing import measure_peak, run_script, time_import, time_once, time_side_by_side
from polyfold.polymap import PolynomialMap

#: What a suite yields.
Result = Figure | Curve


@dataclass(frozen=True)
class Bench:
    """How much is measured.

    Attributes
    ----------
    repeats : int
        Of which the best counts; what takes seconds is repeated less often.
    quick : bool
        Smaller data, and fewer peers.
    say : callable
        Told what is left out.
    """

    repeats: int = 7
    quick: bool = False
    say: Callable[[str], None] = lambda message: None

    def has(self, module: str) -> bool:
        """Say whether a peer is installed, and tell where it is not."""
        if find_spec(module) is None:
            self.say(f'{module} is not installed and left out: pip install "polyfold[bench]"')
            return False
        return True


def make_sheet(n_samples: int, n_columns: int, dtype: Any = np.float64) -> NDArray[Any]:
    """Return samples near a curved sheet of five dimensions."""
    random = np.random.default_rng(0)
    mixing = random.normal(size=(5, n_columns)) / 2
    X = np.empty((n_samples, n_columns), dtype=dtype)
    for start in range(0, n_samples, 10_000):
        rows = X[start : start + 10_000]
        rows[:] = np.tanh(random.normal(size=(len(rows), 5)) @ mixing)
        rows += 0.02 * random.normal(size=rows.shape)
    return X


def learn_map(n_columns: int, degree: int = 2) -> PolynomialMap:
    """Return a map without cross terms and 16 coordinates; powers above 2 are added to a fitted one."""
    from polyfold import SNPPE

    n_outputs = min(16, 2 * n_columns)
    model = SNPPE(n_outputs, n_neighbors=15, alpha=1e-3, coordinates="smallest")
    learned = model.fit(make_sheet(2500, n_columns)).map_
    if degree == 2:
        return learned
    small = (
        0.01 * np.random.default_rng(0).normal(size=(n_columns, n_outputs)) * np.abs(learned.coefficients).mean()
    )
    return replace(learned, degree=3, coefficients=np.concatenate([learned.coefficients, small]))


def take_outputs(learned: PolynomialMap, number: int) -> PolynomialMap:
    """Return the map to the first coordinates only."""
    return replace(learned, coefficients=learned.coefficients[:, :number], offset=learned.offset[:number])


def compare_transform(bench: Bench) -> Iterator[Result]:
    """Compare a map without cross terms with the matrix product of the same shape, and with itself."""
    sizes = {3: 1_000_000, 64: 100_000 if bench.quick else 1_000_000, 784: 10_000 if bench.quick else 100_000}
    for n_columns, n_samples in sizes.items():
        quadratic, cubic = learn_map(n_columns), learn_map(n_columns, 3)
        for dtype in (np.float32, np.float64):
            X = make_sheet(n_samples, n_columns, dtype)
            for n_outputs in (2, 3) if n_columns == 3 else (2, 3, 16):
                U = np.random.default_rng(0).normal(size=(n_columns, n_outputs)).astype(dtype)
                second, third = take_outputs(quadratic, n_outputs), take_outputs(cubic, n_outputs)
                seconds = time_side_by_side(
                    {
                        "product": partial(matmul, X, U),
                        "copy": X.copy,
                        "second": partial(second.transform, X),
                        "third": partial(third.transform, X),
                    },
                    bench.repeats,
                )
                case = f"{n_samples:,}×{n_columns} {dtype.__name__} → {n_outputs}"
                limit = 1.5 if n_columns == 3 or n_outputs == 16 else 1.0
                yield Figure("transform", f"SNPPE, {case}", "X @ U", seconds["second"], seconds["product"], limit)
                yield Figure("transform", f"SNPPE, {case}", "copy of X", seconds["second"], seconds["copy"])
                yield Figure("degree", f"degree 3, {case}", "degree 2", seconds["third"], seconds["second"], 1.5)
            del X


def compare_estimator(bench: Bench) -> Iterator[Result]:
    """Compare the estimator with its map, reduced columns with a matrix product, and one row with a product."""
    from polyfold import NPPE, SNPPE

    for n_columns in (3, 64):
        model = SNPPE(n_neighbors=15, alpha=1e-3).fit(make_sheet(1500, n_columns))
        for n_samples in (1, 1000, 100_000):
            X = make_sheet(n_samples, n_columns)
            seconds = time_side_by_side(
                {
                    "map": partial(model.map_.transform, X),
                    "estimator": partial(model.transform, X),
                },
                bench.repeats,
            )
            case = f"estimator, {n_samples:,}×{n_columns}"
            yield Figure("estimator", case, "its map", seconds["estimator"], seconds["map"], 1.3)
    row = make_sheet(1, 64)
    U = np.ones((64, 2))
    seconds = time_side_by_side({"x @ U": partial(matmul, row, U), "map": partial(model.map_.transform, row)}, 50)
    yield Figure("one row", "SNPPE, 1×64 → 2", "x @ U", seconds["map"], seconds["x @ U"])
    yield Figure("one row", "SNPPE, 1×64 → 2", "30 µs", seconds["map"], 30e-6, 1.0)

    reduced = NPPE(reduce=30, n_neighbors=15, alpha=1e-3).fit(make_sheet(1500, 784)).map_
    for dtype in (np.float32, np.float64):
        X = make_sheet(10_000 if bench.quick else 50_000, 784, dtype)
        U = np.ones((784, 30), dtype=dtype)
        seconds = time_side_by_side(
            {"product": partial(matmul, X, U), "map": partial(reduced.transform, X)}, bench.repeats
        )
        case = f"NPPE, {len(X):,}×784 {dtype.__name__} → 30 axes → 2"
        yield Figure("reduction", case, "X @ U, U 784×30", seconds["map"], seconds["product"], 2.0)


def compare_learners(bench: Bench) -> Iterator[Result]:
    """Place 10,000 new samples of a Swiss roll, after training on 1,000, with every learner that can."""
    from sklearn.decomposition import PCA, KernelPCA
    from sklearn.manifold import Isomap, LocallyLinearEmbedding

    import polyfold
    from polyfold.datasets import make_swiss_roll

    X, _ = make_swiss_roll(1000, random_state=0)
    unseen, _ = make_swiss_roll(10_000, random_state=1)
    ours = {"NPPE": polyfold.NPPE(n_neighbors=10).fit(X), "SNPPE": polyfold.SNPPE(n_neighbors=10).fit(X)}
    peers: dict[str, tuple[Any, float | None]] = {
        "scikit-learn LLE": (LocallyLinearEmbedding(n_neighbors=10, random_state=0), 1 / 1000),
        "scikit-learn MLLE": (LocallyLinearEmbedding(n_neighbors=10, method="modified", random_state=0), None),
        "scikit-learn Isomap": (Isomap(n_neighbors=10), 1 / 1000),
        "scikit-learn KernelPCA": (KernelPCA(2, kernel="rbf"), None),
        "scikit-learn PCA": (PCA(2), None),
        "polyfold NPE": (polyfold.NPE(n_neighbors=10), None),
        "polyfold ONPP": (polyfold.ONPP(n_neighbors=10), None),
        "polyfold KernelExtrapolation": (polyfold.KernelExtrapolation(), None),
        "polyfold NystromExtension": (polyfold.NystromExtension(n_neighbors=10), None),
    }
    fitted = {name: (model.fit(X).transform, target) for name, (model, target) in peers.items()}
    if not bench.quick:
        fitted |= _fit_slow_learners(bench, X)
    for name, (transform, target) in fitted.items():
        slow = "UMAP" in name or "openTSNE" in name
        seconds = time_side_by_side(
            {
                "theirs": partial(transform, unseen),
                **{each: partial(model.transform, unseen) for each, model in ours.items()},
            },
            2 if slow else bench.repeats,
        )
        for each in ours:
            yield Figure("new samples", f"{each}, 10,000×3", name, seconds[each], seconds["theirs"], target)


def _fit_slow_learners(bench: Bench, X: NDArray[Any]) -> dict[str, tuple[Callable[[Any], Any], float | None]]:
    learners: dict[str, tuple[Callable[[Any], Any], float | None]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if bench.has("umap"):
            learners["UMAP"] = (load_umap()(n_neighbors=10, random_state=0).fit(X).transform, 1 / 20_000)
        if bench.has("openTSNE"):
            from openTSNE import TSNE

            learners["openTSNE"] = (TSNE(random_state=0, n_jobs=-1).fit(X).transform, None)
    return learners


def load_umap() -> Any:
    """Import UMAP, which warns of what it does without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from umap import UMAP
    return UMAP


def compare_fit(bench: Bench) -> Iterator[Result]:
    """Compare fits with the neighbour search alone and with other learners, and see how time grows."""
    from sklearn.manifold import Isomap, LocallyLinearEmbedding

    from polyfold import NPPE
    from polyfold._neighbors import find_exact_neighbors
    from polyfold.datasets import make_swiss_roll

    sizes = (10_000, 30_000, 100_000) if bench.quick else (10_000, 30_000, 100_000, 300_000, 1_000_000)
    grown: list[float] = []
    for n_samples in sizes:
        X, _ = make_swiss_roll(n_samples, random_state=0)
        seconds = time_side_by_side(
            {
                "fit": partial(NPPE(n_neighbors=10, n_jobs=-1).fit, X),
                "tree": partial(_search_tree, X),
                "own": partial(find_exact_neighbors, X, 10, n_jobs=-1, verbose=0),
            },
            bench.repeats,
        )
        grown.append(seconds["fit"])
        limit = 1.5 if n_samples == 1_000_000 else None
        case = f"NPPE, {n_samples:,}×3, k = 10"
        yield Figure("fit", case, "k-NN, scipy's k-d tree", seconds["fit"], seconds["tree"])
        yield Figure("fit", case, "k-NN, polyfold's own", seconds["fit"], seconds["own"], limit)  # the quickest
    exponent = float(np.polyfit(np.log(sizes), np.log(grown), 1)[0])
    growth = f"NPPE, time ∝ N^ratio, {sizes[0]:,} to {sizes[-1]:,}"
    yield Figure("growth", growth, "N", exponent, 1.0, 1.15, unit="")
    yield Curve("fit against samples, 3 columns", "polyfold NPPE", sizes, tuple(grown))

    X, _ = make_swiss_roll(10_000 if bench.quick else 100_000, random_state=0)
    lle = LocallyLinearEmbedding(n_neighbors=10, random_state=0, n_jobs=-1)
    seconds = time_side_by_side({"fit": partial(NPPE(n_neighbors=10, n_jobs=-1).fit, X)}, bench.repeats)
    theirs = min(time_once(partial(lle.fit, X)) for _ in range(1 if bench.quick else 3))
    target = None if bench.quick else 1 / 25
    yield Figure("fit", f"NPPE, {len(X):,}×3, k = 10", "scikit-learn LLE", seconds["fit"], theirs, target)
    peers: dict[str, tuple[Callable[[], Any], int]] = {
        "scikit-learn LLE": (lambda: LocallyLinearEmbedding(n_neighbors=10, random_state=0), 30_000),
        "scikit-learn Isomap": (lambda: Isomap(n_neighbors=10), 3000),
    }
    if bench.has("umap"):
        peers["UMAP"] = (partial(load_umap(), n_neighbors=10), 1000 if bench.quick else 10_000)
    for name, (make, most) in peers.items():
        _fit_quietly(make(), 500)  # whatever is compiled or loaded at the first call
        shown = [size for size in (1000, 3000, *sizes) if size <= most]
        times = [time_once(partial(_fit_quietly, make(), size)) for size in shown]
        yield Curve("fit against samples, 3 columns", name, tuple(shown), tuple(times))
    yield from _grow_in_columns(bench)
    yield from _compare_fit_on_images(bench)


def _search_tree(X: NDArray[Any]) -> None:
    from scipy.spatial import cKDTree

    cKDTree(X).query(X, 11, workers=-1)


def _fit_quietly(model: Any, n_samples: int) -> None:
    from polyfold.datasets import make_swiss_roll

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(make_swiss_roll(n_samples, random_state=0)[0])


def _grow_in_columns(bench: Bench) -> Iterator[Result]:
    """Time fits and transforms against the number of columns."""
    from sklearn.decomposition import PCA

    from polyfold import NPPE

    widths = (4, 16, 64, 256) if bench.quick else (4, 16, 64, 256, 1024)
    fits, places, products, linear = [], [], [], []
    for n_columns in widths:
        X = make_sheet(4000, n_columns)
        U = np.ones((n_columns, 2))
        learned = NPPE(n_neighbors=15, n_jobs=-1).fit(X).map_
        seconds = time_side_by_side(
            {
                "fit": partial(NPPE(n_neighbors=15, n_jobs=-1).fit, X),
                "pca": partial(PCA(2).fit, X),
                "place": partial(learned.transform, X),
                "product": partial(matmul, X, U),
            },
            max(2, bench.repeats // 2),
        )
        fits.append(seconds["fit"])
        linear.append(seconds["pca"])
        places.append(seconds["place"])
        products.append(seconds["product"])
    panel = "4,000 samples against columns"
    yield Curve(panel, "polyfold NPPE, fit", widths, tuple(fits))
    yield Curve(panel, "scikit-learn PCA, fit", widths, tuple(linear))
    yield Curve(panel, "polyfold NPPE, transform", widths, tuple(places))
    yield Curve(panel, "X @ U", widths, tuple(products))


def _compare_fit_on_images(bench: Bench) -> Iterator[Result]:
    """Compare the fit of MNIST with the search of its neighbours in all columns."""
    from polyfold import NPPE
    from polyfold._index import build_index, find_others
    from polyfold.datasets import load_mnist

    if bench.quick or not bench.has("faiss"):
        return
    try:
        images, _ = load_mnist(subset="train")
    except (FileNotFoundError, ImportError, OSError) as error:
        bench.say(f"MNIST is left out: {error}")
        return
    X = np.ascontiguousarray(images.reshape(len(images), -1), dtype=np.float64)

    def search() -> None:
        index = build_index(X, n_jobs=-1, search="approx")
        find_others(index, X, 50, np.arange(len(X)), verbose=0)

    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            NPPE(n_jobs=-1).fit(X)

    seconds = time_side_by_side({"fit": fit, "search": search}, 2)
    yield Figure("fit", "NPPE, MNIST 60,000×784", "k-NN, faiss, k = 50", seconds["fit"], seconds["search"], 2.0)


def compare_imports(bench: Bench) -> Iterator[Result]:
    """Compare the import with that of what everyone has loaded."""
    peers = "import numpy, scipy.linalg, scipy.sparse, sklearn.base"
    theirs = time_import(peers, bench.repeats)
    ours = time_import("import polyfold", bench.repeats)
    estimator = time_import("from polyfold import NPPE", bench.repeats)
    yield Figure("import", "import polyfold", peers, max(ours, 1e-4), theirs, 1.3)
    yield Figure("import", "from polyfold import NPPE", peers, estimator, theirs)
    heavy = ["numba", "dask", "onnx", "plotly", "matplotlib", "faiss", "umap", "typer"]
    script = f"import sys; from polyfold import NPPE; print([each for each in {heavy} if each in sys.modules])"
    if (loaded := run_script(script).strip()) != "[]":
        bench.say(f"from polyfold import NPPE loads {loaded}")


#: A process that makes a map and samples, and places them where `call` is not empty.
_PLACE = """
import numpy as np
from polyfold import PolynomialMap
X = np.ones(({n_samples}, {n_columns}), dtype=np.{dtype}, order="{order}")
learned = PolynomialMap(np.zeros({n_columns}), 1.0, "hadamard", 2, np.ones((2 * {n_columns}, 2)), np.zeros(2))
learned.transform(X[:100])
{call}
"""


def measure_memory(bench: Bench) -> Iterator[Result]:
    """Measure what `transform` needs beside its input and output."""
    n_samples = 1_000_000 if bench.quick else 4_000_000
    for dtype, order in (("float64", "C"), ("float32", "C"), ("float64", "F"), ("int16", "C")):
        shape = {"n_samples": n_samples, "n_columns": 20, "dtype": dtype, "order": order}
        idle = measure_peak(_PLACE.format(call="", **shape))
        busy = measure_peak(_PLACE.format(call="learned.transform(X)", **shape))
        result = n_samples * 2 * (4 if dtype == "float32" else 8)
        case = f"transform, {n_samples:,}×20 {dtype}, order {order}"
        yield Figure("memory", case, "input + output + 64 MB", busy, idle + result + 64e6, 1.0, "B")


SUITES: dict[str, Callable[[Bench], Iterator[Result]]] = {
    "transform": compare_transform,
    "estimator": compare_estimator,
    "learners": compare_learners,
    "fit": compare_fit,
    "import": compare_imports,
    "memory": measure_memory,
}


def run_suites(names: list[str], bench: Bench) -> Iterator[Result]:
    """Run suites one after the other."""
    for name in names:
        yield from SUITES[name](bench)
