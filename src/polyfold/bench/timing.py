"""Times and peaks of memory, on machines that are not quiet."""

from __future__ import annotations

import inspect
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from polyfold._blocks import time_stages

__all__ = [
    "describe_machine",
    "measure_peak",
    "read_peak",
    "run_script",
    "time_import",
    "time_once",
    "time_side_by_side",
    "time_stages",
]

#: Threads of linear algebra spin for a while after their work is done. So long is waited before each measurement.
PAUSE = 0.06

#: A function is called so often in one measurement that it takes at least this long.
LEAST_SECONDS = 1e-3

#: What takes less time than this is measured three times as often: the shorter, the noisier.
SHORT_SECONDS = 0.01

#: A function that takes longer has nothing to gain from a pause.
LONG_SECONDS = 0.5


def time_side_by_side(functions: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the best seconds per call of each function; they take turns, so that noise meets all alike."""
    best, counts = {}, {}
    for name, function in functions.items():
        function()  # whatever is compiled or loaded at the first call
        counts[name], best[name] = _count_calls(function)
    if max(best.values()) < SHORT_SECONDS:
        repeats *= 3
    for _ in range(repeats - 1):
        for name, function in functions.items():
            if best[name] < LONG_SECONDS:
                time.sleep(PAUSE)
                function()  # warm caches: all are measured alike
            best[name] = min(best[name], _measure(function, counts[name]))
    return best


def _count_calls(function: Callable[[], Any]) -> tuple[int, float]:
    """Return how many calls one measurement takes, and the seconds of each.

    One call alone would tell too few: the first after a pause takes several times as long as those that follow.
    """
    number = 1
    while (seconds := _measure(function, number)) * number < LEAST_SECONDS:
        number *= 2
    return number, seconds


def _measure(function: Callable[[], Any], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        function()
    return (time.perf_counter() - start) / number


def time_once(function: Callable[[], Any]) -> float:
    """Return the time of one call, in seconds."""
    return _measure(function, 1)


def read_peak() -> int:
    """Return the most memory, in bytes, that this process has held.

    Linux counts the parent, from before the start, in what `resource` tells: the kernel's own high-water mark is
    asked first. The imports are within, so that the source can be sent to another process.
    """
    import pathlib
    import re
    import resource
    import sys

    status = pathlib.Path("/proc/self/status")
    found = re.search(r"VmHWM:\s*(\d+)", status.read_text()) if status.exists() else None
    unit = 1 if sys.platform == "darwin" else 1024
    return int(found[1]) * 1024 if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def measure_peak(script: str) -> int:
    """Return the most memory, in bytes, that a process of its own needs for a script."""
    return int(run_script(f"{script}\n{inspect.getsource(read_peak)}\nprint(read_peak())").split()[-1])


def run_script(script: str) -> str:
    """Return what a script prints, run by this Python in a process of its own."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"A process of the benchmark failed: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout


def time_import(statement: str, repeats: int) -> float:
    """Return the best time that a new Python takes for an import, less that of doing nothing, in seconds."""

    def run(what: str) -> float:
        start = time.perf_counter()
        run_script(what)
        return time.perf_counter() - start

    pairs = [(run("pass"), run(statement)) for _ in range(repeats)]
    return min(after for _, after in pairs) - min(before for before, _ in pairs)


def describe_machine() -> str:
    """Name the processor, its cores, and the versions that decide."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    return f"{_name_processor()}, {os.cpu_count()} cores; Python {platform.python_version()}, {libraries}"


def _name_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = {line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")}
        return ", ".join(sorted(names)) or platform.machine()
    except OSError:
        return platform.processor() or platform.machine()
