"""The classes of the paper's experiment."""

import importlib.util
import pathlib

import pytest

FILE = pathlib.Path(__file__).parents[1] / "benchmarks" / "imagenet_classes.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("imagenet_classes", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_named_classes_come_first_and_small_ones_never(script):
    boxed = {f"n{k:08d}": 400 for k in range(50)} | {name: 500 for name in script.NAMED}
    boxed["n99999999"] = 299
    chosen = script.choose(boxed, 20, 300)
    assert len(chosen) == 20 and set(script.NAMED) < set(chosen)
    assert "n99999999" not in script.choose(boxed, 1000, 300)


def test_another_class_moves_at_most_one(script):
    boxed = {f"n{k:08d}": 400 for k in range(50)}
    before = set(script.choose(boxed, 20, 300))
    after = set(script.choose(boxed | {"n77777777": 400}, 20, 300))
    assert len(before - after) <= 1
