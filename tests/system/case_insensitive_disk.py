"""A disk that takes `A` and `a` for one name: a folder shown through FUSE, without any library.

    python case_insensitive_disk.py BACKING TARGET

It serves until its standard input is closed, and then takes the disk away. Names are kept as they
were first written, as on a Mac. Needs root and /dev/fuse; only what moot, git and SQLite ask for is
answered, one question after the other, and nothing is cached.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import stat
import struct
import sys
from collections.abc import Callable
from typing import Final

HEADER: Final = struct.Struct("<IIQQIIIHH")
ROOT: Final = 1
MNT_DETACH: Final = 2
FH: Final = struct.Struct("<Q")
PIECE: Final = struct.Struct("<QQII")  # handle, offset, size, flags
ROOMY: Final = struct.pack("<QQQQQIIII24x", *(1 << 20,) * 5, *(4096, 255, 4096, 0))


class FoldingDisk:
    def __init__(self, backing: str) -> None:
        self.path_of = {ROOT: backing}
        self.node_of = {backing: ROOT}
        self.answers: dict[int, Callable[[int, bytes], bytes]] = {
            1: lambda node, data: self.entry(self.find(node, name_in(data))),
            3: lambda node, _data: self.attributes(self.path_of[node]),
            4: self.set_attributes,
            5: lambda node, _data: os.fsencode(os.readlink(self.path_of[node])),
            6: self.symlink,
            9: self.make_folder,
            10: lambda node, data: self.remove(os.unlink, node, data),
            11: lambda node, data: self.remove(os.rmdir, node, data),
            12: lambda node, data: self.rename(node, data[:8], data[8:]),
            13: self.link,
            14: lambda node, data: self.open(node, struct.unpack_from("<I", data)[0]),
            15: lambda _node, data: self.read(data),
            16: lambda _node, data: self.write(data),
            17: lambda _node, _data: ROOMY,
            18: lambda _node, data: self.close(data),
            20: lambda _node, data: self.sync(data),
            25: lambda _node, _data: b"",
            26: lambda _node, data: self.begin(data),
            27: lambda node, _data: struct.pack("<QII", node, 0, 0),
            28: self.list,
            29: lambda _node, _data: b"",
            30: lambda _node, _data: b"",
            35: self.create,
            45: lambda node, data: self.rename(node, data[:8], data[16:]),
        }  # fmt: skip

    def begin(self, data: bytes) -> bytes:
        _major, _minor, ahead, _flags = struct.unpack_from("<IIII", data)
        return struct.pack("<IIIIHHIIHHI28x", 7, 31, ahead, 0, 12, 9, 1 << 17, 1, 32, 0, 0)

    def find(self, node: int, name: str) -> str:
        """The path behind a name: as it is listed, in whatever case it was asked for."""
        folder = self.path_of[node]
        asked = name.casefold()
        listed = (one for one in os.listdir(folder) if one.casefold() == asked)
        return os.path.join(folder, next(listed, name))

    def entry(self, path: str) -> bytes:
        known = self.attribute_bytes(path)
        node = self.node_of.setdefault(path, max(self.path_of) + 1)
        self.path_of[node] = path
        return struct.pack("<QQQQII", node, 0, 0, 0, 0, 0) + known

    def attributes(self, path: str) -> bytes:
        return struct.pack("<QII", 0, 0, 0) + self.attribute_bytes(path)

    def attribute_bytes(self, path: str) -> bytes:
        of = os.lstat(path)
        times = (of.st_atime_ns, of.st_mtime_ns, of.st_ctime_ns)
        return struct.pack(
            "<QQQQQQIIIIIIIIII",
            *(of.st_ino, of.st_size, of.st_blocks),
            *(time // 10**9 for time in times),
            *(time % 10**9 for time in times),
            *(of.st_mode, of.st_nlink, of.st_uid, of.st_gid, 0, 4096, 0),
        )

    def set_attributes(self, node: int, data: bytes) -> bytes:
        valid, size = struct.unpack_from("<I", data)[0], struct.unpack_from("<Q", data, 16)[0]
        path = self.path_of[node]
        if valid & 1:
            os.chmod(path, stat.S_IMODE(struct.unpack_from("<I", data, 68)[0]))
        if valid & 8:
            os.truncate(path, size)
        if valid & (16 | 32):
            accessed, changed = struct.unpack_from("<QQ", data, 32)
            os.utime(path, (accessed, changed))
        return self.attributes(path)

    def symlink(self, node: int, data: bytes) -> bytes:
        name, target, _ = data.split(b"\0")
        path = self.find(node, os.fsdecode(name))
        os.symlink(target, path)
        return self.entry(path)

    def make_folder(self, node: int, data: bytes) -> bytes:
        path = self.find(node, name_in(data[8:]))
        os.mkdir(path, struct.unpack_from("<I", data)[0] & 0o777)
        return self.entry(path)

    def remove(self, how: Callable[[str], None], node: int, data: bytes) -> bytes:
        path = self.find(node, name_in(data))
        how(path)
        self.node_of.pop(path, None)
        return b""

    def rename(self, node: int, target: bytes, data: bytes) -> bytes:
        old, new, _ = data.split(b"\0")
        source = self.find(node, os.fsdecode(old))
        path = self.find(FH.unpack(target)[0], os.fsdecode(new))
        os.rename(source, path)
        for number, known in list(self.path_of.items()):
            if known == source or known.startswith(source + os.sep):
                self.path_of[number] = path + known[len(source) :]
                self.node_of.pop(known, None)
                self.node_of[self.path_of[number]] = number
        return b""

    def link(self, node: int, data: bytes) -> bytes:
        path = self.find(node, name_in(data[8:]))
        os.link(self.path_of[FH.unpack_from(data)[0]], path)
        return self.entry(path)

    def open(self, node: int, flags: int) -> bytes:
        handle = os.open(self.path_of[node], (flags & ~os.O_APPEND) | os.O_CLOEXEC)
        return struct.pack("<QII", handle, 0, 0)

    def create(self, node: int, data: bytes) -> bytes:
        flags, mode = struct.unpack_from("<II", data)
        path = self.find(node, name_in(data[16:]))
        handle = os.open(path, (flags & ~os.O_APPEND) | os.O_CREAT | os.O_CLOEXEC, mode & 0o777)
        return self.entry(path) + struct.pack("<QII", handle, 0, 0)

    def read(self, data: bytes) -> bytes:
        handle, offset, size, _ = PIECE.unpack_from(data)
        return os.pread(handle, size, offset)

    def write(self, data: bytes) -> bytes:
        handle, offset, size, _ = PIECE.unpack_from(data)
        return struct.pack("<II", os.pwrite(handle, data[40 : 40 + size], offset), 0)

    def close(self, data: bytes) -> bytes:
        os.close(FH.unpack_from(data)[0])
        return b""

    def sync(self, data: bytes) -> bytes:
        os.fsync(FH.unpack_from(data)[0])
        return b""

    def list(self, node: int, data: bytes) -> bytes:
        _, offset, size, _ = PIECE.unpack_from(data)
        listed = b""
        names = sorted(os.listdir(self.path_of[node]))
        for place, name in enumerate(names[offset:], offset + 1):
            raw = os.fsencode(name)
            of = os.lstat(os.path.join(self.path_of[node], name))
            one = struct.pack("<QQII", of.st_ino, place, len(raw), of.st_mode >> 12) + raw
            one += bytes(-len(one) % 8)
            if len(listed) + len(one) > size:
                break
            listed += one
        return listed

    def answer(self, message: bytes) -> bytes | None:
        _, code, unique, node, *_ = HEADER.unpack_from(message)
        if code in (2, 36, 42):  # forgotten nodes and interruptions want no answer
            return None
        try:
            answer, error = self.answers[code](node, message[HEADER.size :]), 0
        except KeyError:
            answer, error = b"", errno.ENOSYS
        except OSError as problem:
            answer, error = b"", problem.errno or errno.EIO
        return struct.pack("<IiQ", 16 + len(answer), -error, unique) + answer


def name_in(data: bytes) -> str:
    return os.fsdecode(data.partition(b"\0")[0])


def serve(backing: str, target: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    fuse = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"folding", os.fsencode(target), b"fuse", 0, options):
        raise OSError(ctypes.get_errno(), "no such disk can be mounted here")
    disk = FoldingDisk(backing)
    os.write(1, b"ready\n")
    try:
        while True:
            ready, _, _ = select.select([fuse, 0], [], [])
            if fuse in ready:
                answer = disk.answer(os.read(fuse, (1 << 17) + 4096))
                if answer is not None:
                    os.write(fuse, answer)
            elif not os.read(0, 1):
                return
    finally:
        libc.umount2(os.fsencode(target), MNT_DETACH)


if __name__ == "__main__":
    serve(*sys.argv[1:])
