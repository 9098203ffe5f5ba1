"""The command, run in this process as a shell would run it."""

import json
import logging
import pathlib
import shutil
from typing import NamedTuple

import pytest
import runs

from belvedere.core import configuration
from belvedere.pipelines import __main__ as command_line


class Said(NamedTuple):
    """How a command ended, and what it said on both streams."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict:
        """The last JSON document on standard output."""
        return json.loads(self.out.splitlines()[-1])


@pytest.fixture
def belvedere(capsys):
    """Runs the command; no traceback is allowed, unless it ends with code 1."""
    root, beam = logging.getLogger(), logging.getLogger("apache_beam")
    before = root.handlers[:], root.level, beam.level

    def run(*arguments) -> Said:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            command_line.main([str(argument) for argument in arguments])
        said = Said(int(ended.value.code or 0), *capsys.readouterr())
        assert said.code == 1 or "Traceback" not in said.out + said.err
        return said

    yield run
    root.handlers[:], level, beam_level = before
    root.setLevel(level)
    beam.setLevel(beam_level)


@pytest.fixture(scope="session")
def tiny() -> list[str]:
    """The options that make the settings of the toy models."""
    plain = configuration.flat(configuration.resolve())
    return [
        option
        for key, value in configuration.flat(runs.TINY).items()
        if value != plain[key]
        for option in ("--set", f"{key}={json.dumps(value)}")
    ]


@pytest.fixture
def world(tmp_path) -> pathlib.Path:
    """A copy of the toy world, to be spoiled; its files are of the same age."""
    shutil.copytree(runs.world(), tmp_path / "world")
    return tmp_path / "world"
