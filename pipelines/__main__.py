"""The command `belvedere`: each sub-command is a file of its own, imported on call."""

import pathlib
from typing import Annotated

import typer

app = typer.Typer(
    help="Puts object boxes on pictures, and says how good each one is in IoU.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _commands() -> None:
    """Makes typer keep sub-commands while there is only one."""


@app.command()
def demo(
    output: Annotated[
        pathlib.Path, typer.Option(help="Where the sheet and the summary go.")
    ] = pathlib.Path("out/demo"),
    classes: Annotated[int, typer.Option(min=2, max=8, help="Toy classes.")] = 3,
    images: Annotated[int, typer.Option(min=9, help="Pictures per class.")] = 36,
) -> None:
    """Draws a toy data set, learns its classes, localizes and shows the result.

    Example: belvedere demo --output out/demo
    """
    from belvedere.pipelines import demo as command

    command.main(output, classes, images)


def main() -> None:
    """Entry point of the command."""
    app()


if __name__ == "__main__":
    main()
