"""Puts the clock of a process that runs off, by changing the function in its vDSO that reads it.

A namespace of the kernel has clocks of its own only for the time since the start, and a library
that is loaded first (faketime) does nothing for programs of Go, which read the clock without the C
library.
"""

import platform
import struct

FUNCTION = b"__vdso_clock_gettime"
# mov eax, 228 (clock_gettime); syscall; test edi, edi (CLOCK_REALTIME); jnz over the next;
# add qword [rsi], SECONDS; ret. System V ABI for x86-64: the clock is in edi, its answer in [rsi].
BEFORE_SECONDS = bytes.fromhex("b8e4000000" "0f05" "85ff" "7507" "488106")
AFTER_SECONDS = bytes.fromhex("c3")
LOADED, DYNAMIC = 1, 2  # types of a program header
STRINGS, SYMBOLS = 5, 6  # tags of the dynamic section


def can_be_put_off():
    return platform.machine() == "x86_64"


def vdso_of(process):
    with open(f"/proc/{process}/maps", encoding="ascii") as maps:
        for line in maps:
            if line.rstrip().endswith("[vdso]"):
                return [int(one, 16) for one in line.split()[0].split("-")]
    raise ProcessLookupError(f"process {process} has no vDSO")


def place_of(function, image):
    """Of a function in an ELF image (System V ABI, 64 bits)."""
    [headers], [count] = struct.unpack_from("<Q", image, 32), struct.unpack_from("<H", image, 56)
    base, dynamic = 0, ()
    for at in range(headers, headers + 56 * count, 56):
        kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", image, at)
        if kind == LOADED:
            base = address - offset
        elif kind == DYNAMIC:
            dynamic = range(offset, offset + size, 16)
    tags = dict(reversed([struct.unpack_from("<QQ", image, at) for at in dynamic]))
    names, symbol = tags[STRINGS] - base, tags[SYMBOLS] - base
    while True:
        name, _, _, _, address = struct.unpack_from("<IBBHQ", image, symbol)
        if image[names + name:image.index(b"\0", names + name)] == function:
            return address - base
        symbol += 24


def put_off(process, seconds):
    """From now on its time of day is so many seconds late (negative) or early. Its timers, which
    count from the machine's start, are right."""
    begin, end = vdso_of(process)
    with open(f"/proc/{process}/mem", "r+b", buffering=0) as memory:
        memory.seek(begin)
        at = begin + place_of(FUNCTION, memory.read(end - begin))
        memory.seek(at)
        memory.write(BEFORE_SECONDS + struct.pack("<i", seconds) + AFTER_SECONDS)
