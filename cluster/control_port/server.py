"""The sockets of the control port: the standard library's server, with bounds.

A thread a connection, since a wait may last a minute; whoever comes when there are MAX_CONNECTIONS
is told to come again.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import Any

from logquake.cluster.control_port.application import HttpAnswer, HttpRequest

Handle = Callable[[HttpRequest], HttpAnswer]

MAX_CONNECTIONS = 64
MAX_BODY_BYTES = 64 * 1024
IDLE_TIMEOUT_S = 60.0  # between two requests of a connection, and between two pieces of one


class ControlPortServer(ThreadingMixIn, HTTPServer):
    """``listener`` is bound and listens; closed with the server."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: socket.socket, handle: Handle) -> None:
        super().__init__(listener.getsockname(), _Connection, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.handle_http = handle
        self._room = threading.BoundedSemaphore(MAX_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is nobody's error; whatever else is printed, is ours."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "logquake"
    sys_version = ""
    timeout = IDLE_TIMEOUT_S
    error_content_type = "application/json"
    error_message_format = '{"error": "this is not served: %(code)d"}\n'
    server: ControlPortServer

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""

    def _serve(self) -> None:
        length = self.headers.get("Content-Length", "0")
        in_chunks = "Transfer-Encoding" in self.headers
        if in_chunks or not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            self._answer(
                HttpAnswer(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    {"error": f"a body has its Content-Length, at most {MAX_BODY_BYTES}"},
                )
            )
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(length))
        self._answer(self.server.handle_http(HttpRequest(self.command, self.path, headers, body)))

    def _answer(self, answer: HttpAnswer) -> None:
        body = json.dumps(answer.document).encode() + b"\n"
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
