"""Files that are damaged, or made to do harm: each is read, or refused by an error that says so, no more.

What is done to model files is in test_model_file.py and test_model_fuzz.py; here is what is done to JSON, to
tables and to images. What once failed is kept in the folder ``corpus``.
"""

import gzip
import io
import json
import os
import pickle
import re
import struct
import tomllib
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from high_water import measure_growth, needs_high_water
from maps import random_map
from polyfold import ModelFormatError, PolynomialMap
from polyfold.io import CompleteRows, DataError, check_kept, open_table
from strategies import damages
from test_model_fuzz import damage

CORPUS = Path(__file__).parent / "corpus"

#: What a table of any size may take of memory while it is read, beside the file itself.
TABLE_BYTES = 300_000_000


class Spy:
    """An object that, when it is unpickled, makes a folder: the code of whoever wrote the file has run."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


def read_table(path, keep=(), **settings):
    """Read all of a table and forget it; return how many rows it has, which are all finite."""
    table = open_table(path, **settings)
    check_kept(table, keep)
    n_rows = 0
    for batch in CompleteRows(table, range(table.n_columns - len(keep)), keep, drop_missing=True):
        assert np.isfinite(batch.values).all()
        n_rows += len(batch)
    return n_rows


def refuse_table(path, match=None, **settings):
    """Assert that a table is refused by a message that names the file, in one line of moderate length."""
    with pytest.raises(DataError, match=match) as told:
        read_table(path, **settings)
    message = str(told.value)
    files = [path, *path.iterdir()] if path.is_dir() else [path]
    assert any(file.name in message for file in files)
    assert len(message) < 1000
    assert message.isprintable()


def list_corpus():
    """The files that once failed, and a pattern of how each must be refused."""
    return tomllib.loads((CORPUS / "expected.toml").read_text(encoding="utf-8"))


def test_pickled_objects_are_refused(tmp_path):
    """Pickled objects are refused wherever they stand: in .npy and .npz files, models and JSON; no code runs."""
    place = tmp_path / "harm"
    spies = np.empty((4, 2), dtype=object)
    spies[:] = Spy(place)
    pickled = pickle.dumps(Spy(place))
    pickle.loads(pickle.dumps(Spy(tmp_path / "control")))
    assert (tmp_path / "control").is_dir()  # what would be seen
    np.save(tmp_path / "a.npy", spies, allow_pickle=True)
    (tmp_path / "b.npy").write_bytes(pickled)
    np.savez(tmp_path / "c.npz", X=spies)
    np.savez(tmp_path / "d.npz", X=np.eye(4), labels=spies[:, 0])
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("X.npy", pickled)
    for name in ("a.npy", "b.npy", "c.npz", "e.npz"):
        refuse_table(tmp_path / name, "objects of Python|None of them is a table of numbers")
    assert read_table(tmp_path / "d.npz") == 4
    with pytest.raises(DataError, match="no column 'labels'"):
        check_kept(open_table(tmp_path / "d.npz"), ["labels"])
    (tmp_path / "map").write_bytes(pickled)
    for read in (lambda: PolynomialMap.load(tmp_path / "map"), lambda: PolynomialMap.from_json(pickled)):
        with pytest.raises(ModelFormatError):
            read()
    assert not place.exists()


@needs_high_water
@pytest.mark.parametrize("name", sorted(list_corpus()))
def test_what_once_failed(name):
    """What once failed in another way than by a clear error, or took all memory, is refused or read now."""
    expected, path = list_corpus()[name], CORPUS / name

    def check():
        try:
            if path.suffix == ".json":
                PolynomialMap.from_json(path.read_bytes())
            else:
                read_table(path, **list_kept(path))
        except (DataError, ModelFormatError) as error:
            return str(error)
        return "read"

    message, grown = measure_growth(check)
    assert re.search(expected, message)
    assert len(message) < 1000
    assert message.isprintable()
    assert grown < TABLE_BYTES


def test_the_corpus_is_whole():
    """Every file that is kept has an entry that says what is expected, and the other way round."""
    kept = {path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*") if path.is_file()}
    images = {name for name in list_corpus() if (CORPUS / name).is_dir()}
    inside = {path for path in kept if any(path.startswith(f"{folder}/") for folder in images)}
    assert kept - inside - {"expected.toml", "README.md"} == set(list_corpus()) - images


def make_table_files(folder):
    """A small table in a file of each kind; images in folders of their own."""
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 4)).round(3)
    texts = [f"row {i}" for i in range(30)]
    np.save(folder / "t.npy", X)
    np.save(folder / "f.npy", np.asfortranarray(X.astype(np.float32)))
    np.savez(folder / "t.npz", X=X, y=np.arange(30))
    np.savez_compressed(folder / "c.npz", X=X)
    lines = [",".join(map(str, row)) for row in X.tolist()]
    text = "a,b,c,d\n" + "\n".join(lines) + "\n"
    (folder / "t.csv").write_text(text)
    (folder / "q.tsv").write_text(text.replace(",", '\t"', 1).replace("b", 'b"', 1).replace(",", "\t"))
    (folder / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    columns = {name: X[:, k] for k, name in enumerate("abcd")}
    for name, settings_ in {"t": {}, "p": {"compression": "gzip", "row_group_size": 7}}.items():
        pq.write_table(pa.table({**columns, "text": texts}), folder / f"{name}.parquet", **settings_)
    for ending in ("png", "jpg"):
        (folder / ending).mkdir()
        Image.fromarray(random.integers(0, 255, size=(9, 7), dtype=np.uint8)).save(folder / ending / f"t.{ending}")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Paths of tables that are whole, and their bytes."""
    folder = tmp_path_factory.mktemp("tables")
    make_table_files(folder)
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in paths:
        assert read_table(path.parent if path.suffix in (".png", ".jpg") else path, **list_kept(path)) in (1, 30)
    return [(path, path.read_bytes()) for path in paths]


def list_kept(path):
    return {"keep": ["text"]} if path.suffix == ".parquet" else {}


def mend_sums(content):
    """A PNG file with the checksums of its chunks as they should be, so that damage gets past them."""
    mended, at = content[:8], 8
    while at + 12 <= len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        if at + 12 + length > len(content):
            break
        body = content[at + 4 : at + 8 + length]
        mended += content[at : at + 4] + body + struct.pack(">I", zlib.crc32(body))
        at += 12 + length
    return mended + content[at:]


def check_damaged_tables(tables, folder, n_examples, *, measure):
    """Read so many damaged tables; return how many."""
    n_read = 0

    @given(which=st.integers(0, len(tables) - 1), changes=damages(), mended=st.booleans())
    @settings(max_examples=n_examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check(which, changes, mended):
        nonlocal n_read
        original, content = tables[which]
        content = damage(content, changes)
        if mended and original.suffix == ".png":
            content = mend_sums(content)
        if mended and original.suffix == ".gz":
            content = gzip.compress(damage(gzip.decompress(tables[which][1]), changes))
        place = folder / original.suffix[1:]
        place.mkdir(exist_ok=True)
        path = place / original.name
        path.write_bytes(content)
        table = place if original.suffix in (".png", ".jpg") else path

        def read():
            try:
                read_table(table, **list_kept(path))
            except DataError as error:
                return str(error)
            return ""

        message, grown = measure_growth(read) if measure else (read(), 0)
        assert len(message) < 1000
        assert message.isprintable(), message
        assert grown < TABLE_BYTES
        n_read += 1

    check()
    return n_read


def test_damaged_tables(tables, tmp_path):
    """Damaged tables and images are read, or refused by a DataError: never by an error of another kind."""
    assert check_damaged_tables(tables, tmp_path, 400, measure=False) >= 400


@needs_high_water
@pytest.mark.slow
def test_many_damaged_tables(tables, tmp_path, record_property):
    """Of 20,000 damaged tables and images none does anything else, or takes more than 300 MB."""
    n_read = check_damaged_tables(tables, tmp_path, 20_000, measure=True)
    record_property("damaged_tables", n_read)
    assert n_read >= 20_000


def write_header(shape, dtype="<f8"):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": shape})
    return header.getvalue()


@needs_high_water
@pytest.mark.parametrize(
    "shape", [(10**12, 3), (2**40, 2**40), (-3, 2), (10**400, 1), (4, 10**6), (0, 10**15)], ids=str
)
@pytest.mark.parametrize("kind", ["npy", "npz", "packed npz"])
def test_arrays_that_claim_more_than_they_hold(shape, kind, tmp_path):
    """Arrays whose header claims more than the file holds, or less, are refused before memory is taken."""
    path = tmp_path / f"t.{kind[-3:]}"
    content = write_header(shape) + bytes(48)
    if kind == "npy":
        path.write_bytes(content)
    else:
        method = zipfile.ZIP_DEFLATED if kind == "packed npz" else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("X.npy", content)
    _, grown = measure_growth(refuse_table, path, "promises shape|holds no numbers|No array|readable")
    assert grown < 20_000_000


@needs_high_water
def test_an_archive_that_unpacks_to_more_than_there_is(tmp_path, monkeypatch):
    """An .npz file of 100 kB that unpacks to 100 MB is refused where that is not free, and nothing is unpacked."""
    np.savez_compressed(tmp_path / "t.npz", X=np.zeros((4_000_000, 3)))
    assert (tmp_path / "t.npz").stat().st_size < 200_000
    monkeypatch.setattr("polyfold.io.arrays.read_free_memory", lambda: 90e6)
    _, grown = measure_growth(refuse_table, tmp_path / "t.npz", r"takes 0\.10 GB of memory, and 0\.09 GB are free")
    assert grown < 20_000_000
    monkeypatch.setattr("polyfold.io.arrays.read_free_memory", lambda: 1e9)
    assert read_table(tmp_path / "t.npz") == 4_000_000


def repeat(start, piece, size):
    """Bytes of a piece again and again, up to a size, a megabyte at a time."""
    piece = piece * (1 + 10**6 // len(piece))
    yield start
    for _ in range(0, size, len(piece)):
        yield piece


TEXT_BOMBS = {
    "one line": (b"a,b\n", b"1", "longer than|field larger"),
    "one cell": (b'a,b\n"', b"1", "longer than"),
    "one cell of many lines": (b'a,b\n"', b"1\n", "field larger"),
    "cells": (b"a,b\n", b"1,", "more than 1,000,000 cells|longer than"),
    "names": (b"", b"a,", "more than 1,000,000 cells|longer than"),
    "quoted cells": (b"a,b\n", b'"1\n",', "more than 1,000,000 cells|longer than"),
    "a row of many lines": (b"a,b\n", b'"' + b"1\n" * 400_000 + b'",', "longer than"),
    "rows": (b"a,b\n", b"1,2\n", None),
    "empty lines": (b"a,b\n1,2\n", b"\n", None),
    "nulls": (b"a,b\n", b"\0", "readable|longer than|field larger"),
}


#: Less than all of the text would take, or all of the numbers.
MOST_BYTES = {"rows": 100_000_000, "empty lines": 15_000_000}


@needs_high_water
@pytest.mark.parametrize("kind", TEXT_BOMBS)
def test_text_that_unpacks_without_end(kind, tmp_path):
    """Packed text of 100 MB in a line, cell or header, or of 20 MB in many lines, takes bounded memory."""
    start, piece, said = TEXT_BOMBS[kind]
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for part in repeat(start, piece, 100_000_000 if said else 20_000_000):
            file.write(part)
    assert path.stat().st_size < 1_000_000
    if said is None:
        n_rows, grown = measure_growth(read_table, path)
        assert n_rows >= 1
    else:
        _, grown = measure_growth(refuse_table, path, said)
    assert grown < MOST_BYTES.get(kind, TABLE_BYTES)


@needs_high_water
def test_one_text_that_a_million_rows_refer_to(tmp_path):
    """A parquet file whose million rows all refer to one text of 100 kB is read a few rows at a time."""
    n_rows = 1_000_000
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_rows, dtype=np.int32)), pa.array(["x" * 100_000]))
    table = pa.table({"a": np.zeros(n_rows), "text": text.cast(pa.dictionary(pa.int32(), pa.string()))})
    pq.write_table(table, tmp_path / "t.parquet", use_dictionary=True, store_schema=False)
    del table, text
    assert (tmp_path / "t.parquet").stat().st_size < 2_000_000

    def read_some():
        """As far as a fortieth: it takes long to go through 100 GB."""
        n_read = 0
        for batch in open_table(tmp_path / "t.parquet").read([0], ["text"]):
            n_read += len(batch.kept["text"].to_pylist())
            if n_read > n_rows / 40:
                break
        return n_read

    n_read, grown = measure_growth(read_some)
    assert n_read > n_rows / 40
    assert grown < TABLE_BYTES


def write_png(path, width, height, *, chunks=(), depth=8, color=0, body=b""):
    """A PNG file by hand: what its header says, further chunks, and what stands for its pixels."""

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    parts = [chunk(b"IHDR", header), *(chunk(*each) for each in chunks), chunk(b"IDAT", zlib.compress(body))]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b""))


@needs_high_water
def test_images_that_unpack_without_end(tmp_path):
    """Images of a few kB that would take gigabytes are refused, by their pixels or by texts within."""
    bombs = {
        "pixels": {"width": 50_000, "height": 50_000, "body": bytes(10_000_000)},
        "width": {"width": 2**31 - 1, "height": 1},
        "height": {"width": 7, "height": 8_060_937, "body": bytes(72)},
        "texts": {
            "width": 2,
            "height": 2,
            "chunks": [(b"zTXt", b"a\0\0" + zlib.compress(bytes(200_000_000)))] * 3,
        },
    }
    for name, described in bombs.items():
        place = tmp_path / name
        place.mkdir()
        write_png(place / "a.png", **described)
        _, grown = measure_growth(refuse_table, place, "a.png is (too large|not a readable image)")
        assert grown < TABLE_BYTES


@needs_high_water
def test_a_large_image_takes_no_more_than_its_pixels(tmp_path):
    """An image of 30 million pixels is one row, and its columns are counted instead of listed."""
    Image.new("L", (5000, 6000)).save(tmp_path / "a.png")
    n_rows, grown = measure_growth(read_table, tmp_path)
    assert n_rows == 1
    assert grown < TABLE_BYTES


def test_images_of_another_kind_are_not_tried(tmp_path):
    """What is called .png and is of a kind that Pillow starts other programs for, such as EPS, is refused."""
    for name, content in {
        "eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(harm) (w) file closefile\nshowpage\n%%EOF\n",
        "fits": b"SIMPLE  =                    T",
        "svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.png").write_bytes(content)
        refuse_table(tmp_path / name, "a.png is not a readable image")
    (tmp_path / "tiff").mkdir()
    Image.new("L", (4, 4)).save(tmp_path / "tiff" / "a.png", format="TIFF")
    refuse_table(tmp_path / "tiff", "not a readable image")


def test_paths_in_archives(tmp_path):
    """Names of arrays in an archive that are paths elsewhere write nothing, and are shown without escapes."""
    content = io.BytesIO()
    np.save(content, np.eye(3))
    inner = tmp_path / "inner"
    inner.mkdir()
    for number, name in enumerate(("../up", "/etc/harm", "a/../../up", "..\\up", "C:\\up", "\x1b[2Jname", "a\nb")):
        path = inner / f"{number}.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{name}.npy", content.getvalue())
        assert read_table(path) == 3
        assert open_table(path).source.isprintable()
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("b.npy", content.getvalue())
        refuse_table(path, "more than one|--array|which")
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted(["inner", *(f"{n}.npz" for n in range(7))])


def test_links_pipes_and_devices_in_folders(tmp_path):
    """In a folder of images, pipes and devices are refused instead of waited for, and links in a circle end."""
    for name, make in {
        "pipe": os.mkfifo,
        "device": lambda path: path.symlink_to("/dev/zero"),
        "nowhere": lambda path: path.symlink_to("nothing"),
    }.items():
        (tmp_path / name).mkdir()
        make(tmp_path / name / "a.png")
        refuse_table(tmp_path / name, "a.png is not a readable image: it is no file")
    circle = tmp_path / "circle"
    circle.mkdir()
    Image.new("L", (4, 4)).save(circle / "a.png")
    (circle / "again").symlink_to(circle)
    assert read_table(circle) == 1


def test_archives_within_archives(tmp_path):
    """An archive that repeats a name, holds another archive or no array at all is refused."""
    content = io.BytesIO()
    np.save(content, np.eye(3))
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", content.getvalue())
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("X.npy", write_header((10**9, 3)) + content.getvalue())
    refuse_table(tmp_path / "t.npz", "promises shape")
    with zipfile.ZipFile(tmp_path / "u.npz", "w") as archive:
        archive.write(tmp_path / "t.npz", "X.npy")
    refuse_table(tmp_path / "u.npz", "another kind")
    with zipfile.ZipFile(tmp_path / "v.npz", "w") as archive:
        archive.writestr("readme.txt", "no array")
    refuse_table(tmp_path / "v.npz")


def write_json_bomb(kind, size):
    """A text of about this size that wants to become much more, in the place of a map."""
    values = {
        "lists": "[" + ",".join(["[]"] * (size // 3)) + "]",
        "tables": "[" + ",".join(["{}"] * (size // 3)) + "]",
        "keys": "{" + ",".join(f'"{i}":0' for i in range(size // 12)) + "}",
        "numbers": "[" + ",".join("1" for _ in range(size // 2)) + "]",
        "texts": "[" + ",".join('""' for _ in range(size // 3)) + "]",
        "depth": "[" * size,
        "one number": "9" * size,
        "one exponent": "1" + "0" * (size // 2) + "e-" + "9" * (size // 2),
        "one text": '"' + "\\u0000" * (size // 6) + '"',
    }
    return '{"format_version": 1, "map": ' + values[kind] + ', "arrays": ' + values[kind] + "}"


JSON_BOMBS = ["lists", "tables", "keys", "numbers", "texts", "depth", "one number", "one exponent", "one text"]


@needs_high_water
@pytest.mark.parametrize("kind", JSON_BOMBS)
@pytest.mark.parametrize("place", ["whole", "columns", "training", "coefficients", "weights"])
def test_json_that_wants_to_grow(kind, place):
    """JSON is refused where it would take more than ten times its size and 50 MB, wherever in it this stands."""
    text = write_json_bomb(kind, 3_000_000)
    if place != "whole":
        bomb = text.partition('"map": ')[2].rpartition(', "arrays"')[0]
        document = json.loads(random_map("kronecker", 2).to_json())
        inside = {"columns": document["map"], "training": document["map"], "coefficients": document["arrays"]}
        inside.get(place, document)[place] = "HERE"
        text = json.dumps(document).replace('"HERE"', bomb)
    messages = []

    def read():
        with pytest.raises(ModelFormatError) as told:
            PolynomialMap.from_json(text)
        messages.append(str(told.value))

    _, grown = measure_growth(read)
    assert grown < 10 * len(text) + 50_000_000
    assert len(messages[0]) < 2000


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"degree":2', '"degree":2,"degree":3', "a key stands twice"),
        ('"degree":2', '"degree":' + "9" * 4000, "number of monomials|degree"),
        ('"scale":', '"scale":1e999,"scales":', "scale"),
        ('"scale":', '"scale":NaN,"scales":', "NaN is no number"),
        ('"weights":[[', '"weights":[[' + "9" * 400 + ",", "weights"),
        ('"format_version":1', '"format_version":' + "9" * 400, "format version 9+"),
    ],
)
def test_json_that_is_almost_a_map(old, new, said):
    """JSON that readers would understand differently, or with numbers beyond float64, is refused."""
    text = random_map("kronecker", 2).to_json()
    text = re.sub(r"(?<=[:,])\s+", "", text)
    assert old in text
    with pytest.raises(ModelFormatError, match=said) as told:
        PolynomialMap.from_json(text.replace(old, new, 1))
    assert len(str(told.value)) < 2000
