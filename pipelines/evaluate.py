"""`belvedere evaluate`: how good the boxes are, on images not learned from."""

import dataclasses
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
from rich.table import Table

from belvedere.core import archive, configuration
from belvedere.core.assessment import verdicts
from belvedere.core.assessment.verdicts import Verdict
from belvedere.core.configuration import Configuration
from belvedere.core.report.contents import Shown
from belvedere.pipelines import evaluation_page, launching, voice
from belvedere.pipelines.failures import Mistake, opening
from belvedere.pipelines.progress import Stage, Watch
from belvedere.pipelines.voice import Voice
from belvedere.transforms import (
    box_sources,
    model_store,
    selection,
    sources,
    stores,
)
from belvedere.transforms.commits import EVALUATIONS
from belvedere.transforms.conclude import Conclude
from belvedere.transforms.evaluate import EXAMS_PLANNED, IMAGES_PLANNED, Evaluate
from belvedere.transforms.lessons import Job
from belvedere.transforms.roles import Protocol
from belvedere.transforms.training_images import (
    BOXES,
    FAULTS,
    ZERO_BASED,
    ChooseTrainingImages,
    ListSlices,
)

KIND = "evaluate"
METRICS, REPORT = "metrics.json", "report.html"
STAGES = (
    Stage("Fingerprints", "fingerprint", None),
    Stage("Visual words", "words", None),
    Stage("Negatives", "negatives", None),
    Stage("Describing", "describe", IMAGES_PLANNED),
    Stage("Learning and judging", "exam", EXAMS_PLANNED, "exams"),
)
_MANY = 10**6  # images of a class, where no limit is given


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command was told.

    Attributes:
      protocol: who is judged on what.
      classes: only these are judged, if any are given; words and negatives come from
        all.
      limit: of the images of each class, drawn by lot.
      artefacts: where eyes and negatives are kept, by default in the work folder,
        for this run.
      boxes_rescale: whether boxes may be of a uniformly scaled copy of the picture.
    """

    images: tuple[str, ...]
    boxes: str
    output: str
    work: str
    protocol: Protocol
    configuration: Configuration
    images_format: str | None = None
    boxes_format: str | None = None
    classes: frozenset[str] = frozenset()
    limit: int | None = None
    artefacts: str | None = None
    workers: int = 1
    beam_options: Sequence[str] = ()
    watch: Watch = dataclasses.field(default_factory=Watch)
    boxes_rescale: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluation:
    """What came out: `metrics.json`, and what it was made from."""

    metrics: dict[str, Any]
    verdicts: list[Verdict]
    shown: list[Shown]
    document: dict[str, Any]


def main(options: Options) -> Evaluation:
    """Judges, and writes `metrics.json`, `split.csv` and `report.html`."""
    launching.must_wait(KIND, options.beam_options)
    if options.protocol.models is None:
        launching.require_torch(options.configuration)
    with opening():
        found = tuple(
            sources.detect(uri, options.images_format) for uri in options.images
        )
        boxes = box_sources.detect(options.boxes, options.boxes_format)
    launching.check_output(options.output, KIND)
    chosen = options.configuration
    run_id = launching.run_id()
    job = Job(
        _artefacts(options, run_id),
        options.work,
        chosen,
        run_id,
        launching.code_version(),
    )
    name = f"{EVALUATIONS}/{job.run_id}.json"
    about = {
        "run_id": job.run_id,
        "code_version": job.code_version,
        "config_id": configuration.digest(chosen),
        "configuration": configuration.flat(chosen),
        "protocol": options.protocol.document(),
        "images": [list(one) for one in found],
        "boxes": list(boxes),
    }

    def build(pipeline: beam.Pipeline) -> None:
        slices = pipeline | "List" >> ListSlices(found)
        every = slices | "Choose" >> ChooseTrainingImages(
            boxes, options.limit or _MANY, options.boxes_rescale
        )
        classes = every["classes"]
        if options.classes:
            classes |= "Classes" >> selection.RequireClasses(options.classes)
        judged = classes | "Evaluate" >> Evaluate(
            job, options.protocol, options.output, slices, options.classes
        )
        faults = (every[FAULTS], judged[FAULTS]) | "AllFaults" >> beam.Flatten()
        pipeline | "Conclude" >> Conclude(
            options.output,
            name,
            about,
            judged["judged"],
            faults,
            judged["duplicates"],
        )

    counts = launching.launch(
        build, options.beam_options, options.workers, STAGES, options.watch
    )
    seconds = {n: round(s.seconds, 3) for n, s in counts.stages.items() if s.seconds}
    zero_based = counts.counters.get(f"{BOXES}/{ZERO_BASED}", 0)
    return _concluded(options, name, seconds, zero_based)


def _artefacts(options: Options, run_id: str) -> str:
    """The store of eyes and negatives: of the models, or of this run alone.

    Another run may learn from other images. What they are made of is kept in the work
    folder, so that from the same images the same come out, quickly.
    """
    protocol, sight = options.protocol, options.configuration.sight
    if protocol.models is not None:
        if not stores.store_for(protocol.models).exists(model_store.eyes_name(sight)):
            raise Mistake(
                f"{protocol.models} was learned with other settings of `sight`, or "
                "holds no models: give the --config of the training"
            )
        return protocol.models
    return options.artefacts or f"{options.work.rstrip('/')}/artefacts-{run_id}"


def _concluded(
    options: Options, name: str, seconds: dict[str, float], zero_based: int
) -> Evaluation:
    store = stores.store_for(options.output)
    document = json.loads(store.read(name))
    judged = list(_read(store, document["judged"]))
    if not judged:
        raise Mistake(
            "there is nothing to judge on: check --boxes and --classes"
            + "".join(f"; {f[3]}" for f in document["first_faults"][:1])
        )
    found = [verdict for verdict, _ in judged]
    metrics = verdicts.metrics(found, np.random.default_rng(options.protocol.seed))
    metrics["counts"]["dead"] = document["faults"]
    metrics["counts"]["near_duplicates"] = len(document["near_duplicates"])
    metrics["counts"]["zero_based_sides"] = zero_based
    metrics["seconds"] = seconds
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


def command(options: Options, speaker: Voice) -> int:
    """Judges, and says what came out."""
    start = time.perf_counter()
    result = main(options)
    seconds = time.perf_counter() - start
    counts = result.metrics["counts"]
    folder = options.output.rstrip("/")
    speaker.say(
        {
            "command": KIND,
            "seconds": round(seconds, 3),
            **result.metrics,
            "output": folder,
        },
        *([table(result.metrics)] if result.metrics["methods"] else []),
        f"{counts['classes']} classes, {counts['test_images']} images judged, "
        f"{counts['refused']} of refused classes, {counts['dead']} inputs unusable, "
        f"{counts['near_duplicates']} groups of near-duplicates kept together",
        *voice.zero_based(counts["zero_based_sides"]),
        f"{voice.duration(seconds)}. Look at {folder}/{REPORT}",
    )
    return 0 if result.metrics["methods"] else 4


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
