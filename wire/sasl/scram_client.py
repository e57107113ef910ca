"""The client's side of SCRAM, by which a broker tells another one who it is."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

from logquake.wire.sasl.mechanism import InvalidCredentialsError
from logquake.wire.sasl.scram_mechanism import ScramMechanism, xor
from logquake.wire.sasl.scram_messages import (
    ClientFinal,
    ClientFirst,
    ServerFirst,
    read_server_final,
    signed_text,
)


@dataclass(slots=True, repr=False)
class ScramLogin:
    """A user and a password, or a token's id and its HMAC. Reconnections cost no key derivation:
    the last salted password is kept.
    """

    mechanism: ScramMechanism
    user: str
    password: str
    is_token: bool = False
    _salted: dict[tuple[bytes, int], bytes] = field(default_factory=dict)

    def salted_password(self, salt: bytes, iterations: int) -> bytes:
        found = self._salted.get((salt, iterations))
        if found is None:
            found = self.mechanism.salted_password(self.password, salt, iterations)
            self._salted = {(salt, iterations): found}
        return found


class ScramClient:
    def __init__(self, login: ScramLogin, new_nonce: Callable[[], str]) -> None:
        self._login = login
        self._mechanism = login.mechanism
        self.name = login.mechanism.value
        self._first = ClientFirst.of(login.user, new_nonce(), is_token=login.is_token)
        self._expected_signature: bytes | None = None

    def first(self) -> bytes:
        return self._first.encode()

    def respond(self, challenge: bytes) -> bytes | None:
        if self._expected_signature is None:
            return self._prove(ServerFirst.read(challenge))
        if not hmac.compare_digest(read_server_final(challenge), self._expected_signature):
            raise InvalidCredentialsError("the server does not know the password")
        return None

    def _prove(self, challenge: ServerFirst) -> bytes:
        if not challenge.nonce.startswith(self._first.nonce):
            raise InvalidCredentialsError("a nonce of another exchange")
        mechanism = self._mechanism
        if challenge.iterations < mechanism.min_iterations:
            raise InvalidCredentialsError("so few iterations that the password could be guessed")
        salted = self._login.salted_password(challenge.salt, challenge.iterations)
        unproved = ClientFinal.without_proof(challenge.nonce)
        signed = signed_text(self._first, challenge, unproved)
        client_key = mechanism.client_key(salted)
        signature = mechanism.hmac(mechanism.hash(client_key), signed)
        self._expected_signature = mechanism.hmac(mechanism.server_key(salted), signed)
        return ClientFinal.proved(unproved, xor(client_key, signature))
