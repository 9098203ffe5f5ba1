"""Files on gs:// and s3://: how a commit is made there, and how they are read.

- gs://: one upload on the condition that the object has no generation yet; never a copy
  or a rename, which emulators and some clients do without looking at conditions. Read
  by Beam's file system.
- s3://: one upload with `If-None-Match: *`. Read by the same client (`s3_files`).

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

from belvedere.transforms import cloud_listings, s3_files, store_faults, stores


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
    bucket, key = cloud_listings.parts(path)
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
        bucket, key = cloud_listings.parts(path)
        told = {"Bucket": bucket, "Key": key, "IfNoneMatch": "*"}
        put = functools.partial(s3_files.client().put_object, Body=data, **told)
        for attempt in range(8):
            with _advised("write", path):
                status = _put_status(put)
            if status != 409:  # 409: another upload of this name is under way
                return status != 412
            time.sleep(random.random() * 0.05 * 2**attempt)
        raise stores.StoreLost(f"cannot write {path}: other uploads of it do not end")

    def _replace(self, path: str, data: bytes) -> None:
        bucket, key = cloud_listings.parts(path)
        with _advised("write", path):
            s3_files.client().put_object(Bucket=bucket, Key=key, Body=data)

    def _open(self, path: str) -> IO[bytes]:
        with _advised("read", path):
            return io.BytesIO(s3_files.get(path)[0])

    def _find(self, path: str, name: str) -> stores.Found | None:
        bucket, key = cloud_listings.parts(path)
        try:
            with _advised("read", path):
                head = s3_files.client().head_object(Bucket=bucket, Key=key)
        except FileNotFoundError:
            return None
        size, modified = head["ContentLength"], head["LastModified"]
        return stores.Found(name, size, modified.timestamp())

    def _list(self, path: str, folder: str) -> Iterator[stores.Found]:
        bucket, key = cloud_listings.parts(path)
        with _advised("list", path):
            pages = s3_files.client().get_paginator("list_objects_v2")
            told = {"Bucket": bucket, "Prefix": f"{key}/", "Delimiter": "/"}
            for page in pages.paginate(**told):
                for file in page.get("Contents", ()):
                    name = f"{folder}/{file['Key'].rpartition('/')[2]}"
                    modified = file["LastModified"].timestamp()
                    yield stores.Found(name, file["Size"], modified)


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
