"""The commands that the documents and the help show do what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import write_rolls

from commands import PLAIN, succeed

ROOT = Path(__file__).parent.parent

#: `polyfold` and `python` are those of the tests.
PATH = PLAIN | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/command-line.md"])
def test_commands_of_the_documents_run(page, tmp_path):
    write_rolls(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    commands = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    assert len(commands) >= 4
    for command in commands:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], cwd=tmp_path, env=PATH, capture_output=True, text=True
        )
        # Who reads only the first lines ends the pipe early.
        assert done.returncode == 0 or "| head" in command, (command, done.stderr)
        assert "error" not in done.stderr


def test_options_in_the_documents_exist():
    page = (ROOT / "docs" / "command-line.md").read_text()
    commands = ([], ["fit"], ["transform"], ["inspect"], ["explore"], ["export"])
    shown = "".join(succeed(*command, "--help").stdout for command in commands)
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page)):
        assert option in shown, option


@pytest.mark.slow
def test_the_example_of_the_command_line_runs(tmp_path):
    script = ROOT / "examples" / "command_line.py"
    done = subprocess.run(
        [sys.executable, script, "--folder", tmp_path], env=PLAIN, capture_output=True, text=True, check=True
    )
    assert "0.000604·z² + 0.000603·x²" in done.stdout
    for name in ("roll.html", "digits.html", "placed.csv", "roll.c", "roll.safetensors"):
        assert (tmp_path / name).stat().st_size > 1000
