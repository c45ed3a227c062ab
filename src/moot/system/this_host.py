"""Which machine, boot and process namespace we are in, when a process started, what a disk is.

Each function reads the system when it is called. An unknown value is empty, and the caller must
then assume nothing. Linux has all of it in /proc, other systems have less.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

_PROC: Final = Path("/proc")
_MACHINE_IDS: Final = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
MOUNTS: Final = _PROC / "self" / "mountinfo"
PS_SECONDS: Final = 5.0
# Filesystems whose locks other machines may or may not see, and which may lose them.
NETWORK_DISKS: Final = frozenset(
    [
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "fuse.s3fs",
        "fuse.sshfs",
        "gfs2",
        "glusterfs",
        "fuse.glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "smb3",
        "smbfs",
        "virtiofs",
        "vboxsf",
        "fuse.vmhgfs-fuse",
    ]
)


class MachineId(msgspec.Struct, frozen=True):
    """Where a process runs: only within one and the same are its locks and numbers comparable."""

    host: str
    boot: str
    pid_namespace: str

    @property
    def is_known(self) -> bool:
        return bool(self.host and self.boot)


def read_machine_id() -> MachineId:
    return MachineId(_host(), _boot(), _pid_namespace())


def start_time_of(pid: int) -> str:
    """When this process started, in a form that only this machine compares; empty if it is gone."""
    with suppress(OSError, IndexError):
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
        return text.rpartition(")")[2].split()[19]
    if _PROC.is_dir():
        return ""
    return _ask("ps", "-o", "lstart=", "-p", str(pid))


def network_disk_of(path: Path, mounts: Path | None = None) -> str:
    """What kind of network disk the path is on; empty if it is on none, as far as can be told."""
    try:
        lines = (mounts or MOUNTS).read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    real, best, kind = os.path.realpath(path), "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        place = fields[4].replace("\\040", " ")
        is_around = real == place or real.startswith(place.rstrip("/") + "/")
        if is_around and len(place) >= len(best):
            best, kind = place, after.split(" ")[0]
    return kind if kind in NETWORK_DISKS else ""


def _host() -> str:
    for file in _MACHINE_IDS:
        with suppress(OSError):
            text = file.read_text("ascii", "replace").strip()
            if text:
                return f"{text} {_node()}"
    return _node()


def _node() -> str:
    """What the machine calls itself."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import platform  # loaded only where there is no shorter way: every look at others asks

    return platform.node()


def _boot() -> str:
    with suppress(OSError):
        return (_PROC / "sys/kernel/random/boot_id").read_text("ascii", "replace").strip()
    return "" if _PROC.is_dir() else _ask("sysctl", "-n", "kern.boottime")


def _pid_namespace() -> str:
    with suppress(OSError):
        return os.readlink(_PROC / "self" / "ns" / "pid")
    return ""


def _ask(*words: str) -> str:
    import subprocess

    try:
        done = subprocess.run(words, capture_output=True, timeout=PS_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()
