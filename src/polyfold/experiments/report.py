"""One page with everything: it opens without a network, to be laid beside the paper."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from html import escape
from pathlib import Path

from polyfold import __version__
from polyfold.bench.timing import describe_machine
from polyfold.experiments import EXPERIMENTS
from polyfold.experiments.claims import (
    BEYOND_MEASURE,
    RULES,
    Judged,
    count_verdicts,
    judge_claims,
    write_claims,
)
from polyfold.experiments.outcome import Drawing, Outcome, Table, collect_tables, show_value
from polyfold.experiments.plan import Plan

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a }
body { max-width: 1100px; margin: 2rem auto; padding: 0 1.2rem }
h1 { font-size: 1.9rem; line-height: 1.2 } h2 { margin-top: 3rem; border-top: 1px solid #ddd; padding-top: 1.2rem }
nav a { margin-right: 1.2rem; white-space: nowrap } a { color: #0072b2 }
figure { margin: 1.6rem 0 } figure img { width: 100%; height: auto; border: 1px solid #eee }
figcaption, caption { color: #444; font-size: .92rem; text-align: left; padding: .3rem 0 }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: .9rem; margin: 1.2rem 0 }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; border-bottom: 1px solid #e6e6e6; vertical-align: top }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap }
.holds, .fails, .open { font-weight: 600; white-space: nowrap }
.holds { color: #00664b } .fails { color: #a63c00 } .open { color: #555 }
.note { background: #f4f4f4; padding: .7rem 1rem; border-radius: 4px }
q { font-style: italic }
"""

CLASSES = {"holds": "holds", "does not hold": "fails", "not judged": "open"}

PAPER = (
    "H. Qiao, P. Zhang, D. Wang, B. Zhang, “An Explicit Nonlinear Mapping for Manifold Learning”, IEEE "
    "Transactions on Cybernetics 43 (2013) 51–63."
)


def write_report(outcomes: dict[str, Outcome], plan: Plan, out: Path, unfinished: list[str]) -> str:
    """Write report.html and claims.md; return how many claims hold."""
    judged = judge_claims(collect_tables(outcomes.values()))
    about = describe_run(plan, outcomes, unfinished)
    (out / "claims.md").write_text(write_claims(judged, about), encoding="utf-8")
    (out / "report.html").write_text(make_page(outcomes, judged, plan, out, about), encoding="utf-8")
    return count_verdicts(judged)


def describe_run(plan: Plan, outcomes: Iterable[str], unfinished: list[str]) -> str:
    """Say how the run can be repeated, and on what machine it was made."""
    names = [*outcomes, *unfinished]
    command = f"polyfold reproduce --seed {plan.seed}{' --quick' if plan.quick else ''}"
    command += "".join(f" --only {name}" for name in names) if len(names) < len(EXPERIMENTS) else ""
    text = f"Made by `{command}`, polyfold {__version__}, on {describe_machine()}."
    if plan.quick:
        text += " The quick form: fewer draws and smaller sizes; judge by the full one."
    if unfinished:
        text += f" It was stopped: {', '.join(unfinished)} did not come to an end."
    return text


def make_page(outcomes: dict[str, Outcome], judged: list[Judged], plan: Plan, out: Path, about: str) -> str:
    """Return the report."""
    links = "".join(
        f'<a href="#{name}">{number}. {escape(each.title)}</a> '
        for number, (name, each) in enumerate(outcomes.items(), 1)
    )
    parts = [
        f"<h1>The paper, reproduced</h1><p>{escape(PAPER)}</p><p>{show_code(about)}</p>",
        f'<nav><a href="#claims">Claims</a> {links}<a href="#warnings">Warnings</a></nav>',
        show_claims(judged),
        *(show_part(number, name, each, out) for number, (name, each) in enumerate(outcomes.items(), 1)),
        show_warnings(plan),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    return (
        f'<!doctype html><html lang="en"><head>{head}<title>polyfold: the paper, reproduced</title>'
        f"<style>{STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def show_code(text: str) -> str:
    """Return a text with what stands between backticks as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def show_part(number: int, name: str, outcome: Outcome, out: Path) -> str:
    """Return the section of an experiment."""
    notes = "".join(f'<p class="note">Left out: {escape(each)}</p>' for each in outcome.left_out)
    figures = "".join(show_drawing(drawing, out) for drawing in outcome.drawings)
    tables = "".join(show_table(table) for table in outcome.tables if table.shown)
    title = f'<h2 id="{name}">{number}. {escape(outcome.title)}</h2>'
    return f"{title}<p>{escape(outcome.text)}</p>{notes}{figures}{tables}"


def show_drawing(drawing: Drawing, out: Path) -> str:
    """Return a figure, with the picture in the page itself."""
    picture = b64encode((out / "figures" / f"{drawing.name}.png").read_bytes()).decode()
    caption = escape(drawing.caption)
    print_form = f'<a href="figures/{drawing.name}.svg">SVG</a>'
    return (
        f'<figure id="{drawing.name}"><img alt="{caption}" src="data:image/png;base64,{picture}">'
        f"<figcaption>{caption} {print_form}</figcaption></figure>"
    )


def show_table(table: Table) -> str:
    """Return a table."""
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in table.columns)
    body = "".join(
        "<tr>"
        + "".join(f'<td class="number">{escape(show_value(value))}</td>' for value in row.values())
        + "</tr>"
        for row in table.rows
    )
    caption = f'{escape(table.caption)} <a href="tables/{table.name}.csv">CSV</a>'
    return f'<div class="scroll"><table><caption>{caption}</caption><tr>{head}</tr>{body}</table></div>'


def show_claims(judged: list[Judged]) -> str:
    """Return what the paper claims, with the verdicts."""
    rows = []
    for number, each in enumerate(judged, 1):
        why = f"<br><em>Why:</em> {escape(each.why)}" if each.why else ""
        look = f' <a href="#{each.claim.drawing}">figure</a>' if each.verdict != "not judged" else ""
        cells = [
            f"<td>{number}</td><td>{escape(each.claim.section)}</td>",
            f"<td><q>{escape(each.claim.sentence)}</q></td>",
            f'<td class="{CLASSES[each.verdict]}">{each.verdict}</td>',
            f"<td>{escape(each.evidence)}{why}{look}</td>",
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    head = "<tr><th></th><th>section</th><th>claim</th><th>verdict</th><th>evidence</th></tr>"
    rest = "".join(
        f"<li>Section {escape(section)}: <q>{escape(sentence)}</q> ({escape(reason)})</li>"
        for section, sentence, reason in BEYOND_MEASURE
    )
    return (
        f'<h2 id="claims">What the paper claims</h2><p>{count_verdicts(judged)}</p><p>{escape(RULES)}</p>'
        f'<div class="scroll"><table>{head}{"".join(rows)}</table></div>'
        f"<p>Not a matter of measurement:</p><ul>{rest}</ul>"
    )


def show_warnings(plan: Plan) -> str:
    """Return what the fits warned of, and how often."""
    heard = sorted(plan.heard.items(), key=lambda item: (-item[1], item[0]))
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(text)}</td><td>{n}</td></tr>" for (name, text), n in heard
    )
    body = (
        f"<table><tr><th>method</th><th>warning</th><th>fits</th></tr>{rows}</table>" if rows else "<p>None.</p>"
    )
    return f'<h2 id="warnings">What the fits warned of</h2><div class="scroll">{body}</div>'
