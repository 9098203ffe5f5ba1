"""The classes of a model store, as their cards tell: how well learned, or refused."""

import json
from typing import Any, NamedTuple

from rich.table import Table

from belvedere.pipelines import voice
from belvedere.transforms import commits, model_store, stores

_SHOWN = 40


class ClassCard(NamedTuple):
    """What came of a class last; `reason` where it was refused."""

    label: str
    images: int | None
    mean_iou: float | None
    reason: str

    def document(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "images": self.images,
            "mean_iou_out_of_fold": self.mean_iou,
            "refused": self.reason or None,
        }


def read(models: str) -> list[ClassCard]:
    """The cards of all classes, by name."""
    store = stores.store_for(models)
    last: dict[str, str] = {}
    for manifest in commits.Log(store).manifests():
        for entry in manifest.entries:
            for file in entry.files:
                if file.name.endswith(f"/{model_store.CARD}"):
                    last[file.name.partition("/")[0]] = file.name
    contents = stores.read_many(store, last.values())
    return sorted(_card(json.loads(data)) for data in contents if data)


def _card(content: dict[str, Any]) -> ClassCard:
    return ClassCard(
        str(content.get("label", "")),
        content.get("images"),
        content.get("mean_iou_out_of_fold"),
        str(content.get("refused", "")),
    )


def table(cards: list[ClassCard]) -> Table:
    """A row for each class; of very many, the first."""
    rows = [
        (
            card.label,
            "" if card.images is None else str(card.images),
            "" if card.mean_iou is None else f"{card.mean_iou:.3f}",
            f"refused: {card.reason}" if card.reason else "learned",
        )
        for card in cards[:_SHOWN]
    ]
    if len(cards) > _SHOWN:
        rows.append((f"... and {len(cards) - _SHOWN} more", "", "", ""))
    title = "Classes (mean IoU in cross-validation)"
    return voice.table(title, ("class", "images", "IoU", ""), rows)
