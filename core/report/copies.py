"""The table of near-duplicates: pictures that an evaluation kept on one side."""

from belvedere.core.report import tables, wording
from belvedere.core.report.contents import Contents
from belvedere.core.report.tables import Cell, Column, Table

_MOST_ROWS, _MOST_NAMES = 200, 20
_NOTE = "Each group is kept together: its pictures are all learned from or all judged."


def of_near_duplicates(contents: Contents) -> Table:
    """A row for each group: how many pictures, and which."""
    groups = contents.near_duplicates
    columns = (Column("Pictures"), Column("Which", numeric=False))
    rows = tuple(_row(group) for group in groups[:_MOST_ROWS])
    more = len(groups) - len(rows)
    left_out = [f"The first {len(rows)} groups of {len(groups):,} are listed."]
    note = " ".join([_NOTE, *(left_out if more else [])])
    return Table("near-duplicates", "Near-duplicates", columns, rows, False, note)


def _row(group: tuple[str, ...]) -> tuple[Cell, ...]:
    said = ", ".join(group[:_MOST_NAMES])
    if len(group) > _MOST_NAMES:
        said += f" and {len(group) - _MOST_NAMES} more"
    return tables.figure(len(group), 0), Cell(wording.name(said, 2000))
