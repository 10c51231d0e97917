"""What the disk counted in a run of a selftest, over time, and how it is drawn."""

import csv
import sys
from collections import defaultdict

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("demo: matplotlib is missing: apt-get install python3-matplotlib")

# Colours that colour-blind people can tell apart (Okabe and Ito)
COLOURS = ("#0072B2", "#D55E00", "#009E73")


def samples(file):
    """Of each stretch of the disk: a list of (seconds, bytes moved, ns of device time), from the start on."""
    last, total, series = {}, defaultdict(lambda: (0, 0)), defaultdict(list)
    with open(file) as lines:
        for row in csv.DictReader(lines):
            start = int(row["start"])
            now = (
                512 * (int(row["read_sectors"]) + int(row["written_sectors"])),
                int(row["time_ns"]),
            )
            # The counters are set to zero where the measured time begins.
            before = last.get(start, (0, 0))
            before = before if now >= before else (0, 0)
            last[start] = now
            total[start] = tuple(
                t + n - b for t, n, b in zip(total[start], now, before)
            )
            series[start].append((float(row["seconds"]), *total[start]))
    origin = min(points[0][0] for points in series.values())
    return [
        [(t - origin, b, ns) for t, b, ns in series[start]] for start in sorted(series)
    ]


def rates(points, column, step):
    """Middle of each interval of about STEP seconds, and growth of the column in it per second."""
    times, values = [], []
    begin = points[0]
    for point in points[1:]:
        # What is left over at the end counts if it is long enough to mean something.
        if point[0] - begin[0] >= (step / 3 if point is points[-1] else step):
            times.append((begin[0] + point[0]) / 2)
            values.append((point[column] - begin[column]) / (point[0] - begin[0]))
            begin = point
    return times, values


def figure(**how):
    plt.rcParams.update({"font.size": 9, "axes.edgecolor": "#888888"})
    return plt.figure(dpi=110, **how)


def tidy(axes):
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
