"""Image sets of the literature. None comes with the library: it looks for them, and says where to get them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from polyfold._validation import check_choice

#: Environment variable that names a folder with data sets.
FOLDER_VARIABLE = "POLYFOLD_DATA"


@dataclass(frozen=True)
class Source:
    """Where a data set is found.

    Attributes
    ----------
    title : str
    file_name : str
        The file that is looked for, an .npz of `arrays`.
    arrays : dict
        Name of each array to its shape; None is any length.
    published : str
        Where people get the set.
    url, sha256 : str or None
        Address of a file that can be fetched, and its digest, where both are known.
    """

    title: str
    file_name: str
    arrays: dict[str, tuple[int | None, ...]]
    published: str
    url: str | None = None
    sha256: str | None = None


FREY_FACES = Source(
    "Frey faces",
    "frey_faces_28x20.npz",
    {"X": (None, 560)},
    "Sam Roweis' data page, cs.nyu.edu/~roweis/data.html, as frey_rawface.mat",
)
USPS = Source(
    "USPS digits",
    "usps_all_roweis_11000_16x16.npz",
    {"X": (None, 256), "y": (None,)},
    "Sam Roweis' data page, cs.nyu.edu/~roweis/data.html, as usps_all.mat",
)
ISOMAP_FACES = Source(
    "Isomap faces",
    "isomap_faces_32x32.npz",
    {"X": (None, 1024), "t": (None, 3)},
    "the Isomap page, web.mit.edu/cocosci/isomap/datasets.html, as face_data.mat (64x64; halve it)",
)
COIL20 = Source(
    "COIL-20",
    "coil20_32x32.npz",
    {"X": (None, 1024), "y": (None,)},
    "Columbia University, cs.columbia.edu/CAVE/software/softlib/coil-20.php (128x128; reduce it to 32x32)",
)
MNIST = Source(
    "MNIST",
    "mnist_70000_28x28.npz",
    {"X": (None, 784), "y": (None,), "is_test": (None,)},
    "yann.lecun.com/exdb/mnist",
    url="https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
    sha256="731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
)


def load_frey_faces(path: str | os.PathLike[str] | None = None) -> NDArray[np.uint8]:
    """Load the Frey faces: 1,965 frames of one face in video order, the paper's `lleface`.

    Parameters
    ----------
    path : path, default=None
        The file frey_faces_28x20.npz or the folder that holds it. None looks in the folder that $POLYFOLD_DATA
        names, then in the user's cache.

    Returns
    -------
    ndarray of shape (1965, 560)
        Grey values of 28×20 pixels, row by row.

    Notes
    -----
    O(N n) time and memory, N images of n pixels: the file is read whole.

    References
    ----------
    Roweis, Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science 290 (2000) 2323-2326.

    Roweis, "Data for MATLAB hackers", https://cs.nyu.edu/~roweis/data.html, which has the set.

    Examples
    --------
    Blank frames in a file of the same form, in place of the set:

    >>> import tempfile
    >>> import numpy as np
    >>> from polyfold.datasets import load_frey_faces
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez_compressed(f"{folder}/frey_faces_28x20.npz", X=np.zeros((3, 560), dtype=np.uint8))
    ...     X = load_frey_faces(folder)
    >>> X.reshape(-1, 28, 20).shape
    (3, 28, 20)
    """
    return load_arrays(FREY_FACES, path)["X"]


def load_usps(path: str | os.PathLike[str] | None = None) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Load the USPS digits: 1,100 of each.

    Parameters
    ----------
    path : path, default=None
        The file usps_all_roweis_11000_16x16.npz or the folder that holds it. None looks in the folder that
        $POLYFOLD_DATA names, then in the user's cache.

    Returns
    -------
    X : ndarray of shape (11000, 256)
        Grey values of 16×16 pixels, row by row.
    y : ndarray of shape (11000,)
        The digit.

    Notes
    -----
    O(N n) time and memory, N images of n pixels: the file is read whole.

    References
    ----------
    Hull, "A database for handwritten text recognition research", IEEE Transactions on Pattern Analysis and Machine
    Intelligence 16 (1994) 550-554.

    Roweis, "Data for MATLAB hackers", https://cs.nyu.edu/~roweis/data.html, which has the set.

    Examples
    --------
    Blank images in a file of the same form, in place of the set:

    >>> import tempfile
    >>> import numpy as np
    >>> from polyfold.datasets import load_usps
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     blank = {"X": np.zeros((3, 256), dtype=np.uint8), "y": np.array([0, 1, 1])}
    ...     np.savez_compressed(f"{folder}/usps_all_roweis_11000_16x16.npz", **blank)
    ...     X, y = load_usps(folder)
    >>> X[y == 1].shape
    (2, 256)
    """
    arrays = load_arrays(USPS, path)
    return arrays["X"], arrays["y"]


def load_isomap_faces(path: str | os.PathLike[str] | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Load the Isomap faces: 698 renderings of one head, with the light and the pose that made them.

    Parameters
    ----------
    path : path, default=None
        The file isomap_faces_32x32.npz or the folder that holds it. None looks in the folder that $POLYFOLD_DATA
        names, then in the user's cache.

    Returns
    -------
    X : ndarray of shape (698, 1024)
        Grey values of 32×32 pixels, row by row.
    t : ndarray of shape (698, 3)
        Light, pan and tilt, standardised.

    Notes
    -----
    O(N n) time and memory, N images of n pixels: the file is read whole.

    References
    ----------
    Tenenbaum, de Silva, Langford, "A global geometric framework for nonlinear dimensionality reduction", Science
    290 (2000) 2319-2323.

    Examples
    --------
    Blank images in a file of the same form, in place of the set:

    >>> import tempfile
    >>> import numpy as np
    >>> from polyfold.datasets import load_isomap_faces
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez_compressed(f"{folder}/isomap_faces_32x32.npz", X=np.zeros((3, 1024)), t=np.eye(3))
    ...     X, t = load_isomap_faces(folder)
    >>> light, pan, tilt = t.T
    >>> light.tolist()
    [1.0, 0.0, 0.0]
    """
    arrays = load_arrays(ISOMAP_FACES, path)
    return arrays["X"], arrays["t"]


def load_coil20(path: str | os.PathLike[str] | None = None) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Load COIL-20: 72 views of each of 20 objects, in the order of rotation.

    Parameters
    ----------
    path : path, default=None
        The file coil20_32x32.npz or the folder that holds it. None looks in the folder that $POLYFOLD_DATA names,
        then in the user's cache.

    Returns
    -------
    X : ndarray of shape (1440, 1024)
        Grey values of 32×32 pixels, row by row.
    y : ndarray of shape (1440,)
        The object.

    Notes
    -----
    O(N n) time and memory, N images of n pixels: the file is read whole.

    References
    ----------
    Nene, Nayar, Murase, "Columbia object image library (COIL-20)", technical report, Columbia University, 1996.

    Examples
    --------
    Where there is no set, the error says where it is published:

    >>> import tempfile
    >>> from polyfold.datasets import load_coil20
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         load_coil20(folder)
    ...     except FileNotFoundError as error:
    ...         print(str(error).split(" published at ")[1].split(" (")[0])
    Columbia University, cs.columbia.edu/CAVE/software/softlib/coil-20.php
    """
    arrays = load_arrays(COIL20, path)
    return arrays["X"], arrays["y"]


def load_mnist(
    path: str | os.PathLike[str] | None = None, *, subset: str = "all"
) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Load the MNIST digits.

    Parameters
    ----------
    path : path, default=None
        The file mnist_70000_28x28.npz or the folder that holds it. None looks in the folder that $POLYFOLD_DATA
        names, then in the user's cache, and fetches the set there if need be.
    subset : {"all", "train", "test"}, default="all"
        The 60,000 training digits, the 10,000 test digits, or all.

    Returns
    -------
    X : ndarray of shape (70000, 784)
        Grey values of 28×28 pixels, row by row.
    y : ndarray of shape (70000,)
        The digit.

    Notes
    -----
    O(N n) time and memory, N images of n pixels: the file is read whole.

    References
    ----------
    LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document recognition", Proceedings of the
    IEEE 86 (1998) 2278-2324.

    Examples
    --------
    Blank images in a file of the same form, in place of the set:

    >>> import tempfile
    >>> import numpy as np
    >>> from polyfold.datasets import load_mnist
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     blank = {"X": np.zeros((3, 784), dtype=np.uint8), "y": np.array([7, 2, 1])}
    ...     np.savez_compressed(f"{folder}/mnist_70000_28x28.npz", **blank, is_test=[False, True, True])
    ...     X, y = load_mnist(folder, subset="test")
    >>> y
    array([2, 1])
    """
    check_choice("subset", subset, {"all", "train", "test"})
    arrays = load_arrays(MNIST, path)
    is_test = arrays["is_test"].astype(bool)
    chosen = np.ones(len(is_test), dtype=bool) if subset == "all" else is_test == (subset == "test")
    return arrays["X"][chosen], arrays["y"][chosen]


def load_arrays(source: Source, path: str | os.PathLike[str] | None) -> dict[str, NDArray[Any]]:
    """Find the file of a data set, and read and check its arrays."""
    file = find_file(source, path)
    try:
        with file.open("rb") as content, np.load(content, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, TypeError, ValueError, EOFError, BadZipFile) as error:
        raise ValueError(f"{file} is not a readable .npz file: {error}") from error
    if "x_train" in arrays:  # the layout that MNIST is published in
        arrays = join_subsets(arrays)
    for name, shape in source.arrays.items():
        found = arrays[name].shape if name in arrays else ()
        if len(found) != len(shape) or any(n not in (None, m) for n, m in zip(shape, found, strict=True)):
            wanted = " x ".join("any" if length is None else str(length) for length in shape)
            raise ValueError(f"{file} must hold an array {name} of shape {wanted}, found {found or None}.")
    return arrays


def join_subsets(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Put training and test images into one table."""
    X = np.concatenate([arrays["x_train"], arrays["x_test"]])
    y = np.concatenate([arrays["y_train"], arrays["y_test"]])
    return {"X": X.reshape(len(X), -1), "y": y, "is_test": np.arange(len(y)) >= len(arrays["y_train"])}


def find_file(source: Source, path: str | os.PathLike[str] | None) -> Path:
    """Look for a data set's file in `path`, or in $POLYFOLD_DATA and the user's cache; fetch it, if possible."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if path is not None:
        candidates = [_file_in(source, path)]
    else:
        candidates = [_file_in(source, folder)] if folder else []
        cache = _cache_folder()
        candidates += [] if cache is None else [cache / source.file_name]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    if path is None and source.url is not None:
        return fetch(source)
    raise FileNotFoundError(
        f"{source.title} not found; looked for {' and '.join(map(str, candidates)) or source.file_name}"
        f"{f' (${FOLDER_VARIABLE} is {folder})' if path is None and folder else ''}. The set is "
        f"published at {source.published}. Save it as {source.file_name} with "
        f"{' and '.join(source.arrays)} in it (numpy.savez_compressed), and pass its folder as `path` or set "
        f"${FOLDER_VARIABLE} to it."
    )


def _file_in(source: Source, path: str | os.PathLike[str]) -> Path:
    place = Path(path).expanduser()
    return place / source.file_name if place.is_dir() else place


def _cache_folder() -> Path | None:
    try:
        import pooch
    except ImportError:
        return None
    return Path(pooch.os_cache("polyfold"))


def fetch(source: Source) -> Path:
    """Fetch the file of a data set into the user's cache, and check its digest."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f'Fetching {source.title} needs pooch: pip install "polyfold[data]". Or pass `path`, or set '
            f"${FOLDER_VARIABLE}."
        ) from error
    try:
        found = pooch.retrieve(
            source.url, known_hash=f"sha256:{source.sha256}", fname=f"{source.sha256}.npz", path=_cache_folder()
        )
    except (OSError, ValueError) as error:
        raise OSError(
            f"{source.title} could not be fetched from {source.url}: {error} Get it from {source.published}, and "
            f"pass its folder as `path` or set ${FOLDER_VARIABLE}."
        ) from error
    return Path(found)
