"""The two files of settings: what they may say, which one counts, and what a bad one does."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.core.errors import Malformed
from moot.workspace import settings
from moot.workspace.settings import (
    SETTINGS,
    AskDefaults,
    KnownTests,
    Notify,
    Protect,
    Setting,
    Settings,
    Telemetry,
    read_settings,
    read_settings_or_strictest,
)
from moot.workspace.user_folders import user_settings_file

BLOCK = '[protect]\nunmerged = "block"\n'
TELL = '[protect]\nunmerged = "tell"\n'


def put(folder: Path, text: str, name: str = "moot.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_without_files_every_default_counts(tmp_path: Path) -> None:
    assert read_settings(tmp_path, tmp_path / "none.toml") == Settings()
    tables = {
        "protect": Protect(),
        "notify": Notify(),
        "ask": AskDefaults(),
        "telemetry": Telemetry(),
        "tests": KnownTests(),
    }
    built = {
        f"{table}.{name}": getattr(values, name)
        for table, values in tables.items()
        for name in values.__struct_fields__
    }
    assert built == {each.name: each.default for each in SETTINGS}


def test_names_of_both_files_count(tmp_path: Path) -> None:
    put(tmp_path, '[tests]\ncommand = "tools/check.sh"\n')
    user = put(tmp_path, '[tests]\ncommand = "just prove"\n', "own.toml")
    assert read_settings(tmp_path, user).tests.command == "tools/check.sh, just prove"


@pytest.mark.parametrize(
    ("repository", "own", "wins"),
    [(BLOCK, TELL, "block"), (TELL, BLOCK, "block"), (TELL, TELL, "tell"), ("", BLOCK, "block")],
)
def test_the_stricter_file_counts(tmp_path: Path, repository: str, own: str, wins: str) -> None:
    put(tmp_path, repository)
    user = put(tmp_path, own, "own.toml")
    assert read_settings(tmp_path, user).protect.unmerged == wins


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ('[protect]\nunmergd = "block"\n', "bad_setting", "did you mean protect.unmerged?"),
        ('[protct]\nunmerged = "block"\n', "bad_setting", "did you mean protect.unmerged?"),
        ('[zzz]\nqqq = "block"\n', "bad_setting", "remove it from "),
        ('unmerged = "block"\n', "bad_setting", ""),
        ('[protect]\nunmerged = "off"\n', "bad_setting", 'protect.unmerged is "tell" or "block"'),
        ("[protect]\nunmerged = true\n", "bad_setting", 'protect.unmerged is "tell" or "block"'),
        ("[protect]\nunmerged.deep = 1\n", "bad_setting", ""),
        ("[protect\n", "settings_unreadable", "fix the file"),
        ("[protect]\nunmerged = ", "settings_unreadable", "fix the file"),
        ("x = " + "[" * 5000, "settings_unreadable", "fix the file"),
        ("#" * 70_000, "settings_unreadable", "fix the file"),
    ],
)
def test_a_bad_file_is_refused_and_the_guard_takes_the_strictest(
    tmp_path: Path, text: str, code: str, hint: str
) -> None:
    put(tmp_path, text)
    with pytest.raises(Malformed) as refused:
        read_settings(tmp_path, None)
    assert refused.value.code == code
    assert hint in refused.value.hint
    strict = read_settings_or_strictest(tmp_path, None)
    assert strict.protect == Protect(unmerged="block")
    assert strict.problem == str(refused.value)


def test_what_is_not_text_or_a_folder_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(Malformed) as refused:
        read_settings(tmp_path, None)
    assert refused.value.code == "settings_unreadable"
    (tmp_path / "moot.toml").unlink()
    (tmp_path / "moot.toml").mkdir()
    assert read_settings_or_strictest(tmp_path, None).protect.unmerged == "block"


def test_a_repository_may_not_set_what_is_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a command to be run would be: it comes with whatever one clones."""
    own = Setting("notify.command", "what is run")
    monkeypatch.setattr(settings, "SETTINGS", (*SETTINGS, own))
    put(tmp_path, '[notify]\ncommand = "rm -rf /"\n')
    with pytest.raises(Malformed) as refused:
        read_settings(tmp_path, None)
    assert refused.value.code == "bad_setting"
    assert "only a user's own settings" in str(refused.value)


def test_where_a_users_own_file_is(tmp_path: Path) -> None:
    assert user_settings_file({"MOOT_CONFIG": "/x/y.toml", "HOME": "/h"}) == Path("/x/y.toml")
    assert user_settings_file({}) is None
    asked = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "c")}
    assert user_settings_file(asked) == tmp_path / "c" / "moot" / "moot.toml"
