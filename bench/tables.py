"""Text tables: a block for each scenario, a line for each scheduler, published figures beside ours."""

import csv
from collections import Counter
from pathlib import Path

from measure import HELD_BELOW_US, MATRIX, times_us
from scenarios import SCENARIOS, SCHEDULERS

DASH = "-"


def read_elsewhere():
    """What is known of others' measurements, those published in 2008 and on other models of a disk: by load and scheduler."""
    with open(Path(__file__).with_name("elsewhere.csv"), newline="") as file:
        return {
            (row["load"], row["scheduler"]): (
                "2008: " if row["where"] == "2008" else ""
            )
            + row["figures"]
            for row in csv.DictReader(file)
        }


ELSEWHERE = read_elsewhere()


def joined(names, form):
    """A column of several figures; a dash for those that are not there."""

    def show(figures):
        known = [figures.get(name) for name in names if name in figures]
        return " / ".join(format(value, form) for value in known) or DASH

    show.names = names
    return show


def relative(name, scheduler, scenario=None):
    """A figure in percent of another scheduler's."""

    def show(figures, results, this):
        own = figures.get(name)
        other = results.get(scenario or this.name, {}).get(scheduler, {}).get(name)
        return format(100 * own / other, ".0f") + " %" if own and other else DASH

    show.relative = True
    return show


def added(figures, results, this):
    none = results[this.name].get("none", {}).get("ns_per_request")
    own = figures.get("ns_per_request")
    return DASH if None in (own, none) else f"{own - none:.0f}"


added.relative = True


def of_the_stream(figures, results, this):
    """What reads in sequence, all together, in percent of the lone stream."""
    alone = results.get("stream", {}).get("none", {}).get("kb1")
    streams = [nr for nr, group in enumerate(this.groups, 1) if group.load == "seq"]
    own = sum(figures.get(f"kb{nr}", 0) for nr in streams)
    return f"{100 * own / alone:.1f} %" if alone and own else DASH


of_the_stream.relative = True


def columns_of_shares(scenario):
    numbers = range(1, len(scenario.groups) + 1)
    reference = "none" if scenario.section == "3" else "mq-deadline"
    return [
        ("shares of time %", joined([f"share{n}" for n in numbers], ".1f")),
        ("error pp", joined(["error_pp"], ".2f")),
        ("of I/Os %", joined([f"io_share{n}" for n in numbers], ".1f")),
        ("I/Os", joined(["ios"], ".0f")),
        (f"of {reference}", relative("ios", reference)),
        ("longest wait, turns", joined([f"turns{n}" for n in numbers], ".2f")),
    ]


def columns_of_speeds(scenario):
    def cell(us):
        def show(figures):
            if f"error_{us}" not in figures:
                return DASH
            error, per_s = figures[f"error_{us}"], figures[f"per_s_{us}"]
            return f"{error:.1f} / {per_s / 1e3:.1f}"

        show.names = (f"error_{us}", f"per_s_{us}")
        return show

    return [(f"{us} us", cell(us)) for us in times_us(scenario)]


LATENCY = ["mean_ms", "p50_ms", "p99_ms", "p99.9_ms", "max_ms"]
TAIL = LATENCY[1:]
OTHERS = [f"others_{when}_kb_s" for when in ("before", "beside", "after")]
LIGHT = ("nothing", *MATRIX)
KINDS_OF_LOAD = (
    "random reads",
    "sequential reads",
    "random writes",
    "sequential writes",
)
COMMIT = ("p50", "p99", "max")
COLUMNS = {
    "quiet": [
        ("mean/p50/p99/p99.9/max ms", joined(LATENCY, ".4g")),
        ("quiet / flood KB", joined(["quiet_kb", "flood_kb"], ".0f")),
        ("quiet's time %", joined(["share1"], ".1f")),
    ],
    "stream": [
        ("KB", joined(["kb1", "kb2"], ".0f")),
        ("of one alone", of_the_stream),
        ("shares of time %", joined(["share1", "share2"], ".1f")),
        ("error pp", joined(["error_pp"], ".2f")),
        ("mean/p50/p99/p99.9/max ms", joined(LATENCY, ".4g")),
    ],
    "examples": [
        (what, joined([f"{case}_1_s", f"{case}_2_s"], ".1f"))
        for case, what in (
            ("equal_tasks", "tasks 3, 3"),
            ("unequal_tasks", "tasks 0, 7"),
            ("equal_groups", "equal groups"),
            ("unequal_groups", "groups 7, 0"),
        )
    ]
    + [("favoured's time %", joined(["unequal_groups_share2"], ".1f"))],
    "burst": [
        ("first s", joined(["first_s"], ".2f")),
        ("fair s", joined(["fair_s"], ".2f")),
        ("newcomer's time in 10 s %", joined(["newcomer_share"], ".1f")),
        ("I/Os", joined(["ios"], ".0f")),
    ],
    "cost": [
        ("ns a request", joined(["ns_per_request"], ".0f")),
        ("more than none", added),
        ("requests a second", joined(["requests_per_s"], ".0f")),
        ("processor busy %", joined(["busy_percent"], ".0f")),
    ],
    "lock": [
        ("ns held a request", joined(["held_ns"], ".0f")),
        ("times taken a request", joined(["taken"], ".2f")),
        ("longest ns", joined(["longest_ns"], "d")),
    ],
    "held": [
        (
            f"times held for less than {'/'.join(map(str, HELD_BELOW_US))} us, longer",
            joined([f"below_{us}_us" for us in HELD_BELOW_US] + ["longer"], "d"),
        ),
        ("longest ns", joined(["longest_ns"], "d")),
        ("times taken a request", joined(["taken"], ".2f")),
        ("cfq.stat read", joined(["stats_read"], "d")),
    ],
    "processors": [
        ("requests a second", joined(["requests_per_s"], ".0f")),
        ("of mq-deadline's, median", joined(["ratio"], ".2f")),
        ("least / most", joined(["least_ratio", "most_ratio"], ".2f")),
    ],
    "commit": [
        ("s, alone / beside", joined(["alone_s", "beside_s"], ".2f")),
        (
            "p50/p99/max ms alone",
            joined([f"alone_{what}_ms" for what in COMMIT], ".0f"),
        ),
        (
            "p50/p99/max ms beside",
            joined([f"beside_{what}_ms" for what in COMMIT], ".0f"),
        ),
        ("p99, max: times alone", joined(["times_p99_ms", "times_max_ms"], ".1f")),
        (
            "writer KB/s, alone / beside",
            joined(["writer_alone_kb_s", "writer_kb_s"], ".0f"),
        ),
        ("writer's part %", joined(["writer_percent"], ".1f")),
    ],
    "startup": [
        ("s, alone / beside", joined(["alone_s", "beside_s"], ".2f")),
        ("times alone", joined(["times"], ".2f")),
        ("others KB/s, before / meanwhile / after", joined(OTHERS, ".0f")),
        (
            "% meanwhile / after",
            joined(["others_beside_percent", "others_after_percent"], ".0f"),
        ),
    ],
    "beside": [
        ("KB/s alone / beside", joined(["alone_kb_s", "kb_s"], ".0f")),
        ("of share x alone %", joined(["of_due_percent"], ".1f")),
        ("others KB/s", joined(["others_kb_s"], ".0f")),
        ("of none's", relative("others_kb_s", "none")),
        ("in all %", joined(["all_of_due_percent"], ".1f")),
        ("time %", joined(["share1"], ".1f")),
        (
            "p50/p99/p99.9/max ms alone",
            joined([f"alone_{part}" for part in TAIL], ".4g"),
        ),
        ("beside", joined([f"beside_{part}" for part in TAIL], ".4g")),
    ],
    "together": [
        ("KB/s, one / all", joined(["one_kb_s", "all_kb_s"], ".0f")),
        ("%", joined(["percent"], ".1f")),
    ],
    "arrival": [
        (
            "ms, 10 to 50 ms after it came / later",
            joined(["first_ms", "settled_ms"], ".3f"),
        ),
        (
            "p99/p99.9 ms after",
            joined(["settled_p99_ms", "settled_p99.9_ms"], ".3f"),
        ),
        ("its time %", joined(["share"], ".1f")),
        ("I/Os a second, its / others'", joined(["per_s", "others_per_s"], ".0f")),
    ],
    "matrix": [
        *(
            (
                f"heavy {what}",
                joined([f"{heavy}.{light}_share" for light in LIGHT], ".1f"),
            )
            for heavy, what in zip(LIGHT[1:], KINDS_OF_LOAD)
        ),
        ("error pp", joined(["error_pp"], ".1f")),
        ("of 16 within 2 pp", joined(["within_2pp"], "d")),
        ("least total %", joined(["least_total"], ".0f")),
    ],
    "swap": [
        (
            "server's reads a second, alone / beside",
            joined(["server_alone_per_s", "server_per_s"], ".1f"),
        ),
        ("% of alone", joined(["server_percent"], ".1f")),
        ("% of share x alone", joined(["server_of_due_percent"], ".1f")),
        ("hog's MB/s, alone / beside", joined(["hog_alone_mb_s", "hog_mb_s"], ".1f")),
        ("% of what is left", joined(["hog_of_rest_percent"], ".0f")),
    ],
    "memory": [
        ("bytes, no I/O", joined(["unused_bytes"], "d")),
        ("bytes, after I/O", joined(["used_bytes"], "d")),
    ],
}


def columns(scenario):
    own = {"shares": columns_of_shares, "speeds": columns_of_speeds}.get(scenario.kind)
    return own(scenario) if own else COLUMNS[scenario.kind]


def names_shown(scenario):
    """The figures that its table is made of."""
    return [
        name for _, show in columns(scenario) for name in getattr(show, "names", ())
    ]


def block(scenario, results):
    """The lines of one scenario's table."""
    chosen = columns(scenario)
    rows = [["", *(title for title, _ in chosen), "elsewhere"]]
    for scheduler in SCHEDULERS:
        if scheduler.name not in results[scenario.name]:
            continue
        figures = results[scenario.name][scheduler.name]
        cells = [
            show(figures, results, scenario)
            if hasattr(show, "relative")
            else show(figures)
            for _, show in chosen
        ]
        rows.append(
            [scheduler.name, *cells, ELSEWHERE.get((scenario.name, scheduler.name), "")]
        )
    rows.append(["goal", *[""] * len(chosen), scenario.goal])
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [f"{scenario.section}. {scenario.name}: {scenario.title}"]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths))
        lines.append(("  " + line).rstrip())
    return lines


def text(results):
    blocks = [block(s, results) for s in SCENARIOS if s.name in results]
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


INTRODUCTION = """\
# What was measured

`make bench` prints these tables, and `bench/bench --keep --record` writes what was run to results.csv and makes them of
it; nothing is typed. A table is a load of bench/scenarios.py, a line a scheduler; one that is not there was not run. The
last line is what was aimed at. The pictures are drawn in build/bench.

In virtual time the same commands print the same figures on any machine, but for `processors_...`, which are rates on two
processors in real time. Kernel, and the commit that was the last one to change what is measured or how:

"""


def usual_origins(origins):
    """Kernel and commit that most runs of each scheduler are of."""
    found = {}
    for of in origins.values():
        for name, origin in of.items():
            found.setdefault(name, Counter())[origin] += 1
    return {name: counter.most_common(1)[0][0] for name, counter in found.items()}


def record(results, origins):
    """All tables as a text for the repository; what is of another commit than most of its scheduler says so."""
    usual, section = usual_origins(origins), None
    parts = [INTRODUCTION]
    parts += [f"    {name:<14} {' '.join(usual[name])}\n" for name in usual]
    for scenario in SCENARIOS:
        if scenario.name not in results:
            continue
        if scenario.section != section:
            section = scenario.section
            parts.append(f"\n## Section {section}\n")
        of = origins.get(scenario.name, {})
        others = [
            f"{name} is of {' '.join(of.get(name, ['an unknown commit']))}"
            for name in results[scenario.name]
            if of.get(name) != usual.get(name)
        ]
        title, *lines = block(scenario, results)
        parts.append(f"\n{title.partition('. ')[2]}\n")
        parts.append("\n" + "".join(f"    {line[2:]}\n" for line in lines))
        if others:
            parts.append("\n" + ", ".join(others) + "\n")
    return "".join(parts)
