"""Reading a shell command's text: it never fails, quoting is undone as the shell does it, and the
cheap first look misses nothing that the second finds.
"""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.api.guard.shell import file_acts
from moot.api.guard.shell.act import Reach
from moot.api.guard.shell.acts import destructive_acts
from moot.api.guard.shell.first_look import only_reads
from moot.api.guard.shell.script import SimpleCommand, Surroundings, read_script
from moot.api.guard.shell.values import UNKNOWN
from tests.hooks.test_destructive_commands_executed import DESTRUCTIVE
from tests.sampling import examples

AROUND = Surroundings("/r/here", "/r", {"HOME": "/home/me"})
PIECES = (
    *("git", "checkout", "--", ".", "a.txt", "reset", "--hard", "stash", "rm", "-rf", "mv", "cp"),
    *("cd", "sub", "$X", "${Y}", "$(", ")", "`", "'", '"', "\\", "\n", ";", "&&", "||", "|", "&"),
    *(">", ">>", "<<EOF", "EOF", "<", "2>&1", "{a,b}", "{1..3}", "*", "~", "(", "((", "))", "[["),
    *(
        "]]",
        "for",
        "in",
        "do",
        "done",
        "if",
        "then",
        "fi",
        "case",
        "esac",
        "xargs",
        "find",
        "-exec",
    ),
    *("bash", "-c", "eval", "python", "-c", "sed", "-i", "tee", "A=b", "export", "#", "$'", "time"),
)
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
)


@given(texts)
@settings(max_examples=examples(600))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    for command in read_script(text, AROUND):
        assert isinstance(command, SimpleCommand)
    acts = destructive_acts(text, AROUND)
    assert not acts or not only_reads(text), "the first look would have missed it"


words = st.lists(
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=12),
    max_size=5,
)


@given(words)
@settings(max_examples=examples(300))
def test_quoting_is_undone(arguments: list[str]) -> None:
    (command,) = read_script(shlex.join(["show", *arguments]), AROUND)
    assert [word.text for word in command.words] == ["show", *arguments]
    assert all(word.pattern is None for word in command.words)


PLAIN = st.text("ab '\"\\$\n;&|<>(){}*?~#=-,", max_size=14)


@given(st.lists(PLAIN, max_size=4))
@settings(max_examples=examples(60))
def test_double_quotes_are_read_as_the_shell_reads_them(arguments: list[str]) -> None:
    """The real shell is asked."""
    quoted = [
        '"' + "".join(f"\\{each}" if each in '"\\$`' else each for each in text) + '"'
        for text in arguments
    ]
    text = " ".join(["printf", "'%s\\0'", *quoted])
    done = subprocess.run(["sh", "-c", text], capture_output=True, check=True, timeout=60)
    (command,) = read_script(text, AROUND)
    asked = [word.text for word in command.words[2:]]
    assert asked == (done.stdout.decode().split("\0")[:-1] if arguments else [])


@pytest.mark.parametrize("command", DESTRUCTIVE)
def test_the_first_look_sees_every_destructive_command(command: str) -> None:
    assert not only_reads(command)


def test_a_program_that_is_added_to_the_table_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else lists programs that write: a command is read unless it is known to read only."""
    assert destructive_acts("overwriter a.txt", AROUND) == []
    added = {**file_acts._PROGRAMS, "overwriter": file_acts._PROGRAMS["rm"]}
    monkeypatch.setattr(file_acts, "_PROGRAMS", added)
    assert not only_reads("overwriter a.txt")
    (act,) = destructive_acts("overwriter a.txt", AROUND)
    assert (act.name, act.paths[0].text) == ("overwriter", "a.txt")


READING = (
    *("ls -la", "cat a", "grep -rn x .", "git log -3", "git diff", "find . -name a", "sed -n 1p a"),
    "sed -n 1p",
    *("sort a", "uniq -c", "echo a 2>/dev/null", "rg x 2>&1", "cd b", "wc -l a"),
)
ADDED = (
    *("-o x", "--output=x", ">x", "> x", ">>x", "-delete", "-exec rm {} ;", "-i", "; rm a"),
    *("| tee x", "&& mv a b", "$(rm a)", "`rm a`", "\n rm a", "| xargs rm", "| sh", "<(rm a)"),
)


@given(st.lists(st.sampled_from((*READING, *ADDED, *PIECES)), max_size=8).map(" ".join))
@settings(max_examples=examples(600))
def test_what_only_reads_destroys_nothing(text: str) -> None:
    assert not (only_reads(text) and destructive_acts(text, AROUND))


@pytest.mark.parametrize("text", READING)
def test_what_reads_is_known(text: str) -> None:
    assert only_reads(text)


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("run", ["/r/here"]),
        ("cd a; run", ["/r/here/a"]),
        ("cd a && cd ../b && run", ["/r/here/b"]),
        ("(cd a; run); run", ["/r/here/a", "/r/here"]),
        ("cd a; cd -; run", ["/r/here"]),
        ("pushd a; run; popd; run", ["/r/here/a", "/r/here"]),
        ("cd; run", ["/home/me"]),
        ("cd ~/x; run", ["/home/me/x"]),
        ("cd $UNSET; run", [None]),
        ("cd $UNSET; cd /abs; run", ["/abs"]),
        ("cd $UNSET; cd a; run", [None]),
        ("A=a; cd $A; run", ["/r/here/a"]),
        ("cd $(git rev-parse --show-toplevel); run", ["/r"]),
        ("cd $(pwd)/a; run", ["/r/here/a"]),
        ("x=$(cd a; run); run", ["/r/here/a", "/r/here"]),
        ("false || cd a; run", [None]),
        ("if cd a; then run; fi", ["/r/here/a"]),
        ("echo a | cd sub; run", ["/r/here"]),
        ("pushd; run", [None]),
        ("cd a; popd; run", [None]),
        ("cat <<EOF\n$(cd a; run)\nEOF\nrun", ["/r/here/a", "/r/here"]),
        ("cat <<EOF\n`run`\nEOF", ["/r/here"]),
        ("cat <<'EOF'\n$(run)\nEOF", []),
        (f"cd /{'x' * 4_095}; run", [f"/{'x' * 4_095}"]),
        (f"cd /{'x' * 4_096}; run", [None]),
        ("'if' run; 'then' run; run", ["/r/here"]),
        ("cd a; cd $PWD/b; run", ["/r/here/a/b"]),
        ("cd $UNSET; cd $PWD; run", [None]),
    ],
)
def test_a_command_knows_its_folder(text: str, folders: list[str | None]) -> None:
    read = [each for each in read_script(text, AROUND) if each.words[0].text == "run"]
    assert [each.folder for each in read] == folders


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("run a{1,2}.x b{c,d}{e,f}", ["a1.x", "a2.x", "bce", "bcf", "bde", "bdf"]),
        ("run '{a,b}'", ["{a,b}"]),
        ("run $A", [UNKNOWN]),
        ('run "x$A/y"', [f"x{UNKNOWN}/y"]),
        ("A='b c'; run $A \"$A\"", ["b", "c", "b c"]),
        ("for f in a b; do run $f.txt; done", ["a.txt", "b.txt"]),
        ("run $'a\\tb'", ["a\tb"]),
        ("run a\\ b 'c d'", ["a b", "c d"]),
        ("run a # b", ["a"]),
        ("run a#b", ["a#b"]),
        ("run \\\n a", ["a"]),
        ("run {1..3}", ["1", "2", "3"]),
        ("run {3..1}", ["3", "2", "1"]),
        ("run {2..2}", ["2"]),
        ("A=b; A+=c; run $A", ["bc"]),
        ("export A=b; run $A", ["b"]),
        ("A=b; unset A; run $A", [UNKNOWN]),
        ("A=b; for A in; do run $A; done", [UNKNOWN]),
        ("for A in $(ls); do run $A; done", [UNKNOWN]),
        ("for; run a", ["a"]),
        ("case in in in) run a;; esac", ["a"]),
        ("case x in a) run b;; esac", ["b"]),
        ("case; run a", ["a"]),
        ("function f { run a; }", ["a"]),
        ("run ~ ~/x '~' ~other/x", ["/home/me", "/home/me/x", "~", f"{UNKNOWN}/x"]),
        ("run $PWD", ["/r/here"]),
    ],
)
def test_words_are_what_the_program_would_get(text: str, arguments: list[str]) -> None:
    (command,) = [each for each in read_script(text, AROUND) if each.words[0].text == "run"]
    assert [word.text for word in command.words[1:]] == arguments


def test_a_quoted_star_is_no_wildcard() -> None:
    (command,) = read_script("rm '*' a* \"b\"'[*'*", AROUND)
    patterns = [word.pattern for word in command.words[1:]]
    assert patterns == [None, "a*", "b[[][*]*"]


def test_a_long_text_is_read_to_its_end() -> None:
    body = "x" * 80 + "\n"
    text = f"cat <<'EOF' > first\n{body * 5_000}EOF\necho \"{'y ' * 100_000}\" > last"
    targets = [path.text for act in destructive_acts(text, AROUND) for path in act.paths]
    assert targets == ["first", "last"]


def test_deep_nesting_ends_somewhere() -> None:
    for text in ("$(" * 2_000, '"$(' * 2_000, "`" * 999, "(" * 5_000, "{a,b}" * 500, "${" * 999):
        assert isinstance(destructive_acts(f"rm {text} a.txt", AROUND), list)


@pytest.mark.parametrize("branch", ["-b new", "--orphan new", "--detach"])
def test_a_checkout_that_makes_a_branch_reaches_no_file(branch: str) -> None:
    (act,) = destructive_acts(f"git checkout {branch} main", AROUND)
    assert (act.reach, act.paths) == (Reach.HEAD, ())


def test_git_is_followed_into_its_folder() -> None:
    (act,) = destructive_acts("git -C a -C b -c x.y=z checkout -- c", AROUND)
    assert (act.folder, act.reach) == ("/r/here/a/b", Reach.UNSTAGED)
    assert [word.text for word in act.paths] == ["c"]


@pytest.mark.parametrize("text", ["rm {0}", "cp b.txt {0}", "echo > {0}"])
def test_a_file_in_memory_is_a_file_and_a_device_is_none(text: str) -> None:
    (act,) = destructive_acts(text.format("/dev/shm/project/a.txt"), AROUND)
    assert [path.text for path in act.paths] == ["/dev/shm/project/a.txt"]
    assert destructive_acts(text.format("/dev/null"), AROUND) == []


def test_a_variable_of_the_surroundings_counts_up_to_64_kb() -> None:
    values = {"A": "x" * 65_536, "B": "x" * 65_537}
    (command,) = read_script("run $A $B", Surroundings("/r/here", "/r", values))
    assert [len(word.text) for word in command.words[1:]] == [65_536, 1]
    assert command.words[2].text == UNKNOWN


def test_without_a_worktree_its_root_is_unknown() -> None:
    around = Surroundings("/r/here", "", {})
    (*_, command) = read_script("cd $(git rev-parse --show-toplevel); run", around)
    assert command.folder is None


def test_a_long_text_is_not_looked_through_for_readers() -> None:
    assert only_reads("cat a" + " " * 19_995)
    assert not only_reads("cat a" + " " * 19_996)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ; ", "git", "git push", "git -c x diff", "uniq a b", "sort -oa", "sort '-o' a"),
        *("find . '-delete'", "find . -delete", "sed -i 1p a", "sed -n 1d a", "sed 1p -n a"),
        *("sed -n", "sed -n 1w a", "rg --pre x a", "git diff --output=a", "unknown a", "ls > a"),
        *("uniq -c {a,b}", "uniq {a,b}"),
    ],
)
def test_what_may_write_is_not_called_reading(text: str) -> None:
    assert not only_reads(text)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("case x in a) run b;; esac", ["a", "run b"]),
        ("case x in case y in a) run b", ["a", "run b"]),
        ("case x y; run b", ["x y", "run b"]),
        ("case; run b", ["run b"]),
    ],
)
def test_a_case_begins_behind_its_in(text: str, commands: list[str]) -> None:
    read = read_script(text, AROUND)
    assert [" ".join(word.text for word in each.words) for each in read] == commands


def test_a_command_is_inner_if_its_output_becomes_words() -> None:
    assert [each.is_inner for each in read_script("run $(inner $(more))", AROUND)] == [
        *(True, True, False)
    ]
