"""ssl.principal.mapping.rules: the cases of KIP-371."""

from __future__ import annotations

import pytest

from logquake.node.authentication.principal_mapping import NoMatchingRuleError, PrincipalMapping

RULES = (
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L,"
    "RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L, "
    "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U,"
    "DEFAULT"
)


@pytest.mark.parametrize(
    ("name", "principal"),
    [
        ("CN=Duke,OU=ServiceUsers,O=Org,C=US", "duke"),
        ("CN=Duke,OU=SME,O=mycp,L=Fulton,ST=MD,C=US", "duke@sme"),
        ("cn=duke,O=x", "DUKE"),
        ("OU=JavaSoft,O=Sun", "OU=JavaSoft,O=Sun"),
    ],
)
def test_the_first_rule_that_fits_decides(name: str, principal: str) -> None:
    assert PrincipalMapping(RULES).name_of(name) == principal


@pytest.mark.parametrize(
    ("rule", "principal"),
    [
        ("RULE:^CN=(.*)$/$1/", "duke"),
        ("RULE:^CN=(.*)$/$2-$1/", "$2-duke"),
        ("RULE:^CN=(.*)$/$12/", "duke2"),
        ("RULE:^CN=(.*)$/a\\$1/", "a$1"),
        ("RULE:^CN=.*$/fixed/U", "FIXED"),
        ("RULE:^CN=(d)(u)ke$/$0/L", "cn=duke"),
    ],
)
def test_replacements(rule: str, principal: str) -> None:
    assert PrincipalMapping(rule).name_of("CN=duke") == principal


def test_a_name_that_no_rule_is_about() -> None:
    with pytest.raises(NoMatchingRuleError):
        PrincipalMapping("RULE:^CN=(.*)$/$1/").name_of("O=x")


@pytest.mark.parametrize("text", ["DEFLT", "RULE:^CN=(.*$/$1/", "RULE:a", "RULE:/a/X", "DEFAULT x"])
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ValueError, match=r"rule|pattern"):
        PrincipalMapping(text)
