"""Secrets are found before a run and blotted out after it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.secrets import (
    SECRET_PATTERNS,
    SecretPattern,
    find_secrets,
    redact_bytes,
    redact_text,
)

TOKENS = {
    "aws-key": "AKIAABCDEFGHIJKLMNOP",
    "github-token": "ghp_" + "a1B2" * 9,
    "slack-token": "xoxb-1234567890-abcdef",
    "model-key": "sk-" + "abcdEFGH" * 4,
    "google-key": "AIza" + "a" * 35,
    "jwt": "eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0dXJl",
    "bearer": "Bearer abcdefghijklmnop0123",
    "url-password": "ftp://me:geheimwort@host.example/",
    "private-key": "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----",
    "flag": "deploy --password geheimwort",
    "assignment": "DB_PASSWORD='geheimwort'",
}


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
@given(data=st.data())
def test_whatever_an_expression_describes_is_found(
    pattern: SecretPattern, data: st.DataObject
) -> None:
    """A text is searched only if it holds a sign of the pattern; no secret is without one."""
    text = data.draw(st.from_regex(re.compile(pattern.expression, re.ASCII)))
    assert find_secrets((pattern,), [text]) == (pattern.name,)
