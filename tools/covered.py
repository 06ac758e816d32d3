"""How much of the code the tests reach, by lines and by branches: fails where either is below 95 %.

Run by `make coverage`, since coverage itself knows only a limit for the two together.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

#: Of lines, and of branches, in per cent.
LEAST_COVERED = 95.0


def read_shares(path: Path) -> dict[str, float]:
    """Return the shares of lines and of branches that were reached, in per cent."""
    totals = json.loads(path.read_text(encoding="utf-8"))["totals"]
    return {
        "lines": 100 * totals["covered_lines"] / totals["num_statements"],
        "branches": 100 * totals["covered_branches"] / totals["num_branches"],
    }


def main() -> int:
    """Tell both shares, and fail where one is too small."""
    shares = read_shares(Path(sys.argv[1]))
    for what, share in shares.items():
        print(f"{share:.1f} % of {what}, at least {LEAST_COVERED:g} % wanted")
    return int(min(shares.values()) < LEAST_COVERED)


if __name__ == "__main__":
    sys.exit(main())
