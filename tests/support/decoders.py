"""A decoder without a child process: the same answers, and nothing contained."""

from belvedere.core.formats import pictures
from belvedere.core.formats.pictures import Picture
from belvedere.transforms.decoding_process import Limits


class InProcessDecoder:
    def decode(self, data: bytes) -> Picture:
        return pictures.decode(data, Limits().max_pixels)
