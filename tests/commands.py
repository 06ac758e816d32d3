"""The command line run as its users run it: in a process of its own."""

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

POLYFOLD = [sys.executable, "-m", "polyfold.cli"]

#: No colours, and lines as long as they are; what Python has compiled may be kept, as elsewhere.
PLAIN = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
PLAIN.pop("PYTHONDONTWRITEBYTECODE", None)

#: Without what a coverage run adds to processes: it writes files of its own, and ends them in its own way.
UNCOVERED = {name: value for name, value in PLAIN.items() if not name.startswith("COVERAGE_")}

#: Where processes come from that need not import the libraries: each is a fork of one that has.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["polyfold.cli", "polyfold.embedding", "polyfold._kernels", "pandas", "pyarrow.parquet"]
)


def polyfold(*arguments, **settings):
    """Run a command; what it did is the exit code, standard output and standard error.

    With settings of `subprocess.run` in a new Python, else in a fork: as much a process of its own, only that its
    imports are done.
    """
    command = [*POLYFOLD, *map(str, arguments)]
    if settings:
        settings = {"capture_output": True, "text": True, "env": PLAIN, "timeout": 120} | settings
        return subprocess.run(command, **settings)
    with tempfile.TemporaryDirectory() as place:
        process = FORKS.Process(target=run_main, args=(command[2:], PLAIN, Path.cwd(), place))
        process.start()
        process.join(120)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(command, 120)
        out, err = ((Path(place) / name).read_text(encoding="utf-8") for name in STREAMS)
    return subprocess.CompletedProcess(command, process.exitcode, out, err)


STREAMS = ("stdout", "stderr")


def run_main(command, environment, folder, place):
    """Run a command in this process, with standard output and standard error in files."""
    for number, name in enumerate(STREAMS, start=1):
        os.dup2(os.open(Path(place) / name, os.O_CREAT | os.O_WRONLY), number)
        setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = command
    from polyfold.cli import main

    main()


def succeed(*arguments, **settings):
    """Run a command that must succeed."""
    done = polyfold(*arguments, **settings)
    assert done.returncode == 0, done.stderr
    return done


def fail(code, *arguments, **settings):
    """Run a command that must fail with this code, and return the one line or two that it says."""
    done = polyfold(*arguments, **settings)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    said = done.stderr.strip().splitlines()
    assert 1 <= len(said) <= 2, said
    return done.stderr.strip()


def read_json(*arguments):
    """Run a command that must succeed, and return the JSON that it prints."""
    return json.loads(succeed(*arguments, "--json").stdout)
