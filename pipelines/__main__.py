"""The command `belvedere`: what it is made of, in the order of its help.

A sub-command is declared in one of three files and done in a file of its own, which is
imported on call. Everything behind `--` goes to Beam untouched.
"""

import sys
from collections.abc import Sequence

import typer

from belvedere.pipelines import (
    annotating_commands,
    learning_commands,
    logs,
    looking_commands,
)

app = typer.Typer(
    help="Puts object boxes on pictures, and says how good each one is in IoU.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_with_beam = app.command(options_metavar="[OPTIONS] [-- BEAM OPTIONS]")
_alone = app.command()
_with_beam(learning_commands.train)
_with_beam(annotating_commands.annotate)
_with_beam(learning_commands.run)
_with_beam(learning_commands.evaluate)
_alone(looking_commands.report)
_alone(looking_commands.explain)
_with_beam(annotating_commands.retry)
_alone(looking_commands.verify)
_alone(looking_commands.plan)
_alone(looking_commands.diff)
_alone(looking_commands.schema)
_alone(looking_commands.demo)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    cut = given.index("--") if "--" in given else len(given)
    logs.configure()
    app(given[:cut], prog_name="belvedere", obj=tuple(given[cut + 1 :]))


if __name__ == "__main__":
    main()
