"""`belvedere annotate` and `retry` as they are typed; imported on call."""

import typer

from belvedere.pipelines import options as o
from belvedere.pipelines.failures import Mistake, guarded


@guarded
def annotate(
    context: typer.Context,
    models: o.Models,
    picture: o.Picture = None,
    label: o.Label = None,
    draw: o.Draw = None,
    images: o.SomeImages = None,
    output: o.SomeOutput = None,
    boxes: o.Unboxed = None,
    images_format: o.ImagesFormat = None,
    boxes_format: o.BoxesFormat = None,
    classes: o.Classes = None,
    limit: o.Limit = None,
    accept: o.Accept = None,
    config: o.ConfigAccept = None,
    settings: o.SetAccept = None,
    max_dead: o.MaxDead = 0.01,
    workers: o.Workers = 1,
    log_format: o.Log = o.LogFormat.text,
    quiet: o.Quiet = False,
) -> int:
    """Puts a box on every image that is new, or on one PICTURE.

    Example: belvedere annotate --images photos --models models --output out

    Example: belvedere annotate cat.jpg --class cat --models models --draw box.png
    """
    speaker = o.speaker(log_format, quiet)
    from belvedere.pipelines import annotate as command
    from belvedere.pipelines import commands
    from belvedere.pipelines import picture as alone

    chosen = o.configured_annotating(config, settings, accept)
    if picture:
        if not label or images or output:
            raise Mistake("one PICTURE takes --class and neither --images nor --output")
        alone.main(alone.Options(picture, label, models, chosen, draw), speaker)
        return 0
    if not (images and output) or label or draw:
        raise Mistake("give --images and --output, or one PICTURE and its --class")
    told = command.Options(
        tuple(images),
        models,
        output,
        chosen,
        images_format,
        boxes,
        boxes_format,
        o.names(classes),
        limit,
        workers=workers,
        beam_options=o.beam_options(context),
        watch=speaker.watch,
    )
    return commands.annotate(told, speaker, max_dead)


@guarded
def retry(
    context: typer.Context,
    output: o.Output,
    max_dead: o.MaxDead = 0.01,
    workers: o.Workers = 1,
    log_format: o.Log = o.LogFormat.text,
    quiet: o.Quiet = False,
) -> int:
    """Tries the dead letters of an output again, and only those.

    Example: belvedere retry --output out
    """
    speaker = o.speaker(log_format, quiet)
    from belvedere.pipelines import commands
    from belvedere.pipelines import retry as command

    told = command.Options(output, workers, o.beam_options(context), speaker.watch)
    return commands.retry(told, speaker, max_dead)
