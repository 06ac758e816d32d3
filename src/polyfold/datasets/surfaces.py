"""The seven surfaces in R³ of Wittman's MANI demo, which the paper uses.

Each function returns ``(X, Z)``: samples of shape (n_samples, 3) and the coordinates that generated them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from polyfold._validation import check_choice, check_integer, check_nonnegative

Surface = tuple[NDArray[np.float64], NDArray[np.float64]]

HEIGHT = 21.0

#: Beyond this the angle has no digits left that say where in a turn a sample lies.
MOST_TURNS = 1e6


def make_swiss_roll(
    n_samples: int = 1000, *, spacing: str = "random", turns: float = 2.0, random_state: Any = None
) -> Surface:
    """Make a Swiss roll: a strip wound into a spiral.

    Parameters
    ----------
    n_samples : int, default=1000
    spacing : {"random", "even"}, default="random"
        "random" draws (t, h) uniformly; "even" lays them on a grid of cells about square on the strip.
    turns : float, default=2
        t runs from 3π/2 to (3π/2)(1 + turns): a larger value makes a longer strip.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; without effect when `spacing` is "even".

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        (t cos t, h, t sin t).
    Z : ndarray of shape (n_samples, 2)
        (t, h), h between 0 and 21.

    Notes
    -----
    O(N) time and memory for N samples.

    References
    ----------
    Tenenbaum, de Silva, Langford, "A global geometric framework for nonlinear dimensionality reduction", Science
    290 (2000) 2319-2323 (the Swiss roll).

    Wittman, "MANIfold learning Matlab demo", University of Minnesota, 2005,
    http://www.math.umn.edu/~wittman/mani/.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.datasets import make_swiss_roll
    >>> X, Z = make_swiss_roll(500, random_state=0)
    >>> X.shape, Z.shape
    ((500, 3), (500, 2))
    >>> np.allclose(np.hypot(X[:, 0], X[:, 2]), Z[:, 0])
    True
    """
    check_integer("n_samples", n_samples, 1)
    if check_nonnegative("turns", turns) > MOST_TURNS:
        raise ValueError(f"`turns` must be at most {MOST_TURNS:g}, got {turns!r}.")
    if check_choice("spacing", spacing, ("even", "random")) == "even":
        U = _lay_grid(n_samples, width=_spiral_length(turns), height=HEIGHT)
    else:
        U = _draw_square(n_samples, check_random_state(random_state))
    return _roll_up(U, turns)


def make_swiss_hole(n_samples: int = 1000, *, random_state: Any = None) -> Surface:
    """Make a Swiss roll with a rectangular hole: no sample has both 9 < t < 12 and 9 < h < 14.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
    Z : ndarray of shape (n_samples, 2)
        (t, h).

    Notes
    -----
    O(N) time and memory for N samples: less than a tenth of the draws fall into the hole.

    References
    ----------
    Donoho, Grimes, "Hessian eigenmaps: locally linear embedding techniques for high-dimensional data", PNAS 100
    (2003) 5591-5596 (a Swiss roll with a hole).

    Wittman, "MANIfold learning Matlab demo", University of Minnesota, 2005,
    http://www.math.umn.edu/~wittman/mani/.

    Examples
    --------
    >>> from polyfold.datasets import make_swiss_hole
    >>> X, Z = make_swiss_hole(500, random_state=0)
    >>> ((9 < Z) & (Z < [12, 14])).all(axis=1).any()
    np.False_
    """
    check_integer("n_samples", n_samples, 1)
    draw = check_random_state(random_state)
    X, Z = np.empty((0, 3)), np.empty((0, 2))
    while len(X) < n_samples:
        more_X, more_Z = _roll_up(_draw_square(2 * n_samples, draw), turns=2.0)
        outside = ~((more_Z > 9) & (more_Z < [12, 14])).all(axis=1)
        X, Z = np.concatenate([X, more_X[outside]]), np.concatenate([Z, more_Z[outside]])
    return X[:n_samples], Z[:n_samples]


def make_gaussian(n_samples: int = 1000, *, random_state: Any = None) -> Surface:
    """Make a bump: the density of the standard normal distribution in the plane as height over it.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        (x, y, exp(−(x² + y²)/2) / 2π).
    Z : ndarray of shape (n_samples, 2)
        (x, y), drawn from that distribution.

    Notes
    -----
    O(N) time and memory for N samples.

    References
    ----------
    Wittman, "MANIfold learning Matlab demo", University of Minnesota, 2005,
    http://www.math.umn.edu/~wittman/mani/.

    Examples
    --------
    >>> from polyfold.datasets import make_gaussian
    >>> X, Z = make_gaussian(500, random_state=0)
    >>> bool(X[:, 2].max() < 0.16)
    True
    """
    check_integer("n_samples", n_samples, 1)
    Z = check_random_state(random_state).normal(size=(n_samples, 2))
    height = np.exp(-np.square(Z).sum(axis=1) / 2) / (2 * np.pi)
    return np.column_stack([Z, height]), Z


def make_twin_peaks(n_samples: int = 1000, *, random_state: Any = None) -> Surface:
    """Make two peaks and two pits over a square.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        (x, y, sin(πx) tanh(3y)).
    Z : ndarray of shape (n_samples, 2)
        (x, y), uniform on [−1, 1]².

    Notes
    -----
    O(N) time and memory for N samples.

    References
    ----------
    Wittman, "MANIfold learning Matlab demo", University of Minnesota, 2005,
    http://www.math.umn.edu/~wittman/mani/.

    Examples
    --------
    >>> from polyfold.datasets import make_twin_peaks
    >>> X, Z = make_twin_peaks(500, random_state=0)
    >>> bool(abs(X[:, 2]).max() < 1), bool((X[:, :2] == Z).all())
    (True, True)
    """
    check_integer("n_samples", n_samples, 1)
    Z = check_random_state(random_state).uniform(-1, 1, size=(n_samples, 2))
    return np.column_stack([Z, np.sin(np.pi * Z[:, 0]) * np.tanh(3 * Z[:, 1])]), Z


def make_punctured_sphere(n_samples: int = 1000, *, random_state: Any = None) -> Surface:
    """Make a sphere without its top: a planar grid, wrapped up by the inverse stereographic projection.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : ignored
        The grid is not random; taken so that all surfaces are called alike.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        (a x, a y, 2(1 − a)) with a = 4 / (4 + x² + y²), a sphere of radius 1.
    Z : ndarray of shape (n_samples, 2)
        (x, y): the points of a grid on [−5, 5]² nearest the origin.

    Notes
    -----
    O(N log N) time and O(N) memory for N samples: points of the grid are sorted.

    References
    ----------
    Wittman, "MANIfold learning Matlab demo", University of Minnesota, 2005,
    http://www.math.umn.edu/~wittman/mani/.

    Examples
    --------
    >>> import numpy as np
    >>> from polyfold.datasets import make_punctured_sphere
    >>> X, Z = make_punctured_sphere(500)
    >>> np.allclose(np.linalg.norm(X - [0, 0, 1], axis=1), 1)
    True
    """
    check_integer("n_samples", n_samples, 1)
    axis = np.arange(-5, 5 + 1e-9, 9 / np.sqrt(n_samples))
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    Z = grid[np.argsort(np.square(grid).sum(axis=1), kind="stable")[:n_samples]]
    a = 4 / (4 + np.square(Z).sum(axis=1, keepdims=True))
    return np.column_stack([a * Z, 2 * (1 - a)]), Z


def make_toroidal_helix(n_samples: int = 1000, *, random_state: Any = None) -> Surface:
    """Make a closed coil of eight turns around a torus, with a little noise.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : int, RandomState instance or None, default=None
        Seed of the noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        ((2 + cos 8t) cos t, (2 + cos 8t) sin t, sin 8t), plus normal noise of deviation 0.05.
    Z : ndarray of shape (n_samples, 1)
        t, evenly spaced on [0, 2π).

    Notes
    -----
    O(N) time and memory for N samples.

    References
    ----------
    Wittman, "MANIfold learning Matlab demo", University of Minnesota, 2005,
    http://www.math.umn.edu/~wittman/mani/.

    Examples
    --------
    >>> from polyfold.datasets import make_toroidal_helix
    >>> X, Z = make_toroidal_helix(500, random_state=0)
    >>> round(float(Z[250, 0]), 4), bool(abs(X[:, 2]).max() < 1.5)
    (3.1416, True)
    """
    check_integer("n_samples", n_samples, 1)
    t = 2 * np.pi * np.arange(n_samples) / n_samples
    radius = 2 + np.cos(8 * t)
    curve = np.column_stack([radius * np.cos(t), radius * np.sin(t), np.sin(8 * t)])
    noise = check_random_state(random_state).normal(scale=0.05, size=curve.shape)
    return curve + noise, t[:, np.newaxis]


def make_corner_planes(n_samples: int = 1000, *, random_state: Any = None) -> Surface:
    """Make two planes that meet: an integer grid folded up along its middle by 45°.

    Parameters
    ----------
    n_samples : int, default=1000
    random_state : ignored
        The grid is not random; taken so that all surfaces are called alike.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
    Z : ndarray of shape (n_samples, 2)
        The grid before folding.

    Notes
    -----
    O(N) time and memory for N samples.

    References
    ----------
    Wittman, "MANIfold learning Matlab demo", University of Minnesota, 2005,
    http://www.math.umn.edu/~wittman/mani/.

    Examples
    --------
    >>> from polyfold.datasets import make_corner_planes
    >>> X, Z = make_corner_planes(400)
    >>> Z.max(axis=0)
    array([19., 19.])
    """
    check_integer("n_samples", n_samples, 1)
    n_columns = int(np.ceil(n_samples / np.floor(np.sqrt(n_samples))))
    Z = np.column_stack(np.divmod(np.arange(n_samples), n_columns)).astype(np.float64)
    fold = n_columns // 2
    beyond = np.maximum(Z[:, 1] - fold, 0) * np.sqrt(0.5)
    return np.column_stack([Z[:, 0], np.minimum(Z[:, 1], fold) + beyond, beyond]), Z


def _draw_square(n_samples: int, draw: np.random.RandomState) -> NDArray[np.float64]:
    """Draw points of the unit square: all first coordinates, then all second ones, as the MANI demo does."""
    return draw.uniform(size=(2, n_samples)).T


def _roll_up(U: NDArray[np.float64], turns: float) -> Surface:
    """Map the unit square to the roll."""
    t, h = 1.5 * np.pi * (1 + turns * U[:, 0]), HEIGHT * U[:, 1]
    return np.column_stack([t * np.cos(t), h, t * np.sin(t)]), np.column_stack([t, h])


def _spiral_length(turns: float) -> float:
    """Return the arc length of (t cos t, t sin t) over the roll's range of t."""
    t = 1.5 * np.pi * np.array([1, 1 + turns])
    start, end = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return float(end - start)


def _lay_grid(n_samples: int, width: float, height: float) -> NDArray[np.float64]:
    """Lay n points on the unit square, a grid of cells about square on a strip of that size.

    Where the grid has a few points more than n, as many are left out, evenly spread.
    """
    n_rows = max(1, round(np.sqrt(n_samples * height / width)))
    n_columns = -(-n_samples // n_rows)
    kept = np.arange(n_samples) * (n_rows * n_columns) // n_samples
    column, row = np.divmod(kept, n_rows)
    return np.column_stack([column / max(1, n_columns - 1), row / max(1, n_rows - 1)])
