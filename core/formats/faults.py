"""What can be wrong with a picture or with a row of boxes, as fixed codes.

A code goes into `dead_letters/`, where a script may rely on it; the message is for a
person. Codes are added, never renamed.
"""

import dataclasses
import enum


class PictureCode(enum.StrEnum):
    """Why there are no pixels."""

    FORMAT_NOT_ALLOWED = "format_not_allowed"  # begins like no picture that we read
    MODE_NOT_ALLOWED = "mode_not_allowed"  # pixels without a meaning in 0..255
    UNREADABLE = "unreadable"  # the decoder, or a check sum, says no
    TRUNCATED = "truncated"  # some of the pixels are missing
    TOO_LARGE = "too_large"  # more pixels than allowed, by its header
    TOO_MANY_BYTES = "too_many_bytes"  # the file itself is larger than allowed
    ZERO_SIZE = "zero_size"
    DECODER_CRASHED = "decoder_crashed"
    DECODER_TIMEOUT = "decoder_timeout"
    DECODER_MEMORY = "decoder_memory"


class RowCode(enum.StrEnum):
    """Why a row of a list, or an object of an XML file, is not used."""

    BAD_ENCODING = "bad_encoding"  # not UTF-8
    BAD_ROW = "bad_row"  # not the fields that the header promises
    BAD_LABEL = "bad_label"  # empty, too long, or not printable
    BAD_NAME = "bad_name"  # of an image, likewise
    BAD_NUMBER = "bad_number"  # no finite number
    BAD_BOX = "bad_box"  # no area or swapped corners
    BOX_OUTSIDE = "box_outside"  # leaves the picture
    FRAME_MISMATCH = "frame_mismatch"  # the stated size fits no frame of the picture
    XML_MALFORMED = "xml_malformed"
    XML_ENTITIES = "xml_entities"  # a document type or entities: refused unread
    XML_TOO_LARGE = "xml_too_large"


class PictureError(ValueError):
    """A picture that could not be read, with its code."""

    def __init__(self, code: PictureCode, message: str) -> None:
        super().__init__(code, message)
        self.code = PictureCode(code)
        self.message = message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclasses.dataclass(frozen=True)
class RowFault:
    """A row that could not be used: where it stands, its code, what is wrong.

    Attributes:
      where: "line 12", or "object 3".
      code: of the fixed enumeration.
      message: the offending value and what was wanted.
      image: as the row names it, empty where it is not known.
      label: likewise.
    """

    where: str
    code: RowCode
    message: str
    image: str = ""
    label: str = ""
