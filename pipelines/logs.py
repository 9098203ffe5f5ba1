"""What is logged, and how: a line of text or of JSON on standard error.

In text, warnings and errors of our own; Beam's chatter is left out, and on the runner
in this process its errors too, as the same error ends the command. In JSON, everything
from INFO on.
"""

import datetime
import json
import logging
import sys

# Beam says these of every pipeline, the last where a job ends before its workers look;
# nothing follows from them: a job that fails ends the command with its error.
_NOISE = (
    "apitools not found",
    "This output type hint will be ignored",
    "Failed to read inputs in the data plane",
)


class _Signal(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(_NOISE)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"{record.levelname.lower()}: {record.getMessage()}"


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        fields = {
            "time": time.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields)


def configure(as_json: bool = False) -> None:
    """Sets the one handler of this process; before Beam is imported, if it can be."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_Signal())
    handler.setFormatter(_Json() if as_json else _Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO if as_json else logging.WARNING)
    logging.getLogger("apache_beam").setLevel(logging.NOTSET)


def hush_beam() -> None:
    """For a run in this process: in text, its end tells all that Beam would."""
    if logging.getLogger().getEffectiveLevel() > logging.INFO:
        logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
