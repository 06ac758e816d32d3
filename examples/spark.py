"""Place the rows of a Spark DataFrame by SQL: the map is a formula, and Spark needs no Python to run it.

Needs ``pip install "polyfold[databases]"`` and Java; ``make spark`` runs it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

from polyfold import NPPE
from polyfold.datasets import make_swiss_roll


def place_in_spark(folder: Path) -> None:
    """Learn from a few rows, and have Spark place many."""
    train = pd.DataFrame(make_swiss_roll(2000, random_state=0)[0], columns=["x", "y", "z"])
    many = pd.DataFrame(make_swiss_roll(100_000, random_state=1)[0], columns=["x", "y", "z"])
    many.assign(id=np.arange(len(many))).to_parquet(folder / "measurements.parquet")

    learned = NPPE(n_neighbors=10).fit(train).map_
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.read.parquet(f"{folder}/measurements.parquet").createOrReplaceTempView("measurements")
    placed = spark.sql(learned.to_sql("spark", table="measurements", keep=["id"]))
    placed.show(5)

    found = np.array(placed.orderBy("id").select("y0", "y1").collect())
    expected = learned.transform(many)
    error = np.abs(found - expected).max() / np.abs(expected).max()
    print(f"{len(found):,} rows placed by Spark, as by polyfold to {error:.0e}")
    assert error < 1e-9
    spark.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        place_in_spark(Path(folder))
