"""The work folder: what was costly to make is kept there, under a name that says it.

A name is a digest of all that a value depends on. The folder can be deleted at any
time, during a run too: what is not there is made again, and comes out the same.
"""

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

from belvedere.core import archive
from belvedere.transforms import documents, stores

Kind = TypeVar("Kind")


@dataclasses.dataclass(frozen=True)
class WorkFolder:
    """Values by name.

    Attributes:
      uri: where they are.
      version: of the program; another version makes its own.
    """

    uri: str
    version: str

    def name(self, folder: str, *depends_on: Any) -> str:
        digest = documents.digest([self.version, *depends_on])
        return f"{folder}/{digest[:32]}.npz"

    def find(self, name: str, kind: type[Kind]) -> Kind | None:
        """What is kept under this name, None if it is gone or damaged."""
        try:
            return archive.load(stores.store_for(self.uri).read(name), kind)
        except (stores.MissingFile, ValueError):
            return None

    def keep(self, name: str, value: Any) -> None:
        data = archive.dump(value)
        with contextlib.suppress(stores.MissingFile):  # the folder goes as we write
            stores.store_for(self.uri).create(name, data)

    def kept(self, name: str, kind: type[Kind], make: Callable[[], Kind]) -> Kind:
        """What is kept under this name, else what `make` makes, which is then kept."""
        value = self.find(name, kind)
        if value is None:
            value = make()
            self.keep(name, value)
        return value
