"""Nights over a million rows and 20,000 classes, without an image: what grows, and how.

  python benchmarks/scale.py --output out/bench-scale.json

Everything is the product's own code (the command `annotate`, its planner, sink and
log) but for `Localizer.row`, which draws a row instead of localizing. Measured:

- nights: runs over a growing folder of shards, then the finished one again;
- past: a night of fixed size after 10, 100, 365 nights: seconds, and how often the
  output was asked for anything;
- folders: planning where images are files in class folders;
- log: as many units as 14 million images have;
- models: an index of 20,000 classes, and the cache of models.

Each measurement is a process of its own. Only ratios and counts mean anything.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable

import scale_measures
import scale_show
import scale_world
from scale_meter import sizes

from belvedere.transforms import model_cache


@dataclasses.dataclass(frozen=True)
class Size:
    """How large the simulation is.

    Attributes:
      images: of each class, which is a shard.
      nights: shards that each night brings.
      past: after how many nights one is measured.
      per_night: shards of each of these.
      folders: classes of the two folders that are planned.
      log: units of the large log.
      models: how many are read through the cache.
    """

    images: int = 50
    nights: tuple[int, ...] = (2000, 14400, *[400] * 9)
    past: tuple[int, ...] = (10, 100, 365)
    per_night: int = 4
    folders: tuple[int, int] = (2000, 20_000)
    log: int = 218_750
    models: int = 64

    @property
    def classes(self) -> int:
        return sum(self.nights)


SMALL = Size(4, (5, 20, 5), (2, 12, 45), 1, (5, 20), 500, 18)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--small", action="store_true", help="in seconds, for a test")
    parser.add_argument("--folder", help="where to work, by default a temporary one")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(scale_measures.measured(json.loads(options.measure))))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        results = simulated(folder, SMALL if options.small else Size(), in_child)
    scale_show.show(results)
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(results, indent=1) + "\n")
        print(f"wrote {options.output}")


def in_child(told: dict) -> dict:
    """The measurement in a process of its own."""
    command = [sys.executable, __file__, "--measure", json.dumps(told)]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=os.environ)
    if done.returncode:
        raise SystemExit(f"{told} ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def simulated(folder: str, size: Size, run: Callable[[dict], dict]) -> dict:
    """All measurements, each by `run`."""
    home = pathlib.Path(folder)
    models = str(home / "models")
    scale_world.commit_models(models, range(size.classes - 1))  # one class has none
    results = {"size": dataclasses.asdict(size), "classes": size.classes}
    results["nights"] = _nights(home, models, size, run)
    results["past"] = _past(home, models, size, run)
    results["folders"] = [
        _folders(home, classes, size.images, run) for classes in size.folders
    ]
    results["log"] = run({"what": "log", "uri": str(home / "log"), "units": size.log})
    results["models"] = _models(home, models, size, run)
    return results


def _nights(home: pathlib.Path, models: str, size: Size, run: Callable) -> dict:
    shards, output = home / "shards", str(home / "output")
    night = {"what": "night", "images": str(shards), "models": models, "output": output}
    found, first = [], 0
    for count in size.nights:
        scale_world.write_shards(shards, range(first, first + count), size.images)
        first += count
        found.append(run(night))
    again = run(night)
    (home / "output" / "cuts").rename(home / "cuts")
    uncut = run(night)
    return {
        "nights": found,
        "again": again,
        "again without cuts": uncut,
        "read back": run({"what": "read", "output": output}),
        "verify": run({"what": "verify", "output": output}),
        "files": sizes(output),
    }


def _past(home: pathlib.Path, models: str, size: Size, run: Callable) -> list[dict]:
    shards, output = home / "past-shards", str(home / "past-output")
    told = {"images": str(shards), "models": models, "output": output}
    found, night = [], 0
    for nights in size.past:
        before = {"first": night, "last": nights, "per_night": size.per_night}
        run({"what": "past", **told, **before, "each": size.images})
        numbers = range(nights * size.per_night, (nights + 1) * size.per_night)
        scale_world.write_shards(shards, numbers, size.images)
        found.append({"nights": nights, **run({"what": "night", **told})})
        night = nights + 1
    return found


def _folders(home: pathlib.Path, classes: int, images: int, run: Callable) -> dict:
    folder = home / f"folders-{classes}"
    scale_world.write_folders(folder, range(classes), images)
    return {"images": classes * images, **run({"what": "plan", "images": str(folder)})}


def _models(home: pathlib.Path, models: str, size: Size, run: Callable) -> dict:
    found: dict = {"index": []}
    done = 0
    for trainings in size.past:  # each learns one class anew
        for number in range(done, trainings):
            scale_world.commit_models(models, [number % size.classes], number + 1)
        done = trainings
        found["index"].append(
            {"trainings": trainings, **run({"what": "index", "models": models})}
        )
    real = str(home / "real-models")
    ids, found["model_bytes"] = scale_world.write_models(real, size.models)
    few = dict(list(ids.items())[: model_cache.MODELS])
    for name, some in (("few", few), ("all", ids)):
        found[name] = run({"what": "cache", "models": real, "ids": some})
    return found


if __name__ == "__main__":
    main()
