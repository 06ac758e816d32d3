"""Dask collections: fitted by threads and by two worker processes as in memory, placed lazily, faults survived."""

import os
import pickle
import pty
import select
import signal
import sys
import threading
import time

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
import pytest
from dask.callbacks import Callback
from dask.utils import key_split
from distributed import Client, LocalCluster

from commands import POLYFOLD, UNCOVERED, fail, polyfold, read_json, succeed
from polyfold import NPPE, SNPPE, ExplicitEmbedding, NystromExtension, PolynomialEmbedding, PolynomialMap
from polyfold.dask import from_pieces, open_collection, to_array
from polyfold.datasets import make_swiss_roll
from polyfold.io import open_many
from test_rows import LOCAL, angle, make_sheet

# One process has the cluster.
pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of one thread each; its client is the one that computations go to only where asked."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as started:
        yield started


@pytest.fixture
def client(cluster):
    with Client(cluster) as connected:
        yield connected


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Chunks of a few rows stay as they are, instead of being merged into larger ones."""
    monkeypatch.setattr("polyfold.dask.choose_chunk_rows", lambda n_columns: 100)


X = make_swiss_roll(900, random_state=0)[0]


@pytest.fixture(scope="module")
def held():
    """Each graph fitted in memory."""
    return {name: PolynomialEmbedding(graph=name, n_neighbors=10).fit(X).embedding_ for name in LOCAL}


def cut(samples, rows=200, columns=2):
    return da.from_array(samples, chunks=(rows, columns))


@pytest.mark.parametrize("graph", LOCAL)
def test_threads_give_the_map_of_memory(graph, held):
    fitted = PolynomialEmbedding(graph=graph, n_neighbors=10).fit(cut(X))
    assert isinstance(fitted.embedding_, da.Array)
    Y = fitted.embedding_.compute()
    assert angle(Y, held[graph]) < 1e-8
    np.testing.assert_allclose(Y, held[graph], atol=1e-8 * np.abs(Y).max())


@pytest.mark.parametrize("graph", LOCAL)
def test_two_processes_give_the_map_of_memory(graph, held, client):
    fitted = PolynomialEmbedding(graph=graph, n_neighbors=10).fit(cut(X))
    Y = fitted.embedding_.compute()
    assert angle(Y, held[graph]) < 1e-8
    np.testing.assert_allclose(Y, held[graph], atol=1e-8 * np.abs(Y).max())


def test_axes_ridge_way_back_and_isomap_on_the_cluster(client):
    sheet = make_sheet(600, 1)
    embedding = PolynomialEmbedding(n_components=3, n_neighbors=15, fit_inverse_transform=True)
    Y = embedding.fit(sheet).embedding_
    learned = PolynomialEmbedding(n_components=3, n_neighbors=15, fit_inverse_transform=True).fit(cut(sheet))
    assert learned.alpha_ == embedding.alpha_
    np.testing.assert_allclose(learned.embedding_.compute(), Y, atol=1e-8 * np.abs(Y).max())
    there_and_back = learned.inverse_transform(learned.transform(cut(sheet)))
    assert there_and_back.shape == sheet.shape
    np.testing.assert_allclose(there_and_back.compute(), embedding.inverse_transform(Y), atol=1e-6)
    isomap = PolynomialEmbedding(graph="isomap", n_neighbors=10, reference_size=400)
    expected = isomap.fit(X).embedding_
    found = PolynomialEmbedding(graph="isomap", n_neighbors=10, reference_size=400).fit(cut(X)).embedding_
    np.testing.assert_allclose(found.compute(), expected, atol=1e-8 * np.abs(expected).max())


def test_a_reference_set_is_the_same_wherever_it_is_drawn(client):
    embedding = NPPE(n_neighbors=10, reference_size=300)
    expected = embedding.fit(X).embedding_
    found = NPPE(n_neighbors=10, reference_size=300).fit(cut(X, 123, 3))
    np.testing.assert_allclose(found.embedding_.compute(), expected, atol=1e-8 * np.abs(expected).max())
    assert found.diagnostics_.n_reference == 300


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")  # of older ones of Dask
def test_a_chunking_gives_the_same_bits_every_time_and_any_number_of_workers_to_rounding(client):
    two = [NPPE(n_neighbors=10).fit(cut(X)).map_ for _ in range(2)]
    assert two[0].to_json() == two[1].to_json()
    with dask.config.set(scheduler="synchronous"):
        one = NPPE(n_neighbors=10).fit(cut(X)).map_
    np.testing.assert_allclose(one.coefficients, two[0].coefficients, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, bool])
def test_coordinates_are_lazy(dtype):
    samples = (X > 3 if dtype is bool else X).astype(dtype)
    fitted = NPPE(n_neighbors=10).fit(X)
    lazy = fitted.transform(cut(samples, 250, 1))
    kind = np.float32 if dtype is np.float32 else np.float64
    assert isinstance(lazy, da.Array)
    assert (lazy.shape, lazy.dtype, lazy._meta.dtype) == ((900, 2), kind, kind)
    assert lazy.chunks == ((250, 250, 250, 150), (2,))
    np.testing.assert_array_equal(lazy.compute(), fitted.transform(samples))
    assert lazy[250:300].compute().shape == (50, 2)
    explicit = ExplicitEmbedding("precomputed").fit(X, fitted.embedding_)
    np.testing.assert_array_equal(explicit.transform(cut(X)).compute(), explicit.transform(X))
    assert fitted.score(cut(X)) == pytest.approx(fitted.score(X))


def test_maps_place_collections_lazily(tmp_path):
    """Without an estimator, as those that are loaded from a file."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    NPPE(n_neighbors=10, fit_inverse_transform=True).fit(frame).map_.save(tmp_path / "map.safetensors")
    learned = PolynomialMap.load(tmp_path / "map.safetensors")
    split, Y = dd.from_pandas(frame, npartitions=3), learned.transform(X)
    for ask, given, expected in (
        (learned.transform, X, Y),
        (learned.transform, X.astype("f4"), learned.transform(X.astype("f4"))),
        (learned.extrapolation, X, learned.extrapolation(X)),
        (learned.inverse, Y, learned.inverse(Y)),
    ):
        lazy = ask(da.from_array(given, chunks=(250, 2)))
        assert isinstance(lazy, da.Array)
        assert (lazy.shape, lazy.dtype, lazy.chunks[0]) == (expected.shape, expected.dtype, (250, 250, 250, 150))
        np.testing.assert_array_equal(lazy.compute(), expected)
    np.testing.assert_array_equal(learned.transform(split).compute(), Y)
    np.testing.assert_array_equal(learned.extrapolation(split).compute(), learned.extrapolation(X))
    with pytest.raises(ValueError, match="lacks 'c'"):
        learned.transform(split[["a", "b"]])
    with pytest.raises(ValueError, match=r"\(n_samples, 3\), got \(900, 2\)"):
        learned.extrapolation(cut(X[:, :2]))
    for ask in (learned.jacobian, learned.sensitivity):
        with pytest.raises(TypeError, match="is placed by transform, extrapolation and inverse"):
            ask(cut(X))


@pytest.mark.parametrize("scheduler", ["threads", "cluster"])
@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
def test_a_damaged_file_of_a_data_frame_is_named(scheduler, filesystem, tmp_path, request):
    if scheduler == "cluster":
        request.getfixturevalue("client")
    for k in range(3):
        pd.DataFrame(X[300 * k : 300 * k + 300], columns=["a", "b", "c"]).to_parquet(tmp_path / f"p{k}.parquet")
    split, path = dd.read_parquet(tmp_path, filesystem=filesystem), tmp_path / "p1.parquet"
    whole, embedding = path.read_bytes(), NPPE(n_neighbors=10).fit(X[:100])
    before = embedding.map_
    for damaged in (whole[:4] + bytes(byte ^ 255 for byte in whole[4:2000]) + whole[2000:], whole[:300]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"p1\.parquet cannot be read: "):
            embedding.fit(split)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"p1\.parquet"):
        embedding.fit(split)
    assert embedding.map_ is before


def test_data_frames(client):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = NPPE(n_neighbors=10).fit(frame)
    split = dd.from_pandas(frame, npartitions=4)
    learned = NPPE(n_neighbors=10).fit(split)
    assert list(learned.feature_names_in_) == ["a", "b", "c"] == list(learned.map_.columns)
    lazy = learned.transform(split)
    assert lazy.ndim == 2
    assert np.isnan(lazy.shape[0])
    assert lazy.shape[1] == 2
    np.testing.assert_allclose(lazy.compute(), fitted.embedding_, atol=1e-9)
    filtered = split[split["b"] > 5]  # nobody knows how many rows are left, and a partition may be empty
    assert len(NPPE(n_neighbors=10).fit(filtered).embedding_.compute()) == (X[:, 1] > 5).sum()
    nullable = split.assign(b=split["b"].round().astype("Int64"))
    assert NPPE(n_neighbors=10).fit(nullable).diagnostics_.n_samples == 900
    assert learned.score(split) == pytest.approx(fitted.score(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        learned.transform(split[["b", "a", "c"]])
    with pytest.raises(ValueError, match="these columns hold others: d"):
        NPPE().fit(split.assign(d="text"))


def test_collections_that_cannot_be():
    with pytest.raises(ValueError, match="numbers in 2 dimensions"):
        NPPE().fit(da.ones(5))
    with pytest.raises(ValueError, match="numbers in 2 dimensions"):
        NPPE().fit(da.ones((5, 2)).astype(str))
    with pytest.raises(TypeError, match="an array or a data frame, got Bag"):
        NPPE().fit(dask.bag.from_sequence([1, 2]))
    for ask in (NPPE().fit, NPPE(n_neighbors=10).fit(X).transform, NPPE(n_neighbors=10).fit(X).map_.transform):
        with pytest.raises(TypeError, match="an array or a data frame, got Delayed"):
            ask(dask.delayed(X))
    with pytest.raises(ValueError, match="hold 500 rows, and X says that it has 600"):
        NPPE(n_neighbors=10).fit(da.from_delayed(dask.delayed(X[:500]), shape=(600, 3), dtype=float))
    with pytest.raises(ValueError, match=r"samples and columns, got shape \(0, 3\)"):
        NPPE().fit(da.ones((0, 3)))
    with pytest.raises(ValueError, match="a minimum of 2 is required"):
        NPPE().fit(da.ones((1, 3)))
    with pytest.raises(ValueError, match="`n_neighbors` must be below the number of samples"):
        NPPE(n_neighbors=10).fit(cut(X[:8]))
    with pytest.raises(ValueError, match="no `sample_weight`"):
        NPPE().fit(cut(X), sample_weight=np.ones(900))
    with pytest.raises(TypeError, match="whole Dask collection to fit"):
        NPPE().partial_fit(cut(X))
    bad = X.copy()
    bad[777, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in row 777"):
        NPPE(n_neighbors=10).fit(cut(bad))
    fitted = NPPE(n_neighbors=10).fit(X)
    with pytest.raises(ValueError, match="expecting 3 features"):
        fitted.transform(da.ones((5, 4)))
    with pytest.raises(ValueError, match=r"In rows 600 to 799, .*: X contains NaN \(row 177, column 1\)"):
        fitted.transform(cut(bad)).compute()
    with pytest.raises(ValueError, match=r"In chunk 3, .*: X contains NaN \(row 102, column 1\)"):
        fitted.transform(dd.from_pandas(pd.DataFrame(bad), npartitions=4)).compute()
    with pytest.raises(ValueError, match=r"must have shape \(n_samples, 2\), got \(5, 3\)"):
        NPPE(n_neighbors=10, fit_inverse_transform=True).fit(X).inverse_transform(da.ones((5, 3)))
    with pytest.raises(ValueError, match="are a lazy Dask array: set_output"):
        NPPE(n_neighbors=10).fit(X).set_output(transform="pandas").transform(cut(X))
    with pytest.raises(ValueError, match="are a lazy Dask array: set_output"):
        NPPE(n_neighbors=10).set_output(transform="pandas").fit_transform(cut(X))
    with pytest.raises(TypeError, match=r"got MaskedArray\. Turn .* dask\.array\.ma\.filled"):
        NPPE().fit(da.ma.masked_greater(cut(X), 3))
    with pytest.raises(TypeError, match="an array or a data frame, got Series"):
        NPPE().fit(dd.from_pandas(pd.Series([1.0, 2.0]), npartitions=1))
    with pytest.raises(TypeError, match=r"ExplicitEmbedding\.fit holds all samples in memory"):
        ExplicitEmbedding("precomputed").fit(cut(X), X)
    with pytest.raises(TypeError, match=r"NystromExtension\.fit holds all samples in memory"):
        NystromExtension().fit(cut(X))
    mixed = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", 3]), npartitions=2)
    with pytest.raises(TypeError, match="all input features have string names"):
        NPPE().fit(mixed)
    with pytest.raises(ValueError, match="exceeds the rank"):
        NPPE(n_neighbors=10).fit(da.zeros((100, 3), chunks=30))


def test_what_is_given_stays_as_it_is():
    some = cut(X, 200, 3)
    some = some[some[:, 1] > 5]
    fitted = NPPE(n_neighbors=10).fit(some)
    assert np.isnan(some.shape[0])
    assert fitted.score(some) == pytest.approx(fitted.score(X[X[:, 1] > 5]))
    assert np.isnan(some.shape[0])
    ascending = X[np.argsort(X[:, 1])]
    half = cut(ascending, 100, 3)
    half = half[half[:, 1] > 10]  # the first chunks are empty now
    learned = NPPE(n_neighbors=10).fit(half)
    expected = NPPE(n_neighbors=10).fit(ascending[ascending[:, 1] > 10]).embedding_
    np.testing.assert_allclose(learned.embedding_.compute(), expected, atol=1e-8)
    single = NPPE(n_neighbors=10, fit_inverse_transform=True).fit(X).inverse_transform(cut(X[:, :2].astype("f4")))
    assert single.dtype == np.float64 == single.compute().dtype
    implicit = NystromExtension().fit(X)
    assert implicit.score(cut(X)) == pytest.approx(implicit.score(X))


def test_chunks_that_are_too_large_or_too_small_are_cut_anew(monkeypatch):
    monkeypatch.setattr("polyfold.dask.choose_chunk_rows", lambda n_columns: 50)
    for rows in (900, 1):
        assert len(open_collection(da.from_array(X, chunks=(rows, 3)))._blocks) == 18
    assert len(open_collection(cut(X, 100))._blocks) == 9
    holes = da.concatenate([cut(X[:0]), cut(X[:100]), cut(X[:0]), cut(X[:50])])
    assert open_collection(holes)._starts == [0, 100]
    assert to_array(cut(X, 100, 1)).chunks[1] == (3,)


class Watch(Callback):
    """What each task returned, by the name of its stage, in bytes; and how many tasks there were."""

    def __init__(self):
        super().__init__()
        self.largest, self.counts = {}, {}

    def _posttask(self, key, result, dsk, state, worker_id):
        name = key_split(key)
        self.largest[name] = max(self.largest.get(name, 0), len(pickle.dumps(result)))
        self.counts[name] = self.counts.get(name, 0) + 1


@pytest.mark.parametrize("rows", [100, 400])
def test_tasks_return_sums_and_no_samples(rows, monkeypatch):
    """A pair of d×d for each fold, whatever the size of a chunk; merged along a tree; one index for all."""
    monkeypatch.setattr("polyfold.dask.FAN_IN", 3)
    sheet, built = make_sheet(2400, 2, 6), []
    from polyfold import _reference

    build = _reference.build_index
    monkeypatch.setattr(_reference, "build_index", lambda *given, **how: built.append(1) or build(*given, **how))
    with Watch() as seen:
        fitted = NPPE(n_neighbors=10, reduce=None).fit(cut(sheet, rows, 6))
    d, n_folds = fitted.diagnostics_.n_features, 10
    n_chunks = 2400 // rows
    assert seen.counts["polyfold-gram-pair-block"] == n_chunks
    assert seen.counts["polyfold-gram-pair-merge"] >= n_chunks // 3
    for stage in ("block", "merge"):
        assert seen.largest[f"polyfold-gram-pair-{stage}"] < n_folds * (2 * d * d + d) * 8 * 1.2 + 5000
        assert seen.largest[f"polyfold-monomials-{stage}"] < (d * d + d) * 8 * 1.2 + 5000
    assert len(built) == 1


def test_the_reference_set_travels_without_its_index():
    from polyfold._reference import Reference
    from polyfold._rows import HeldRows
    from polyfold._streaming import plan_fit, survey_rows

    rows, settings = HeldRows(X, None, 0), NPPE(n_neighbors=10)._check_parameters()
    reference: Reference = plan_fit(rows, settings, *survey_rows(rows, settings)).reference
    size = len(pickle.dumps(reference))
    assert reference.index is reference.index
    copied = pickle.loads(pickle.dumps(reference))
    assert len(pickle.dumps(reference)) == size < 2 * X.nbytes + 5000
    assert "_index" not in vars(copied)
    for one, other in zip(reference.find_neighbors(X, 0), copied.find_neighbors(X, 0), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")  # of older ones of Dask
def test_progress_is_told_of(client, capfd):
    NPPE(n_neighbors=10, verbose=1).fit(cut(X))
    shown = capfd.readouterr()
    assert not shown.out
    for stage in ("survey", "monomials", "reference", "Gram pair", "ridge"):
        assert f"{stage}: 100%" in shown.err
    with dask.config.set(scheduler="threads"):
        NPPE(n_neighbors=10, verbose=1).fit(cut(X))
    assert "Gram pair: 100%" in capfd.readouterr().err


def slow_rows(block, seconds):
    time.sleep(seconds)
    return block


@pytest.mark.slow
def test_a_lost_worker_changes_nothing():
    """Killed by its own process id in the middle of the Gram pair, and started anew by its nanny."""
    expected = NPPE(n_neighbors=10).fit(cut(X, 30)).map_
    slow = cut(X, 30).map_blocks(slow_rows, 0.2, dtype=float, meta=np.empty((0, 0)))
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as own,
        Client(own) as client,
    ):
        killed = []

        def is_at_work():
            names = {str(key) for keys in client.processing().values() for key in keys}
            return any("polyfold-gram-pair-block" in name for name in names)

        def kill():
            while not is_at_work():
                time.sleep(0.01)
            for worker in (own.workers[0], own.workers[1]):  # so that whoever held the reference set is lost
                time.sleep(0.3)
                pid = worker.pid
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                while worker.pid in (None, pid):
                    time.sleep(0.05)

        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        learned = NPPE(n_neighbors=10).fit(slow).map_
        thread.join(20)
        assert len(killed) == 2
        assert not thread.is_alive()
    np.testing.assert_array_equal(learned.coefficients, expected.coefficients)
    np.testing.assert_array_equal(learned.offset, expected.offset)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A roll in three files of parquet, of a few row groups each, and in three of arrays."""
    place = tmp_path_factory.mktemp("files")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["id"] = np.arange(900)
    for k in range(3):
        rows = slice(300 * k, 300 * k + 300)
        frame[rows].to_parquet(place / f"part-{k}.parquet", row_group_size=70)
        np.save(place / f"part-{k}.npy", X[rows])
        frame[rows].to_csv(place / f"part-{k}.csv", index=False)
    return place


def test_files_are_fitted_on_a_running_cluster(files, cluster, held, tmp_path):
    address = cluster.scheduler_address
    for pattern in ("*.parquet", "*.npy"):
        target = tmp_path / f"map{pattern[1:]}.safetensors"
        ids = ["--keep", "id"] if pattern == "*.parquet" else []
        told = read_json("fit", files / pattern, "-o", target, "--n-neighbors", 10, "--scheduler", address, *ids)
        assert told["warnings"] == []
        learned = PolynomialMap.load(target)
        np.testing.assert_allclose(learned.transform(X), held["lle"], atol=1e-8)
        assert learned.columns == (("a", "b", "c") if ids else None)
        assert learned.training["diagnostics"]["n_samples"] == 900


@pytest.mark.slow
def test_files_are_fitted_by_workers_of_this_machine(files, held, tmp_path):
    target = tmp_path / "map.safetensors"
    done = succeed("fit", files / "part-[0-2].parquet", "-o", target, "--n-neighbors", 10, "--exclude", "id")
    assert "Computes on" in done.stderr
    assert "Learned from 900 rows" in done.stdout
    np.testing.assert_allclose(PolynomialMap.load(target).transform(X), held["lle"], atol=1e-8)
    placed = tmp_path / "placed.parquet"
    succeed("transform", target, files / "*.parquet", "-o", placed, "--keep", "id")
    frame = pd.read_parquet(placed)
    assert frame["id"].tolist() == list(range(900))
    np.testing.assert_allclose(frame[["y0", "y1"]], held["lle"], atol=1e-8)
    texts = succeed("transform", target, files / "part-*.csv").stdout
    assert len(texts.splitlines()) == 901


def test_files_that_cannot_be_fitted(files, cluster, tmp_path):
    address, target = cluster.scheduler_address, tmp_path / "map.safetensors"
    base = ["-o", target, "--n-neighbors", 10]
    bad = tmp_path / "bad"
    bad.mkdir()
    for k in range(3):
        (bad / f"part-{k}.parquet").write_bytes((files / f"part-{k}.parquet").read_bytes())
    whole = (bad / "part-1.parquet").read_bytes()
    (bad / "part-1.parquet").write_bytes(whole[: len(whole) // 2])  # its footer is gone: told before any work
    assert "part-1.parquet is not a readable parquet file" in fail(3, "fit", bad / "*.parquet", *base)
    damaged = bytearray(whole)
    damaged[4:2000] = bytes(1996)  # its footer is whole, and its pages are not: told by the worker that reads it
    (bad / "part-1.parquet").write_bytes(damaged)
    said = fail(3, "fit", bad / "*.parquet", *base, "--exclude", "id", "--scheduler", address)
    assert "part-1.parquet is damaged" in said
    frame = pd.DataFrame(X[:50].copy(), columns=["a", "b", "c"])  # before 3.0 pandas writes through
    frame.loc[7, "b"] = np.nan
    frame.assign(id=0).to_parquet(bad / "part-1.parquet")
    said = fail(3, "fit", bad / "*.parquet", *base, "--exclude", "id", "--scheduler", address)
    assert "part-1.parquet: values are missing in 1 row: 1 in 'b'" in said
    frame.rename(columns={"b": "x"}).assign(id=0).to_parquet(bad / "part-1.parquet")
    said = fail(3, "fit", bad / "*.parquet", *base)
    assert "part-1.parquet has other columns than" in said
    assert "part-0.parquet: it lacks 'b' and has 'x' besides." in said
    frame[["c", "b", "a"]].assign(id=0).to_parquet(bad / "part-1.parquet")
    assert "it has the same columns in another order" in fail(3, "fit", bad / "*.parquet", *base)
    assert "No file is named like" in fail(3, "fit", bad / "*.pq", *base)
    said = fail(3, "fit", files / "*.csv", *base, "--exclude", "id", "--scheduler", address)
    assert "Workers read .parquet and .npy files" in said
    assert "is what is read" in fail(2, "fit", files / "*.npy", "-o", files / "part-1.npy", "--force")
    frame = pd.DataFrame(X[:250], columns=["a", "b", "c"]).assign(name="text")
    frame.to_parquet(bad / "part-1.parquet", row_group_size=100)
    said = fail(3, "fit", bad / "part-1*.parquet", *base)
    assert "column 'name' is of type" in said
    assert "Leave the column out with --exclude 'name'." in said
    frame.assign(day="Monday").to_parquet(bad / "part-1.parquet", row_group_size=100)
    said = fail(3, "fit", bad / "part-1*.parquet", *base)
    assert "column 'name' is of type" in said
    assert "and so are 'day' of such types" in said
    assert "--exclude 'name' --exclude 'day'." in said
    (bad / "other").mkdir()
    frame.assign(a="text").drop(columns="name").to_parquet(bad / "other" / "part.parquet")
    (bad / "first").mkdir()
    frame.drop(columns="name").to_parquet(bad / "first" / "part.parquet")
    said = fail(3, "fit", bad / "*" / "part.parquet", *base)  # not only the first is looked at before any work
    assert "other/part.parquet: column 'a' is of type" in said
    assert "--exclude 'a'." in said
    (bad / "other" / "part.parquet").write_bytes(whole[:100])
    assert "other/part.parquet is not a readable" in fail(3, "fit", bad / "*" / "part.parquet", *base)
    assert f"in quotes: '{files}/*.parquet'" in fail(3, "fit", files, *base)
    assert "is not on this machine" in fail(3, "fit", "s3://bucket/*.parquet", *base)
    assert "is not on this machine" in fail(3, "fit", "s3://bucket/part.parquet", *base)
    done = polyfold("fit", files / "part-0.npy", files / "part-1.npy", *base)  # as the shell has it without quotes
    assert done.returncode == 2
    assert "stands for several files in quotes" in " ".join(done.stderr.replace("│", " ").split())
    frame.loc[222, "c"] = np.inf
    frame.to_parquet(bad / "part-1.parquet", row_group_size=100)
    said = fail(3, "fit", bad / "part-1*.parquet", *base, "--exclude", "name", "--scheduler", address)
    assert "part-1.parquet: column 'c' holds inf in data row 223." in said
    frame.to_csv(bad / "part-1.csv", index=False)
    frame[:9].to_csv(bad / "part-0.csv", index=False)
    said = fail(3, "fit", bad / "*.csv", *base, "--exclude", "name")
    assert "part-1.csv: column 'c' holds inf in data row 223." in said
    np.save(bad / "0.npy", np.ones((5, 3, 1)))
    np.save(bad / "1.npy", np.ones((5, 1, 3)))
    assert "1.npy has other columns than" in fail(3, "fit", bad / "*.npy", *base)
    assert not target.exists()
    assert list(tmp_path.glob(".polyfold-*")) == []


def test_a_file_that_is_gone_when_it_is_read(files, client, tmp_path):
    (tmp_path / "0.npy").write_bytes((files / "part-0.npy").read_bytes())
    (tmp_path / "1.npy").write_bytes((files / "part-1.npy").read_bytes())
    pieces = open_many(tmp_path / "*.npy").cut([0, 1, 2], drop_missing=False)
    samples = from_pieces(pieces)
    assert samples.shape == (600, 3)
    (tmp_path / "1.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"1\.npy"):
        NPPE(n_neighbors=10).fit(samples)


def test_rows_that_miss_a_value_are_left_out_by_workers(files, cluster, tmp_path):
    frame = pd.DataFrame(X.copy(), columns=["a", "b", "c"])
    frame.iloc[[3, 500], 1] = np.nan
    frame[:400].to_parquet(tmp_path / "0.parquet")
    frame[400:].to_parquet(tmp_path / "1.parquet")
    target, address = tmp_path / "map.safetensors", cluster.scheduler_address
    base = ["--n-neighbors", 10, "--drop-missing", "--scheduler", address]
    assert (
        "2 rows that miss a value were left out."
        in succeed("fit", tmp_path / "*.parquet", "-o", target, *base).stderr
    )
    expected = NPPE(n_neighbors=10).fit(frame.dropna().to_numpy()).embedding_
    placed = PolynomialMap.load(target).transform(frame.dropna())
    np.testing.assert_allclose(placed, expected, atol=1e-8)


def test_a_file_that_changes_while_it_is_read(files, tmp_path):
    (tmp_path / "0.npy").write_bytes((files / "part-0.npy").read_bytes())
    [piece, *_] = open_many(tmp_path / "*.npy").cut([0, 1, 2], drop_missing=False)
    np.save(tmp_path / "0.npy", X[:7])
    with pytest.raises(ValueError, match=r"0\.npy was changed while it was read: it had 300 rows there"):
        piece.load()


#: Seconds, at most, until a worker that is at work sees that whoever started it is gone: one or two here.
ORPHANED = 20


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["start", "fit"])
def test_ctrl_c_in_a_terminal_stops_workers_without_a_word(moment, tmp_path):
    """The terminal sends it to all processes, here while workers are started, or seconds after they were."""
    for k in range(2):
        np.save(tmp_path / f"{k}.npy", make_sheet(100_000, k, 40))
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execve(sys.executable, [*POLYFOLD, "fit", "*.npy", "-o", "map.safetensors"], UNCOVERED)
    shown, pressed, begun, workers, end = b"", False, None, [], time.monotonic() + 120
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:  # no process has the terminal any more
                break
        if begun is None and (b"Computes on" in shown if moment == "fit" else count_children(pid) > 2):
            begun = time.monotonic()
        if not pressed and begun is not None and time.monotonic() > begun + (4 if moment == "fit" else 0):
            workers = psutil.Process(pid).children(recursive=True)
            pressed = bool(os.write(terminal, b"\x03"))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    os.close(terminal)
    lines = [line.strip() for line in shown.decode().replace("^C", "").splitlines() if line.strip()]
    assert lines[-1] == "Stopped. Nothing was written."
    assert "Traceback" not in shown.decode()
    assert len(lines) <= 2  # where it computes, and that
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.npy", "1.npy"]
    assert psutil.wait_procs(workers, timeout=ORPHANED)[1] == []


def count_children(pid):
    try:
        return len(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return 0


@pytest.mark.slow
def test_a_scheduler_that_is_not_there(files, tmp_path):
    done = polyfold(
        "fit", files / "*.npy", "-o", tmp_path / "m.safetensors", "--scheduler", "tcp://127.0.0.1:9", timeout=60
    )
    assert done.returncode == 1
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr


def test_pure_powers(client):
    fitted = SNPPE(n_neighbors=10).fit(X).embedding_
    np.testing.assert_allclose(SNPPE(n_neighbors=10).fit(cut(X)).embedding_.compute(), fitted, atol=1e-8)
