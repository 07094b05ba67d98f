#!/usr/bin/python3
"""Cases of layout_prefix.py."""
import unittest

from layout_prefix import breaches

EARLIER = """/* The layout */
SIZE(eph_pair, 8)
FIELD(eph_pair, input, 0, 4)
FIELD(eph_pair, output, 4, 4)
SIZE(eph_table, 24)
FIELD(eph_table, struct_size, 0, 8)
FIELD(eph_table, call, 8, 8)
FIELD(eph_table, more, 16, 8)
CONSTANT(EPH_OK, 0)
CONSTANT(EPH_UNKNOWN, -1)
"""


class LayoutPrefixTest(unittest.TestCase):
    def check(self, old, new, *expected):
        self.assertIn(old, EARLIER)
        self.assertEqual(breaches(EARLIER, EARLIER.replace(old, new)), list(expected))

    def test_accepts_the_same_layout(self):
        self.assertEqual(breaches(EARLIER, EARLIER), [])

    def test_accepts_what_is_appended(self):
        later = EARLIER.replace("eph_table, 24", "eph_table, 32").replace(
            "16, 8)\n", "16, 8)\nFIELD(eph_table, added, 24, 8)\nSIZE(eph_new, 4)\n")
        self.assertEqual(breaches(EARLIER, later + "CONSTANT(EPH_NEW, 7)\n"), [])

    def test_refuses_what_is_missing(self):
        self.check("SIZE(eph_pair, 8)", "SIZE(eph_couple, 8)", "eph_pair is missing")
        self.check("FIELD(eph_table, more, 16, 8)\n", "", "eph_table.more is missing")
        self.check("CONSTANT(EPH_OK, 0)\n", "", "EPH_OK was 0 and is missing")

    def test_refuses_what_changed(self):
        self.check("eph_table, 24", "eph_table, 16", "eph_table shrank, from 24 to 16 bytes")
        self.check("eph_table, call, 8, 8", "eph_table, call, 8, 4",
                   "eph_table.call has 8 bytes at 8, later 4 at 8")
        self.check("UNKNOWN, -1", "UNKNOWN, 1", "EPH_UNKNOWN was -1 and is 1")

    def test_refuses_a_frozen_record_that_grew(self):
        self.check("eph_pair, 8", "eph_pair, 12", "eph_pair has no struct_size and grew, from 8 to 12 bytes")

    def test_refuses_what_came_in_between(self):
        self.check("FIELD(eph_table, more, 16, 8)", "FIELD(eph_table, new, 16, 8)\nFIELD(eph_table, more, 24, 8)",
                   "eph_table.more has 8 bytes at 16, later 8 at 24",
                   "eph_table.new came in before the end of the record, at 16")

    def test_refuses_a_file_that_is_none(self):
        with self.assertRaises(SystemExit):
            breaches(EARLIER, "")


if __name__ == "__main__":
    unittest.main()
