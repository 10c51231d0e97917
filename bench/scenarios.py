"""What is run: schedulers, scenarios, and what each is measured by.

The scenarios are data; "kind" names the functions that read the figures (measure.py) and print them (tables.py).
"""

from dataclasses import dataclass, field, replace

WEIGHTS = {priority: 8 - priority for priority in range(8)}


@dataclass(frozen=True)
class Scheduler:
    name: str
    environment: dict
    flavour: str = "fast"
    groups: bool = True  # knows them, or priorities of tasks


SCHEDULERS = [
    Scheduler("cfq", {"SCHED": "cfq"}),
    # Without the groups' layer; what are priorities of groups elsewhere are those of the tasks in "cfq ionice".
    Scheduler("cfq one layer", {"SCHED": "cfq"}, "onelayer", groups=False),
    Scheduler("cfq ionice", {"SCHED": "cfq", "IONICE": "1"}, "onelayer"),
    Scheduler("bfq", {"SCHED": "bfq"}),
    Scheduler(
        "bfq tuned", {"SCHED": "bfq", "TUNE": "low_latency=0", "NR_REQUESTS": "256"}
    ),
    Scheduler("io.cost", {"SCHED": "none", "PEER": "iocost"}),
    Scheduler("mq-deadline", {"SCHED": "mq-deadline"}, groups=False),
    Scheduler("kyber", {"SCHED": "kyber"}, groups=False),
    Scheduler("none", {"SCHED": "none"}, groups=False),
]

# A device that io.cost need not slow down
NULL_COST = {
    "MODEL_OF_COST": "rbps=100000000000 rseqiops=10000000 rrandiops=10000000"
    " wbps=100000000000 wseqiops=10000000 wrandiops=10000000"
}

# For io.cost: what the flash device does (4 channels, a page of 4 KB read in 80 us, written in 400), less 5 % so that
# io.cost holds the queue and not the device.
FLASH_COST = {
    "MODEL_OF_COST": "rbps=190000000 rseqiops=46500 rrandiops=46500"
    " wbps=38000000 wseqiops=9300 wrandiops=9300",
    "QOS": "ctrl=user rpct=0 wpct=0 min=100.00 max=100.00",
}


@dataclass(frozen=True)
class Group:
    priority: int | str  # a text is that of tasks of the root group
    processes: int
    load: str
    depth: int = 1

    def __str__(self):
        depth = f":{self.depth}" if self.depth > 1 else ""
        return f"{self.priority}:{self.processes}:{self.load}{depth}"


@dataclass(frozen=True)
class Scenario:
    name: str
    section: str  # of TARGETS.md, "arrays", "published" or "programs"
    kind: str
    title: str
    command: str
    seconds: float = 0  # measured, virtual
    groups: tuple = ()
    environment: dict = field(default_factory=dict)
    goal: str = ""
    memory: int = 1024  # of the VM, MB
    groupless: str = (
        ""  # the same scenario for a scheduler that knows neither groups nor priorities
    )
    flavour: str = ""  # of the kernel, for the schedulers that the usual one has
    mode: str = "virtual"  # of kit/vm; others take real time, and run one by one


def flavour(scenario, scheduler):
    """Of the kernel to run it on; none if there is no such kernel."""
    if "fast" in (scenario.flavour or "fast", scheduler.flavour):
        return scenario.flavour or scheduler.flavour
    return None


def side_by_side(name, section, kind, title, device, ramp, seconds, groups, **more):
    command = f"groups.sh {device} {ramp:g} {seconds:g} " + " ".join(map(str, groups))
    return Scenario(name, section, kind, title, command, seconds, tuple(groups), **more)


def three(processes, loads, depth=1):
    return [
        Group(priority, processes, load, depth)
        for priority, load in zip((0, 4, 7), loads)
    ]


def shares(name, what, loads):
    """A load of section 1."""
    return side_by_side(
        name,
        "1",
        "shares",
        f"disk, {what}, 25 processes a group, 60 s",
        "disk",
        2,
        60,
        three(25, loads),
        goal="error <= 0.5 pp, >= 105 % of mq-deadline",
    )


def processors(groups, jobs):
    what = "a group" if groups == 1 else f"{groups} groups"
    each = "a job" if jobs == 1 else f"{jobs} jobs"
    return Scenario(
        f"processors_{groups}x{jobs}",
        "7",
        "processors",
        f"two processors, null_blk with two queues, {what} with {each} each, 32 deep, 8 at a time: real time",
        f"processors.sh {groups} {jobs} submit_queues=2 hw_queue_depth=1024 irqmode=0",
        goal=">= mq-deadline in the same round",
        mode="smp",
    )


def few(name, groups, title):
    """Loads that no published or earlier figures are known of."""
    return side_by_side(
        name,
        "1",
        "shares",
        f"disk, 4 KB random reads, {title}, 60 s",
        "disk",
        2,
        60,
        groups,
        goal="error <= 1 pp; none: what mq-deadline does is not possible with shares",
    )


def arrays():
    """Devices that say they are disks, and are not, or not one."""
    for name, what, parameters in (
        ("array_2", "two heads, 512 KB each in turn", "actuators=2 stripe_kb=512"),
        ("array_4", "four heads, 512 KB each in turn", "actuators=4 stripe_kb=512"),
        ("array_8", "eight heads, 512 KB each in turn", "actuators=8 stripe_kb=512"),
        ("array_16", "16 heads, 512 KB each in turn", "actuators=16 stripe_kb=512"),
        ("no_disk", "a disk that says it is flash", "rotational=0 ncq_depth=31"),
    ):
        if name.startswith("array"):
            parameters += " ncq_depth=256"
        for suffix, title, processes, load in (
            ("", "4 KB random reads, 25 processes a group", 25, "read"),
            ("_streams", "128 KB sequential reads, 2 processes a group", 2, "seq"),
        ):
            yield side_by_side(
                name + suffix,
                "arrays",
                "shares",
                f"{what}: {title}, 20 s",
                "disk",
                4,
                20,
                three(processes, [load] * 3),
                environment={"DISK_PARAMS": parameters},
                goal="error <= 1 pp, >= 95 % of mq-deadline",
            )


def speeds(channels, times_us):
    """Flash that gets faster than the processor."""
    return Scenario(
        f"speeds_{channels}",
        "3",
        "speeds",
        f"flash of {channels} channels that takes so many us for a page, 4 KB random reads, 4 jobs a group, 16 deep:"
        " error in pp, thousands of I/Os a second",
        f"speeds.sh {channels} " + " ".join(map(str, times_us)),
        2,
        three(4, ["read"] * 3),
        goal="error <= 2 pp, >= 97 % of none, as long as mq-deadline gets what the device can do",
    )


def readers(number):
    each, _, groups = str(number).rpartition("x")
    return f"{groups} groups, {each or 'one'} synchronous random reader{'s' if each else ''} each"


def crowd(number):
    return Scenario(
        f"cost{number}",
        "7",
        "cost",
        f"{readers(number)}, on a device of 25000 requests/s",
        # More than 2048 readers wait for a descriptor of a scheduler, with none for one of the device's 8; that costs,
        # too, whatever the scheduler does.
        # 8 requests in 320 us: the groups wait for the device and not for the processor.
        f"cost.sh buffered 1000 {number} irqmode=2 completion_nsec=320000 hw_queue_depth=8",
        1,
        environment=NULL_COST,
        goal="grows no faster than the logarithm, beyond what mq-deadline grows by",
        memory=3072,
    )


def held(number):
    return Scenario(
        f"held{number}",
        "7",
        "held",
        f"lock of the scheduler held at a time, as in cost{number}, from before the groups are made, and somebody who reads"
        " cfq.stat again and again",
        f"lock.sh stat 1000 {number} irqmode=2 completion_nsec=320000 hw_queue_depth=8",
        1,
        goal="<= 100 us",
        flavour="locktime",
        memory=3072,
    )


def published(name, what, groups, write_cache=True):
    """A load of 2008, shorter than there. Shares there are of I/Os."""
    return side_by_side(
        name,
        "published",
        "shares",
        f"{what}, write cache {'on, 30 s (there 120)' if write_cache else 'off, 30 s (there 60)'}",
        "disk",
        2,
        30,
        groups,
        environment={"DISK_PARAMS": "write_cache=1"} if write_cache else {},
        memory=2560 if max(group.processes for group in groups) >= 50 else 1024,
    )


def ext4(priorities, processes):
    """The loads of the ext3 table."""
    name = "ext4_" + "_".join(map(str, priorities))
    groups = [Group(p, n, "both") for p, n in zip(priorities, processes)]
    uneven = len(set(processes)) > 1
    return Scenario(
        name + ("_uneven" if uneven else ""),
        "published",
        "shares",
        "ext4 (there ext3), each process reads and writes a file of its own, priorities "
        f"{' and '.join(map(str, priorities))}, {' and '.join(map(str, processes))} processes, 20 s (there 60)",
        "ext4.sh 2 20 "
        + " ".join(f"{group.priority}:{group.processes}" for group in groups),
        20,
        tuple(groups),
        memory=1536,
        groupless="" if uneven else "ext4_3_3",
    )


PROGRAMS_MB = 4096  # of a VM whose device keeps what is written in its memory


@dataclass(frozen=True)
class Job:
    group: str  # begins with its priority
    job: str
    processes: int = 1

    def __str__(self):
        return f"{self.group}:{self.job}:{self.processes}"


def commit():
    return Scenario(
        "commit",
        "programs",
        "commit",
        "disk, ext4, 100 commits of sqlite3 in a group of weight 800, alone and beside a writer in one of 100",
        "commit.sh 0 7",
        goal="p99 beside <= 2x, max <= 4x alone; writer >= 90 % of its ninth",
        memory=PROGRAMS_MB,
    )


def commit_cached():
    return Scenario(
        "commit_cached",
        "programs",
        "commit",
        "the same on a disk with a write cache",
        "commit.sh 0 7",
        goal="p99 beside <= 2x, max <= 4x alone; writer >= 90 % of its ninth",
        memory=PROGRAMS_MB,
        environment={"DISK_PARAMS": "write_cache=1"},
    )


def startup(
    name,
    what,
    arguments,
    goal,
    others="5 readers and 5 writers",
    groupless="startup_same",
    parameters="",
):
    return Scenario(
        name,
        "programs",
        "startup",
        f"disk, ext4, a program that starts (200 reads of 4 to 28 KB) alone and beside {others}, {what}",
        f"startup.sh {arguments}",
        goal=goal,
        groupless=groupless,
        environment={"DISK_PARAMS": parameters} if parameters else {},
        memory=PROGRAMS_MB,
    )


def beside(name, device, what, ramp, seconds, jobs, goal, parameters="", **more):
    """The first job is what is looked at; all are run alone, too."""
    environment = FLASH_COST if device == "flash" else {}
    if parameters:
        environment = {f"{device.upper()}_PARAMS": parameters}
    return Scenario(
        name,
        "programs",
        "beside",
        f"{device}, ext4, {what}",
        f"beside.sh {device} {ramp:g} {seconds:g} " + " ".join(map(str, jobs)),
        seconds,
        tuple(jobs),
        environment=environment,
        goal=goal,
        memory=PROGRAMS_MB,
        **more,
    )


def arrival(depth):
    """On a device that is so slow that the processor is not short; see speeds for one that is."""
    return Scenario(
        f"arrival_{depth}",
        "programs",
        "arrival",
        "flash of 25000 requests/s, four jobs of 4 KB random reads, 256 deep, in a group of 100;"
        f" a reader, {depth} deep, comes in one of 800",
        f"arrival.sh {depth}",
        0.5,
        environment={"FLASH_PARAMS": "read_us=160"},
        goal="10 to 50 ms after it came <= 2x what comes later",
    )


def matrix(device, ramp, seconds):
    return Scenario(
        f"matrix_{device}",
        "programs",
        "matrix",
        f"{device}, ext4, weights 500 : 100, the heavy group's share of time beside nothing and beside a light group's"
        f" random reads, sequential reads, random writes, sequential writes, {seconds:g} s each",
        f"matrix.sh {device} {ramp:g} {seconds:g}",
        seconds,
        environment=FLASH_COST if device == "flash" else {},
        goal="100, then four times 83.3 within 2 pp; total >= 95 %",
        memory=PROGRAMS_MB,
    )


PROGRAMS = [
    commit(),
    commit_cached(),
    startup(
        "startup", "800 : 100", "0 7", "<= 1.25x; the others all of their rate after"
    ),
    startup(
        "startup_same",
        "all in one group",
        "4 4",
        "<= 2.2x; the others >= 45 % meanwhile, all of it after",
    ),
    startup(
        "startup_streams",
        "all in one group",
        "4 4 10 0",
        "<= 2.2x; the others >= 45 % meanwhile, all of it after",
        others="10 readers",
    ),
    startup(
        "startup_no_ncq",
        "all in one group, on a disk without NCQ: two descriptors, with cfq 128",
        "4 4",
        "<= 2.2x; the others >= 45 % meanwhile, all of it after",
        groupless="startup_no_ncq",
        parameters="ncq_depth=1",
    ),
    *(
        beside(
            f"page_reader{suffix}",
            device,
            "one page of 4 KB at a time beside seven streams in groups of equal weight",
            ramp,
            seconds,
            [Job("4page", "page"), *(Job(f"4s{nr}", "stream") for nr in range(7))],
            ">= 95 % of share x rate alone, in all >= 95 %",
        )
        for suffix, device, ramp, seconds in (
            ("", "disk", 2, 20),
            ("_flash", "flash", 0.5, 2),
        )
    ),
    beside(
        "player",
        "disk",
        "a player of 4 MB/s in a group of 800 beside ten streams in one of 100",
        2,
        30,
        [Job("0", "player"), Job("7", "stream", 10)],
        "4096 KB/s, no read takes more than 250 ms",
        groupless="player_same",
    ),
    beside(
        "player_same",
        "disk",
        "a player of 4 MB/s beside ten streams in its group",
        2,
        30,
        [Job("4", "player"), Job("4", "stream", 10)],
        "4096 KB/s, p99.9 <= 250 ms",
    ),
    beside(
        "player_slow",
        "disk",
        "a player of 4 MB/s beside ten streams in its group, on a slow disk: 5400 rpm, 12 ms a seek",
        2,
        30,
        [Job("4", "player"), Job("4", "stream", 10)],
        "4096 KB/s, p99.9 <= 250 ms",
        "rpm=5400 seek_avg_us=12000",
        groupless="player_slow",
    ),
    Scenario(
        "together",
        "programs",
        "together",
        "disk, ext4, four readers of 16 KB that read one file together, against one that has it alone",
        "together.sh 2 10 4",
        10,
        goal=">= 90 % of one alone",
        memory=PROGRAMS_MB,
    ),
    Scenario(
        "swap",
        "programs",
        "swap",
        "disk, swap space on it: a server in a group of 800, its memory protected, reads 4 KB at random, one at a"
        " time, beside a hog in one of 100 that grows twice as fast as the disk writes, 20 s",
        "swap.sh 0server 7hog",
        20,
        goal="server >= 95 % of share x alone, hog >= 80 % of what is left",
        memory=PROGRAMS_MB,
    ),
    Scenario(
        "together_direct",
        "programs",
        "together",
        "the same past the page cache, so that one alone waits for a revolution each time",
        "together.sh 2 10 4 together_direct",
        10,
        goal="as many times what one has as there are readers",
        memory=PROGRAMS_MB,
    ),
    arrival(1),
    arrival(256),
    # What is written back has its share only after a while: a minute each, says who measured it first.
    matrix("disk", 5, 30),
    matrix("flash", 8, 4),
    beside(
        "critical",
        "flash",
        "a reader of 4 KB in a group of 800 beside 16 writers of 64 KB, 128 deep, in one of 100",
        1,
        4,
        [Job("0", "reader"), Job("7", "big_writes", 16)],
        "p99 <= 1 ms, p99.9 <= 3.5 ms; writers >= 85 % of none's",
    ),
]

FLOOD = Group(7, 2, "read", 32)
FAR_MB = 20000
OTHER_FLASH = "; elsewhere it was another flash: judge by none's figures"

QUIET_DISK = side_by_side(
    "quiet_disk",
    "4",
    "quiet",
    "disk, a quiet reader of weight 8 against a flood of weight 1, 20 s",
    "disk",
    2,
    20,
    [Group(0, 1, "read"), FLOOD],
    goal="<= 7 / 20 / 60 ms, >= 11000 / 3500 KB",
)
STREAM_FLOOD = side_by_side(
    "stream_flood",
    "5",
    "stream",
    "disk, a sequential reader of weight 8 against the flood of weight 1, 20 s",
    "disk",
    2,
    20,
    [Group(0, 1, "seq"), FLOOD],
    goal="reader >= 8/9 of its rate alone, flood 1/9 of the time, tail <= 60 ms",
)


def far(scenario):
    """The same with the groups far from each other."""
    return replace(
        scenario,
        name=f"{scenario.name}_far",
        title=f"the same, the reader {FAR_MB // 1000} GB away from the flood",
        environment={"GAP": str(FAR_MB)},
    )


SCENARIOS = [
    shares("reads", "4 KB random reads", ["read"] * 3),
    shares("writes", "4 KB random writes", ["write"] * 3),
    shares("mixed", "half 4 KB random reads, half writes", ["mix"] * 3),
    shares("rrw", "read, read, write", ["read", "read", "write"]),
    shares("rwr", "read, write, read", ["read", "write", "read"]),
    shares("wrr", "write, read, read", ["write", "read", "read"]),
    few("few", three(2, ["read"] * 3), "2 processes a group"),
    few("lone", [Group(4, 1, "read")] * 10, "10 groups of one process"),
    few(
        "unlike",
        [Group(4, 1, "read"), Group(4, 12, "read")],
        "groups of one process and of 12",
    ),
    *(
        side_by_side(
            f"many{number}",
            "2",
            "shares",
            f"disk, 4 KB random reads, {number} processes a group, 60 s",
            "disk",
            2,
            60,
            three(number, ["read"] * 3),
            goal="error <= 1 pp, >= mq-deadline's total, nobody waits for more than 2 fair turns",
            memory=2560,
        )
        for number in (100, 200)
    ),
    side_by_side(
        "flash",
        "3",
        "shares",
        f"flash, 4 KB random reads, 4 jobs a group, 16 deep, 2 s{OTHER_FLASH}",
        "flash",
        0.5,
        2,
        three(4, ["read"] * 3, 16),
        environment=FLASH_COST,
        goal="error <= 0.5 pp, >= 99 % of none",
    ),
    *(
        side_by_side(
            name,
            "3",
            "shares",
            f"flash, {what}, 4 jobs a group, 16 deep, 2 s",
            "flash",
            0.5,
            2,
            groups,
            environment=FLASH_COST,
        )
        for name, what, groups in (
            (
                "flash_rrw",
                "4 KB random, read, read, write",
                three(4, ["read", "read", "write"], 16),
            ),
            (
                "flash_wrr",
                "4 KB random, write, read, read",
                three(4, ["write", "read", "read"], 16),
            ),
            (
                "flash_sizes",
                "4 KB random reads beside 128 KB sequential ones",
                [Group(4, 4, "read", 16), Group(4, 4, "seq", 16)],
            ),
        )
    ),
    speeds(1, (400, 80, 32, 20, 16)),
    speeds(4, (400, 160, 110, 80, 72, 64, 50, 32, 16)),
    speeds(16, (400, 320, 290, 250, 160)),
    speeds(32, (800, 640, 580, 500, 400)),
    QUIET_DISK,
    far(QUIET_DISK),
    side_by_side(
        "quiet_flash",
        "4",
        "quiet",
        f"flash, a quiet reader of weight 8 against a flood of weight 1, 2 s{OTHER_FLASH}",
        "flash",
        0.5,
        2,
        [Group(0, 1, "read"), FLOOD],
        environment=FLASH_COST
        | {"QOS": "ctrl=user rpct=99.00 rlat=300 wpct=0 min=25.00 max=100.00"},
        goal="<= 0.110 / 0.200 / 0.5 ms, >= 70000 / 430000 KB",
    ),
    *(
        side_by_side(
            name,
            "4",
            "quiet",
            f"disk, a reader of the idle class beside {what}, 60 s",
            "disk",
            2,
            60,
            [Group("idle", 1, "read"), beside],
            goal="no request takes longer than a second, and the others lose 2 %",
        )
        for name, what, beside in (
            ("idle_reads", "four readers", Group("be/4", 4, "read")),
            ("idle_stream", "a stream", Group("be/4", 1, "seq")),
        )
    ),
    side_by_side(
        "stream",
        "5",
        "stream",
        "disk, one 128 KB sequential reader alone, 20 s",
        "disk",
        2,
        20,
        [Group(0, 1, "seq")],
    ),
    STREAM_FLOOD,
    far(STREAM_FLOOD),
    *(
        side_by_side(
            name,
            "5",
            "stream",
            f"disk, two sequential readers in groups of weight {weights}, 20 s",
            "disk",
            2,
            20,
            [Group(priority, 1, "seq") for priority in priorities],
            groupless="streams_equal",
            goal="error <= 1 pp, together >= 95 % of one alone",
        )
        for name, weights, priorities in (
            ("streams_equal", "4 : 4", (4, 4)),
            ("streams_8_1", "8 : 1", (0, 7)),
        )
    ),
    *arrays(),
    Scenario(
        "examples",
        "5",
        "examples",
        "disk, the published examples: two dd of 1 GiB, seconds of each",
        "examples.sh",
        goal="27.8 28.9 | 18.8 28.1 | 28.2 28.9 | 27.4 17.4 (88.9 %)",
    ),
    Scenario(
        "burst",
        "6",
        "burst",
        "disk, 500 deep random reads, 10 s later another group of equal weight with the same; seconds count from when"
        " its program may begin",
        "burst.sh be",
        goal="first <= 0.1 s, fair <= 0.3 s",
    ),
    Scenario(
        "burst_rt",
        "6",
        "burst",
        "the same, the newcomer in the real time class",
        "burst.sh rt",
        goal="served at once",
    ),
    Scenario(
        "cost",
        "7",
        "cost",
        "null_blk, no latency, two groups, one synchronous random reader each",
        "cost.sh buffered 1000 2 hw_queue_depth=128",
        1,
        environment=NULL_COST,
        goal="<= 1587 more than none, and <= mq-deadline",
        memory=2560,
    ),
    Scenario(
        "cost_direct",
        "7",
        "cost",
        "the same with direct I/O, which a kernel thread sends to the device",
        "cost.sh direct 1000 2 hw_queue_depth=128",
        1,
        environment=NULL_COST,
        goal="<= mq-deadline",
    ),
    Scenario(
        "cost_batch",
        "7",
        "cost",
        "the same, each group 32 deep, 8 requests sent at a time",
        "cost.sh batch 1000 2 hw_queue_depth=1024",
        1,
        goal="<= mq-deadline",
    ),
    Scenario(
        "cost_batch_one",
        "7",
        "cost",
        "the same, one group",
        "cost.sh batch 1000 1 hw_queue_depth=1024",
        1,
        goal="<= mq-deadline",
    ),
    *map(crowd, (10, 100, 1000, 10000, "3x1000")),
    Scenario(
        "lock",
        "7",
        "lock",
        "lock of the scheduler held a request, two groups as in cost; on one processor, so that it repeats",
        "lock.sh buffered 200 2 hw_queue_depth=128",
        0.2,
        goal="<= mq-deadline, taken <= 2 times",
        flavour="locktime",
    ),
    Scenario(
        "lock_direct",
        "7",
        "lock",
        "the same with direct I/O, which a kernel thread sends to the device",
        "lock.sh direct 200 2 hw_queue_depth=128",
        0.2,
        goal="<= mq-deadline, taken <= 2 times",
        flavour="locktime",
    ),
    Scenario(
        "lock_batch",
        "7",
        "lock",
        "the same, each group 32 deep, 8 requests sent at a time",
        "lock.sh batch 200 2 hw_queue_depth=1024",
        0.2,
        goal="<= mq-deadline, taken <= 1.25 times",
        flavour="locktime",
    ),
    *map(held, (10, 100, 1000, 10000, "3x1000")),
    processors(1, 1),
    processors(1, 2),
    processors(2, 1),
    processors(2, 2),
    processors(16, 1),
    Scenario(
        "memory",
        "7",
        "memory",
        "memory for an idle group on a device",
        "memory.sh 4000",
        goal="stated; 0 without I/O",
        memory=2560,
    ),
    published(
        "cached_writes",
        "disk, 4 KB random writes, 25 processes a group",
        three(25, ["write"] * 3),
    ),
    published(
        "cached_mixed",
        "disk, 15 random readers and 15 writers a group",
        three(30, ["mix"] * 3),
    ),
    published(
        "cached_rrw",
        "disk, 25 processes a group: read, read, write",
        three(25, ["read", "read", "write"]),
    ),
    published(
        "cached_rwr",
        "disk, 25 processes a group: read, write, read",
        three(25, ["read", "write", "read"]),
    ),
    published(
        "cached_wrr",
        "disk, 25 processes a group: write, read, read",
        three(25, ["write", "read", "read"]),
    ),
    published(
        "many100_writes",
        "disk, 4 KB random writes, 100 processes a group",
        three(100, ["write"] * 3),
        write_cache=False,
    ),
    published(
        "many100_rrw",
        "disk, 100 processes a group: read, read, write",
        three(100, ["read", "read", "write"]),
        write_cache=False,
    ),
    published(
        "uneven",
        "disk, 4 KB random reads, 50, 100 and 150 processes",
        [
            Group(priority, processes, "read")
            for priority, processes in ((0, 50), (4, 100), (7, 150))
        ],
        write_cache=False,
    ),
    ext4((3, 3), (60, 60)),
    ext4((3, 3), (60, 30)),
    ext4((0, 3), (60, 60)),
    ext4((1, 3), (60, 60)),
    ext4((2, 3), (60, 60)),
    ext4((0, 7), (60, 60)),
    *PROGRAMS,
]
