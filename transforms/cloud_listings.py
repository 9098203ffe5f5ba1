"""One level of a folder on gs:// or s3://: its files and its folders, none deeper.

Beam lists all that lies below a prefix, however deep: millions of pictures, only to
find the folders they are in. The stores themselves can stop at the next slash.
"""

import datetime
from collections.abc import Iterable
from typing import Any, NamedTuple

_FIELDS = "items(name,size,updated),prefixes,nextPageToken"


class File(NamedTuple):
    """A file by its name in the folder; `seconds` since 1970, of its last change."""

    name: str
    size: int
    seconds: float


class Level(NamedTuple):
    """What lies directly in a folder, in no order."""

    files: list[File]
    folders: list[str]


def parts(uri: str) -> tuple[str, str]:
    """Bucket and key."""
    bucket, _, key = uri.partition("://")[2].partition("/")
    return bucket, key


def level(uri: str, client: Any) -> Level:
    """Lists a folder; one that does not exist is empty.

    Args:
      uri: of the folder, without a slash at its end.
      client: of the library for the store at this address.
    """
    bucket, key = parts(uri)
    prefix = f"{key}/" if key else ""
    lister = _on_s3 if uri.startswith("s3://") else _on_google
    return lister(client, bucket, prefix)


def _on_google(client: Any, bucket: str, prefix: str) -> Level:
    found = client.list_blobs(bucket, prefix=prefix, delimiter="/", fields=_FIELDS)
    files = _files(prefix, ((b.name, b.size, b.updated) for b in found))
    return Level(files, _folders(prefix, found.prefixes))  # known behind the last page


def _on_s3(client: Any, bucket: str, prefix: str) -> Level:
    told = {"Bucket": bucket, "Prefix": prefix, "Delimiter": "/"}
    result = Level([], [])
    for page in client.get_paginator("list_objects_v2").paginate(**told):
        items = page.get("Contents", ())
        told_of = ((i["Key"], i["Size"], i["LastModified"]) for i in items)
        result.files.extend(_files(prefix, told_of))
        below = (one["Prefix"] for one in page.get("CommonPrefixes", ()))
        result.folders.extend(_folders(prefix, below))
    return result


def _files(
    prefix: str, items: Iterable[tuple[str, int, datetime.datetime]]
) -> list[File]:
    """Without the empty object that some tools put in place of the folder itself."""
    return [
        File(key.removeprefix(prefix), size, seconds(changed))
        for key, size, changed in items
        if key != prefix
    ]


def seconds(changed: datetime.datetime) -> float:
    """To the last bit as Beam reckons it: a file must look the same in each listing."""
    whole = changed.replace(microsecond=0)
    return whole.timestamp() + changed.microsecond / 1000000.0


def _folders(prefix: str, found: Iterable[str]) -> list[str]:
    names = (one.removeprefix(prefix).removesuffix("/") for one in found)
    return [name for name in names if name]
