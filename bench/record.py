"""What was measured, for the repository: results.csv, which RESULTS.md is made of. A run replaces the one before it."""

import csv
from pathlib import Path

import tables
from scenarios import SCENARIOS, SCHEDULERS

CSV = Path(__file__).with_name("results.csv")
TEXT = Path(__file__).with_name("RESULTS.md")
FIELDS = ("scenario", "scheduler", "kernel", "commit", "figures")


def number(text):
    return int(text) if text.lstrip("-").isdigit() else float(text)


def read():
    """Figures and origins, each by scenario and scheduler, of what was recorded before."""
    results, origins = {}, {}
    if not CSV.exists():
        return results, origins
    with open(CSV, newline="") as file:
        for row in csv.DictReader(file):
            pairs = [figure.split("=") for figure in row["figures"].split()]
            figures = {name: number(value) for name, value in pairs}
            results.setdefault(row["scenario"], {})[row["scheduler"]] = figures
            origin = row["kernel"], row["commit"]
            origins.setdefault(row["scenario"], {})[row["scheduler"]] = origin
    return results, origins


def write(results, origins):
    """Adds what was run to what was recorded, and writes both files."""
    all_results, all_origins = read()
    for scenario in SCENARIOS:
        shown = tables.names_shown(scenario)
        for scheduler, figures in results.get(scenario.name, {}).items():
            own = {name: figures[name] for name in shown if name in figures}
            all_results.setdefault(scenario.name, {})[scheduler] = own
            origin = origins.get(scenario.name, {}).get(scheduler, ("?", "?"))
            all_origins.setdefault(scenario.name, {})[scheduler] = origin
    with open(CSV, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for scenario in SCENARIOS:
            of = all_results.get(scenario.name, {})
            for scheduler in SCHEDULERS:
                if scheduler.name not in of:
                    continue
                pairs = of[scheduler.name].items()
                text = " ".join(f"{name}={value:.7g}" for name, value in pairs)
                origin = all_origins[scenario.name][scheduler.name]
                writer.writerow((scenario.name, scheduler.name, *origin, text))
    # What they are read as, so that the text is the same wherever it is made
    TEXT.write_text(tables.record(*read()))
