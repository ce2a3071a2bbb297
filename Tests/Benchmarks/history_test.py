"""The drawing of history.py, with made-up runs."""
import contextlib
import io
import json
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

sys.dont_write_bytecode = True
import history  # noqa: E402  after the line that keeps it from leaving files

HOME = {"model": "Made-up <1>", "cores": 2, "kernel": "6.1"}


def run(day, ratio, cost, **others):
    figure = {"part": "relay", "what": "packet", "unit": "µs", "ours": cost, "yardstick": "C relay", "beside": cost / ratio, "ratio": ratio}
    return {"date": f"2026-01-{day:02}T00:00:00Z", "commit": f"c{day}", "changed": False, "quick": False, "load": "0 0 0", "machine": HOME,
            "figures": [figure]} | others


def output(*arguments):
    """The exit code of `show`, and what it printed."""
    text, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(errors):
        code = history.show(*arguments)
    return code, text.getvalue() + errors.getvalue()


class HistoryTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "history.jsonl"

    def write(self, *runs):
        self.file.write_text("".join(json.dumps(each) + "\n" for each in runs))

    def test_bars_go_from_the_least_to_the_most(self):
        self.assertEqual(history.sparkline([1, 8, 4.5]), "▁█▅")
        self.assertEqual(history.sparkline([3, 3]), "▄▄")

    def test_the_last_run_is_compared_with_the_one_before_and_the_best(self):
        self.write(run(3, 1.1, 11), run(1, 0.5, 5), run(2, 1.0, 10))   # drawn by date, however they stand
        code, text = output(None, None, self.file)
        self.assertEqual(code, 0)
        row = next(line.split() for line in text.splitlines() if "C relay" in line)
        self.assertEqual(row, "packet of C relay 1.1 +10 % +120 % ▁▇█".split())

    def test_more_is_better_where_the_unit_is_a_rate(self):
        runs = [run(1, 0.8, 800), run(2, 0.6, 600)]
        for each in runs:
            each["figures"][0]["unit"] = "calls/s"
        self.assertEqual([series.best for series in history.series_of(runs)], [0.8, 800])

    def test_costs_of_two_machines_are_not_compared_and_neither_are_quick_runs(self):
        other = HOME | {"model": "Another"}
        series = history.series_of([run(1, 0.5, 5), run(2, 0.6, 9, machine=other), run(3, 0.7, 7, quick=True), run(4, 0.8, 8, machine=None)])
        lengths = {(each.measure, each.title, each.machine.split(",")[0]): len(each.points) for each in series}
        self.assertEqual(lengths, {
            ("of C relay", "packet", ""): 3, ("µs", "packet", "Made-up <1>"): 1, ("µs", "packet", "Another"): 1,
            ("of C relay", "packet (quick)", ""): 1, ("µs", "packet (quick)", "Made-up <1>"): 1, ("µs", "packet", history.UNKNOWN): 1})

    def test_costs_have_the_number_of_their_machine_where_there_are_several(self):
        self.write(run(1, 0.5, 5), run(2, 0.6, 9, machine=HOME | {"kernel": "6.2"}))
        text = output(None, None, self.file)[1]
        self.assertRegex(text, r"µs \(1\) +5 +- ")
        self.assertRegex(text, r"µs \(2\) +9 +- ")
        self.assertIn("costs (2) are of Made-up <1>, 2 cores, Linux 6.2", text)

    def test_the_page_has_a_line_for_each_series_and_a_point_for_each_run(self):
        self.write(run(1, 0.5, 5), run(2, 0.6, 6, changed=True), run(3, 0.7, 7))
        page = self.folder / "page.html"
        code, _ = output(None, str(page), self.file)
        self.assertEqual(code, 0)
        text = page.read_text()
        root = ET.fromstring(text.partition("\n")[2])
        self.assertEqual([len(svg.findall("circle")) for svg in root.iter("svg")], [3, 3])
        self.assertEqual([line.get("points") for line in root.iter("polyline")][0], "8.0,72.0 160.0,40.0 312.0,8.0")
        self.assertIn("c2+", text)
        self.assertIn("Made-up &lt;1&gt;", text)
        self.assertNotIn("http", text)

    def test_without_runs_it_says_how_to_make_one(self):
        self.assertEqual(output(None, None, self.file)[0], 0)
        self.assertIn("scripts/bench --record", output(None, None, self.file)[1])
        self.write(run(1, 0.5, 5))
        self.assertIn("scripts/bench --only setup --record", output("setup", None, self.file)[1])

    def test_an_unknown_part_is_refused_with_the_nearest(self):
        code, text = output("rely", None, self.file)
        self.assertEqual(code, 2)
        self.assertIn("the nearest is relay", text)

    def test_a_line_that_is_no_run_is_named(self):
        self.write(run(1, 0.5, 5))
        for wrong in ["{", "{}", "7", json.dumps(run(2, 0.5, 5) | {"figures": [{}]})]:
            self.file.write_text(json.dumps(run(1, 0.5, 5)) + "\n" + wrong + "\n")
            with self.assertRaisesRegex(history.HistoryError, "history.jsonl:2"):
                history.read(self.file)

    def test_what_scripts_bench_keeps_becomes_a_line(self):
        spread = {"min": 1, "median": 2, "max": 3}
        kept = {"date": "2026-01-01T00:00:00Z", "commit": "abc", "quick": True, "load": "0 0 0", "rows": [
            {"what": "packet", "unit": "µs", "ours": spread, "yardstick": "C relay", "beside": spread, "ratio": spread},
            {"what": "leg", "unit": "bytes", "ours": spread}]}
        (self.folder / "relay.json").write_text(json.dumps(kept))
        with contextlib.redirect_stdout(io.StringIO()):
            history.record(self.folder, ["relay"], self.file)
            history.record(self.folder, ["relay"], self.file)
        runs = history.read(self.file)
        self.assertEqual(len(runs), 2)
        self.assertEqual(runs[0]["machine"], history.machine())
        self.assertEqual([(series.measure, [point.value for point in series.points]) for series in history.series_of(runs)],
                         [("of C relay", [2, 2]), ("µs", [2, 2]), ("bytes", [2, 2])])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["--quiet"])
