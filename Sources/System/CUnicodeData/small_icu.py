"""small_icu.py FOLDER: writes the part of ICU's data that hookswitch uses to FOLDER, for a build with -Xcc -IFOLDER.

Foundation brings the locales, the transliterations and the character sets of the whole world into each program that links it
statically: 34 MB. The gateway asks ICU for time zones, for comparison without case, and for dates in the form of HTTP. So this
reads the data out of the toolchain's own archive, and leaves out what belongs to one language (but English), to one legacy
character set, to transliteration or to breaking lines. The module CUnicodeData gives the rest the symbol that the archive's
member has: the linker takes that, and never opens the member.

The format is ICU's "common data" (unicode-org/icu, source/common/ucmndata.h): a header, a count, pairs of offsets (name, item),
names, items.
"""
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile

KEPT_LANGUAGES = {"root", "en", "en_001", "en_US", "en_US_POSIX"}
LOCALE = re.compile(r"(root|[a-z]{2,3}(_[A-Za-z0-9]+)*)\.res")
ALIGNMENT = 16


def fail(message):
    sys.exit(f"small_icu.py: {message}")


def run(*command, **options):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        fail(f"{command[0]} failed: {getattr(error, 'stderr', None) or error}")


def is_kept(name):
    """Whether the gateway may ask for this item, such as icudt76l/coll/root.res."""
    folder, _, file = name.partition("/")[2].rpartition("/")
    if folder == "translit" or file == "unames.icu" or file.endswith((".cnv", ".dict", ".spp", ".cfu")):
        return False
    if folder == "brkitr" and file.startswith("line"):
        return False
    return not LOCALE.fullmatch(file) or file[: -len(".res")] in KEPT_LANGUAGES


def items_of(data):
    """The header, and each item's name and bytes, in the order of the names, which ICU searches by halves."""
    (header_size,) = struct.unpack_from("<H", data, 0)
    if data[2:4] != b"\xda\x27" or data[12:16] != b"CmnD":
        fail("the toolchain's ICU data has another format than this script reads")
    (count,) = struct.unpack_from("<I", data, header_size)
    places = [struct.unpack_from("<II", data, header_size + 4 + 8 * index) for index in range(count)]
    ends = [begin for _, begin in places[1:]] + [len(data) - header_size]
    items = []
    for (name, begin), end in zip(places, ends):
        name_begin = header_size + name
        name_end = data.index(b"\0", name_begin)
        items.append((data[name_begin:name_end].decode(), data[header_size + begin : header_size + end]))
    return data[:header_size], items


def packed(header, items):
    """The common data of these items."""
    names, name_offset, offsets = b"", 4 + 8 * len(items), []
    for name, _ in items:
        offsets.append(name_offset + len(names))
        names += name.encode() + b"\0"
    # The header's length is a multiple of the alignment, so offsets from its end are aligned where the symbol is.
    begin = -(-(name_offset + len(names)) // ALIGNMENT) * ALIGNMENT
    table, body = struct.pack("<I", len(items)), b""
    for offset, (_, item) in zip(offsets, items):
        table += struct.pack("<II", offset, begin + len(body))
        body += item + b"\0" * (-len(item) % ALIGNMENT)
    return header + (table + names).ljust(begin, b"\0") + body


def toolchain_data(tools, folder):
    """ICU's data out of the toolchain's archive, and its symbol."""
    archive = os.path.join(tools, "..", "lib", "swift_static", "linux", "lib_FoundationICU.a")
    member = "icu_packaged_data.cpp.o"
    if not os.path.exists(archive):
        fail(f"this toolchain has no {os.path.basename(archive)}: it cannot link Foundation statically")
    run(f"{tools}/llvm-ar", "x", os.path.realpath(archive), member, cwd=folder)
    symbols = re.findall(r" R (icudt\d+_dat)$", run(f"{tools}/llvm-nm", f"{folder}/{member}"), re.MULTILINE)
    if len(symbols) != 1:
        fail(f"{member} of the toolchain defines {symbols or 'no data'}, and not one table")
    run(f"{tools}/llvm-objcopy", "-O", "binary", "--only-section=.rodata", f"{folder}/{member}", f"{folder}/all.dat")
    with open(f"{folder}/all.dat", "rb") as file:
        return file.read(), symbols[0]


def write(path, content):
    """Leaves a file alone that has this content already: nothing is compiled anew for it."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == content:
                return
    with open(path, "wb") as file:
        file.write(content)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: python3 small_icu.py FOLDER", file=sys.stderr)
        sys.exit(0 if "--help" in sys.argv else 2)
    swift = run("bash", "-c", 'readlink -f "$(command -v swift)"').strip() or fail("no swift on the PATH")
    tools = os.path.dirname(swift)
    target = os.path.abspath(sys.argv[1])
    os.makedirs(target, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        data, symbol = toolchain_data(tools, folder)
        header, items = items_of(data)
        if packed(header, items)[len(header) :][: 4 + 8 * len(items)] != data[len(header) :][: 4 + 8 * len(items)]:
            fail("the toolchain's ICU data, taken apart and put together, is not what it was")
        kept = packed(header, [item for item in items if is_kept(item[0])])
    table = f"{target}/small-icu.dat"
    write(table, kept)
    # The compiler looks at the header to see whether anything is new, and not at the table: so the header names the table's bytes.
    write(
        f"{target}/small-icu.h",
        f"""// Made by small_icu.py; the table's SHA-256 is {hashlib.sha256(kept).hexdigest()}.
__asm__(".section .rodata\\n.globl {symbol}\\n.type {symbol}, @object\\n.balign {ALIGNMENT}\\n{symbol}:\\n"
        ".incbin \\"{table}\\"\\n.size {symbol}, . - {symbol}\\n.text\\n");
""".encode(),
    )
    print(f"ICU's data: {len(kept) / 1e6:.1f} of {len(data) / 1e6:.1f} MB", file=sys.stderr)


main()
