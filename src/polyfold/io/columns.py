"""Which columns of a table a map is learned from, and where the columns of a map are in another table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches

from polyfold.io.table import DataError, Table, list_names

#: Names that one that is not there is compared with.
COMPARED_NAMES = 10_000


def choose_columns(
    table: Table, columns: Sequence[str] = (), exclude: Sequence[str] = (), keep: Sequence[str] = ()
) -> Sequence[int]:
    """Return the positions of the columns to learn from: those named, or all; less those excluded or kept."""
    check_kept(table, keep)
    if table.names is None:
        if columns or exclude:
            raise DataError(
                f"The columns of {table.source} have no names: --columns and --exclude cannot be used."
            )
        return range(table.n_columns)
    for name in (*columns, *exclude):
        _check_name(table, name, table.names)
    left_out = {*exclude, *keep}
    # A column without a name is what a comma at the end of each line makes, or an index that nobody named.
    chosen = [name for name in dict.fromkeys(columns or filter(None, table.names)) if name not in left_out]
    if not chosen:
        raise DataError(f"No column of {table.source} is left to learn from.")
    return _locate(table, chosen)


def match_columns(
    table: Table, wanted: Sequence[str] | None, n_wanted: int, keep: Sequence[str] = ()
) -> tuple[Sequence[int], list[str]]:
    """Find the columns of a map in a table: by name where both have names, and otherwise by position.

    Parameters
    ----------
    table : Table
    wanted : sequence of str or None
        Names of the map's columns.
    n_wanted : int
        How many it has.
    keep : sequence of str
        Columns of the table that are carried along.

    Returns
    -------
    positions : sequence of int
    ignored : list of str
        Names of the columns that are neither.
    """
    check_kept(table, keep)
    if wanted is not None and table.names is not None:
        there = set(table.names)
        missing = [name for name in wanted if name not in there]
        if missing:
            raise DataError(
                f"{table.source} lacks {list_names(missing)}, which the map needs. It has "
                f"{list_names(table.names)}."
            )
        known = {*wanted, *keep}
        return _locate(table, wanted), [name for name in table.names if name not in known]
    positions: Sequence[int] = range(table.n_columns)
    if table.names is not None:
        positions = [k for k in positions if table.names[k] not in keep]
    if len(positions) != n_wanted:
        names = "" if wanted is None else f": {list_names(wanted)}"
        beside = " beside those kept" if keep else ""
        raise DataError(
            f"{table.source} has {len(positions):,} columns{beside}, and the map takes {n_wanted:,}{names}."
        )
    return positions, []


def _locate(table: Table, wanted: Sequence[str]) -> list[int]:
    """Return the positions of columns, each of which the table must have once."""
    assert table.names is not None
    counts = Counter(table.names)
    if twice := [name for name in wanted if counts[name] > 1]:
        raise DataError(f"{table.source} has more than one column named {list_names(twice)}. Rename them.")
    places = {name: position for position, name in enumerate(table.names)}
    return [places[name] for name in wanted]


def check_kept(table: Table, keep: Sequence[str]) -> None:
    """Check that a table has the columns that are to be carried along."""
    for name in keep:
        _check_name(table, name, (*(table.names or ()), *table.labels))


def _check_name(table: Table, name: str, names: Sequence[str]) -> None:
    if name in names:
        return
    near = get_close_matches(name, names[:COMPARED_NAMES], 1)
    hint = f" Is it {near[0]!r}?" if near else ""
    found = f"It has {list_names(names)}." if names else "Its columns have no names."
    raise DataError(f"{table.source} has no column {name!r}.{hint} {found}")
