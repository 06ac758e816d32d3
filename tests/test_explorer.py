"""The page: what it holds, what it cannot be made to do, and what its script computes."""

import html
import json
import re
import zlib
from base64 import b64decode, b64encode
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_digits

from maps import random_map
from polyfold import NPPE, SNPPE, PolynomialMap
from polyfold.datasets import make_swiss_roll
from polyfold.io import CompleteRows, match_columns, open_table
from runners import NODE, run_script

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")

HOSTILE = ["</script><script>window.hacked = 1</script>", "<img src=x onerror=alert(1)>", '"&amp;\u2028', "<!--"]


@pytest.fixture(scope="module")
def roll():
    X, Z = make_swiss_roll(300, random_state=0)
    return X, Z, NPPE(n_neighbors=10).fit(X).map_


class Elements(HTMLParser):
    """The elements of a page: their names, attributes and texts."""

    def __init__(self, page):
        super().__init__()
        self.found, self.texts = [("page", {})], {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, text):
        tag, attributes = self.found[-1]
        self.texts.setdefault(attributes.get("id", tag), text)


def read_payload(page):
    return json.loads(Elements(page).texts["payload"])


def unpack(packed):
    return np.frombuffer(zlib.decompress(b64decode(packed["packed"])), dtype=packed["type"])


def test_the_page_is_one_file_that_asks_nobody(roll):
    X, _, learned = roll
    elements = Elements(learned.to_html(X))
    for tag, attributes in elements.found:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form")
        assert not [value for name, value in attributes.items() if name in ("src", "href") and value[0] != "#"]
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    policy = next(each["content"] for tag, each in elements.found if tag == "meta" and "http-equiv" in each)
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in elements.texts["style"]
    assert not re.findall(r"https?://", elements.texts["script"])


def test_the_policy_lets_the_pages_own_script_run_and_no_other(roll):
    X, _, learned = roll
    page = learned.to_html(X)
    elements = Elements(page)
    for kind, name in (("script", "script"), ("style", "style")):
        own = elements.texts[name]
        digest = b64encode(sha256(own.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in html.unescape(page)
    assert [tag for tag, _ in elements.found].count("script") == 2  # the data and the script


def test_the_page_holds_the_map_and_the_samples(roll):
    X, Z, learned = roll
    names = [f"n{i % 3}" for i in range(300)]
    payload = read_payload(learned.to_html(X, labels={"t": Z[:, 0], "name": names, "few": np.arange(300) % 4}))
    assert payload["map"] == json.loads(learned.to_json())
    np.testing.assert_array_equal(unpack(payload["values"]).reshape(-1, 3), X)
    np.testing.assert_array_equal(unpack(payload["coordinates"]).reshape(-1, 2), learned.transform(X))
    np.testing.assert_allclose(unpack(payload["scores"]), learned.extrapolation(X), rtol=1e-6)
    np.testing.assert_array_equal(unpack(payload["rows"]), np.arange(1, 301))
    t, name, few = payload["labels"]
    np.testing.assert_array_equal(unpack(t["numbers"]), Z[:, 0])
    assert [name["texts"][code] for code in unpack(name["codes"])] == names
    assert few["texts"] == ["0", "1", "2", "3"]


def test_the_most_sensitive_columns_come_first():
    """Coordinate 0 moves with column 2 only, coordinate 1 with column 0 a little, and nothing with column 1."""
    learned = PolynomialMap(np.zeros(3), 1.0, "hadamard", 1, [[0, 1e-3], [0, 0], [5, 0]], [0.0, 0.0])
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 100, 1]
    for samples in (X, None, X[:1]):
        order = read_payload(learned.to_html(samples))["order"]
        assert set(order[:2]) == {0, 2}
        assert order[2] == 1


def test_values_are_kept_small_and_whole():
    X, y = load_digits(return_X_y=True)
    learned = SNPPE(reduce=5).fit(X).map_
    payload = read_payload(learned.to_html(X, image_shape=(8, 8), labels={"digit": y}))
    assert payload["values"]["type"] == "uint8"
    np.testing.assert_array_equal(unpack(payload["values"]).reshape(-1, 64), X)
    assert payload["image"] == {"shape": [8, 8], "white": 16.0}
    assert payload["labels"][0]["texts"] == [str(digit) for digit in range(10)]


def test_of_many_samples_some_are_shown(roll):
    X, _, learned = roll
    labels = {"row": [f"r{i}" for i in range(300)]}
    first, second = (read_payload(learned.to_html(X, labels=labels, max_points=50)) for _ in range(2))
    assert first == second
    rows = unpack(first["rows"]).astype(int)
    assert first["n_points"] == len(set(rows)) == 50
    assert rows.max() > 200  # from everywhere, not the first ones
    np.testing.assert_array_equal(unpack(first["values"]).reshape(-1, 3), X[rows - 1])
    label = first["labels"][0]
    assert [label["texts"][code] for code in unpack(label["codes"])] == [f"r{row - 1}" for row in rows]


def test_a_page_does_not_outgrow_its_bounds(roll, monkeypatch):
    X, _, learned = roll
    monkeypatch.setattr("polyfold.export.html.MOST_BYTES", 12 * 40)
    with pytest.warns(UserWarning, match="shows 40 of 300 samples: more would be larger than 0 MB") as heard:
        payload = read_payload(learned.to_html(X))
    assert heard[0].filename == __file__
    assert payload["n_points"] == 40
    assert payload["n_samples"] == 300


def test_texts_are_inert(roll):
    X, _, learned = roll
    named = PolynomialMap.from_json(learned.to_json())
    named = type(named)(
        named.shift, named.scale, named.basis, named.degree, named.coefficients, named.offset,
        domain=named.domain, columns=HOSTILE[:3], training={"estimator": HOSTILE[0]},
    )  # fmt: skip
    labels = {HOSTILE[0]: HOSTILE[:3] * 100, "values": HOSTILE[1:] * 100}
    page = named.to_html(X, labels=labels, title=HOSTILE[0])
    elements = Elements(page)
    assert [tag for tag, _ in elements.found].count("script") == 2
    assert "img" not in [tag for tag, _ in elements.found]
    payload = json.loads(elements.texts["payload"])
    assert payload["labels"][0]["name"] == HOSTILE[0]
    assert set(payload["labels"][1]["texts"]) == set(HOSTILE[1:])
    assert payload["map"]["map"]["columns"] == HOSTILE[:3]
    assert html.unescape(re.search(r"<title>(.*?)</title>", page)[1]) == HOSTILE[0]


def test_bad_arguments_are_told(roll):
    X, _, learned = roll
    with pytest.raises(ValueError, match=r"`image_shape` must be .* got \(2, 2\)"):
        learned.to_html(X, image_shape=(2, 2))
    with pytest.raises(ValueError, match=r"must end in 3, got \(1, 3, 1\)"):
        learned.to_html(X, image_shape=(1, 3, 1))
    with pytest.raises(ValueError, match=r"`labels` must have 300 values each, but 'a' has 2"):
        learned.to_html(X, labels={"a": [1, 2]})
    with pytest.raises(ValueError, match=r"of one dimension, but 'a' has shape \(300, 2\)"):
        learned.to_html(X, labels={"a": X[:, :2]})
    with pytest.raises(ValueError, match=r"`row_numbers` must be 300 whole numbers"):
        learned.to_html(X, row_numbers=np.arange(299))
    with pytest.raises(ValueError, match=r"`image_shape` must be an integer >= 1, got -1"):
        learned.to_html(X, image_shape=(-1, -3))
    with pytest.raises(ValueError, match="`max_points` must be an integer >= 1, got 0"):
        learned.to_html(X, max_points=0)
    with pytest.raises(ValueError, match="`max_points` must be an integer >= 1, got True"):
        learned.to_html(X, max_points=True)
    with pytest.raises(ValueError, match=r"`image_shape` must be an integer >= 1, got 1\.5"):
        learned.to_html(X, image_shape=(1.5, 2))
    with pytest.raises(ValueError, match=r"`labels` must be a mapping from names to columns, got list"):
        learned.to_html(X, labels=[1])
    with pytest.raises(ValueError, match="`title` must be a text, got 5"):
        learned.to_html(X, title=5)
    with pytest.raises(ValueError, match="X must have shape"):
        learned.to_html(X[:, :2])
    with pytest.raises(ValueError, match="X contains NaN"):
        learned.to_html(np.where(X[3, 1] == X, np.nan, X))
    assert read_payload(learned.to_html(X[:0]))["n_points"] == 0


def test_labels_keep_what_they_say(roll):
    """Ids beyond what a number tells apart, truth values and lists are texts; rows go by the numbers given."""
    X, _, learned = roll
    labels = {
        "id": [2**60 + i for i in range(300)],
        "array": np.arange(300) + 2**60,
        "truth": np.arange(300) % 2 == 0,
        "lists": [[i, i] for i in range(300)],
        "large": np.linspace(0, 1e300, 300),
    }
    payload = read_payload(learned.to_html(X, labels=labels, row_numbers=np.arange(300) * 2 + 10))
    found = {label["name"]: label for label in payload["labels"]}
    for name in ("id", "array"):
        assert [found[name]["texts"][code] for code in unpack(found[name]["codes"])] == [
            str(2**60 + i) for i in range(300)
        ]
    assert found["truth"]["texts"] == ["False", "True"]
    assert found["lists"]["texts"][0] == "[0, 0]"
    np.testing.assert_array_equal(unpack(found["large"]["numbers"]), labels["large"])
    np.testing.assert_array_equal(unpack(payload["rows"]), np.arange(300) * 2 + 10)


def test_missing_values_of_labels(roll):
    X, _, learned = roll
    numbers, words = np.arange(300.0), ["a", None] * 150
    numbers[5] = np.nan
    payload = read_payload(learned.to_html(X, labels={"numbers": numbers, "words": words}))
    assert np.isnan(unpack(payload["labels"][0]["numbers"])[5])
    assert payload["labels"][1]["texts"] == ["", "a"]


@needs_node
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("basis", "degree", "n_axes"),
    [("kronecker", 3, None), ("hadamard", 4, None), ("kronecker", 2, 3), ("hadamard", 1, 2)],
)
def test_slopes_and_scores_are_those_of_the_map(basis, degree, n_axes, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(200, 5)) * [1, 2, 3, 0.1, 5]
    fitted = random_map(basis, degree, 5, 2, n_axes, seed)
    learned = NPPE(n_neighbors=10, degree=2, reduce=n_axes).fit(X).map_
    domain = learned.domain
    samples = np.vstack([X[:20], 4 * X[:5], domain.center])
    for each in (fitted, learned):
        found = run_script(each, samples=samples.tolist())
        slopes = np.array([row["slopes"] for row in found])
        expected = each.jacobian(samples)
        np.testing.assert_allclose(slopes, expected, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(
        [row["score"] for row in found], learned.extrapolation(samples), rtol=1e-9, atol=1e-12
    )
    assert run_script(fitted, samples=samples[:1].tolist())[0]["score"] is None


TABLES = {
    "quotes": 'b,"a, ""x""",c\n1,2,"3"\n\n 4 ,5,6\n',
    "windows": '\ufeffa;b;c\r\n1;2;3\r\n"4";5;6',
    "extra": "id,c,b,a\nx,3,2,1\ny,6,5,4\n",
}


@needs_node
def test_tables_are_read_as_the_command_line_reads_them(tmp_path):
    for names, text in ((("b", 'a, "x"', "c"), TABLES["quotes"]), (("a", "b", "c"), TABLES["extra"])):
        learned = PolynomialMap(np.zeros(3), 1.0, "hadamard", 1, np.ones((3, 1)), [0.0], columns=names)
        found = run_script(learned, text=text)
        (tmp_path / "t.csv").write_text(text)
        table = open_table(tmp_path / "t.csv")
        (batch,) = CompleteRows(table, match_columns(table, names, 3)[0])
        np.testing.assert_array_equal(found["rows"], batch.values)
        assert found["numbers"] == [1, 2]
    assert found["note"] == "Ignored id: the map does not take it."
    learned = PolynomialMap(np.zeros(3), 1.0, "hadamard", 1, np.ones((3, 1)), [0.0], columns=("c", "b", "a"))
    assert run_script(learned, text=TABLES["windows"])["rows"] == [[3, 2, 1], [6, 5, 4]]


@needs_node
def test_tables_that_do_not_fit():
    named = PolynomialMap(np.zeros(3), 1.0, "hadamard", 1, np.ones((3, 1)), [0.0], columns=("a", "b", "c"))
    unnamed = PolynomialMap(np.zeros(3), 1.0, "hadamard", 1, np.ones((3, 1)), [0.0])
    assert run_script(named, text="a,b\n1,2\n")["error"] == "The file lacks c."
    assert run_script(unnamed, text="a,b\n1,2\n")["error"] == "The file has 2 columns, and the map takes 3."
    assert run_script(named, text="")["error"] == "The file is empty."
    assert "not closed" in run_script(named, text='a,b,c\n1,"2,3\n')["error"]
    found = run_script(named, text="a,b,c\n1,2,3\n4,,6\n7,x,9\n1,0x10,3\n1,Infinity,3\n10,11,12\n")
    assert found["rows"] == [[1, 2, 3], [10, 11, 12]]
    assert found["numbers"] == [1, 6]
    assert found["skipped"][0] == {"row": 2, "why": "no number in column b"}
    assert len(found["skipped"]) == 4
    found = run_script(named, text="a,b,c\n1,000,2,3\n4,5\n")
    assert [each["why"] for each in found["skipped"]] == ["4 cells instead of 3", "2 cells instead of 3"]
    assert run_script(named, text="a,b,c,a\n1,2,3,4\n")["error"] == "The file has more than one column a."
    assert run_script(unnamed, text="1,2,3\n4,5,6\n")["rows"] == [[1, 2, 3], [4, 5, 6]]
    assert run_script(unnamed, text="p,q,r\n4,5,6\n")["rows"] == [[4, 5, 6]]


def test_numbers_beyond_single_precision_are_kept(roll, monkeypatch):
    X, _, learned = roll
    monkeypatch.setattr("polyfold.export.html.EXACT_NUMBERS", 10)
    far = X.copy()
    far[7] *= 1e50
    near, page = (read_payload(learned.to_html(each)) for each in (X, far))
    assert near["values"]["type"] == near["coordinates"]["type"] == "float32"
    assert page["values"]["type"] == page["coordinates"]["type"] == "float64"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": {"a": 5}}, "`labels` must be columns of 300 values, but 'a' is 5"),
        ({"image_shape": 5}, "`image_shape` must be .height, width. or .height, width, 3., got 5"),
    ],
)
def test_labels_and_shapes_that_are_none(roll, given, message):
    X, _, learned = roll
    with pytest.raises(ValueError, match=message):
        learned.to_html(X, **given)


def test_what_a_mask_hides_is_not_in_the_page(roll):
    X, _, learned = roll
    masked = np.arange(300) % 2 == 0
    words = np.ma.array(np.where(masked, "SECRET", "shown"), mask=masked)
    numbers = np.ma.array(np.where(masked, 123454321.5, 1.5), mask=masked)
    page = learned.to_html(X, labels={"words": words, "numbers": numbers, "large": [10**400] * 300})
    found = {label["name"]: label["texts"] for label in read_payload(page)["labels"]}
    assert found == {"words": ["", "shown"], "numbers": ["", "1.5"], "large": [str(10**400)]}
    assert "SECRET" not in page
    assert "123454321" not in page
