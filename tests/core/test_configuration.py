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
