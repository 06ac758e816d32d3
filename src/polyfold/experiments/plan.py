"""How much of each experiment is run, on what data, and who is told of its progress."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray
from tqdm import tqdm

from polyfold.experiments.methods import METHODS

Step = TypeVar("Step")


@dataclass(frozen=True)
class Plan:
    """What all experiments of a run have in common.

    Attributes
    ----------
    quick : bool
        Fewer seeds and smaller sizes.
    seed : int
        The first seed; the others follow it.
    data : Path or None
        The folder with image sets; None looks where the loaders look.
    progress : bool
        Show a bar on standard error.
    heard : Counter
        How often each method warned of what: the warnings of the fits are collected here, for the report.
    """

    quick: bool = False
    seed: int = 0
    data: Path | None = None
    progress: bool = False
    heard: Counter[tuple[str, str]] = field(default_factory=Counter)

    def list_seeds(self, full: int, quick: int) -> range:
        """Return the seeds of an experiment, `full` of them or `quick`."""
        return range(self.seed, self.seed + (quick if self.quick else full))

    def track(self, steps: Iterable[Step], description: str) -> Iterator[Step]:
        """Pass steps through, with a bar on standard error where wanted."""
        yield from tqdm(
            list(steps),
            desc=f"{description:<34}",
            disable=not self.progress,
            file=sys.stderr,
            dynamic_ncols=True,
            bar_format="{desc}{percentage:3.0f}% |{bar:30}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}]",
        )

    def fit(self, name: str, X: NDArray[Any], n_neighbors: int, n_components: int = 2) -> Any:
        """Fit one of the methods that are compared."""
        return self.listen(name, METHODS[name].make(n_neighbors, n_components), X)

    def listen(self, name: str, estimator: Any, X: NDArray[Any], y: NDArray[Any] | None = None) -> Any:
        """Fit an estimator, and take down what it warns of."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = estimator.fit(X) if y is None else estimator.fit(X, y)
        for each in caught:
            self.heard[name, _generalise(str(each.message))] += 1
        return fitted


def _generalise(message: str) -> str:
    """Return the first sentence of a warning without its figures, so that equal ones can be counted."""
    sentence = re.split(r"(?<=[a-z)%\d])[.:;] ", message)[0].rstrip(".")
    return re.sub(r"-?\d[\d,]*(\.\d+)?(e[+-]?\d+)?", "…", sentence)
