"""How much memory something takes at its highest: by the process' own mark, set anew before it."""

import re
from pathlib import Path

import pytest

CLEAR, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def read_memory(name):
    """A size of this process in bytes: VmRSS is what it has now, VmHWM the most since the mark was set."""
    return int(re.search(rf"{name}:\s*(\d+)", STATUS.read_text())[1]) * 1024


def measure_growth(function, *arguments):
    """What a function returns, and the bytes by which it let the process grow meanwhile."""
    CLEAR.write_text("5")
    before = read_memory("VmRSS")
    returned = function(*arguments)
    return returned, read_memory("VmHWM") - before


def can_measure():
    """Whether the system lets the mark be set and tells it."""
    try:
        CLEAR.write_text("5")
        return read_memory("VmHWM") > 0
    except (OSError, TypeError):
        return False


needs_high_water = pytest.mark.skipif(
    not can_measure(), reason="this system does not tell the high-water mark of memory since a moment"
)
