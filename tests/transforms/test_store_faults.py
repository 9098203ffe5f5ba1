"""Errors of stores, by whoever they are raised: who is to blame, and what to do."""

import errno
import socket

import pytest
from apache_beam.io.filesystem import BeamIOError
from botocore import exceptions as amazon
from google.api_core import exceptions as google
from google.auth import exceptions as google_auth

from belvedere.transforms import cloud_stores, input_faults, stores
from belvedere.transforms.inputs import InputCode, InputError


def _amazon(status: int, code: str) -> amazon.ClientError:
    told = {
        "Error": {"Code": code, "Message": "no"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return amazon.ClientError(told, "GetObject")


LOST = [
    _amazon(500, "InternalError"),
    _amazon(503, "SlowDown"),
    _amazon(429, "TooManyRequests"),
    _amazon(400, "RequestTimeout"),
    amazon.EndpointConnectionError(endpoint_url="http://nowhere"),
    amazon.ReadTimeoutError(endpoint_url="http://nowhere"),
    amazon.ConnectionClosedError(endpoint_url="http://nowhere"),
    amazon.IncompleteReadError(actual_bytes=1, expected_bytes=2),
    google.TooManyRequests("slower"),
    google.ServiceUnavailable("later"),
    google.RetryError("for minutes", cause=None),
    google_auth.TransportError("no line"),
    TimeoutError("timed out"),
    socket.gaierror(-3, "no name"),
    ConnectionResetError("reset"),
    OSError(errno.ENOTCONN, "Transport endpoint is not connected"),
]
REFUSED = {
    "denied": _amazon(403, "AccessDenied"),
    "forbidden": google.Forbidden("no"),
    "locked": PermissionError(errno.EACCES, "Permission denied"),
    "broken": OSError(errno.EIO, "Input/output error"),
}
_name = "{0.__class__.__name__}".format


def _as_beam_tells(error: Exception) -> list[Exception]:
    """The error as it is, and, of Google's, as Beam's file system passes it on."""
    if not type(error).__module__.startswith("google."):
        return [error]
    return [error, BeamIOError("Metadata operation failed", {"a": error})]


def _read(error: Exception) -> None:
    with input_faults.explained("s3://bucket/in/404.jpg"):
        raise error


def _written(error: Exception) -> stores.StoreError:
    with (
        pytest.raises(stores.StoreError) as caught,
        stores._explained("write", "x"),
        cloud_stores._advised("write", "x"),
    ):
        raise error
    return caught.value


@pytest.mark.parametrize("error", LOST, ids=_name)
def test_a_store_that_does_not_answer_is_no_fault_of_a_file(error):
    for told in _as_beam_tells(error):
        with pytest.raises(stores.StoreLost, match="run the same command again"):
            _read(told)
        assert isinstance(_written(told), stores.StoreLost)


@pytest.mark.parametrize("error", REFUSED.values(), ids=REFUSED)
def test_a_file_that_may_not_be_read_costs_itself_alone(error):
    for told in _as_beam_tells(error):
        with pytest.raises(InputError) as caught:
            _read(told)
        assert caught.value.code == InputCode.NOT_READ
        assert not isinstance(_written(told), stores.StoreLost)


@pytest.mark.parametrize(
    "error", [_amazon(404, "NoSuchKey"), google.NotFound("no"), FileNotFoundError("x")]
)
def test_a_file_that_is_not_there(error):
    for told in _as_beam_tells(error):
        with pytest.raises(InputError) as caught:
            _read(told)
        assert caught.value.code == InputCode.NOT_FOUND


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (_amazon(400, "ExpiredToken"), "the credentials have expired"),
        (amazon.NoCredentialsError(), "not signed in"),
        (google.Unauthorized("who"), "not signed in"),
        (google_auth.RefreshError("old"), "not signed in"),
    ],
    ids=str,
)
def test_an_account_that_is_not_signed_in_ends_the_run(error, said):
    for told in _as_beam_tells(error):
        for caught in (_written(told), _stopped(told)):
            assert said in str(caught) and not isinstance(caught, stores.StoreLost)


def _stopped(error: Exception) -> stores.StoreError:
    with pytest.raises(stores.StoreError) as caught:
        _read(error)
    return caught.value


def test_a_machine_that_is_too_small_is_no_fault_of_a_file():
    with pytest.raises(MemoryError):
        _read(MemoryError())
