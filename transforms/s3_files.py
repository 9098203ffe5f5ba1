"""Files on s3://: one client for all that is read and written there.

Beam's own file system makes a client for each call, which takes longer than the call,
keeps the cause of an error back, and is not to be had before a pipeline or after one.
Account and address are those of the environment. The library is imported where it is
needed, so that a local run does without it.
"""

import functools
import io
import os
import random
import re
import time
from collections.abc import Iterator
from typing import IO, Any, cast

from belvedere.transforms import cloud_listings, store_faults, stores

_PIECE = 1 << 23  # a picture is one request, a tar a few long ones
_WILD = re.compile(r"[*?[]")


@functools.cache
def client() -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise stores.StoreError("s3:// needs boto3: pip install boto3") from error
    # A session of our own: the shared one must not be used by two threads at once.
    pool = Config(max_pool_connections=2 * stores.READERS)
    return boto3.session.Session().client("s3", config=pool)


def get(uri: str, **told: str) -> tuple[bytes, dict[str, Any]]:
    """Content and answer; the client repeats a request, but not reading what comes.

    Args:
      uri: of the object.
      told: more to say in the request.
    """
    from botocore import exceptions

    bucket, key = cloud_listings.parts(uri)
    attempt = 0
    while True:
        answer = client().get_object(Bucket=bucket, Key=key, **told)
        try:
            return answer["Body"].read(), answer
        except (exceptions.IncompleteReadError, exceptions.HTTPClientError):
            if attempt == 4:
                raise
        time.sleep(random.random() * 0.2 * 2**attempt)
        attempt += 1


def describe(uri: str) -> cloud_listings.File:
    bucket, key = cloud_listings.parts(uri)
    head = client().head_object(Bucket=bucket, Key=key)
    changed = cloud_listings.seconds(head["LastModified"])
    return cloud_listings.File(uri.rpartition("/")[2], head["ContentLength"], changed)


def matching(pattern: str) -> Iterator[tuple[str, cloud_listings.File]]:
    """(uri, file) of what matches, sorted; a pattern means what it means to Beam.

    `*` stays within a folder and `**` does not. Marks of folders are left out.
    """
    from apache_beam.io.filesystem import FileSystem

    fits = re.compile(FileSystem.translate_pattern(pattern)).match
    bucket, key = cloud_listings.parts(pattern)
    fixed = _WILD.split(key, maxsplit=1)[0]
    pages = client().get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=bucket, Prefix=fixed):
        for one in page.get("Contents", ()):
            uri = f"s3://{bucket}/{one['Key']}"
            if fits(uri) and not uri.endswith("/"):
                name = uri.rpartition("/")[2]
                changed = cloud_listings.seconds(one["LastModified"])
                yield uri, cloud_listings.File(name, one["Size"], changed)


def open_read(uri: str) -> IO[bytes]:
    """An object to be read and sought in; nothing is asked for until it is read."""
    return cast(IO[bytes], io.BufferedReader(_Object(uri), _PIECE))


class _Object(io.RawIOBase):
    """An object in pieces, each a request; all of them are of the same version."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._position = 0
        self._size: int | None = None  # known from the first answer on
        self._version: dict[str, str] = {}

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END and self._size is None:
            self._size = describe(self._uri).size
        start = {os.SEEK_CUR: self._position, os.SEEK_END: self._size or 0}
        self._position = max(0, start.get(whence, 0) + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        if self._size is not None and self._position >= self._size:
            return 0
        data = self._piece(min(len(buffer), _PIECE))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def _piece(self, size: int) -> bytes:
        """What comes next, at most `size` bytes; none at the end."""
        from botocore.exceptions import ClientError

        span = f"bytes={self._position}-{self._position + size - 1}"
        try:
            data, answer = get(self._uri, Range=span, **self._version)
        except ClientError as error:
            if store_faults.status(error) == 416:  # it ends before this
                return b""
            if store_faults.status(error) == 412:
                raise OSError(f"{self._uri} was replaced while it was read") from error
            raise
        if "ContentRange" in answer:
            self._size = int(answer["ContentRange"].rpartition("/")[2])
        elif self._position or len(data) > size:
            raise OSError("the store has no parts of objects (HTTP ranges) to give")
        else:
            self._size = len(data)
        self._version = {"IfMatch": answer["ETag"]}
        return data
