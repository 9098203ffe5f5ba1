"""The commands that take no options of Beam, as they are typed; imported on call."""

import pathlib
from typing import Annotated

import typer

from belvedere.pipelines import options as o
from belvedere.pipelines.failures import guarded


@guarded
def report(
    context: typer.Context,
    output: o.Output,
    log_format: o.Log = o.LogFormat.text,
    quiet: o.Quiet = False,
) -> None:
    """Makes OUTPUT/report.html of an annotation run.

    Example: belvedere report --output out
    """
    speaker = o.speaker(log_format, quiet, context)
    from belvedere.pipelines import report as command

    command.main(output, speaker)


@guarded
def explain(
    context: typer.Context,
    picture: o.ThePicture,
    label: o.TheLabel,
    models: o.Models,
    output: o.Page = None,
    log_format: o.Log = o.LogFormat.text,
    quiet: o.Quiet = False,
) -> None:
    """Says why a box was chosen in PICTURE.

    Example: belvedere explain cat.jpg --class cat --models models --output why.html
    """
    speaker = o.speaker(log_format, quiet, context)
    from belvedere.pipelines import explain as command

    command.main(command.Options(picture, label, models, output), speaker)


@guarded
def verify(
    context: typer.Context,
    output: o.Output,
    log_format: o.Log = o.LogFormat.text,
    quiet: o.Quiet = False,
) -> int:
    """Checks counts, hashes and schemas of an output or of models.

    Exit code 5 if anything is wrong.

    Example: belvedere verify --output out
    """
    speaker = o.speaker(log_format, quiet, context)
    from belvedere.pipelines import verify as command

    return command.main(output, speaker)


@guarded
def plan(
    context: typer.Context,
    images: o.Images,
    boxes: o.Boxes,
    images_format: o.ImagesFormat = None,
    boxes_format: o.BoxesFormat = None,
    preset: o.PresetOption = o.Preset.classic,
    config: o.Config = None,
    settings: o.Set = None,
    log_format: o.Log = o.LogFormat.text,
) -> None:
    """Counts images and boxes, foresees refusals and time.

    No picture is opened.

    Example: belvedere plan --images photos --boxes boxes.csv
    """
    speaker = o.speaker(log_format, False, context)
    from belvedere.pipelines import plan as command

    chosen = o.configured(preset, config, settings)
    told = command.Options(tuple(images), boxes, chosen, images_format, boxes_format)
    command.main(told, speaker)


@guarded
def diff(
    context: typer.Context,
    old: o.Old,
    new: o.New,
    models_old: o.ModelsOld = None,
    models_new: o.ModelsNew = None,
    iou: o.MovedBelow = 0.9,
    log_format: o.Log = o.LogFormat.text,
    quiet: o.Quiet = False,
) -> None:
    """Lists the boxes that NEW put elsewhere, gained or withdrew.

    Example: belvedere diff out-before out-now
    """
    speaker = o.speaker(log_format, quiet, context)
    from belvedere.pipelines import diff as command

    command.main(command.Options(old, new, models_old, models_new, iou), speaker)


@guarded
def schema(context: typer.Context, log_format: o.Log = o.LogFormat.text) -> None:
    """Prints the columns of the two tables of an output.

    Example: belvedere schema
    """
    speaker = o.speaker(log_format, False, context)
    from belvedere.pipelines import schema as command

    command.main(speaker)


@guarded
def demo(
    context: typer.Context,
    output: Annotated[
        pathlib.Path, typer.Option(metavar="DIR", help="Where everything goes.")
    ] = pathlib.Path("out/demo"),
    classes: Annotated[int, typer.Option(min=2, max=8, help="Toy classes.")] = 3,
    images: Annotated[int, typer.Option(min=9, help="Pictures per class.")] = 36,
    settings: o.Set = None,
    workers: o.Workers = 1,
    quiet: o.Quiet = False,
) -> None:
    """Draws toy pictures, learns, annotates, shows the result.

    Example: belvedere demo --output out/demo
    """
    speaker = o.speaker(o.LogFormat.text, quiet, context)
    from belvedere.pipelines import demo as command

    told = command.Options(output, classes, images, tuple(settings or ()), workers)
    command.main(told, speaker)
