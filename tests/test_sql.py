"""SELECT statements: any names, any numbers, wide tables."""

import sqlite3

import duckdb
import numpy as np
import pandas
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from maps import random_map
from polyfold import NPPE
from polyfold.datasets import make_swiss_roll
from runners import run_duckdb, run_sqlite

DIALECTS = ["duckdb", "sqlite", "postgres", "spark"]

HOSTILE_NAMES = [
    'x"; DROP TABLE samples; --',
    "x'; DROP TABLE samples; --",
    "`; DROP TABLE samples; --",
    'a"b',
    "a`b",
    "a\\",
    "a\\'b",
    "/* comment",
    "*/",
    "-- comment",
    "select",
    "a.b",
    "a;b",
    "a\nb",
    "Ünï cödé 雪",
    " ",
    "x0",
    "[a]",
    "$1",
    "?",
    "{{a}}",
    "%s",
]


def quote(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_statement_with_the_names_given(dialect):
    """Read back by sqlglot's own parser: one SELECT, of the columns and the table that were named."""
    for name in HOSTILE_NAMES:
        learned = random_map("kronecker", 2, 3)
        statement = learned.to_sql(dialect, table=("schema", name), columns=[name, "b", "c"], keep=[name + "!"])
        (parsed,) = sqlglot.parse(statement, dialect=dialect)
        assert isinstance(parsed, sqlglot.exp.Select)
        tables = {table.name for table in parsed.find_all(sqlglot.exp.Table)}
        assert name in tables
        assert {name, "b", "c"} <= {column.name for column in parsed.find_all(sqlglot.exp.Column)}
        assert parsed.named_selects == [name + "!", "y0", "y1"]


@pytest.mark.parametrize("table", HOSTILE_NAMES)
def test_hostile_names_run(table):
    names = HOSTILE_NAMES[:12]
    learned = random_map("kronecker", 2, len(names), columns=names)
    X = np.random.default_rng(0).normal(size=(20, len(names)))
    expected = learned.transform(X)
    listed = ", ".join(map(quote, names))
    for connection, dialect in ((duckdb.connect(), "duckdb"), (sqlite3.connect(":memory:"), "sqlite")):
        connection.execute("CREATE TABLE samples (untouched INTEGER)")
        kind = " DOUBLE" if dialect == "duckdb" else ""
        connection.execute(f"CREATE TABLE {quote(table)} ({', '.join(quote(name) + kind for name in names)})")
        places = ", ".join("?" * len(names))
        connection.executemany(f"INSERT INTO {quote(table)} ({listed}) VALUES ({places})", X.tolist())
        placed = connection.execute(learned.to_sql(dialect, table=table)).fetchall()
        np.testing.assert_allclose(
            sorted(placed), sorted(map(tuple, expected)), atol=1e-9 * np.abs(expected).max()
        )
        assert connection.execute("SELECT count(*) FROM samples").fetchone() == (0,)
        connection.close()


@given(name=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20))
@settings(max_examples=200, deadline=None)
def test_any_name_is_one_identifier(name):
    """SQLite reads back the one column that is there, under any name."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE {quote(name)} ({quote(name)} REAL)")
    connection.execute(f"INSERT INTO {quote(name)} VALUES (2.0)")
    statement = random_map("kronecker", 1, 1, 1).to_sql("sqlite", table=name, columns=[name])
    assert len(connection.execute(statement).fetchall()) == 1
    connection.close()


@pytest.mark.parametrize("table", ["stage0", "STAGE1", "stage", "_stage0", "x0", "samples"])
def test_tables_named_as_ours(table):
    learned = random_map("kronecker", 2, 4, n_axes=2)
    X = np.random.default_rng(0).normal(size=(5, 4))
    for connection, dialect in ((duckdb.connect(), "duckdb"), (sqlite3.connect(":memory:"), "sqlite")):
        connection.execute(
            f"CREATE TABLE {quote(table)} (x0 REAL, x1 REAL, x2 REAL, x3 REAL)".replace("REAL", "DOUBLE")
        )
        connection.executemany(f"INSERT INTO {quote(table)} VALUES (?, ?, ?, ?)", X.tolist())
        placed = connection.execute(learned.to_sql(dialect, table=table)).fetchall()
        np.testing.assert_allclose(placed, learned.transform(X), atol=1e-9)
        connection.close()


def test_columns_of_any_type_and_missing_values():
    learned = random_map("hadamard", 2, 3, 1)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE samples (x0 INTEGER, x1 DECIMAL(9, 3), x2 VARCHAR, id VARCHAR)")
    connection.execute("INSERT INTO samples VALUES (7, 2.125, '1.5', 'a'), (NULL, 1, '1', 'b'), (3, -1, '0', 'c')")
    placed = dict(connection.execute(learned.to_sql("duckdb", keep=["id"])).fetchall())
    expected = learned.transform([[7, 2.125, 1.5], [3, -1, 0]])[:, 0]
    assert placed == {
        "a": pytest.approx(expected[0], rel=1e-12),
        "b": None,
        "c": pytest.approx(expected[1], rel=1e-12),
    }
    connection.close()


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_columns_that_are_not_there(dialect):
    """SQLite takes what it does not know in double quotes for text, and text for 0."""
    connection = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE samples (x0 DOUBLE, x1 DOUBLE, x3 DOUBLE)")
    learned = random_map("kronecker", 2)
    with pytest.raises((duckdb.BinderException, sqlite3.OperationalError), match="x2"):
        connection.execute(learned.to_sql(dialect))
    with pytest.raises((duckdb.BinderException, sqlite3.OperationalError), match="idd"):
        connection.execute(learned.to_sql(dialect, columns=["x0", "x1", "x3"], keep=["idd"]))
    connection.close()


def test_kept_columns_may_have_our_names():
    learned = random_map("kronecker", 2, 4, n_axes=2)
    X = np.random.default_rng(0).normal(size=(5, 4))
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"]).assign(x0=1, z0=2, k0=3, stage0=4)
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        statement = learned.to_sql("duckdb", "frame", ["a", "b", "c", "d"], keep=["k0", "z0", "x0", "stage0", "a"])
        result = connection.execute(statement).df()
    assert list(result.columns) == ["k0", "z0", "x0", "stage0", "a", "y0", "y1"]
    assert result.iloc[0, :4].tolist() == [3, 2, 1, 4]
    np.testing.assert_allclose(result[["y0", "y1"]], learned.transform(X), atol=1e-9)


@pytest.mark.parametrize(("run", "limit"), [(run_duckdb, 1e-9), (run_sqlite, 1e-9)])
@pytest.mark.parametrize(
    "shape",
    [("kronecker", 2, 3, None), ("kronecker", 4, 6, None), ("hadamard", 3, 20, None), ("kronecker", 3, 20, 5)],
)
def test_ten_thousand_rows(run, limit, shape):
    basis, degree, n_inputs, n_axes = shape
    learned = random_map(basis, degree, n_inputs, 3, n_axes)
    X = np.random.default_rng(0).normal(size=(10_000, n_inputs))
    expected = learned.transform(X)
    np.testing.assert_allclose(run(learned, X), expected, rtol=0, atol=limit * np.abs(expected).max())


@pytest.mark.parametrize("run", [run_duckdb, run_sqlite])
@pytest.mark.parametrize(
    "shape", [("kronecker", 2, 784, 8), ("hadamard", 2, 784, None), ("hadamard", 1, 1500, None)]
)
def test_wide_tables(run, shape):
    basis, degree, n_inputs, n_axes = shape
    learned = random_map(basis, degree, n_inputs, 2, n_axes)
    X = np.random.default_rng(0).normal(size=(50, n_inputs))
    expected = learned.transform(X)
    np.testing.assert_allclose(run(learned, X), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("run", [run_duckdb, run_sqlite])
@pytest.mark.parametrize(("basis", "degree"), [("hadamard", 9), ("hadamard", 15), ("kronecker", 12)])
def test_high_degrees(run, basis, degree):
    learned = random_map(basis, degree, 2, 2)
    X = np.random.default_rng(0).uniform(-2, 2, size=(50, 2))
    expected = learned.transform(X)
    np.testing.assert_allclose(run(learned, X), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_fit():
    X, _ = make_swiss_roll(1000, random_state=0)
    X = pandas.DataFrame(X, columns=["x", "y", "z"])
    embedding = NPPE(n_neighbors=10).fit(X)
    with duckdb.connect() as connection:
        connection.register("roll", X)
        placed = connection.execute(embedding.map_.to_sql("duckdb", "roll")).df().to_numpy()
    np.testing.assert_allclose(placed, embedding.embedding_, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dialect": "oracle"}, "`dialect` must be one of 'duckdb', 'postgres', 'spark', 'sqlite', got 'oracle'"),
        ({"dialect": "sqlite", "degree": 17}, "degree 17 is nested too deeply for SQLite's parser"),
        ({"columns": 5}, "`columns` must be a sequence of names"),
        ({"table": None}, "`table` must hold names"),
        ({"table": ""}, "`table` must hold names of at least one character"),
        ({"table": "a\0b"}, "without NUL"),
        ({"table": ()}, "`table` must be a name, or up to three"),
        ({"columns": ["a"]}, "`columns` must name 3 columns, got 1"),
        ({"columns": "abc"}, "`columns` must be a sequence of names"),
        ({"columns": ["a", "a", "b"]}, "`columns` must be different names"),
        ({"columns": ["a", 1, "b"]}, "`columns` must be a sequence of names"),
        ({"keep": ["Y0"]}, "`keep` must hold different names, and none of y0, y1"),
        ({"keep": ["a", "A"]}, "`keep` must hold different names"),
    ],
)
def test_bad_parameters(parameters, message):
    learned = random_map("kronecker", parameters.pop("degree", 2))
    with pytest.raises(ValueError, match=message):
        learned.to_sql(**parameters)
