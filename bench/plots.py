"""Pictures of the figures. What has not been run is left out."""

import sys

import measure
from scenarios import SCENARIOS, SCHEDULERS

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("bench: matplotlib is missing: apt-get install python3-matplotlib")

# Colours that colour-blind people can tell apart (Okabe and Ito), and marks for those who see none.
COLOURS = "#0072B2 #56B4E9 #56B4E9 #D55E00 #D55E00 #009E73 #CC79A7 #E69F00 #000000"
LINES = "- -- : -- - - - - -"
MARKS = "o s D v ^ P X d *"
STYLE = {
    scheduler.name: {"color": colour, "linestyle": line, "marker": mark}
    for scheduler, colour, line, mark in zip(
        SCHEDULERS, COLOURS.split(), LINES.split(), MARKS.split()
    )
}
SCENARIO = {scenario.name: scenario for scenario in SCENARIOS}


def line_style(name):
    return STYLE[name] | {"marker": "", "linewidth": 2.2 if name == "cfq" else 1.4}


def tidy(axes, title, across, up):
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def legend(figure):
    """One for all panels."""
    known = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            known.setdefault(label, handle)
    names = [name for name in STYLE if name in known]
    # Room below the panels
    figure.get_layout_engine().set(rect=(0, 0.08, 1, 0.92))
    figure.legend(
        [known[name] for name in names],
        names,
        loc="lower center",
        ncol=len(names) if len(figure.axes) > 1 else 5,
        frameon=False,
        fontsize=8,
    )


def panels(names, results):
    """A figure with a panel for each of the scenarios that have figures; their names with the panels."""
    names = [name for name in names if any(results.get(name, {}).values())]
    if not names:
        return None, ()
    rows = (len(names) + 3) // 4
    columns = min(len(names), 4)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(max(6.5, 4.2 * columns), 4.2 * rows),
        squeeze=False,
        layout="constrained",
    )
    places = list(axes.flat)
    for unused in places[len(names) :]:
        unused.remove()
    return figure, list(zip(names, places))


def have(results, name, key):
    """(scheduler, figures) of the scenario where the figure is there."""
    return [
        (scheduler, figures)
        for scheduler, figures in results.get(name, {}).items()
        if figures.get(key) is not None
    ]


def shares(results, _):
    """Shares of device time against the target, a bar for each group."""
    figure, places = panels(("reads", "rrw", "flash", "many100"), results)
    for name, axes in places:
        rows = have(results, name, "share1")[::-1]
        targets = measure.target_shares(SCENARIO[name])
        edges = [0.0] * len(rows)
        for nr, colour in enumerate(("#0072B2", "#56B4E9", "#E69F00"), 1):
            values = [figures[f"share{nr}"] for _, figures in rows]
            axes.barh([s for s, _ in rows], values, left=edges, color=colour)
            edges = [edge + value for edge, value in zip(edges, values)]
        for border in (targets[0], targets[0] + targets[1]):
            axes.axvline(border, color="black", linewidth=1, linestyle=":")
        tidy(axes, name, "share of device time, %", "")
    return figure


def fairness(results, _):
    """Error over throughput, a dot for each scheduler: below and to the right is better."""
    figure, places = panels(
        ("reads", "writes", "mixed", "rrw", "rwr", "wrr", "flash"), results
    )
    for name, axes in places:
        for scheduler, figures in have(results, name, "error_pp"):
            per_second = figures["ios"] / SCENARIO[name].seconds
            style = STYLE[scheduler] | {"linestyle": ""}
            # The axis has no zero.
            error = max(figures["error_pp"], 0.03)
            axes.plot(per_second, error, label=scheduler, **style)
        axes.axhline(0.5, color="black", linewidth=1, linestyle=":")
        axes.set_yscale("log")
        axes.set_ylim(0.025, 100)
        axes.locator_params(axis="x", nbins=5)
        tidy(axes, name, "I/Os a second", "largest error of a share, pp")
    if figure:
        legend(figure)
    return figure


def latency(results, directory):
    """How many of the quiet reader's requests take longer than that."""
    figure, places = panels(("quiet_disk", "quiet_disk_far", "quiet_flash"), results)
    for name, axes in places:
        for scheduler, _ in have(results, name, "mean_ms"):
            points = measure.latencies(measure.fio(directory(name, scheduler), 1))
            left = total = sum(number for _, number in points)
            times, parts = [], []
            for time, number in points:
                times.append(time)
                parts.append(left / total)
                left -= number
            axes.step(times, parts, label=scheduler, **line_style(scheduler))
        axes.set_xscale("log")
        axes.set_yscale("log")
        tidy(axes, name, "ms", "part of requests that take longer")
    if figure:
        legend(figure)
    return figure


def burst(results, directory):
    """Requests of the newcomer in each half second."""
    figure, places = panels(("burst", "burst_rt"), results)
    step = 0.5
    for name, axes in places:
        for scheduler, _ in have(results, name, "ios"):
            middles, rates, begin, before = [], [], 0, 0
            for seconds, groups in measure.samples(directory(name, scheduler)):
                if seconds >= begin + step:
                    requests = groups[1][1]
                    middles.append((begin + seconds) / 2)
                    rates.append((requests - before) / (seconds - begin))
                    begin, before = seconds, requests
            axes.plot(middles, rates, label=scheduler, **line_style(scheduler))
        axes.set_ylim(bottom=0)
        tidy(axes, name, "s since the newcomer's start", "its I/Os a second")
    if figure:
        legend(figure)
    return figure


def cost(results, _):
    """What a request costs over the number of groups."""
    names = [
        name for name in SCENARIO if name.startswith("cost") and name[4:].isdigit()
    ]
    numbers = [int(name[4:]) for name in names]
    curves = {}
    for name, number in zip(names, numbers):
        for scheduler, figures in have(results, name, "ns_per_request"):
            curves.setdefault(scheduler, []).append((number, figures["ns_per_request"]))
    if not curves:
        return None
    figure, axes = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
    for scheduler, points in curves.items():
        style = line_style(scheduler) | {"marker": STYLE[scheduler]["marker"]}
        axes.plot(*zip(*points), label=scheduler, **style)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    tidy(axes, "processor time of a request", "busy groups", "ns")
    legend(figure)
    return figure


def speeds(results, _):
    """Error and rate over what the device can do."""
    names = [name for name in SCENARIO if name.startswith("speeds_")]
    figure, places = panels([name for name in names for _ in range(2)], results)
    for nr, (name, axes) in enumerate(places):
        channels = int(name.partition("_")[2])
        times = measure.times_us(SCENARIO[name])
        able = [channels * 1e3 / int(us) for us in times]
        key, unit, up = (
            ("error", 1, "largest error of a share, pp"),
            ("per_s", 1e3, "thousands of I/Os a second"),
        )[nr % 2]
        for scheduler, figures in have(results, name, f"{key}_{times[0]}"):
            values = [figures[f"{key}_{us}"] / unit for us in times]
            style = line_style(scheduler) | {"marker": STYLE[scheduler]["marker"]}
            axes.plot(able, values, label=scheduler, **style)
        axes.set_ylim(bottom=0)
        title = f"{channels} channel{'s' if channels > 1 else ''}"
        tidy(axes, title, "thousands that the device can do", up)
    if figure:
        legend(figure)
    return figure


def programs(results, _):
    """What takes how long alone and beside others."""
    figure, places = panels(
        ("startup", "startup_same", "startup_streams", "commit"), results
    )
    for name, axes in places:
        rows = have(results, name, "beside_s")[::-1]
        for key, colour, thickness in (
            ("beside_s", "#56B4E9", 0.7),
            ("alone_s", "#0072B2", 0.35),
        ):
            axes.barh(
                [scheduler for scheduler, _ in rows],
                [figures[key] for _, figures in rows],
                height=thickness,
                color=colour,
                label=key.removesuffix("_s"),
            )
        axes.legend(frameon=False, fontsize=8)
        tidy(axes, name, "s", "")
    return figure


def matrix(results, _):
    """The heavy group's share of time in each cell, as a coloured table for each scheduler."""
    drawn = [
        (name, scheduler, figures)
        for name in SCENARIO
        if name.startswith("matrix_")
        for scheduler, figures in have(results, name, "error_pp")
    ]
    # As many panels as tables
    figure, places = panels([name for name, _, _ in drawn], results)
    lights = ("nothing", *measure.MATRIX)
    due = [100.0] + [100 * measure.MATRIX_SHARES[0]] * len(measure.MATRIX)
    for (name, axes), (_, scheduler, figures) in zip(places, drawn):
        cells = [
            [figures[f"{heavy}.{light}_share"] for light in lights]
            for heavy in measure.MATRIX
        ]
        off = [[abs(cell - part) for cell, part in zip(row, due)] for row in cells]
        axes.imshow(off, cmap="RdYlGn_r", vmin=0, vmax=30)
        for y, row in enumerate(cells):
            for x, cell in enumerate(row):
                axes.text(x, y, f"{cell:.0f}", ha="center", va="center")
        axes.set_xticks(range(len(lights)), lights, rotation=30)
        axes.set_yticks(range(len(measure.MATRIX)), measure.MATRIX)
        axes.set_title(f"{name}, {scheduler}", fontsize=10, loc="left")
    return figure


def draw(results, directory, out):
    """DIRECTORY gives that of a scenario and a scheduler."""
    plt.rcParams.update({"font.size": 9, "axes.edgecolor": "#888888"})
    named = {scheduler.name: scheduler for scheduler in SCHEDULERS}

    def run_of(scenario, scheduler):
        return directory(SCENARIO[scenario], named[scheduler])

    drawn = (shares, fairness, latency, burst, cost, speeds, programs, matrix)
    for function in drawn:
        figure = function(results, run_of)
        if figure:
            figure.savefig(out / f"{function.__name__}.png", dpi=110)
            plt.close(figure)
