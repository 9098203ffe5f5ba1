"""How a file comes into being on each store: whole, once, and never again.

Everything that is kept is written by `Store.create`: the file appears complete under
its name, or not at all, and a name that is taken stays as it is. Of two writers at once
exactly one is told True. What can be made again from kept files, a summary or a report,
is written by `Store.replace`: the last one stands.

- A local folder: a temporary file beside the final one, fsync, `os.link`. A killed
  writer leaves a file named `.tmp-...` that no reader looks at.
- gs:// and s3://: one conditional upload (`cloud_stores`).

Names come from digests and slugs, never from data; `checked_name` holds the door.
"""

import abc
import collections
import contextlib
import dataclasses
import errno
import os
import re
import uuid
from collections.abc import Iterable, Iterator
from concurrent import futures
from typing import IO

from belvedere.transforms import store_faults

TEMPORARY = ".tmp-"
_WORD = r"[A-Za-z0-9][A-Za-z0-9_-]*"
_NAME = re.compile(rf"(?:{_WORD}/){{0,3}}{_WORD}(?:\.[A-Za-z0-9]+)*")
_BUCKET = re.compile(r"[^/*?\[\0]+(/[^*?\[\0]*)?")
_LONGEST_NAME = 200
READERS = 16  # a read from a cloud store is mostly waiting
_AHEAD = 64
_CLOUD = ("google.", "botocore.", "boto3.", "apache_beam.", "requests.", "urllib3.")
_ADVICE = {  # by error number of the system
    errno.ENOSPC: "the disk is full: free some space and run the same command again",
    errno.EDQUOT: "the quota is used up: free some space and run the command again",
    errno.EACCES: "permission denied: check who owns the folder",
    errno.EPERM: "permission denied: check who owns the folder",
    errno.EROFS: "the file system is read-only: choose another folder",
    errno.ENOTDIR: "a part of this path is a file, not a folder: choose another folder",
    errno.EEXIST: "a file stands where a folder has to be: choose another folder",
    errno.ENAMETOOLONG: "the path is too long: choose a folder with a shorter one",
}


class StoreError(Exception):
    """A store could not be read or written: what, which file, what to do."""


class StoreLost(StoreError):
    """A store does not answer: the same command may do better later."""


class MissingFile(StoreError):
    """The file that was asked for is not there."""


class OutputConflict(Exception):
    """The folder holds something else, a newer schema, or the commit lost its race."""


@dataclasses.dataclass(frozen=True)
class Found:
    """A file as a store lists it; `modified` in seconds since 1970."""

    name: str
    size: int
    modified: float


def checked_name(name: str) -> str:
    """`name` if it may become a path, else ValueError.

    >>> checked_name("records/0123abcd.json")
    'records/0123abcd.json'
    """
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise ValueError(f"{name[:80]!r} cannot be a file name, wanted folder/name.ext")
    return name


def store_for(uri: str) -> "Store":
    """The store of a local folder, a `gs://` or an `s3://` address."""
    scheme, mark, rest = uri.partition("://")
    if not mark and uri and "\0" not in uri:
        return LocalStore(uri)
    if scheme == "file" and rest.startswith("/"):
        return LocalStore(rest)
    if scheme in ("gs", "s3") and _BUCKET.fullmatch(rest):
        from belvedere.transforms import cloud_stores

        return cloud_stores.store_for(uri)
    raise ValueError(
        f"{uri!r} is no folder, wanted a path, gs://bucket/... or s3://..."
    )


def read_many(store: "Store", names: Iterable[str]) -> Iterator[bytes | None]:
    """The contents of many files in the order asked for, None for a missing one.

    Reads some files ahead in threads; holds no more than these.
    """
    with futures.ThreadPoolExecutor(READERS) as pool:
        waiting: collections.deque[futures.Future[bytes | None]] = collections.deque()
        for name in names:
            waiting.append(pool.submit(_read_or_none, store, name))
            if len(waiting) > _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _read_or_none(store: "Store", name: str) -> bytes | None:
    try:
        return store.read(name)
    except MissingFile:
        return None


class Store(abc.ABC):
    """A folder of files that are created once, read and listed.

    Holds nothing but its address, so that it can travel to a worker.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/") or "/"

    def path(self, name: str) -> str:
        return f"{self.uri.rstrip('/')}/{checked_name(name)}"

    def create(self, name: str, data: bytes) -> bool:
        """Makes the file with this content; False if the name is taken."""
        path = self.path(name)
        with _explained("write", path):
            return self._create(path, data)

    def replace(self, name: str, data: bytes) -> None:
        """Makes the file with this content, whether or not there is one: a summary."""
        path = self.path(name)
        with _explained("write", path):
            self._replace(path, data)

    def open_read(self, name: str) -> IO[bytes]:
        path = self.path(name)
        with _explained("read", path):
            return self._open(path)

    def read(self, name: str) -> bytes:
        """The whole content; MissingFile if there is none."""
        try:
            with self.open_read(name) as file, _explained("read", self.path(name)):
                return file.read()
        except StoreError as error:
            if isinstance(error, MissingFile) or self.exists(name):
                raise
            raise MissingFile(f"{self.path(name)} does not exist") from error

    def find(self, name: str) -> Found | None:
        """Size and age of a file, None if it does not exist."""
        path = self.path(name)
        with _explained("look up", path):
            return self._find(path, name)

    def exists(self, name: str) -> bool:
        return self.find(name) is not None

    def list(self, folder: str) -> Iterator[Found]:
        """The files of a folder in no order, strange names included."""
        path = self.path(folder)
        with _explained("list", path):
            yield from self._list(path, folder)

    @abc.abstractmethod
    def _create(self, path: str, data: bytes) -> bool: ...

    @abc.abstractmethod
    def _replace(self, path: str, data: bytes) -> None: ...

    @abc.abstractmethod
    def _open(self, path: str) -> IO[bytes]: ...

    @abc.abstractmethod
    def _find(self, path: str, name: str) -> Found | None: ...

    @abc.abstractmethod
    def _list(self, path: str, folder: str) -> Iterator[Found]: ...


@contextlib.contextmanager
def _explained(verb: str, path: str) -> Iterator[None]:
    """Turns what a store raises into a StoreError; leaves bugs as they are."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFile(f"{path} does not exist") from error
    except Exception as error:
        if not isinstance(error, OSError) and not _from_cloud(error):
            raise
        number = getattr(error, "errno", None) or 0
        known = _ADVICE.get(number) or store_faults.advice(error)
        raise told(verb, path, known or type(error).__name__, error) from error


def told(verb: str, path: str, advice: str, error: BaseException) -> StoreError:
    """The error that says so; one that may pass by itself is of a kind of its own."""
    kind = StoreLost if advice == store_faults.LOST else StoreError
    return kind(f"cannot {verb} {path}: {advice} ({str(error)[:300]})")


def _from_cloud(error: Exception) -> bool:
    return type(error).__module__.startswith(_CLOUD)


class LocalStore(Store):
    """A folder of this machine, or one that is mounted."""

    def __init__(self, uri: str) -> None:
        super().__init__(os.path.abspath(uri))

    def _create(self, path: str, data: bytes) -> bool:
        with _beside(path, data) as temporary:
            return _link(temporary, path)

    def _replace(self, path: str, data: bytes) -> None:
        with _beside(path, data) as temporary:
            os.replace(temporary, path)

    def _open(self, path: str) -> IO[bytes]:
        return open(path, "rb")

    def _find(self, path: str, name: str) -> Found | None:
        try:
            status = os.stat(path)
        except FileNotFoundError:
            return None
        return Found(name, status.st_size, status.st_mtime)

    def _list(self, path: str, folder: str) -> Iterator[Found]:
        if not os.path.isdir(path):
            return
        for entry in os.scandir(path):
            with contextlib.suppress(FileNotFoundError):  # a temporary file, gone
                status = entry.stat()
                yield Found(f"{folder}/{entry.name}", status.st_size, status.st_mtime)


@contextlib.contextmanager
def _beside(path: str, data: bytes) -> Iterator[str]:
    """A temporary file with this content in the folder of `path`."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    temporary = os.path.join(folder, f"{TEMPORARY}{uuid.uuid4().hex}")
    try:
        _write(temporary, data)
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _write(path: str, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _link(temporary: str, path: str) -> bool:
    """Gives the finished file its name, and makes that last; False if it is taken."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        fault = "this file system has no hard links, which a safe commit needs"
        raise StoreError(f"cannot write {path}: {fault}; choose another one") from error
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return True
