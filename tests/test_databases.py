"""SELECT statements in PostgreSQL and Spark, for real; ``make test-databases`` runs them."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from maps import random_map
from polyfold import NPPE
from polyfold.datasets import make_swiss_roll
from test_sql import HOSTILE_NAMES, quote

pytestmark = pytest.mark.databases

SHAPES = [
    ("kronecker", 2, 3, None),
    ("kronecker", 4, 6, None),
    ("hadamard", 3, 20, None),
    ("kronecker", 3, 20, 5),
    ("hadamard", 2, 784, None),
    ("kronecker", 2, 784, 30),
]


def make_case(basis, degree, n_inputs, n_axes):
    learned = random_map(basis, degree, n_inputs, 2, n_axes)
    return learned, np.random.default_rng(0).normal(size=(10_000, n_inputs))


def assert_equal(placed, expected):
    np.testing.assert_allclose(placed, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def find_server():
    """The newest PostgreSQL that Debian's packages have put where they do."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


@pytest.fixture(scope="module")
def postgres(tmp_path_factory):
    psycopg = pytest.importorskip("psycopg", reason='psycopg is not installed: pip install "polyfold[databases]"')
    server = find_server()
    if server is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    folder = tmp_path_factory.mktemp("postgres")
    run_as = []
    if os.geteuid() == 0:  # the server refuses to be root
        if shutil.which("runuser") is None:
            pytest.skip("the server does not run as root, and there is no runuser to change that")
        for each in (folder, *folder.parents):
            if each == Path(tempfile.gettempdir()):
                break
            each.chmod(0o755)
        shutil.chown(folder, "postgres")
        run_as = ["runuser", "-u", "postgres", "--"]

    def run(program, *arguments):
        command = [*run_as, str(server / program), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)

    data = folder / "data"
    run("initdb", "--auth=trust", "--no-sync", "--encoding=UTF8", "--username=test", str(data))
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    run("pg_ctl", "--pgdata", str(data), "--wait", "--log", str(folder / "log"), "--options", options, "start")
    try:
        with psycopg.connect(host=str(folder), user="test", dbname="postgres", autocommit=True) as connection:
            connection.execute("SET jit = off")  # it compiles a statement of 25,000 terms for many minutes
            yield connection
    finally:
        run("pg_ctl", "--pgdata", str(data), "--wait", "--mode", "immediate", "stop")


def fill_postgres(connection, table, names, X):
    connection.execute(f"DROP TABLE IF EXISTS {quote(table)}")
    columns = ", ".join(f"{quote(name)} double precision" for name in names)
    connection.execute(f'CREATE TABLE {quote(table)} ("row number" integer, {columns})')
    with connection.cursor().copy(f"COPY {quote(table)} FROM STDIN") as copy:
        for i, row in enumerate(X.tolist()):
            copy.write_row((i, *row))


@pytest.mark.parametrize("shape", SHAPES)
def test_postgres(postgres, shape):
    learned, X = make_case(*shape)
    fill_postgres(postgres, "samples", learned.column_names, X)
    statement = learned.to_sql("postgres", keep=["row number"])
    rows = postgres.execute(f'SELECT * FROM ({statement}) AS placed ORDER BY "row number"').fetchall()
    assert_equal(np.array(rows, dtype=float)[:, 1:], learned.transform(X))


def test_hostile_names_in_postgres(postgres):
    names = HOSTILE_NAMES[:12]
    learned = random_map("kronecker", 2, len(names), columns=names)
    X = np.random.default_rng(0).normal(size=(20, len(names)))
    postgres.execute("CREATE TABLE untouched (a integer)")
    for table in HOSTILE_NAMES:
        fill_postgres(postgres, table, names, X)
        rows = postgres.execute(
            learned.to_sql("postgres", table=("public", table), keep=["row number"])
        ).fetchall()
        assert_equal(np.array(sorted(rows), dtype=float)[:, 1:], learned.transform(X))
    assert postgres.execute("SELECT count(*) FROM untouched").fetchone() == (0,)


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason='PySpark is not installed: pip install "polyfold[databases]"')
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java: apt-get install default-jre-headless")
    builder = sql.SparkSession.builder.master("local[2]").appName("polyfold")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "4g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def fill_spark(session, table, names, X, folder):
    """A view of a file: what is passed row by row takes minutes for 784 columns."""
    import pandas

    path = folder / "samples.parquet"
    frame = pandas.DataFrame(X, columns=list(names))
    frame.insert(0, "row number", np.arange(len(X)))
    frame.to_parquet(path)
    session.read.parquet(str(path)).createOrReplaceTempView("`" + table.replace("`", "``") + "`")


def place_in_spark(session, learned, table="samples"):
    rows = session.sql(learned.to_sql("spark", table, keep=["row number"])).collect()
    return np.array(sorted(map(tuple, rows)))[:, 1:]


@pytest.mark.parametrize("shape", SHAPES)
def test_spark(spark, shape, tmp_path):
    learned, X = make_case(*shape)
    fill_spark(spark, "samples", learned.column_names, X, tmp_path)
    assert_equal(place_in_spark(spark, learned), learned.transform(X))


def test_hostile_names_in_spark(spark, tmp_path):
    names = [name for name in HOSTILE_NAMES if not set(name) & set(",;{}()\n\t=") and name.strip()]
    learned = random_map("kronecker", 2, len(names), columns=names)
    X = np.random.default_rng(0).normal(size=(20, len(names)))
    fill_spark(spark, "samples", names, X, tmp_path)
    assert_equal(place_in_spark(spark, learned), learned.transform(X))


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
def test_a_fit(dialect, request, tmp_path):
    X, _ = make_swiss_roll(10_000, random_state=0)
    learned = NPPE(n_neighbors=10).fit(X).map_
    if dialect == "postgres":
        connection = request.getfixturevalue("postgres")
        fill_postgres(connection, "roll", learned.column_names, X)
        rows = connection.execute(learned.to_sql("postgres", "roll", keep=["row number"])).fetchall()
        placed = np.array(sorted(rows), dtype=float)[:, 1:]
    else:
        session = request.getfixturevalue("spark")
        fill_spark(session, "roll", learned.column_names, X, tmp_path)
        placed = place_in_spark(session, learned, "roll")
    assert_equal(placed, learned.transform(X))
