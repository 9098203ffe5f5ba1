"""Small copies of pictures, read again from where they came from."""

import logging
from collections.abc import Iterator, Sequence

from belvedere.core.formats import thumbnails
from belvedere.core.formats.faults import PictureError
from belvedere.pipelines.failures import Mistake, opening
from belvedere.transforms import decoding, sources, units
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.sources import Source

_log = logging.getLogger(__name__)


def small_copies(
    wanted: set[str], images: Sequence[Source]
) -> Iterator[tuple[str, bytes]]:
    """The address and a JPEG of each of these pictures that is still there."""
    missing = set(wanted)
    with decoding.Decoder() as decoder:
        for data, uri in _contents(missing, images):
            try:
                image = decoder.decode(data).image
            except PictureError as error:
                _log.warning("%s cannot be shown: %s", uri, error)
                continue
            yield uri, thumbnails.jpeg(image)


def _contents(
    missing: set[str], images: Sequence[Source]
) -> Iterator[tuple[bytes, str]]:
    for source in images:
        if not missing:
            return
        try:
            with opening():
                yield from _of_source(missing, source)
        except Mistake as error:  # it was moved, or a tar is broken
            _log.warning("pictures of %s cannot be shown: %s", source.uri, error)


def _of_source(missing: set[str], source: Source) -> Iterator[tuple[bytes, str]]:
    for partition in sources.partitions(source):
        here = any(uri.startswith(partition.uri) for uri in missing)
        if partition.kind != "list" and not here:
            continue
        for piece in units.slices(partition):
            files = {file.uri for file in piece.inputs}
            if piece.span is None and not files & missing:
                continue
            for found in sources.read(piece):
                if not isinstance(found, InputFault) and found[0].uri in missing:
                    missing.discard(found[0].uri)
                    yield found[1], found[0].uri
            if not missing:
                return
