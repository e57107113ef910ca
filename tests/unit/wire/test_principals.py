from __future__ import annotations

from logquake.wire.principals import ANONYMOUS, KafkaPrincipal


def test_it_is_spelt_as_in_acls() -> None:
    assert str(KafkaPrincipal("User", "alice")) == "User:alice"
    assert str(ANONYMOUS) == "User:ANONYMOUS"


def test_a_token_does_not_make_another_user() -> None:
    assert KafkaPrincipal("User", "alice", token_authenticated=True) == KafkaPrincipal(
        "User", "alice"
    )
