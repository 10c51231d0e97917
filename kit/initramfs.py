"""Builds the VM's initramfs, byte for byte the same for the same contents.

Parts are simply put one after the other: the base (busybox, the programs of guest/contents with their libraries,
init), what a suite test_NAME.sh, suites_*.sh or a load NAME.sh of the bench asks for in guest/contents-NAME, the
selftests with their modules, and the command to run. Parts that take the host's programs are kept between runs.
"""

import fcntl
import hashlib
import os
import re
import shlex
import stat
import subprocess
import tempfile
from pathlib import Path

KIT = Path(__file__).resolve().parent
BUSYBOX = "/bin/busybox"
PYTHON = "/usr/bin/python3"
EMPTY_DIRECTORIES = "dev proc sys tmp out run root mnt etc selftest/modules".split()
# fio is linked with storage clients of whole clusters (80 MB); what it needs of them in a VM without a network
# is only that they are there. All other libraries are the real ones.
REAL_LIBRARIES_OF_FIO = re.compile(r"ld-linux|lib(c|m|z|aio|numa|pthread|dl|rt)\.so")


# What scripts import of Python's library, compiled: the emulated processor would take seconds for it. Prints the name
# of each file and where it is.
PYTHON_LIBRARY = """
import io, os, py_compile, runpy, sys
out, sys.stdout = sys.stdout, io.StringIO()
where, *scripts = sys.argv[1:]
for script in scripts:
    sys.argv = [script, "--help"]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit:
        pass
unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
for name, module in sorted(sys.modules.items()):
    file = getattr(module, "__file__", None) or ""
    if not file.startswith(os.path.dirname(os.__file__)):
        continue
    if file.endswith(".py"):
        compiled = os.path.join(where, name + ".pyc")
        py_compile.compile(file, compiled, file, invalidation_mode=unchecked)
        print(file + "c", compiled, file=out)
    else:
        print(file, file, file=out)
"""


class Archive:
    """A cpio archive in the kernel's "newc" format, without owners, times and other traces of the host."""

    def __init__(self):
        self.data = bytearray()
        self.inode = 0
        self.directories = {""}

    def add(self, name, mode, content=b"", device=(0, 0)):
        name = name.strip("/")
        if name in self.directories:
            return
        if name != "TRAILER!!!":
            self.add_directory(os.path.dirname(name))
        self.inode += 1
        fields = [
            self.inode,
            mode,
            0,
            0,
            1,
            0,
            len(content),
            0,
            0,
            *device,
            len(name) + 1,
            0,
        ]
        self.data += (
            b"070701"
            + b"".join(b"%08X" % field for field in fields)
            + name.encode()
            + b"\0"
        )
        self.data += b"\0" * (-len(self.data) % 4) + content
        self.data += b"\0" * (-len(self.data) % 4)

    def add_directory(self, name):
        self.add(name, stat.S_IFDIR | 0o755)
        self.directories.add(name.strip("/"))

    def add_file(self, name, path):
        executable = os.access(path, os.X_OK)
        self.add(
            name,
            stat.S_IFREG | (0o755 if executable else 0o644),
            Path(path).read_bytes(),
        )

    def add_link(self, name, target):
        self.add(name, stat.S_IFLNK | 0o777, target.encode())

    def add_tree(self, name, top):
        for directory, subdirectories, files in os.walk(top):
            subdirectories.sort()
            prefix = os.path.join(name, os.path.relpath(directory, top))
            self.add_directory(os.path.normpath(prefix))
            for file in sorted(files):
                self.add_file(
                    os.path.normpath(os.path.join(prefix, file)),
                    os.path.join(directory, file),
                )

    def finish(self):
        self.add("TRAILER!!!", 0)
        return bytes(self.data)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def which(program):
    return run(
        "sh", "-c", 'PATH=$PATH:/usr/sbin:/sbin command -v "$1"', "sh", program
    ).strip()


def libraries(program):
    """The shared libraries of a program: pairs of the name it looks for and the host's file."""
    for line in run("ldd", program).splitlines():
        match = re.search(r"(?:(\S+) => )?(/\S+) \(0x", line)
        if match:
            yield match[1] or match[2], match[2]


def symbols(file, kind):
    """The dynamic symbols of a file with their versions: those it leaves undefined ("UND") or those it defines."""
    for line in run("readelf", "--dyn-syms", "--wide", file).splitlines():
        match = re.search(r" (UND|\d+) (\w+)(?:@@?([\w.]+))?(?: \(\d+\))?$", line)
        if match and (match[1] == "UND") == (kind == "UND"):
            yield match[2], match[3]


def stub_library(program, real_libraries, where):
    """One shared object with all symbols that the program does not find in the real libraries; they do nothing."""
    found = {
        symbol
        for library in real_libraries
        for symbol, _ in symbols(library, "defined")
    }
    versions = {}
    for symbol, version in symbols(program, "UND"):
        if symbol not in found and not symbol.startswith("_"):
            versions.setdefault(version, []).append(symbol)
    source = "".join(
        f"void {s}(void) {{}}\n" for group in versions.values() for s in group
    )
    script = "".join(
        f"{v} {{ global: {'; '.join(group)}; }};\n"
        for v, group in versions.items()
        if v
    )
    (where / "stub.c").write_text(source)
    (where / "stub.map").write_text(script)
    stub = where / "stub.so"
    flags = [
        "-shared",
        "-fPIC",
        "-fno-builtin",
        "-w",
        "-nostdlib",
        f"-Wl,--version-script={where / 'stub.map'}",
    ]
    run("gcc", *flags, "-o", str(stub), str(where / "stub.c"))
    return stub


def base(where):
    archive = Archive()
    for directory in EMPTY_DIRECTORIES:
        archive.add_directory(directory)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    archive.add_file("init", KIT / "guest/init")
    for script in ("run-command", "in-turn"):
        archive.add_file(f"usr/bin/{script}", KIT / "guest" / script)
    archive.add_file("bin/busybox", BUSYBOX)
    for applet in run(BUSYBOX, "--list").split():
        if applet != "busybox":
            archive.add_link(f"bin/{applet}", "busybox")
    archive.add(
        "etc/passwd",
        stat.S_IFREG | 0o644,
        b"root::0:0:root:/root:/bin/sh\nuser::1000:1000::/tmp:/bin/sh\n",
    )
    archive.add("etc/group", stat.S_IFREG | 0o644, b"root::0:\nuser::1000:\n")
    archive.add_link("usr/bin/env", "/bin/env")

    run(
        "gcc",
        "-O2",
        "-Wall",
        "-static",
        "-s",
        "-o",
        str(where / "port"),
        str(KIT / "guest/port.c"),
    )
    archive.add_file("usr/bin/port", where / "port")

    add_contents(archive, KIT / "guest/contents", where)
    archive.add_link("bin/bash", "/usr/bin/bash")
    return archive.finish()


def part_of_suite(contents, where):
    archive = Archive()
    add_contents(archive, contents, where)
    return archive.finish()


def add_contents(archive, contents, where):
    """The programs of a list, with their shared libraries, and its other files."""
    shared = {}
    for program in listed(contents):
        if program.startswith("/"):
            archive.add_file(program, program)
            continue
        path = which(program)
        archive.add_file(f"usr/bin/{program}", path)
        wanted = dict(libraries(path))
        if program == "fio":
            direct = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path))
            unwanted = [
                name for name in direct if not REAL_LIBRARIES_OF_FIO.match(name)
            ]
            wanted = {
                name: file
                for name, file in wanted.items()
                if REAL_LIBRARIES_OF_FIO.search(name)
            }
            archive.add_file("lib/stub.so", stub_library(path, wanted.values(), where))
            for name in unwanted:
                archive.add_link(f"lib/{name}", "stub.so")
        shared.update(wanted)
    for name, file in sorted(shared.items()):
        archive.add_file(name if "/" in name else f"lib/{name}", file)


def listed(contents):
    lines = contents.read_text().splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("#")]


def stamp_of(contents):
    """Changes when what was made of the list has to be made anew."""
    files = [
        *sorted((KIT / "guest").iterdir()),
        Path(__file__),
        BUSYBOX,
        *map(which, listed(contents)),
    ]
    facts = "\n".join(
        f"{file} {os.stat(file).st_size} {os.stat(file).st_mtime_ns}" for file in files
    )
    return hashlib.sha256(facts.encode()).hexdigest()


def kept(where, contents, make):
    """What make() says, or what it said when nothing has changed since."""
    file, stamp = where / f"{contents.name}.cpio", where / f"{contents.name}.stamp"
    now = stamp_of(contents)
    if not file.exists() or not stamp.exists() or stamp.read_text() != now:
        file.write_bytes(make())
        stamp.write_text(now)
    return file.read_bytes()


def contents_of_suite(command):
    """The list of what the suite has besides, or the load, if the command runs one that has."""
    for word in command:
        match = re.fullmatch(r"(?:(?:\./)?test_|/guest/)(\w+)\.sh", word)
        if not match:
            match = re.fullmatch(r"(?:\./)?(suites)_\w+\.sh", word)
        contents = KIT / f"guest/contents-{match[1]}" if match else None
        if contents and contents.exists():
            yield contents


def own_flags(tree, program):
    """What the Makefile of a selftest has for this program."""
    makefile = tree / "Makefile"
    rule = rf"^\$\(OUTPUT\)/{program}: CFLAGS \+= (.*)$"
    text = makefile.read_text() if makefile.exists() else ""
    return " ".join(re.findall(rule, text, re.MULTILINE)).split()


def add_programs(archive, name, tree, where):
    """A directory, and the programs that its C files are."""
    archive.add_tree(name, tree)
    for helper in tree.glob("*.c"):
        program = where / helper.stem
        if not program.exists() or program.stat().st_mtime < helper.stat().st_mtime:
            mine = f"{program}.{os.getpid()}"
            flags = ["-O2", "-Wall", "-static", "-s", *own_flags(tree, helper.stem)]
            run("gcc", *flags, "-o", mine, str(helper))
            os.replace(mine, program)
        archive.add_file(f"{name}/{helper.stem}", program)


def add_python(archive, scripts):
    """The interpreter, with as much of its library as the scripts import."""
    program = os.path.realpath(PYTHON)
    archive.add_file(program, program)
    archive.add_link("usr/bin/python3", program)
    shared = dict(libraries(program))
    with tempfile.TemporaryDirectory() as where:
        command = [program, "-B", "-c", PYTHON_LIBRARY, where, *map(str, scripts)]
        files = dict(line.split() for line in run(*command).splitlines())
        for name, file in sorted(files.items()):
            archive.add_file(name, file)
            if name.endswith(".so"):
                shared.update(libraries(file))
            if os.path.basename(name) == "os.pyc":
                # It sees by this directory where its library is.
                archive.add_directory(
                    os.path.join(os.path.dirname(name), "lib-dynload")
                )
    for name, file in sorted(shared.items()):
        archive.add_file(name if "/" in name else f"lib/{name}", file)


def build(
    output, build_directory, trees, modules, command, python_scripts=(), layers=()
):
    """Writes the initramfs for one run of the VM; trees are directories by their names in it."""
    where = Path(build_directory) / "guest"
    where.mkdir(parents=True, exist_ok=True)
    with open(where / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        parts = [kept(where, KIT / "guest/contents", lambda: base(where))]
        for contents in contents_of_suite(command):
            parts.append(kept(where, contents, lambda: part_of_suite(contents, where)))

    archive = Archive()
    archive.directories.update({"selftest", "selftest/modules"})
    for name, tree in trees.items():
        if Path(tree).is_dir():
            add_programs(archive, name, Path(tree), where)
    for module in sorted(modules, key=os.path.basename):
        archive.add_file(f"selftest/modules/{os.path.basename(module)}", module)
    if python_scripts:
        add_python(archive, python_scripts)
    for layer in layers:
        archive.add_file(f"system/{layer.name}", layer)
    script = f"#!/bin/sh\nexec {shlex.join(command)}\n"
    archive.add("command", stat.S_IFREG | 0o755, script.encode())
    with open(output, "wb") as file:
        for part in parts:
            file.write(part)
        file.write(archive.finish())
