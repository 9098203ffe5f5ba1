"""The JSON files of an output: one spelling, a version and a seal.

A value has exactly one spelling (sorted keys, ASCII, no NaN), so its SHA-256 names it.
A document carries the digest of the rest of itself: a changed byte is seen on reading,
not only when files are verified. A document of a newer schema is a conflict, not
damage: an older program must not write beside what it cannot read.
"""

import datetime
import hashlib
import json
from typing import Any, TypeVar

from belvedere.transforms.stores import OutputConflict

SCHEMA_VERSION = 1

_Value = TypeVar("_Value")


class Damaged(ValueError):
    """A document that cannot be what this program wrote."""


def canonical(value: Any) -> bytes:
    """The one spelling of a JSON value.

    >>> canonical({"b": [1.5, None], "a": "é"})
    b'{"a":"\\\\u00e9","b":[1.5,null]}'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def digest(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def now() -> str:
    """The time for a document: ISO 8601, UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def seal(body: dict[str, Any]) -> bytes:
    """The document with its version and the digest of all this."""
    versioned = {**body, "schema_version": SCHEMA_VERSION}
    return canonical({**versioned, "sha256": digest(versioned)})


def unseal(data: bytes, where: str) -> dict[str, Any]:
    """The document, `sha256` included.

    Raises:
      OutputConflict: a newer program wrote it.
      Damaged: it is not whole.
    """
    try:
        document = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{where} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise Damaged(f"{where} holds a {type(document).__name__}, wanted an object")
    _check_version(document.get("schema_version"), where)
    body = {key: value for key, value in document.items() if key != "sha256"}
    if digest(body) != document.get("sha256"):
        raise Damaged(f"{where} does not fit its own sha256")
    return document


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _check_version(version: object, where: str) -> None:
    if type(version) is not int or version < 1:
        raise Damaged(f"{where} has schema {version!r}, wanted 1 or more")
    if version > SCHEMA_VERSION:
        raise OutputConflict(
            f"{where} has schema {version}, this program knows {SCHEMA_VERSION}: "
            "update belvedere or choose another output folder"
        )


def field(document: dict[str, Any], name: str, kind: type[_Value]) -> _Value:
    """An entry of exactly this type, else Damaged."""
    value = document.get(name)
    if type(value) is not kind:
        found = "nothing" if value is None else type(value).__name__
        raise Damaged(f"{name} holds {found}, wanted {kind.__name__}")
    return value
