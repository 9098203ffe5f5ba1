import re
import subprocess
import sys

import pytest

from belvedere.core import configuration
from belvedere.core.configuration import Configuration


def test_settings_go_over_the_file_and_the_file_over_the_preset():
    file = {"method": {"kind": "classic", "gp": {"inducing": 50}}, "accept": 0.6}
    got = configuration.resolve("paper", file, ["method.gp.inducing=70"])
    assert got.method.kind == "classic"
    assert got.method.gp.inducing == 70
    assert got.accept == 0.6
    assert configuration.resolve("paper").method.kind == "paper"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["sight.window=5"], "did you mean 'sight.windows'"),
        (["windows=5"], "did you mean 'sight.windows'"),
        (["accept"], "wanted key=value"),
        (["sight.windows=many"], "wanted a int"),
        (["sight.windows=1.5"], "wanted a int"),
        (["method.consistency=most"], "method.consistency"),
        (["method.gp.objective=exact"], "variational"),
        (["sight=5"], "no setting 'sight'"),
    ],
)
def test_mistakes_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        configuration.resolve(settings=settings)


def test_annotating_takes_accept_alone_and_learning_all_the_rest():
    assert configuration.resolve_annotating({"accept": 0.6}).accept == 0.6
    with pytest.raises(ValueError, match=r"windows belongs to `belvedere train`"):
        configuration.resolve_annotating({"sight": {"windows": 200}})
    with pytest.raises(ValueError, match=r"did you mean 'sight\.windows'"):
        configuration.resolve_annotating(settings=["sight.window=200"])
    strict = configuration.resolve(settings=["accept=0.9"])
    assert configuration.learning(strict) == configuration.learning(Configuration())
    assert "accept" not in configuration.learning(strict)


def test_an_unknown_preset_is_named():
    with pytest.raises(ValueError, match="did you mean 'paper'"):
        configuration.resolve("papers")


def test_values_keep_their_types():
    got = configuration.resolve(
        settings=["sight.k=[100, 200]", "accept=1", "method.consistency=mean"]
    )
    assert got.sight.k == (100, 200)
    assert got.accept == 1.0
    assert isinstance(got.accept, float)
    assert got.method.consistency.value == "mean"


def test_flat_and_changed_are_inverse():
    odd = configuration.resolve("paper", settings=["sight.k=[1, 2]", "accept=0.25"])
    again = configuration.changed(Configuration(), configuration.flat(odd))
    assert again == odd
    assert configuration.digest(again) == configuration.digest(odd)


def test_the_digest_sees_every_setting():
    base = Configuration()
    seen = {configuration.digest(base)}
    for key, value in configuration.flat(base).items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            step = 1 if isinstance(value, int) else value / 8 or 0.5
            other = configuration.changed(base, {key: value + step})
            seen.add(configuration.digest(other))
    assert len(seen) > 25


@pytest.mark.parametrize(
    "setting",
    [
        *("method.seed=-1", "method.seed=4294967296"),
        *("sight.side=0", "sight.windows=0", "sight.k=[-5]", "sight.k=[]"),
        *("sight.word_images=0", "sight.words_per_image=0"),
        *("sight.negative_images=0", "sight.negatives_per_image=0"),
        *("sight.features.step=0", "sight.features.sift_words=0"),
        *("sight.features.sift_levels=[]", "sight.features.surf_levels=[0]"),
        *("method.embedding.folds=0", "method.embedding.folds=1"),
        *("method.embedding.dimensions=3", "method.exemplars=0"),
        *("method.embedding.ridge.lambdas=[-1]", "method.embedding.ridge.lambdas=[]"),
        *("method.embedding.svm.penalty=-1", "method.embedding.svm.limit=0"),
        *("method.sampling.high=-3", "method.sampling.high_from=1.5"),
        *("method.sampling.seed=-1", "method.gp.inducing=0"),
        *("method.learning.columns=[]", "method.learning.columns=[100]"),
        *("method.learning.gammas=[Infinity]", "method.gp.noise_floor=NaN"),
        *("method.voting.temperature=Infinity", "method.learning.solver.eps=0"),
        *("accept=NaN", "accept=7", "accept=-0.1", "least_ceiling=2"),
        *("least_images=-3", "most_images=0"),
    ],
)
def test_values_out_of_range_are_refused_with_key_and_value(setting):
    ((key, value),) = [configuration._parsed(setting)]
    with pytest.raises(ValueError, match=r"wanted|must") as refused:
        configuration.resolve(settings=[setting])
    assert str(refused.value).startswith(f"{key} = {value!r}: ")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            ["method.sampling.high_from=0.1"],
            "method.sampling.high_from = 0.1 is below method.sampling.middle_from = ",
        ),
        (["most_images=9"], "most_images = 9 is below least_images = 10"),
        (["least_images=501"], "most_images = 500 is below least_images = 501"),
    ],
)
def test_two_values_that_contradict_each_other_are_named(settings, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        configuration.resolve(settings=settings)


def test_two_values_may_cross_on_the_way():
    changes = ["most_images=9", "least_images=5"]
    changes += ["method.sampling.high_from=0.1", "method.sampling.middle_from=0.1"]
    assert configuration.resolve(settings=changes).most_images == 9


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("method.kind=pape", "method.kind = 'pape': kind 'pape', wanted paper or"),
        ("method.learning.columns=abc", "must be distinct numbers from 0 to 10"),
        ("method.learning.columns=[true]", "must be distinct numbers from 0 to 10"),
    ],
)
def test_values_of_another_kind_are_refused_without_checks_of_types(setting, said):
    """In a process without the checks of types that stand before them in tests."""
    program = (
        "import sys; from belvedere.core import configuration\n"
        "try: configuration.resolve(settings=sys.argv[1:])\n"
        "except ValueError as error: print(error)"
    )
    command = [sys.executable, "-c", program, setting]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    assert said in told.stdout
