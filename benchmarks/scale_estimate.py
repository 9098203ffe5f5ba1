"""What 92K images of 219 classes, and 14 million of 20,000, would cost: docs/scale.md.

  python benchmarks/scale_estimate.py          prints the tables
  python benchmarks/scale_estimate.py --write  puts them into docs/scale.md

Times and sizes are those of docs/results.md and docs/imagenet.md; `ASSUMED` is not
measured. Appearance and context were measured on one size of class each. Appearance
grows with the images of a class linearly at least and quadratically at most, context
not at all or linearly: that gives the ranges.
"""

import argparse
import dataclasses
import math
import pathlib
import re

from belvedere.transforms import commits

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- benchmarks/scale_estimate.py -->", "<!-- until here -->"
ASSUMED = {
    "bytes of a picture": 110_000,
    "share of a core that works": 0.6,
    "vCPUs": 80,
    "minutes until a worker works": 5,
    "$ a vCPU hour, 4 GB included": 0.056 + 4 * 0.0036,
    "$ for 1000 creations": 0.005,
    "$ for 1000 reads": 0.0004,
}
IN_SLICE, VIEW, TABLE = 64, 700_000, 110_000  # tests/pipelines/test_budget.py
SLICE, NAME, ENTRY, STEP = 40, 500, 1000, 2000  # bytes that travel at most, likewise
STAGES = (
    "decode",
    "windows in all",
    "descriptors",
    "words",
    "reading windows and embedding",
    "Gaussian process",
    "kernel matrix",
    "exact inference, with runner-up",
    "**whole picture**",
)


@dataclasses.dataclass(frozen=True)
class Case:
    """A job; `learned` images with boxes of each class, `tars` of one class each."""

    images: int
    classes: int
    learned: int

    @property
    def name(self) -> str:
        return f"{self.images:,} / {self.classes:,}"

    @property
    def units(self) -> int:
        return self.classes * math.ceil(self.images / self.classes / IN_SLICE)


CASES = (Case(92_000, 219, 274), Case(14_000_000, 20_000, 100))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    text = tables(
        (ROOT / "docs" / "results.md").read_text(),
        (ROOT / "docs" / "imagenet.md").read_text(),
    )
    if not parser.parse_args().write:
        print(text)
        return
    page = ROOT / "docs" / "scale.md"
    before, after = page.read_text().split(BEGIN)[0], page.read_text().split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def tables(results: str, imagenet: str) -> str:
    """The tables as Markdown, from the texts of the two documents."""
    parts = (annotating(results), training(results, imagenet), traffic(results))
    return "\n\n".join((*parts, files(results), money(results, imagenet)))


def figure(text: str, pattern: str) -> float:
    """The number that a document states; ValueError if it does not."""
    found = re.search(pattern, text)
    if not found:
        raise ValueError(f"no figure {pattern!r} in the document")
    return float(found[1].replace(",", ""))


def stage(results: str, name: str) -> float:
    """Milliseconds of a stage of annotating."""
    return figure(results, rf"\| {re.escape(name)} \| \**([\d.]+)")


def kept(results: str, name: str) -> float:
    """Bytes, from the table of the simulation."""
    return figure(results, rf"\| {re.escape(name)} \| ([\d,]+) bytes")


def annotating(results: str) -> str:
    rows = []
    for name in STAGES:
        ms = stage(results, name)
        hours = (f"{case.images * ms / 3.6e6:,.1f}" for case in CASES)
        rows.append((name, f"{ms:g}", *hours))
    return _table("annotating, core hours", "ms a picture", rows=rows)


def training_seconds(results: str, imagenet: str, n: int) -> dict[str, list[float]]:
    """Seconds of a class of `n` images by stage, at least and at most."""
    describe, appearance, table = (
        figure(imagenet, pattern)
        for pattern in (
            r"([\d.]+) s to describe a picture",
            r"([\d.]+) s a training picture\s+for appearance",
            r"([\d.]+) s for its table",
        )
    )
    context = figure(results, r"context (\d+) s") / 8
    wide, narrow = n / 80, n / 32  # times the classes that were measured
    return {
        "views": [describe * n] * 2,
        "appearance": sorted(80 * appearance * wide**power for power in (1, 2)),
        "tables": [table * n] * 2,
        "context": sorted(context * narrow**power for power in (0, 1)),
    }


def training(results: str, imagenet: str) -> str:
    found = [training_seconds(results, imagenet, case.learned) for case in CASES]
    hours = [
        {name: [s * case.classes / 3600 for s in both] for name, both in one.items()}
        for case, one in zip(CASES, found, strict=True)
    ]
    rows = [
        (name, "", *(_range(one[name], ",.1f") for one in hours)) for name in found[0]
    ]
    sums = [[sum(part) for part in zip(*one.values(), strict=True)] for one in hours]
    rows.append(("**all**", "", *(_range(both, ",.0f") for both in sums)))
    learned = (f"{case.learned} of each class" for case in CASES)
    rows.insert(0, ("images with boxes", "", *learned))
    return _table("training, core hours", "", rows=rows)


def traffic(results: str) -> str:
    picture, model = ASSUMED["bytes of a picture"], kept(results, "a model")
    row, record, cut = (
        kept(results, name)
        for name in ("a row of annotations", "a record", "the cuts of a tar")
    )
    lines = {
        "read to cut tars, the first time": lambda c: picture * c.images,
        "pictures read": lambda c: picture * c.images,
        "models read, at most": lambda c: model * c.units,
        "the same, where every slice mixes all classes": lambda c: model * c.images,
        "rows written": lambda c: row * c.images,
        "records and cuts written": lambda c: record * c.units + cut * c.classes,
        "annotating: shuffled, tars, at most": lambda c: (
            2 * ENTRY * c.units  # the slice and the entry
        ),
        "annotating: shuffled, class folders, at most": lambda c: (
            SLICE * c.images + ENTRY * c.units
        ),
        "training: shuffled to find images with boxes, at most": lambda c: (
            2 * NAME * c.images
        ),
        "training: shuffled in each of four steps, at most": lambda c: (
            STEP * c.learned * c.classes
        ),
        "training: work folder, at most": lambda c: (
            (VIEW + TABLE) * c.learned * c.classes
        ),
    }
    rows = [
        (name, "", *(_bytes(of(case)) for case in CASES)) for name, of in lines.items()
    ]
    return _table("bytes", "", rows=rows)


def files(results: str) -> str:
    entry, summed, model, row = (
        kept(results, what)
        for what in (
            "a unit in a manifest",
            "a unit in a summary",
            "a model",
            "a row of annotations",
        )
    )
    cut, uncut, folders = (
        figure(results, rf"\| {what} \| ([\d.]+) s")
        for what in (
            "planning a million images in tars, all known[^|]*",
            "the same when no tar has been cut yet",
            "planning a million files in 20,000 class folders",
        )
    )
    most, name = commits.MAX_UNITS, 19  # a model's id in a list of JSON
    lines = {
        "work units = files of rows = records": lambda c: f"{c.units:,}",
        "size of a file of rows": lambda c: _bytes(row * c.images / c.units),
        "files of cuts": lambda c: f"{c.classes:,} tars",
        "manifests of the first run": lambda c: str(math.ceil(c.units / most)),
        "size of the largest": lambda c: _bytes(
            entry * min(c.units, most) + name * c.classes
        ),
        "manifest of a night with 14,000 images": lambda c: _bytes(
            entry * 14_000 / IN_SLICE + name * c.classes
        ),
        "the summary that a worker reads": lambda c: _bytes(summed * c.units),
        "names listed each night, tars": lambda c: f"{c.classes:,}",
        "names listed each night, class folders": lambda c: f"{c.images:,}",
        "planning, tars, first time": lambda c: f"{uncut * c.images / 1e6:,.1f} s",
        "planning, tars, each night": lambda c: f"{cut * c.classes / 20_000:,.1f} s",
        "planning, class folders": lambda c: f"{folders * c.images / 1e6:,.1f} s",
        "model store": lambda c: _bytes(model * c.classes),
    }
    rows = [(name, "", *(of(case) for case in CASES)) for name, of in lines.items()]
    return _table("files", "", rows=rows)


def money(results: str, imagenet: str) -> str:
    rate = ASSUMED["$ a vCPU hour, 4 GB included"]

    def price(hours: float) -> float:
        started = ASSUMED["vCPUs"] * ASSUMED["minutes until a worker works"] / 60
        return (hours / ASSUMED["share of a core that works"] + started) * rate

    def annotated(case: Case) -> list[float]:
        hours = case.images * stage(results, STAGES[-1]) / 3.6e6
        return [hours * rate, price(hours)]

    def learned(case: Case) -> list[float]:
        seconds = training_seconds(results, imagenet, case.learned).values()
        low, high = (
            sum(part) * case.classes / 3600 for part in zip(*seconds, strict=True)
        )
        return [low * rate, price(high)]

    def asked(case: Case) -> list[float]:
        made = 2 * case.units + case.classes
        reads = [4 * case.units, 4 * case.units + case.images]
        return [
            (made * ASSUMED["$ for 1000 creations"] + n * ASSUMED["$ for 1000 reads"])
            / 1000
            for n in reads
        ]

    lines = {"annotating": annotated, "training": learned, "storage requests": asked}
    rows = [
        (name, "", *(_range(of(case), ",.2f", "$") for case in CASES))
        for name, of in lines.items()
    ]
    return _table("price", "", rows=rows)


def _table(title: str, second: str, rows: list[tuple[str, ...]]) -> str:
    columns = (title, *([second] if second else []), *(case.name for case in CASES))
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for name, middle, *values in rows:
        cells = (name, *([middle] if second else []), *values)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _range(both: list[float], form: str, unit: str = "") -> str:
    low, high = (format(one, form) for one in both)
    return f"{unit}{low}" if low == high else f"{unit}{low} to {unit}{high}"


def _bytes(count: float) -> str:
    for size, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= size:
            return f"{count / size:,.3g} {unit}"
    return f"{count:.0f} bytes"


if __name__ == "__main__":
    main()
