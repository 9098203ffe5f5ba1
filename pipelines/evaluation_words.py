"""The last words of an evaluation."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from belvedere.pipelines import voice
from belvedere.pipelines.evaluation_results import Evaluation

_TOLD = 5  # refused classes


def lines(found: Evaluation) -> Iterator[str]:
    """What was judged, what was not, and why."""
    counts, document = found.metrics["counts"], found.document
    yield (
        f"{counts['classes']} classes, {counts['test_images']} images judged, "
        f"{counts['refused']} of refused classes, {counts['dead']} inputs unusable, "
        f"{counts['near_duplicates']} groups of near-duplicates kept together"
    )
    if document["protocol"]["models"]:
        yield f"{counts['seen']} images left out: the models were learned from them"
    if counts["left_out"]:
        yield (
            f"{counts['left_out']} images left out: a simpler method failed on them, "
            "the report says which"
        )
    labels = {verdict.label for verdict in found.verdicts}
    for method, lacking in found.dropped.items():
        yield (
            f"{method} is not compared: it could not be learned for {len(lacking)} of "
            f"{len(labels)} classes ({_first(lacking)}), the report says why"
        )
    refused = sorted(found.refused.items())
    for label, why in refused[:_TOLD]:
        yield f"refused: {label}: {why}"
    if len(refused) > _TOLD:
        yield f"refused: {len(refused) - _TOLD} more classes, the report names them"
    if counts["exams_resumed"]:
        yield (
            f"{counts['exams_resumed']} of {counts['exams']} exams were done before: "
            "seconds by stage are of the others alone"
        )


def _first(labels: list[str]) -> str:
    return ", ".join(labels[:_TOLD]) + (", ..." if len(labels) > _TOLD else "")


def hopeless(found: Evaluation) -> str:
    """Why nothing was judged at all."""
    images, seen = found.document["images"], found.metrics["counts"]["seen"]
    if seen == images:
        return f"all {images} boxed images were learned from by these models"
    return "no class could be judged: the lines above say why"


def table(metrics: dict[str, Any]) -> Table:
    """The methods, best known first, and how far each is behind the full one."""
    rows = []
    for name, of in metrics["methods"].items():
        low, mid, high = (
            metrics["paired"]
            .get(f"full-{name}", {})
            .get("mean_iou", (None, None, None))
        )
        behind = "" if mid is None else f"{mid:+.3f} [{low:+.3f}, {high:+.3f}]"
        figures = (of["mean_iou"], of["corloc"], of["returned_at_0.75"], of["auc"])
        rows.append((name, *(f"{figure:.3f}" for figure in figures), behind))
    title = "Methods on images not learned from"
    columns = ("method", "mean IoU", "CorLoc", "at .75", "AUC", "full minus it")
    return voice.table(title, columns, rows)
