"""A coding tool's hook in one small file: it asks the `moot run` beside the tool, and prints.

Run as `PYTHON -I -S thin.py TOOL`: nothing of ours is imported, nor most of Python. With nobody
listening it becomes `moot hook TOOL` by the same Python, the direct way, with what it had read.
"""

import _socket
import os
import sys
import time

HEARD_SECONDS = 1.0  # so soon a run that lives says that it has heard us
SECONDS = 8.0  # as in entry.py
MAX_BYTES = 32 * 1024 * 1024  # as in call.py
UNREADABLE = 2
MOOT = "from moot.surfaces.cli.entry import main; main()"  # quicker than -m


def main(tool: str) -> None:
    place = os.environ.get("MOOT_SOCKET")
    if not place or os.environ.get("MOOT_DEBUG"):
        go_directly(tool)
        return
    began = time.monotonic()
    data = read_input()
    answer = ask_run(place, tool, data)
    if answer is None:
        left = max(1.0, seconds_allowed() - (time.monotonic() - began))
        os.environ["MOOT_HOOK_SECONDS"] = f"{left:.3f}"
        put_back(data)
        go_directly(tool)
        return
    out, err, code = answer
    write(1, out)
    write(2, err)
    os._exit(int(code))


def ask_run(place: str, tool: str, data: bytes) -> "list[bytes] | None":
    """The answer of the run: what to print, what to say aside, how to end. None: go directly."""
    env = os.environb
    settings = [b"%b=%b" % pair for pair in env.items() if pair[0].startswith((b"MOOT_", b"BB_"))]
    seconds = seconds_allowed()
    fields = (
        b"hook",
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
        line.settimeout(HEARD_SECONDS)
        line.connect(place)
        line.sendall(b"".join((header, b"\n", *fields)))
        if line.recv(1) != b"+":
            return None
        line.settimeout(seconds + HEARD_SECONDS)
        return read_answer(line)
    except (OSError, ValueError):
        return None
    finally:
        line.close()


def read_answer(line: "_socket.socket") -> "list[bytes] | None":
    received = b""
    while True:
        part = line.recv(1 << 16)
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
    """A working directory that was removed is nowhere in particular."""
    try:
        return os.getcwdb()
    except OSError:
        return os.fsencode(os.sep)


def read_input() -> bytes:
    """What the tool sent; one byte more than may be, so that the check sees that it is too much."""
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


def put_back(data: bytes) -> None:
    """Let whoever comes after us read the same input."""
    import tempfile

    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        os.dup2(file.fileno(), 0)


def go_directly(tool: str) -> None:
    try:
        os.execv(sys.executable, [sys.executable, "-P", "-c", MOOT, "hook", tool])
    except OSError as error:
        write(2, f"moot: the check cannot be started: {error}\n".encode())
        os._exit(UNREADABLE)


def write(stream: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(stream, data) :]
    except OSError:
        return  # the reader has gone


if __name__ == "__main__":
    main(sys.argv[1])
