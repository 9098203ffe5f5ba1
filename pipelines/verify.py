"""`belvedere verify`: checks all that the log of an output, or of models, lists."""

import dataclasses

from belvedere.pipelines import failures
from belvedere.pipelines.failures import Mistake
from belvedere.pipelines.voice import Voice
from belvedere.transforms import stores, verification

_SHOWN = 50


def main(output: str, speaker: Voice) -> int:
    """Tells what is wrong; exit code 5 if anything is."""
    with failures.opening():
        store = stores.store_for(output)
    report = verification.verify(store)
    if not (report.manifests or report.problems or report.unlisted):
        raise Mistake(f"{store.uri} holds no output of belvedere: check --output")
    old = [file for file in report.unlisted if file.collectable]
    counts = report.counts
    lines = [
        f"{problem.file}: {problem.code}, {problem.message}"
        for problem in report.problems[:_SHOWN]
    ]
    if len(report.problems) > _SHOWN:
        lines.append(f"... and {len(report.problems) - _SHOWN} more problems")
    lines += [
        f"{store.uri}: {report.manifests} manifests, {report.units} work units, "
        f"{report.files} files: {len(report.problems)} problems",
        f"{counts.annotated} annotated, {counts.refused} refused, {counts.dead} dead "
        "(a task that was done twice counts twice)",
        f"{len(report.unlisted)} files are in no manifest: {report.waiting} records "
        f"that the next run commits, {len(old)} older than a week that can be deleted",
    ]
    document = {
        "output": store.uri,
        "sound": report.sound,
        "manifests": report.manifests,
        "units": report.units,
        "files": report.files,
        **dataclasses.asdict(counts),
        "problems": [dataclasses.asdict(problem) for problem in report.problems],
        "waiting": report.waiting,
        "collectable": [file.name for file in old],
    }
    speaker.say(document, *lines)
    return failures.DONE if report.sound else failures.CONFLICT
