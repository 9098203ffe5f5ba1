"""The command `belvedere`: each sub-command is a file of its own, imported on call.

Everything behind `--` goes to Beam untouched.
"""

import pathlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from belvedere.pipelines import logs
from belvedere.pipelines import options as o
from belvedere.pipelines.failures import Mistake, guarded, opening

if TYPE_CHECKING:
    from belvedere.pipelines.voice import Voice

app = typer.Typer(
    help="Puts object boxes on pictures, and says how good each one is in IoU.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_BEAM = "[OPTIONS] [-- BEAM OPTIONS]"


@app.command(options_metavar=_BEAM)
@guarded
def train(
    context: typer.Context,
    images: o.Images,
    boxes: o.Boxes,
    models: o.Models,
    work: o.Work = None,
    images_format: o.ImagesFormat = None,
    boxes_format: o.BoxesFormat = None,
    classes: o.Classes = None,
    limit: o.Limit = None,
    preset: o.PresetOption = o.Preset.classic,
    config: o.Config = None,
    settings: o.Set = None,
    seed: o.Seed = None,
    max_dead: o.MaxDead = 0.01,
    workers: o.Workers = 1,
    log_format: o.Log = o.LogFormat.text,
    quiet: o.Quiet = False,
) -> int:
    """Learns the classes from their images with boxes.

    A class that is known with these images and settings is kept.

    Example: belvedere train --images photos --boxes boxes.csv --models models
    """
    speaker = _speaker(log_format, quiet)
    from belvedere.pipelines import commands
    from belvedere.pipelines import train as command

    chosen = o.configured(preset, config, settings, seed, most_images=limit)
    told = command.Options(
        tuple(images),
        boxes,
        models,
        work or f"{models.rstrip('/')}-work",
        chosen,
        images_format,
        boxes_format,
        o.names(classes),
        workers,
        context.obj,
        speaker.watch,
    )
    return commands.train(told, speaker, max_dead)


@app.command(options_metavar=_BEAM)
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
    config: o.Config = None,
    settings: o.Set = None,
    max_dead: o.MaxDead = 0.01,
    workers: o.Workers = 1,
    log_format: o.Log = o.LogFormat.text,
    quiet: o.Quiet = False,
) -> int:
    """Puts a box on every image that is new, or on one PICTURE.

    Example: belvedere annotate --images photos --models models --output out

    Example: belvedere annotate cat.jpg --class cat --models models --draw box.png
    """
    speaker = _speaker(log_format, quiet)
    from belvedere.pipelines import annotate as command
    from belvedere.pipelines import commands
    from belvedere.pipelines import picture as alone

    chosen = o.configured(config=config, settings=settings, accept=accept)
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
        beam_options=context.obj,
        watch=speaker.watch,
    )
    return commands.annotate(told, speaker, max_dead)


@app.command(options_metavar=_BEAM)
@guarded
def run(
    context: typer.Context,
    images: o.Images,
    boxes: o.Boxes,
    output: o.Output,
    images_format: o.ImagesFormat = None,
    boxes_format: o.BoxesFormat = None,
    classes: o.Classes = None,
    limit: o.Limit = None,
    preset: o.PresetOption = o.Preset.classic,
    config: o.Config = None,
    settings: o.Set = None,
    seed: o.Seed = None,
    accept: o.Accept = None,
    max_dead: o.MaxDead = 0.01,
    workers: o.Workers = 1,
    log_format: o.Log = o.LogFormat.text,
    quiet: o.Quiet = False,
) -> int:
    """Learns from the images with boxes, then annotates the others.

    Models go to OUTPUT/models.

    Example: belvedere run --images photos --boxes boxes.csv --output out
    """
    speaker = _speaker(log_format, quiet)
    from belvedere.pipelines import run as command
    from belvedere.pipelines import train as training

    chosen = o.configured(preset, config, settings, seed, accept, limit)
    folder = output.rstrip("/")
    learning = training.Options(
        tuple(images),
        boxes,
        f"{folder}/models",
        f"{folder}/models-work",
        chosen,
        images_format,
        boxes_format,
        o.names(classes),
        workers,
        context.obj,
        speaker.watch,
    )
    return command.main(learning, output, limit, speaker, max_dead)


@app.command(options_metavar=_BEAM)
@guarded
def evaluate(
    context: typer.Context,
    images: o.Images,
    boxes: o.Boxes,
    output: o.Output,
    models: o.SomeModels = None,
    holdout: o.Holdout = None,
    folds: o.Folds = None,
    baselines: o.Baselines = False,
    work: o.Work = None,
    images_format: o.ImagesFormat = None,
    boxes_format: o.BoxesFormat = None,
    classes: o.Classes = None,
    limit: o.Limit = None,
    preset: o.PresetOption = o.Preset.classic,
    config: o.Config = None,
    settings: o.Set = None,
    seed: o.Seed = None,
    workers: o.Workers = 1,
    log_format: o.Log = o.LogFormat.text,
    quiet: o.Quiet = False,
) -> int:
    """Judges boxes on images not learned from; writes a report.

    Example: belvedere evaluate --images photos --boxes boxes.csv --holdout 0.35
    --output out --baselines
    """
    speaker = _speaker(log_format, quiet)
    from belvedere.pipelines import evaluate as command
    from belvedere.transforms.evaluate import Protocol

    with opening():
        protocol = Protocol(
            holdout, folds, models, seed=seed or 0, with_baselines=baselines
        )
    told = command.Options(
        tuple(images),
        boxes,
        output,
        work or f"{output.rstrip('/')}-work",
        protocol,
        o.configured(preset, config, settings, seed),
        images_format,
        boxes_format,
        o.names(classes),
        limit,
        workers=workers,
        beam_options=context.obj,
        watch=speaker.watch,
    )
    return command.command(told, speaker)


@app.command()
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
    speaker = _speaker(log_format, quiet, context)
    from belvedere.pipelines import report as command

    command.main(output, speaker)


@app.command()
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
    speaker = _speaker(log_format, quiet, context)
    from belvedere.pipelines import explain as command

    command.main(command.Options(picture, label, models, output), speaker)


@app.command(options_metavar=_BEAM)
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
    speaker = _speaker(log_format, quiet)
    from belvedere.pipelines import commands
    from belvedere.pipelines import retry as command

    told = command.Options(output, workers, context.obj, speaker.watch)
    return commands.retry(told, speaker, max_dead)


@app.command()
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
    speaker = _speaker(log_format, quiet, context)
    from belvedere.pipelines import verify as command

    return command.main(output, speaker)


@app.command()
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
    speaker = _speaker(log_format, False, context)
    from belvedere.pipelines import plan as command

    chosen = o.configured(preset, config, settings)
    told = command.Options(tuple(images), boxes, chosen, images_format, boxes_format)
    command.main(told, speaker)


@app.command()
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
    speaker = _speaker(log_format, quiet, context)
    from belvedere.pipelines import diff as command

    command.main(command.Options(old, new, models_old, models_new, iou), speaker)


@app.command()
@guarded
def schema(context: typer.Context, log_format: o.Log = o.LogFormat.text) -> None:
    """Prints the columns of the two tables of an output.

    Example: belvedere schema
    """
    speaker = _speaker(log_format, False, context)
    from belvedere.pipelines import schema as command

    command.main(speaker)


@app.command()
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
    speaker = _speaker(o.LogFormat.text, quiet, context)
    from belvedere.pipelines import demo as command

    told = command.Options(output, classes, images, tuple(settings or ()), workers)
    command.main(told, speaker)


def _speaker(
    log_format: o.LogFormat, quiet: bool, no_beam: typer.Context | None = None
) -> "Voice":
    """Sets up logging, before Beam is imported, and the voice of the command."""
    logs.configure(log_format == o.LogFormat.json)
    if no_beam is not None and no_beam.obj:
        raise Mistake("this command runs no pipeline: nothing may follow --")
    from belvedere.pipelines.voice import Voice

    return Voice(log_format == o.LogFormat.json, quiet)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    cut = given.index("--") if "--" in given else len(given)
    logs.configure()
    app(given[:cut], prog_name="belvedere", obj=tuple(given[cut + 1 :]))


if __name__ == "__main__":
    main()
