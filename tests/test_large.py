"""Files of 2 GB placed in bounded memory; run by `make test-large`."""

import io
import subprocess
import sys
import time

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyfold import NPPE

pytestmark = pytest.mark.large

#: Of each file, and of memory at the most.
FILE_BYTES, MEMORY_BYTES = 2_000_000_000, 500_000_000

NAMES = [f"column {j}" for j in range(10)]

RUN = """
import sys
from polyfold.bench.timing import read_peak
from polyfold.cli import main
try:
    main()
finally:
    print("peak", read_peak(), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def block():
    """Rows that the files repeat, and a map of them."""
    random = np.random.default_rng(0)
    X = random.normal(size=(100_000, 3)) @ random.normal(size=(3, 10)) + 0.1 * random.normal(size=(100_000, 10))
    frame = pandas.DataFrame(X, columns=NAMES)
    frame.insert(0, "id", [f"{i:06d}" for i in range(len(X))])
    return frame, NPPE(n_neighbors=10).fit(frame[NAMES][:2000]).map_


def write_csv(frame, path):
    text = frame.to_csv(index=False)
    head, rows = text.split("\n", 1)
    content = rows.encode()
    n_blocks = -(-FILE_BYTES // len(content))
    with path.open("wb") as file:
        file.write(f"{head}\n".encode())
        for _ in range(n_blocks):
            file.write(content)
    return n_blocks


def write_parquet(frame, path):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    n_blocks = 0
    # Groups of a million rows, as programs write them that know nothing of us; numbers that do not repeat.
    with pq.ParquetWriter(path, table.schema, use_dictionary=False) as writer:
        while path.stat().st_size < FILE_BYTES:
            writer.write_table(pa.concat_tables([table] * 10), row_group_size=1_000_000)
            n_blocks += 10
    return n_blocks


@pytest.mark.parametrize(("ending", "written"), [("csv", "csv"), ("parquet", "parquet"), ("csv", "parquet")])
def test_two_gigabytes(block, tmp_path, ending, written):
    frame, learned = block
    learned.save(tmp_path / "m.safetensors")
    source, target = tmp_path / f"rows.{ending}", tmp_path / f"placed.{written}"
    n_blocks = (write_csv if ending == "csv" else write_parquet)(frame, source)
    assert source.stat().st_size >= FILE_BYTES
    command = [
        sys.executable,
        "-c",
        RUN,
        "transform",
        tmp_path / "m.safetensors",
        source,
        "-o",
        target,
        "--keep",
        "id",
    ]
    start = time.perf_counter()
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    peak = int(done.stderr.split()[-1])
    n_rows = n_blocks * len(frame)
    speed = source.stat().st_size / 1e6 / seconds
    sys.stdout.write(
        f"\n{ending} to {written}: {source.stat().st_size / 1e9:.2f} GB, {n_rows:,} rows in {seconds:.0f} s "
        f"({speed:.0f} MB/s), peak {peak / 1e6:.0f} MB\n"
    )
    source.unlink()
    assert f"Placed {n_rows:,} rows" in done.stderr
    assert peak < MEMORY_BYTES
    expected = learned.transform(frame[NAMES])
    for placed in read_ends(target, len(frame)):
        assert list(placed["id"]) == list(frame["id"])
        np.testing.assert_array_equal(placed[["y0", "y1"]], expected)
    target.unlink()


def read_ends(path, n_rows):
    """The first and the last rows of a file."""
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        yield next(file.iter_batches(n_rows)).to_pandas()
        last = pa.concat_tables(
            [file.read_row_group(k) for k in range(max(file.num_row_groups - 2, 0), file.num_row_groups)]
        )
        yield last.slice(len(last) - n_rows).to_pandas()
        return
    yield pandas.read_csv(path, nrows=n_rows, dtype={"id": str})
    with path.open("rb") as file:
        file.seek(-60 * n_rows, io.SEEK_END)
        lines = file.read().decode().splitlines()[-n_rows:]
    yield pandas.read_csv(io.StringIO("\n".join(["id,y0,y1", *lines])), dtype={"id": str})
