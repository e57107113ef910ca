"""The text of sasl.jaas.config: a login module's name, a control flag, and options.

    org.apache.kafka.common.security.plain.PlainLoginModule required
        username="admin" password="admin-secret" user_admin="admin-secret";

Kafka's JaasConfig reads it with java.io.StreamTokenizer; so does this, in its rules for words,
quoted text with its escapes, and comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_FLAGS = ("required", "requisite", "sufficient", "optional")
_TOKEN = re.compile(
    r"""\s+ | //[^\n]* | /\*.*?\*/
      | "(?P<double>(?:\\.|[^"\\\n])*)" | '(?P<single>(?:\\.|[^'\\\n])*)'
      | (?P<word>[A-Za-z_$\u00a0-\u00ff][\w$.\-\u00a0-\u00ff]*)
      | (?P<sign>[=;])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:(?P<octal>[0-3]?[0-7]{1,2})|(?P<other>.))", re.DOTALL)
_MEANINGS = {"a": "\x07", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class JaasError(ValueError):
    """The text is none; the error says where, and nothing that stands in it."""


@dataclass(frozen=True, slots=True)
class LoginModule:
    """``name`` is a Java class's. The options hold passwords: they are never shown."""

    name: str
    options: Mapping[str, str] = field(repr=False)


def read_login_module(text: str) -> LoginModule:
    """The one login module of a text. Raises JaasError."""
    tokens = list(_tokens(text))
    modules = tokens.count(";")
    if modules != 1 or tokens[-1] != ";":
        raise JaasError(f"{modules} login modules, each ending in a semicolon, should be 1")
    return _module([str(token) for token in tokens[:-1]])


def _module(tokens: list[str]) -> LoginModule:
    if len(tokens) < 2 or tokens[1].lower() not in _FLAGS:
        raise JaasError(f"the login module is not followed by one of {', '.join(_FLAGS)}")
    options = tokens[2:]
    if len(options) % 3 or any(sign != "=" for sign in options[1::3]):
        raise JaasError("the options are not all of the form name=value")
    return LoginModule(tokens[0], dict(zip(options[0::3], options[2::3], strict=True)))


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise JaasError(f"character {position + 1} begins nothing that is known")
        position = found.end()
        quoted = found["double"] if found["double"] is not None else found["single"]
        if quoted is not None:
            yield _unescape(quoted)
        elif found["word"] or found["sign"]:
            yield found["word"] or found["sign"]


def _unescape(text: str) -> str:
    def meaning(found: re.Match[str]) -> str:
        if found["octal"]:
            return chr(int(found["octal"], 8))
        return _MEANINGS.get(found["other"], found["other"])

    return _ESCAPE.sub(meaning, text)
