"""The command line over every kind of data: what is read, matched, kept, dropped, refused and written."""

import gzip
import io
import json
import re
import subprocess
import sys
from itertools import product

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from packaging.version import Version
from PIL import Image
from typer.testing import CliRunner

from commands import fail, polyfold, read_json, succeed
from polyfold import NPPE, PolynomialEmbedding, PolynomialMap
from polyfold.cli import app
from polyfold.cli.explore import draw_rows, join_column
from polyfold.datasets import make_swiss_roll
from polyfold.io import Batch
from test_explorer import unpack

NAMES = ["width", "depth, in m", 'the "height"']


def make_frame(n_samples, seed):
    """A roll with names that need quotes, an id that must stay as it is, and a column that nobody asked for."""
    X, Z = make_swiss_roll(n_samples, random_state=seed)
    frame = pandas.DataFrame(X, columns=NAMES)
    frame.insert(0, "id", [f"{i:05d}" for i in range(n_samples)])
    frame["t"] = Z[:, 0]
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of 300 rows, and 200 others in every format."""
    place = tmp_path_factory.mktemp("data")
    frame, unseen = make_frame(300, 0), make_frame(200, 1)
    frame.to_csv(place / "train.csv", index=False)
    NPPE(n_neighbors=10).fit(frame[NAMES]).map_.save(place / "model.safetensors")
    shuffled = unseen[[NAMES[2], "t", "id", NAMES[0], NAMES[1]]]
    write_formats(shuffled, place)
    np.save(place / "unseen.npy", unseen[NAMES].to_numpy())
    np.savez(place / "unseen.npz", X=unseen[NAMES].to_numpy(), y=unseen["id"].to_numpy(dtype="U5"))
    return place


def write_formats(frame, place):
    frame.to_csv(place / "unseen.csv", index=False)
    frame.to_csv(place / "unseen.tsv", index=False, sep="\t")
    frame.to_csv(place / "unseen.csv.gz", index=False)
    frame.to_parquet(place / "unseen.parquet")


@pytest.fixture(scope="module")
def expected(folder):
    return PolynomialMap.load(folder / "model.safetensors").transform(make_frame(200, 1)[NAMES])


def read_text(file, **settings):
    """Read numbers to the last bit, which pandas does unasked from 3.0 on, and warns of asking from 3.1 on."""
    asked = {} if Version(pandas.__version__).major >= 3 else {"float_precision": "round_trip"}
    return pandas.read_csv(file, **asked, **settings)


def read_coordinates(path):
    """Coordinates and ids from a file of any kind that `transform` writes."""
    if path.suffix == ".npy":
        return np.load(path), None
    if path.suffix == ".parquet":
        frame = pandas.read_parquet(path)
    else:
        frame = read_text(path, dtype={"id": str}, sep="\t" if ".tsv" in path.name else ",")
    return frame[["y0", "y1"]].to_numpy(), list(frame["id"])


@pytest.mark.parametrize(
    ("ending", "written"),
    [*product(["csv", "tsv", "csv.gz", "parquet"], ["csv", "tsv.gz", "parquet"]), ("npy", "npy"), ("npz", "npy")],
)
def test_every_format_gives_the_same_coordinates(folder, expected, ending, written, tmp_path):
    target = tmp_path / f"placed.{written}"
    keep = [] if written == "npy" else ["--keep", "id"]
    done = succeed("transform", folder / "model.safetensors", folder / f"unseen.{ending}", "-o", target, *keep)
    placed, ids = read_coordinates(target)
    np.testing.assert_array_equal(placed, expected)
    assert ids is None or ids == [f"{i:05d}" for i in range(200)]
    if written != "npy":
        assert "Ignored t: the map does not take it." in done.stderr
    assert "Placed 200 rows in" in done.stderr
    assert "rows/s" in done.stderr


def test_standard_streams(folder, expected):
    text = (folder / "unseen.csv").read_text()
    done = succeed("transform", folder / "model.safetensors", "-", "--keep", "id", "--quiet", input=text)
    frame = read_text(io.StringIO(done.stdout), dtype={"id": str})
    np.testing.assert_array_equal(frame[["y0", "y1"]], expected)
    assert list(frame["id"]) == [f"{i:05d}" for i in range(200)]
    assert done.stderr == ""
    chosen = "\n".join(",".join(row) for row in make_frame(200, 1)[NAMES].to_numpy().astype(str))
    done = succeed("transform", folder / "model.safetensors", "-", "--no-header", "--quiet", input=chosen)
    np.testing.assert_array_equal(read_text(io.StringIO(done.stdout)), expected)


def test_text_written_is_exact_and_packed_text_the_same_bytes(folder, tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        succeed("transform", folder / "model.safetensors", folder / "unseen.csv", "-o", tmp_path / name, "-q")
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b"y0,y1\n")


def test_a_type_that_is_kept_stays_in_parquet(folder, tmp_path):
    frame = make_frame(200, 1)
    frame["when"] = pandas.date_range("2026-01-01", periods=200, freq="h")
    frame["kind"] = pandas.Categorical(["a", "b"] * 100)
    frame.to_parquet(tmp_path / "in.parquet")
    keep = ["--keep", "when", "--keep", "kind", "--keep", "t"]
    succeed(
        "transform", folder / "model.safetensors", tmp_path / "in.parquet", "-o", tmp_path / "out.parquet", *keep
    )
    given, kept = pq.read_schema(tmp_path / "in.parquet"), pq.read_schema(tmp_path / "out.parquet")
    assert kept.names == ["when", "kind", "t", "y0", "y1"]
    assert [kept.field(name).type for name in kept.names[:3]] == [
        given.field(name).type for name in kept.names[:3]
    ]
    back = pandas.read_parquet(tmp_path / "out.parquet")
    pandas.testing.assert_frame_equal(back[["when", "kind", "t"]], frame[["when", "kind", "t"]])


def test_extrapolation_is_a_column(folder, tmp_path):
    succeed(
        "transform",
        folder / "model.safetensors",
        folder / "unseen.csv",
        "-o",
        tmp_path / "o.csv",
        "--extrapolation",
    )
    learned = PolynomialMap.load(folder / "model.safetensors")
    found = pandas.read_csv(tmp_path / "o.csv")["extrapolation"]
    np.testing.assert_allclose(found, learned.extrapolation(make_frame(200, 1)[NAMES]), rtol=1e-12)


def test_batches_do_not_show(folder, expected, tmp_path, monkeypatch):
    """Rows read a few at a time, from every kind of file, are those read at once."""
    monkeypatch.setattr("polyfold.io.table.BATCH_CELLS", 35)
    for number, (given, written) in enumerate(
        [("csv", "csv"), ("csv.gz", "parquet"), ("parquet", "csv"), ("parquet", "parquet"), ("npy", "npy")]
    ):
        target = tmp_path / f"{number}.{written}"
        keep = [] if written == "npy" else ["--keep", "id"]
        arguments = ["transform", folder / "model.safetensors", folder / f"unseen.{given}", "-o", target, *keep]
        shown = CliRunner().invoke(app, list(map(str, arguments)))
        assert shown.exit_code == 0, shown.output
        placed, ids = read_coordinates(target)
        np.testing.assert_array_equal(placed, expected)
        assert ids is None or ids == [f"{i:05d}" for i in range(200)]


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_what_is_fitted_is_what_python_fits(folder, tmp_path, ending):
    frame = make_frame(300, 0)
    if ending == "npz":
        np.savez(tmp_path / "train.npz", X=np.ascontiguousarray(frame[NAMES]), y=frame["id"].to_numpy(dtype="U5"))
    elif ending == "parquet":
        frame.to_parquet(tmp_path / "train.parquet")
    else:
        frame.to_csv(tmp_path / "train.csv", index=False)
    chosen = {"csv": ["--exclude", "t", "--keep", "id"], "npz": []}.get(ending)
    chosen = [part for name in NAMES for part in ("--columns", name)] if chosen is None else chosen
    succeed("fit", tmp_path / f"train.{ending}", "-o", tmp_path / "m.safetensors", "-k", 10, *chosen)
    learned = PolynomialMap.load(tmp_path / "m.safetensors")
    oracle = PolynomialEmbedding(n_neighbors=10).fit(np.ascontiguousarray(frame[NAMES])).map_
    np.testing.assert_array_equal(learned.coefficients, oracle.coefficients)
    assert learned.columns == (None if ending == "npz" else tuple(NAMES))
    assert learned.training["parameters"]["n_neighbors"] == 10


def test_columns_in_another_order_are_another_order(folder, tmp_path):
    chosen = ["--columns", NAMES[2], "--columns", NAMES[0]]
    succeed("fit", folder / "train.csv", "-o", tmp_path / "m.safetensors", "-k", 10, "-m", 1, *chosen)
    assert PolynomialMap.load(tmp_path / "m.safetensors").columns == (NAMES[2], NAMES[0])


def test_missing_values_are_counted_and_dropped(folder, expected, tmp_path):
    frame = make_frame(200, 1).astype(object)
    frame.loc[3, NAMES[0]], frame.loc[3, NAMES[1]], frame.loc[150, NAMES[0]] = "NA", "", None
    frame.to_csv(tmp_path / "holes.csv", index=False)
    model, holes = folder / "model.safetensors", tmp_path / "holes.csv"
    for command in (
        ["transform", model, holes, "-o", tmp_path / "o.csv"],
        ["fit", holes, "-o", tmp_path / "m", "--keep", "id"],
    ):
        said = fail(3, *command)
        assert "holes.csv: values are missing in 2 rows: 2 in 'width', 1 in 'depth, in m'." in said
        assert "--drop-missing" in said
    assert not (tmp_path / "o.csv").exists()
    assert not (tmp_path / "m").exists()
    done = succeed("transform", model, holes, "-o", tmp_path / "o.csv", "--drop-missing", "--keep", "id")
    placed, ids = read_coordinates(tmp_path / "o.csv")
    kept = [i for i in range(200) if i not in (3, 150)]
    np.testing.assert_array_equal(placed, expected[kept])
    assert ids == [f"{i:05d}" for i in kept]
    assert "Placed 198 rows" in done.stderr
    assert "2 rows that miss a value were left out" in done.stderr
    fitted = read_json("fit", holes, "-o", tmp_path / "m.safetensors", "--drop-missing", "--exclude", "id")
    assert fitted["diagnostics"]["n_samples"] == 198


def test_missing_values_in_parquet_and_arrays(folder, tmp_path):
    frame = make_frame(200, 1)
    frame.loc[7, NAMES[0]] = None
    frame.to_parquet(tmp_path / "holes.parquet")
    np.save(tmp_path / "holes.npy", frame[NAMES].to_numpy())
    model = folder / "model.safetensors"
    assert "1 row: 1 in 'width'" in fail(3, "transform", model, tmp_path / "holes.parquet", "-q")
    assert "1 row: 1 in 0" in fail(3, "transform", model, tmp_path / "holes.npy", "-o", tmp_path / "o.npy")
    done = succeed("transform", model, tmp_path / "holes.parquet", "--drop-missing", "--keep", "id", "-q")
    assert done.stdout.count("\n") == 200
    assert "00007" not in done.stdout


BAD_TABLES = {
    "empty.csv": ("", "empty.csv is empty"),
    "names.csv": ("a,b\n", "has 0 rows, and a map is learned from 2 or more"),
    "text.csv": (
        "a,b\n1,2\n3,red\n",
        "column 'b' holds 'red' in data row 2, which is no number. Leave the column out",
    ),
    "comma.csv": (
        'a,b\n1,2\n3,"1,5"\n',
        "holds '1,5' in data row 2, which is no number. Numbers are written with a point.",
    ),
    "underscore.csv": ("a,b\n1,2\n3,2020_01\n", "column 'b' holds '2020_01' in data row 2, which is no number"),
    "ragged.csv": ("a,b\n1,2\n3\n", "data row 2 has 1 cells, and the table has 2 columns"),
    "quote.csv": ('a,b\n1,"2\n', "is not a table of text"),
    "infinite.csv": ("a,b\n1,2\n3,inf\n", "column 'b' holds inf in data row 2"),
    "numbers.csv": ("1,2\n3,4\n", "holds numbers, not names of columns. If it is data, pass --no-header."),
    "semicolons.csv": ("a;b\n1;2\n", "--delimiter ';'"),
    "twice.csv": ("a,a\n1,2\n", "more than one column named a"),
    "bytes.csv": (b"\xff\xfea\x00,\x00", "is not text in UTF-8"),
    "cut.csv.gz": (gzip.compress(b"a,b\n" + b"1,2\n" * 1000)[:-20], "is compressed, and cut short or damaged"),
    "bad.parquet": (b"PAR1 but not so", "is not a readable parquet file"),
    "bad.npy": (b"\x93NUMPY\x01\x00junk", "is not a readable .npy file"),
    "bad.npz": (b"PK\x03\x04junk", "is not a readable .npz file"),
    "data.xlsx": (b"x", "What data.xlsx holds cannot be told from its name"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables(name, tmp_path):
    content, said = BAD_TABLES[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert said in fail(3, "fit", tmp_path / name, "-o", tmp_path / "m.safetensors")
    assert not (tmp_path / "m.safetensors").exists()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_objects_in_arrays_are_not_loaded(tmp_path):
    np.save(tmp_path / "o.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "o.npz", X=np.array([{}, {}], dtype=object))
    for name, said in (("o.npy", "objects of Python"), ("o.npz", "is a table of numbers")):
        assert said in fail(3, "fit", tmp_path / name, "-o", tmp_path / "m.safetensors")


def test_columns_that_do_not_match(folder, tmp_path):
    model = folder / "model.safetensors"
    make_frame(5, 2).drop(columns=["width"]).to_csv(tmp_path / "less.csv", index=False)
    said = fail(3, "transform", model, tmp_path / "less.csv")
    assert said == ('error: less.csv lacks width, which the map needs. It has id, depth, in m, the "height", t.')
    assert "has no column 'idd'. Is it 'id'?" in fail(
        3, "transform", model, folder / "unseen.csv", "--keep", "idd"
    )
    assert "has no column 'none'" in fail(
        3, "fit", folder / "train.csv", "-o", tmp_path / "m", "--exclude", "none"
    )
    np.save(tmp_path / "four.npy", np.zeros((3, 4)))
    said = fail(3, "transform", model, tmp_path / "four.npy")
    assert "four.npy has 4 columns, and the map takes 3: width, depth, in m" in said
    frame = make_frame(5, 2).rename(columns={"id": "y0"})
    frame.to_csv(tmp_path / "clash.csv", index=False)
    assert "is named 'y0', as a coordinate is" in fail(
        2, "transform", model, tmp_path / "clash.csv", "--keep", "y0", "-q"
    )


@pytest.fixture
def album(tmp_path):
    """Two folders of images: a bright square at different places, in two sizes."""
    for number in range(40):
        pixels = np.zeros((16, 12), dtype=np.uint8)
        row, column = divmod(number, 8)
        pixels[2 * row : 2 * row + 6, column : column + 5] = 120 + 3 * number
        place = tmp_path / "album" / ("left" if column < 4 else "right")
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(place / f"{number:02d}.png")
    return tmp_path / "album"


def test_a_folder_of_images(album, tmp_path):
    model = tmp_path / "album.safetensors"
    told = read_json("fit", album, "-o", model, "-k", 8, "-m", 2)
    assert told["image_shape"] == [16, 12]
    done = succeed("transform", model, album, "--keep", "file", "--keep", "folder", "-q")
    frame = read_text(io.StringIO(done.stdout))
    paths = sorted(album.rglob("*.png"))
    pixels = np.stack([np.asarray(Image.open(path)).ravel() for path in paths])
    np.testing.assert_allclose(frame[["y0", "y1"]], PolynomialMap.load(model).transform(pixels), rtol=1e-12)
    assert list(frame["file"]) == [path.relative_to(album).as_posix() for path in paths]
    assert set(frame["folder"]) == {"left", "right"}


def test_images_are_resized_and_greyed_on_request(album, tmp_path):
    Image.new("RGB", (12, 16), (10, 200, 30)).save(album / "colour.png")
    Image.new("L", (30, 20), 7).save(album / "zlarge.jpg")
    model = tmp_path / "m.safetensors"
    said = fail(3, "fit", album, "-o", model, "--grey")
    assert (
        "zlarge.jpg has 20 × 30 pixels, and colour.png 16 × 12. Bring all to one size with --size 16x12." in said
    )
    told = read_json("fit", album, "-o", model, "--grey", "--size", "8x6", "-k", 8)
    assert told["image_shape"] == [8, 6]
    done = succeed("transform", model, album, "--keep", "file", "-q")  # brought to the size of the model by itself
    assert done.stdout.count("\n") == 43
    (album / "broken.png").write_bytes(b"\x89PNG junk")
    assert "broken.png is not a readable image" in fail(3, "transform", model, album)
    (tmp_path / "nothing").mkdir()
    assert "holds no images" in fail(3, "fit", tmp_path / "nothing", "-o", tmp_path / "n.safetensors")


def test_arrays_of_images_know_their_shape(tmp_path):
    random = np.random.default_rng(0)
    np.savez(tmp_path / "two.npz", a=random.random((50, 4)), b=random.random((50, 3, 2)))
    said = fail(3, "fit", tmp_path / "two.npz", "-o", tmp_path / "m")
    assert "holds the arrays a (50, 4), b (50, 3, 2). Name one with --array a." in said
    told = read_json("fit", tmp_path / "two.npz", "-o", tmp_path / "m", "--array", "b", "-k", 12)
    assert told["image_shape"] == [3, 2]


def test_missing_extras_are_named(folder, tmp_path):
    """Without pyarrow and Pillow text and arrays work, and the rest says what to install."""
    script = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pyarrow", "PIL", "pandas", "matplotlib", "onnx", "sqlglot"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from polyfold.cli import main
main()
"""

    def run(*arguments):
        command = [sys.executable, "-c", script, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True)

    model = folder / "model.safetensors"
    assert run("transform", model, folder / "unseen.csv", "-q").returncode == 0
    assert run("transform", model, folder / "unseen.npz", "-o", tmp_path / "o.npy").returncode == 0
    assert run("export", model, "--to", "json").returncode == 0
    for command, package, extra in [
        (["transform", model, folder / "unseen.parquet"], "pyarrow", "parquet"),
        (["transform", model, folder / "unseen.csv", "-o", tmp_path / "o.parquet"], "pyarrow", "parquet"),
        (["fit", folder, "-o", tmp_path / "m"], "PIL", "images"),
        (["export", model, "--to", "sql"], "sqlglot", "sql"),
    ]:
        done = run(*command)
        assert done.returncode == 1
        assert f'This needs the package {package}: pip install "polyfold[{extra}]"' in done.stderr
    assert not list(tmp_path.glob("*.parquet"))
    assert not list(tmp_path.glob(".polyfold*"))


def test_json_of_fit_is_all_of_it(folder, tmp_path):
    done = polyfold("fit", folder / "train.csv", "-o", tmp_path / "m.safetensors", "--json", "--keep", "id")
    told = json.loads(done.stdout)
    assert told["model"] == str(tmp_path / "m.safetensors")
    assert told["bytes"] == (tmp_path / "m.safetensors").stat().st_size
    assert [column["name"] for column in told["columns"]] == [*NAMES, "t"]
    assert told["parameters"]["degree"] == 2
    assert set(told["formulas"]) == {"y0", "y1"}
    assert isinstance(told["warnings"], list)


def explore(folder, data, *options, model="model.safetensors"):
    """The payload of the page that `explore` writes."""
    page = folder / "page.html"
    succeed("explore", folder / model, data, "-o", page, "--force", *options)
    return json.loads(re.search(r'id="payload">(.*?)</script>', page.read_text(encoding="utf-8"))[1])


def test_the_page_of_explore(folder, tmp_path):
    """All columns that the map does not take are there, under their rows' own numbers."""
    frame = make_frame(200, 1).astype({NAMES[0]: object})
    frame["n"] = [str(i) if i % 3 else "NA" for i in range(200)]
    frame["long"] = [str(2**60 + i) for i in range(200)]
    frame.loc[[0, 7], NAMES[0]] = ""
    frame.to_csv(tmp_path / "d.csv", index=False)
    payload = explore(folder, tmp_path / "d.csv", "--drop-missing")
    kept = [i for i in range(200) if i not in (0, 7)]
    rows = unpack(payload["rows"])
    np.testing.assert_array_equal(rows, np.array(kept) + 1)
    np.testing.assert_array_equal(
        unpack(payload["values"]).reshape(-1, 3), make_frame(200, 1)[NAMES].to_numpy()[kept]
    )
    labels = {label["name"]: label for label in payload["labels"]}
    assert set(labels) == {"id", "t", "n", "long"}
    assert [labels["id"]["texts"][code] for code in unpack(labels["id"]["codes"])] == [f"{i:05d}" for i in kept]
    assert [labels["long"]["texts"][code] for code in unpack(labels["long"]["codes"])] == [
        str(2**60 + i) for i in kept
    ]
    np.testing.assert_array_equal(unpack(labels["n"]["numbers"]), [i if i % 3 else np.nan for i in kept])
    np.testing.assert_allclose(unpack(labels["t"]["numbers"]), make_frame(200, 1)["t"][kept])
    payload = explore(folder, tmp_path / "d.csv", "--drop-missing", "--keep", "id", "--max-points", "50")
    assert [label["name"] for label in payload["labels"]] == ["id"]
    assert payload["n_points"] == 50
    rows = unpack(payload["rows"]).astype(int)
    np.testing.assert_array_equal(
        unpack(payload["values"]).reshape(-1, 3), make_frame(200, 1)[NAMES].to_numpy()[rows - 1]
    )
    label = payload["labels"][0]
    assert [label["texts"][code] for code in unpack(label["codes"])] == [f"{row - 1:05d}" for row in rows]


def test_of_many_further_columns_some_are_shown(folder, tmp_path):
    frame = make_frame(20, 1).assign(**{f"c{k}": k for k in range(30)}).drop(columns=["id", "t"])
    frame.to_csv(tmp_path / "d.csv")  # with an index that has no name
    done = succeed("explore", folder / "model.safetensors", tmp_path / "d.csv", "-o", tmp_path / "p.html")
    assert "Shows 20 of 30 further columns: --keep chooses which." in done.stderr
    payload = explore(folder, tmp_path / "d.csv", "--keep", "c29")
    assert [label["name"] for label in payload["labels"]] == ["c29"]


def test_rows_are_drawn_alike_however_they_are_read():
    X = np.arange(1000.0)[:, np.newaxis]
    found = []
    for size in (1, 7, 300, 1000):
        batches = [
            Batch(X[k : k + size], {"a": list(range(k, min(k + size, 1000)))}, k) for k in range(0, 1000, size)
        ]
        n_rows, drawn = draw_rows(batches, 60)
        assert n_rows == 1000
        values = np.concatenate([batch.values for batch in drawn])[:, 0]
        np.testing.assert_array_equal(values, np.concatenate([batch.list_positions() for batch in drawn]))
        np.testing.assert_array_equal(values, [value for batch in drawn for value in batch.kept["a"]])
        found.append(values)
    assert all(np.array_equal(values, found[0]) for values in found)
    assert len(found[0]) == 60
    assert found[0].mean() == pytest.approx(500, abs=120)  # from everywhere


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([["1", "2.5"], ["", "-3e2"]], [1, 2.5, np.nan, -300]),
        ([["007", "1"]], ["007", "1"]),
        ([["0", "0.5", "-0", ".5"]], [0, 0.5, 0, 0.5]),
        ([["1_000", "1"]], ["1_000", "1"]),
        ([["12345678901234567", "1"]], ["12345678901234567", "1"]),
        ([["1", "red"]], ["1", "red"]),
        ([pa.array([1, None, 3])], [1, np.nan, 3]),
        ([pa.array([True, None])], [True, None]),
        ([pa.array([[1], [2, 3]])], [[1], [2, 3]]),
        ([np.array([1.5, 2.5]), np.array([3.5])], [1.5, 2.5, 3.5]),
    ],
)
def test_columns_of_a_page_are_numbers_where_they_read_as_such(parts, expected):
    found = join_column(parts)
    assert len(found) == len(expected)
    assert all(a == b or (a != a and b != b) for a, b in zip(found, expected, strict=True))
    assert [type(value) is str for value in found] == [type(value) is str for value in expected]
