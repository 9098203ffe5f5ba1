"""Where tars were cut into slices, kept so that a tar is walked through once.

The headers of a tar lie between its pictures, and on an object store to go from one to
the next is to read nearly all of it: a night that did this for all the tars of all past
nights would read them all. So the output has `cuts/<digest>.json` for each tar, named
by address, size and stamp of the tar and by how it is to be cut; it is created when the
tar has been walked through to its end. A tar that has changed has another name. Nothing
depends on these files but time: they may be deleted whenever no run is going on.
"""

import dataclasses
from collections.abc import Iterable, Iterator

from belvedere.transforms import documents, stores
from belvedere.transforms.documents import Damaged, field
from belvedere.transforms.records import Input

FOLDER = "cuts"

Cut = tuple[int, int, int]  # first byte, byte behind, number of images


def kept(
    store: stores.Store, tar: Input, kind: str, images: int, walked: Iterable[Cut]
) -> Iterator[Cut]:
    """The cuts of a tar as they were kept, else as walking finds them.

    Args:
      store: of the output.
      tar: as it is now.
      kind: what is in it, "synset" or "webdataset".
      images: wanted in a slice.
      walked: goes through the tar when asked for its first cut; what it raises, goes
        on to the caller, and nothing is kept.
    """
    named_by = [list(dataclasses.astuple(tar)), kind, images]
    name = f"{FOLDER}/{documents.digest(named_by)}.json"
    known = _read(store, name)
    if known is not None:
        yield from known
        return
    found = []
    for cut in walked:
        found.append(cut)
        yield cut
    store.create(name, documents.seal({"cuts": found}))


def _read(store: stores.Store, name: str) -> list[Cut] | None:
    """None where there is no such file, or not a whole one."""
    try:
        body = documents.unseal(store.read(name), store.path(name))
        return [_cut(one) for one in field(body, "cuts", list)]
    except (stores.MissingFile, Damaged):
        return None


def _cut(numbers: list[int]) -> Cut:
    if not isinstance(numbers, list) or [type(n) for n in numbers] != [int] * 3:
        raise Damaged(f"{numbers!r} is no cut of a tar, wanted three numbers")
    start, stop, count = numbers
    return start, stop, count
