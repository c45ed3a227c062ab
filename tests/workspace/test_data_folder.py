"""The data folder that is looked up quickly is the one that platformdirs names."""

from __future__ import annotations

import sys

import pytest
from platformdirs import user_data_path

from moot.workspace.user_folders import user_data_folder

ENVIRONMENTS: list[dict[str, str]] = [
    {"HOME": "/home/otter"},
    {"HOME": "/home/otter/"},
    {"HOME": "/"},
    {"HOME": "/home//otter/."},
    {},
    {"HOME": "/home/otter", "XDG_DATA_HOME": ""},
    {"HOME": "/home/otter", "XDG_DATA_HOME": "/data/otter"},
    {"HOME": "/home/otter", "XDG_DATA_HOME": "data"},
    {"HOME": "otter"},
]


@pytest.mark.parametrize("env", ENVIRONMENTS, ids=str)
def test_it_is_the_folder_that_platformdirs_names(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "ANDROID_DATA", "ANDROID_ROOT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert user_data_folder() == user_data_path("moot", appauthor=False)


@pytest.mark.parametrize(
    ("system", "folder"),
    [
        ("linux", "/home/otter/.local/share/moot"),
        ("darwin", "/home/otter/Library/Application Support/moot"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="paths of other systems are not absolute there")
def test_each_system_has_its_usual_place(
    system: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("HOME", "/home/otter")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("ANDROID_DATA", raising=False)
    assert str(user_data_folder()) == folder
