"""Will our hook run in a tool that is started so? Each way to go on without it is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hooks.fake_tools import hints, prepare_path, problems, put_codex, put_program, write
from tests.project import Project


@pytest.fixture
def ready(project: Project) -> Project:
    prepare_path(project, node=True)
    return project


def install(project: Project, tool: str, **settings: str) -> None:
    project.ok("hook", "install", tool, "--no-skill", **settings)


def home(project: Project) -> Path:
    return Path(project.env["HOME"])


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini", "opencode"])
def test_a_tool_without_our_hooks_would_load_none(ready: Project, tool: str) -> None:
    (code,) = problems(ready, tool)
    assert code in ("hook_missing", "hook_plugin_broken")
    assert hints(ready, tool) == [f"`moot hook install {tool}`"]


# Claude Code


@pytest.mark.parametrize(
    "words",
    [
        ("claude",),
        ("claude", "-p", "x", "--dangerously-skip-permissions"),
        ("claude", "--setting-sources", "user,project,local"),
        ("claude", "-p", "--", "--bare"),
        ("env", "A=b", "claude"),
        ("timeout", "5", "claude"),
        ("bash", "-c", "exec claude"),
    ],
)
def test_claude_runs_our_hook_without_further_ado(ready: Project, words: tuple[str, ...]) -> None:
    install(ready, "claude")
    assert problems(ready, *words) == []


@pytest.mark.parametrize(
    "words",
    [
        ("claude", "--bare"),
        ("claude", "--setting-sources", "user"),
        ("claude", "--setting-sources=user"),
        ("claude", "--setting-sources", ""),
        ("claude", "--settings", '{"disableAllHooks": true}'),
        ("env", "CLAUDE_CODE_SIMPLE=1", "claude"),
    ],
)
def test_claudes_switches_are_seen(ready: Project, words: tuple[str, ...]) -> None:
    install(ready, "claude")
    assert problems(ready, *words) == ["hook_switched_off"]


@pytest.mark.parametrize(
    "file",
    [
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
        "home/.claude/settings.json",
        "own/settings.json",
        "given.json",
    ],
)
def test_hooks_that_any_layer_switches_off_are_found_with_the_file(
    ready: Project, tmp_path: Path, file: str
) -> None:
    install(ready, "claude")
    path = tmp_path / file
    known = json.loads(path.read_text()) if path.is_file() else {}
    write(path, json.dumps({**known, "disableAllHooks": True}))
    own = (f"CLAUDE_CONFIG_DIR={tmp_path / 'own'}",) if file.startswith("own") else ()
    given = ("--settings", str(path)) if file == "given.json" else ()
    words = ("env", *own, "claude", *given)
    assert problems(ready, *words) == ["hook_switched_off"]
    assert hints(ready, *words) == [f'remove "disableAllHooks" from {path}']


def test_a_layer_that_is_not_loaded_switches_nothing_off(ready: Project) -> None:
    install(ready, "claude")
    write(home(ready) / ".claude/settings.json", '{"disableAllHooks": true}')
    assert problems(ready, "claude", "--setting-sources", "project,local") == []


def test_claude_reads_the_settings_of_the_folder_it_starts_in(ready: Project) -> None:
    install(ready, "claude")
    (ready.root / "src").mkdir()
    words = ("env", "-C", "src", "claude")
    assert problems(ready, *words) == ["hook_missing"]
    assert hints(ready, *words) == [f"`cd {ready.root} && moot run -- claude`"]


def test_settings_that_are_not_json_hold_no_hook(ready: Project) -> None:
    install(ready, "claude")
    for name in ("settings.json", "settings.local.json"):
        write(ready.root / ".claude" / name, "{ not json")
    assert problems(ready, "claude") == ["hook_missing"]


def test_moot_must_be_found_by_the_tool(ready: Project) -> None:
    install(ready, "claude")
    path = ready.root / ".claude/settings.json"
    if path.is_file() and "moot hook" in path.read_text():
        assert problems(ready, "claude", PATH="/nowhere") == ["hook_moot_missing"]


# Anyone


def test_a_tool_that_loses_its_name_or_its_user_is_not_guarded(ready: Project) -> None:
    install(ready, "claude")
    assert problems(ready, "env", "-i", "claude") == ["hook_nameless"]
    assert problems(ready, "env", "-u", "MOOT_AGENT", "claude") == ["hook_nameless"]
    assert problems(ready, "sudo", "-u", "me", "claude") == ["hook_other_user"]


def test_a_missing_home_is_no_crash(ready: Project) -> None:
    install(ready, "claude")
    assert problems(ready, "env", "-u", "HOME", "claude") == []
    assert problems(ready, "env", "-u", "HOME", "gemini") == ["hook_missing"]


# Codex


@pytest.fixture
def coded(ready: Project) -> Project:
    """Codex is there, and our hooks are in its settings; nobody has trusted them."""
    put_codex(Path(ready.env["PATH"]))
    install(ready, "codex")
    return ready


def trust(project: Project, **env: str) -> None:
    project.ok("hook", "install", "codex", "--trust", "--no-skill", **env)


def test_codex_runs_only_what_its_user_trusts(coded: Project) -> None:
    assert problems(coded, "codex", "exec", "x") == ["hook_untrusted"]
    assert hints(coded, "codex") == ["`moot hook install codex --trust`"]
    trust(coded)
    assert problems(coded, "codex", "exec", "x") == []
    assert problems(coded, "timeout", "9", "codex") == []


def test_the_flag_for_tests_makes_up_for_trust(coded: Project) -> None:
    """In trust in hooks, not in the project."""
    words = ("codex", "exec", "--dangerously-bypass-hook-trust", "x")
    if (coded.root / ".codex/hooks.json").is_file():
        assert problems(coded, *words) == ["hook_untrusted"]
    text = f'[projects."{coded.root}"]\ntrust_level = "trusted"\n'
    write(home(coded) / ".codex/config.toml", text)
    assert problems(coded, *words) == []


def test_a_changed_hook_is_untrusted_again(coded: Project) -> None:
    trust(coded)
    files = [coded.root / ".codex/hooks.json", home(coded) / ".codex/hooks.json"]
    (file,) = [one for one in files if one.is_file()]
    file.write_text(file.read_text().replace('"timeout": 10', '"timeout": 11'))
    assert problems(coded, "codex") == ["hook_untrusted"]


@pytest.mark.parametrize(
    "words",
    [
        ("codex", "--disable", "hooks"),
        ("codex", "exec", "--disable=hooks", "x"),
        ("codex", "-c", "features.hooks=false"),
        ("codex", "-cfeatures.codex_hooks=false"),
        ("codex", "--config", "features.hooks = false"),
        ("codex", "--config=features.hooks=false"),
        ("codex", "-c", "features={hooks=false}"),
    ],
)
def test_codexs_switches_are_seen(coded: Project, words: tuple[str, ...]) -> None:
    trust(coded)
    assert problems(coded, *words) == ["hook_switched_off"]


def test_codexs_settings_are_seen(coded: Project) -> None:
    trust(coded)
    config = home(coded) / ".codex/config.toml"
    trusted = config.read_text()
    config.write_text(trusted + "[features]\nhooks = false\n")
    assert problems(coded, "codex") == ["hook_switched_off"]
    assert problems(coded, "codex", "--enable", "hooks") == []
    config.write_text(trusted + "[profiles.quick.features]\nhooks = false\n")
    assert problems(coded, "codex") == []
    assert problems(coded, "codex", "-p", "quick") == ["hook_switched_off"]


def test_another_home_of_codex_has_its_own_trust(coded: Project, tmp_path: Path) -> None:
    trust(coded)
    other = tmp_path / "other codex"
    words = ("env", f"CODEX_HOME={other}", "codex")
    (code,) = problems(coded, *words)
    assert code in ("hook_untrusted", "hook_missing")
    assert f"CODEX_HOME='{other}' moot hook install codex" in hints(coded, *words)[0]
    trust(coded, CODEX_HOME=str(other))
    assert problems(coded, *words) == []


def test_codex_is_checked_in_the_folder_it_is_told_to_work_in(
    coded: Project, tmp_path: Path
) -> None:
    trust(coded)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for words in (("codex", "-C", str(elsewhere)), ("codex", "exec", f"--cd={elsewhere}", "x")):
        assert problems(coded, *words) == ["hook_other_folder"]
    (coded.root / "src").mkdir()
    assert problems(coded, "codex", "-C", "src") == []


def test_a_project_marked_untrusted_runs_no_hooks_of_its_own(coded: Project) -> None:
    trust(coded)
    assert (coded.root / ".codex/hooks.json").is_file()
    config = home(coded) / ".codex/config.toml"
    config.write_text(config.read_text().replace('"trusted"', '"untrusted"'))
    flag = "--dangerously-bypass-hook-trust"
    assert problems(coded, "codex", flag) == ["hook_switched_off"]
    stored = config.read_text()
    refused = coded.json("hook", "install", "codex", "--trust")
    assert (refused.code, refused.error["code"]) == (4, "codex_hooks_missing")
    assert config.read_text() == stored, "a no to the project is not turned into a yes"


def test_in_a_linked_worktree_the_hooks_of_the_main_checkout_count(ready: Project) -> None:
    put_codex(Path(ready.env["PATH"]))
    write(ready.other / ".codex/hooks.json", _hooks_like("codex"))
    assert problems(ready, "codex", folder=ready.other) == ["hook_missing"]
    write(ready.root / ".codex/hooks.json", _hooks_like("codex"))
    assert problems(ready, "codex", folder=ready.other) == ["hook_untrusted"]
    trust(ready)
    assert problems(ready, "codex", folder=ready.other) == []


def test_a_linked_worktree_without_a_folder_for_codex_gets_one(ready: Project) -> None:
    """Without it Codex does not read the main checkout's hooks there."""
    put_codex(Path(ready.env["PATH"]))
    trust(ready)
    folder = ready.other / ".codex"
    assert problems(ready, "codex", folder=ready.other) == []
    folder.rmdir()
    assert problems(ready, "codex", folder=ready.other) == ["hook_missing"]
    install(ready, "codex")
    assert folder.is_dir()
    assert ready.git("status", "--porcelain", cwd=ready.other).out == ""
    ready.ok("hook", "uninstall", "codex", "--all")
    assert not folder.exists()


def _hooks_like(tool: str) -> str:
    """Settings as the first release wrote them, cut to the two events that matter here."""
    before = {"codex": "PreToolUse", "gemini": "BeforeTool"}[tool]
    closed = {"type": "command", "command": f"moot hook {tool} || {{ exit 2; }}", "timeout": 10}
    start = {"type": "command", "command": f"moot hook {tool} || true", "timeout": 10}
    entries = {before: [{"matcher": "x", "hooks": [closed]}], "SessionStart": [{"hooks": [start]}]}
    return json.dumps({"hooks": entries})


def plugin_text(project: Project) -> str:
    """Our plugin as it is installed, and nothing of it left in the project."""
    install(project, "opencode")
    text = (project.root / ".moot/opencode-plugin.js").read_text("utf-8")
    project.ok("hook", "uninstall", "opencode")
    return text


def test_if_codex_does_not_answer_its_file_is_read(coded: Project) -> None:
    trust(coded)
    put_program(Path(coded.env["PATH"]), "codex", "#!/bin/sh\nexit 3\n")
    assert problems(coded, "codex") == []
    (home(coded) / ".codex/config.toml").write_text("not toml [")
    assert problems(coded, "codex") == ["hook_untrusted"]


def test_the_codex_that_is_started_is_the_one_that_is_asked(coded: Project, tmp_path: Path) -> None:
    put_program(tmp_path / "broken", "codex", "#!/bin/sh\nexit 3\n")
    trust(coded)
    path = f"{tmp_path / 'broken'}:{coded.env['PATH']}"
    program = f"{coded.env['PATH']}/codex"
    (home(coded) / ".codex/config.toml").write_text("")
    assert problems(coded, program, PATH=path) == ["hook_untrusted"]


# Gemini CLI


def test_gemini_runs_a_projects_hooks_only_in_a_trusted_folder(ready: Project) -> None:
    write(ready.root / ".gemini/settings.json", _hooks_like("gemini"))
    assert problems(ready, "gemini") == ["hook_untrusted"]
    assert hints(ready, "gemini") == ["`moot hook install gemini --trust`"]
    assert problems(ready, "env", "GEMINI_CLI_TRUST_WORKSPACE=true", "gemini") == []
    folders = home(ready) / ".gemini/trustedFolders.json"
    for level, found in (
        ({str(ready.root): "TRUST_FOLDER"}, []),
        ({str(ready.root / "x"): "TRUST_PARENT"}, []),
        ({str(ready.root.parent): "TRUST_FOLDER"}, []),
        (
            {str(ready.root.parent): "TRUST_FOLDER", str(ready.root): "DO_NOT_TRUST"},
            ["hook_untrusted"],
        ),
        ({}, ["hook_untrusted"]),
    ):
        write(folders, json.dumps(level))
        assert problems(ready, "gemini") == found
    write(folders, "not json")
    assert problems(ready, "gemini") == ["hook_untrusted"]


def test_skipping_trust_is_no_trust(ready: Project) -> None:
    write(ready.root / ".gemini/settings.json", _hooks_like("gemini"))
    write(
        home(ready) / ".gemini/trustedFolders.json", json.dumps({str(ready.root): "TRUST_FOLDER"})
    )
    assert problems(ready, "gemini", "--yolo") == []
    assert problems(ready, "gemini", "--skip-trust", "--yolo") == ["hook_untrusted"]


def test_the_users_own_hooks_need_no_trusted_folder(ready: Project) -> None:
    write(home(ready) / ".gemini/settings.json", _hooks_like("gemini"))
    assert problems(ready, "gemini", "--skip-trust") == []


@pytest.mark.parametrize(
    "setting", [{"hooksConfig": {"enabled": False}}, {"tools": {"enableHooks": False}}]
)
@pytest.mark.parametrize("where", ["project", "home"])
def test_geminis_switches_are_seen(ready: Project, setting: object, where: str) -> None:
    assert isinstance(setting, dict)
    hooks = json.loads(_hooks_like("gemini"))
    own, project = home(ready), ready.root
    write(
        own / ".gemini/settings.json", json.dumps({**hooks, **(setting if where == "home" else {})})
    )
    write(project / ".gemini/settings.json", json.dumps(setting if where == "project" else {}))
    assert problems(ready, "gemini") == ["hook_switched_off"]


# opencode


def test_opencode_needs_our_plugin_whole(ready: Project) -> None:
    install(ready, "opencode")
    assert problems(ready, "opencode", "run", "x") == []
    assert problems(ready, "opencode", "--pure") == ["hook_switched_off"]
    assert problems(ready, "env", "OPENCODE_PURE=1", "opencode") == ["hook_switched_off"]
    (plugin,) = [*ready.root.rglob("opencode-plugin.js"), *home(ready).rglob("*moot*.js")][:1]
    text = plugin.read_text()
    for broken in ("syntax error(", text + "\nthrow new Error('x')\n"):
        plugin.write_text(broken)
        assert problems(ready, "opencode") == ["hook_plugin_broken"]
    plugin.unlink()
    assert problems(ready, "opencode") == ["hook_plugin_broken"]


def test_opencodes_settings_may_be_named_and_hold_comments(ready: Project, tmp_path: Path) -> None:
    plugin = write(tmp_path / "plugins/ours.js", plugin_text(ready))
    given = write(
        tmp_path / "given.jsonc",
        '{ // a comment\n "url": "x//y", /* more */ "plugin": ["./plugins/ours.js",], }',
    )
    assert problems(ready, "opencode", OPENCODE_CONFIG=str(given)) == []
    content = json.dumps({"plugin": [plugin.as_uri()]})
    assert problems(ready, "opencode", OPENCODE_CONFIG_CONTENT=content) == []


def test_a_plugin_in_opencodes_own_folder_counts(ready: Project) -> None:
    write(home(ready) / ".config/opencode/plugins/moot.js", plugin_text(ready))
    assert problems(ready, "opencode") == []


def test_a_project_whose_settings_are_left_out_has_no_plugin(ready: Project) -> None:
    install(ready, "opencode")
    if (ready.root / "opencode.json").is_file():
        words = ("env", "OPENCODE_DISABLE_PROJECT_CONFIG=1", "opencode")
        assert problems(ready, *words) == ["hook_plugin_broken"]
