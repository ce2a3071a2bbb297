"""The history of scripts/bench: one JSON line for each recorded run, appended and drawn.

    history.py record FOLDER PART...               appends the figures that scripts/bench keeps in FOLDER
    history.py show [--part NAME] [--html FILE]    draws the runs: a table, or a page of its own

A figure has a ratio to its yardstick, which machines share, and a cost, which is compared on the same machine only. Quick runs are compared with
quick runs. Exit code 2: a mistake in the arguments; 3: the history cannot be read or written.
"""
import argparse
import difflib
import html
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HISTORY = Path(__file__).with_name("history.jsonl")
PARTS = "relay transcode conference setup overload message memory srtp directory latency peers".split()
BARS = "▁▂▃▄▅▆▇█"
UNKNOWN = "a machine that was not noted"


class HistoryError(Exception):
    """What is wrong with a file, for a person."""


@dataclass
class Point:
    """A run's value of one series."""
    value: float
    commit: str
    date: str
    load: str


@dataclass
class Series:
    """One figure over the runs that can be compared, oldest first."""
    part: str
    what: str
    measure: str
    is_quick: bool
    more_is_better: bool
    machine: str = ""
    points: list = field(default_factory=list)

    @property
    def title(self):
        return self.what + (" (quick)" if self.is_quick else "")

    @property
    def best(self):
        values = [point.value for point in self.points]
        return max(values) if self.more_is_better else min(values)


# MARK: Recording

def machine():
    """The processor's model, the number of processors, and the kernel of this machine."""
    names = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {"model": names[0] if names else os.uname().machine, "cores": os.cpu_count(), "kernel": os.uname().release}


def commit_is_changed():
    """Whether tracked files, but for the history itself, differ from the commit."""
    command = ["git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)Tests/Benchmarks/history.jsonl"]
    return bool(subprocess.run(command, capture_output=True, text=True, check=False, cwd=HISTORY.parent.parent.parent).stdout.strip())


def line_of(kept, of_machine, is_changed):
    """The history's line of one run. `kept`: what scripts/bench keeps of each part, by its name."""
    first = next(iter(kept.values()))
    figures = [
        {"part": part, "what": row["what"], "unit": row["unit"], "ours": row["ours"]["median"]}
        | ({"yardstick": row["yardstick"], "beside": row["beside"]["median"], "ratio": row["ratio"]["median"]} if "ratio" in row else {})
        for part, run in kept.items() for row in run["rows"]
    ]
    return {"date": first["date"], "commit": first["commit"], "changed": is_changed, "quick": first["quick"], "load": first["load"],
            "machine": of_machine, "figures": figures}


def record(folder, parts, history=HISTORY):
    kept = {part: json.loads((Path(folder) / f"{part}.json").read_text()) for part in parts}
    with history.open("a") as file:
        file.write(json.dumps(line_of(kept, machine(), commit_is_changed()), ensure_ascii=False) + "\n")
    print(f"recorded in {os.path.relpath(history)}: draw it with scripts/bench --history")


# MARK: Reading

def read(history=HISTORY):
    """The runs, oldest first; none where there is no file."""
    if not history.exists():
        return []
    runs = []
    for number, line in enumerate(history.read_text().splitlines(), 1):
        if not line.strip():
            continue
        try:
            run = json.loads(line)
            series_of([run])
        except (ValueError, KeyError, TypeError) as error:
            raise HistoryError(f"{history}:{number} is no line of a run: {error!r}") from None
        runs.append(run)
    return sorted(runs, key=lambda run: run["date"])


def series_of(runs):
    """The ratios and the costs of all figures, in the order in which they first came."""
    found = {}
    for run in runs:
        computer = run["machine"]
        name = "{model}, {cores} cores, Linux {kernel}".format(**computer) if computer else UNKNOWN
        for figure in run["figures"]:
            if "ratio" in figure:
                add(found, run, figure, f"of {figure['yardstick']}", figure["ratio"], "")
            add(found, run, figure, figure["unit"], figure["ours"], name)
    return list(found.values())


def add(found, run, figure, measure, value, computer):
    key = (figure["part"], figure["what"], measure, run["quick"], computer)
    series = found.setdefault(key, Series(*key[:4], more_is_better=figure["unit"].endswith("/s"), machine=computer))
    commit = run["commit"] + ("+" if run["changed"] else "")
    series.points.append(Point(float(value), commit, run["date"], run["load"]))


# MARK: Drawing

def short(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def change(value, base):
    """In percent, with its sign; a dash where there is nothing to compare."""
    return "-" if not base else f"{(value / base - 1) * 100:+.0f} %"


def since_before(series):
    return change(series.points[-1].value, series.points[-2].value) if len(series.points) > 1 else "-"


def sparkline(values):
    """A bar for each value, from the least to the most; the middle where all are the same."""
    least, most = min(values), max(values)
    if least == most:
        return BARS[3] * len(values)
    return "".join(BARS[round((value - least) / (most - least) * (len(BARS) - 1))] for value in values)


def table(all_series):
    """Lines for a terminal. Costs have the number of their machine, where there are several."""
    lines, machines = [], list(dict.fromkeys(series.machine for series in all_series if series.machine))
    marks = {name: f" ({number})" if len(machines) > 1 else "" for number, name in enumerate(machines, 1)}
    for part in dict.fromkeys(series.part for series in all_series):
        rows = [("figure", "measure", "last", "since before", "to the best", "runs")]
        for series in (each for each in all_series if each.part == part):
            last, values = series.points[-1].value, [point.value for point in series.points]
            measure = series.measure + marks.get(series.machine, "")
            rows.append((series.title, measure, short(last), since_before(series), change(last, series.best), sparkline(values[-30:])))
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        lines += ["", part] + ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join(lines[1:] + ["", *(f"costs{marks[name]} are of {name}" for name in machines)])


WIDTH, HEIGHT, MARGIN = 320, 80, 8


def chart(series):
    """The runs of a series as an SVG: a line, and a point with its commit for each run."""
    values = [point.value for point in series.points]
    least, span = min(values), (max(values) - min(values)) or 1
    step = (WIDTH - 2 * MARGIN) / max(1, len(values) - 1)
    places = [(MARGIN + index * step, HEIGHT - MARGIN - (value - least) / span * (HEIGHT - 2 * MARGIN)) for index, value in enumerate(values)]
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{html.escape(f"{short(p.value)} · {p.commit} · {p.date} · load {p.load}")}</title></circle>'
        for (x, y), p in zip(places, series.points))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(series.title)}"><polyline points="{line}"/>{dots}</svg>'


STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
main{display:grid;grid-template-columns:repeat(auto-fill,minmax(20rem,1fr));gap:1rem}h2{grid-column:1/-1;margin:1rem 0 0}
figure{margin:0;padding:.75rem;border:1px solid #8884;border-radius:.5rem}svg{width:100%;overflow:visible}
polyline{fill:none;stroke:#27c;stroke-width:2}circle{fill:#27c}small{opacity:.7}"""


def page(all_series):
    """One HTML page that needs nothing else."""
    body = []
    for part in dict.fromkeys(series.part for series in all_series):
        body.append(f"<h2>{html.escape(part)}</h2>")
        body += [card(series) for series in all_series if series.part == part]
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/><title>Benchmarks of Hookswitch</title>'
            f"<style>{STYLE}</style></head><body><h1>Benchmarks of Hookswitch</h1>"
            "<p>Ratios are to a yardstick in the same run. Costs are of one machine. A commit with + had changes that were not in it.</p>"
            f"<main>{''.join(body)}</main></body></html>\n")


def card(series):
    last = series.points[-1]
    words = f"{short(last.value)} {series.measure}, {since_before(series)} since before, {change(last.value, series.best)} to the best"
    where = f"<br/><small>{html.escape(series.machine)}</small>" if series.machine else ""
    return f"<figure><figcaption><b>{html.escape(series.title)}</b><br/>{html.escape(words)}{where}</figcaption>{chart(series)}</figure>"


# MARK: Commands

def show(part, page_path, history=HISTORY):
    if part and part not in PARTS:
        near = difflib.get_close_matches(part, PARTS, 1, 0)[0]
        print(f"bench: --part: there is no part '{part}'; the nearest is {near}, and all are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    chosen = [series for series in series_of(read(history)) if part in (None, series.part)]
    if not chosen:
        only = f" --only {part}" if part else ""
        print(f"no run{f' of {part}' if part else ''} is recorded in {os.path.relpath(history)}; make one with: scripts/bench{only} --record")
    elif page_path:
        Path(page_path).write_text(page(chosen))
        print(f"{len(chosen)} charts are in {page_path}")
    else:
        print(table(chosen))
    return 0


def main():
    parser = argparse.ArgumentParser(prog="bench", description="The history of scripts/bench.")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder")
    recording.add_argument("parts", nargs="+")
    showing = commands.add_parser("show", prog="scripts/bench --history")
    showing.add_argument("--part", metavar="NAME", help="this part only")
    showing.add_argument("--html", metavar="FILE", help="a page with a chart for each figure, and no table")
    arguments = parser.parse_args()
    try:
        if arguments.command == "show":
            return show(arguments.part, arguments.html)
        record(arguments.folder, arguments.parts)
        return 0
    except (OSError, HistoryError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
