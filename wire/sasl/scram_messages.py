"""The messages of SCRAM, with Kafka's limits on them (ScramMessages).

Only the channel binding "n" is known, and a user's name is of ASCII characters.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from dataclasses import dataclass

from logquake.wire.sasl.mechanism import InvalidCredentialsError

_VALUE = r"[\x01-\x2b\x2d-\x7f]+"
_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_PRINTABLE = r"[\x21-\x2b\x2d-\x7e]+"
_CHARACTER = "[a-zA-Z0-9/+]"
_BASE64 = f"(?:{_CHARACTER}{{4}})*(?:{_CHARACTER}{{3}}=|{_CHARACTER}{{2}}==)?"
_RESERVED = f"(?:m={_VALUE},)?"
_EXTENSIONS = f"(?:,[A-Za-z]+={_VALUE})*"

_CLIENT_FIRST = re.compile(
    f"n,(?:a=(?P<authzid>{_NAME}))?,"
    f"(?P<bare>{_RESERVED}n=(?P<user>{_NAME}),r=(?P<nonce>{_PRINTABLE})(?P<extensions>{_EXTENSIONS}))"
)
_SERVER_FIRST = re.compile(
    f"{_RESERVED}r=(?P<nonce>{_PRINTABLE}),s=(?P<salt>{_BASE64}),i=(?P<iterations>[0-9]+)"
    f"{_EXTENSIONS}"
)
_CLIENT_FINAL = re.compile(
    f"(?P<unproved>c={_BASE64},r=(?P<nonce>{_PRINTABLE}){_EXTENSIONS}),p=(?P<proof>{_BASE64})"
)
_SERVER_FINAL = re.compile(f"v=(?P<signature>{_BASE64}){_EXTENSIONS}")

_TOKEN_AUTH = "tokenauth"  # ScramLoginModule.TOKEN_AUTH_CONFIG: the name is a token's id (KIP-48)
_CHANNEL_BINDING = b64encode(b"n,,").decode()
MAX_ITERATIONS = 1_000_000  # sixty times Kafka's most; counted to in less than a second
_MAX_ITERATIONS_DIGITS = len(str(MAX_ITERATIONS))


@dataclass(frozen=True, slots=True)
class ClientFirst:
    """``bare`` is the part of it that is signed."""

    bare: str
    user: str
    nonce: str
    authorization_id: str
    is_token: bool

    @classmethod
    def read(cls, content: bytes) -> ClientFirst:
        found = _match(_CLIENT_FIRST, content)
        extensions = dict(each.split("=", 1) for each in found["extensions"].split(",")[1:])
        return cls(
            bare=found["bare"],
            user=_user(found["user"]),
            nonce=found["nonce"],
            authorization_id=found["authzid"] or "",
            is_token=extensions.get(_TOKEN_AUTH, "").lower() == "true",
        )

    @classmethod
    def of(cls, user: str, nonce: str, *, is_token: bool) -> ClientFirst:
        escaped = user.replace("=", "=3D").replace(",", "=2C")
        extension = f",{_TOKEN_AUTH}=true" if is_token else ""
        return cls(f"n={escaped},r={nonce}{extension}", user, nonce, "", is_token)

    def encode(self) -> bytes:
        return f"n,,{self.bare}".encode()


@dataclass(frozen=True, slots=True)
class ServerFirst:
    text: str
    nonce: str
    salt: bytes
    iterations: int

    @classmethod
    def of(cls, nonce: str, salt: bytes, iterations: int) -> ServerFirst:
        return cls(
            f"r={nonce},s={b64encode(salt).decode()},i={iterations}", nonce, salt, iterations
        )

    @classmethod
    def read(cls, content: bytes) -> ServerFirst:
        found = _match(_SERVER_FIRST, content)
        digits = found["iterations"]
        iterations = int(digits) if len(digits) <= _MAX_ITERATIONS_DIGITS else 0
        if not 0 < iterations <= MAX_ITERATIONS:
            raise InvalidCredentialsError(
                f"iterations that are none, or more than {MAX_ITERATIONS:_}: {digits[:20]}"
            )
        return cls(found[0], found["nonce"], b64decode(found["salt"]), iterations)


@dataclass(frozen=True, slots=True)
class ClientFinal:
    """``unproved`` is the part of it that is signed."""

    unproved: str
    nonce: str
    proof: bytes

    @classmethod
    def read(cls, content: bytes) -> ClientFinal:
        found = _match(_CLIENT_FINAL, content)
        return cls(found["unproved"], found["nonce"], b64decode(found["proof"]))

    @staticmethod
    def without_proof(nonce: str) -> str:
        return f"c={_CHANNEL_BINDING},r={nonce}"

    @staticmethod
    def proved(unproved: str, proof: bytes) -> bytes:
        return f"{unproved},p={b64encode(proof).decode()}".encode()


def server_final(signature: bytes) -> bytes:
    return b"v=" + b64encode(signature)


def read_server_final(content: bytes) -> bytes:
    """The signature; an error in its place is a refusal."""
    return b64decode(_match(_SERVER_FINAL, content)["signature"])


def signed_text(client_first: ClientFirst, server_first: ServerFirst, unproved: str) -> bytes:
    """What both sides sign: RFC 5802's AuthMessage."""
    return f"{client_first.bare},{server_first.text},{unproved}".encode()


def _match(pattern: re.Pattern[str], content: bytes) -> re.Match[str]:
    found = pattern.fullmatch(content.decode(errors="replace"))
    if found is None:
        raise InvalidCredentialsError("a SCRAM message that is none")
    return found


def _user(escaped: str) -> str:
    return escaped.replace("=2C", ",").replace("=3D", "=")
