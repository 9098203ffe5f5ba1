"""The end of an evaluation: one document that names all verdicts."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

import apache_beam as beam

from belvedere.transforms import stores
from belvedere.transforms.inputs import InputFault

_LISTED = 1000  # faults that are told


@dataclasses.dataclass(eq=False)
class Conclude(beam.PTransform):
    """Writes the document of an evaluation.

    Attributes:
      output: where it goes.
      name: of the document.
      about: what is known beforehand,
      found: and single values that the run has found.
      judged: the names of verdicts.
      faults: inputs that cannot be used.
    """

    output: str
    name: str
    about: dict[str, Any]
    found: Mapping[str, beam.PCollection]
    judged: beam.PCollection
    faults: beam.PCollection

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        first = beam.combiners.Top.Smallest(_LISTED)
        told = (
            self.judged | "Verdicts" >> beam.combiners.ToList(),
            self.faults | "Count" >> beam.combiners.Count.Globally(),
            self.faults | "First" >> first,
            *self.found.values(),
        )
        return (
            pipeline
            | "Once" >> beam.Create([None])
            | "Write"
            >> beam.Map(
                _conclude,
                self.output,
                self.name,
                self.about,
                tuple(self.found),
                *map(beam.pvalue.AsSingleton, told),
            )
        )


def _conclude(
    _: None,
    output: str,
    name: str,
    about: dict[str, Any],
    names: Iterable[str],
    judged: list[str],
    count: int,
    first: Iterable[InputFault],
    *found: Any,
) -> None:
    document = {
        **about,
        "judged": sorted(judged),
        "faults": count,
        "first_faults": [list(fault) for fault in sorted(first)],
        **dict(zip(names, found, strict=True)),
    }
    stores.store_for(output).replace(name, json.dumps(document, indent=1).encode())
