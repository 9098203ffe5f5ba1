"""Object stores in this process: what a client library and Beam talk to.

`google_server` answers the real google-cloud-storage client over HTTP as far as single
uploads go; `Objects` stands in for Beam's file systems, for reading.
"""

import contextlib
import fnmatch
import http.server
import io
import json
import re
import threading
import types
import urllib.parse
from collections.abc import Iterator


class Objects(dict):
    """Path -> content, with the two calls of `FileSystems` that are used."""

    def open(self, path: str, compression_type: str = "auto") -> io.BytesIO:
        if path not in self:
            raise OSError(f"no object {path}")
        return io.BytesIO(self[path])

    def match(self, patterns: list[str]) -> list[types.SimpleNamespace]:
        found = [
            types.SimpleNamespace(
                path=path, size_in_bytes=len(data), last_updated_in_seconds=0.0
            )
            for path, data in sorted(self.items())
            if fnmatch.fnmatchcase(path, patterns[0])
        ]
        return [types.SimpleNamespace(metadata_list=found)]


@contextlib.contextmanager
def google_server(objects: Objects) -> Iterator[types.SimpleNamespace]:
    """Serves uploads into `objects`; `.statuses` are answers to give instead, `.url`.

    An answer of 503 is given after the object is stored: the answer that gets lost. One
    of 403 comes before any look at conditions.
    """
    control = types.SimpleNamespace(statuses=[], uploads=0)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            control.uploads += 1
            body = self.rfile.read(int(self.headers["Content-Length"]))
            path, _, query = self.path.partition("?")
            options = urllib.parse.parse_qs(query)
            metadata, data = _parts(body, self.headers["Content-Type"])
            bucket = re.search("/b/([^/]+)/o", path)[1]
            uri = f"gs://{bucket}/{metadata['name']}"
            planned = control.statuses.pop(0) if control.statuses else 200
            taken = options.get("ifGenerationMatch") == ["0"] and uri in objects
            if not taken and planned in (200, 503):
                objects[uri] = data
            failed = 412 if taken and planned != 403 else planned
            self._answer(failed, metadata["name"])

        def _answer(self, status: int, name: str) -> None:
            body = json.dumps({"name": name, "generation": "1"}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    control.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield control
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _parts(body: bytes, content_type: str) -> tuple[dict, bytes]:
    """Metadata and data of a multipart/related upload."""
    boundary = re.search('boundary="?([^"]+)"?', content_type)[1].encode()
    _, first, second, _ = body.split(b"--" + boundary)
    metadata = json.loads(first.partition(b"\r\n\r\n")[2])
    return metadata, second.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
