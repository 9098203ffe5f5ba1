"""Three nights of one command, with all that goes wrong in between.

The same story is told in docs/nightly.md. Pictures come in tar shards; each night is
`belvedere annotate` with the same words.
"""

import dataclasses
import pathlib
import re
import signal
from typing import Any

import hostile
import numpy as np
import pytest
import runs

from belvedere.core.windows import boxes
from belvedere.pipelines import annotate, diff, toy_data, train, voice
from belvedere.transforms import commits, model_store, schemas, stores

PER_SHARD = 3  # of each class
IN_SHARD = PER_SHARD * len(runs.LABELS)
FIRST_SEED = 100  # pictures that no model has learned from
TINY = dataclasses.replace(runs.TINY, accept=0.4)


@dataclasses.dataclass(frozen=True)
class Site:
    """Where the shards arrive, the models are kept and the rows go."""

    folder: pathlib.Path

    def deliver(self, *numbers: int, part: float = 1.0) -> None:
        """Shards arrive, or so much of them."""
        (self.folder / "shards").mkdir(exist_ok=True)
        for number in numbers:
            data = _shard(self.folder / "drawn", number)
            file = self.folder / "shards" / f"{number:03d}.tar"
            file.write_bytes(data[: int(part * len(data))])

    def learn(self, without: str) -> dict[str, Any]:
        """Learns from the boxes of the toy world but those of some pictures."""
        boxes = self.folder / "boxes.csv"
        lines = (runs.world() / "boxes.csv").read_text().splitlines()
        kept = [line for line in lines if not re.match(f"images/{without}", line)]
        assert len(kept) < len(lines)
        here = [line.replace("images/", f"{runs.world()}/images/", 1) for line in kept]
        boxes.write_text("\n".join(here) + "\n")
        told = runs.training(self.folder / "models", boxes=str(boxes))
        return runs.Child(train.main, told).finish()

    @property
    def output(self) -> str:
        return str(self.folder / "output")

    @property
    def models(self) -> str:
        return str(self.folder / "models")

    def command(self, output: str = "output") -> annotate.Options:
        """What the scheduler repeats."""
        images = (str(self.folder / "shards"),)
        return annotate.Options(
            images, self.models, str(self.folder / output), TINY.annotating
        )

    def night(self) -> dict[str, Any]:
        return runs.Child(annotate.main, self.command()).finish()


def _shard(drawn: pathlib.Path, number: int) -> bytes:
    """A WebDataset shard of pictures of all classes."""
    members = []
    for label in runs.LABELS:
        for nth in range(number * PER_SHARD, (number + 1) * PER_SHARD):
            picture = drawn / "images" / label / f"{FIRST_SEED + nth:05d}.jpg"
            members += [
                (f"{label}-{nth:02d}.cls", label.encode()),
                (f"{label}-{nth:02d}.jpg", picture.read_bytes()),
            ]
    return hostile.tar(members)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Site:
    folder = tmp_path_factory.mktemp("site")
    toy_data.write(folder / "drawn", runs.LABELS, 0, 5 * PER_SHARD, FIRST_SEED)
    return Site(folder)


@dataclasses.dataclass(frozen=True)
class Story:
    """What each run counted, and what stood in the output when the sun rose."""

    site: Site
    counts: dict[str, dict[str, Any]]
    files: dict[str, dict]


@pytest.fixture(scope="module")
def story(site) -> Story:
    counts, files = {}, {}

    def sunrise(night: str, counted: dict[str, Any] | None) -> None:
        files[night] = runs.files(site.output)
        counts[night] = counted or {}

    # First night: two shards.
    site.learn(without="zebra/0000[0-2]")
    site.deliver(0, 1)
    sunrise("first", site.night())
    # Second: two more, of which one is torn; and the machine is switched off.
    site.deliver(2)
    site.deliver(3, part=0.5)
    kill = runs.Kill("half_written", schemas.ANNOTATIONS, 2)
    child = runs.Child(annotate.main, site.command(), kill)
    assert child.wait() == -signal.SIGKILL
    sunrise("killed", None)
    sunrise("second", site.night())
    # Third: the torn shard comes again, and a last one; boxes were told and withdrawn,
    # so that there are new models.
    site.deliver(3, 4)
    site.learn(without="car/0000[0-2]")
    sunrise("third", site.night())
    sunrise("idle", site.night())
    return Story(site, counts, files)


def test_each_night_does_what_is_new(story):
    first, second = story.counts["first"], story.counts["second"]
    assert (first["annotated"], first["dead"], first["already_done"]) == (12, 0, 0)
    assert second["already_done"] == 2 * IN_SHARD
    assert IN_SHARD < second["annotated"] < 2 * IN_SHARD
    assert 1 <= second["dead"] <= 2  # the torn shard, and the picture at its end
    third = story.counts["third"]
    assert (third["annotated"], third["dead"]) == (5 * IN_SHARD, 0)


def test_a_killed_night_is_gone_on_from(story):
    before, kept = story.files["first"], story.files["killed"]
    assert before.items() < kept.items()  # a unit was finished
    assert story.files["second"].items() >= {
        (name, file) for name, file in kept.items() if stores.TEMPORARY not in name
    }
    new = story.counts["second"]
    done = new["stages"]["localize"]
    assert 0 < done < new["annotated"]


def test_no_night_changes_a_file_and_an_idle_one_writes_none(story):
    for earlier, later in (("first", "second"), ("second", "third")):
        assert story.files[earlier].items() <= story.files[later].items()
    assert story.files["idle"] == story.files["third"]
    idle = story.counts["idle"]
    assert (idle["annotated"], idle["already_done"]) == (0, 5 * IN_SHARD)


def test_the_table_is_that_of_a_single_run_over_everything(story):
    once = story.site.command("once")
    counts = runs.Child(annotate.main, once, per_slice=64).finish()
    assert (counts["annotated"], counts["dead"]) == (5 * IN_SHARD, 0)
    rows = runs.rows(story.site.output)
    assert len(rows) == 5 * IN_SHARD
    assert rows == runs.rows(once.output)


def test_the_log_is_sound_and_tells_of_the_torn_shard(story):
    nights = [story.counts[night] for night in ("first", "second", "third")]
    tasks = sum(c["annotated"] + c["refused"] + c["dead"] for c in nights)
    runs.assert_sound(story.site.output, tasks)
    assert commits.Log(stores.store_for(story.site.output)).number == len(nights)
    letters = runs.rows(story.site.output, schemas.DEAD_LETTERS)
    assert len(letters) == story.counts["second"]["dead"]
    for letter in letters:
        assert letter["image_uri"].startswith(f"{story.site.folder}/shards/003.tar")
        assert letter["code"] == "tar_truncated"


def test_diff_lists_what_the_new_models_moved_gained_withdrew(story):
    output, models = story.site.output, story.site.models
    told = diff.Options(output, output, f"{models}@1", f"{models}@2", shown=1000)
    document = diff.main(told, voice.Voice(quiet=True))
    old, new = (
        {
            (row["image_uri"], row["label"]): row
            for row in runs.rows(output, models=_ids(models, number))
        }
        for number in (1, 2)
    )
    both = old.keys() & new.keys()
    wanted = {
        "moved": {t for t in both if _iou(old[t]["bbox"], new[t]["bbox"]) < 0.9},
        "gained": {t for t in both if old[t]["accepted"] < new[t]["accepted"]},
        "withdrew": {t for t in both if old[t]["accepted"] > new[t]["accepted"]},
        "new": new.keys() - both,
        "gone": old.keys() - both,
    }
    found = {
        kind: {(change["image_uri"], change["label"]) for change in changes}
        for kind, changes in document["changes"].items()
    }
    assert found == wanted
    assert found["gained"] or found["withdrew"], "the models differ too little to tell"
    assert found["moved"] and len(found["new"]) >= IN_SHARD and not found["gone"]
    moved = [change["iou"] for change in document["changes"]["moved"]]
    assert moved == sorted(moved)


def _ids(models: str, number: int) -> list[str]:
    return list(model_store.index(models, number).ids.values())


def _iou(*pair: list[float]) -> float:
    a, b = (np.array([[x, y, x + w, y + h]]) for x, y, w, h in pair)
    return float(boxes.ious(a, b)[0, 0])
