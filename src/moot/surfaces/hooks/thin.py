"""Be a coding tool's hook in one small file: ask a running Moot process, and print its answer.

That process is the `moot run` which started the tool or, on a machine that joined a keeper, the
`moot mcp` which the tool has started. Run as `PYTHON -I -S thin.py TOOL`: it imports nothing of
ours, and little of Python, so that it starts quickly. If no process listens, this continues as
`moot hook TOOL` with the input it has read. If a process accepted the question and does not answer
in time, the answer is a refusal: exit 2, which the settings turn into a refusal before an edit.
"""

import _signal  # type: ignore[import-not-found]  # `signal` loads more than we need
import _socket
import os
import sys
import time

ACK_SECONDS = 1.0  # a running process acknowledges our question within this time
SECONDS = 8.0  # as in entry.py
# The system ends a hook that did not answer this much later, whatever it is stuck in.
GRACE_SECONDS = 1.0
TOO_LATE = (
    b"moot: the check took too long (is the ledger busy?). Moot refuses what it cannot check; try"
    b" again, and if it happens again, update moot or see `moot ledger doctor`.\n"
)
MAX_BYTES = 32 * 1024 * 1024  # as in call.py
UNREADABLE = 2
DIRECTLY = "from moot.surfaces.cli.entry import hook; hook()"  # quicker than -m
# The one of Python's own settings, all ignored by -I, that does not change what a hook does.
WITHOUT_EFFECT = "PYTHONUNBUFFERED"
# The parts of our environment that a run is sent; a server needs everything that would affect us.
TO_RUN = (b"MOOT_", b"BB_")
TO_SERVER = (
    *(*TO_RUN, b"GIT_"),
    *(b"HOME=", b"PATH=", b"XDG_CONFIG_HOME=", b"XDG_DATA_HOME="),
)
# As in system/process_tree.py and keys/agent_folder.py.
MOST_STEPS = 8
STARTERS = b"sh bash dash ash zsh ksh fish env uv uvx pipx timeout".split()
NOTES_FOLDER = "beside"
MAX_NOTE = 4096


def main(tool: str) -> None:
    set_alarm(seconds_allowed() + GRACE_SECONDS)
    if not answer_by_server(tool):
        answer_here(tool)


def set_alarm(seconds: float) -> None:
    """Let the system end this process after so many seconds; call it in the main thread.

    A watchdog thread is not enough: it never runs while a call in C holds the interpreter.
    """
    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM,))
        _signal.setitimer(_signal.ITIMER_REAL, seconds)


def cancel_alarm() -> None:
    if hasattr(_signal, "setitimer"):
        _signal.setitimer(_signal.ITIMER_REAL, 0)


def answer_by_server(tool: str) -> bool:
    """Print a running process's answer and exit; False if this hook must do the work itself."""
    place, words, sent = find_server()
    if not place or os.environ.get("MOOT_DEBUG"):
        return False
    began = time.monotonic()
    data = read_input()
    answer = ask(place, words, sent, tool, data)
    if answer is None:
        left = max(1.0, seconds_allowed() - (time.monotonic() - began))
        os.environ["MOOT_HOOK_SECONDS"] = f"{left:.3f}"
        restore_stdin(data)
        return False
    out, err, code = answer
    write(1, out)
    write(2, err)
    os._exit(int(code))


def is_under_run() -> bool:
    return bool(os.environ.get("MOOT_SOCKET"))


def find_server() -> "tuple[str, tuple[bytes, ...], tuple[bytes, ...]]":
    """Return the socket of a running process, the words it expects first, and the settings to send;
    an empty socket if there is none."""
    if is_under_run():
        return os.environ["MOOT_SOCKET"], (b"hook",), TO_RUN
    socket, _, word = read_note().partition(b"\n")
    return os.fsdecode(socket), (b"hook_beside", word.strip()), TO_SERVER


def read_note() -> bytes:
    """Return what the tool's MCP server wrote into the key folder; empty on nearly every
    machine."""
    folder = f"{key_folder()}/{NOTES_FOLDER}"
    process = find_tool() if os.path.isdir(folder) else None
    try:
        with open(f"{folder}/{process}", "rb") as file:
            return file.read(MAX_NOTE)
    except OSError:
        return b""


def key_folder() -> str:
    """Return the key folder: the one in the environment, or the default."""
    home = os.environ.get("HOME", "")
    return os.environ.get("MOOT_KEYS") or f"{home}/.local/share/moot/keys"


def find_tool() -> "str | None":
    """Return the nearest process above us that is not a shell, as in system/process_tree.py."""
    number = os.getppid()
    for _ in range(MOST_STEPS):
        try:
            with open(f"/proc/{number}/stat", "rb") as file:
                name, _, rest = file.read().partition(b"(")[2].rpartition(b")")
        except OSError:
            return None
        fields = rest.split()
        if name not in STARTERS:
            return f"{number}-{fields[19].decode()}" if number > 1 else None
        number = int(fields[1])
    return None


def ask(
    place: str, words: "tuple[bytes, ...]", sent: "tuple[bytes, ...]", tool: str, data: bytes
) -> "list[bytes] | None":
    """Return stdout, stderr and exit code; None if the hook must do the work itself: nothing
    listens, the process exited, or it declined."""
    env = os.environb
    settings = [setting for pair in env.items() if (setting := b"%b=%b" % pair).startswith(sent)]
    seconds = seconds_allowed()
    fields = (
        *words,
        tool.encode(),
        env.get(b"MOOT_AGENT", b""),
        env.get(b"MOOT_EPOCH", b""),
        here(),
        b"%.3f" % seconds,
        b"\0".join(settings),
        data,
    )
    header = b" ".join(b"%d" % len(field) for field in fields)
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        line.settimeout(ACK_SECONDS)
        line.connect(place)
        line.sendall(b"".join((header, b"\n", *fields)))
        if line.recv(1) != b"+":
            return None
        return read_answer(line, time.monotonic() + seconds + GRACE_SECONDS / 2)
    except (OSError, ValueError):
        return None
    finally:
        line.close()


def read_answer(line: "_socket.socket", until: float) -> "list[bytes] | None":
    received = b""
    while True:
        line.settimeout(max(0.001, until - time.monotonic()))
        try:
            part = line.recv(1 << 16)
        except TimeoutError:
            return [b"", TOO_LATE, b"%d" % UNREADABLE]
        if not part:
            break
        received += part
    header, _, body = received.partition(b"\n")
    lengths = [int(word) for word in header.split()]
    if len(lengths) != 4 or sum(lengths) != len(body):
        return None
    fields = []
    for length in lengths:
        fields.append(body[:length])
        body = body[length:]
    return fields[1:] if fields[0] == b"ok" else None


def seconds_allowed() -> float:
    try:
        seconds = float(os.environ.get("MOOT_HOOK_SECONDS", ""))
    except ValueError:
        return SECONDS
    return seconds if 0 < seconds <= 3600 else SECONDS


def here() -> bytes:
    """Return the working directory; the root if it was removed."""
    try:
        return os.getcwdb()
    except OSError:
        return os.fsencode(os.sep)


def read_input() -> bytes:
    """Read what the tool sent, up to one byte more than allowed, so that the check sees it."""
    parts, size = [], 0
    try:
        while size <= MAX_BYTES:
            part = os.read(0, min(1 << 16, MAX_BYTES + 1 - size))
            if not part:
                break
            parts.append(part)
            size += len(part)
    except OSError:  # closed: nothing was sent
        pass
    return b"".join(parts)


def restore_stdin(data: bytes) -> None:
    """Let this process read the same input from stdin again."""
    import tempfile

    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        os.dup2(file.fileno(), 0)


def answer_here(tool: str) -> None:
    """Check in this process if it can import what a new one would; a new process would double the
    time."""
    if has_modules_of_new_process():
        sys.argv = ["-c", "hook", tool]
        exec(DIRECTLY, {})
    try:
        os.execv(sys.executable, [sys.executable, "-P", "-c", DIRECTLY, "hook", tool])
    except OSError as error:
        write(2, f"moot: the check cannot be started: {error}\n".encode())
        os._exit(UNREADABLE)


def has_modules_of_new_process() -> bool:
    """Add the module paths of a Python without -I and -S; False if a new process may have others.

    They differ with PYTHON* settings, with the user's own site-packages, or if we are not in them.
    """
    settings = {name for name in os.environ if name.startswith("PYTHON")}
    if settings - {WITHOUT_EFFECT}:
        return False
    import site

    site.main()
    is_venv_alone = sys.prefix != sys.base_prefix and [sys.prefix] == site.PREFIXES
    if not is_venv_alone and os.path.isdir(site.getusersitepackages()):
        return False
    hooks = os.path.dirname(os.path.abspath(__file__))
    return os.path.normpath(f"{hooks}/../../..") in sys.path


def write(stream: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(stream, data) :]
    except OSError:
        return  # the reader has exited


if __name__ == "__main__":
    main(sys.argv[1])
