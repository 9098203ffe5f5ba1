"""Tables of the report as values; the template sets them."""

import dataclasses
from collections.abc import Mapping

from markupsafe import Markup

from belvedere.core.report import wording
from belvedere.core.report.contents import Contents, DeadLetter, DeadLetters
from belvedere.core.report.wording import Name

MOST_ROWS = 2000
NOTHING = Markup("")


@dataclasses.dataclass(frozen=True)
class Column:
    """`hint` says what a short title means."""

    title: str
    numeric: bool = True
    hint: str = ""


@dataclasses.dataclass(frozen=True)
class Cell:
    """`value` is what rows are sorted by, `mark` a small drawing beside the words."""

    words: Name
    value: float | str | None = None
    mark: Markup = NOTHING
    class_: str = ""


@dataclasses.dataclass(frozen=True)
class Table:
    """`key` is unique on the page."""

    key: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    is_sortable: bool = False
    note: str = ""


def words(text: object, value: float | None = None, class_: str = "") -> Cell:
    name = wording.name(text)
    return Cell(name, name.view if value is None else value, class_=class_)


def figure(value: object, digits: int = 3, mark: Markup = NOTHING) -> Cell:
    return Cell(Name(wording.number(value, digits), ""), wording.known(value), mark)


def signed(value: object, is_shown: bool = False) -> Cell:
    """A difference, coloured if it is shown to be one."""
    known = wording.known(value)
    side = "" if known is None or not is_shown else "gain" if known > 0 else "loss"
    return Cell(Name(wording.signed(value), ""), known, class_=side)


def share(value: object) -> Cell:
    return dataclasses.replace(figure(value), words=Name(wording.percent(value, 1), ""))


def left_out(total: int) -> str:
    if total <= MOST_ROWS:
        return ""
    return f"The first {MOST_ROWS:,} of {total:,} are listed."


def of_seconds(metrics: Mapping) -> Table:
    """Where the time went."""
    stated = metrics.get("seconds", {})
    seconds = {stage: wording.known(spent) for stage, spent in stated.items()}
    total = sum(spent or 0.0 for spent in seconds.values()) or 1.0
    rows = tuple(
        (
            words(stage),
            figure(spent, 1),
            share(None if spent is None else spent / total),
        )
        for stage, spent in seconds.items()
    )
    columns = (
        Column("Stage", numeric=False),
        Column("Seconds", hint="added over all workers"),
        Column("Share"),
    )
    return Table("seconds", "Seconds by stage", columns, rows, is_sortable=True)


def of_refused(contents: Contents) -> Table:
    columns = (Column("Class", numeric=False), Column("Reason", numeric=False))
    rows = tuple(
        (words(r.label), Cell(wording.name(r.reason, 240)))
        for r in contents.refused[:MOST_ROWS]
    )
    note = left_out(len(contents.refused))
    return Table("refused", "Refused classes", columns, rows, False, note)


def of_not_compared(contents: Contents) -> Table:
    """Methods that are compared for no class, as one could not be learned."""
    titles = ("Method", "Class", "Why it could not be learned")
    rows = tuple(
        (
            words(wording.method(m.method).view),
            words(m.label),
            Cell(wording.name(m.reason, 240)),
        )
        for m in contents.not_compared[:MOST_ROWS]
    )
    return Table(
        "not-compared",
        "Methods not compared",
        tuple(Column(title, numeric=False) for title in titles),
        rows,
        False,
        left_out(len(contents.not_compared)),
    )


def of_dead(contents: Contents) -> Table:
    """Failed tasks by code, each with its examples."""
    columns = (
        Column("Code", numeric=False),
        Column("Tasks"),
        Column("Class", numeric=False),
        Column("For example", numeric=False),
        Column("Message", numeric=False),
    )
    rows = [row for letters in contents.dead for row in _dead_rows(letters)]
    return Table(
        "dead",
        "Failed tasks",
        columns,
        tuple(rows[:MOST_ROWS]),
        False,
        left_out(len(rows)),
    )


def _dead_rows(letters: DeadLetters) -> list[tuple[Cell, ...]]:
    nothing = Cell(Name("", ""))
    first = (words(letters.code), figure(letters.count, 0))
    examples = letters.examples or (DeadLetter(wording.DASH, wording.DASH),)
    return [
        (
            *(first if number == 0 else (nothing, nothing)),
            words(example.label),
            words(example.uri),
            Cell(wording.name(example.message, 240)),
        )
        for number, example in enumerate(examples)
    ]
