"""The places at which scripts/mutate puts mistakes in."""

import unittest

import sites

SOURCE = """\
struct Bucket {
    var count = 0

    /// if count < 3 { log(1) }
    mutating func add(_ more: Int) -> Int {
        guard more > 0, let room = room(for: more), !isShut("a, \\(more)") else { return 0 }
        log("more { than", more)
        count += more
        timer.start(at: more)
        timers[more].due = nil
        return count
    }

    func single() -> Int {
        compute(count)
    }

    init(_ count: Int) {
        self.count = count
        self.log("made", count)
    }

    @inlinable func quick() -> Bool {
        if count > 3 { return true }
        log("quick", count)
        return false
    }
}
"""


class SitesTests(unittest.TestCase):
    def setUp(self):
        self.changes = [(site.kind, site.line + 1, site.change) for site in sites.sites("Bucket.swift", SOURCE)]

    def test_conditions(self):
        conditions = [change for kind, _, change in self.changes if kind == "negate"]
        self.assertEqual(conditions, ["not (more > 0)", 'not (!isShut("a, \\(more)"))'])
        self.assertIn(("off by one", 6, "more >= 0"), self.changes)

    def test_statements(self):
        drops = [change for kind, line, change in self.changes if kind == "drop"]
        self.assertEqual(
            drops,
            ['without log("more { than", more)', "without timer.start(at: more)", "without timers[more].due = nil",
             'without self.log("made", count)'])

    def test_what_is_left_alone(self):
        lines = {line for _, line, _ in self.changes}
        self.assertFalse(lines & {4, 11, 15, 19, 24, 25}, "comments, values of functions, inits' properties, code that others inline")

    def test_numbers_are_put_in(self):
        site = next(site for site in sites.sites("Bucket.swift", SOURCE) if site.kind == "negate")
        self.assertIn("guard (activeMutant == @) != (more > 0), let room", site.text)

    def test_swaps_take_two_calls(self):
        self.assertEqual(sites.sites("A.swift", "func a() {\n    first(1)\n    second(2)\n    return\n}\n")[1].kind, "swap")


if __name__ == "__main__":
    unittest.main()
