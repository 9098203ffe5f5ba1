"""What Google's template launcher runs: turns its flat flags into our command.

The launcher knows nothing of `--`: it gives the parameters of a template and Dataflow's
own options as one list of `--name=value`. Those that `belvedere COMMAND` knows stay in
front, `_` for `-` in their names; the rest goes behind `--`, to Beam.
"""

import sys
from collections.abc import Sequence

import typer

from belvedere.pipelines import __main__ as command_line

# The others have work left when their graph is done, which a template never sees.
COMMANDS = ("annotate", "train")
# What the service does not know of a template; see deploy/README.md for the reasons. In
# front, so that the same option among the parameters counts. Only service options add
# up: the longest time is left out where another is given.
_LONGEST = "max_workflow_runtime_walltime_seconds"
DEFAULTS = (
    "--number_of_worker_harness_threads=1",
    "--disk_size_gb=50",
    f"--dataflow_service_options={_LONGEST}=72000",
)
# The image has everything: nothing is staged, nothing of this file is pickled.
ALWAYS = (
    "--sdk_location=container",
    "--no_save_main_session",
    "--experiments=disable_logging_submission_environment",
)


def arranged(flags: Sequence[str]) -> list[str]:
    """The arguments of `belvedere`.

    >>> arranged(["--images=gs://b/in", "--project=p", "--max_dead=0.1"])[:3]
    ['annotate', '--images=gs://b/in', '--max-dead=0.1']
    """
    told = dict(flag.removeprefix("--").partition("=")[::2] for flag in flags)
    command = told.get("command", COMMANDS[0])
    if command not in COMMANDS:
        raise SystemExit(f"command {command!r} is none of {', '.join(COMMANDS)}")
    known = _options(command)
    ours, beams = [], []
    for flag in flags:
        name, equals, value = flag.removeprefix("--").partition("=")
        spelled = name.replace("_", "-")
        if name == "command" or (spelled in known and not value):
            continue  # an optional parameter that was left empty
        if spelled in known:
            ours.append(f"--{spelled}{equals}{value}")
        else:
            beams.append(flag)
    limited = any(_LONGEST in flag for flag in beams)
    defaults = [one for one in DEFAULTS if not (limited and _LONGEST in one)]
    return [command, *ours, "--log-format=json", "--", *defaults, *beams, *ALWAYS]


def _options(command: str) -> frozenset[str]:
    found = typer.main.get_command(command_line.app).commands[command]
    return frozenset(
        name.removeprefix("--") for option in found.params for name in option.opts
    )


if __name__ == "__main__":
    command_line.main(arranged(sys.argv[1:]))
