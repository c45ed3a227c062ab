"""Pages in one folder, and `--open`, as a person uses them."""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path

import pytest

from moot.api.page.reports import page_file_name
from tests.project import Project

VOICES = "amber-otter=rules:approve,teal-crane=rules:sceptic,coral-finch=rules:approve"
LINK = re.compile(r'href="([^"]+)"')


@pytest.fixture
def decided(project: Project) -> Project:
    done = project.run("ask", "Ship it?", "--with", VOICES)
    assert done.code == 0, done
    done = project.run("ask", "Which cache?", "--with", VOICES, "--chamber", "parliament")
    assert done.code == 0, done
    return project


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A browser that only writes down what it was told to open."""
    program = tmp_path / "browser"
    opened = tmp_path / "opened"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(opened)!r}, 'a').write(sys.argv[1] + '\\n')\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def links_of(file: Path) -> set[str]:
    return set(LINK.findall(file.read_text("utf-8")))


def test_debate_and_parliament_tell_the_tool_beside_each_name(decided: Project) -> None:
    decided.ok("report", "--all", "-o", "site")
    folder = decided.root / "site"
    files = [*folder.glob("debate-*.html"), *folder.glob("parliament-*.html")]
    assert len(files) == 3  # two rounds of the first question, and the parliament
    for file in files:
        assert '<span class="note sans" dir="auto">a fixed rule</span>' in file.read_text("utf-8")


def test_a_decision_tells_how_different_its_voters_were_and_gives_no_number(
    project: Project,
) -> None:
    program = f"cmd:{sys.executable} -c pass"
    project.ok("ask", "Ship it?", "--with", f"rules:approve,rules:reject,{program}")
    project.ok("report", "q-1", "-o", "q-1.md")
    text = (project.root / "q-1.md").read_text("utf-8")
    assert "How many voters there really were" in text
    assert "1 known: a script; 1 unknown" in text
    assert "1 known: nobody; 1 unknown" in text
    assert "after 30 shared outcomes" in text
    assert "by their record" not in text


def test_with_thirty_outcomes_a_line_beside_tells_the_vote_by_their_record(
    project: Project, people: dict[str, str]
) -> None:
    project.ok("agent", "register", "operator", "--human", **people)
    for _ in range(31):
        project.ok("ask", "Ship it?", "--with", VOICES, "--rounds", "1")
    judged = [f"q-{number}" for number in range(1, 31)]
    project.ok("outcome", *judged[:20], "right", "--reason", "It held.", **people)
    project.ok("outcome", *judged[20:], "wrong", "--reason", "It broke.", **people)
    page = project.root / "q-31.md"
    project.ok("report", "q-31", "-o", str(page))
    assert "counted by how often each was right before, it is for the motion" in page.read_text(
        "utf-8"
    )
    assert "binds nobody" in page.read_text("utf-8")
    project.ok("receipt", "q-31", "-o", "r.md")
    assert "binds nobody" not in (project.root / "r.md").read_text("utf-8")


def test_once_an_outcome_is_known_the_site_has_a_track_record(
    decided: Project, people: dict[str, str]
) -> None:
    decided.ok("agent", "register", "operator", "--human", **people)
    decided.ok("outcome", "q-1", "right", "--reason", "It held.", **people)
    site = decided.ok("report", "--all", "-o", "site")
    assert site["pages"][-1]["file"] == "track.html"
    folder = decided.root / "site"
    assert "track.html" in links_of(folder / "index.html")
    assert links_of(folder / "track.html") == {"index.html"}
    assert "1 of 2 decisions have an outcome; 1 has none" in (folder / "track.html").read_text(
        "utf-8"
    )


def test_every_page_of_the_site_is_there_and_every_link_leads_somewhere(decided: Project) -> None:
    site = decided.ok("report", "--all", "-o", "site")
    folder = decided.root / "site"
    assert {page["kind"] for page in site["pages"]} == {"decision", "debate", "parliament"}
    assert site["undrawn"] == []
    written = {file.name for file in folder.iterdir()}
    assert written == {"index.html", *(page["file"] for page in site["pages"])}
    for file in folder.iterdir():
        assert links_of(file) <= written, file
    assert links_of(folder / "index.html") == written - {"index.html"}
    debate = next(page["file"] for page in site["pages"] if page["kind"] == "debate")
    assert debate in links_of(folder / "decision-q-1.html")
    assert "decision-q-1.html" in links_of(folder / debate)
    again = decided.run("report", "--all", "-o", "site")
    assert again.out.startswith(f"{len(site['pages'])} pages in site; begin with ")


def test_pages_written_one_by_one_lead_to_those_beside_them(decided: Project) -> None:
    folder = decided.root / "pages"
    folder.mkdir()
    decided.ok("receipt", "q-1", "-o", "pages/receipt-q-1.html")
    assert links_of(folder / "receipt-q-1.html") == set()
    decided.ok("report", "q-1", "-o", "pages/decision-q-1.html")
    assert links_of(folder / "decision-q-1.html") == {"receipt-q-1.html"}
    decided.ok("story", "q-1", "-o", "pages/story-q-1.html")
    decided.ok("receipt", "q-1", "-o", "pages/receipt-q-1.html")
    assert links_of(folder / "receipt-q-1.html") == {"story-q-1.html"}
    assert decided.ok("report", "q-1", "-o", "elsewhere.html")["file"] == "elsewhere.html"
    assert links_of(decided.root / "elsewhere.html") == set()


def test_a_page_is_opened_where_there_is_a_browser(decided: Project, browser: Path) -> None:
    env = {"BROWSER": f"{browser} %s"}
    done = decided.spawn("report", "q-1", "-o", "q-1.html", "--open", **env)
    assert done.code == 0, done
    done = decided.spawn("report", "--all", "-o", "site", "--open", **env)
    assert done.code == 0, done
    done = decided.spawn("report", "q-1", "--open", **env)
    assert done.code == 0, done
    done = decided.spawn("track", "-o", "track.html", "--open", **env)
    assert done.code == 0, done
    page, index, unnamed, track = browser.with_name("opened").read_text("utf-8").splitlines()
    assert page == (decided.root / "q-1.html").as_uri()
    assert index == (decided.root / "site" / "index.html").as_uri()
    assert Path(unnamed.removeprefix("file://")).read_text("utf-8").startswith("<!DOCTYPE html>")
    assert track == (decided.root / "track.html").as_uri()


@pytest.mark.parametrize(
    "words",
    [
        ("report",),
        ("report", "q-1", "--all", "-o", "site"),
        ("report", "--all"),
        ("report", "--all", "-o", "taken.txt"),
        ("report", "q-1", "-o", "."),
        ("report", "q-1", "-o", "q-1.pdf"),
        ("report", "q-1", "-o", "q-1.md", "--open"),
        ("track", "-o", "track.md", "--open"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(
    decided: Project, words: tuple[str, ...]
) -> None:
    (decided.root / "taken.txt").write_text("mine")

    def written() -> dict[Path, int]:
        files = (file for file in decided.root.iterdir() if file.name != ".moot")  # which is read
        return {file: file.stat().st_mtime_ns for file in files}

    before = written()
    done = decided.run(*words)
    assert done.code == 2, done
    assert "usage" in done.err
    assert written() == before


def test_names_of_pages_are_files_in_the_folder_and_differ() -> None:
    odd = ["debate/a:b", "debate/a_b", "debate/a@b", "debate/..", "debate/.", "debate/a+b~c"]
    names = [page_file_name(stream) for stream in odd]
    assert len(set(names)) == len(odd)
    assert all(re.fullmatch(r"debate-[A-Za-z0-9._-]+\.html", name) for name in names)
    assert page_file_name("decision/q-7", "receipt") == "receipt-q-7.html"
