"""How fast polyfold is: every figure a ratio to a peer, or to a physical limit, measured in the same run.

`polyfold bench` runs the suites of `polyfold.bench.suites`, shows a table, and draws where matplotlib is there.
"""

from polyfold.bench.suites import SUITES, Bench, run_suites

__all__ = ["SUITES", "Bench", "run_suites"]
