"""Pictures on a store that is cut off or refuses: nothing of them is lost."""

import pathlib

import pytest
import runs
import zebras

from belvedere.pipelines import annotate, failures, retry
from belvedere.transforms import stores

FOR_EVER = 10**6
HIT = {"folder": b".jpg", "tar": b"1.tar"}  # what the weather is about
ON = pytest.mark.parametrize("name", ["moto", "gcp-storage-emulator"])
SLOW = pytest.param("moto", marks=pytest.mark.slow)
OF = pytest.mark.parametrize("kind", HIT)


@pytest.fixture
def placed(weather, tmp_path):
    """Six pictures behind bad weather, and the command that annotates them."""

    def place(name: str, kind: str):
        store, proxy = weather(name)
        folder = zebras.source(kind, tmp_path / "in")
        _upload(folder, store)
        proxy.only = HIT[kind]
        told = runs.annotation(tmp_path / "output", images=(f"{store.uri}/in",))
        return told, proxy

    return place


def _upload(folder: pathlib.Path, store: stores.Store) -> None:
    for file in folder.rglob("*.*"):
        to = f"{store.uri}/in/{file.relative_to(folder)}"
        store._replace(to, file.read_bytes())


@ON
@OF
def test_a_store_that_is_cut_off_leaves_nothing_behind(name, kind, placed, impatient):
    told, proxy = placed(name, kind)
    proxy.cut = FOR_EVER
    with pytest.raises(Exception, match="does not answer") as caught:
        annotate.main(told)
    code, said = failures.verdict(caught.value)
    assert code == failures.BUG and "Traceback" not in said  # is tried again
    proxy.cut = 0
    counts = annotate.main(told)
    assert (counts.already_done + counts.annotated, counts.dead) == (6, 0)
    assert len(runs.rows(told.output)) == zebras.PICTURES


@pytest.mark.parametrize("name", ["gcp-storage-emulator", SLOW])
@OF
def test_what_a_store_refuses_is_had_when_it_refuses_no_more(name, kind, placed):
    told, proxy = placed(name, kind)
    proxy.refuse = True
    counts = annotate.main(told)
    assert counts.dead == (zebras.PICTURES if kind == "folder" else 1)
    proxy.refuse = False
    annotate.main(told)
    assert retry.main(retry.Options(told.output)).dead == 0
    assert len(runs.rows(told.output)) == zebras.PICTURES


@pytest.mark.parametrize("name", ["gcp-storage-emulator", SLOW])
@OF
def test_an_answer_that_is_cut_off_once_is_not_noticed(name, kind, placed):
    told, proxy = placed(name, kind)
    proxy.cut = 1
    counts = annotate.main(told)
    assert (counts.annotated, counts.dead, proxy.cut) == (zebras.PICTURES, 0, 0)
