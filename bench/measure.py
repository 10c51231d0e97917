"""Figures of one run, from what the guest left: {name: value}. Shares are in percent, latencies in ms."""

import csv
import json
import re
import statistics

from scenarios import WEIGHTS


def ranges(out, name="ranges"):
    """What the device counted for each group's stretch: device time in ns, requests, KB."""
    rows = [list(map(int, line.split())) for line in open(out / name)]
    return [(row[2], row[3] + row[4], (row[5] + row[6]) / 2) for row in rows]


def percent(values):
    total = sum(values) or 1
    return [100 * value / total for value in values]


def fio(out, number):
    """fio's report on a group; both directions, if it has both."""
    # Errors of fio may come before it.
    text = (out / f"fio.{number}.json").read_text()
    (job,) = json.loads(text[text.index("{") :])["jobs"]
    return [job[way] for way in ("read", "write") if job[way]["total_ios"]]


def latencies(directions):
    """(ms, how many) in order."""
    bins = {}
    for direction in directions:
        for ns, number in direction["clat_ns"].get("bins", {}).items():
            bins[int(ns)] = bins.get(int(ns), 0) + number
    return [(ns / 1e6, bins[ns]) for ns in sorted(bins)]


def percentile(points, part):
    total, seen = sum(number for _, number in points), 0
    for value, number in points:
        seen += number
        if seen >= part / 100 * total:
            return value
    return None


def latency(out, number, prefix=""):
    directions = fio(out, number)
    points = latencies(directions)
    if not points:
        return {}
    total = sum(d["clat_ns"]["N"] for d in directions)
    mean = sum(d["clat_ns"]["mean"] * d["clat_ns"]["N"] for d in directions) / total
    return {
        f"{prefix}mean_ms": mean / 1e6,
        f"{prefix}p50_ms": percentile(points, 50),
        f"{prefix}p99_ms": percentile(points, 99),
        f"{prefix}p99.9_ms": percentile(points, 99.9),
        f"{prefix}max_ms": max(d["clat_ns"]["max"] for d in directions) / 1e6,
    }


def target_shares(scenario):
    return percent([WEIGHTS[group.priority] for group in scenario.groups])


def numbered(name, values):
    return {f"{name}{nr}": value for nr, value in enumerate(values, 1)}


def time_shares(scenario, counted):
    """Each group's share of the device's time, and the largest distance of one from its target."""
    time = percent([row[0] for row in counted])
    errors = [abs(s - t) for s, t in zip(time, target_shares(scenario))]
    return numbered("share", time) | {"error_pp": max(errors)}


def shares(scenario, out):
    counted = ranges(out)
    figures = time_shares(scenario, counted)
    figures |= numbered("io_share", percent([row[1] for row in counted]))
    figures["ios"] = sum(row[1] for row in counted)
    iops = figures["ios"] / scenario.seconds
    targets = target_shares(scenario)
    for nr, (group, target) in enumerate(zip(scenario.groups, targets), 1):
        figures |= latency(out, nr, f"group{nr}_")
        longest = figures.get(f"group{nr}_max_ms")
        if longest is not None and group.depth == 1 and iops:
            turn = group.processes / (target / 100 * iops)
            figures[f"turns{nr}"] = longest / 1e3 / turn
    return figures


def quiet(scenario, out):
    counted = ranges(out)
    return latency(out, 1) | {
        "quiet_kb": counted[0][2],
        "flood_kb": counted[1][2],
        "share1": percent([row[0] for row in counted])[0],
    }


def stream(scenario, out):
    counted = ranges(out)
    figures = numbered("kb", [row[2] for row in counted])
    return figures | time_shares(scenario, counted) | latency(out, 1)


def examples(scenario, out):
    with open(out / "results.csv") as lines:
        rows = {row[0]: list(map(float, row[1:])) for row in csv.reader(lines)}
    figures = {}
    for case, (first, second, share) in rows.items():
        figures[f"{case}_1_s"] = first
        figures[f"{case}_2_s"] = second
        figures[f"{case}_share2"] = share
    return figures


def samples(out):
    """What the device had counted after so many seconds: (seconds, [(device time in ns, requests) of each group])."""
    moments = {}
    with open(out / "burst.csv") as lines:
        for row in csv.DictReader(lines):
            counts = int(row["time_ns"]), int(row["reads"]) + int(row["writes"])
            moments.setdefault(float(row["seconds"]), []).append(counts)
    start = min(moments)
    return [(moment - start, moments[moment]) for moment in sorted(moments)]


CAUGHT_UP = 0.9  # of what is due


def burst(scenario, out):
    """When the newcomer has its first request, and when 0.9 of its half of the device's time since it was let go."""
    figures = {}
    for seconds, groups in samples(out):
        (_, requests), share = groups[1], percent([time for time, _ in groups])[1]
        if requests:
            figures.setdefault("first_s", seconds)
        if share >= CAUGHT_UP * 50:
            figures.setdefault("fair_s", seconds)
    figures["newcomer_share"] = share
    figures["ios"] = sum(requests for _, requests in groups)
    return figures


def facts(out):
    return dict(line.split(maxsplit=1) for line in open(out / "facts"))


def cost(scenario, out):
    fact = {name: int(value) for name, value in facts(out).items()}
    busy = fact["duration_ns"] - fact["idle_ns"]
    return {
        "ns_per_request": busy / fact["requests"],
        "requests_per_s": fact["requests"] / fact["duration_ns"] * 1e9,
        "busy_percent": 100 * busy / fact["duration_ns"],
    }


def lock(scenario, out):
    """Time with the scheduler's locks held."""
    fact = facts(out)
    requests = int(fact["requests"])
    return {
        "taken": int(fact["taken"]) / requests,
        "held_ns": int(fact["held_ns"]) / requests,
        "longest_ns": int(fact["longest_ns"]),
    }


HELD_BELOW_US = (1, 2, 4, 8, 16, 32, 64, 128)


def held(scenario, out):
    """The same, and for how long how often: for less than so many us, but for no less than the one before."""
    fact = facts(out)
    times = list(map(int, fact["times"].split(",")))
    figures = lock(scenario, out)
    figures.update(
        (f"below_{us}_us", nr) for us, nr in zip(HELD_BELOW_US, times, strict=False)
    )
    figures["longer"] = sum(times[len(HELD_BELOW_US) :])
    figures["stats_read"] = int(fact.get("stats", 0))
    return figures


SQLITE_TIME = re.compile(r"Run Time: real ([\d.]+)")


def seconds_of(fact, name):
    begin, end = map(float, fact[f"{name}_s"].split())
    return end - begin


def commit(scenario, out):
    """Times of commits alone and beside a writer, and the writer's rate: the device's, less what commits alone have."""
    fact, figures = facts(out), {}
    for name in ("alone", "beside"):
        times = sorted(
            map(float, SQLITE_TIME.findall((out / f"commits.{name}").read_text()))
        )
        points = [(1e3 * time, 1) for time in times]
        figures[f"{name}_s"] = sum(times)
        for part in (50, 99):
            figures[f"{name}_p{part}_ms"] = percentile(points, part)
        figures[f"{name}_max_ms"] = points[-1][0]
    for what in ("s", "p99_ms", "max_ms"):
        figures[f"times_{what}"] = figures[f"beside_{what}"] / figures[f"alone_{what}"]
    kb = int(fact["beside_kb"]) - int(fact["alone_kb"])
    figures["writer_alone_kb_s"] = int(fact["writer_kb"]) / seconds_of(fact, "writer")
    figures["writer_kb_s"] = kb / seconds_of(fact, "beside")
    figures["writer_percent"] = (
        100 * figures["writer_kb_s"] / figures["writer_alone_kb_s"]
    )
    return figures


def startup(scenario, out):
    """Seconds of a program alone and beside others; KB/s of these before, meanwhile and after."""
    seconds = {name: int(facts(out)["counted_s"]) for name in ("before", "after")}
    for name in ("alone", "beside"):
        (reads,) = fio(out, name)
        seconds[name] = reads["runtime"] / 1e3
    figures = {f"{name}_s": seconds[name] for name in ("alone", "beside")}
    for name in ("before", "beside", "after"):
        ((_, _, kb),) = ranges(out, f"ranges.{name}")
        figures[f"others_{name}_kb_s"] = kb / seconds[name]
    figures["times"] = figures["beside_s"] / figures["alone_s"]
    for name in ("beside", "after"):
        part = figures[f"others_{name}_kb_s"] / figures["others_before_kb_s"]
        figures[f"others_{name}_percent"] = 100 * part
    return figures


def parts(jobs):
    """The share that is due to each job: of its group's by weight, as many as it has of the group's processes."""
    weights = {job.group: WEIGHTS[int(job.group[0])] for job in jobs}
    processes = {group: 0 for group in weights}
    for job in jobs:
        processes[job.group] += job.processes
    total = sum(weights.values())
    return [weights[j.group] / total * j.processes / processes[j.group] for j in jobs]


def beside(scenario, out):
    """What each job has alone and beside the others; of the first, latencies; rates against share x rate alone."""
    alone, first = {}, {}
    for nr, job in enumerate(scenario.groups, 1):
        kind = job.job, job.processes
        first.setdefault(kind, nr)
        if first[kind] == nr:
            ((_, _, kb),) = ranges(out, f"ranges.alone.{nr}")
            alone[kind] = kb / scenario.seconds
    counted = ranges(out, "ranges.beside")
    rates = [row[2] / scenario.seconds for row in counted]
    figures = {
        "alone_kb_s": alone[scenario.groups[0].job, scenario.groups[0].processes],
        "kb_s": rates[0],
        "others_kb_s": sum(rates[1:]),
        "share1": percent([row[0] for row in counted])[0],
        **latency(out, "alone.1.1", "alone_"),
        **latency(out, "beside.1", "beside_"),
    }
    if scenario.groups[0].job == "player":
        # It wants its own rate, and not its share; the device reads ahead of it.
        for name, figure in (("alone.1.1", "alone_kb_s"), ("beside.1", "kb_s")):
            (reads,) = fio(out, name)
            figures[figure] = reads["bw"]
    else:
        due = [
            part * alone[job.job, job.processes]
            for part, job in zip(parts(scenario.groups), scenario.groups)
        ]
        figures["of_due_percent"] = 100 * rates[0] / due[0]
        figures["all_of_due_percent"] = 100 * sum(rates) / sum(due)
    return figures


def together(scenario, out):
    rate = {}
    for name in ("one", "all"):
        ((_, _, kb),) = ranges(out, f"ranges.{name}")
        rate[name] = kb / scenario.seconds
    return {
        "one_kb_s": rate["one"],
        "all_kb_s": rate["all"],
        "percent": 100 * rate["all"] / rate["one"],
    }


MATRIX = ("reads", "stream", "writes", "writer")
MATRIX_SHARES = (5 / 6, 1 / 6)


# What a newcomer has from so many ms after it came on, and once it is settled.
ARRIVAL_MS = range(10, 50)
SETTLED_MS = 100


def arrival(scenario, out):
    """Latencies of the newcomer, and what the others have meanwhile."""
    log = [line.split(",")[:2] for line in open(out / "new_lat.1.log")]
    reads = sorted((int(ms), int(ns) / 1e6) for ms, ns in log)
    first = [latency for ms, latency in reads if ms in ARRIVAL_MS]
    settled = [(latency, 1) for ms, latency in reads if ms >= SETTLED_MS]
    counted = ranges(out)
    figures = {
        "first_ms": statistics.mean(first) if first else None,
        "settled_ms": statistics.mean(latency for latency, _ in settled),
        "per_s": counted[1][1] / scenario.seconds,
        "others_per_s": counted[0][1] / scenario.seconds,
        "share": percent([row[0] for row in counted])[1],
    }
    for part in (99, 99.9):
        figures[f"settled_p{part}_ms"] = percentile(sorted(settled), part)
    return {name: figure for name, figure in figures.items() if figure is not None}


def matrix(scenario, out):
    """The heavy group's share of time in each cell, and what both have in percent of share x rate alone."""
    figures, errors, totals = {}, [], []
    alone = {heavy: ranges(out, f"ranges.{heavy}.nothing")[0][2] for heavy in MATRIX}
    for heavy in MATRIX:
        figures[f"{heavy}.nothing_share"] = 100.0
        for light in MATRIX:
            counted = ranges(out, f"ranges.{heavy}.{light}")
            share = percent([row[0] for row in counted])[0]
            had = sum(row[2] for row in counted)
            due = sum(
                part * alone[kind] for part, kind in zip(MATRIX_SHARES, (heavy, light))
            )
            figures[f"{heavy}.{light}_share"] = share
            figures[f"{heavy}.{light}_total"] = 100 * had / due
            errors.append(abs(share - 100 * MATRIX_SHARES[0]))
            totals.append(figures[f"{heavy}.{light}_total"])
    figures["error_pp"] = max(errors)
    figures["within_2pp"] = sum(error <= 2 for error in errors)
    figures["least_total"] = min(totals)
    return figures


def times_us(scenario):
    """What the devices of a scenario of this kind take for a page."""
    return scenario.command.split()[2:]


def speeds(scenario, out):
    """Error of the shares and requests a second for each device."""
    figures, targets = {}, target_shares(scenario)
    for us in times_us(scenario):
        counted = ranges(out, f"ranges.{us}")
        own = percent([row[0] for row in counted])
        figures[f"error_{us}"] = max(
            abs(share - target) for share, target in zip(own, targets)
        )
        figures[f"per_s_{us}"] = sum(row[1] for row in counted) / scenario.seconds
    return figures


def processors(scenario, out):
    """Requests a second in the median round, and the median of the rounds' ratios to mq-deadline."""
    rounds = [
        tuple(map(int, value.split()))
        for name, value in facts(out).items()
        if name.startswith("round")
    ]
    ratios = sorted(own / peer for own, peer in rounds)
    return {
        "requests_per_s": statistics.median(own for own, _ in rounds),
        "ratio": statistics.median(ratios),
        "least_ratio": ratios[0],
        "most_ratio": ratios[-1],
    }


def swap(scenario, out):
    """Reads of a server, and MB that a hog takes, alone and side by side."""
    fact = {
        name: int(value) / scenario.seconds
        for name, value in facts(out).items()
        if value.strip().isdigit()
    }
    pages_a_mb = 256
    part = WEIGHTS[0] / (WEIGHTS[0] + WEIGHTS[7])
    figures = {
        "server_alone_per_s": fact["server_alone"],
        "server_per_s": fact["server_beside"],
        "hog_alone_mb_s": fact["hog_alone"] / pages_a_mb,
        "hog_mb_s": fact["hog_beside"] / pages_a_mb,
    }
    server = fact["server_beside"] / fact["server_alone"]
    hog = fact["hog_beside"] / fact["hog_alone"]
    figures["server_percent"] = 100 * server
    figures["server_of_due_percent"] = 100 * server / part
    figures["hog_of_rest_percent"] = 100 * hog / (1 - server) if server < 1 else 0
    return figures


def memory(scenario, out):
    fact = facts(out)
    return {name: int(fact[name]) for name in ("unused_bytes", "used_bytes")}


KINDS = {
    function.__name__: function
    for function in (
        shares,
        quiet,
        stream,
        examples,
        burst,
        cost,
        lock,
        held,
        speeds,
        processors,
        memory,
        swap,
        commit,
        startup,
        beside,
        together,
        arrival,
        matrix,
    )
}
