"""What came out of an evaluation: read, added up, and written beside the verdicts."""

import collections
import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from belvedere.core import archive
from belvedere.core.assessment import verdicts
from belvedere.core.assessment.verdicts import Verdict
from belvedere.core.report.contents import Shown
from belvedere.pipelines import evaluation_page
from belvedere.pipelines.failures import Mistake
from belvedere.pipelines.launching import Counts
from belvedere.transforms import examiner, sitting, stores
from belvedere.transforms.training_images import BOXES, ZERO_BASED

METRICS, REPORT = "metrics.json", "report.html"


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation:
    """What came out: `metrics.json`, and what it was made from."""

    metrics: dict[str, Any]
    verdicts: list[Verdict]
    shown: list[Shown]
    document: dict[str, Any]

    @property
    def refused(self) -> dict[str, str]:
        """Why a class was not judged, or one of its folds."""
        return {v.label: v.refused for v in self.verdicts if v.refused}

    @property
    def dropped(self) -> dict[str, list[str]]:
        """Methods that are not compared, with the classes that lack them."""
        found: dict[str, list[str]] = {}
        for verdict in self.verdicts:
            for method in verdict.missing:
                labels = found.setdefault(method, [])
                labels += [verdict.label] if verdict.label not in labels else []
        return found


def conclude(output: str, name: str, seed: int, counts: Counts) -> Evaluation:
    """Writes `metrics.json` and `report.html` from a run's document.

    Args:
      output: the folder.
      name: of the document.
      seed: of the bootstrap.
      counts: how the run went.

    Raises:
      Mistake: there is no image with a box.
    """
    store = stores.store_for(output)
    document = json.loads(store.read(name))
    judged = list(_read(store, document["judged"]))
    if not judged:
        raise Mistake(
            "there is nothing to judge on: check --boxes and --classes"
            + "".join(f"; {f[3]}" for f in document["first_faults"][:1])
        )
    found = [verdict for verdict, _ in judged]
    metrics = verdicts.metrics(found, np.random.default_rng(seed))
    metrics["counts"] |= _counts(found, document, counts)
    metrics["seconds"] = _seconds(counts)
    shown = [one for _, pictures in judged for one in pictures]
    store.replace(METRICS, json.dumps(metrics, indent=1).encode())
    page = evaluation_page.render(metrics, found, shown, document)
    store.replace(REPORT, page.encode())
    return Evaluation(metrics, found, shown, document)


def _read(
    store: stores.Store, judged: list[str]
) -> Iterator[tuple[Verdict, tuple[Shown, ...]]]:
    contents = stores.read_many(store, judged)
    for name, data in zip(judged, contents, strict=True):
        if data is None:
            raise stores.MissingFile(f"{store.path(name)} is gone: run it again")
        content = archive.load(data, dict)
        yield content["verdict"], content["shown"]


def _counts(
    found: Sequence[Verdict], document: dict[str, Any], counts: Counts
) -> dict[str, int]:
    """What is counted besides the images that were judged."""
    failed, left_out = 0, 0
    for verdict in found:
        methods = collections.defaultdict(set)
        for image_id, method, _ in verdict.failed:
            methods[image_id].add(method)
        mine = [sitting.FULL in of for of in methods.values()]
        failed, left_out = failed + sum(mine), left_out + len(mine) - sum(mine)
    resumed = counts.stages.get(examiner.FOUND)
    return {
        "dead": document["faults"] + failed,
        "left_out": left_out,
        "seen": document["seen"],
        "near_duplicates": len(document["near_duplicates"]),
        "zero_based_sides": counts.counters.get(f"{BOXES}/{ZERO_BASED}", 0),
        "exams": len(document["judged"]),
        "exams_resumed": resumed.items if resumed else 0,
    }


def _seconds(counts: Counts) -> dict[str, float]:
    """By stage, each second once: what an exam consists of is not in it again."""
    spent = {n: s.seconds for n, s in counts.stages.items() if s.seconds}
    inside = sum(s for n, s in spent.items() if n == "judge" or n.startswith("learn"))
    if "exam" in spent:
        spent["exam"] = max(spent["exam"] - inside, 0.0)
    names = {"exam": "rest of the exams"}
    return {names.get(n, n): round(s, 3) for n, s in spent.items()}
