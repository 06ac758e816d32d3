"""`polyfold reproduce`: the quick form from end to end, and what its tables must say."""

import csv
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import image_sets
import polyfold
from image_sets import needs
from polyfold.cli import app
from polyfold.experiments.claims import CLAIMS, CLOSE_CALL, judge_claims
from polyfold.experiments.complexity import P_OF_MANY
from polyfold.experiments.methods import OURS, PAPER
from polyfold.experiments.outcome import Table

# The quick form takes two minutes: one process runs it, for all tests that read what it wrote.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("reproduce")]

SOURCE = Path(polyfold.__file__).parent / "experiments"
ROLLS = ("SwissRoll", "SwissHole")

#: Where image sets are, the quick form runs on them too.
WITH_IMAGES = ["--data", image_sets.FOLDER] if image_sets.FOLDER.name and image_sets.FOLDER.is_dir() else []


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", "--force", *map(str, arguments)])


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The folder that the quick form wrote."""
    out = tmp_path_factory.mktemp("quick") / "new"
    shown = run("--quick", "--out", out, *WITH_IMAGES)
    assert shown.exit_code == 0, shown.output
    return out


def read(folder, name):
    with (folder / "tables" / f"{name}.csv").open(newline="") as file:
        rows = [{key: parse(value) for key, value in row.items()} for row in csv.DictReader(file)]
    return Table(name, "", rows)


def parse(text):
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text or None


@pytest.fixture(scope="module")
def tables(quick):
    return {path.stem: read(quick, path.stem) for path in (quick / "tables").glob("*.csv")}


@pytest.mark.parametrize("surface", ROLLS)
def test_rolls_are_unfolded_by_polynomials_alone_on_every_draw(tables, surface):
    rho = {
        name: tables["surfaces"].select("residual_variance", surface=surface, method=name)
        for name in (PAPER, OURS, "LLE", "NPP", "ONPP")
    }
    assert max(rho[PAPER].max(), rho[OURS].max()) < 0.15
    assert (rho["LLE"] > np.maximum(rho[PAPER], rho[OURS])).all()
    assert (np.minimum(rho["NPP"], rho["ONPP"]) > np.maximum(rho["LLE"], 0.4)).all()


def test_the_gaussian_is_unfolded_by_all_but_onpp(tables):
    table = tables["surfaces"]
    rho = {n: table.select("residual_variance", surface="Gaussian", method=n) for n in table.list_values("method")}
    worst = np.median(rho.pop("ONPP"))
    assert all(np.median(found) < worst and found.max() < 0.05 for found in rho.values())


@pytest.mark.parametrize("case", ["even", "random", "random, many"])
def test_located_samples_are_ordered_by_method(tables, case):
    n = 10_000 if case == "random, many" else 1000
    rho = {
        name: tables["locating"].select("residual_variance", case=case, method=name, located=n)
        for name in (PAPER, OURS, "KE", "NPP", "ONPP")
    }
    assert max(rho[PAPER].max(), rho[OURS].max()) < 0.02 < rho["KE"].min()
    assert (rho["KE"] < np.minimum(rho["NPP"], rho["ONPP"])).all()
    assert tables["locating"].list_values("located", case=case)[-1] == n


def test_maps_keep_little_and_place_each_sample_alone(tables):
    table = tables["locating_kept"]
    for name in (PAPER, OURS, "NPP", "ONPP"):
        assert table.select("kilobytes", method=name) < 5 < table.select("kilobytes", method="KE")
        assert table.select("alone_against_batch", method=name) == 0


def test_more_neighbours_reach_across_the_turns_of_a_roll(tables):
    for surface in ROLLS:
        few, many = (
            tables["parameters_neighbors"].select("residual_variance", surface=surface, method=OURS, percent=p)
            for p in (1, 4)
        )
        assert (few < 0.02).all()
        assert (many > 0.3).all()


def test_a_higher_degree_could_follow_the_rolls_better(tables):
    for surface in ROLLS:
        found = [
            tables["parameters_degree"].select(
                "residual_variance", surface=surface, method="best polynomial", degree=p
            )
            for p in (1, 2, 3)
        ]
        assert all((after < before / 10).all() for before, after in pairwise(found))


def test_stages_make_up_the_time_of_a_fit(tables):
    groups = tables["parameters_stages_times"].group("method", "grows", "size")
    assert len(groups) == 18
    for rows in groups.values():
        seconds = {row["stage"]: row["seconds"] for row in rows}
        whole = seconds.pop("all")
        assert all(each >= 0 for each in seconds.values())
        assert sum(seconds.values()) <= 1.001 * whole
        assert seconds["neighbours"] > 0
        assert seconds["eigenproblem"] > 0


def test_the_bandwidth_decides_what_kernel_extrapolation_gives(tables):
    table = tables["parameters_bandwidth"]
    given, chosen = (table.select("residual_variance", choice=each) for each in ("given", "auto"))
    assert given.max() > 2 * given.min()
    assert chosen.max() < 1.2 * given.min()


def test_turning_the_roll_fails_pure_powers_only(tables):
    table = tables["beyond_turned"]
    turned = [row for row in table.rows if row["angle"] >= 30 and row["angle"] % 90]
    assert min(row["residual_variance"] for row in turned if row["method"] == PAPER) > 0.1
    ours = {angle: table.select("residual_variance", method=OURS, angle=angle) for angle in (0, 30, 60)}
    assert max(found.max() for found in ours.values()) < 0.02
    np.testing.assert_allclose(ours[30], ours[0], rtol=1e-3)


@pytest.mark.parametrize(("name", "where"), [("beyond_strips", {"turns": 3}), ("beyond_twin_peaks", {})])
def test_independent_coordinates_are_found_where_the_smallest_repeat(tables, name, where):
    smallest, independent = (
        tables[name].select("residual_variance", method=method, **where)
        for method in ("NPPE, smallest eigenvalues", OURS)
    )
    assert smallest.min() > 0.4
    assert independent.max() < 0.1


def test_the_chosen_ridge_is_better_on_held_out_samples(tables):
    table = tables["beyond_ridge"]
    for digit in table.list_values("digit"):
        given = table.select("held_out_objective", digit=digit, choice="given")
        chosen = table.select("held_out_objective", digit=digit, choice="auto")[0]
        assert chosen <= given.min() * 1.0001
        assert given[0] > 2 * chosen


@needs("usps")
def test_zeros_show_their_slant_and_not_their_aspect(tables):
    found = {
        what: tables["images"].select("r2_neighbours", set="usps-0", what=what, method=OURS)
        for what in ("stroke width", "aspect", "slant")
    }
    assert found["slant"].min() > 0.7 > found["stroke width"].max()
    assert found["aspect"].max() < 0.3


@needs("frey")
def test_faces_show_their_turning(tables):
    table = tables["images"]
    assert table.select("r2_neighbours", set="lleface", method=OURS).min() > 0.6
    assert table.select("r2_affine", set="lleface", method="20 principal axes").min() > 0.9


@needs("isomap")
def test_the_map_of_isomap_recovers_light_pan_and_tilt_best(tables):
    table = tables["images"]
    found = {
        name: [
            float(np.mean(table.select("r2_neighbours", set="Isomap faces", what=what, method=name)))
            for what in ("light", "pan", "tilt")
        ]
        for name in table.list_values("method", set="Isomap faces")
        if name != "20 principal axes"
    }
    best = found.pop("Isomap map")
    assert min(best) > 0.5
    assert all(np.mean(best) > np.mean(others) for others in found.values())


def test_claims_are_judged_with_figures(quick, tables):
    text = (quick / "claims.md").read_text()
    verdicts = re.findall(r"^\*\*(Holds|Does not hold|Not judged)\.\*\* (.*)$", text, flags=re.MULTILINE)
    assert len(verdicts) == len(CLAIMS) >= 15
    judged = [evidence for verdict, evidence in verdicts if verdict != "Not judged"]
    assert len(judged) >= 15
    assert all(re.search(r"\d", evidence) for evidence in judged)
    assert {claim.section for claim in CLAIMS} == {
        "Abstract",
        "Abstract and 1",
        "1",
        "4.2",
        "4.3",
        "5",
        "5.1",
        "5.2",
        "5.3",
    }
    for quote in ("even the LLE method itself", "except for ONPP on Gaussian", "much lower time cost than KE"):
        assert quote in text
    # What holds on any machine.
    stated = {each.claim.sentence: each.verdict for each in judge_claims(tables)}
    for part, verdict in {
        "this linearity assumption": "holds",
        "except for ONPP on Gaussian": "does not hold",
        "(random samples)": "holds",
        "stable around this number": "does not hold",
        "a better approximation": "holds",
    }.items():
        [found] = [value for sentence, value in stated.items() if part in sentence]
        assert found == verdict, part


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.sentence[:40])
def test_every_claim_can_be_found_true_and_false(tables, claim):
    """Figures that are changed at random change the verdict: none is fixed beforehand."""
    names = {need.split(":")[0] for need in claim.needs}
    if not names <= set(tables):
        pytest.skip("the tables of the image sets are not there")
    random, seen = np.random.default_rng(0), set()
    for _ in range(3000):
        seen.add(claim.judge({name: spoil(tables[name], random) for name in names}).holds)
        if len(seen) == 2:
            return
    pytest.fail(f"always found {seen}")


SPOILT = {
    "residual_variance", "residual_variance_of_distances", "trustworthiness", "seconds", "measured", "kilobytes",
    "alone_against_batch", "r2_neighbours", "features", "two Gram matrices, GB",
}  # fmt: skip


#: What has a factor of its own; trustworthiness has one for each method, shares of time one for each stage.
KINDS = (
    "method",
    "surface",
    "degree",
    "percent",
    "graph",
    "grows",
    "stage",
    "bandwidth",
    "what",
    "size",
    "columns n",
)
ANEW = {"residual_variance": [1e-4, 0.05, 0.5], "trustworthiness": [0.6, 0.9, 0.999]}


def spoil(table, random):
    """Multiply figures by factors, or draw them anew from a few levels."""
    strength, anew, changes = random.choice([0.0, 1.0, 3.0, 8.0]), random.random() < 0.5, {}

    def change(row, key, value):
        kinds = () if key.endswith("%") else ("method",) if key == "trustworthiness" else KINDS
        kind = (key, row.get("columns n"), *(row.get(each) for each in kinds))
        if anew and key in ANEW:
            return changes.setdefault(kind, random.choice(ANEW[key]))
        if not anew and key == "seconds":
            kind += (row.get("located"),)
        least = 1e-13 if key == "alone_against_batch" else 1e-6
        return (abs(value) + least) * changes.setdefault(kind, np.exp(strength * random.normal()))

    rows = [
        {
            key: change(row, key, value)
            if isinstance(value, int | float) and (key in SPOILT or key.endswith("%"))
            else value
            for key, value in row.items()
        }
        for row in table.rows
    ]
    return Table(table.name, table.caption, rows)


@pytest.mark.parametrize(
    ("ratio", "verdict", "is_close"),
    [(0.3, "holds", False), (0.75, "holds", True), (0.85, "does not hold", True), (1.2, "does not hold", False)],
)
def test_a_verdict_that_a_little_time_would_turn_is_called_close(tables, ratio, verdict, is_close):
    rows = [
        row | {"seconds": ratio if row["method"] in {"NPP", "ONPP"} else 1.0}
        for row in tables["locating_times"].rows
    ]
    judged = judge_claims(tables | {"locating_times": Table("locating_times", "", rows)})
    [found] = [each for each in judged if each.claim.sentence.startswith("NPP and ONPP are faster")]
    assert found.verdict == verdict
    assert found.evidence.endswith(CLOSE_CALL) == is_close


def test_a_time_that_decides_nothing_is_not_called_close(tables):
    """Linear maps that unfold the roll contradict the sentence, whatever their times are."""
    times = [
        row | {"seconds": 0.75 if row["method"] in {"NPP", "ONPP"} else 1.0}
        for row in tables["locating_times"].rows
    ]
    rows = [row | {"residual_variance": 0.01} for row in tables["locating"].rows]
    changed = {"locating_times": Table("locating_times", "", times), "locating": Table("locating", "", rows)}
    [found] = [
        each
        for each in judge_claims(tables | changed)
        if each.claim.sentence.startswith("NPP and ONPP are faster")
    ]
    assert found.verdict == "does not hold"
    assert CLOSE_CALL not in found.evidence


@pytest.mark.parametrize(
    ("exponent", "verdict", "is_close"),
    [(0.2, "does not hold", False), (0.45, "does not hold", True), (0.6, "holds", True), (0.9, "holds", False)],
)
def test_an_exponent_near_its_limit_is_called_close(tables, exponent, verdict, is_close):
    rows = [
        row | {"measured": exponent} if row["grows"] == P_OF_MANY else row
        for row in tables["complexity_exponents_times"].rows
    ]
    judged = judge_claims(tables | {"complexity_exponents_times": Table("complexity_exponents_times", "", rows)})
    [found] = [each for each in judged if each.claim.sentence.startswith("When m is large")]
    assert found.verdict == verdict
    assert found.evidence.endswith(CLOSE_CALL) == is_close


class Page(HTMLParser):
    """Collects tags, and checks that they are closed in order."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self, text):
        super().__init__()
        self.open, self.found = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_report_opens_offline_and_holds_every_figure(quick):
    page = Page((quick / "report.html").read_text())
    pictures = [attributes["src"] for tag, attributes in page.found if tag == "img"]
    drawn = sorted(path.stem for path in (quick / "figures").glob("*.png"))
    assert len(pictures) == len(drawn) >= 16
    assert drawn == sorted(path.stem for path in (quick / "figures").glob("*.svg"))
    assert all(picture.startswith("data:image/png;base64,") for picture in pictures)
    assert not [tag for tag, _ in page.found if tag in {"script", "link", "iframe"}]
    names = {attributes["id"] for _, attributes in page.found if "id" in attributes}
    for tag, attributes in page.found:
        if tag == "a":
            target = attributes["href"]
            assert target[1:] in names if target.startswith("#") else (quick / target).is_file(), target


def test_figures_that_claims_point_to_are_drawn(quick):
    names = {path.stem for path in (quick / "figures").glob("*.png")}
    wanted = {claim.drawing for claim in CLAIMS if not claim.drawing.startswith("images")}
    assert wanted <= names


def list_untimed(folder):
    return {p.name: p.read_bytes() for p in (folder / "tables").glob("*.csv") if "_times" not in p.name}


def test_one_seed_gives_the_same_tables_and_another_does_not(quick, tmp_path):
    first = list_untimed(quick)
    for seed in (0, 1):
        assert run("--quick", "--seed", seed, "--only", "surfaces", "--out", tmp_path / str(seed)).exit_code == 0
    again, other = list_untimed(tmp_path / "0"), list_untimed(tmp_path / "1")
    assert set(again) == {"surfaces.csv", "surfaces_summary.csv"}
    assert all(first[name] == content for name, content in again.items())
    assert not any(again[name] == other[name] for name in again)


def test_two_runs_with_one_seed_give_identical_tables(quick, tmp_path):
    assert run("--quick", "--out", tmp_path, *WITH_IMAGES).exit_code == 0
    first, second = list_untimed(quick), list_untimed(tmp_path)
    assert first == second
    assert len(first) >= 20


def test_an_exponent_is_fitted_for_each_size_and_method(tables):
    exponents = tables["complexity_exponents_times"]
    assert len(exponents.rows) == 14
    for column in ("measured", "standard_error", "upper_half"):
        assert np.isfinite(exponents.select(column).astype(float)).all()
