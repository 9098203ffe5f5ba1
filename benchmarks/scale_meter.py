"""Counts and times what the product does while it runs, for `scale.py`."""

import contextlib
import functools
import inspect
import pathlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any


class Meter:
    """Counts calls, seconds and bytes of functions of the product while it is on."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> "Meter":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Replaces an attribute until the end."""
        self._stack.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)

    def time(self, owner: Any, name: str, what: str) -> None:
        """Sums up the seconds of a function, or of what a generator does."""
        function = getattr(owner, name)

        @functools.wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            self.calls[what] += 1
            start = time.perf_counter()
            made = function(*arguments, **named)
            self.seconds[what] += time.perf_counter() - start
            return self._pulled(made, what) if inspect.isgenerator(made) else made

        self.put(owner, name, timed)

    def _pulled(self, made: Iterator, what: str) -> Iterator:
        while True:
            start = time.perf_counter()
            one = next(made, self)
            self.seconds[what] += time.perf_counter() - start
            if one is self:
                return
            yield one

    def count(self, owner: Any, name: str, what: Callable[[str], str]) -> None:
        """Counts calls of a method of a store by the folder they go to."""
        function = getattr(owner, name)

        @functools.wraps(function)
        def counted(store: Any, path: str, *rest: Any) -> Any:
            key = what(path)
            self.calls[key] += 1
            if rest and isinstance(rest[0], bytes):
                self.bytes[key] += len(rest[0])
            return function(store, path, *rest)

        self.put(owner, name, counted)

    def document(self) -> dict[str, dict[str, float]]:
        kinds = (("calls", "calls"), ("bytes", "bytes"), ("seconds_of", "seconds"))
        return {name: dict(getattr(self, kind)) for name, kind in kinds}


def sizes(folder: str) -> dict[str, dict[str, float]]:
    """Of each folder of an output: files, bytes, and the largest file."""
    found = {}
    for home in sorted(p for p in pathlib.Path(folder).iterdir() if p.is_dir()):
        each = [file.stat().st_size for file in home.iterdir()]
        found[home.name] = {"files": len(each), "bytes": sum(each), "max": max(each)}
    return found
