"""What the README tells a newcomer, done in a fresh clone: how long it takes to the first map.

Clones the last commit into a temporary folder, installs it there into an environment of its own, and runs the
first ten lines of the README. Fails where they fail; how long it takes is told, and depends on the network too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Seconds within which a newcomer is to have a map.
TARGET = 180


def main() -> int:
    """Do it, and say how long each step took."""
    begin = time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}

    def do(what: str, *command: str | Path, cwd: Path) -> str:
        start = time.perf_counter()
        done = subprocess.run(command, cwd=cwd, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        print(f"{what:44} {time.perf_counter() - start:6.1f} s", flush=True)
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        clone, environment_folder = Path(folder) / "polyfold", Path(folder) / "environment"
        do("git clone", "git", "clone", "--quiet", ROOT, clone, cwd=Path(folder))
        do("python -m venv", sys.executable, "-m", "venv", environment_folder, cwd=clone)
        python = environment_folder / "bin" / "python"
        readme = (clone / "README.md").read_text(encoding="utf-8")
        [install] = re.findall(r"`pip (install \.)`", readme)
        quiet = ("--quiet", "--disable-pip-version-check")
        do(f"pip {install}", python, "-m", "pip", *install.split(), *quiet, cwd=clone)
        first = re.findall(r"```python\n(.*?)```\n\n```output\n(.*?)```", readme, flags=re.DOTALL)[0]
        shown = do("the first lines of the README", python, "-c", first[0], cwd=Path(folder))
        again = do("the same again, with everything compiled", python, "-c", first[0], cwd=Path(folder))
        if not shown == again == first[1]:
            print(f"The README shows {first[1]!r}, and {shown!r} was printed.")
            return 1
    seconds = time.perf_counter() - begin
    verdict = "as intended" if seconds < TARGET else "longer than intended"
    print(f"{'from nothing to the first map':44} {seconds:6.1f} s, {verdict}: {TARGET} s are the target")
    return 0


if __name__ == "__main__":
    sys.exit(main())
