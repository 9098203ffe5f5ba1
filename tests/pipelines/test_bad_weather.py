"""The input goes away for a moment; then the same commands give the full table."""

import builtins
import io
import pathlib
import shutil

import pytest
import runs
import zebras
from zebras import PICTURES

from belvedere.pipelines import annotate, failures, retry
from belvedere.transforms import commits, cuts, input_files, records, schemas, stores

LOST = ConnectionResetError("the line is dead")
FORBIDDEN = PermissionError(13, "Permission denied")


class Weather:
    """What happens to the files whose names end so, when they are opened or read."""

    def __init__(self) -> None:
        self.opening: dict[str, Exception] = {}
        self.reading: dict[str, Exception] = {}

    def open(self, path: str, mode: str) -> io.IOBase:
        if error := self._of(self.opening, path):
            raise error
        file = builtins.open(path, mode)
        return _Cut(file, error) if (error := self._of(self.reading, path)) else file

    def clear(self) -> None:
        self.opening, self.reading = {}, {}

    def _of(self, errors: dict[str, Exception], path: str) -> Exception | None:
        return next((e for end, e in errors.items() if path.endswith(end)), None)


class _Cut:
    """A file that breaks behind its first header."""

    def __init__(self, file: io.IOBase, error: Exception) -> None:
        self._file, self._error = file, error
        self.seek, self.close = file.seek, file.close

    def read(self, size: int) -> bytes:
        if self._file.tell() >= 512:
            raise self._error
        return self._file.read(size)


@pytest.fixture
def weather(monkeypatch) -> Weather:
    made = Weather()
    monkeypatch.setattr(input_files, "open", made.open, raising=False)
    return made


def _told(tmp_path: pathlib.Path, kind: str) -> annotate.Options:
    images = zebras.source(kind, tmp_path / "in")
    return runs.annotation(tmp_path / "output", images=(str(images),))


def _lost(told: annotate.Options) -> None:
    with pytest.raises(Exception, match="does not answer") as caught:
        annotate.main(told)
    code, said = failures.verdict(caught.value)
    assert code == failures.BUG and "Traceback" not in said  # is tried again


def _whole(told: annotate.Options) -> None:
    assert len(runs.rows(told.output)) == PICTURES
    number = commits.Log(stores.store_for(told.output)).number
    again = annotate.main(told)
    assert (again.annotated, again.dead) == (0, 0)
    assert commits.Log(stores.store_for(told.output)).number == number


def _only_cut(told: annotate.Options) -> None:
    """Leaves an output that knows where the tars are cut, and nothing else."""
    annotate.main(told)
    for folder in pathlib.Path(told.output).iterdir():
        if folder.name != cuts.FOLDER:
            shutil.rmtree(folder)


@pytest.mark.parametrize("when", ["opening", "reading"])
@pytest.mark.parametrize("cut_before", [False, True])
def test_a_tar_that_is_away_for_a_moment(tmp_path, weather, when, cut_before):
    """Where it was cut may be known from a night before: then it is only read."""
    told = _told(tmp_path, "tar")
    if cut_before:
        _only_cut(told)
    getattr(weather, when)["1.tar"] = LOST
    _lost(told)
    kept = list(stores.store_for(told.output).list(records.FOLDER))
    assert len(kept) <= 1  # that of the tar which could be read
    weather.clear()
    assert annotate.main(told).dead == 0
    _whole(told)


def test_a_picture_that_is_away_for_a_moment(tmp_path, weather):
    told = _told(tmp_path, "folder")
    weather.opening[".jpg"] = LOST
    _lost(told)
    weather.clear()
    annotate.main(told)
    _whole(told)


def test_a_folder_that_cannot_be_listed_for_a_moment(tmp_path, monkeypatch):
    told = _told(tmp_path, "folder")

    def scandir(path: str) -> None:
        raise TimeoutError(110, "Connection timed out")

    with monkeypatch.context() as patch:
        patch.setattr(input_files.os, "scandir", scandir)
        _lost(told)
    annotate.main(told)
    _whole(told)


def test_a_forbidden_picture_is_had_by_retry(tmp_path, weather):
    told = _told(tmp_path, "folder")
    weather.opening[zebras.pictures()[2].name] = FORBIDDEN
    counts = annotate.main(told)
    assert (counts.annotated, counts.dead) == (PICTURES - 1, 1)
    weather.clear()
    outcome = retry.main(retry.Options(told.output))
    assert (outcome.tried, outcome.dead, outcome.gone) == (1, 0, 0)
    _whole(told)


@pytest.mark.parametrize("when", ["opening", "reading"])
def test_a_tar_that_was_forbidden_when_it_was_read_is_had_by_retry(
    tmp_path, weather, when
):
    """All its pictures are behind one dead letter: `retry` must see them again."""
    told = _told(tmp_path, "tar")
    _only_cut(told)
    getattr(weather, when)["1.tar"] = FORBIDDEN
    counts = annotate.main(told)
    assert (counts.annotated, counts.dead) == (3, 1)
    (letter,) = runs.rows(told.output, schemas.DEAD_LETTERS)
    assert (letter["code"], letter["image_uri"][-5:]) == ("not_read", "1.tar")
    assert retry.main(retry.Options(told.output)).dead == 1
    weather.clear()
    assert retry.main(retry.Options(told.output)).dead == 0
    assert len(runs.rows(told.output)) == PICTURES
    before = runs.files(told.output)
    outcome = retry.main(retry.Options(told.output))
    assert (outcome.dead, outcome.gone) == (0, 1)  # there is no picture of that name
    assert runs.files(told.output).items() >= before.items()
    assert len(runs.rows(told.output)) == PICTURES


def test_a_tar_that_was_forbidden_when_it_was_listed_is_new_afterwards(
    tmp_path, weather
):
    told = _told(tmp_path, "tar")
    weather.opening["1.tar"] = FORBIDDEN
    counts = annotate.main(told)
    assert (counts.annotated, counts.dead) == (3, 1)
    weather.clear()
    assert annotate.main(told).annotated == 3
    outcome = retry.main(retry.Options(told.output))
    assert (outcome.dead, outcome.gone) == (0, 1)
    _whole(told)
