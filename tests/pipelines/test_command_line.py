"""What a user types: help, mistakes, exit codes, and what is said in the end."""

import json
import shutil
import signal
import subprocess
import sys
import time

import pytest
import runs

from belvedere.pipelines import annotate, failures, launching, toy_data
from belvedere.transforms import stores

COMMANDS = ("train", "annotate", "run", "retry", "verify", "plan", "schema", "demo")
IN_PROCESS = "--runner=apache_beam.runners.portability.fn_api_runner.FnApiRunner"
TRAIN = "train --images {images} --boxes {boxes} --models m"
ANNOTATE = "annotate --images {images} --models {models}"
ALONE = "annotate --models {models}"
MISTAKES = {
    "trian": "trian",
    "train --images {images}": "--boxes",
    f"{TRAIN} --preset deep": "deep",
    f"{TRAIN} --set sight.window=4": "did you mean 'sight.windows'?",
    f"{TRAIN} --set windows": "wanted key=value",
    f"{TRAIN} --set sight.windows=many": "sight.windows",
    f"{TRAIN} --set sight.windows=0": "windows is 0",
    f"{TRAIN} --set method.embedding.folds=1": "folds is 1, wanted 2 or more",
    f"{TRAIN} --seed -3": "'--seed': Input should be",
    f"{ANNOTATE} --output o --set sight.windows=200": "belongs to `belvedere train`",
    f"{ANNOTATE} --output o --set sight.window=200": "did you mean 'sight.windows'?",
    f"{ALONE} {{images}}/car/00009.jpg --class car --set accept=2": "wanted 0 to 1",
    f"{ANNOTATE} --output o --classes car,zebar": "did you mean 'zebra'?",
    f"{ANNOTATE} --output o --accept 7": "'--accept': Input should be",
    f"{TRAIN} --config no.toml": "no.toml does not exist",
    f"{TRAIN} --config {{boxes}}": "no readable TOML",
    f"{TRAIN} --images nowhere": "nowhere cannot be read: No such file",
    f"{TRAIN} --boxes {{images}}/car/00009.jpg": "00009.jpg",
    f"{TRAIN} --images-format zip": "zip",
    f"{ANNOTATE} --models nowhere --output o": "`belvedere train` first",
    f"{ANNOTATE} --output {{boxes}}": "is a file",
    f"{ANNOTATE} --output o --workers 2 -- {IN_PROCESS}": "drop --runner",
    f"{ANNOTATE} --output o -- --s3_endpoint_url=http://x": "set AWS_ENDPOINT_URL",
    "retry --output o -- --s3_access_key_id x": "AWS_ACCESS_KEY_ID",
    f"{TRAIN} --boxes b -- --impersonate_service_account=x": "application-default",
    ANNOTATE: "--output",
    f"{ANNOTATE} {{images}}/car/00009.jpg --class car": "one PICTURE",
    f"{ALONE} {{images}}/car/00009.jpg": "--class",
    f"{ALONE} {{images}}/car/00009.jpg --class dog": "but car, zebra",
    f"{ALONE} no.jpg --class car": "no.jpg cannot be read: No such file",
    f"{ALONE} {{boxes}} --class car": "format_not_allowed",
    "verify --output o": "holds no output",
    "verify --output o -- --runner=X": "nothing may follow --",
    "retry --output o": "holds no output",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen_and_has_an_example(belvedere, command):
    said = belvedere(command, "--help")
    assert said.code == failures.DONE
    assert f"Example: belvedere {command}" in said.out
    assert len(said.out.splitlines()) <= 40
    assert max(map(len, said.out.splitlines())) <= 80


def test_help_takes_less_than_half_a_second():
    command = [sys.executable, "-m", "belvedere.pipelines", "--help"]
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.5


@pytest.mark.parametrize("typed", MISTAKES)
def test_a_mistake_is_told_in_a_few_lines(belvedere, typed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = runs.world()
    said = belvedere(
        *typed.format(
            images=world / "images", boxes=world / toy_data.BOXES, models=runs.models()
        ).split()
    )
    assert said.code == failures.USAGE
    assert MISTAKES[typed] in said.err
    assert len(said.err.strip().splitlines()) <= 4
    assert not any(tmp_path.iterdir())


def _annotate(output, *more):
    images = runs.world() / "images"
    told = ["annotate", "--images", images, "--models", runs.models()]
    return [*told, "--output", output, *more]


def test_a_run_ends_with_counts_and_a_repeat_writes_nothing(belvedere, tmp_path):
    said = belvedere(*_annotate(tmp_path / "o"))
    assert said.code == failures.DONE
    assert f"{runs.TASKS} images in: {runs.TASKS} annotated, 0 refused" in said.out
    assert "images/s" in said.out and "localize" in said.out
    assert str(tmp_path / "o") in said.out
    before = runs.files(tmp_path)
    again = belvedere(*_annotate(tmp_path / "o"))
    assert again.code == failures.DONE
    assert f"0 dead, {runs.TASKS} already done" in again.out
    assert runs.files(tmp_path) == before
    assert runs.rows(tmp_path / "o") == runs.rows(runs.output())


def test_beam_gets_what_follows_two_dashes(belvedere, tmp_path, monkeypatch):
    given = []
    launch = launching.launch

    def spy(build, beam_options, *rest):
        given.append(tuple(beam_options))
        return launch(build, beam_options, *rest)

    monkeypatch.setattr(annotate.launching, "launch", spy)
    told = [*_annotate(tmp_path / "o"), "--limit", 1]
    said = belvedere(*told, "--log-format", "json", "--", IN_PROCESS, "--job_name=x")
    assert said.code == failures.DONE
    assert given == [(IN_PROCESS, "--job_name=x")]
    assert said.document["annotated"] == len(runs.LABELS)


def test_json_is_one_document_and_logs_are_json(belvedere, tmp_path):
    told = _annotate(tmp_path / "o", "--classes", "car", "--limit", 2)
    said = belvedere(*told, "--log-format", "json")
    assert said.code == failures.DONE
    assert said.document["tasks_in"] == said.document["annotated"] == 2
    assert said.document["seconds_by_stage"]["look"] > 0
    for line in said.err.splitlines():
        assert {"time", "level", "logger", "message"} <= set(json.loads(line))


def test_quiet_says_nothing(belvedere, tmp_path):
    told = _annotate(tmp_path / "o", "--limit", 1, "--quiet")
    assert belvedere(*told) == (failures.DONE, "", "")


def test_a_foreign_output_is_a_conflict(belvedere, tmp_path):
    models = tmp_path / "m"
    shutil.copytree(runs.models(), models)
    before = runs.files(tmp_path)
    said = belvedere(*_annotate(models))
    assert said.code == failures.CONFLICT
    assert "choose another folder" in said.err
    assert runs.files(tmp_path) == before


def test_an_evaluation_is_neither_annotated_into_nor_reported_on(belvedere, tmp_path):
    """`report.html` in it is of the evaluation: it would be replaced."""
    output = tmp_path / "o"
    stores.store_for(str(output)).create(f"evaluations/{32 * 'a'}.json", b"{}")
    before = runs.files(tmp_path)
    said = belvedere(*_annotate(output))
    assert said.code == failures.CONFLICT
    assert "holds what `belvedere evaluate` wrote" in said.err
    said = belvedere("report", "--output", output)
    assert said.code == failures.USAGE and "evaluate` writes its own" in said.err
    assert runs.files(tmp_path) == before


def test_a_folder_of_evaluations_is_none(belvedere, tmp_path):
    inside = stores.store_for(str(tmp_path / "evaluations" / "first"))
    inside.create(f"evaluations/{32 * 'a'}.json", b"{}")
    said = belvedere("report", "--output", tmp_path)
    assert said.code == failures.USAGE and "run `belvedere annotate`" in said.err


def test_a_damaged_log_is_a_conflict(belvedere, tmp_path):
    shutil.copytree(runs.output(), tmp_path / "o")
    (tmp_path / "o" / "manifests" / "000001.json").write_text("{}")
    said = belvedere(*_annotate(tmp_path / "o"))
    assert said.code == failures.CONFLICT
    assert "000001.json" in said.err


def test_a_damaged_model_is_told_from_inside_a_worker(belvedere, tmp_path):
    shutil.copytree(runs.models(), tmp_path / "m")
    for file in (tmp_path / "m").glob("*/*/model.npz"):
        file.write_bytes(b"rubbish")
    told = _annotate(tmp_path / "o")
    told[told.index(runs.models())] = tmp_path / "m"
    said = belvedere(*told)
    assert said.code == failures.CONFLICT
    assert "while running" not in said.err and str(tmp_path / "m") in said.err


def test_a_bug_shows_its_traceback(belvedere, tmp_path, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(annotate, "_run", broken)
    said = belvedere(*_annotate(tmp_path / "o"))
    assert said.code == failures.BUG
    assert "Traceback" in said.err and "ZeroDivisionError: a bug" in said.err
    assert "please report" in said.err


def _press(*_):
    raise KeyboardInterrupt


def _terminate(*_):
    signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("stopped", [_press, _terminate])
def test_to_be_stopped_is_no_bug(belvedere, tmp_path, monkeypatch, stopped):
    monkeypatch.setattr(annotate, "_run", stopped)
    said = belvedere(*_annotate(tmp_path / "o"))
    assert said.code == failures.STOPPED
    assert "run the same command again" in said.err


@pytest.mark.parametrize(
    "error, code, text",
    [
        (stores.OutputConflict("x [while running 'A/B']"), failures.CONFLICT, "x"),
        (stores.MissingFile("y"), failures.USAGE, "y"),
        (stores.StoreLost("z"), failures.BUG, "z"),
        (
            RuntimeError(
                "Traceback (most recent call last):\n  File ...\n"
                "belvedere.transforms.stores.StoreError: disk [while running 'A']\n\n"
            ),
            failures.USAGE,
            "disk",
        ),
    ],
)
def test_errors_of_workers_are_unwrapped(error, code, text):
    assert failures.verdict(error) == (code, text)


def test_a_bug_while_a_store_fails_is_a_bug():
    error = RuntimeError(
        "belvedere.transforms.stores.StoreError: disk\n\nDuring handling of the above "
        "exception, another exception occurred:\n\nNameError: nobody\n"
    )
    assert failures.verdict(error)[0] == failures.BUG
