"""standalone.sh with stand-ins for Java and Flink: what does not start is told."""

import os
import pathlib
import re
import shlex
import subprocess

SCRIPT = pathlib.Path(__file__).parent.parent.parent / "deploy/flink/standalone.sh"
PROGRAMS = {
    "python": 'case "$*" in *fetch.py*) echo "$HOME";; *pool*) exec sleep 60;; esac',
    "java": "exec sleep 60",
    "bin/taskmanager.sh": "exec sleep 60",
    "bin/jobmanager.sh": "exit 1",
}


def test_a_jobmanager_that_ends_is_not_waited_for(tmp_path):
    for name, does in PROGRAMS.items():
        program = tmp_path / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{does}\n")
        program.chmod(0o755)
    known = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LOGS": str(tmp_path),
        "PYTHON": str(tmp_path / "python"),
        "REST_PORT": "9",
    }
    done = subprocess.run(
        [SCRIPT, "1"], env=known, capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 1 and f"look into {tmp_path}" in done.stderr


def test_the_readme_has_the_command_that_the_script_tells():
    told = re.search(r"^#   (belvedere .*\n(?:#     .*\n)*)", SCRIPT.read_text(), re.M)
    words = shlex.split(re.sub(r"\\?\n(# )?", " ", told.group(1)))
    readme = (SCRIPT.parent.parent / "README.md").read_text()
    (row,) = re.findall(r"`flink/standalone.sh` \| `(.*)` \|", readme)
    assert shlex.split(row) == words
