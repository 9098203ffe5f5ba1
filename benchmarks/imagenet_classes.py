"""The classes of the paper's experiment, as nearly as they can be told today.

No list of its 219 classes is public. Chosen here: the classes that the paper shows,
where ILSVRC has them, and of the others with at least --least boxed pictures those
whose hashes are smallest, 219 in all. Reads what `belvedere plan` says:

  belvedere plan --images tars --boxes xml --log-format json |
    python benchmarks/imagenet_classes.py > classes.txt
"""

import argparse
import hashlib
import json
import sys

NAMED = {
    "n02484975": "guenon",
    "n02797295": "barrow",
    "n02445715": "skunk",
    "n02129604": "tiger",
    "n02910353": "buckle",
    "n04039381": "racket",
    "n03982430": "pool table, in place of pool cue",
    "n02799071": "baseball",
    "n02114367": "timber wolf",
}


def choose(boxed: dict[str, int], count: int, least: int) -> list[str]:
    """Names of classes, from how many boxed pictures each has."""
    enough = {name for name, images in boxed.items() if images >= least}
    named = sorted(enough & NAMED.keys())
    others = sorted(enough - NAMED.keys(), key=lambda name: (_lot(name), name))
    return sorted([*named, *others][:count])


def _lot(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=219)
    parser.add_argument("--least", type=int, default=300)
    options = parser.parse_args()
    plan = json.loads(sys.stdin.read().splitlines()[-1])
    boxed = {name: one["boxed"] for name, one in plan["classes"].items()}
    chosen = choose(boxed, options.count, options.least)
    if len(chosen) < options.count:
        enough = f"{len(chosen)} classes have {options.least} boxed pictures"
        raise SystemExit(f"{enough}, wanted {options.count}: say --count or --least")
    print(",".join(chosen))


if __name__ == "__main__":
    main()
