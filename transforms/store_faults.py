"""What an error of a store means: who is to blame, and what to do about it.

Client libraries, Beam's file systems and the operating system each have their own way
to say that a store does not answer, that an account may not, that a file is not there.
Those who write and those who read are told the same of each. Libraries are not imported
for this: their errors are known by name, status and code.
"""

import errno

LOST = (
    "the store does not answer: check the network and the address; what is finished "
    "is kept, run the same command again"
)
UNSIGNED = "not signed in: give the credentials of an account"
EXPIRED = "the credentials have expired: renew them, then run the same command again"
_ADVICE = {
    400: "the store refuses the request: check the address and the credentials",
    401: UNSIGNED,
    403: "permission denied: check the rights of the account on this bucket",
    404: "there is no such bucket: check its name",
}
_LOST_STATUS = (408, 429)  # time is up, too many requests; and all from 500 on
_LOST_CODES = ("RequestTimeout", "SlowDown", "Throttling", "ThrottlingException")
_LOST_NAMES = {
    *("ConnectionError", "RequestException", "HTTPClientError", "HTTPError"),
    *("RetryError", "TransportError", "TimeoutError", "gaierror", "SSLError"),
    *("IncompleteReadError", "HTTPException", "DataCorruption"),
}
_LOST_NUMBERS = (
    *(errno.ENOTCONN, errno.ESTALE, errno.EHOSTDOWN, errno.EHOSTUNREACH),
    *(errno.ENETDOWN, errno.ENETUNREACH),
)
_EXPIRED_CODES = ("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired")
_UNSIGNED_NAMES = ("NoCredentials", "PartialCredentials", "DefaultCredentials")


def cause(error: BaseException) -> BaseException:
    """What Beam wrapped into its own error."""
    for _ in range(5):
        details = getattr(error, "exception_details", None)
        inner = next(iter(details.values()), None) if details else error.__context__
        beams = type(error).__module__.startswith("apache_beam.")
        if not beams or not isinstance(inner, Exception):
            return error
        error = inner
    return error


def status(error: BaseException) -> int | None:
    """The HTTP status that an error stands for, in each library's way to say it."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    code = getattr(response, "status_code", None) or getattr(error, "code", None)
    return int(code) if isinstance(code, int) else None


def advice(error: BaseException) -> str | None:
    """What to do about an error, None for one that we do not know."""
    number, code = status(error), _code(error)
    if code in _EXPIRED_CODES:
        return EXPIRED
    if type(error).__name__.startswith((*_UNSIGNED_NAMES, "Refresh")):
        return UNSIGNED
    if number is not None:
        passing = number >= 500 or number in _LOST_STATUS or code in _LOST_CODES
        return LOST if passing else _ADVICE.get(number)
    lost = _LOST_NAMES & {kind.__name__ for kind in type(error).__mro__}
    if lost or getattr(error, "errno", None) in _LOST_NUMBERS:
        return LOST
    return None


def is_missing(error: BaseException) -> bool:
    return isinstance(error, FileNotFoundError) or status(error) == 404


def _code(error: BaseException) -> str:
    """Amazon's name for what went wrong."""
    response = getattr(error, "response", None)
    told = response.get("Error", {}) if isinstance(response, dict) else {}
    return str(told.get("Code", ""))
