"""Secrets are found before a run and blotted out after it."""

from __future__ import annotations

import base64
import json
import re
import textwrap
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.secrets import (
    SECRET_PATTERNS,
    SecretPattern,
    find_secrets,
    patterns_of_variables,
    redact_bytes,
    redact_strings,
    redact_text,
)

HEX = "0123456789abcdef"
MIXED = "a1B2c3D4e5F6g7H8"


class Example(NamedTuple):
    """A text that is a secret of this kind, and one that only resembles it."""

    secret: str
    harmless: str


# Put together here, so that no scanner takes this file for a leak.
EXAMPLES = {
    "private-key": Example(
        "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\nMIIabc\n-----END PUBLIC KEY-----",
    ),
    "age-key": Example("AGE-SECRET-KEY-1" + "QPZ7" * 14 + "QP", "AGE-SECRET-KEY-1QPZ"),
    "aws-key": Example("AKIA" + "ABCDEFGHIJKLMNOP", "AKIA" + "ABCDEFGH"),
    "google-key": Example("AIza" + "a" * 35, "AIza" + "a" * 12),
    "google-oauth": Example("ya29." + MIXED * 2, "ya29.short"),
    "azure-key": Example("AccountKey=" + MIXED * 5 + "==", "AccountKey=none"),
    "digitalocean-token": Example("dop_v1_" + HEX * 4, "dop_v1_" + HEX),
    "databricks-token": Example("dapi" + HEX * 2, "dapi" + HEX),
    "vault-token": Example("hvs." + MIXED * 2, "hvs.short"),
    "heroku-key": Example("HRKU-" + MIXED * 3, "HRKU-short"),
    "github-token": Example("ghp_" + "a1B2" * 9, "ghp_" + "a1B2"),
    "gitlab-token": Example("glpat-" + MIXED + "abcd", "glpat-short"),
    "npm-token": Example("npm_" + "a1B2" * 9, "npm_config_registry"),
    "pypi-token": Example("pypi-AgEI" + MIXED * 4, "pypi-AgEI"),
    "docker-token": Example("dckr_pat_" + MIXED * 2, "dckr_pat_x"),
    "linear-key": Example("lin_api_" + MIXED * 2 + "abcdefgh", "lin_api_x"),
    "atlassian-token": Example("ATATT3" + MIXED * 5, "ATATT3x"),
    "model-key": Example("sk-" + "abcdEFGH" * 4, "sk-learn"),
    "other-model-key": Example("gsk_" + MIXED * 3, "hf_hub_download"),
    "slack-token": Example("xoxb-" + "1234567890-abcdef", "xoxb-1"),
    "webhook": Example("hooks.slack.com/services/T0/B0/" + MIXED * 2, "hooks.slack.com/services/"),
    "telegram-token": Example("12345678:AA" + MIXED * 2 + "x", "12345678:AA"),
    "sendgrid-key": Example("SG." + MIXED + "abcdef." + MIXED * 2 + "abcdefghijk", "SG.a.b"),
    "mail-key": Example("key-" + HEX * 2, "key-value"),
    "twilio-key": Example("SK" + HEX * 2, "SKU" + HEX),
    "stripe-key": Example("sk_" + "live_" + MIXED * 2, "sk_" + "live_x"),
    "square-token": Example("sq0atp-" + MIXED * 2, "sq0atp-x"),
    "shopify-token": Example("shpat_" + HEX * 2, "shpat_x"),
    "grafana-token": Example("glsa_" + MIXED * 3, "glsa_x"),
    "jwt": Example("eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0dXJl", "eyJhbGciOi.x"),
    "bearer": Example("Bearer abcdefghijklmnop0123", "a bearer of news"),
    "basic-auth": Example("Authorization: Basic bWU6Z2VoZWltd29ydA==", "Authorization: Basic auth"),
    "url-password": Example("ftp://me:geheimwort@host.example/", "http://localhost:3000/@vite/x"),
    "flag": Example("deploy --password geheimwort", "deploy --password -h"),
    "assignment": Example("DB_PASSWORD='geheimwort'", "password: no"),
}
TOKENS = {name: example.secret for name, example in EXAMPLES.items()}


KEYS = {
    "RSA PRIVATE KEY": "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\nMII\n",
    "PGP PRIVATE KEY BLOCK": "\nVersion: 1-2\n\nlQO\n",
    "OPENSSH PRIVATE KEY": "\r\nb3BlbnNz\r\n",
}


@pytest.mark.parametrize("kind", KEYS)
def test_a_whole_private_key_goes_with_its_headers(kind: str) -> None:
    key = f"-----BEGIN {kind}-----{KEYS[kind]}-----END {kind}-----"
    assert (
        redact_bytes(SECRET_PATTERNS, f"a\n{key}\nz".encode()).data
        == b"a\n[redacted:private-key]\nz"
    )


def test_every_pattern_has_its_example() -> None:
    assert set(TOKENS) == {pattern.name for pattern in SECRET_PATTERNS}


@pytest.mark.parametrize("name", TOKENS)
def test_each_kind_is_found_and_blotted_out(name: str) -> None:
    text = f"before {TOKENS[name]} after"
    assert name in find_secrets(SECRET_PATTERNS, [text])
    done = redact_bytes(SECRET_PATTERNS, text.encode())
    assert done.found
    assert TOKENS[name].encode() not in done.data
    assert done.data.startswith(b"before ")
    assert done.data.endswith(b"after")
    assert TOKENS[name] not in redact_text(SECRET_PATTERNS, text)


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_only_resembles_a_kind_is_left_alone(name: str) -> None:
    harmless = EXAMPLES[name].harmless
    assert name not in find_secrets(SECRET_PATTERNS, [f"before {harmless} after"])


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('API_KEY="geheimes wort"', "geheimes wort"),
        ("ftp://me:p@ss/w@rd@host.example/x", "p@ss/w@rd"),
        ("redis://:geheimwort@host:6379/0", "geheimwort"),
        ("postgres://me:a/b@c@db/x", "a/b@c"),
        ('{"Authorization": "Basic bWU6Z2VoZWltd29ydA=="}', "bWU6Z2VoZWltd29ydA"),
        ("curl -H 'authorization:basic bWU6Z2VoZWltd29ydA=='", "bWU6Z2VoZWltd29ydA"),
    ],
)
def test_what_stood_before_goes_too(text: str, secret: str) -> None:
    assert secret not in redact_text(SECRET_PATTERNS, text)


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8080/a@b",
        "see ftp://host:80 and mail me@host.example",
        "git@github.com:owner/repository.git",
        "ftp://host/a:b@c",
    ],
)
def test_an_address_without_a_password_stays(text: str) -> None:
    assert redact_text(SECRET_PATTERNS, text) == text


def test_a_text_is_redacted_before_it_is_encoded() -> None:
    """In JSON a quotation mark in a text is two characters, and the value is not seen any more."""
    value = {
        "command": 'export API_KEY="geheimes-wort" && run',
        "steps": ["ok", {"token: abcdefgh": 7, "n": None}],
    }
    assert b"geheimes-wort" in redact_bytes(SECRET_PATTERNS, json.dumps(value).encode()).data
    clean, found = redact_strings(SECRET_PATTERNS, value)
    assert "geheimes-wort" not in json.dumps(clean)
    assert "abcdefgh" not in json.dumps(clean)
    assert found == ("assignment",)
    assert clean["steps"][0] == "ok"
    assert redact_strings(SECRET_PATTERNS, clean) == (clean, ())


@pytest.mark.parametrize("width", [10, 64, 76])
@pytest.mark.parametrize("before", ["", "x", "xy", "a longer text that comes before: "])
def test_a_variables_value_is_found_in_wrapped_base64(width: int, before: str) -> None:
    value = "correct horse battery staple, and then some more of it"
    patterns = patterns_of_variables({"DB_PASSWORD": value}, ["DB_PASSWORD"])
    encoded = base64.b64encode(f"{before}{value} after".encode()).decode()
    for line_end in ("\n", "\r\n", "\n  "):
        wrapped = line_end.join(textwrap.wrap(encoded, width))
        left = "".join(redact_text(patterns, wrapped).split())
        assert "[redacted:variable]" in left
        around = len(base64.b64encode(f"{before} after".encode()))
        assert len(left.replace("[redacted:variable]", "")) <= around + 8


@pytest.mark.parametrize(("before", "left"), [("", "{}"), ("x", "eG{}Q=="), ("xy", "eHl{}E=")])
def test_of_base64_only_what_the_text_around_it_decides_is_left(before: str, left: str) -> None:
    value = "correct horse battery staple!!"
    patterns = patterns_of_variables({"DB_PASSWORD": value}, ["DB_PASSWORD"])
    encoded = base64.b64encode(f"{before}{value}".encode()).decode()
    assert redact_text(patterns, encoded) == left.format("[redacted:variable]")


@pytest.mark.parametrize(
    "text",
    ["pytest -q tests/core", "git push origin main", "12 passed in 3.4s", "", "tokenizer.py: ok"],
)
def test_ordinary_words_stay(text: str) -> None:
    assert find_secrets(SECRET_PATTERNS, [text]) == ()
    assert redact_bytes(SECRET_PATTERNS, text.encode()).data == text.encode()


@given(st.binary(max_size=200))
def test_any_output_survives(data: bytes) -> None:
    done = redact_bytes(SECRET_PATTERNS, data)
    assert done.found or done.data == data
    assert redact_bytes(SECRET_PATTERNS, done.data) == redact_bytes(
        SECRET_PATTERNS, redact_bytes(SECRET_PATTERNS, done.data).data
    )


@given(st.sampled_from(sorted(TOKENS.values())), st.binary(max_size=40), st.binary(max_size=40))
def test_a_secret_between_any_bytes_is_gone(token: str, before: bytes, after: bytes) -> None:
    data = before + b"\n" + token.encode() + b"\n" + after
    assert token.encode() not in redact_bytes(SECRET_PATTERNS, data).data


def test_a_policys_own_pattern_counts_and_a_broken_one_finds_nothing() -> None:
    own = (SecretPattern("badge", "badge-[0-9]{4}"), SecretPattern("broken", "("))
    assert find_secrets(own, ["my badge-1234"]) == ("badge",)
    assert redact_bytes(own, b"my badge-1234").data == b"my [redacted:badge]"


@pytest.mark.parametrize("letters", ["-----BEGIN ", "eyJ", "password", "a:", "--token", "x" * 7])
def test_a_long_output_is_read_once_and_to_its_end(letters: str) -> None:
    """No pattern runs away on a megabyte of the letters it likes best (`faulthandler_timeout`)."""
    data = letters * (1_000_000 // len(letters)) + "\n"
    done = redact_bytes(SECRET_PATTERNS, (data + TOKENS["aws-key"]).encode())
    assert done.found == ("aws-key",)
    assert done.data == (data + "[redacted:aws-key]").encode()


@pytest.mark.parametrize("pattern", SECRET_PATTERNS, ids=lambda pattern: pattern.name)
@settings(max_examples=25)
@given(data=st.data())
def test_whatever_an_expression_describes_is_found(
    pattern: SecretPattern, data: st.DataObject
) -> None:
    """A text is searched only if it holds a sign of the pattern; no secret is without one."""
    text = data.draw(st.from_regex(re.compile(pattern.expression, re.ASCII)))
    assert find_secrets((pattern,), [text]) == (pattern.name,)
