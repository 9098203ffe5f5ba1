"""`belvedere schema`: the columns of the two tables of an output."""

from typing import Any

from belvedere.pipelines import voice
from belvedere.pipelines.voice import Voice
from belvedere.transforms import documents, schemas


def main(speaker: Voice) -> None:
    """Prints the columns."""
    shown = [
        voice.table(
            f"{name}/*.parquet",
            ("column", "type", "empty?"),
            [
                (c["name"], c["type"], "may be" if c["nullable"] else "")
                for c in columns
            ],
        )
        for name, columns in _columns().items()
    ]
    speaker.say({"schema_version": documents.SCHEMA_VERSION, **_columns()}, *shown)


def _columns() -> dict[str, list[dict[str, Any]]]:
    return {
        name: [
            {"name": f.name, "type": str(f.type), "nullable": f.nullable}
            for f in schema
        ]
        for name, schema in schemas.SCHEMAS.items()
    }
