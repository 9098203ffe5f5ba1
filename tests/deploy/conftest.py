"""Every command that a deployment file starts, wherever it is written down."""

import ast
import dataclasses
import pathlib
import re
import shlex
from collections.abc import Iterator

import pytest
import yaml

ROOT = pathlib.Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"


@dataclasses.dataclass(frozen=True)
class Command:
    """`belvedere ...` as a list of words, and the file it is from."""

    place: str
    words: tuple[str, ...]

    @property
    def ours(self) -> list[str]:
        cut = self.words.index("--") if "--" in self.words else len(self.words)
        return list(self.words[1:cut])

    @property
    def beams(self) -> list[str]:
        return list(self.words[len(self.ours) + 2 :])


def documents(file: pathlib.Path) -> list[dict]:
    return list(yaml.safe_load_all(file.read_text()))


def nodes(value: object) -> Iterator[dict]:
    """Every mapping inside a document."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from nodes(one)


def _in_yaml() -> Iterator[Command]:
    for file in sorted(DEPLOY.rglob("*.yaml")):
        for node in nodes(documents(file)):
            if node.get("args", ["-"])[0] == "belvedere":
                yield Command(file.name, tuple(node["args"]))


def _in_text() -> Iterator[Command]:
    for file in (DEPLOY / "README.md", ROOT / "docs" / "nightly.md"):
        text = file.read_text()
        lines = re.findall(r"^belvedere .*", text, re.M)
        quoted = re.findall(r"`(belvedere [a-z]+ -[^`]*)`", text)
        for line in (*lines, *quoted):
            yield Command(file.name, tuple(shlex.split(line)))


def _in_units() -> Iterator[Command]:
    for file in sorted(DEPLOY.rglob("*.service")):
        text = file.read_text().replace("\\\n", " ")
        for line in re.findall(r"^ExecStart=\S*/(belvedere .*)", text, re.M):
            yield Command(file.name, tuple(line.split()))


def _in_dag() -> Iterator[Command]:
    file = DEPLOY / "schedule" / "airflow_dag.py"
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.List) and len(node.elts) > 5:
            words = (
                one.value if isinstance(one, ast.Constant) else ast.unparse(one)[2:-1]
                for one in node.elts
            )
            yield Command(file.name, tuple(words))


COMMANDS = (*_in_yaml(), *_in_text(), *_in_units(), *_in_dag())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "command" in metafunc.fixturenames:
        ids = [f"{one.place}-{n}" for n, one in enumerate(COMMANDS)]
        metafunc.parametrize("command", COMMANDS, ids=ids)


@pytest.fixture(scope="session")
def commands() -> tuple[Command, ...]:
    return COMMANDS
