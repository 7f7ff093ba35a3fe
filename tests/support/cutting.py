"""A scripted model behind a line that breaks off in the middle of chosen replies."""

import http.client
import http.server
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit


@contextmanager
def cut_off(url: str, when: str) -> Generator[str]:
    """The address of a line to `url` that loses half of the reply to requests that hold `when`."""
    target = urlsplit(url)

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            there = http.client.HTTPConnection(str(target.hostname), target.port, timeout=30)
            with closing(there):
                there.request("POST", self.path, body, {"content-type": "application/json"})
                answer = there.getresponse()
                status, whole = answer.status, answer.read()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[: len(whole) // 2] if when.encode() in body else whole)
            self.close_connection = True

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
