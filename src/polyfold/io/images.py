"""A folder of images as a table: a row for each, a column for each pixel; needs Pillow."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from polyfold._table import make_printable
from polyfold.io.table import Batch, DataError, Table, take_columns

ENDINGS = (".png", ".jpg", ".jpeg")

#: What files so named may be in truth: nothing that Pillow would start another program for.
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP")

#: Pixels that any file may hold, and how many more for each of its bytes: no real image is packed so tightly.
FREE_PIXELS, PIXELS_A_BYTE = 2**20, 10_000

#: Characters of what Pillow says that a message shows.
SHOWN_REASON = 200

#: Of files that a folder of data may hold instead.
OTHERS = (".parquet", ".pq", ".npy", ".csv", ".tsv")


class ImageTable(Table):
    """The images in a folder and in the folders within, in the order of their names.

    Parameters
    ----------
    folder : Path
    size : tuple of int or None
        Height and width to bring all images to; None leaves them as they are.
    grey : bool or None
        Whether to drop colours. None is what the first image has; a later one in colours is an error then.
    """

    def __init__(self, folder: Path, size: tuple[int, int] | None = None, grey: bool | None = None) -> None:
        self.source = f"{make_printable(folder.resolve().name)}/"
        self._folder = folder
        self._paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS)
        if not self._paths:
            others = _suggest_pattern(folder)
            raise DataError(f"{self.source} holds no images: no file in it ends in {', '.join(ENDINGS)}.{others}")
        self._size = size
        self._is_certain = grey is not None
        self._grey = self._is_grey(self._open(self._paths[0])) if grey is None else grey
        self.image_shape = self._load(self._paths[0]).shape
        self.n_columns = int(np.prod(self.image_shape))
        self.n_rows = len(self._paths)
        self._done = 0
        has_folders = any(path.parent != folder for path in self._paths)
        self.labels = ("file", "folder") if has_folders else ("file",)

    def read(self, columns: Sequence[int], keep: Sequence[str] = ()) -> Iterator[Batch]:
        """Read the images; see :class:`Table`."""
        step = self.count_batch_rows(self.n_columns)
        for start in range(0, len(self._paths), step):
            paths = self._paths[start : start + step]
            values = np.stack([self._load_alike(path).ravel() for path in paths])
            yield Batch(take_columns(values, columns), {name: self._tell(name, paths) for name in keep}, start)
            self._done = start + len(paths)

    def _tell(self, name: str, paths: list[Path]) -> list[str]:
        within = [path.relative_to(self._folder) for path in paths]
        return [(each if name == "file" else each.parent).as_posix() for each in within]

    def _open(self, path: Path) -> Any:
        name = _name(path)
        if not path.is_file():  # a pipe would be waited for, and a device never ends
            raise DataError(f"{name} is not a readable image: it is no file.")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what is odd in a file and does not matter
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                with Image.open(path, formats=FORMATS) as image:
                    check_pixels(name, image.size, path.stat().st_size)
                    image.load()
                    return ImageOps.exif_transpose(image)
        except DataError:
            raise
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise DataError(f"{name} is too large: {error}") from error
        except Exception as error:  # Pillow's decoders raise almost anything on a damaged file
            reason = make_printable(str(error)[:SHOWN_REASON])
            raise DataError(f"{name} is not a readable image: {reason}") from error

    @staticmethod
    def _is_grey(image: Any) -> bool:
        return image.mode in ("1", "L", "LA") or str(image.mode).startswith("I")

    def _load(self, path: Path) -> NDArray[Any]:
        image = self._open(path)
        if self._grey and not self._is_certain and not self._is_grey(image):
            raise DataError(
                f"{_name(path)} has colours, and {_name(self._paths[0])} has none: pass --grey, which drops them, "
                "or --colour."
            )
        image = _flatten(image)
        image = image.convert("L" if self._grey else "RGB")
        if self._size is not None:
            image = image.resize(self._size[::-1], Image.Resampling.BOX)  # as the page does it
        return np.asarray(image)

    def _load_alike(self, path: Path) -> NDArray[Any]:
        pixels = self._load(path)
        if pixels.shape != self.image_shape:
            (h, w), (height, width) = pixels.shape[:2], self.image_shape[:2]  # type: ignore[index]
            raise DataError(
                f"{_name(path)} has {h} × {w} pixels, and {_name(self._paths[0])} {height} × {width}. Bring all "
                f"to one size with --size {height}x{width}."
            )
        return pixels

    def read_share(self) -> float | None:
        """Return how many of the images have been read."""
        return self._done / len(self._paths)


def _name(path: Path) -> str:
    return make_printable(path.name)


def check_pixels(name: str, size: tuple[int, int], n_bytes: int) -> None:
    """Check that a file of so many bytes can hold the pixels that it claims."""
    width, height = size
    if width * height > FREE_PIXELS + PIXELS_A_BYTE * n_bytes:
        raise DataError(
            f"{name} is too large: it claims {height:,} × {width:,} pixels in {n_bytes:,} bytes. It is damaged, "
            "or made to fill the memory."
        )


def _flatten(image: Any) -> Any:
    """Return an image of 256 levels, on white where it lets something through: as a browser has it."""
    if image.mode.startswith("I"):  # 16 bits
        return Image.fromarray(np.round(np.asarray(image, dtype=np.float64) / 257).astype(np.uint8))
    if image.has_transparency_data:
        ground = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(ground, image.convert("RGBA")).convert("RGB")
    return image


def _suggest_pattern(folder: Path) -> str:
    """Say how to name files of another kind in a folder; nothing where there are none."""
    for ending in OTHERS:
        if any(folder.glob(f"*{ending}")):
            pattern = make_printable(str(folder / f"*{ending}"))
            return f" For its {ending} files give a pattern, in quotes: '{pattern}'."
    return ""
