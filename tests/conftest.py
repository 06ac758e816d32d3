import json
import os
import shutil
import sys
from pathlib import Path

import pytest

# The matrices of the tests are small: more threads only get in each other's way.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
for folder in ("examples", "tools"):
    sys.path.append(str(Path(__file__).parents[1] / folder))


def pytest_collection_modifyitems(items):
    """In a mutation run the quickest tests come first: most mutants are killed by them."""
    times = Path("mutmut-stats.json")
    if "MUTANT_UNDER_TEST" in os.environ and times.exists():
        seconds = json.loads(times.read_text(encoding="utf-8"))["duration_by_test"]
        items.sort(key=lambda item: seconds.get(item.nodeid, 0.0))


@pytest.fixture(autouse=True)
def forget_what_was_built():
    """In a mutation run each test builds its loops and tables anew: else only the first is known to use them."""
    if "MUTANT_UNDER_TEST" in os.environ:
        from polyfold import _basis, _kernels, _slope_kernels

        for module in (_basis, _kernels, _slope_kernels):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@pytest.fixture(autouse=True)
def record_examples(request, record_property):
    """Record how many examples a property held for, and how many were answered where some may be refused."""
    if request.node.get_closest_marker("property") is None:
        yield
        return
    from strategies import ANSWERED, HELD_FOR

    name = request.function.__name__
    before, answered = HELD_FOR[name], ANSWERED[name]
    yield
    record_property("examples", HELD_FOR[name] - before)
    if ANSWERED[name]:
        record_property("refusable", HELD_FOR[name] - before)
        record_property("answered", ANSWERED[name] - answered)


#: How Chromium is started: no sandbox for root, WebGL without a graphics card, nothing asked of the network.
FLAGS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
]


@pytest.fixture(scope="session")
def browser():
    """A Chromium, where one is installed."""
    from playwright.sync_api import sync_playwright

    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    path = os.environ.get("POLYFOLD_CHROMIUM") or next(filter(None, found), None)
    assert path, (
        "No Chromium found: install it (Debian: apt-get install chromium) or name it by $POLYFOLD_CHROMIUM"
    )
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield started
        started.close()
