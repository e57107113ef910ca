"""The broker's side of SCRAM: Kafka's ScramSaslServer."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from logquake.node.authentication.mechanism import AuthenticationRefusedError, Identity
from logquake.node.authentication.scram import ScramCredential
from logquake.wire.errors import ProtocolError
from logquake.wire.sasl.mechanism import InvalidCredentialsError
from logquake.wire.sasl.scram_mechanism import ScramMechanism, xor
from logquake.wire.sasl.scram_messages import (
    ClientFinal,
    ClientFirst,
    ServerFirst,
    server_final,
    signed_text,
)


@dataclass(frozen=True, slots=True)
class TokenCredential:
    """A delegation token's (KIP-48): whoever knows its HMAC is its owner until it expires."""

    owner: str
    expires_ms: int
    credential: ScramCredential


class CredentialStore(Protocol):
    """Where the credentials of users and of delegation tokens are looked up."""

    def of_user(self, mechanism: ScramMechanism, user: str) -> ScramCredential | None: ...

    def of_token(self, mechanism: ScramMechanism, token_id: str) -> TokenCredential | None: ...


@dataclass(frozen=True, slots=True)
class _Challenged:
    """What the proof is checked against."""

    first: ClientFirst
    challenge: ServerFirst
    credential: ScramCredential
    identity: Identity


class ScramServer:
    def __init__(
        self, mechanism: ScramMechanism, store: CredentialStore, new_nonce: Callable[[], str]
    ) -> None:
        self._mechanism = mechanism
        self._store = store
        self._new_nonce = new_nonce
        self._challenged: _Challenged | None = None
        self.identity: Identity | None = None

    def evaluate(self, token: bytes) -> bytes:
        if self.identity is not None:
            raise ProtocolError("a token after the last one of SCRAM")
        if self._challenged is None:
            return self._challenge(ClientFirst.read(token))
        return self._verify(ClientFinal.read(token), self._challenged)

    def _challenge(self, first: ClientFirst) -> bytes:
        credential, identity = self._look_up(first)
        if first.authorization_id not in ("", first.user):
            raise AuthenticationRefusedError(
                "Authentication failed: Client requested an authorization id that is different "
                "from username"
            )
        if credential.iterations < self._mechanism.min_iterations:
            raise InvalidCredentialsError("the credential has too few iterations")
        nonce = first.nonce + self._new_nonce()
        challenge = ServerFirst.of(nonce, credential.salt, credential.iterations)
        self._challenged = _Challenged(first, challenge, credential, identity)
        return challenge.text.encode()

    def _look_up(self, first: ClientFirst) -> tuple[ScramCredential, Identity]:
        if first.is_token:
            token = self._store.of_token(self._mechanism, first.user)
            if token is None:
                raise InvalidCredentialsError("no such token")
            identity = Identity(token.owner, token.expires_ms, token_authenticated=True)
            return token.credential, identity
        credential = self._store.of_user(self._mechanism, first.user)
        if credential is None:
            raise InvalidCredentialsError("no such user")
        return credential, Identity(first.user)

    def _verify(self, final: ClientFinal, challenged: _Challenged) -> bytes:
        if not final.nonce.endswith(challenged.challenge.nonce):
            raise InvalidCredentialsError("a nonce of another exchange")
        mechanism, credential = self._mechanism, challenged.credential
        signed = signed_text(challenged.first, challenged.challenge, final.unproved)
        signature = mechanism.hmac(credential.stored_key, signed)
        if len(final.proof) != len(signature) or not hmac.compare_digest(
            mechanism.hash(xor(signature, final.proof)), credential.stored_key
        ):
            raise InvalidCredentialsError("the proof is wrong")
        self.identity = challenged.identity
        self._challenged = None
        return server_final(mechanism.hmac(credential.server_key, signed))
