"""The SCRAM credentials that a broker knows: Kafka's CredentialProvider and its caches.

A user's are the entries of /config/users/<user> that bear a mechanism's name. Those of delegation
tokens come from whoever keeps the tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from logquake.node.authentication.scram import ScramCredential
from logquake.node.authentication.scram_server import TokenCredential
from logquake.wire.sasl.scram_mechanism import ScramMechanism

FindToken = Callable[[ScramMechanism, str], TokenCredential | None]


class Credentials:
    """``find_token`` is asked for the credential of a token's id; whoever keeps tokens sets it."""

    def __init__(self) -> None:
        self._users: dict[tuple[ScramMechanism, str], ScramCredential] = {}
        self.find_token: FindToken = _no_tokens

    @property
    def users(self) -> frozenset[str]:
        return frozenset(user for _, user in self._users)

    def update_user(self, user: str, config: Mapping[str, str]) -> None:
        """Take over what the user's znode says now, {} when it is gone.

        Raises ValueError for a credential that is none; then the user has none of that mechanism.
        """
        wrong: ValueError | None = None
        for mechanism in ScramMechanism:
            self._users.pop((mechanism, user), None)
            text = config.get(mechanism.value)
            if text is None:
                continue
            try:
                self._users[mechanism, user] = ScramCredential.decode(text)
            except ValueError as error:
                wrong = error
        if wrong is not None:
            raise wrong

    def of_user(self, mechanism: ScramMechanism, user: str) -> ScramCredential | None:
        return self._users.get((mechanism, user))

    def of_token(self, mechanism: ScramMechanism, token_id: str) -> TokenCredential | None:
        return self.find_token(mechanism, token_id)


def _no_tokens(_mechanism: ScramMechanism, _token_id: str) -> None:
    return None
