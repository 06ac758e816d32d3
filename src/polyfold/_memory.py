"""What a fit takes of memory, and what would fit: told where there is not enough.

The formula is that of the Notes of `PolynomialEmbedding`, measured by benchmarks/memory.py.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from math import inf
from pathlib import Path
from typing import Any, TypeVar, cast

from scipy.sparse import issparse

from polyfold._basis import choose_basis, count_features
from polyfold._frame import choose_n_axes
from polyfold._gram import HELD_BYTES
from polyfold._index import CELL_COPIES, LOAD_BYTES, count_exact
from polyfold._learner import is_precomputed
from polyfold._neighbors import AUTO_NEIGHBORS
from polyfold.objectives import GEODESIC

Method = TypeVar("Method", bound=Callable[..., Any])

#: What libraries say, other than by a MemoryError, where the system gives them no more memory.
EXHAUSTED = re.compile("can't start new thread|bad_alloc|[Cc]annot allocate memory|out of memory", re.IGNORECASE)

#: What is promised to fit takes this share of what is free at most: temporaries of blocks need room too.
SAFE_SHARE = 0.5

#: Floats of a sample in the sparse matrices and factors of an implicit method, about.
FACTOR_FLOATS = 2000

#: Temporaries of blocks of samples, and further code that is loaded meanwhile, in bytes.
TEMPORARY_BYTES = 2**27


@dataclass(frozen=True)
class FitSize:
    """The sizes that decide what a fit takes of memory."""

    n_samples: int
    n_columns: int
    n_axes: int
    n_neighbors: int
    n_features: int
    degree: int
    geodesic: bool
    n_exact: float = inf

    def count_bytes(self, n_samples: int) -> float:
        """Return what a fit of so many samples takes, beside the libraries."""
        of_sample = 3 * self.n_columns + 2 * self.n_axes + 3 * self.n_neighbors
        held = min(8.0 * n_samples * self.n_features, HELD_BYTES)
        # The code of faiss and its copies of the samples, where neighbours are looked for in cells.
        cells = LOAD_BYTES + 4.0 * CELL_COPIES * n_samples * self.n_columns if n_samples >= self.n_exact else 0.0
        paths = 8.0 * n_samples * min(n_samples, 1000 + self.n_features) * 3 if self.geodesic else 0.0
        return 8.0 * n_samples * of_sample + held + cells + paths + 8.0 * 35 * self.n_features**2

    def describe(self) -> str:
        """Say what makes it large."""
        neighbors = f"{self.n_neighbors:,} neighbours, " if self.n_neighbors else ""
        features = f"{self.n_features:,} polynomial features of degree {self.degree}"
        return f"{neighbors}{features} in {self.n_axes:,} variables"


@dataclass(frozen=True)
class PairSize:
    """The sizes that decide what the fit of an implicit method takes: matrices of all pairs, or of near ones."""

    n_samples: int
    n_columns: int
    n_neighbors: int
    n_matrices: int

    def count_bytes(self, n_samples: int) -> float:
        """Return what a fit of so many samples takes, beside the libraries."""
        return 8.0 * n_samples * (3 * self.n_columns + FACTOR_FLOATS + self.n_matrices * n_samples)

    def describe(self) -> str:
        """Say what makes it large."""
        return f"{self.n_matrices} matrices of all pairs" if self.n_matrices else "sparse factors of near pairs"


def count_fitting(size: FitSize | PairSize, n_bytes: float) -> int:
    """Return how many samples fit into so many bytes, in two digits; 0 where hardly any do."""
    number = size.n_samples // 2
    while number and size.count_bytes(number) > n_bytes:
        number = int(0.9 * number)
    number -= number % 10 ** max(len(str(number)) - 2, 0)
    return number if number >= 2 * size.n_neighbors + 2 else 0


def measure_fit(estimator: Any, X: Any) -> FitSize | PairSize:
    """Return the sizes of a fit, as far as they are known before it."""
    n_samples, n_columns = X.shape if hasattr(X, "shape") else (len(X), len(X[0]))
    if hasattr(estimator, "_count_pair_matrices"):
        return PairSize(int(n_samples), int(n_columns), AUTO_NEIGHBORS[0], estimator._count_pair_matrices())
    degree, graph = estimator.degree, getattr(estimator, "graph", None)
    wanted = (estimator.reduce, (n_samples, n_columns), estimator.basis, degree)
    n_axes = choose_n_axes(*wanted, getattr(estimator, "n_components", 1), sparse=issparse(X))
    # How many axes hold a share of the variance is known only once the samples have been seen.
    r = n_columns if n_axes is None or isinstance(n_axes, float) else n_axes
    k = getattr(estimator, "n_neighbors", 0)
    return FitSize(
        n_samples=int(n_samples),
        n_columns=int(n_columns),
        n_axes=int(r),
        n_neighbors=AUTO_NEIGHBORS[1] if isinstance(k, str) else int(k),
        n_features=count_features(choose_basis(estimator.basis, r, degree), r, degree),
        degree=degree,
        geodesic=isinstance(graph, str) and graph in GEODESIC,
        n_exact=count_exact(getattr(estimator, "neighbors", "exact"), int(n_columns)),
    )


def read_free_memory() -> float | None:
    """Return the bytes that this process may still take, where the system tells."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        free = float(_read_kilobytes("/proc/meminfo", "MemAvailable")) * 1024
        if limit != resource.RLIM_INFINITY:
            free = min(free, limit - float(_read_kilobytes("/proc/self/status", "VmSize")) * 1024)
    except (ImportError, OSError, ValueError):
        return None
    return max(free, 0.0)


def _read_kilobytes(path: str, name: str) -> int:
    found = re.search(rf"{name}:\s*(\d+)", Path(path).read_text())
    if found is None:
        raise ValueError(f"{path} does not tell {name}")
    return int(found[1])


def explain_memory(fit: Method) -> Method:
    """Have a method that learns from samples say, where memory ends, what it takes and what would fit."""

    @wraps(fit)
    def explained(self: Any, X: Any, *arguments: Any, **keywords: Any) -> Any:
        free = read_free_memory()
        try:
            return fit(self, X, *arguments, **keywords)
        except (MemoryError, RuntimeError, OSError) as error:
            if not isinstance(error, MemoryError) and not EXHAUSTED.search(str(error)):
                raise
            message = tell_needs(self, X, free, str(error))
        gc.collect()  # what has been computed so far hangs on the frames of the error
        raise MemoryError(message)

    return cast("Method", explained)


def tell_needs(estimator: Any, X: Any, free: float | None, reason: str) -> str:
    """Say what was asked for, and what would fit into so much memory."""
    blocks = " or `reference_size`, which visits X in blocks" if hasattr(estimator, "reference_size") else ""
    cure = f"Give fewer samples, lower `degree`, or set `reduce`{blocks}."
    if hasattr(estimator, "_count_pair_matrices"):
        cure = "Give fewer samples, or learn an explicit map by PolynomialEmbedding or ExplicitEmbedding."
    because = f" ({reason[:200].rstrip('.')}.)" if reason else ""
    try:
        size = measure_fit(estimator, X)
    except (TypeError, ValueError, IndexError, AttributeError):
        return f"There is not enough memory for this fit. {cure}{because}"
    asked = (
        f"Fitting {size.n_samples:,} samples of {size.n_columns:,} columns ({size.describe()}) takes about "
        f"{_show(size.count_bytes(size.n_samples))} beside the libraries"
    )
    if free is None:
        return f"{asked}, which is more than there is. {cure}{because}"
    learner = getattr(estimator, "estimator", None)
    if learner is not None and not is_precomputed(learner):  # whose needs nobody knows
        return f"{asked} and what the learner takes, and {_show(free)} were free. {cure}{because}"
    number = count_fitting(size, SAFE_SHARE * (free - TEMPORARY_BYTES))
    would = f"About {number:,} samples would fit." if number else "Hardly any samples would fit."
    return f"{asked}, and {_show(free)} were free. {would} {cure}{because}"


def _show(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.2f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
