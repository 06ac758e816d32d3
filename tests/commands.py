"""The command line run as its users run it: in a process of its own."""

import json
import os
import subprocess
import sys

POLYFOLD = [sys.executable, "-m", "polyfold.cli"]

#: No colours, and lines as long as they are; what Python has compiled may be kept, as elsewhere.
PLAIN = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
PLAIN.pop("PYTHONDONTWRITEBYTECODE", None)


def polyfold(*arguments, **settings):
    """Run a command; what it did is the exit code, standard output and standard error."""
    settings = {"capture_output": True, "text": True, "env": PLAIN, "timeout": 120} | settings
    return subprocess.run([*POLYFOLD, *map(str, arguments)], **settings)


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
