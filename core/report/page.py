"""The report as one page: `render` for a run, `render_explanation` for one picture.

The page needs no network and no other file. Its content policy allows the one style
sheet and the one script that are in it, by their hashes, and pictures in data
addresses, nothing else. The same contents give the same bytes.
"""

import base64
import functools
import hashlib
import importlib.resources
from collections.abc import Mapping, Sequence

import jinja2
from markupsafe import Markup

from belvedere.core.report import (
    class_tables,
    copies,
    curves,
    explaining,
    gains,
    method_tables,
    pictures,
    promises,
    sentences,
    tables,
    wording,
)
from belvedere.core.report.charts import Figure
from belvedere.core.report.contents import Contents, Judged, Kind, Section, Shown
from belvedere.core.report.explaining import Reason
from belvedere.core.report.pictures import Wall

LIMIT = 20_000_000  # bytes
_MARGIN = 4_096  # what the words about missing pictures may take


def render(contents: Contents, limit: int = LIMIT) -> str:
    """The page, of at most `limit` bytes in UTF-8.

    Pictures that have no room are left out, the last of the longest section first, and
    the page says how many.

    Raises:
      ValueError: if the page is too large even without pictures.
    """
    kept = [len(section.pictures) for section in contents.gallery]
    while True:
        page = _page(contents, kept)
        excess = len(page.encode()) - limit
        if excess <= 0:
            return page
        if not any(kept):
            raise ValueError(
                f"the report takes {excess:,} bytes more than the limit of {limit:,}"
                " without any picture"
            )
        kept = _fewer(contents.gallery, kept, excess)


def render_explanation(shown: Shown) -> str:
    """A page about why the box of one picture was chosen."""
    reason = explaining.reason(shown, "why", pictures.Page())
    return _template("explanation.html.j2").render(
        _frame(f"Why this box: {shown.label}"), reason=reason
    )


def _fewer(gallery: Sequence[Section], kept: list[int], excess: int) -> list[int]:
    """How many pictures to keep of each section to save about `excess` bytes."""
    kept, saved = list(kept), 0
    while saved < excess + _MARGIN and any(kept):
        longest = max(range(len(kept)), key=lambda k: (kept[k], k))
        kept[longest] -= 1
        saved += len(gallery[longest].pictures[kept[longest]].jpeg) * 4 // 3
    return kept


def _page(contents: Contents, kept: Sequence[int]) -> str:
    walls, reasons = _gallery(contents.gallery, kept)
    metrics = contents.metrics
    is_evaluation = contents.kind is Kind.EVALUATION
    return _template("report.html.j2").render(
        _frame(contents.title),
        kind=contents.kind.value,
        is_evaluation=is_evaluation,
        summary=sentences.summary(contents),
        figures=_figures(contents),
        gains=_gains(contents.judged),
        methods=method_tables.of_methods(metrics) if is_evaluation else None,
        differences=method_tables.of_differences(metrics) if is_evaluation else None,
        classes=_classes(contents),
        walls=walls,
        reasons=reasons,
        refused=tables.of_refused(contents),
        not_compared=tables.of_not_compared(contents),
        dead=tables.of_dead(contents),
        near_duplicates=copies.of_near_duplicates(contents),
        counts=_counts(metrics.get("counts", {})),
        inference=_inference(metrics.get("inference", {})),
        seconds=tables.of_seconds(metrics),
        configuration=_pairs(contents.configuration),
        ids=_pairs(contents.ids),
    )


def _figures(contents: Contents) -> dict[str, Figure | None]:
    judged, annotated = contents.judged, contents.annotated
    metrics = contents.metrics
    return {
        "curve": curves.curve(judged) if judged else None,
        "calibration": promises.calibration(
            metrics.get("calibration", ()), metrics.get("iou_lower_kept")
        ),
        "histogram": promises.histogram(annotated) if annotated else None,
    }


def _gains(judged: Judged | None) -> list[Figure]:
    if judged is None:
        return []
    share = "object's share of the picture, %"
    number = "objects in the picture"
    return [
        gains.figure("by-size", "By size of the object", share, gains.by_size(judged)),
        gains.figure(
            "by-objects", "By number of objects", number, gains.by_objects(judged)
        ),
    ]


def _classes(contents: Contents) -> tables.Table | None:
    if contents.kind is Kind.EVALUATION:
        return class_tables.of_classes(contents.metrics)
    if contents.annotated is None:
        return None
    return class_tables.of_annotated(contents.annotated)


def _gallery(
    gallery: Sequence[Section], kept: Sequence[int]
) -> tuple[list[Wall], list[Reason]]:
    """The sections, and the explanation of each explained picture in them, once."""
    page = pictures.Page()
    walls = [
        pictures.wall(section, number, page)
        for section, number in zip(gallery, kept, strict=True)
    ]
    reasons = [
        explaining.reason(shown, key, page) for key, shown in page.explained.items()
    ]
    return walls, reasons


def _pairs(values: Mapping) -> list[tuple[wording.Name, wording.Name]]:
    return [(wording.name(k), wording.name(v, 120)) for k, v in values.items()]


def _counts(values: Mapping) -> list[tuple[wording.Name, wording.Name]]:
    return [
        (wording.name(key.replace("_", " ")), wording.name(wording.count(value)))
        for key, value in values.items()
    ]


def _inference(found: Mapping) -> str:
    windows = wording.known(found.get("windows"))
    scored = wording.known(found.get("evaluated"))
    if not windows or scored is None:
        return ""
    return (
        f"Of {wording.number(windows, 0)} windows in a picture"
        f" {wording.number(scored, 1)} are scored exactly on average"
        f" ({wording.percent(scored / windows, 1)}); bounds rule out the others."
    )


def _frame(title: str) -> dict[str, object]:
    """What every page needs: title, style, script and the policy that names them."""
    style, script = _text("style.css"), _text("script.js")
    policy = (
        "default-src 'none'; img-src data:;"
        f" style-src '{_digest(style)}'; script-src '{_digest(script)}';"
        " base-uri 'none'; form-action 'none'"
    )
    return {
        "title": wording.name(title, 120),
        "style": Markup(style),
        "script": Markup(script),
        "policy": policy,
    }


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def _text(name: str) -> str:
    folder = importlib.resources.files("belvedere.core.report") / "templates"
    return (folder / name).read_text("utf-8")


@functools.cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
