#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Shows what the groups of the cfq scheduler do on each device, over and over.

A line is a group with all that is below it, by the name of its unit, container or machine if it is of one, or else by
its path:

  WEIGHT    in effect on this device, among its siblings
  CLASS     rt (real time), be (best effort) or idle, among its siblings
  TARGET    share of the time charged on the device that is due to it
  SHARE     share of that time that it had: of what all were charged, not of the interval
  REQ/S     requests that were sent to the device, in a second
  MB/S      of these requests, 10^6 bytes in a second
  WAIT      ms from when a request was queued until it was sent, the mean
  INFLIGHT  requests in the device now
  QUEUED    requests that wait now

Where a group has both, "(tasks)" are the tasks that are in the group itself, which compete with its child groups;
how many of their requests are there now is not known apart from the group's.

The target is the product, from the top down, of each group's part among its active siblings: its weight over the sum
of theirs. Active is who had a hundredth of its parent's time in the interval, or has a request there now. Of several
classes among siblings the best has it all, and the others, with a target of 0, what it leaves. A group that asks for
less than its target leaves the rest to others, so these have more than theirs.

What a group did that was removed since the last line counts, once, as what its parent's tasks did.
"""

import argparse
import glob
import json
import os
import re
import shutil
import sys
import time

# What the names of the control files begin with: where cfq is a controller, and where it is a module.
PREFIXES = ("cfq.", "io.cfq.", "blkio.cfq.")
CLASSES = {1: "rt", 2: "be", 3: "idle"}
DEFAULT_WEIGHT = 100
DEFAULT_CLASS = 2
COUNTERS = ("time", "sectors", "requests", "wait")
GAUGES = ("queued", "inflight")
SECTOR = 512
ACTIVE_FROM = 0.01
US = 1_000_000
CLEAR_REST_OF_LINE, CLEAR_REST, HOME = "\033[K", "\033[J", "\033[H"

COLUMNS = (
    # heading, width, key, format
    ("WEIGHT", 6, "weight", "d"),
    ("CLASS", 5, "class", "s"),
    ("TARGET", 7, "target_percent", ".1f"),
    ("SHARE", 7, "share_percent", ".1f"),
    ("REQ/S", 8, "requests_per_s", ".1f"),
    ("MB/S", 8, "mb_per_s", ".2f"),
    ("WAIT", 8, "wait_ms", ".2f"),
    ("INFLIGHT", 8, "inflight", "d"),
    ("QUEUED", 6, "queued", "d"),
)
# What a name may have where not all fits: on 80 columns, all figures but the last two are seen.
NAME_AT_LEAST = 22


class Failure(Exception):
    """What the user is told instead of a table."""


# Reading the control files.


def mounts(file="/proc/mounts"):
    """Yields the mount point, the type and the options of each mount."""
    with open(file, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            _, point, kind, options = line.split()[:4]
            # Blanks and the like are octal numbers there.
            point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), point)
            yield point, kind, options.split(",")


def find_hierarchy():
    """The directory of the topmost group: of a version 1 hierarchy with cfq, or of version 2."""
    unified = []
    for point, kind, options in mounts():
        if kind == "cgroup" and {"cfq", "blkio"} & set(options) and is_group(point):
            return point
        if kind == "cgroup2":
            unified.append(point)
    for point in unified:
        if is_group(point):
            return point
    raise Failure(
        "there is no hierarchy with the cfq controller; "
        + (f"{unified[0]} (version 2) is one without; " if unified else "")
        + "try: modprobe cfq, or: mount -t cgroup -o cfq none /dev/cgroup"
    )


def prefix_of(directory):
    """What the names of a group's files begin with, None if it is none."""
    for prefix in PREFIXES:
        if os.path.exists(os.path.join(directory, prefix + "stat")):
            return prefix
    return None


def is_group(directory):
    return prefix_of(directory) is not None


def top_of(directory):
    """The topmost group above a directory that has the controller."""
    while is_group(os.path.dirname(directory)):
        directory = os.path.dirname(directory)
    return directory


def read(path, default=""):
    """The text of a file; the default where there is no such file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return default


def read_number(path, default):
    return int(read(path).strip() or default)


def read_stats(files):
    """The counters of a group, by device; files is the path of its files up to where their names differ."""
    stats = {}
    for line in read(files + "stat").splitlines():
        device, *pairs = line.split()
        stats[device] = {
            key: int(value) if value.isdecimal() else value
            for key, value in (pair.split("=") for pair in pairs)
        }
    return stats


# Names of groups.


def unescaped(text):
    """A name as systemd has written it into that of a unit, byte by byte."""
    code = rb"\\x([0-9a-f]{2})"
    name = re.sub(code, lambda byte: bytes([int(byte[1], 16)]), os.fsencode(text))
    return os.fsdecode(name)


def valid(text):
    """A name of any bytes as UTF-8."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


class Containers:
    """Names of containers by their numbers, as podman and docker keep them; only root can read them."""

    def __init__(self):
        self.names = {}

    def _look(self, number):
        # Those of "podman run --rm" are in /run.
        podman = "containers/storage/*-containers/*containers.json"
        for file in glob.glob(f"/var/lib/{podman}") + glob.glob(f"/run/{podman}"):
            for container in json.loads(read(file, "[]")):
                self.names[container["id"]] = container["names"][0]
        docker = json.loads(
            read(f"/var/lib/docker/containers/{number}/config.v2.json", "{}")
        )
        if "Name" in docker:
            self.names[number] = docker["Name"].strip("/")

    def name(self, number):
        """Its name, or else the number as its program shows it."""
        if number not in self.names:
            self.names[number] = number[:12]
            try:
                self._look(number)
            except (OSError, ValueError, LookupError, TypeError):
                pass
        return self.names[number]


CONTAINERS = Containers()


def name_of(path):
    """The name of the unit, container or machine that a group is of; None if it is of none."""
    last = os.path.basename(path)
    # What watches a container (conmon) has its number, too.
    container = r"(?:(?![a-z]+-conmon-)[a-z-]+-)?([0-9a-f]{64})(?:\.scope)?"
    if match := re.fullmatch(container, last):
        return CONTAINERS.name(match[1])
    if match := re.fullmatch(r"lxc\.payload\.(.+)", last):
        return match[1]
    if match := re.fullmatch(r"machine-(?:lxc|qemu)\\x2d\d+\\x2d(.+)\.scope", last):
        return unescaped(match[1])
    if re.search(r".\.(service|scope|slice|mount|socket|swap)$", last):
        return unescaped(last)
    above = last and name_of(os.path.dirname(path))
    return f"{above}/{last}" if above else None


class Group:
    """The settings and counters of one group when they were read."""

    def __init__(self, files, path, parent):
        self.path = path
        self.parent = parent
        self.children = []
        self.stats = self.stats_after_children = read_stats(files)
        # Version 1: a number, and the devices in a file of their own. Version 2: "default NUMBER", and the devices.
        self.weights = {"default": DEFAULT_WEIGHT}
        lines = read(files + "weight") + read(files + "weight_device")
        for line in lines.splitlines():
            *device, weight = line.split()
            self.weights[device[0] if device else "default"] = int(weight)
        self.leaf_weight = read_number(files + "leaf_weight", DEFAULT_WEIGHT)
        self.cls = read_number(files + "ioprio_class", DEFAULT_CLASS)

    def weight(self, device):
        return self.weights.get(device, self.weights["default"])


class Sample:
    """All groups at one time, each after its parent."""

    def __init__(self, top):
        self.time = time.monotonic()
        self.groups = {}
        self.prefix = prefix_of(top)
        self._add(top, "/", None)
        if "/" not in self.groups:
            raise Failure(f"{top} is there no more")

    def _add(self, directory, path, parent):
        # Whatever is removed meanwhile, or is not ours to read, is left out.
        try:
            if not self.prefix or prefix_of(directory) != self.prefix:
                return
            files = os.path.join(directory, self.prefix)
            group = Group(files, path, parent)
            children = sorted(
                entry.name
                for entry in os.scandir(directory)
                if entry.is_dir(follow_symlinks=False)
            )
        except PermissionError as error:
            if parent is None:
                raise Failure(f"{error.filename}: {error.strerror}") from None
            return
        except OSError:
            return
        self.groups[path] = group
        if parent:
            parent.children.append(group)
        for child in children:
            self._add(os.path.join(directory, child), os.path.join(path, child), group)
        if children:
            try:
                group.stats_after_children = read_stats(files)
            except OSError:
                pass

    def devices(self):
        """The devices on which there was I/O, in the order of their numbers."""
        return sorted(
            self.groups["/"].stats,
            key=lambda device: [int(number) for number in device.split(":")],
        )


# What happened between two samples.


class Member:
    """What competes with its siblings: a group with all below it, or the tasks of a group."""

    def __init__(self, name, depth, weight, weight_by, cls, did, now):
        self.name = name
        self.depth = depth
        self.weight = weight
        # What has set it, None where the kernel does not say it
        self.weight_by = weight_by
        self.cls = cls
        self.did = did
        self.now = now
        # What it had for sure, where that is not known exactly
        self.least_time = did["time"]
        self.active = False
        self.target = 0.0

    @property
    def present(self):
        return any(self.did.values()) or any((self.now or {}).values())

    def judge(self, time_of_parent):
        """Whoever sends a request now and then takes nothing from the others, and counts as not there."""
        self.active = any((self.now or {}).values()) or (
            self.least_time > 0 and self.least_time >= time_of_parent * ACTIVE_FROM
        )


def difference(before, after):
    """By how much counters grew; those of a scheduler that was selected anew began at 0."""
    if any(after[key] < before.get(key, 0) for key in COUNTERS):
        before = {}
    return {key: after[key] - before.get(key, 0) for key in COUNTERS}


def did_on(device, group, before):
    """What a group did on a device since the sample before."""
    if device not in group.stats:
        return dict.fromkeys(COUNTERS, 0)
    old = before.groups.get(group.path)
    return difference(old.stats.get(device, {}) if old else {}, group.stats[device])


def member_of_group(device, group, depth, before):
    stats = group.stats.get(device, {})
    return Member(
        group.path,
        depth,
        group.weight(device),
        stats.get("weight_by"),
        group.cls,
        did_on(device, group, before),
        {key: stats.get(key, 0) for key in GAUGES},
    )


def member_of_tasks(device, group, depth, did, of_children, before):
    """The tasks of a group that has child groups. The settings of the topmost one are those of its tasks."""
    own = {key: max(0, did[key] - sum(d[key] for d in of_children)) for key in COUNTERS}
    at_top = group.parent is None
    member = Member(
        os.path.join(group.path, "(tasks)"),
        depth,
        group.weight(device) if at_top else group.leaf_weight,
        group.stats.get(device, {}).get("weight_by") if at_top else None,
        group.cls if at_top else DEFAULT_CLASS,
        own,
        None,
    )
    # The files are read one after the other, and time is counted when a request is done. One that was done between the
    # group's file and the child's, the last time, looks now like one of the tasks.
    old = before.groups.get(group.path)
    if old and device in old.stats_after_children:
        late = difference(old.stats.get(device, {}), old.stats_after_children[device])
        member.least_time -= late["time"]
    return member


def set_targets(siblings, parent):
    """Divides what is due to their parent among those that are active and of the best class."""
    for member in siblings:
        member.judge(parent.did["time"])
    active = [member for member in siblings if member.active]
    best = min((member.cls for member in active), default=None)
    rivals = [member for member in active if member.cls == best]
    weights = sum(member.weight for member in rivals)
    for member in rivals:
        member.target = parent.target * member.weight / weights


def members_below(device, member, group, before):
    """A member that is a group, and all below it, from the top down."""
    yield member
    depth = member.depth + 1
    below = [
        (member_of_group(device, child, depth, before), child)
        for child in group.children
    ]
    if not below:
        return
    of_children = [child.did for child, _ in below]
    tasks = member_of_tasks(device, group, depth, member.did, of_children, before)
    set_targets([tasks] + [child for child, _ in below], member)
    if tasks.active:
        yield tasks
    for child, child_group in below:
        yield from members_below(device, child, child_group, before)


def device_name(number):
    """The name of a device by its number; the number where there is none."""
    try:
        return os.path.basename(os.readlink(f"/sys/dev/block/{number}"))
    except OSError:
        return number


def row(member, device_time, seconds):
    """A member as it is shown."""
    requests = member.did["requests"]
    path, tasks = re.fullmatch(r"(.*?)(/\(tasks\))?", member.name).groups()
    name = name_of(path)
    return {
        "group": valid(member.name),
        "name": name and valid(name + (tasks or "")),
        "weight": member.weight,
        "weight_by": member.weight_by,
        "class": CLASSES.get(member.cls, str(member.cls)),
        "active": member.active,
        "target_percent": round(100 * member.target, 3),
        "share_percent": (
            round(100 * member.did["time"] / device_time, 3) if device_time else 0.0
        ),
        "requests_per_s": round(requests / seconds, 3),
        "mb_per_s": round(member.did["sectors"] * SECTOR / 1e6 / seconds, 3),
        "wait_ms": round(member.did["wait"] / requests / 1000, 3) if requests else None,
        "inflight": member.now["inflight"] if member.now else None,
        "queued": member.now["queued"] if member.now else None,
    }


def shown_devices(sample, wanted):
    """Numbers and names of the devices with I/O that are asked for."""
    for number in sample.devices():
        name = device_name(number)
        if not wanted or name in wanted or number in wanted:
            yield number, name


def is_within(name, path):
    return path == "/" or name == path or name.startswith(path + "/")


def compare(before, after, wanted, path, everything):
    """What is shown of two samples: the devices, each with its groups at or below the path."""
    seconds = max(after.time - before.time, 1e-3)
    devices = []
    for number, name in shown_devices(after, wanted):
        top = member_of_group(number, after.groups["/"], 0, before)
        top.active, top.target = top.present, 1.0
        members = [
            member
            for member in members_below(number, top, after.groups["/"], before)
            if is_within(member.name, path) and (everything or member.present)
        ]
        devices.append(
            {
                "device": name,
                "number": number,
                "busy_percent": round(100 * top.did["time"] / US / seconds, 1),
                "groups": [row(member, top.did["time"], seconds) for member in members],
            }
        )
    return {"seconds": round(seconds, 3), "devices": devices}


# Showing it.


def cut(text, width):
    """A text without its middle, if it is longer."""
    if len(text) <= width:
        return text
    left = (width - 2) // 2
    return text[:left] + ".." + text[left + 2 - width :]


def table(result, paths, columns=None):
    """The lines of the table; names are cut so that it fits into the columns, if it can."""

    def name(group):
        text = group["group"] if paths else group["name"] or group["group"]
        # Users may make groups, and a terminal does what it is told.
        return re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda c: f"\\x{ord(c[0]):02x}", text)

    names = [name(group) for device in result["devices"] for group in device["groups"]]
    width = max([len("GROUP"), *map(len, names)])
    if columns:
        figures = sum(1 + size for _, size, _, _ in COLUMNS)
        width = min(width, max(columns - len("  ") - figures, NAME_AT_LEAST))
    lines = []
    for device in result["devices"]:
        lines.append(
            f"{device['device']} ({device['number']}), busy {device['busy_percent']:.0f} %"
        )
        headings = (f"{heading:>{size}}" for heading, size, _, _ in COLUMNS)
        lines.append(" ".join([f"  {'GROUP':<{width}}", *headings]))
        for group in device["groups"]:
            cells = [
                f"{'-' if group[key] is None else format(group[key], form):>{size}}"
                for _, size, key, form in COLUMNS
            ]
            lines.append(" ".join([f"  {cut(name(group), width):<{width}}", *cells]))
        lines.append("")
    return lines or ["no device with cfq (in a container: or no I/O there so far)", ""]


def show_in_place(lines):
    """Over the old table, as much as fits on the terminal."""
    columns, rows = shutil.get_terminal_size()
    # The last row stays free, or the terminal would scroll.
    shown = [line[:columns] for line in lines[: rows - 1]]
    text = "".join(line + CLEAR_REST_OF_LINE + "\n" for line in shown)
    sys.stdout.write(HOME + text + CLEAR_REST)
    sys.stdout.flush()


def show(result, args):
    if args.json:
        print(json.dumps({"time": round(time.time(), 3), **result}), flush=True)
    elif sys.stdout.isatty():
        columns = shutil.get_terminal_size().columns
        lines = table(result, args.paths, columns)
        show_in_place([time.strftime("%H:%M:%S"), *lines])
    else:
        print("\n".join(table(result, args.paths)), flush=True)


METRICS = (
    # name, key in the stat file, what one of these is in the unit of the metric, type, description
    ("time_seconds_total", "time", 1 / US, "counter", "Time of the device."),
    ("bytes_total", "sectors", SECTOR, "counter", "In requests that were sent."),
    ("requests_total", "requests", 1, "counter", "Requests that were sent."),
    ("wait_seconds_total", "wait", 1 / US, "counter", "Sum of their waits to be sent."),
    ("queued", "queued", 1, "gauge", "Requests that wait."),
    ("inflight", "inflight", 1, "gauge", "Requests in the device."),
)


def labels(device, path):
    """A group on a device, as Prometheus wants it."""
    pairs = {"device": device, "group": path, "name": name_of(path) or path}
    for key, value in pairs.items():
        value = valid(value).replace("\\", "\\\\")
        value = value.replace('"', '\\"').replace("\n", "\\n")
        yield f'{key}="{value}"'


def metrics(sample, wanted, path):
    """The lines for Prometheus: what the kernel has counted so far, of each group with all below it."""
    shown = [
        (group, number, "{" + ",".join(labels(name, group.path)) + "}")
        for number, name in shown_devices(sample, wanted)
        for group in sample.groups.values()
        if number in group.stats and is_within(group.path, path)
    ]
    for metric, key, unit, kind, description in METRICS:
        yield f"# HELP cfq_{metric} {description}"
        yield f"# TYPE cfq_{metric} {kind}"
        for group, number, who in shown:
            yield f"cfq_{metric}{who} {group.stats[number][key] * unit:.16g}"
    yield "# HELP cfq_weight Weight in effect among the group's siblings."
    yield "# TYPE cfq_weight gauge"
    for group, number, who in shown:
        yield f"cfq_weight{who} {group.weight(number)}"


def positive(kind):
    def convert(text):
        value = kind(text)
        if not 0 < value < 1e9:
            raise ValueError
        return value

    convert.__name__ = "positive number"
    return convert


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "-i",
        "--interval",
        type=positive(float),
        default=2.0,
        metavar="SECONDS",
        help="time between two tables (default: 2)",
    )
    parser.add_argument(
        "-n",
        "--count",
        type=positive(int),
        metavar="N",
        help="end after so many tables (default: go on)",
    )
    parser.add_argument(
        "-d",
        "--device",
        action="append",
        default=[],
        metavar="DEV",
        help="only this device, as sda, /dev/sda or 8:0; may be given again",
    )
    parser.add_argument(
        "-g",
        "--cgroup",
        metavar="DIR",
        help="only this group and what is below it: a directory, or a path from the topmost group; "
        "the shares stay those of the device (default: all groups)",
    )
    parser.add_argument(
        "-a", "--all", action="store_true", help="groups that did nothing, too"
    )
    parser.add_argument(
        "-p", "--paths", action="store_true", help="paths of groups instead of names"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json", action="store_true", help="one JSON object in a line for each table"
    )
    form.add_argument(
        "--metrics",
        action="store_true",
        help="once, what was counted so far, in the text format of Prometheus",
    )
    return parser.parse_args()


def place(cgroup):
    """The directory of the topmost group, and the path below it that the user wants."""
    if not cgroup:
        return find_hierarchy(), "/"
    directory = os.path.realpath(cgroup)
    if not is_group(directory):
        directory = os.path.join(os.path.realpath(find_hierarchy()), cgroup.strip("/"))
    if not is_group(directory):
        raise Failure(f"{cgroup} is no group of the cfq controller")
    top = top_of(directory)
    return top, os.path.normpath(os.path.join("/", os.path.relpath(directory, top)))


def check_devices(wanted):
    """A device that is not there is more likely a slip than one to come."""
    # What is in /dev/mapper points to dm-N.
    wanted = {os.path.basename(os.path.realpath(device)) for device in wanted}
    for device in wanted:
        if not any(
            os.path.exists(f"/sys/{where}/{device}") for where in ("block", "dev/block")
        ):
            raise Failure(f"there is no device {device}")
    return wanted


def monitor(args):
    wanted = check_devices(args.device)
    top, path = place(args.cgroup)
    if args.metrics:
        print("\n".join(metrics(Sample(top), wanted, path)), flush=True)
        return
    before = Sample(top)
    left = args.count
    if sys.stdout.isatty() and not args.json:
        sys.stdout.write(HOME + CLEAR_REST)
    while left is None or left > 0:
        time.sleep(args.interval)
        after = Sample(top)
        show(compare(before, after, wanted, path, args.all), args)
        before = after
        left = left and left - 1


def main():
    args = arguments()
    # Prometheus takes UTF-8, whatever the locale.
    encoding = "utf-8" if args.metrics else None
    sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
    try:
        monitor(args)
    except Failure as failure:
        program = os.path.basename(sys.argv[0]).removesuffix(".py")
        sys.exit(f"{program}: {failure}")
    except BrokenPipeError:
        # The reader has had enough; nothing is left to be flushed to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
