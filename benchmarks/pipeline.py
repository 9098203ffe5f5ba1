"""What the pipelines cost beside the method itself: time, processes, memory.

Toy pictures on disk, one thread per process. Each measurement is a process of its own.
Start-up is what the same command takes once everything is done. Only the ratios within
a run mean anything.

  python benchmarks/pipeline.py --images 63 --classes 8 --output out/bench-pipeline.json
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from rich.console import Console
from rich.table import Table

from belvedere.core import configuration
from belvedere.core.synthetic import scenes
from belvedere.pipelines import toy_data

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
WANTED = {
    "overhead of annotate": "at most 1.15",
    "overhead of train": "at most 1.15",
    "speed of two processes, annotate": "at least 1.6",
    "speed of two processes, train": "at least 1.6",
    "memory of annotate, large job over small": "at most 1.10",
    "memory of the launcher of two processes": "at most 1.10",
    "memory of a worker of two processes": "at most 1.10",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--images", type=int, default=63, help="per class")
    parser.add_argument("--classes", type=int, default=8)
    parser.add_argument(
        "--job",
        type=int,
        default=250,
        help="images per class to annotate, with two processes and for memory",
    )
    parser.add_argument("--boxed", type=float, default=0.5, help="share with boxes")
    parser.add_argument("--set", action="append", default=[], help="a setting")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure(json.loads(options.measure))))
        return
    with tempfile.TemporaryDirectory() as folder:
        results = _all(pathlib.Path(folder), options)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(results, indent=1) + "\n")
    _show(results)
    print(f"wrote {options.output}")


def _all(folder: pathlib.Path, options: argparse.Namespace) -> dict:
    worlds = {"small": options.images, "large": options.job}
    for name, images in worlds.items():
        boxed = round(images * options.boxed)
        labels = scenes.CLASSES[: options.classes]
        toy_data.write(folder / name, labels, boxed, images - boxed)

    def child(
        what: str, world: str, run: str, workers: int = 1, models: str = "models"
    ) -> dict:
        told = {"what": what, "set": options.set, "world": str(folder / world)}
        told |= {"models": str(folder / models), "out": str(folder / run)}
        told["workers"] = workers
        command = [sys.executable, __file__, "--output", "-", "--measure"]
        environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
        start = time.perf_counter()
        done = subprocess.run(
            [*command, json.dumps(told)], env=environment, stdout=subprocess.PIPE
        )
        if done.returncode:
            raise SystemExit(f"{what} ended with {done.returncode}: {told}")
        found = json.loads(done.stdout.splitlines()[-1])
        return found | {"process_seconds": time.perf_counter() - start}

    results: dict = {"images": worlds, "classes": options.classes}
    results["views"] = child("views", "small", "views")
    results["beside a loop"] = child("beside", "small", "beside", 1, "beside-models")
    jobs = (
        ("train", "small", 1),
        ("annotate", "small", 1),
        ("train", "small", 2),
        ("annotate", "small", 2),
        ("annotate", "large", 1),
        ("annotate", "large", 2),
    )
    for what, world, workers in jobs:
        models = f"models-{workers if what == 'train' else 1}"
        results[f"{what} {world} {workers}"] = {
            turn: child(what, world, f"{what}-{world}-{workers}", workers, models)
            for turn in ("first", "again")
        }
    return results | {"ratios": _ratios(results)}


def _ratios(results: dict) -> dict[str, float]:
    def beyond(run: str) -> float:
        return results[run]["first"]["seconds"] - results[run]["again"]["seconds"]

    beside = results["beside a loop"]
    ratios = {
        f"overhead of {what}": beside[what]["beam"] / beside[what]["loop"]
        for what in ("annotate", "train")
    }
    for what, world in (("annotate", "large"), ("train", "small")):
        one, two = (beyond(f"{what} {world} {workers}") for workers in (1, 2))
        ratios[f"speed of two processes, {what}"] = one / two
    memory = {
        "memory of annotate, large job over small": ("launcher_mb", 1),
        "memory of the launcher of two processes": ("launcher_mb", 2),
        "memory of a worker of two processes": ("children_mb", 2),
    }
    for name, (whose, workers) in memory.items():
        large, small = (
            results[f"annotate {world} {workers}"]["first"][whose]
            for world in ("large", "small")
        )
        ratios[name] = large / small
    return ratios


def _measure(told: dict) -> dict:
    """In a process of its own: runs one thing and says what it took."""
    chosen = configuration.resolve("classic", None, told["set"])
    measured = {"views": _views, "beside": _beside}.get(told["what"], _command)
    result = measured(told, chosen)
    own, children = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return result | {"launcher_mb": own, "children_mb": children}


def _main_and_options(what: str, told: dict, chosen: configuration.Configuration):
    from belvedere.pipelines import annotate, train

    images, workers = (f"{told['world']}/images",), told.get("workers", 1)
    if what == "annotate":
        return annotate.main, annotate.Options(
            images, told["models"], told["out"], chosen.annotating, workers=workers
        )
    work = f"{told['models']}-work"
    return train.main, train.Options(
        images,
        f"{told['world']}/boxes.csv",
        told["models"],
        work,
        chosen,
        workers=workers,
    )


def _command(told: dict, chosen: configuration.Configuration) -> dict:
    main_, options = _main_and_options(told["what"], told, chosen)
    start, cpu = time.perf_counter(), time.process_time()
    counts = main_(options)
    stages = {name: [s.items, s.seconds] for name, s in counts.stages.items()}
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "tasks": counts.tasks,
        "stages": stages,
    }


def _views(told: dict, chosen: configuration.Configuration) -> dict:
    """A view made, against the same view kept and read again."""
    import plain_loop

    from belvedere.core import archive, sight

    loop = plain_loop.Loop(pathlib.Path(told["world"]), chosen)
    names = loop.boxed[:20]
    loop.see(names[:2])
    seconds = {"make": 0.0, "write": 0.0, "read": 0.0}
    sizes = []
    for name in names:
        image = loop.image(name)
        made, seconds["make"] = _timed(sight.look, seconds["make"], image, loop.eyes)
        data, seconds["write"] = _timed(archive.dump, seconds["write"], made)
        _, seconds["read"] = _timed(archive.load, seconds["read"], data, sight.View)
        sizes.append(len(data))
    each = {f"{key}_ms": 1e3 * value / len(names) for key, value in seconds.items()}
    return each | {"kilobytes": sum(sizes) / len(sizes) / 1e3}


def _timed(function, before: float, *arguments: object) -> tuple:
    start = time.perf_counter()
    value = function(*arguments)
    return value, before + time.perf_counter() - start


def _beside(told: dict, chosen: configuration.Configuration) -> dict:
    """Each command beyond its start-up, and a plain loop, in one warm process."""
    import plain_loop

    from belvedere.transforms import workers

    workers.prepare_trainer(chosen.method.gp.needs_torch)
    world = pathlib.Path(told["world"])
    few = plain_loop.Loop(world, chosen, every=8)
    few.train(), few.annotate()  # compiled code is loaded
    loop = plain_loop.Loop(world, chosen)
    result = {}
    for what, plain in (("train", loop.train), ("annotate", loop.annotate)):
        main_, options = _main_and_options(what, told, chosen)
        if what == "annotate":
            shutil.rmtree(told["out"], ignore_errors=True)
        times = [_timed(main_, 0.0, options)[1] for _ in range(2)]
        result[what] = {
            "beam": times[0] - times[1],
            "start_up": times[1],
            "loop": _timed(plain, 0.0)[1],
        }
    return result


def _show(results: dict) -> None:
    console = Console()
    pictures = results["images"]["small"] * results["classes"]
    table = Table(title=f"Seconds by stage, {pictures} pictures, one process")
    for column in ("command", "stage", "items", "seconds", "items per second"):
        table.add_column(
            column, justify="left" if column in ("command", "stage") else "right"
        )
    for what in ("train", "annotate"):
        found = results[f"{what} small 1"]["first"]
        for stage, (items, seconds) in found["stages"].items():
            rate = f"{items / seconds:.1f}" if seconds else ""
            table.add_row(what, stage, str(items), f"{seconds:.1f}", rate)
        rate = f"{pictures / found['seconds']:.2f}"
        table.add_row(what, "all", "", f"{found['seconds']:.1f}", rate)
    console.print(table)
    table = Table(title="Ratios")
    for column in ("", "measured", "wanted"):
        table.add_column(column)
    for name, value in results["ratios"].items():
        table.add_row(name, f"{value:.2f}", WANTED.get(name, ""))
    console.print(table)
    table = Table(title="Jobs")
    for column in ("job, processes", "s", "s again", "launcher MB", "worker MB"):
        table.add_column(column)
    for name, found in results.items():
        if isinstance(found, dict) and "first" in found:
            first, again = found["first"], found["again"]
            seconds = (f"{one['seconds']:.0f}" for one in (first, again))
            sizes = (f"{first[k]:.0f}" for k in ("launcher_mb", "children_mb"))
            table.add_row(name, *seconds, *sizes)
    console.print(table)
    views = results["views"]
    console.print(
        "A view: {make_ms:.0f} ms to make, {read_ms:.1f} ms to read, {write_ms:.1f} ms "
        "to write, {kilobytes:.0f} kB".format(**views)
    )


if __name__ == "__main__":
    main()
