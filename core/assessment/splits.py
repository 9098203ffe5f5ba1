"""Which pictures are learned from and which are judged on.

Groups of near-duplicates stay together, also where they belong to several classes, and
every class is split by itself. A group's place is decided by its lot, a hash of the
seed and of its smallest id: the order of pictures does not matter.

Paper: section 5, 60K images to learn from and 32K to test on, class by class.
"""

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Int64

_LOTS = 2**64


@dataclasses.dataclass(frozen=True)
class _Group:
    """Pictures that stay together: their places, how many of each class, their lot."""

    places: tuple[int, ...]
    sizes: Counter[str]
    lot: int
    name: str

    @property
    def order(self) -> tuple[int, str]:
        return self.lot, self.name


def holdout(
    ids: Sequence[str],
    groups: Int64[np.ndarray, " n"],
    share: float,
    seed: int = 0,
    labels: Sequence[str] | None = None,
) -> Bool[np.ndarray, " n"]:
    """Which pictures are kept for testing.

    In each class they are `share` of the pictures, as nearly as its groups in the order
    of their lots allow: half a group's size off at most. Another picture that joins
    none of the groups moves no more than one of them. Groups of several classes come
    first and are kept if their lot is below `share`, whatever else there is.

    Args:
      ids: names of the pictures; one that has several classes may come several times.
      groups: of near-duplicates.
      share: of the pictures to be kept, between 0 and 1.
      seed: other seeds keep other pictures.
      labels: the class of each; one class if not given.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"a share of {share}, wanted 0 to 1")
    result = np.zeros(len(ids), bool)
    kept: Counter[str] = Counter()
    mixed, pure = _groups(ids, groups, seed, labels)
    for group in mixed:
        if group.lot < share * _LOTS:
            result[list(group.places)] = True
            kept += group.sizes
    for label, own in pure.items():
        total = sum(g.sizes[label] for g in (*mixed, *own))
        for group in _nearest(own, label, share * total - kept[label]):
            result[list(group.places)] = True
    return result


def folds(
    ids: Sequence[str],
    groups: Int64[np.ndarray, " n"],
    k: int,
    seed: int = 0,
    labels: Sequence[str] | None = None,
) -> Int64[np.ndarray, " n"]:
    """The fold of each picture, of `k`.

    In each class sizes differ by its largest group at most: large groups first and then
    in the order of lots, each goes where its classes have the fewest pictures.

    Args:
      ids, groups, seed, labels: as for `holdout`.
      k: how many folds, at least 2.
    """
    if k < 2:
        raise ValueError(f"{k} folds, wanted 2 at least")
    result = np.empty(len(ids), np.int64)
    filled = [Counter[str]() for _ in range(k)]
    mixed, pure = _groups(ids, groups, seed, labels)
    for some in (mixed, *pure.values()):
        for group in sorted(some, key=lambda g: (-len(g.places), g.order)):
            fold = min(range(k), key=lambda f: _fullness(filled[f], group))
            result[list(group.places)] = fold
            filled[fold] += group.sizes
    return result


def _fullness(filled: Counter[str], group: _Group) -> tuple[int, int]:
    return sum(filled[label] for label in group.sizes), filled.total()


def _nearest(groups: Sequence[_Group], label: str, wanted: float) -> Iterator[_Group]:
    """The first groups whose pictures are together nearest to `wanted`."""
    count = 0
    for group in groups:
        size = group.sizes[label]
        if abs(count + size - wanted) >= abs(count - wanted):
            return
        count += size
        yield group


def _groups(
    ids: Sequence[str],
    groups: Int64[np.ndarray, " n"],
    seed: int,
    labels: Sequence[str] | None,
) -> tuple[list[_Group], dict[str, list[_Group]]]:
    """Groups of several classes, and those of one by class, in the order of lots."""
    labels = [""] * len(ids) if labels is None else labels
    if not len(ids) == len(groups) == len(labels):
        said = f"{len(ids)} ids, {len(groups)} groups, {len(labels)} labels"
        raise ValueError(f"{said}: wanted as many of each")
    members: dict[int, list[int]] = {}
    for place, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(place)
    made = []
    for places in members.values():
        name = min(ids[i] for i in places)
        sizes = Counter(labels[i] for i in places)
        made.append(_Group(tuple(places), sizes, _lot(seed, name), name))
    _check(ids, made)
    made.sort(key=lambda group: group.order)
    pure: dict[str, list[_Group]] = {label: [] for label in sorted(set(labels))}
    for group in made:
        if len(group.sizes) == 1:
            pure[next(iter(group.sizes))].append(group)
    return [group for group in made if len(group.sizes) > 1], pure


def _check(ids: Sequence[str], groups: Sequence[_Group]) -> None:
    """Raises ValueError if a picture is in two groups: lots could not tell them."""
    seen: set[str] = set()
    for group in groups:
        own = {ids[i] for i in group.places}
        if both := sorted(seen & own):
            raise ValueError(f"picture {both[0]!r} is in two groups")
        seen |= own


def _lot(seed: int, name: str) -> int:
    told = f"{seed}\0{name}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest())
