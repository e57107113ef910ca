from __future__ import annotations

import pytest

from logquake.wire.sasl.jaas import JaasError, LoginModule, read_login_module

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f"{PLAIN} required;", {}),
        (
            f'{PLAIN} required username="admin" password="a b;=\\"\\\\" user_admin=x;',
            {"username": "admin", "password": 'a b;="\\', "user_admin": "x"},
        ),
        (f"{PLAIN} REQUIRED /* note */ a='1' // end\n b=\"\\101\\n\" ;", {"a": "1", "b": "A\n"}),
        (f'{PLAIN}\n  sufficient\n  user_a-b$c="";', {"user_a-b$c": ""}),
    ],
)
def test_a_login_module(text: str, options: dict[str, str]) -> None:
    assert read_login_module(text) == LoginModule(PLAIN, options)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"{PLAIN};",
        f"{PLAIN} required",
        f"{PLAIN} perhaps;",
        f"{PLAIN} required secret;",
        f'{PLAIN} required a="secret" b;',
        f'{PLAIN} required a="secret;',
        f"{PLAIN} required; {PLAIN} required;",
        f"{PLAIN} required a=@secret;",
    ],
)
def test_what_is_none_is_not_shown(text: str) -> None:
    with pytest.raises(JaasError) as caught:
        read_login_module(text)
    assert "secret" not in str(caught.value)


def test_options_are_not_shown() -> None:
    assert "hush" not in repr(read_login_module(f'{PLAIN} required password="hush";'))
