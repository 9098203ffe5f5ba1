"""The house rules that a reader relies on: who may import whom, and what is shipped."""

import ast
import doctest
import importlib
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parent.parent
ROOMS = ("core", "transforms", "pipelines")
SOURCES = sorted(f for room in ROOMS for f in (ROOT / room).rglob("*.py"))
THREADS = "transforms/workers.py"  # sets the threads of libraries that start some
HEAVY = {
    "torch": ("core/prediction", THREADS),
    "gpytorch": ("core/prediction",),
    "clarabel": ("core/context/structured_svm.py",),
}
# Each room of core may import from itself and from those before it.
ORDER = ("types", "windows", "appearance", "embedding", "prediction", "context")


def _imports(file: pathlib.Path) -> list[tuple[str, bool]]:
    """(module, at top level?) of every import in a file."""
    tree = ast.parse(file.read_text())
    found = []
    for node in ast.walk(tree):
        top = node in tree.body
        if isinstance(node, ast.Import):
            found += [(alias.name, top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} has a relative import"
            found += [(f"{node.module}.{alias.name}", top) for alias in node.names]
    return found


def _place(file: pathlib.Path) -> str:
    return file.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("file", SOURCES, ids=_place)
def test_imports_go_inwards(file):
    allowed = ROOMS[: ROOMS.index(file.relative_to(ROOT).parts[0]) + 1]
    for name, _ in _imports(file):
        assert name.split(".")[0] not in (*ROOMS, "tests"), f"{name}: say belvedere."
        if name.startswith("belvedere."):
            assert name.split(".")[1] in allowed, f"{file} imports {name}"
        if allowed == ("core",):
            assert not name.startswith("apache_beam"), f"{file} knows of Beam"


@pytest.mark.parametrize("file", SOURCES, ids=_place)
def test_rooms_of_core_follow_the_paper(file):
    parts = file.relative_to(ROOT).parts
    room = parts[1] if parts[0] == "core" and len(parts) > 2 else None
    if room not in ORDER:
        return
    later = ORDER[ORDER.index(room) + 1 :]
    for name, _ in _imports(file):
        if name.startswith("belvedere.core."):
            assert name.split(".")[2] not in later, f"{file} imports {name}"


@pytest.mark.parametrize("file", SOURCES, ids=_place)
def test_heavy_libraries_stay_in_their_place(file):
    for name, top in _imports(file):
        homes = HEAVY.get(name.split(".")[0])
        if homes:
            assert _place(file).startswith(homes), f"{file} imports {name}"
            assert not top, f"{file} imports {name} at the top"


@pytest.mark.parametrize("file", SOURCES, ids=_place)
def test_core_neither_prints_nor_logs(file):
    if _place(file).startswith("core/"):
        names = {name.split(".")[0] for name, _ in _imports(file)}
        assert not names & {"logging", "os", "pathlib", "pickle"}
        assert not re.search(r"^\s*print\(", file.read_text(), re.M)


def test_numba_lives_in_modules_named_compiled():
    for file in SOURCES:
        if _place(file) == THREADS:
            continue
        if any(name.split(".")[0] == "numba" for name, _ in _imports(file)):
            assert file.stem.endswith("compiled"), file


def test_no_drawer_for_odds_and_ends():
    banned = {"utils", "helpers", "common", "misc"}
    assert not [f for f in SOURCES if f.stem in banned]


def test_every_package_is_listed():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = set(listed["tool"]["setuptools"]["packages"])
    found = {
        "belvedere." + _place(f.parent).replace("/", ".")
        for f in SOURCES
        if f.name == "__init__.py"
    }
    assert found == packages


def test_the_lock_holds_no_address():
    assert "://" not in (ROOT / "requirements.lock").read_text()


@pytest.mark.parametrize("file", SOURCES, ids=_place)
def test_examples_in_docstrings_hold(file):
    parts = file.relative_to(ROOT).with_suffix("").parts
    if parts[-1] in ("__init__", "__main__"):
        return
    module = importlib.import_module(".".join(("belvedere", *parts)))
    assert doctest.testmod(module).failed == 0


def test_help_is_light():
    """`belvedere --help` must not wait for the numeric libraries."""
    code = (
        "import sys, belvedere.pipelines.__main__;"
        "print([m for m in ('numpy', 'numba', 'torch', 'cv2', 'apache_beam')"
        " if m in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"
