"""What the training samples cover, so that a map can tell when it extrapolates."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyfold._blocks import SMALL_BLOCK_BYTES, row_slices
from polyfold._sparse import is_sparse

#: The edge of the domain: this share of the training samples lies within.
COVERED = 0.99

#: Most directions that a domain tells apart; along the others only the distance off them counts.
MAX_DIRECTIONS = 30

#: Directions along which the samples extend less than this share of the most count as if they extended so far.
THINNEST = 1e-6


@dataclass(frozen=True, eq=False)
class Domain:
    """An ellipsoid about the training samples, and how far they lie off its directions.

    Attributes
    ----------
    center : ndarray of shape (n_columns,)
        Mean of the samples, in their own units.
    directions : ndarray of shape (n_coordinates, n_directions)
        Orthonormal, in the coordinates of the map.
    spreads : ndarray of shape (n_directions,)
        Standard deviation along each.
    reach : float
        Mahalanobis distance that 99 % of the training samples do not exceed.
    thickness : float
        Distance off the directions that 99 % do not exceed; 0 where there is nothing off them.
    ranges : ndarray of shape (2, n_columns), default=None
        The smallest and the largest value in each column, where known.
    """

    center: NDArray[np.float64]
    directions: NDArray[np.float64]
    spreads: NDArray[np.float64]
    reach: float
    thickness: float
    ranges: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for name in ("center", "directions", "spreads", "ranges"):
            if getattr(self, name) is None:
                continue
            array = np.array(getattr(self, name), dtype=np.float64, order="C")
            if not np.isfinite(array).all():
                raise ValueError(f"`{name}` of a domain must be finite.")
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if not (np.all(self.spreads > 0) and 0 < self.reach < np.inf and 0 <= self.thickness < np.inf):
            raise ValueError(
                "`spreads` and `reach` of a domain must be above 0 and finite, `thickness` at least 0."
            )

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: pickle would bring the arrays back writable.
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    @property
    def nbytes(self) -> int:
        """Bytes of numbers in it."""
        arrays = (self.center, self.directions, self.spreads, self.ranges)
        return 16 + sum(array.nbytes for array in arrays if array is not None)

    def fits(self, n_columns: int, n_coordinates: int) -> bool:
        """Say whether it is of samples with so many columns, and of a map with so many variables."""
        shapes = [self.center.shape, self.directions.shape, self.spreads.shape]
        expected = [(n_columns,), (n_coordinates, len(self.spreads)), (len(self.spreads),)]
        return shapes == expected and (self.ranges is None or self.ranges.shape == (2, n_columns))

    def draw(self, n_samples: int, random: np.random.Generator) -> NDArray[np.float64]:
        """Return coordinates, about `center`, of samples that spread along the directions as those seen."""
        normal = random.normal(size=(n_samples, len(self.spreads)))
        if n_samples > 2 * len(self.spreads):  # of mean 0 and covariance 1 exactly
            normal = np.linalg.qr(normal - normal.mean(axis=0))[0] * np.sqrt(n_samples)
        return (normal * self.spreads) @ self.directions.T

    def score(self, coordinates: NDArray[np.float64], squared_lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far out each sample is, 1 being the edge.

        Parameters
        ----------
        coordinates : ndarray of shape (n_samples, n_coordinates)
            Of the samples less `center`.
        squared_lengths : ndarray of shape (n_samples,)
            Of the samples less `center`, all columns.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            distances, off = self.measure(coordinates, squared_lengths)
            return np.maximum(distances / self.reach, off / self.thickness if self.thickness else 0.0)

    def measure(
        self, coordinates: NDArray[np.float64], squared_lengths: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the Mahalanobis distance along the directions, and the distance off them."""
        along = coordinates @ self.directions
        within = np.einsum("ij,ij->i", along, along)
        along /= self.spreads
        distances = np.sqrt(np.einsum("ij,ij->i", along, along))
        return distances, np.sqrt(np.maximum(squared_lengths - within, 0.0))


def learn_domain(
    center: NDArray[np.float64],
    coordinates: NDArray[np.float64],
    squared_lengths: NDArray[np.float64],
    ranges: NDArray[np.float64],
) -> Domain:
    """Learn the domain of samples given by their coordinates and lengths about `center`, and their `ranges`."""
    from scipy.linalg import eigh  # not needed to place samples

    variances, directions = eigh(coordinates.T @ coordinates / len(coordinates))
    keep = slice(None, -MAX_DIRECTIONS - 1, -1)
    spreads = np.sqrt(np.maximum(variances[keep], 0.0))
    spreads = np.maximum(spreads, THINNEST * spreads[0]) if spreads[0] > 0 else np.ones_like(spreads)
    directions = np.ascontiguousarray(directions[:, keep])
    unscaled, distances, off = (
        Domain(center, directions, spreads, 1.0, 0.0, ranges),
        *np.empty((2, len(coordinates))),
    )
    for rows in row_slices(len(coordinates), row_bytes=8 * coordinates.shape[1], block_bytes=SMALL_BLOCK_BYTES):
        distances[rows], off[rows] = unscaled.measure(coordinates[rows], squared_lengths[rows])
    reach = float(np.quantile(distances, COVERED)) or 1.0
    is_whole = directions.shape[1] == len(center)
    thickness = (
        0.0 if is_whole else max(float(np.quantile(off, COVERED)), THINNEST * float(np.linalg.norm(spreads)))
    )
    return replace(unscaled, reach=reach, thickness=thickness)


def find_ranges(samples: Any) -> NDArray[np.float64]:
    """Return the smallest and the largest value in each column."""
    extremes = [samples.min(axis=0), samples.max(axis=0)]
    return np.stack(
        [np.asarray(each.toarray() if is_sparse(each) else each, np.float64).ravel() for each in extremes]
    )
