"""Files on gs:// and s3://: how a commit is made there, and how they are read.

- gs://: one upload on the condition that the object has no generation yet; never a copy
  or a rename, which emulators and some clients do without looking at conditions. Read
  by Beam's file system.
- s3://: one upload with `If-None-Match: *`. Read by the same client: Beam's file system
  makes a new one for each call, which takes longer than the call (0.2 s of computing to
  read a file, against 3 ms), and cannot be used before there is a pipeline.

A lost answer makes the client ask again and be told that its own file is in the way:
who needs to know compares the content. Libraries are imported where they are needed, so
that a local run loads none of them. They try again by themselves, for minutes; what
they raise then is told with what to do about it.
"""

import contextlib
import functools
import io
import random
import time
from collections.abc import Iterator
from typing import IO, Any

from belvedere.transforms import store_faults, stores


def store_for(uri: str) -> stores.Store:
    return S3Store(uri) if uri.startswith("s3://") else GoogleStore(uri)


@contextlib.contextmanager
def _advised(verb: str, path: str) -> Iterator[None]:
    """Says what to do about an error of a client library that we know."""
    try:
        yield
    except Exception as error:
        cause = store_faults.cause(error)
        if verb == "read" and store_faults.status(cause) == 404:
            raise FileNotFoundError(path) from error
        if advice := store_faults.advice(cause):
            raise stores.told(verb, path, advice, cause) from error
        raise


def _parts(path: str) -> tuple[str, str]:
    """Bucket and key."""
    bucket, _, key = path.partition("://")[2].partition("/")
    return bucket, key


class GoogleStore(stores.Store):
    """Google Cloud Storage, or the emulator STORAGE_EMULATOR_HOST names."""

    def _create(self, path: str, data: bytes) -> bool:
        from google.api_core import exceptions
        from google.cloud.storage import exceptions as storage_exceptions

        with _advised("write", path):
            try:
                _upload(path, data, if_generation_match=0)
            except (
                exceptions.ClientError,
                storage_exceptions.InvalidResponse,
            ) as error:
                if not _is_taken(path, store_faults.status(error)):
                    raise
                return False
        return True

    def _replace(self, path: str, data: bytes) -> None:
        with _advised("write", path):
            _upload(path, data)

    def _open(self, path: str) -> IO[bytes]:
        from apache_beam.io.filesystem import CompressionTypes
        from apache_beam.io.filesystems import FileSystems

        plain = CompressionTypes.UNCOMPRESSED
        with (
            _advised("read", path),
            FileSystems.open(path, compression_type=plain) as file,
        ):
            return io.BytesIO(file.read())

    def _find(self, path: str, name: str) -> stores.Found | None:
        with _advised("look up", path):
            return next((_found(name, file) for file in _matches(path)), None)

    def _list(self, path: str, folder: str) -> Iterator[stores.Found]:
        with _advised("list", path):
            for file in _matches(f"{path}/*"):
                yield _found(f"{folder}/{file.path.rpartition('/')[2]}", file)


def _is_taken(path: str, status: int | None) -> bool:
    """Whether an upload failed because there is an object of this name already.

    An account that may create but not delete can be told that it must not replace the
    object, and not that the condition fails.
    """
    return status == 412 or (status == 403 and any(True for _ in _matches(path)))


def _upload(path: str, data: bytes, **condition: int) -> None:
    bucket, key = _parts(path)
    blob = _storage_client().bucket(bucket).blob(key)
    blob.upload_from_string(data, "application/octet-stream", **condition)


def _matches(pattern: str) -> Iterator[Any]:
    from apache_beam.io.filesystems import FileSystems

    for result in FileSystems.match([pattern]):
        yield from result.metadata_list


def _found(name: str, file: Any) -> stores.Found:
    return stores.Found(name, file.size_in_bytes, file.last_updated_in_seconds)


@functools.cache
def _storage_client() -> Any:
    from google.cloud import storage

    return storage.Client()


class S3Store(stores.Store):
    """Amazon S3, or what AWS_ENDPOINT_URL names; needs boto3."""

    def _create(self, path: str, data: bytes) -> bool:
        bucket, key = _parts(path)
        put = functools.partial(
            _s3_client().put_object, Bucket=bucket, Key=key, Body=data, IfNoneMatch="*"
        )
        for attempt in range(8):
            with _advised("write", path):
                status = _put_status(put)
            if status != 409:  # 409: another upload of this name is under way
                return status != 412
            time.sleep(random.random() * 0.05 * 2**attempt)
        raise stores.StoreLost(f"cannot write {path}: other uploads of it do not end")

    def _replace(self, path: str, data: bytes) -> None:
        bucket, key = _parts(path)
        with _advised("write", path):
            _s3_client().put_object(Bucket=bucket, Key=key, Body=data)

    def _open(self, path: str) -> IO[bytes]:
        with _advised("read", path):
            return io.BytesIO(_content(*_parts(path)))

    def _find(self, path: str, name: str) -> stores.Found | None:
        bucket, key = _parts(path)
        try:
            with _advised("read", path):
                head = _s3_client().head_object(Bucket=bucket, Key=key)
        except FileNotFoundError:
            return None
        size, modified = head["ContentLength"], head["LastModified"]
        return stores.Found(name, size, modified.timestamp())

    def _list(self, path: str, folder: str) -> Iterator[stores.Found]:
        bucket, key = _parts(path)
        with _advised("list", path):
            pages = _s3_client().get_paginator("list_objects_v2")
            told = {"Bucket": bucket, "Prefix": f"{key}/", "Delimiter": "/"}
            for page in pages.paginate(**told):
                for file in page.get("Contents", ()):
                    name = f"{folder}/{file['Key'].rpartition('/')[2]}"
                    modified = file["LastModified"].timestamp()
                    yield stores.Found(name, file["Size"], modified)


def _content(bucket: str, key: str) -> bytes:
    """The object; the client repeats a request, but not the reading of an answer."""
    from botocore import exceptions

    cut = (exceptions.IncompleteReadError, exceptions.HTTPClientError)
    for attempt in range(4):
        body = _s3_client().get_object(Bucket=bucket, Key=key)["Body"]
        with contextlib.suppress(*cut):
            return body.read()
        time.sleep(random.random() * 0.2 * 2**attempt)
    return _s3_client().get_object(Bucket=bucket, Key=key)["Body"].read()


def _put_status(put: functools.partial) -> int:
    from botocore.exceptions import ClientError

    try:
        put()
    except ClientError as error:
        status = store_faults.status(error)
        if status not in (409, 412):
            raise
        return int(status)
    return 200


@functools.cache
def _s3_client() -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise stores.StoreError("s3:// needs boto3: pip install boto3") from error
    # A session of our own: the shared one must not be used by two threads at once.
    pool = Config(max_pool_connections=2 * stores._READERS)
    return boto3.session.Session().client("s3", config=pool)
