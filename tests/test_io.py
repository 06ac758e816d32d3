"""Tables: every kind of file, read a few rows at a time, nothing misread, nothing out of step."""

import decimal
import gzip
import io
import os
import pickle
import threading
import zipfile

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from polyfold.io import (
    CompleteRows,
    DataError,
    OutputKindError,
    TextError,
    choose_columns,
    match_columns,
    open_table,
)
from polyfold.io.writing import make_texts, make_writer


@pytest.fixture(autouse=True, params=[500_000, 7], ids=["at once", "in batches"])
def batch_cells(request, monkeypatch):
    """All of it holds however many rows are read at a time."""
    monkeypatch.setattr("polyfold.io.table.BATCH_CELLS", request.param)


def read_all(table, columns=None, keep=(), **settings):
    """All values of a table, and what is kept of it, as lists."""
    columns = list(range(table.n_columns)) if columns is None else columns
    batches = list(CompleteRows(table, columns, keep, **settings))
    kept = {name: [value for batch in batches for value in make_texts(batch.kept[name])] for name in keep}
    positions = np.concatenate([batch.list_positions() for batch in batches])
    return np.concatenate([batch.values for batch in batches]), kept, positions


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3,4\n",
        "\ufeffa,b\r\n1,2\r\n3,4",
        'a,"b"\n"1",2\n\n3,"4"\n\n',
        " a , b\n 1 ,2\n3, 4 \n",
        "a,b\r1,2\r3,4\r",
        "a,b\n1,2\n   \n3,4\n  \n",
    ],
)
def test_text(text, tmp_path):
    table = open_table(write(tmp_path / "t.csv", text))
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(read_all(table)[0], [[1, 2], [3, 4]])
    packed = open_table(write(tmp_path / "t.csv.gz", gzip.compress(text.encode())))
    np.testing.assert_array_equal(read_all(packed, [1])[0], [[2], [4]])


def test_other_delimiters_and_no_header(tmp_path):
    np.testing.assert_array_equal(read_all(open_table(write(tmp_path / "t.tsv", "a\tb\n1\t2\n")))[0], [[1, 2]])
    table = open_table(write(tmp_path / "t.txt", "1|2\n3|4\n"), delimiter="|", has_header=False)
    assert table.names is None
    np.testing.assert_array_equal(read_all(table)[0], [[1, 2], [3, 4]])
    with pytest.raises(DataError, match="must be one character"):
        open_table(tmp_path / "t.txt", delimiter="||")


@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_once(tmp_path, packed):
    rows = "".join(f"{i},{i / 7!r}\n" for i in range(20_000))
    content = f"a,b\n{rows}".encode()
    os.mkfifo(tmp_path / "pipe.csv")
    feed = threading.Thread(
        target=write, args=(tmp_path / "pipe.csv", gzip.compress(content) if packed else content)
    )
    feed.start()
    values, _, _ = read_all(open_table(tmp_path / "pipe.csv"))
    feed.join()
    np.testing.assert_array_equal(values, [[i, i / 7] for i in range(20_000)])


def test_texts_come_back_as_they_were(tmp_path):
    texts = [
        "plain",
        "a,b",
        'say "so"',
        "two\nlines",
        "two\rlines",
        "two\r\nlines",
        " spaces ",
        "",
        "0042",
        "é\u2028",
    ]
    numbers = np.random.default_rng(0).normal(size=(len(texts), 2))
    for name in ("o.csv", "o.tsv.gz", "o.parquet"):
        with (
            (tmp_path / name).open("w+b") as file,
            make_writer(tmp_path / name, file, ["x\ry", "t"], ["y0", "y1"]) as writer,
        ):
            for k in range(0, len(texts), 3):
                rows = slice(k, k + 3)
                writer.write({"x\ry": texts[rows], "t": texts[rows]}, numbers[rows])
        table = open_table(tmp_path / name)
        assert table.names == ("x\ry", "t", "y0", "y1")
        values, kept, _ = read_all(table, [2, 3], ["t", "x\ry"])
        assert list(map(str, kept["t"])) == texts
        np.testing.assert_array_equal(values, numbers)


def test_float32_is_written_in_the_digits_that_it_has(tmp_path):
    values = np.array([[0.1, 1 / 3]], dtype=np.float32)
    with (
        (tmp_path / "o.csv").open("w+b") as file,
        make_writer(tmp_path / "o.csv", file, [], ["y0", "y1"]) as writer,
    ):
        writer.write({}, values)
    assert (tmp_path / "o.csv").read_text() == "y0,y1\n0.1,0.33333334\n"
    with (
        (tmp_path / "o.npy").open("w+b") as file,
        make_writer(tmp_path / "o.npy", file, [], ["y0", "y1"]) as writer,
    ):
        for _ in range(1000):
            writer.write({}, values)
    assert np.load(tmp_path / "o.npy").dtype == np.float32
    np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), np.repeat(values, 1000, axis=0))


@pytest.mark.parametrize("name", ["o.csv", "o.parquet", "o.npy"])
def test_no_rows_are_a_table_too(name, tmp_path):
    with (tmp_path / name).open("w+b") as file, make_writer(tmp_path / name, file, [], ["y0", "y1"]):
        pass
    table = open_table(tmp_path / name)
    assert table.n_columns == 2
    assert list(table.read([0, 1])) == []
    table.close()


def test_what_cannot_be_written(tmp_path):
    for name in ("o.npy.gz", "o.parquet.gz", "o.xlsx", "o"):
        with pytest.raises(OutputKindError, match="cannot be told from its name"):
            make_writer(tmp_path / name, io.BytesIO(), [], ["y0"])
    with pytest.raises(OutputKindError, match="holds coordinates only"):
        make_writer(tmp_path / "o.npy", io.BytesIO(), ["id"], ["y0"])


def test_missing_values_leave_all_else_in_step(tmp_path):
    """Rows 0, 4 and all of a later stretch miss a value; parquet is written though batches are empty."""
    holes = {0, 4, *range(20, 35)}
    rows = [(f"id{i:03d}", "NA" if i in holes else i, i / 3) for i in range(60)]
    write(tmp_path / "t.csv", "id,a,b\n" + "".join(f"{name},{a},{b!r}\n" for name, a, b in rows))
    values, kept, positions = read_all(open_table(tmp_path / "t.csv"), [1, 2], ["id"], drop_missing=True)
    expected = [i for i in range(60) if i not in holes]
    np.testing.assert_array_equal(values, [[i, i / 3] for i in expected])
    assert kept["id"] == [f"id{i:03d}" for i in expected]
    np.testing.assert_array_equal(positions, expected)
    complete = CompleteRows(open_table(tmp_path / "t.csv"), [1, 2], ["id"], drop_missing=True)
    with (
        (tmp_path / "o.parquet").open("w+b") as file,
        make_writer(tmp_path / "o.parquet", file, ["id"], ["y0", "y1"]) as writer,
    ):
        for batch in complete:
            writer.write(batch.kept, batch.values)
    assert pq.read_table(tmp_path / "o.parquet")["id"].to_pylist() == kept["id"]
    assert complete.tell_dropped() == "17 rows that miss a value were left out."
    with pytest.raises(DataError, match="missing in 17 rows: 17 in 'a'"):
        list(CompleteRows(open_table(tmp_path / "t.csv"), [1, 2]))


def test_infinity_is_found_in_its_row(tmp_path):
    write(tmp_path / "t.csv", "a,b\n" + "1,2\n" * 40 + "1,-inf\n" + "1,2\n" * 5)
    with pytest.raises(DataError, match="column 'b' holds -inf in data row 41"):
        read_all(open_table(tmp_path / "t.csv"))


def test_a_cell_or_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("polyfold.io.delimited.LONGEST_CELL", 1000)
    monkeypatch.setattr("polyfold.io.delimited.LONGEST_LINE", 5000)
    with pytest.raises(DataError, match="field larger than field limit"):
        read_all(open_table(write(tmp_path / "t.csv", "a,b\n1," + "2" * 2000)))
    with pytest.raises(DataError, match="a line is longer than 5,000 characters"):
        read_all(open_table(write(tmp_path / "t.csv.gz", gzip.compress(b"a,b\n" + b"," * 100_000))))


def test_long_texts_make_short_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("polyfold.io.delimited.BATCH_CHARACTERS", 10_000)
    write(tmp_path / "t.csv", "a,text\n" + "".join(f"{i},{'x' * 3000}\n" for i in range(20)))
    table = open_table(tmp_path / "t.csv")
    batches = list(table.read([0]))
    table.close()
    assert max(map(len, batches)) <= 4
    np.testing.assert_array_equal(np.concatenate([batch.values for batch in batches])[:, 0], range(20))
    monkeypatch.setattr("polyfold.io.parquet.BATCH_BYTES", 10_000)
    texts = [f"{i}" * 3000 for i in range(20)]
    pq.write_table(pa.table({"a": range(20), "text": texts}), tmp_path / "t.parquet", use_dictionary=False)
    assert max(map(len, open_table(tmp_path / "t.parquet").read([0], ["text"]))) <= 4


def test_types_of_parquet(tmp_path):
    columns = {
        "int": pa.array([1, None, 3], pa.int64()),
        "float": pa.array([0.5, 1.5, 2.5], pa.float32()),
        "truth": pa.array([True, False, True]),
        "money": pa.array([decimal.Decimal("1.25"), decimal.Decimal("2.50"), decimal.Decimal("3.75")]),
        "kind": pa.array([7, 8, 7]).dictionary_encode(),
        "text": pa.array(["a", "b", "c"]),
        "list": pa.array([[1], [2, 3], []]),
        "id": pa.array([2**60, 2**60 + 1, 2**60 + 2]),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    values, _, positions = read_all(open_table(tmp_path / "t.parquet"), [0, 1, 2, 3, 4], drop_missing=True)
    np.testing.assert_array_equal(values, [[1, 0.5, 1, 1.25, 7], [3, 2.5, 1, 3.75, 7]])
    np.testing.assert_array_equal(positions, [0, 2])
    batches = list(open_table(tmp_path / "t.parquet").read([1], ["id", "list"]))
    assert [value for batch in batches for value in batch.kept["id"].to_pylist()] == [2**60, 2**60 + 1, 2**60 + 2]
    for name, kind in (("text", "string"), ("list", "list<")):
        with pytest.raises(
            TextError, match=f"column '{name}' is of type .*{kind}.*, which holds no numbers"
        ) as told:
            read_all(open_table(tmp_path / "t.parquet"), [list(columns).index(name)])
        assert told.value.column == f"'{name}'"


def test_a_damaged_parquet_file(tmp_path):
    pq.write_table(pa.table({"a": np.random.default_rng(0).normal(size=10_000)}), tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    for broken in (content[:-50], content[: -8 - length] + b"\xff" * length + content[-8:], content[:100]):
        with pytest.raises(DataError, match="is not a readable parquet file"):
            open_table(write(tmp_path / "b.parquet", broken))
    with pytest.raises(DataError, match="is damaged after 0 rows"):
        read_all(open_table(write(tmp_path / "b.parquet", content[:4] + b"\xff" * 40 + content[44:])))


@pytest.mark.parametrize("dtype", [">f8", "<f4", "<i2", "u1", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays(dtype, order, tmp_path):
    X = np.arange(60).reshape(20, 3).astype(dtype, order=order)
    np.save(tmp_path / "X.npy", X)
    table = open_table(tmp_path / "X.npy")
    assert isinstance(table.take_whole(), np.memmap)
    np.testing.assert_array_equal(read_all(table, [2, 0])[0], X[:, [2, 0]])


def test_arrays_that_are_no_tables(tmp_path):
    for array in (
        np.zeros(3),
        np.zeros(()),
        np.zeros((2, 2), complex),
        np.zeros((2, 2, 2, 2, 2)),
        np.array([["a"]]),
    ):
        np.save(tmp_path / "X.npy", array)
        with pytest.raises(DataError, match="must hold numbers in 2 dimensions"):
            open_table(tmp_path / "X.npy")
    np.savez(tmp_path / "X.npz", X=np.zeros((2, 2)))
    (tmp_path / "X.npz").rename(tmp_path / "Y.npy")
    with pytest.raises(DataError, match=r"is an .npz file by its content"):
        open_table(tmp_path / "Y.npy")
    np.save(tmp_path / "Z.npy", np.zeros((2, 2)))
    (tmp_path / "Z.npy").rename(tmp_path / "Z.npz")
    with pytest.raises(DataError, match=r"is an .npy file by its content"):
        open_table(tmp_path / "Z.npz")


def test_of_an_archive_only_what_is_asked_for_is_unpacked(tmp_path):
    """Beside X are a vector, objects, and a member that cannot be unpacked."""
    X, y = np.arange(40.0).reshape(20, 2), np.array([f"n{i}" for i in range(20)])
    objects = np.array([{}] * 20, dtype=object)
    np.savez(tmp_path / "t.npz", X=X, y=y, bad=np.zeros((20, 100_000)), objects=objects, short=np.zeros(3))
    content = bytearray((tmp_path / "t.npz").read_bytes())
    with zipfile.ZipFile(tmp_path / "t.npz") as archive:
        place = archive.getinfo("bad.npy").header_offset
    content[place + 1_000_000 : place + 1_000_100] = b"\xff" * 100
    table = open_table(write(tmp_path / "t.npz", bytes(content)))
    assert table.labels == ("y",)
    values, kept, _ = read_all(table, keep=["y"])
    np.testing.assert_array_equal(values, X)
    assert kept["y"] == y.tolist()
    with pytest.raises(DataError, match=r"is not a readable .npz file"):
        open_table(tmp_path / "t.npz", array="bad")


def save_image(folder, name, mode, value, size=(4, 2), **settings):
    folder.mkdir(exist_ok=True)
    Image.new(mode, size, value).save(folder / name, **settings)


def test_modes_of_images(tmp_path):
    save_image(tmp_path / "a", "1.png", "L", 7)
    save_image(tmp_path / "a", "2.PNG", "LA", (0, 51))  # a fifth of black on white
    save_image(tmp_path / "a", "3.png", "1", 1)
    write(tmp_path / "a" / "notes.txt", "no image")
    np.testing.assert_array_equal(
        read_all(open_table(tmp_path / "a"))[0], np.repeat([[7], [204], [255]], 8, axis=1)
    )
    save_image(tmp_path / "a", "4.png", "RGBA", (10, 20, 30, 255))
    with pytest.raises(DataError, match=r"4.png has colours, and 1.png has none: pass --grey"):
        read_all(open_table(tmp_path / "a"))
    colours = open_table(tmp_path / "a", grey=False)
    assert colours.image_shape == (2, 4, 3)
    np.testing.assert_array_equal(read_all(colours)[0][-1], [10, 20, 30] * 8)
    grey = round(0.299 * 10 + 0.587 * 20 + 0.114 * 30)
    np.testing.assert_array_equal(read_all(open_table(tmp_path / "a", grey=True))[0][-1], [grey] * 8)


@pytest.mark.parametrize("grey", [None, False])
def test_deep_grey_is_brought_to_256_levels(tmp_path, grey):
    (tmp_path / "deep").mkdir()
    pixels = np.array([[0, 20_000], [40_000, 65_535]], dtype=np.uint16)
    Image.fromarray(pixels).save(tmp_path / "deep" / "1.png")
    expected = np.round(pixels.ravel() / 257)
    values = read_all(open_table(tmp_path / "deep", grey=grey))[0]
    np.testing.assert_array_equal(values, [expected if grey is None else np.repeat(expected, 3)])


def test_images_are_turned_as_their_camera_says(tmp_path):
    pixels = np.arange(8, dtype=np.uint8).reshape(2, 4) * 30
    image = Image.fromarray(pixels)
    exif = Image.Exif()
    exif[0x0112] = 6
    (tmp_path / "a").mkdir()
    image.save(tmp_path / "a" / "1.png", exif=exif)
    table = open_table(tmp_path / "a")
    assert table.image_shape == (4, 2)
    np.testing.assert_array_equal(read_all(table)[0].reshape(4, 2), np.rot90(pixels, -1))


def test_an_image_that_would_fill_the_memory(tmp_path, monkeypatch):
    save_image(tmp_path / "a", "1.png", "L", 7, (50, 50))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2000)
    with pytest.raises(DataError, match=r"1.png is too large"):
        open_table(tmp_path / "a")


def test_names_in_messages_move_no_cursor(tmp_path):
    hostile = "\x1b[2Jname\n"
    table = open_table(write(tmp_path / f"{hostile}.csv", f'"{hostile}",b\n1,2\n'))
    assert "\x1b" not in table.source
    table.close()
    for action in (
        lambda: choose_columns(table, ["none"]),
        lambda: match_columns(table, ["x", hostile], 2),
        lambda: match_columns(table, None, 5),
    ):
        with pytest.raises(DataError) as told:
            action()
        assert "\x1b" not in str(told.value)
        assert "\n" not in str(told.value)


def test_columns_by_name():
    class Named:
        source, labels, n_columns = "t.csv", ("file",), 3
        names = ("a", "b", "c")

    table = Named()
    assert choose_columns(table) == [0, 1, 2]
    assert choose_columns(table, ["c", "a", "c"]) == [2, 0]
    assert choose_columns(table, exclude=["b"], keep=["c", "file"]) == [0]
    with pytest.raises(DataError, match=r"No column of t.csv is left"):
        choose_columns(table, exclude=["a", "b", "c"])
    assert match_columns(table, ["c", "a"], 2, ["file"]) == ([2, 0], ["b"])
    assert match_columns(table, ["c", "a"], 2, ["b"]) == ([2, 0], [])
    assert match_columns(table, None, 2, ["b"]) == ([0, 2], [])
    with pytest.raises(DataError, match=r"lacks x, which the map needs. It has a, b, c."):
        match_columns(table, ["a", "x"], 2)
    with pytest.raises(DataError, match="has 3 columns, and the map takes 2"):
        match_columns(table, None, 2)
    Named.names = ("", "b", "")
    assert choose_columns(table) == [1]
    Named.names = ("a", "b", "c")
    many = [f"n{i}" for i in range(100)]
    with pytest.raises(DataError, match="lacks n0, n1, n2, n3, n4, n5, n6, n7 and 92 more"):
        match_columns(table, many, 100)


def test_several_files_are_one_table(tmp_path):
    for k in range(3):
        frame = pandas.DataFrame({"a": [10 * k, 10 * k + 1], "b": [0.5, 1.5], "id": [f"0{k}", f"1{k}"]})
        frame.to_parquet(tmp_path / f"{k}.parquet")
        frame.to_csv(tmp_path / f"{k}.csv", index=False)
    for ending in ("parquet", "csv"):
        values, kept, positions = read_all(open_table(tmp_path / f"*.{ending}"), [1, 0], ["id"])
        assert values[:, 1].tolist() == [0, 1, 10, 11, 20, 21]
        assert [str(each) for each in kept["id"]] == ["00", "10", "01", "11", "02", "12"]
        assert positions.tolist() == [0, 1, 2, 3, 4, 5]
    assert open_table(tmp_path / "*.parquet").n_rows == 6
    assert open_table(tmp_path / "*.csv").n_rows is None
    (tmp_path / "[odd].csv").write_text("a,b\n1,2\n")  # a file of that very name is no pattern
    assert read_all(open_table(tmp_path / "[odd].csv"))[0].tolist() == [[1, 2]]


def test_errors_of_other_processes_arrive_whole():
    error = pickle.loads(pickle.dumps(TextError("no number", "'b'")))
    assert (str(error), error.column) == ("no number", "'b'")
