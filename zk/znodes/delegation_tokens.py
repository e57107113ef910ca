"""/delegation_token/tokens/<id>: whose token it is, who may renew it, and until when it is good.

Its HMAC is not kept: whoever knows the brokers' secret key makes it of the id.
Source: kafka.server.DelegationTokenManagerZk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from logquake.wire.principals import KafkaPrincipal, parse_principal
from logquake.zk.znodes.configs import desanitize, sanitize
from logquake.zk.znodes.json_text import dump_json, read_json

TOKENS_PATH = "/delegation_token/tokens"
TOKEN_CHANGES_PATH = "/delegation_token/token_changes"
TOKEN_CHANGE_PREFIX = "token_change_"
_VERSION = 3
_FIRST_VERSION_WITH_REQUESTER = 3


@dataclass(frozen=True, slots=True)
class TokenInformation:
    """Times are milliseconds since the epoch; a token is not renewed past ``max_ms``."""

    token_id: str
    owner: KafkaPrincipal
    requester: KafkaPrincipal
    renewers: tuple[KafkaPrincipal, ...]
    issued_ms: int
    max_ms: int
    expires_ms: int

    @staticmethod
    def path(token_id: str) -> str:
        return f"{TOKENS_PATH}/{token_id}"

    def encode(self) -> bytes:
        return dump_json(
            {
                "issueTimestamp": self.issued_ms,
                "renewers": [sanitize(str(each)) for each in self.renewers],
                "tokenRequester": sanitize(str(self.requester)),
                "tokenId": self.token_id,
                "owner": sanitize(str(self.owner)),
                "expiryTimestamp": self.expires_ms,
                "maxTimestamp": self.max_ms,
                "version": _VERSION,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> TokenInformation:
        """Raises MalformedZnode."""

        def build(value: dict[str, Any]) -> TokenInformation:
            if not 0 < value["version"] <= _VERSION:
                raise ValueError(f"version {value['version']}")
            owner = _principal(value["owner"])
            has_requester = value["version"] >= _FIRST_VERSION_WITH_REQUESTER
            return cls(
                token_id=str(value["tokenId"]),
                owner=owner,
                requester=_principal(value["tokenRequester"]) if has_requester else owner,
                renewers=tuple(map(_principal, value["renewers"])),
                issued_ms=int(value["issueTimestamp"]),
                max_ms=int(value["maxTimestamp"]),
                expires_ms=int(value["expiryTimestamp"]),
            )

        return read_json(data, build)


def token_change_path() -> str:
    """To create sequentially at; the data is the token's id."""
    return f"{TOKEN_CHANGES_PATH}/{TOKEN_CHANGE_PREFIX}"


def _principal(text: str) -> KafkaPrincipal:
    return parse_principal(desanitize(text))
