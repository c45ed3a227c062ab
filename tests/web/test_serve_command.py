"""`moot serve` as a process of its own: what it prints, what it refuses, how it ends."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.project import MOOT, Project, Result
from tests.web.server import SECONDS, Visitor


def start(project: Project, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*MOOT, *words],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_one_address_and_ends_when_it_is_told_to(
    project: Project, how: signal.Signals
) -> None:
    process = start(project, "serve")
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert "/enter#" in address
        visitor = Visitor(address)
        visitor.enter()
        assert visitor.get("/api/v1/status").data["workspace"].endswith(".moot")
        with visitor.listen() as listener:
            listener.frame()
            process.send_signal(how)
            out, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait(timeout=SECONDS)
    assert process.returncode == (0 if how is signal.SIGINT else -signal.SIGTERM)
    assert "Traceback" not in err
    assert visitor.token not in out + err, "the secret is printed once"


def test_with_json_standard_output_is_one_envelope(project: Project) -> None:
    process = start(project, "--json", "serve")
    try:
        assert process.stderr is not None
        visitor = Visitor(process.stderr.readline().strip())
        visitor.enter()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.wait(timeout=SECONDS)
    assert Result(0, out, "").data["address"].startswith("http://")


@pytest.mark.requirement("PAG-001")
def test_it_listens_on_loopback_alone_unless_it_has_a_certificate(project: Project) -> None:
    assert project.refused("serve", "--listen", "0.0.0.0") == ("tls_required", 1)
    assert project.refused("serve", "--name", "build.example") == ("usage", 2)  # not for nothing
    assert project.refused("serve", "--decide") == ("terminal_required", 1)
    files = ("--certificate", __file__, "--key", __file__)
    listening = ("--listen", "0.0.0.0", *files, "--decide")
    assert project.refused("serve", *listening) == ("decide_is_local", 1)
    assert project.json("serve", "--certificate", __file__).code == 2
    agent = project.json("serve", "--decide", MOOT_AGENT="amber-otter")
    assert agent.error["code"] == "human_key_required"


def test_a_port_that_is_taken_is_said_to_be(project: Project) -> None:
    process = start(project, "serve")
    try:
        assert process.stdout is not None
        port = Visitor(process.stdout.readline().strip()).port
        assert project.refused("serve", "--port", str(port)) == ("cannot_listen", 1)
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


def test_other_commands_load_no_server(project: Project) -> None:
    code = (
        "import sys; from moot.surfaces.cli.main import run; run(['status']);"
        "print([n for n in ('starlette', 'uvicorn', 'anyio') if n in sys.modules])"
    )
    done = subprocess.run(
        [MOOT[0], "-c", code],
        cwd=project.root,
        env=project.env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
