"""The options that commands share, and what they come to; nothing heavy at the top."""

import enum
import pathlib
import tomllib
from typing import TYPE_CHECKING, Annotated

import typer

from belvedere.pipelines import logs
from belvedere.pipelines.failures import Mistake, opening

if TYPE_CHECKING:
    from belvedere.core.configuration import Annotating, Configuration
    from belvedere.pipelines.voice import Voice

_PORTS = (
    "Worker processes on this machine. With more than one, Beam opens unprotected "
    "ports on all interfaces: not on an open network."
)


class LogFormat(enum.StrEnum):
    text = "text"
    json = "json"


class Preset(enum.StrEnum):
    classic = "classic"
    paper = "paper"


def _option(name: str, metavar: str, text: str) -> typer.models.OptionInfo:
    return typer.Option(f"--{name}", metavar=metavar, help=text, show_default=True)


Images = Annotated[
    list[str],
    _option("images", "SRC", "Folder of class folders, CSV list, tars; repeatable."),
]
Boxes = Annotated[str, _option("boxes", "SRC", "Human boxes: CSV, or VOC XML.")]
Unboxed = Annotated[
    str | None, _option("boxes", "SRC", "Leave images alone that have these boxes.")
]
Models = Annotated[str, _option("models", "DIR", "Where the models are.")]
Output = Annotated[str, _option("output", "DIR", "Where the output is.")]
Picture = Annotated[str | None, typer.Argument(metavar="PICTURE", help="One picture.")]
Old = Annotated[str, typer.Argument(metavar="OLD", help="An output.")]
New = Annotated[str, typer.Argument(metavar="NEW", help="Another, or the same.")]
_OF_MODELS = "Boxes by these models only; DIR@3: as of the third manifest."
ModelsOld = Annotated[str | None, _option("models-old", "DIR", _OF_MODELS)]
ModelsNew = Annotated[str | None, _option("models-new", "DIR", _OF_MODELS)]
MovedBelow = Annotated[
    float,
    typer.Option("--iou", metavar="IOU", min=0, max=1, help="Moved if below."),
]
ThePicture = Annotated[str, typer.Argument(metavar="PICTURE", help="One picture.")]
TheLabel = Annotated[str, _option("class", "NAME", "The class of PICTURE.")]
Page = Annotated[
    pathlib.Path | None, _option("output", "PAGE.html", "Write a page to look at.")
]
SomeModels = Annotated[
    str | None, _option("models", "DIR", "Judge these models, learn nothing.")
]
Holdout = Annotated[
    float | None,
    _option("holdout", "SHARE", "Judge on this share of each class, learn the rest."),
]
Folds = Annotated[
    int | None, _option("folds", "K", "Cross-validate: judge on each of K parts.")
]
Baselines = Annotated[
    bool,
    typer.Option("--baselines", help="Judge MKL-SVM, UVA and location alone, too."),
]
Label = Annotated[str | None, _option("class", "NAME", "The class of PICTURE.")]
Draw = Annotated[
    pathlib.Path | None,
    _option("draw", "OUT.png", "Write PICTURE with its box into this file."),
]
SomeImages = Annotated[
    list[str] | None,
    _option("images", "SRC", "Folder of class folders, CSV list, tars; repeatable."),
]
SomeOutput = Annotated[str | None, _option("output", "DIR", "Where the tables go.")]
Work = Annotated[
    str | None, _option("work", "DIR", "Scratch folder  [default: DIR-work].")
]
ImagesFormat = Annotated[
    str | None,
    _option("images-format", "NAME", "folders, csv, webdataset or imagenet."),
]
BoxesFormat = Annotated[str | None, _option("boxes-format", "NAME", "csv or voc.")]
BoxesRescale = Annotated[
    bool,
    typer.Option(
        "--boxes-rescale", help="Boxes may be of a larger or smaller copy, and say so."
    ),
]
PresetOption = Annotated[
    Preset,
    _option(
        "preset",
        "NAME",
        "classic or paper, both with 1024 and 512 visual words; the paper has 4000 and "
        "1000.",
    ),
]
Config = Annotated[
    pathlib.Path | None, _option("config", "FILE", "Settings in TOML, over the preset.")
]
ConfigAccept = Annotated[
    pathlib.Path | None, _option("config", "FILE", "TOML that holds `accept` alone.")
]
SetAccept = Annotated[
    list[str] | None, _option("set", "KEY=VALUE", "Takes `accept` alone.")
]
Set = Annotated[
    list[str] | None, _option("set", "KEY=VALUE", "One setting; repeatable.")
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        max=2**32 - 1,
        help="Same as --set method.seed=N.",
    ),
]
Accept = Annotated[
    float | None,
    typer.Option(
        "--accept",
        metavar="IOU",
        min=0,
        max=1,
        help="Accept boxes from this expected IoU on  [0.5].",
    ),
]
Classes = Annotated[
    str | None, _option("classes", "A,B", "These classes only, by name.")
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="At most N images per class."),
]
MaxDead = Annotated[
    float,
    typer.Option(
        "--max-dead",
        metavar="SHARE",
        min=0,
        max=1,
        help="Exit code 3 if more of the inputs fail.",
    ),
]
Workers = Annotated[
    int, typer.Option("--workers", metavar="N", min=1, help=_PORTS, show_default=True)
]
Log = Annotated[LogFormat, _option("log-format", "NAME", "text or json.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="Say nothing but warnings and errors.")
]


def speaker(
    log_format: LogFormat, quiet: bool, no_beam: typer.Context | None = None
) -> "Voice":
    """Sets up logging, before Beam is imported, and the voice of the command."""
    logs.configure(log_format == LogFormat.json)
    if no_beam is not None and no_beam.obj:
        raise Mistake("this command runs no pipeline: nothing may follow --")
    from belvedere.pipelines.voice import Voice

    return Voice(log_format == LogFormat.json, quiet)


def beam_options(context: typer.Context) -> tuple[str, ...]:
    """What stands behind `--`, but Mistake for what not all of a run would heed.

    Beam's file system reads what is on gs://; whatever is on s3:// or is written has
    clients of its own, which know the environment and not these options.
    """
    for option in context.obj:
        name = option.partition("=")[0]
        if name.startswith("--s3_"):
            raise Mistake(
                f"{name} would not be heeded: set AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID "
                "and their like for launcher and workers (see deploy/README.md)"
            )
        if name == "--impersonate_service_account":
            raise Mistake(
                f"{name} would hold for pictures, not for what is written: use `gcloud "
                "auth application-default login --impersonate-service-account=ACCOUNT`"
            )
    return context.obj


def configured(
    preset: str = Preset.classic,
    config: pathlib.Path | None = None,
    settings: list[str] | None = None,
    seed: int | None = None,
    accept: float | None = None,
    most_images: int | None = None,
) -> "Configuration":
    """The configuration that the options come to; Mistake if they cannot be meant."""
    from belvedere.core import configuration

    named = {"method.seed": seed, "accept": accept, "most_images": most_images}
    with opening():
        return configuration.resolve(
            str(preset),
            _toml(config) if config else None,
            [
                *(settings or ()),
                *(f"{k}={v}" for k, v in named.items() if v is not None),
            ],
        )


def configured_annotating(
    config: pathlib.Path | None, settings: list[str] | None, accept: float | None
) -> "Annotating":
    """Likewise, of a command that learns nothing."""
    from belvedere.core import configuration

    with opening():
        return configuration.resolve_annotating(
            _toml(config) if config else None,
            [*(settings or ()), *([] if accept is None else [f"accept={accept}"])],
        )


def _toml(file: pathlib.Path) -> dict:
    try:
        return tomllib.loads(file.read_text())
    except FileNotFoundError:
        raise Mistake(
            f"{file} does not exist: give --config an existing file"
        ) from None
    except (OSError, ValueError) as error:
        raise Mistake(f"{file} is no readable TOML file: {error}") from error


def names(classes: str | None) -> frozenset[str]:
    """The classes of a comma-separated list.

    >>> sorted(names("cat, dog"))
    ['cat', 'dog']
    """
    return frozenset(
        name.strip() for name in (classes or "").split(",") if name.strip()
    )
