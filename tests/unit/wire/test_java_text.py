"""Addresses as Java writes them."""

from __future__ import annotations

import pytest

from logquake.wire.java_text import inet_address


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("127.0.0.1", "/127.0.0.1"),
        ("::1", "/0:0:0:0:0:0:0:1"),
        ("2001:db8::a0:0", "/2001:db8:0:0:0:0:a0:0"),
        ("::ffff:10.0.0.7", "/10.0.0.7"),
        ("fe80::1%eth0", "/fe80:0:0:0:0:0:0:1%eth0"),
        ("somewhere", "/somewhere"),
    ],
)
def test_an_address_is_written_as_java_writes_one_without_a_name(host: str, text: str) -> None:
    assert inet_address(host) == text
