"""The commands that run a pipeline: from their options to last words and exit code."""

import logging
import time

from belvedere.pipelines import annotate as annotating
from belvedere.pipelines import classes, failures, launching, voice
from belvedere.pipelines import retry as retrying
from belvedere.pipelines import train as training
from belvedere.pipelines.launching import Counts
from belvedere.pipelines.voice import Voice
from belvedere.transforms.annotate import DEAD
from belvedere.transforms.train import IMAGES_PLANNED, KIND
from belvedere.transforms.training_images import BOXES, ZERO_BASED

_log = logging.getLogger("belvedere")


def train(options: training.Options, speaker: Voice, max_dead: float) -> int:
    """Learns, shows the classes, and fails if there is not a single model."""
    start = time.perf_counter()
    counts = training.main(options)
    if launching.writes_template(options.beam_options):
        return _written("train", speaker)
    seconds = time.perf_counter() - start
    cards = classes.read(options.models)
    unusable = counts.counters.get(f"{KIND}/{training.UNUSABLE}", 0)
    zero_based = counts.counters.get(f"{BOXES}/{ZERO_BASED}", 0)
    speaker.say(
        {
            "command": "train",
            **voice.figures(counts, seconds),
            "unusable_inputs": unusable,
            "zero_based_sides": zero_based,
            "classes": [card.document() for card in cards],
            "models": options.models,
        },
        *([classes.table(cards)] if cards else []),
        f"{counts.tasks} classes in: {counts.annotated} learned, {counts.refused} "
        f"refused, {counts.already_done} already done",
        *voice.zero_based(zero_based),
        voice.timing(counts, seconds),
        f"models: {options.models}",
    )
    if unusable:
        _log.warning(
            "%d images or boxes could not be used: `belvedere plan` counts them, the "
            "manifest in %s/manifests says which and why",
            unusable,
            options.models,
        )
    if all(card.reason for card in cards):
        _log.error(_hopeless(options, bool(cards), unusable))
        return failures.REFUSED
    seen = counts.stages.get(IMAGES_PLANNED)
    return failures.enough(unusable, unusable + (seen.items if seen else 0), max_dead)


def _written(command: str, speaker: Voice) -> int:
    """All that can be said of a template: nothing has run yet."""
    speaker.say({"command": command, "template": True}, "the template is written")
    return failures.DONE


def _hopeless(options: training.Options, refused: bool, unusable: int) -> str:
    if refused:
        return "no class could be learned: the table says why"
    of = f" of {', '.join(sorted(options.classes))}" if options.classes else ""
    said = f"no class could be learned: no image{of} has a box"
    return f"{said}; {unusable} boxes or images are unusable" if unusable else said


def annotate(options: annotating.Options, speaker: Voice, max_dead: float) -> int:
    """Annotates, and says how the tasks ended."""
    start = time.perf_counter()
    counts = annotating.main(options)
    if launching.writes_template(options.beam_options):
        return _written("annotate", speaker)
    seconds = time.perf_counter() - start
    done = counts.tasks - counts.already_done
    speaker.say(
        {
            "command": "annotate",
            **voice.figures(counts, seconds),
            "images_per_second": round(done / seconds, 3),
            "dead_by_code": _by_code(counts),
            "output": options.output,
        },
        f"{counts.tasks} images in: {counts.annotated} annotated, {counts.refused} "
        f"refused for want of a model, {counts.dead} dead, {counts.already_done} "
        "already done",
        *_why_dead(counts, options.output),
        voice.timing(counts, seconds)
        + (f", {done / seconds:.1f} images/s" if done else ""),
        f"output: {options.output}",
    )
    if not counts.tasks:
        _log.warning("there was nothing to annotate: check --images and --classes")
    return failures.enough(counts.dead, done, max_dead)


def _by_code(counts: Counts) -> dict[str, int]:
    return {
        name.removeprefix(f"{DEAD}/"): count
        for name, count in sorted(counts.counters.items())
        if name.startswith(f"{DEAD}/") and count
    }


def _why_dead(counts: Counts, output: str) -> list[str]:
    codes = ", ".join(f"{count} {code}" for code, count in _by_code(counts).items())
    again = f"belvedere retry --output {output}"
    return [f"dead: {codes}; to try them again: {again}"] if counts.dead else []


def retry(options: retrying.Options, speaker: Voice, max_dead: float) -> int:
    """Tries dead letters again, and says what is left of them."""
    start = time.perf_counter()
    outcome = retrying.main(options)
    seconds = time.perf_counter() - start
    document = {
        "command": "retry",
        "tried": outcome.tried,
        "dead": outcome.dead,
        "not_in_the_input": outcome.gone,
        "tasks": outcome.tasks,
        "seconds": round(seconds, 3),
        "output": options.output,
    }
    lines = [
        f"{outcome.tried} dead letters: "
        f"{outcome.tried - outcome.dead - outcome.gone} are no longer dead, "
        f"{outcome.dead} still are, of {outcome.tasks} images in all",
        f"{seconds:.1f} s, output: {options.output}",
    ]
    if outcome.gone:
        lines.insert(
            1,
            f"{outcome.gone} could not be tried: the picture is gone, or what was a "
            "folder or tar that cannot be read is now known picture by picture",
        )
    speaker.say(document, *lines)
    return failures.enough(outcome.dead, outcome.tasks, max_dead)
