"""ssl.principal.mapping.rules: from a distinguished name to a principal's (KIP-371).

    RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,RULE:^CN=(.*?)$/$1/L,DEFAULT

The first rule whose pattern is the whole name decides. Kafka's SslPrincipalMapper; patterns are
Python's, which for such rules mean what Java's mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_RULE = re.compile(
    r"\s*(?:(?P<default>DEFAULT)"
    r"|RULE:(?P<pattern>(?:\\.|[^\\/])*)/(?P<to>(?:\\.|[^\\/])*)/(?P<case>[LU]?))\s*(?:,\s*|$)"
)
_REFERENCE = re.compile(r"\\(?P<escaped>.)|\$(?P<group>\d+)")


class NoMatchingRuleError(Exception):
    """No rule is about the name: whoever has it is let in by none of them."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """Without a pattern it is DEFAULT: the name as it is."""

    pattern: re.Pattern[str] | None = None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        if self.pattern is None:
            return name
        found = self.pattern.fullmatch(name)
        if found is None:
            return None
        result = self._replaced(found)
        if self.case == "L":
            return result.lower()
        return result.upper() if self.case == "U" else result

    def _replaced(self, found: re.Match[str]) -> str:
        """``$2`` is a group, as many of its digits as name one, and itself where none is."""
        count = len(found.groups())

        def meaning(reference: re.Match[str]) -> str:
            if reference["escaped"]:
                return str(reference["escaped"])
            digits = reference["group"]
            for length in range(len(digits), 0, -1):
                if int(digits[:length]) <= count:
                    return (found[int(digits[:length])] or "") + digits[length:]
            return reference[0]

        return _REFERENCE.sub(meaning, self.replacement)


class PrincipalMapping:
    """Raises ValueError for rules that are none."""

    def __init__(self, rules: str) -> None:
        self._rules = tuple(_parse(rules.strip()))

    def name_of(self, distinguished_name: str) -> str:
        """Raises NoMatchingRuleError."""
        for rule in self._rules:
            name = rule.apply(distinguished_name)
            if name is not None:
                return name
        raise NoMatchingRuleError(f"no rule applies to {distinguished_name}")


def _parse(text: str) -> list[_Rule]:
    rules, position = [], 0
    while position < len(text):
        found = _RULE.match(text, position)
        if found is None:
            raise ValueError(f"no rule begins at character {position + 1}")
        position = found.end()
        if found["default"]:
            rules.append(_Rule())
        else:
            rules.append(_Rule(_compiled(found["pattern"]), found["to"], found["case"]))
    return rules


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"a pattern that is none: {error}") from None
