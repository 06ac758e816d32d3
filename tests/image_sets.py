"""Image sets for tests: taken where $POLYFOLD_DATA or the folder shared/data beside the repository has them."""

import os
from pathlib import Path

import pytest

from polyfold.datasets import images

SOURCES = {
    "frey": images.FREY_FACES,
    "usps": images.USPS,
    "isomap": images.ISOMAP_FACES,
    "coil20": images.COIL20,
    "mnist": images.MNIST,
}

NEIGHBOR = Path(__file__).parents[2] / "shared" / "data"
if NEIGHBOR.is_dir():
    os.environ.setdefault(images.FOLDER_VARIABLE, str(NEIGHBOR))

#: The folder that tests take image sets from.
FOLDER = Path(os.environ.get(images.FOLDER_VARIABLE, ""))


def needs(*names):
    """Skip a test where one of the sets is not there."""
    missing = [name for name in names if not (FOLDER / SOURCES[name].file_name).is_file()]
    reason = f"{' and '.join(missing)} not found: set ${images.FOLDER_VARIABLE} to a folder that holds them"
    return pytest.mark.skipif(bool(missing), reason=reason)
