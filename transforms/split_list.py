"""The list of images that says which were learned from and which were judged on."""

import csv
import io
from collections.abc import Iterable

from belvedere.transforms import stores
from belvedere.transforms.roles import LEARN, Protocol, Roles

SPLIT = "split.csv"


def write(
    roles: Iterable[tuple[str, Roles]],
    protocol: Protocol,
    output: str,
    wanted: frozenset[str],
) -> int:
    """Writes the list.

    Returns:
      how many images of the wanted classes the given models were learned from.
    """
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["image", "class", "part"])
    seen = 0
    for label, of in sorted(roles, key=lambda pair: pair[0]):
        for image_id, fold in sorted(of.items()):
            part = _part(fold, protocol)
            seen += part == "seen" and (not wanted or label in wanted)
            writer.writerow([image_id, label, part])
    data = file.getvalue().encode("utf-8", "backslashreplace")
    stores.store_for(output).replace(SPLIT, data)
    return seen


def _part(fold: int, protocol: Protocol) -> str:
    if fold == LEARN:
        return "train" if protocol.models is None else "seen"
    return "test" if protocol.folds is None else f"fold {fold}"
