"""The pages as a browser shows them."""

import contextlib
import dataclasses
import io

import numpy as np
import pytest
from PIL import Image as PillowImage

from belvedere.core.report import page

_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation",
  (event) => window.violations.push(event.violatedDirective));
"""


@pytest.fixture
def opened(chromium, tmp_path):
    """Opens a page and says what went wrong in it, which must be nothing."""
    with contextlib.ExitStack() as stack:

        def opened(made, width=1200, **options):
            file = tmp_path / "page.html"
            file.write_text(made, "utf-8")
            size = {"width": width, "height": 900}
            context = stack.enter_context(
                contextlib.closing(chromium.new_context(viewport=size, **options))
            )
            context.add_init_script(_WATCH)
            tab = context.new_page()
            tab.faults = []
            tab.on("console", lambda message: tab.faults.append(message.text))
            tab.on("pageerror", lambda error: tab.faults.append(str(error)))
            tab.on("request", lambda r: tab.faults.append(r.url[:99]))
            tab.goto(file.as_uri())
            tab.faults = [f for f in tab.faults if not f.startswith(("file:", "data:"))]
            return tab

        yield opened


def rows(tab, column):
    return tab.locator(f"#classes tbody tr > :nth-child({column})").all_inner_texts()


def head(tab, column):
    return tab.locator(f"#classes thead th:nth-child({column})")


@pytest.mark.parametrize("kind", ["evaluation", "annotation"])
def test_pages_open_without_a_fault(opened, request, kind):
    tab = opened(page.render(request.getfixturevalue(kind)))
    assert tab.faults == []
    assert tab.evaluate("window.violations") == []
    assert tab.locator("th button").count() > 0


def test_explanations_open_without_a_fault(opened, pictures):
    tab = opened(page.render_explanation(pictures[0]))
    assert tab.faults == [] and tab.evaluate("window.violations") == []


def test_the_policy_stops_what_is_not_ours(opened, rendered):
    foreign = '<script>window.bad = 1</script><p style="color: red" id="red">x</p>'
    made = rendered.replace("</main>", foreign + "</main>")
    tab = opened(made)
    assert tab.evaluate("window.bad") is None
    assert len(tab.evaluate("window.violations")) == 2


def test_clicks_sort_the_classes(opened, rendered):
    tab = opened(rendered)
    assert head(tab, 3).get_attribute("aria-sort") == "none"
    head(tab, 3).locator("button").click()
    falling = [float(text) for text in rows(tab, 3)]
    assert head(tab, 3).get_attribute("aria-sort") == "descending"
    assert falling == sorted(falling, reverse=True)
    head(tab, 3).locator("button").click()
    assert [float(text) for text in rows(tab, 3)] == sorted(falling)
    assert head(tab, 3).get_attribute("aria-sort") == "ascending"


def test_keys_sort_the_classes(opened, rendered):
    tab = opened(rendered)
    head(tab, 1).locator("button").focus()
    tab.keyboard.press("Enter")
    assert rows(tab, 1) == sorted(rows(tab, 1))
    tab.keyboard.press("Space")
    assert rows(tab, 1) == sorted(rows(tab, 1), reverse=True)
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert head(tab, 1).get_attribute("aria-sort") == "none"
    assert head(tab, 2).get_attribute("aria-sort") == "descending"


def test_missing_figures_stay_last(opened, evaluation):
    per_class = {"a": {"images": 1, "mean_iou": 0.2}, "b": {}, "c": {"mean_iou": 0.9}}
    metrics = {"methods": {"full": {"per_class": per_class}}}
    tab = opened(page.render(dataclasses.replace(evaluation, metrics=metrics)))
    for order in (["c", "a", "b"], ["a", "c", "b"]):
        head(tab, 3).locator("button").click()
        assert rows(tab, 1) == order


def many_classes(evaluation, count=219):
    names = [f"class {k:03d}" for k in range(count)]
    rng = np.random.default_rng(0)
    methods = {
        method: {
            **figures,
            "per_class": {
                name: {"images": 9, "mean_iou": float(rng.uniform()), "corloc": 0.5}
                for name in names
            },
        }
        for method, figures in evaluation.metrics["methods"].items()
    }
    metrics = {**evaluation.metrics, "methods": methods}
    return dataclasses.replace(evaluation, metrics=metrics)


def test_many_classes_scroll_in_their_box_and_can_be_found(opened, evaluation):
    tab = opened(page.render(many_classes(evaluation)))
    box = tab.locator(".scroll.tall")
    assert box.bounding_box()["height"] <= 900
    assert len(rows(tab, 1)) == 219
    tab.locator(".filter input").fill("21")
    visible = tab.locator("#classes tbody tr:visible").count()
    assert visible == sum("21" in f"{k:03d}" for k in range(219))
    assert f"{visible} found" in tab.locator(".filter").inner_text()


@pytest.mark.parametrize("kind", ["evaluation", "annotation"])
def test_no_page_is_wider_than_its_window(opened, request, kind):
    tab = opened(page.render(request.getfixturevalue(kind)))
    for _ in range(2):
        for width in (320, 390, 768, 1200):
            tab.set_viewport_size({"width": width, "height": 900})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.locator("summary").evaluate_all("all => all.forEach(s => s.click())")


def test_words_in_a_chart_do_not_meet(opened, rendered):
    """Neither on a screen nor on a phone, where they are larger."""
    boxes = """svg => Array.from(svg.querySelectorAll("text")).map(text => {
        const b = text.getBoundingClientRect();
        return [b.left, b.top, b.right, b.bottom]; })"""
    for width in (390, 1200):
        tab = opened(rendered, width)
        for chart in tab.locator("svg.chart").all():
            placed = chart.evaluate(boxes)
            for i, a in enumerate(placed):
                for b in placed[:i]:
                    apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
                    assert apart, (width, chart.get_attribute("aria-labelledby"), a, b)


def test_words_on_a_phone_are_large_enough(opened, rendered):
    tab = opened(rendered, 390)
    heights = tab.locator("svg.chart text:not([transform])").evaluate_all(
        "all => all.map(t => t.getBoundingClientRect().height)"
    )
    assert min(heights) >= 11


def test_the_page_is_whole_without_script(opened, rendered):
    tab = opened(rendered, java_script_enabled=False)
    assert tab.locator("#classes tbody tr").count() == 7
    assert tab.locator("th button").count() == 0
    assert tab.locator("#summary .prose").inner_text().startswith("On 400 test")


def test_light_dark_and_print_differ(opened, rendered, tmp_path):
    """Light and printed pages have a bright ground, dark ones a dark one."""
    brightness = {}
    for scheme in ("light", "dark"):
        tab = opened(rendered, color_scheme=scheme)
        brightness[scheme] = _brightness(tab, tmp_path / f"{scheme}.png")
    tab.emulate_media(media="print", color_scheme="dark")
    brightness["print"] = _brightness(tab, tmp_path / "print.png")
    assert brightness["light"] > 200 and brightness["print"] > 200
    assert brightness["dark"] < 80


def _brightness(tab, file):
    file.write_bytes(tab.screenshot(full_page=True))
    shot = PillowImage.open(io.BytesIO(file.read_bytes())).convert("L")
    return float(np.median(np.asarray(shot)))


def test_a_printed_page_fits_its_paper(opened, evaluation):
    tab = opened(page.render(many_classes(evaluation)), 700)
    tab.emulate_media(media="print")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 700
    assert tab.locator(".scroll.tall").bounding_box()["height"] > 3000
    assert tab.pdf().startswith(b"%PDF")


def test_hostile_names_run_nothing(opened, evaluation, pictures):
    name = "<img src=x onerror='window.bad=1'>"
    shown = dataclasses.replace(pictures[0], label=name, image_id="\u202e" + name)
    section = dataclasses.replace(evaluation.gallery[0], pictures=(shown,), name=name)
    tab = opened(
        page.render(dataclasses.replace(evaluation, title=name, gallery=(section,)))
    )
    assert tab.faults == [] and tab.evaluate("window.bad") is None
    assert tab.locator("h1").inner_text() == name
    assert tab.evaluate("window.violations") == []
