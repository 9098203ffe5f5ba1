"""Where tars were cut into slices, kept so that a tar is walked through once.

The headers of a tar lie between its pictures, and on an object store to go from one to
the next is to read nearly all of it: a night that did this for all the tars of all past
nights would read them all. So the output has `cuts/<digest>.json` for each tar, named
by address, size and stamp of the tar and by how it is to be cut; it is created when the
tar has been walked through to its end. A tar that has changed has another name.

A night would still read a small file for each tar of all past nights. So those of a
source also stand together in one file, `cuts/all-<digest>.json`, which is made anew
when some came since (`known`). Nothing depends on all these files but time: they may be
deleted whenever no run is going on.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from belvedere.transforms import documents, stores
from belvedere.transforms.documents import Damaged, field
from belvedere.transforms.records import Input

FOLDER = "cuts"
APART = 32  # tars whose cuts are not with the others yet, at most

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
    name = _name(digest(tar, kind, images))
    try:
        yield from _parsed(store.read(name), store.path(name))
        return
    except (stores.MissingFile, Damaged):
        pass
    found = []
    for cut in walked:
        found.append(cut)
        yield cut
    store.create(name, documents.seal({"cuts": found}))


def digest(tar: Input, kind: str, images: int) -> str:
    """What a tar is known by, together with how it is to be cut."""
    told = [tar.uri, tar.size, tar.stamp, tar.label]
    return documents.digest([told, kind, images])


def _name(of: str) -> str:
    return f"{FOLDER}/{of}.json"


def known(
    store: stores.Store, source: str, digests: Sequence[str]
) -> dict[str, list[Cut]]:
    """The cuts of those of the tars of a source that have been kept, by digest."""
    if not digests:
        return {}
    name = _name(f"all-{documents.digest(source)[:32]}")
    together = _together(store, name, digests)
    apart = _apart(store, [one for one in digests if one not in together])
    if len(apart) > APART:
        store.replace(name, documents.seal({"tars": together | apart}))
    return together | apart


def _together(
    store: stores.Store, name: str, digests: Sequence[str]
) -> dict[str, list[Cut]]:
    try:
        body = documents.unseal(store.read(name), store.path(name))
        tars = field(body, "tars", dict)
        return {one: _cuts(tars, one) for one in digests if one in tars}
    except (stores.MissingFile, Damaged):
        return {}


def _apart(store: stores.Store, digests: list[str]) -> dict[str, list[Cut]]:
    """The cuts that are in files of their own; many are first looked for in a list."""
    names = {_name(one): one for one in digests}
    if len(names) > 2 * APART:
        listed = {file.name for file in store.list(FOLDER)}
        names = {name: one for name, one in names.items() if name in listed}
    found = {}
    contents = stores.read_many(store, names)
    for (name, one), data in zip(names.items(), contents, strict=True):
        with contextlib.suppress(Damaged):
            if data is not None:
                found[one] = _parsed(data, store.path(name))
    return found


def _parsed(data: bytes, where: str) -> list[Cut]:
    return _cuts(documents.unseal(data, where), "cuts")


def _cuts(document: dict, name: str) -> list[Cut]:
    return [_cut(one) for one in field(document, name, list)]


def _cut(numbers: list[int]) -> Cut:
    if not isinstance(numbers, list) or [type(n) for n in numbers] != [int] * 3:
        raise Damaged(f"{numbers!r} is no cut of a tar, wanted three numbers")
    start, stop, count = numbers
    return start, stop, count
