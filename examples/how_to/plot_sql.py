"""
Place new samples in a SQL database
===================================

A map is a formula, and ``map_.to_sql`` writes it as one ``SELECT`` for DuckDB, SQLite, PostgreSQL or Spark: the
database places its own rows, whoever inserts them, and Python is needed no more. Here wines are placed by DuckDB,
through a view, and by SQLite, through a trigger.
"""

# %%
# Learn from columns with names
# -----------------------------
#
# 13 measurements of wines from three cultivars, each wine with a key. The last 48 wines are not in the database
# yet. Columns of different units are standardised first, and the map is one of the standardised columns: it knows
# their names, and the statement reads columns of these names.
import sqlite3

import duckdb
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from polyfold import NPPE, PolynomialMap

shuffled = load_wine(as_frame=True).frame.sample(frac=1, random_state=0).reset_index(drop=True)
wines = shuffled.drop(columns="target")
cultivar = shuffled["target"].to_numpy()
names = list(wines.columns)
wines.insert(0, "id", np.arange(1, len(wines) + 1))
stored, arriving = wines[:130], wines[130:]

scaler = StandardScaler().set_output(transform="pandas").fit(stored[names])
learned = NPPE(n_neighbors=30).fit(scaler.transform(stored[names])).map_
expected = learned.transform(scaler.transform(wines[names]))  # what the databases are compared with

# %%
# Write both steps as SQL
# -----------------------
#
# ``table`` is what the statement reads from and ``keep`` what it selects beside the coordinates. Names are quoted
# whatever is in them; one of these columns has a slash. Numbers are written with all their digits.


def standardise(table):
    """Return a SELECT that standardises the columns of a table as the scaler does."""
    steps = zip(names, scaler.mean_, scaler.scale_, strict=True)
    columns = [f'("{name}" - ({mean:.17e})) / {spread:.17e} AS "{name}"' for name, mean, spread in steps]
    return f"SELECT id, {', '.join(columns)} FROM {table}"


statement = learned.to_sql("duckdb", table="standardised", keep=["id"])
print(f"{len(statement):,} characters, which begin with\n")
print(statement[:107].replace(" AS MATERIALIZED (", " AS MATERIALIZED (\n  ", 1), "…")

# %%
# A view in DuckDB
# ----------------
#
# The wines that are stored go into a table, and the two steps on top of it into two views.
duck = duckdb.connect()  # in memory
duck.register("frame", stored)
duck.execute("CREATE TABLE wines AS SELECT * FROM frame")
duck.execute(f"CREATE VIEW standardised AS {standardise('wines')}")
duck.execute(f"CREATE VIEW placed AS {statement}")
print(duck.sql("SELECT * FROM placed ORDER BY id LIMIT 3").df())

# %%
# Wines that are inserted later are placed by the view, with nothing learned again. A wine that lacks a measurement
# has no place: its coordinates are NULL. Another one has a mistake: its alcohol was typed without the decimal
# point.
faulty = pd.concat([wines[:1], wines[:1]]).assign(id=[1001, 1002], hue=[None, 1.0], alcohol=[13.0, 1300.0])
for frame in (arriving, faulty):
    duck.register("frame", frame)
    duck.execute("INSERT INTO wines SELECT * FROM frame")

placed = duck.sql("SELECT * FROM placed ORDER BY id").df()
print(placed.tail(4))
print("\nrows whose y0 is NULL:", duck.sql("SELECT count(*) FROM placed WHERE y0 IS NULL").fetchall()[0][0])
difference = np.abs(placed[["y0", "y1"]][: len(wines)] - expected).to_numpy().max() / np.abs(expected).max()
print(f"{len(wines)} wines, {len(arriving)} of them new: within 1e-12 of transform: {difference < 1e-12}")

# %%
# Leave out what lies outside
# ---------------------------
#
# The mistyped wine was given coordinates like any other: the statement computes no extrapolation score. The map
# holds the smallest and the largest value of each column among its training samples, which make a ``WHERE``. A
# little room keeps it from turning away what is hardly outside: here a tenth of each range.
low, high = learned.domain.ranges
room = 0.1 * (high - low)
limits = zip(learned.columns, low - room, high + room, strict=True)
inside = " AND ".join(f'"{name}" BETWEEN {least:.17e} AND {most:.17e}' for name, least, most in limits)
rows = duck.sql(f"SELECT id FROM standardised WHERE NOT ({inside}) ORDER BY id").df()
print("outside of the ranges:", rows["id"].tolist())

# %%
# Ranges are a box, and samples do not fill its corners: a wine can lie within all of them and still be like none
# that was learned. The score knows. Its square is a polynomial too, of degree 2, where a map is written in its
# columns themselves and they are no more than 30: then it can be a map of its own. (Where ``learned.axes`` is not
# None, the score has a second part, the distance off the axes; let Python compute it.)
domain = learned.domain
squares = 1 / (domain.spreads * domain.reach) ** 2
score = PolynomialMap(
    shift=domain.center,
    scale=learned.scale,
    axes=domain.directions,
    basis="hadamard",
    degree=2,
    coefficients=np.r_[0 * squares, squares][:, np.newaxis],
    offset=[0.0],
    columns=learned.columns,
)
duck.execute(f"CREATE VIEW scores AS {score.to_sql('duckdb', table='standardised', keep=['id'])}")
scores = duck.sql("SELECT id, sqrt(y0) AS score FROM scores ORDER BY id").df()
true_scores = learned.extrapolation(scaler.transform(wines[names]))
difference = np.abs(scores["score"][: len(wines)] - true_scores).max()
print(f"axes: {learned.axes}; within 1e-12 of map_.extrapolation: {difference < 1e-12}\n")
print(scores.nlargest(4, "score").to_string(index=False))

# %%
# The edge, 1, is where 99 % of the training samples end, so that some of them are always beyond it: here those
# whose ``id`` is at most 130. :doc:`/how-to/plot_outside` tells how to choose a threshold.

# %%
# A trigger in SQLite
# -------------------
#
# A view computes coordinates anew whenever it is asked, and in SQLite and PostgreSQL those of all rows, also where
# one ``id`` is asked for: the steps of the statement are kept apart, so that nothing is computed twice, and a
# condition does not reach the first of them. Where a table is long, or read more often than written, keep the
# coordinates in a table of their own and let a trigger fill it. This one copies the new row into a table that
# holds nothing else, from which the statement reads, so that an insertion costs the same however many rows there
# are.
lite = sqlite3.connect(":memory:")
for table in ("wines", "arrived"):
    stored[:0].to_sql(table, lite, index=False, dtype={"id": "INTEGER"} | dict.fromkeys(names, "REAL"))
lite.executescript(f"""
    CREATE VIEW standardised AS {standardise("arrived")};
    CREATE VIEW placed AS {learned.to_sql("sqlite", table="standardised", keep=["id"])};
    CREATE TABLE coordinates (id INTEGER PRIMARY KEY, y0 REAL, y1 REAL);
    CREATE TRIGGER place AFTER INSERT ON wines BEGIN
        DELETE FROM arrived;
        INSERT INTO arrived SELECT * FROM wines WHERE rowid = NEW.rowid;
        INSERT OR REPLACE INTO coordinates SELECT * FROM placed;
    END;
""")
for frame in (stored, arriving, faulty):
    frame.to_sql("wines", lite, index=False, if_exists="append")

kept = pd.read_sql("SELECT * FROM coordinates ORDER BY id", lite)
difference = np.abs(kept[["y0", "y1"]][: len(wines)] - expected).to_numpy().max() / np.abs(expected).max()
print(kept.tail(4))
print(f"\nrows without coordinates: {kept['y0'].isna().sum()}; within 1e-12 of transform: {difference < 1e-12}")

# %%
# The same trigger ``AFTER UPDATE ON wines`` takes care of rows that change.
#
# Look at it
# ----------
#
# The coordinates of DuckDB's view. New wines lie among those of their cultivar; the cultivar itself is not in the
# database, and the map has never seen it.
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
y = placed[["y0", "y1"]][: len(wines)].to_numpy()
for kind, colour in enumerate(("tab:blue", "tab:orange", "tab:green")):
    old, new = (cultivar == kind) & (wines["id"] <= 130), (cultivar == kind) & (wines["id"] > 130)
    axes.scatter(*y[old].T, s=22, color=colour, alpha=0.35, linewidth=0)
    axes.scatter(*y[new].T, s=36, color=colour, edgecolor="black", linewidth=0.9)
    axes.scatter([], [], s=36, color=colour, label=f"cultivar {kind + 1}")
axes.scatter([], [], s=22, color="grey", alpha=0.35, linewidth=0, label="stored: learned from")
axes.scatter([], [], s=36, color="grey", edgecolor="black", linewidth=0.9, label="inserted afterwards")
axes.legend()
_ = axes.set(xlabel="y0", ylabel="y1", title="wines where the database placed them")

# %%
# Other databases
# ---------------
#
# The same statement for PostgreSQL begins as follows; there it makes a view as above, and for maps of hundreds of
# columns ``SET jit = off`` comes first.
postgres = learned.to_sql("postgres", table=("public", "wines"), keep=["id"])
print("CREATE VIEW placed AS")
print(postgres[:300], "…")

# %%
# ``to_sql("spark")`` writes one for Spark: a data frame is placed by ``spark.sql(statement)`` once it has a name,
# given by ``createOrReplaceTempView``, see :doc:`/scale`. How long statements become, and how fast they run, is in
# :doc:`/artefact`.
