"""Pictures of a report, where their sources are not what they were."""

import pathlib
import shutil

import pytest
import runs

from belvedere.pipelines import annotate, failures, shown_pictures, toy_data
from belvedere.transforms.sources import Source


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("folders", "moved"),
        ("csv", "moved.csv"),
        ("webdataset", "moved/*.tar"),
        ("webdataset", "moved.tar"),
        ("webdataset", "torn.tar"),
    ],
)
def test_a_source_that_is_gone_costs_its_own_pictures(tmp_path, caplog, form, name):
    toy_data.write(tmp_path, ("zebra",), 1, 0)
    (tmp_path / "torn.tar").write_bytes(700 * b"?")
    (there,) = (tmp_path / "images" / "zebra").iterdir()
    gone = Source(form, str(tmp_path / name))
    wanted = {str(there), f"{tmp_path}/{name.replace('*', '0')}/zebra/00000.jpg"}
    images = [gone, Source("folders", str(tmp_path / "images"))]
    found = dict(shown_pictures.small_copies(wanted, images))
    assert list(found) == [str(there)]
    assert len(caplog.messages) <= 1 and all(gone.uri in m for m in caplog.messages)


def test_a_report_is_written_without_pictures_that_were_moved(belvedere, tmp_path):
    of, output = tmp_path / "world", tmp_path / "out"
    (of / "images" / "zebra").mkdir(parents=True)
    for file in sorted((runs.world() / "images" / "zebra").iterdir())[:2]:
        shutil.copy(file, of / "images" / "zebra")
    runs.Child(annotate.main, runs.annotation(output, of=of)).finish()
    pathlib.Path(of).rename(tmp_path / "elsewhere")
    said = belvedere("report", "--output", output)
    assert said.code == failures.DONE and "cannot be shown" in said.err
    page = (output / "report.html").read_text()
    assert "zebra" in page and "data:image/jpeg" not in page
