"""Files on gs:// and s3://: how a commit is made there, and how they are read.

- gs://: one upload on the condition that the object has no generation yet; never a copy
  or a rename, which emulators and some clients do without looking at conditions.
- s3://: one upload with `If-None-Match: *`.

A lost answer makes the client ask again and be told that its own file is in the way:
who needs to know compares the content. Libraries are imported where they are needed, so
that a local run loads none of them.
"""

import functools
import random
import time
from collections.abc import Iterator
from typing import IO, Any

from belvedere.transforms import stores


def store_for(uri: str) -> stores.Store:
    return S3Store(uri) if uri.startswith("s3://") else GoogleStore(uri)


class _CloudStore(stores.Store):
    """What gs:// and s3:// have in common: reading, by Beam's file systems."""

    def _open(self, path: str) -> IO[bytes]:
        from apache_beam.io.filesystem import CompressionTypes
        from apache_beam.io.filesystems import FileSystems

        return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)

    def _find(self, path: str, name: str) -> stores.Found | None:
        return next((_found(name, file) for file in _matches(path)), None)

    def _list(self, path: str, folder: str) -> Iterator[stores.Found]:
        for file in _matches(f"{path}/*"):
            yield _found(f"{folder}/{file.path.rpartition('/')[2]}", file)


def _matches(pattern: str) -> Iterator[Any]:
    from apache_beam.io.filesystems import FileSystems

    for result in FileSystems.match([pattern]):
        yield from result.metadata_list


def _found(name: str, file: Any) -> stores.Found:
    return stores.Found(name, file.size_in_bytes, file.last_updated_in_seconds)


class GoogleStore(_CloudStore):
    """Google Cloud Storage, or the emulator STORAGE_EMULATOR_HOST names."""

    def _create(self, path: str, data: bytes) -> bool:
        from google.api_core import exceptions
        from google.cloud.storage import exceptions as storage_exceptions

        bucket, _, key = path.removeprefix("gs://").partition("/")
        blob = _storage_client().bucket(bucket).blob(key)
        try:
            blob.upload_from_string(
                data, "application/octet-stream", if_generation_match=0
            )
        except exceptions.PreconditionFailed:
            return False
        except storage_exceptions.InvalidResponse as error:
            if error.response.status_code != 412:
                raise
            return False
        return True

    def _replace(self, path: str, data: bytes) -> None:
        bucket, _, key = path.removeprefix("gs://").partition("/")
        blob = _storage_client().bucket(bucket).blob(key)
        blob.upload_from_string(data, "application/octet-stream")


@functools.cache
def _storage_client() -> Any:
    from google.cloud import storage

    return storage.Client()


class S3Store(_CloudStore):
    """Amazon S3, or what AWS_ENDPOINT_URL names; needs boto3."""

    def _create(self, path: str, data: bytes) -> bool:
        bucket, _, key = path.removeprefix("s3://").partition("/")
        put = functools.partial(
            _s3_client().put_object, Bucket=bucket, Key=key, Body=data, IfNoneMatch="*"
        )
        for attempt in range(8):
            status = _put_status(put)
            if status != 409:  # 409: another upload of this name is under way
                return status != 412
            time.sleep(random.random() * 0.05 * 2**attempt)
        raise stores.StoreError(f"cannot write {path}: other uploads of it do not end")

    def _replace(self, path: str, data: bytes) -> None:
        bucket, _, key = path.removeprefix("s3://").partition("/")
        _s3_client().put_object(Bucket=bucket, Key=key, Body=data)


def _put_status(put: functools.partial) -> int:
    from botocore.exceptions import ClientError

    try:
        put()
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if status not in (409, 412):
            raise
        return int(status)
    return 200


@functools.cache
def _s3_client() -> Any:
    try:
        import boto3
    except ImportError as error:
        raise stores.StoreError("s3:// needs boto3: pip install boto3") from error
    return boto3.client("s3")
