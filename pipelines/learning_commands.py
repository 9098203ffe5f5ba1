"""`belvedere train`, `run` and `evaluate` as they are typed; imported on call."""

import typer

from belvedere.pipelines import options as o
from belvedere.pipelines.failures import guarded, opening


@guarded
def train(
    context: typer.Context,
    images: o.Images,
    boxes: o.Boxes,
    models: o.Models,
    work: o.Work = None,
    images_format: o.ImagesFormat = None,
    boxes_format: o.BoxesFormat = None,
    boxes_rescale: o.BoxesRescale = False,
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
    speaker = o.speaker(log_format, quiet)
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
        o.beam_options(context),
        speaker.watch,
        boxes_rescale,
    )
    return commands.train(told, speaker, max_dead)


@guarded
def run(
    context: typer.Context,
    images: o.Images,
    boxes: o.Boxes,
    output: o.Output,
    images_format: o.ImagesFormat = None,
    boxes_format: o.BoxesFormat = None,
    boxes_rescale: o.BoxesRescale = False,
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
    speaker = o.speaker(log_format, quiet)
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
        o.beam_options(context),
        speaker.watch,
        boxes_rescale,
    )
    return command.main(learning, output, limit, speaker, max_dead)


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
    boxes_rescale: o.BoxesRescale = False,
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
    """Judges boxes on images not learned from; writes a report.

    Example: belvedere evaluate --images photos --boxes boxes.csv --holdout 0.35
    --output out --baselines
    """
    speaker = o.speaker(log_format, quiet)
    from belvedere.pipelines import evaluate as command
    from belvedere.transforms.roles import Protocol

    chosen = o.configured(preset, config, settings, seed)
    with opening():
        protocol = Protocol(
            holdout,
            folds,
            models,
            seed=chosen.method.seed,
            with_baselines=baselines,
        )
    told = command.Options(
        tuple(images),
        boxes,
        output,
        work or f"{output.rstrip('/')}-work",
        protocol,
        chosen,
        images_format,
        boxes_format,
        o.names(classes),
        limit,
        workers=workers,
        beam_options=o.beam_options(context),
        watch=speaker.watch,
        boxes_rescale=boxes_rescale,
    )
    return command.command(told, speaker, max_dead)
