"""``polyfold bench``: speed and memory beside every peer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from polyfold.cli.options import Force, Json
from polyfold.cli.terminal import MISUSED, CommandError, check_folder, say


def bench(
    only: Annotated[
        list[str] | None,
        typer.Option(help="A suite to run; repeat for more. All by default.", show_default=False),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Measurements of each, of which the best counts.")] = 7,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller data and fewer peers: three minutes.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="A folder for bench.csv, bench.md and bench.png.", file_okay=False, show_default=False),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Measure speed and memory, each as a ratio to a peer or a physical limit in the same run.

    Suites: transform, estimator, learners, fit, import, memory. Leave the machine alone meanwhile.

    Example: polyfold bench --quick --only transform
    """
    from polyfold.bench import SUITES, Bench, run_suites
    from polyfold.bench.report import Curve, Figure, print_table, write_json, write_report
    from polyfold.bench.timing import describe_machine

    names = list(only or SUITES)
    if unknown := [name for name in names if name not in SUITES]:
        raise CommandError(f"There is no suite {unknown[0]!r}. The suites are {', '.join(SUITES)}.", MISUSED)
    if out is not None:
        check_folder(out, ("bench.csv", "bench.md", "bench.png"), force=force)
    figures: list[Figure] = []
    curves: list[Curve] = []
    settings = Bench(repeats, quick, say)
    try:
        for result in run_suites(names, settings):
            if isinstance(result, Curve):
                curves.append(result)
            else:
                figures.append(result)
                _, case, peer, *_, ratio, _, _ = result.list_cells()
                say(f"{case} over {peer}: {ratio}")
    except KeyboardInterrupt:
        say("Stopped; what was measured so far:")
    machine = describe_machine()
    if json:
        typer.echo(write_json(figures, curves, machine))
    else:
        print_table(figures, machine)
    if out is not None:
        for path in write_report(figures, curves, machine, out):
            say(f"wrote {path}")
        if curves and not (out / "bench.png").exists():
            say('No plot: pip install "polyfold[plot]"')
