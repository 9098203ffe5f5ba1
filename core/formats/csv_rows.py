"""Comma-separated lists with a header, read row by row: one bad row costs one fault.

UTF-8, with or without a byte order mark; fields may be quoted, also over several lines.
Columns are found by name, in any order; those nobody asked for are passed over.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from belvedere.core.formats import names
from belvedere.core.formats.faults import RowCode, RowFault


def decoded(lines: Iterable[bytes]) -> Iterator[str]:
    """Text lines; bytes that are not UTF-8 become U+FFFD, which `rows` refuses."""
    for number, line in enumerate(lines):
        text = line.decode("utf-8", "replace")
        yield text.removeprefix("\ufeff") if number == 0 else text


def rows(
    lines: Iterable[str], required: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]] | RowFault]:
    """(line number, column -> stripped field) of each row that is not blank.

    Raises ValueError at once if the header lacks a required column.
    """
    reader = csv.reader(iter(lines), strict=True)
    columns = _columns(reader, required, optional)
    return _rows(reader, columns)


def _columns(
    reader: Any, required: Sequence[str], optional: Sequence[str]
) -> dict[str, int]:
    try:
        header = [name.strip().lower() for name in next(reader, [])]
    except csv.Error as error:
        raise ValueError(f"the header cannot be read: {error}") from error
    wanted = [name for name in (*required, *optional) if name in header]
    missing = [name for name in required if name not in header]
    twice = [name for name in wanted if header.count(name) > 1]
    if missing or twice:
        fault = f"lacks {missing}" if missing else f"repeats {twice}"
        said = names.printable(",".join(header))
        raise ValueError(f"the header {said} {fault}, wanted {','.join(required)}")
    return {name: header.index(name) for name in wanted}


def _rows(
    reader: Any, columns: dict[str, int]
) -> Iterator[tuple[int, dict[str, str]] | RowFault]:
    last = max(columns.values())
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield RowFault(_line(reader), RowCode.BAD_ROW, str(error))
            continue
        if not any(field.strip() for field in fields):
            continue
        if len(fields) <= last:
            said = f"{len(fields)} fields, wanted at least {last + 1}"
            yield RowFault(_line(reader), RowCode.BAD_ROW, said)
        elif any("\ufffd" in field for field in fields):
            said = f"not UTF-8: {names.printable(','.join(fields))}"
            yield RowFault(_line(reader), RowCode.BAD_ENCODING, said)
        else:
            picked = {name: fields[index].strip() for name, index in columns.items()}
            yield reader.line_num, picked


def _line(reader: Any) -> str:
    return f"line {reader.line_num}"


def name_fault(where: str, image: str, label: str) -> RowFault | None:
    """What is wrong with the two names that every row has."""
    if fault := names.name_fault(image):
        return RowFault(where, RowCode.BAD_NAME, fault, "", "")
    if fault := names.label_fault(label):
        return RowFault(where, RowCode.BAD_LABEL, fault, image, "")
    return None
