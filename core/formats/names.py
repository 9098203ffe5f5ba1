"""Names that come with the data: which are taken, and what becomes of them on disk.

Labels and image names are values. They are never joined to a path: a folder of ours is
called by `slug(label)`, which holds only letters, digits and hyphens.
"""

import hashlib
import re
import unicodedata

MAX_LABEL = 200  # characters
MAX_NAME = 1024  # bytes, as the strictest object store allows
_SLUG = 40
_HASH = 10
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def slug(label: str) -> str:
    """A folder name for a class, unique by its hash and readable by its words.

    >>> slug("Garbage truck")
    'garbage-truck-4c0d5ff38b'
    >>> slug("../é<script>")
    'e-script-0635c598ae'
    """
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:_SLUG].strip("-")
    digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{words or 'class'}-{digest[:_HASH]}"


def label_fault(label: str) -> str | None:
    """What is wrong with a label, or None."""
    if not label.strip():
        return "a label is empty"
    if len(label) > MAX_LABEL:
        return f"a label has {len(label)} characters, at most {MAX_LABEL} are allowed"
    return text_fault("label", label)


def name_fault(name: str) -> str | None:
    """What is wrong with the name of an image, or None."""
    if not name:
        return "the name of an image is empty"
    if fault := text_fault("name", name):
        return fault
    size = len(name.encode())
    if size > MAX_NAME:
        return f"a name has {size} bytes, at most {MAX_NAME} are allowed"
    return None


def text_fault(what: str, text: str) -> str | None:
    if _CONTROL.search(text):
        return f"the {what} {printable(text)} holds control characters"
    try:
        text.encode()
    except UnicodeEncodeError:
        return f"the {what} {printable(text)} is not UTF-8"
    if "\ufffd" in text:
        return f"the {what} {printable(text)} was not UTF-8"
    return None


def printable(text: str, length: int = 120) -> str:
    """`text` in quotes, shortened and in plain ASCII, fit for a message or a log.

    >>> printable("a\\nb")
    "'a\\\\nb'"
    """
    if len(text) > length:
        text = text[:length] + "..."
    return ascii(text)


def stem(name: str) -> str:
    """The last part of a path without its extension.

    >>> stem("a.b/c.d.jpg")
    'c.d'
    """
    last = name.rpartition("/")[2]
    return last.rpartition(".")[0] or last
