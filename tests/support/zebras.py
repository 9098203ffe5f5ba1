"""Six pictures of a class, laid out as a source, to be read in good and bad weather."""

import pathlib

import hostile
import runs

PICTURES = 6


def pictures() -> list[pathlib.Path]:
    return sorted((runs.world() / "images" / "zebra").iterdir())[:PICTURES]


def source(kind: str, folder: pathlib.Path) -> pathlib.Path:
    """Makes a "folder" of a class folder, or of two WebDataset tars ("tar")."""
    inside = folder / "zebra" if kind == "folder" else folder
    inside.mkdir(parents=True)
    if kind == "folder":
        for file in pictures():
            (inside / file.name).write_bytes(file.read_bytes())
        return folder
    for number in range(2):
        some = pictures()[3 * number : 3 * number + 3]
        members = [(file.name, file.read_bytes()) for file in some]
        members += [(f"{file.stem}.cls", b"zebra") for file in some]
        (inside / f"{number}.tar").write_bytes(hostile.tar(sorted(members)))
    return folder
