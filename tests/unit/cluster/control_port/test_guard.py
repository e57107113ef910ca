from __future__ import annotations

from http import HTTPStatus

import pytest

from logquake.cluster.control_port.guard import Guard

GUARD = Guard("secret", 4711)
OURS = {"host": "127.0.0.1:4711", "authorization": "Bearer secret"}


@pytest.mark.parametrize("host", ["127.0.0.1:4711", "localhost:4711"])
def test_who_has_the_token_comes_in(host: str) -> None:
    assert GUARD.refusal({**OURS, "host": host}) is None


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"authorization": "Bearer secreT"}, HTTPStatus.UNAUTHORIZED),
        ({"authorization": "secret"}, HTTPStatus.UNAUTHORIZED),
        ({"authorization": ""}, HTTPStatus.UNAUTHORIZED),
        ({"authorization": "Bearer \u00fc"}, HTTPStatus.UNAUTHORIZED),
        ({"host": "rebound.example:4711"}, HTTPStatus.FORBIDDEN),
        ({"host": "127.0.0.1"}, HTTPStatus.FORBIDDEN),
        ({"origin": "http://127.0.0.1:4711"}, HTTPStatus.FORBIDDEN),
        ({"origin": "null"}, HTTPStatus.FORBIDDEN),
    ],
)
def test_others_and_pages_in_browsers_do_not(changes: dict[str, str], status: HTTPStatus) -> None:
    refused = GUARD.refusal({**OURS, **changes})
    assert refused is not None
    assert refused[0] is status


def test_no_headers_are_refused() -> None:
    assert GUARD.refusal({}) is not None
