"""`belvedere run`: learns from the images with boxes, annotates the others, reports."""

from belvedere.pipelines import annotate, commands, failures, launching, report, train
from belvedere.pipelines.voice import Voice
from belvedere.transforms import commits, stores


def main(
    learning: train.Options,
    output: str,
    limit: int | None,
    speaker: Voice,
    max_dead: float,
) -> int:
    """Trains as told, then annotates what has no box, with the models and settings."""
    launching.must_wait("run", learning.beam_options)
    trained = commands.train(learning, speaker, max_dead)
    if trained not in (failures.DONE, failures.TOO_MANY_DEAD):
        return trained
    annotated = commands.annotate(
        annotate.Options(
            learning.images,
            learning.models,
            output,
            learning.configuration.annotating,
            learning.images_format,
            learning.boxes,
            learning.boxes_format,
            learning.classes,
            limit,
            workers=learning.workers,
            beam_options=learning.beam_options,
            watch=learning.watch,
        ),
        speaker,
        max_dead,
    )
    if commits.Log(stores.store_for(output)).number:  # there was something to annotate
        report.main(output, speaker)
    return annotated or trained
