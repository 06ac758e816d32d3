"""Names of columns, tables and samples that are made to be taken for something else: inert wherever they stand.

Each output is compared with that of plain names: what is not a name must be the same.
"""

import json
import re
import sqlite3
from html.parser import HTMLParser

import duckdb
import numpy as np
import pytest
import sqlglot
import sympy
from hypothesis import assume, given

from commands import succeed
from maps import random_map
from polyfold import PolynomialMap
from polyfold._table import Table, make_printable
from strategies import count_examples, hostile_names

PLAIN = ["a", "b", "c"]
X = np.random.default_rng(0).normal(size=(4, 3))


def name_map(columns):
    return random_map("kronecker", 2, columns=columns)


class Skeleton(HTMLParser):
    """A page without its texts: the elements, and their attributes but for what stands in the title."""

    def __init__(self, page):
        super().__init__()
        self.parts = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.parts.append((tag, attributes))

    def handle_endtag(self, tag):
        self.parts.append(tag)

    def handle_comment(self, text):
        self.parts.append(("comment", text))


def quote(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(scope="module")
def databases():
    """Databases with a table that nobody may touch."""
    connections = {"duckdb": duckdb.connect(), "sqlite": sqlite3.connect(":memory:")}
    for connection in connections.values():
        connection.execute("CREATE TABLE samples (untouched INTEGER)")
    yield connections
    for connection in connections.values():
        connection.close()


@given(names=hostile_names(5, surrogates=False))
@count_examples(40)
def test_sql(databases, names):
    """In SQL, columns and tables of any name are read, in SQLite and DuckDB, and nothing else is done."""
    *columns, table, kept = names
    assume("source" not in {name.casefold() for name in names} and table.casefold() != "samples")
    learned = name_map(columns)
    assume(kept.casefold() not in learned.coordinate_names)
    rows = [*map(repr, np.column_stack([X, np.arange(4)]).tolist())]
    for dialect, connection in databases.items():
        listed = ", ".join(f"{quote(name)} DOUBLE" for name in [*columns, kept])
        connection.execute(f"CREATE TABLE {quote(table)} ({listed})")
        connection.execute(f"INSERT INTO {quote(table)} VALUES {', '.join(f'({row[1:-1]})' for row in rows)}")
        statement = learned.to_sql(dialect, table=table, keep=[kept])
        placed = sorted(connection.execute(statement).fetchall())
        np.testing.assert_allclose(np.array(placed)[:, 1:], learned.transform(X), atol=1e-9)
        assert connection.execute("SELECT count(*) FROM samples").fetchone() == (0,)
        connection.execute(f"DROP TABLE {quote(table)}")
        (parsed,) = sqlglot.parse(statement, dialect=dialect)
        assert parsed.named_selects == [kept, "y0", "y1"]


@given(names=hostile_names(3))
@count_examples(40)
def test_sql_for_other_databases(names):
    """For PostgreSQL and Spark it is one SELECT of these names; half a character in a name is an error."""
    learned = name_map(names)
    for dialect in ("postgres", "spark"):
        if re.search("[\ud800-\udfff]", "".join(names)):
            with pytest.raises(ValueError, match="without NUL or lone surrogates"):
                learned.to_sql(dialect)
            continue
        (parsed,) = sqlglot.parse(learned.to_sql(dialect), dialect=dialect)
        assert isinstance(parsed, sqlglot.exp.Select)
        assert set(names) <= {column.name for column in parsed.find_all(sqlglot.exp.Column)}


def write_page(columns, labels, title):
    return name_map(columns).to_html(X, labels=labels, title=title)


PLAIN_PAGE = Skeleton(write_page(PLAIN, {"e": ["f", "g"] * 2}, "title")).parts


@given(names=hostile_names(7))
@count_examples(40)
def test_html(names):
    """In a page, names, labels and title are texts: its elements are those of a page with plain names."""
    *columns, label, one, other, title = names
    page = write_page(columns, {label: [one, other] * 2}, title)
    assert page.encode("utf-8")
    assert Skeleton(page).parts == PLAIN_PAGE
    found = re.search(r'<script[^>]*id="payload"[^>]*>(.*?)</script>', page, flags=re.DOTALL)
    payload = json.loads(found[1])
    assert payload["map"]["map"]["columns"] == columns
    assert payload["labels"][0]["name"] == label


@given(names=hostile_names(4))
@count_examples(40)
def test_tables_in_notebooks(names):
    """In the tables that notebooks show, names are texts too."""
    *labels, heading = names
    values = np.zeros((3, 1))
    shown = Skeleton(Table(heading, tuple(labels), ("value",), values)._repr_html_()).parts
    assert shown == Skeleton(Table("name", tuple(PLAIN), ("value",), values)._repr_html_()).parts


#: What LaTeX is written with, beside letters and escaped signs.
COMMANDS = {"begin", "end", "cdot", "cdots", "mathrm", "backslash", "wedge", "sim"}


@given(names=hostile_names(3))
@count_examples(40)
def test_latex(names):
    """In LaTeX there are no commands but our own, no comments, and every brace is closed."""
    text = name_map(names).to_latex(largest=9)
    assert set(re.findall(r"\\([A-Za-z]+)", text)) <= COMMANDS
    assert text.isprintable() or all(part.isprintable() for part in text.split("\n"))
    bare = re.sub(r"\\([A-Za-z]+|.|\n)", "", text.replace("\\\\\n", "\n"))
    assert not re.search(r"[%#$~\\]|\^\^", bare)
    assert bare.count("&") == 2  # one in each line
    depth = np.cumsum([(sign == "{") - (sign == "}") for sign in bare])
    assert depth.min() >= 0
    assert depth[-1] == 0


def strip_comments(code):
    """C without its comments, as the standard has it: trigraphs and spliced lines first."""
    assert "??" not in code
    assert "\\\n" not in code
    return re.sub(r"/\*.*?\*/", " ", code, flags=re.DOTALL)


PLAIN_C = name_map(PLAIN).to_c("place")


@given(names=hostile_names(3))
@count_examples(40)
def test_c(names):
    """In C, names stand in comments that they cannot end: the code is that of plain names."""
    code = name_map(names).to_c("place")
    assert code.header.isascii()
    assert strip_comments(code.header) == strip_comments(PLAIN_C.header)
    assert code.source == PLAIN_C.source


@given(names=hostile_names(3))
@count_examples(40)
def test_sympy(names):
    """In SymPy, names are symbols, and nothing in them is evaluated."""
    expressions = name_map(names).to_sympy()
    assert expressions.free_symbols == {sympy.Symbol(name, real=True) for name in names}


@given(names=hostile_names(3))
@count_examples(40)
def test_files(names, tmp_path):
    """In a file and in JSON, names come back as they were."""
    learned = name_map(names)
    learned.save(tmp_path / "map")
    assert PolynomialMap.load(tmp_path / "map").columns == tuple(names)
    assert PolynomialMap.from_json(learned.to_json()).columns == tuple(names)
    assert learned.to_json().encode("utf-8")


@given(names=hostile_names(3))
@count_examples(40)
def test_terms(names):
    """In formulas and tables of terms, nothing moves the cursor, and each has a line of its own."""
    learned = name_map(names)
    terms = learned.terms()
    for text, n_lines in ((terms.formula(), 2), (repr(terms), 11)):
        assert len(text.split("\n")) == n_lines
        assert all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("fragment", ["\x1b[2J", "[red]x[/red]", "a\rb", "\u202e"])
def test_terminal(fragment, tmp_path):
    """At the command line, names are shown without escapes, and as no markup."""
    name_map([fragment, "b", "c"]).save(tmp_path / "map")
    shown = succeed("inspect", tmp_path / "map").stdout
    assert all(line.isprintable() for line in shown.splitlines())
    assert make_printable(fragment) in shown
