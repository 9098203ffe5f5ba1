"""Object stores on loopback (`emulators`), and bad weather.

`Weather` stands between a client and its store: it delays, cuts and refuses.
"""

import contextlib
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator

import pytest
from emulators import BUCKET, Emulator, start

from belvedere.transforms import cloud_stores, s3_files, stores

REFUSALS = {
    "gs": ("application/json", '{"error": {"code": 403, "message": "no access"}}'),
    "s3": (
        "application/xml",
        "<Error><Code>AccessDenied</Code><Message>no access</Message></Error>",
    ),
}
BUCKET_ITSELF = re.compile(rb"GET /storage/v1/b/[^/?]+\?")


@pytest.fixture(scope="session")
def running() -> Iterator[Callable[[str], Emulator]]:
    """Emulators by name, each started once."""
    started: dict[str, Emulator] = {}

    def get(name: str) -> Emulator:
        if name not in started:
            started[name] = start(name)
        return started[name]

    yield get
    for emulator in started.values():
        emulator.stop()


@pytest.fixture
def start_emulator() -> Iterator[Callable[[str], Emulator]]:
    """Starts one that may be stopped."""
    started: list[Emulator] = []

    def get(name: str) -> Emulator:
        started.append(start(name))
        return started[-1]

    yield get
    for emulator in started:
        emulator.stop()


@pytest.fixture
def visit(monkeypatch) -> Iterator[Callable[[Emulator, str], str]]:
    """Points all clients to an emulator; an address there that nobody has used."""
    from apache_beam.internal.gcp import auth

    _forget()

    def point(emulator: Emulator, url: str = "") -> str:
        if emulator.scheme == "gs":
            monkeypatch.setenv("STORAGE_EMULATOR_HOST", url or emulator.url)
            # Else Beam looks for credentials in this network, for twenty seconds.
            monkeypatch.setattr(auth._Credentials, "_credentials_init", True)
            monkeypatch.setattr(auth._Credentials, "_credentials", None)
        else:
            monkeypatch.setenv("AWS_ENDPOINT_URL", url or emulator.url)
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
            monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        _forget()
        return f"{emulator.scheme}://{BUCKET}/{uuid.uuid4().hex}"

    yield point
    _forget()


def _forget() -> None:
    cloud_stores._storage_client.cache_clear()
    s3_files.client.cache_clear()


class Weather:
    """A proxy on loopback before an emulator.

    Attributes:
      url: of the proxy.
      delay: seconds before each answer.
      refuse: whether to answer 403 to everything.
      cut: how many of the next answers to cut off in the middle.
      only: what the first line of a request has to hold to be refused or cut off.
      requests: how many connections there were.
    """

    def __init__(self, emulator: Emulator) -> None:
        self.delay, self.refuse, self.cut, self.requests = 0.0, False, 0, 0
        self.only = b""
        self._scheme = emulator.scheme
        self._behind = int(emulator.url.rpartition(":")[2])
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(
                    target=self._serve, args=(client,), daemon=True
                ).start()

    def _serve(self, client: socket.socket) -> None:
        """One request and its answer: the connection is closed behind it."""
        with client, contextlib.suppress(OSError):
            self.requests += 1
            request = _message(client)
            if not request:
                return
            time.sleep(self.delay)
            meant = self.only in request.partition(b"\r\n")[0]
            refused = self.refuse and meant
            answer = self._refusal() if refused else self._answer(request)
            # Google's client also asks for the bucket itself, on the side.
            if self.cut > 0 and meant and not BUCKET_ITSELF.match(request):
                self.cut -= 1
                head, mark, body = answer.partition(b"\r\n\r\n")
                answer = head + mark + body[: len(body) // 2] if body else b""
            client.sendall(answer)

    def _refusal(self) -> bytes:
        kind, body = REFUSALS[self._scheme]
        head = f"HTTP/1.1 403 Forbidden\r\nContent-Type: {kind}\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()

    def _answer(self, request: bytes) -> bytes:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = [n for n in head.split(b"\r\n") if not n.lower().startswith(b"connec")]
        lines.append(b"Connection: close")
        with socket.create_connection(("127.0.0.1", self._behind)) as store:
            store.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + body)
            return b"".join(iter(lambda: store.recv(1 << 16), b""))


def _message(client: socket.socket) -> bytes:
    """A request with its body; says "go on" where it is asked to."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := client.recv(1 << 16)):
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    fields = {
        name.strip().lower(): value.strip()
        for name, _, value in (n.partition(b":") for n in head.split(b"\r\n")[1:])
    }
    if fields.get(b"expect", b"").lower() == b"100-continue":
        client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        head = b"\r\n".join(
            n for n in head.split(b"\r\n") if not n.lower().startswith(b"expect")
        )
    length = int(fields.get(b"content-length", b"0"))
    while len(body) < length:
        body += client.recv(1 << 16)
    return head + b"\r\n\r\n" + body


@pytest.fixture
def weather(running, visit) -> Iterator[Callable[[str], tuple[stores.Store, Weather]]]:
    """A store with a proxy before it."""
    made: list[Weather] = []

    def before(name: str) -> tuple[stores.Store, Weather]:
        proxy = Weather(running(name))
        made.append(proxy)
        return stores.store_for(visit(running(name), proxy.url)), proxy

    yield before
    for proxy in made:
        proxy.close()


@pytest.fixture
def impatient(monkeypatch) -> None:
    """Client libraries that give up after a moment, not after minutes."""
    from apache_beam.io.gcp import gcsio_retry
    from apache_beam.utils import retry
    from google.cloud.storage import retry as google

    for policy in (
        google.DEFAULT_RETRY,
        gcsio_retry.DEFAULT_RETRY_WITH_THROTTLING_COUNTER,
    ):
        monkeypatch.setattr(policy, "_timeout", 1.0)
        monkeypatch.setattr(policy, "_deadline", 1.0, raising=False)
        monkeypatch.setattr(policy, "_initial", 0.1)
    monkeypatch.setattr(retry.Clock, "sleep", lambda *_: None)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
