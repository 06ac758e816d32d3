"""Everything that runs a map: each takes a map and samples to coordinates, through what the map is made into."""

import ctypes
import json
import re
import shutil
import sqlite3
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime
import pandas
import sympy

from polyfold import PolynomialMap

DOCUMENT = Path(__file__).parent.parent / "docs" / "artefact.md"


def run_numpy(learned, X):
    return learned.transform(X)


def run_file(learned, X):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.safetensors"
        learned.save(path)
        return PolynomialMap.load(path).transform(X)


def run_json(learned, X):
    return PolynomialMap.from_json(learned.to_json()).transform(X)


def run_onnx(learned, X, **options):
    model = learned.to_onnx(dtype=X.dtype, **options)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["Y"], {"X": X})[0]


def make_frame(learned, X):
    frame = pandas.DataFrame(X, columns=list(learned.column_names))
    frame["row number"] = np.arange(len(X))
    return frame


def run_duckdb(learned, X):
    with duckdb.connect() as connection:
        connection.register("samples", make_frame(learned, X))
        statement = learned.to_sql("duckdb", keep=["row number"])
        return connection.execute(f'SELECT * FROM ({statement}) ORDER BY "row number"').df().to_numpy()[:, 1:]


def run_sqlite(learned, X):
    connection = sqlite3.connect(":memory:")
    try:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in learned.column_names)
        connection.execute(f'CREATE TABLE samples ("row number", {names})')
        places = ", ".join("?" * (X.shape[1] + 1))
        rows = [(i, *row) for i, row in enumerate(X.tolist())]
        connection.executemany(f"INSERT INTO samples VALUES ({places})", rows)
        statement = learned.to_sql("sqlite", keep=["row number"])
        placed = connection.execute(f'SELECT * FROM ({statement}) ORDER BY "row number"').fetchall()
        return np.array(placed)[:, 1:]
    finally:
        connection.close()


COMPILER = shutil.which("gcc")
FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-shared", "-fPIC"]


def run_c(learned, X, dtype="float64"):
    kind = ctypes.c_double if dtype == "float64" else ctypes.c_float
    with tempfile.TemporaryDirectory() as folder:
        _, source = learned.to_c("place", dtype=dtype).write(folder)
        library = Path(folder) / "place.so"
        subprocess.run([COMPILER, *FLAGS, str(source), "-o", str(library)], check=True, capture_output=True)
        place = ctypes.CDLL(str(library)).place
        placed = np.empty((len(X), learned.n_outputs), dtype=kind)
        rows = np.ascontiguousarray(X, dtype=kind)
        for row, coordinates in zip(rows, placed, strict=True):
            place(row.ctypes.data_as(ctypes.POINTER(kind)), coordinates.ctypes.data_as(ctypes.POINTER(kind)))
        return placed


NODE = shutil.which("node")


def read_javascript():
    """The evaluator that the documentation shows."""
    return re.search(r"```js\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)[1]


#: Processes of node that answer, by the script that they run.
ANSWERING = {}


def start_node(script):
    """Start a process that answers each line of JSON with another, by the function ``answer`` of a script.

    It ends when nobody can write to it any more.
    """
    listen = (
        "require('readline').createInterface({input: process.stdin})"
        ".on('line', (line) => console.log(answer(JSON.parse(line))));"
    )
    process = subprocess.Popen(
        [NODE, "-e", script + listen], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    ANSWERING[script] = process
    return process


def ask_node(script, learned, **given):
    process = ANSWERING.get(script)
    if process is None or process.poll() is not None:
        process = start_node(script)
    process.stdin.write(json.dumps({"map": json.loads(learned.to_json()), **given}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def run_javascript(learned, X):
    answer = "const answer = ({map, samples}) => JSON.stringify(samples.map(x => place(map, x)));\n"
    return np.array(ask_node(read_javascript() + answer, learned, samples=X.tolist()))


#: What asks the script of the page, which needs no browser for what it computes.
PAGE_RUN = """
const plain = (key, value) => ArrayBuffer.isView(value) ? Array.from(value) : value;
const answer = ({map, samples, text}) => {
  const learned = new ExplicitMap(map);
  const found = text === undefined ? samples.map((x) => ({
    place: learned.place(x), slopes: learned.differentiate(x), score: learned.extrapolate(x)
  })) : (() => { try { return readSamples(text, learned); } catch (error) { return {error: error.message}; } })();
  return JSON.stringify(found, plain);
};
"""


def run_script(learned, **given):
    """What the script of the page makes of samples, or of the text of a table."""
    page = files("polyfold.export") / "page"
    script = "".join((page / f"{name}.js").read_text() for name in ("map", "delimited")) + PAGE_RUN
    return ask_node(script, learned, **given)


def run_page(learned, X):
    """Coordinates of samples, as the page computes them."""
    return np.array([each["place"] for each in run_script(learned, samples=X.tolist())])


def run_sympy(learned, X, expanded=False):
    expressions = learned.to_sympy(expanded=expanded)
    symbols = [sympy.Symbol(name, real=True) for name in learned.column_names]
    function = sympy.lambdify(symbols, list(expressions), modules="math")
    return np.array([function(*row) for row in X.tolist()])


RUNNERS = {
    "numpy": run_numpy,
    "file": run_file,
    "json": run_json,
    "onnxruntime": run_onnx,
    "duckdb": run_duckdb,
    "sqlite": run_sqlite,
    "c": run_c,
    "javascript": run_javascript,
    "page": run_page,
    "sympy": run_sympy,
}

#: Programs that a runner needs.
NEEDS = {"c": ("gcc", COMPILER), "javascript": ("node", NODE), "page": ("node", NODE)}
