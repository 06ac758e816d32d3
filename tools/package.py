"""The package as it is published: built from a clean clone, installed from its wheel, tested from its sdist.

Run by `make package`. The tests of the sdist run where its source tree is gone, so that what they import is what
the wheel installed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = {"benchmarks", "docs", "examples", "src", "tests", "tools"}
FILES = {
    ".gitignore", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
    "pyproject.toml",
}  # fmt: skip


def run(*command: object, folder: Path) -> None:
    """Show a command and run it in a folder, apart from the settings of this interpreter."""
    print("+", *command, flush=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([str(word) for word in command], cwd=folder, env=environment, check=True)


def check_contents(names: list[str], tracked: set[str]) -> None:
    """Refuse an sdist that misses a tracked file of its folders, or holds one that is not tracked.

    Parameters
    ----------
    names : list of str
        The files of the sdist, as paths below its top folder.
    tracked : set of str
        The files that the repository tracks.
    """
    expected = {name for name in tracked if Path(name).parts[0] in FOLDERS | FILES} | {"PKG-INFO"}
    missing, stray = sorted(expected - set(names)), sorted(set(names) - expected)
    if missing or stray:
        raise SystemExit(f"The sdist misses tracked files: {missing}; it holds stray ones: {stray}.")
    for folder in ("tests", "docs"):
        count = sum(Path(name).parts[0] == folder for name in names)
        if not count:
            raise SystemExit(f"The sdist has no {folder}.")
        print(f"  {folder}: {count} files")


def unpack(sdist: Path, folder: Path, tracked: set[str]) -> Path:
    """Unpack an sdist, check what it holds, take its source tree away, and return its top folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
        names = [member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()]
    check_contents(names, tracked)
    [top] = folder.iterdir()
    (top / "src").rename(folder.parent / "src-away")
    return top


def main() -> None:
    """Clone, build, check, install and test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", default=["-n", "2", "--dist", "loadgroup"], help="for pytest")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="polyfold-package-") as name:
        folder = Path(name)
        clone, built, home = folder / "clone", folder / "built", folder / "venv"
        run("git", "clone", "--quiet", "--no-hardlinks", ROOT, clone, folder=folder)
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=clone, capture_output=True, text=True, check=True)
        run(sys.executable, "-m", "build", "--outdir", built, clone, folder=folder)
        [wheel], [sdist] = built.glob("*.whl"), built.glob("*.tar.gz")
        (folder / "sdist").mkdir()
        top = unpack(sdist, folder / "sdist", set(listed.stdout.split("\0")) - {""})
        venv.create(home, with_pip=True)
        python = home / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[test]", folder=folder)
        where = "import polyfold, sysconfig; home = sysconfig.get_path('purelib'); print(polyfold.__file__); "
        run(python, "-c", where + "assert polyfold.__file__.startswith(home + '/'), home", folder=top)
        run(python, "-m", "pytest", *arguments.tests, folder=top)


if __name__ == "__main__":
    main()
