"""`belvedere evaluate`: how good the boxes are, on images not learned from."""

import dataclasses
import logging
import time
from collections.abc import Sequence

import apache_beam as beam

from belvedere.core import configuration
from belvedere.core.configuration import Configuration
from belvedere.pipelines import evaluation_results, failures, launching, voice
from belvedere.pipelines import evaluation_words as words
from belvedere.pipelines.evaluation_results import REPORT, Evaluation
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
from belvedere.transforms.evaluate import (
    EXAMS_PLANNED,
    IMAGES_PLANNED,
    Evaluate,
    is_of,
)
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.lessons import Job
from belvedere.transforms.roles import Protocol
from belvedere.transforms.training_images import (
    FAULTS,
    ChooseTrainingImages,
    ListSlices,
)

KIND = "evaluate"
STAGES = (
    Stage("Fingerprints", "fingerprint", None),
    Stage("Visual words", "words", None),
    Stage("Negatives", "negatives", None),
    Stage("Describing", "describe", IMAGES_PLANNED),
    Stage("Learning and judging", "exam", EXAMS_PLANNED, "exams"),
)
_MANY = 10**6  # images of a class, where no limit is given
_log = logging.getLogger("belvedere")


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
    run_id, protocol = launching.run_id(), _pinned(options.protocol)
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
        "protocol": protocol.document(),
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
            job, protocol, options.output, slices, options.classes
        )
        faults = (
            (every[FAULTS], judged[FAULTS])
            | "AllFaults" >> beam.Flatten()
            | "WantedFaults" >> beam.Filter(_concerns, options.classes)
        )
        pipeline | "Conclude" >> Conclude(
            options.output,
            name,
            about,
            judged["about"],
            judged["judged"],
            faults,
        )

    counts = launching.launch(
        build, options.beam_options, options.workers, STAGES, options.watch
    )
    return evaluation_results.conclude(
        options.output, name, options.protocol.seed, counts
    )


def _pinned(protocol: Protocol) -> Protocol:
    """Given models as they are now, whatever is trained meanwhile."""
    if protocol.models is None or protocol.models_number is not None:
        return protocol
    number = model_store.index(protocol.models).number
    return dataclasses.replace(protocol, models_number=number)


def _concerns(fault: InputFault, classes: frozenset[str]) -> bool:
    """Whether a fault is of the wanted classes, or of none that is known."""
    return not fault.label or is_of(fault.label, classes)


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


def command(options: Options, speaker: Voice, max_dead: float) -> int:
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
            "refused_classes": result.refused,
            "output": folder,
        },
        *([words.table(result.metrics)] if result.metrics["methods"] else []),
        *words.lines(result),
        *voice.zero_based(counts["zero_based_sides"]),
        f"{voice.duration(seconds)}. Look at {folder}/{REPORT}",
    )
    if not result.metrics["methods"]:
        _log.error(words.hopeless(result))
        return failures.REFUSED
    inputs = result.document["images"] + result.document["faults"]
    return failures.enough(counts["dead"], inputs, max_dead)
