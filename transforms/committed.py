"""Reading an output: what the log lists, and of each task what came last.

A task can have several rows: an older and a newer model, a dead letter and the retry
that succeeded, two runs that cut the same folder into other units. All stay in their
files. A reader sees the outcome that was committed last, a box or a refusal or a dead
letter; asked for certain models, it sees the last row of these.

Costs 40 bytes of memory per row of the output, whatever the rows hold.
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, UInt64

from belvedere.transforms import schemas, stores, tables
from belvedere.transforms.commits import Log
from belvedere.transforms.schemas import ANNOTATIONS, DEAD_LETTERS
from belvedere.transforms.stores import OutputConflict

Keys = UInt64[np.ndarray, "rows 2"]
Mask = Bool[np.ndarray, "rows"]
Listed = tuple[str, str]  # table, name of the file


def files(log: Log, *names: str) -> Iterator[Listed]:
    """The committed files of these tables, oldest first."""
    for manifest in log.manifests():
        for entry in manifest.entries:
            for file in entry.files:
                table = file.name.partition("/")[0]
                if table in names:
                    yield table, file.name


def rows(
    log: Log,
    name: str = ANNOTATIONS,
    columns: Sequence[str] | None = None,
    models: Collection[str] | None = None,
) -> Iterator[pa.Table]:
    """The current rows of a table, file by file in order of commit.

    Args:
      log: of the output.
      name: `annotations` or `dead_letters`.
      columns: those wanted, all by default.
      models: if given, only annotations by these models count, dead letters do not.
    """
    outcomes = (ANNOTATIONS,) if models is not None else (ANNOTATIONS, DEAD_LETTERS)
    listed = list(files(log, *outcomes))
    masks = _current(list(_scan(log.store, listed, models)))
    pairs = zip(listed, masks, strict=True)
    wanted = [(file, mask) for file, mask in pairs if file[0] == name and mask.any()]
    opened = _open(log.store, [file for file, _ in wanted], columns)
    for table, (_, mask) in zip(opened, wanted, strict=True):
        yield table.filter(pa.array(mask))


def _open(
    store: stores.Store, listed: list[Listed], columns: Sequence[str] | None
) -> Iterator[pa.Table]:
    contents = stores.read_many(store, [name for _, name in listed])
    for (table, name), data in zip(listed, contents, strict=True):
        where = store.path(name)
        if data is None:
            raise OutputConflict(f"{where} is committed but missing: restore it")
        yield tables.decode(table, data, where, columns)


def _scan(
    store: stores.Store, listed: list[Listed], models: Collection[str] | None
) -> Iterator[tuple[Keys, Mask]]:
    """The key of each row's task, and whether the row counts at all."""
    columns = [*schemas.TASK] if models is None else [*schemas.TASK, "model_id"]
    for table in _open(store, listed, columns):
        counts = np.ones(len(table), bool)
        if models is not None:
            chosen = pc.is_in(table["model_id"], pa.array(sorted(models), pa.string()))
            counts = chosen.to_numpy()
        yield _keys(table), counts


def key(uri: str, label: str | None) -> bytes:
    """Of a task, as the tables spell it: no two of any output will share these 16."""
    return hashlib.blake2b(repr((uri, label)).encode(), digest_size=16).digest()


def _keys(table: pa.Table) -> Keys:
    tasks = zip(*(table[part].to_pylist() for part in schemas.TASK), strict=True)
    digests = b"".join(key(uri, label) for uri, label in tasks)
    return np.frombuffer(digests, np.uint64).reshape(-1, 2)


def _current(scans: list[tuple[Keys, Mask]]) -> list[Mask]:
    """For each file, which of its rows are the last that count for their task."""
    if not scans:
        return []
    counts = np.concatenate([counts for _, counts in scans])
    keys = np.concatenate([keys for keys, _ in scans])[counts]
    order = np.lexsort(keys.T)  # stable: equal keys stay in order of commit
    behind = keys[order[1:]] != keys[order[:-1]]
    last = np.append(behind.any(axis=1), True)[: len(order)]
    current = np.zeros(len(counts), bool)
    current[np.flatnonzero(counts)[order[last]]] = True
    return np.split(current, np.cumsum([len(keys) for keys, _ in scans])[:-1])
