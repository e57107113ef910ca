"""Functions that options name."""

from __future__ import annotations

import pytest

from logquake.pipeline.options.clients import admin_keys, consumer_keys, producer_keys
from logquake.pipeline.options.functions import with_functions
from logquake.pipeline.options.values import OptionError

KEY = "sasl.login.callback.handler.class"


def test_a_function_is_found_where_it_is_named() -> None:
    given = {KEY: "tests.unit.pipeline.options.test_functions:token", "client.id": "c"}
    found = with_functions(given)
    assert (found[KEY](), found["client.id"]) == ("t", "c")


def token() -> str:
    return "t"


@pytest.mark.parametrize("keys_of", [consumer_keys, producer_keys, admin_keys])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("org.apache.kafka.Handler", "no function's name, module:function: org"),
        (":token", "no function's name, module:function: :token"),
        ("there.is.none:token", "is not to be found: No module named 'there'"),
        ("json:token", "is not to be found: .* no attribute 'token'"),
        ("json:__name__", "is no function"),
    ],
)
def test_what_is_no_function_is_refused_where_the_plan_is_made(
    keys_of: object, text: str, why: str
) -> None:
    assert callable(keys_of)
    keys = {"bootstrap.servers": "a:1", "security.protocol": "SASL_SSL"}
    keys |= {"sasl.mechanism": "OAUTHBEARER", KEY: text}
    with pytest.raises(OptionError, match=f"kafka.{KEY}.*{why}"):
        keys_of(keys)
