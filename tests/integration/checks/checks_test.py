#!/usr/bin/python3
"""Tests of scripts/check_layering.py, check_documents.py and check_prose.py on made-up sources."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import check_documents  # noqa: E402
import check_layering  # noqa: E402
import check_prose  # noqa: E402

PUBLIC = {f"host/include/ephost/{name}": [] for name in
          ("c_api.h", "status.h", "session.h", "detail/api.h", "detail/records.h", "types/session.h")}


class Layering(unittest.TestCase):
    def expect(self, file, header, breach):
        """`breach` is reported for `file` if it includes `header`; none: it may."""
        found = list(check_layering.breaches({**PUBLIC, file: [header]}))
        self.assertEqual(len(found), 1 if breach else 0, (file, header, found))
        if breach:
            self.assertIn(breach, found[0])

    def test_lets_public_headers_include_the_standard_library_and_each_other_only(self):
        session = "host/include/ephost/session.h"
        for header in ("vector", "type_traits", "stdint.h", "ephost/c_api.h", "ephost/detail/api.h"):
            self.expect(session, header, None)
        for header in ("host/session/facade/session_state.h", "ephost/plugin_abi.h", "ephost/missing.h", "unistd.h",
                       "sys/mman.h"):
            self.expect(session, header, "the standard library and each other only")
        self.expect("host/include/ephost/c_api.h", "host/api/tables.h", "the standard library and each other only")

    def test_keeps_standard_headers_that_compile_slowly_out_of_public_ones(self):
        for header in ("filesystem", "functional", "algorithm", "iostream"):
            self.expect("host/include/ephost/session.h", header, "takes too long to compile")
            self.expect("host/cli/commands/run.cc", header, None)

    def test_keeps_plain_values_apart_from_the_functions_of_the_library(self):
        values = "host/include/ephost/types/session.h"
        self.expect(values, "ephost/status.h", None)
        for header in ("ephost/c_api.h", "ephost/session.h", "ephost/detail/api.h"):
            self.expect(values, header, "a header of plain values")

    def test_lets_the_commands_include_the_cc_api_and_base_only(self):
        command = "host/cli/commands/run.cc"
        for header in ("ephost/session.h", "host/cli/arguments/flags.h", "host/base/text.h"):
            self.expect(command, header, None)
        for header in ("ephost/c_api.h", "ephost/detail/api.h", "host/session/facade/session_state.h",
                       "host/api/tables.h"):
            self.expect(command, header, f"includes {header}")

    def test_keeps_the_classes_of_the_cc_api_out_of_the_library(self):
        self.expect("host/session/facade/session_state.cc", "ephost/types/session.h", None)
        self.expect("host/session/facade/session_state.cc", "ephost/session.h", "not for session")
        self.expect("host/session/facade/session_state.cc", "ephost/c_api.h", "not for session")
        self.expect("host/api/session.cc", "ephost/c_api.h", None)
        self.expect("host/api/session.cc", "ephost/session.h", "not for api")

    def test_lets_base_and_units_of_one_system_include_headers_of_the_system_only(self):
        for file in ("host/base/files/file.cc", "host/plugin/calls/crash_handler.cc", "host/worker/transport/turns.cc"):
            self.expect(file, "unistd.h", None)
        for header in ("unistd.h", "sys/mman.h", "linux/futex.h", "signal.h", "termios.h"):
            self.expect("host/cli/commands/run.cc", header, "base has the services of the system")
        self.expect("host/plugin/calls/call_watch.cc", "pthread.h", "base has the services of the system")
        for header in ("csignal", "cstdint", "stdint.h", "host/base/files/file.h"):
            self.expect("host/cli/commands/run.cc", header, None)

    def test_finds_units_of_one_system_that_are_none_any_more(self):
        used = {unit + "x.cc" if unit.endswith("/") else unit: ["unistd.h"] for unit in check_layering.SYSTEM_UNITS}
        self.assertEqual(list(check_layering.stale_units(used)), [])
        del used["host/worker/transport/turns.cc"]
        self.assertEqual(len(list(check_layering.stale_units(used))), 1)

    def test_lets_rooms_of_a_module_include_each_other_in_one_direction(self):
        down = {"host/cli/a/a.cc": ["host/cli/b/b.h"], "host/cli/b/b.h": ["host/cli/c/c.h", "host/cli/b/other.h"]}
        self.assertEqual(list(check_layering.room_breaches("cli", down)), [])
        up = {**down, "host/cli/c/c.h": ["host/cli/a/a.h"], "host/cli/d/d.h": ["host/cli/a/a.h"]}
        found = list(check_layering.room_breaches("cli", up))
        self.assertEqual(len(found), 3, found)
        self.assertIn("host/cli/c/c.h includes host/cli/a/a.h, in a circle of host/cli/a, host/cli/b, host/cli/c",
                      found)

    def test_takes_the_files_of_the_module_itself_for_a_room(self):
        found = list(check_layering.room_breaches("cli", {"host/cli/main.h": ["host/cli/a/a.h"],
                                                          "host/cli/a/a.h": ["host/cli/main.h"]}))
        self.assertEqual(len(found), 2, found)
        self.assertEqual(list(check_layering.room_breaches("cli", {"host/cli/a/a.h": ["host/cli/main.h"]})), [])


C_HEADER = """
/* typedef struct ephost_old_api {
  int gone;
} ephost_old_api; */
typedef struct ephost_run_options {
  uint64_t struct_size;
  const char* tag; /* of a run; */
} ephost_run_options;
typedef struct ephost_session_api {
  uint64_t struct_size;
  ephost_status* (*run)(ephost_session* session,
                        const ephost_run_options* options);
} ephost_session_api;
"""
CC_HEADERS = """
class Session {
 public:
  Status run();
};
"""


class NamesOfTheApi(unittest.TestCase):
    def faults(self, text):
        return list(check_documents.api_names(text, C_HEADER, C_HEADER + CC_HEADERS))

    def test_are_those_that_are_declared(self):
        text = "`session->run`, `Session::run`, `ephost_run_options.tag`, `.tag`, `tag`, `Ort::Env`"
        self.assertEqual(self.faults(text), [])

    def test_include_every_function_of_the_c_api(self):
        self.assertIn("session->run is not named", self.faults("nothing")[0])

    def test_do_not_exist_where_nothing_declares_them(self):
        for name in ("session->walk", "old->gone", "Session::walk", "Missing::run", "ephost_run_options.gone",
                     "ephost_missing", "missing"):
            found = self.faults(f"`session->run`, `{name}`")
            self.assertEqual(len(found), 1, name)
            self.assertIn(f"{name} does not exist", found[0])


class Prose(unittest.TestCase):
    def phrases(self, text):
        return [phrase for _, phrase, _ in check_prose.findings(text)]

    def test_finds_each_pattern_and_not_its_better_form(self):
        examples = (
            ("Of a list of measurements.", "Percentile and median of the samples."),
            ("Of sequences and maps.", "Of several devices, the first one is used."),
            ("a word that is none of them", "any other word, which is not one of them"),
            ("empty for a number that is none", "empty for a number that is not a policy"),
            ("A text that is no policy is an error.", "There is no policy that is no longer read."),
            ("before anybody else hears of it", "before any provider sees the model"),
            ("What it has to do with runs", "Host side of ephost.run/1"),
            ("the session goes on without it", "the session continues without it"),
            ("shows who took which node", "the user who runs the process, readers who know"),
            ("whoever has an address", "whoever can put a plugin onto a machine"),
            ("nodes that nobody claims", "used only if nobody but root and you can change them"),
            ("text that is somebody else's", "text that belongs to others"),
            ("a model that states no checksum", "the state that all levels share"),
            ("a name that the model does not state", "a name that is not in the model"),
            ("how messages speak of it", "its name in messages"),
            ("`keeps` says so of the node", "`keeps` returns true for the node"),
            ("What is known of one signature.", "The state of one signature."),
            ("computes it anew", "computes it again"),
            ("devices that it shall use", "devices that it is to use"),
            ("The provider wants to know about runs", "The provider is called for each run"),
            ("The text is of no use", "The text is useless"),
            ("asked for in vain", "asked for without success"),
            ("entries: which there are", "descriptions of the entries"),
        )
        for wrong, right in examples:
            self.assertEqual(len(self.phrases(wrong)), 1, wrong)
            self.assertEqual(self.phrases(right), [], right)
        found = {better for wrong, _ in examples for _, _, better in check_prose.findings(wrong)}
        self.assertEqual(found, {pattern.better for pattern in check_prose.PATTERNS})

    def test_reads_over_the_ends_of_lines(self):
        for text in ("// a model that states\n// no checksum", "  /* nodes that nobody\n   * claims */",
                     "# the run goes\n# on", 'fail("the model states "\n     "no checksum")'):
            self.assertEqual(len(self.phrases(text)), 1, text)

    def test_does_not_read_over_code(self):
        self.assertEqual(self.phrases("int a;  // those that nobody\nint b;  // claims"), [])

    def test_wants_noun_phrases_as_titles_of_headers(self):
        for title in ("// What a session did.", "/* Which nodes the plugin claims. */", "// Finds payloads.",
                      "// shrink.h: makes a case smaller."):
            self.assertNotEqual(check_prose.title_finding(title), "", title)
        for title in ("// The report of a session.", "/*\n * c_api.h: ephost from C.", "// Lists of keys and values.",
                      "// plan_model: plans a model.", "#pragma once"):
            self.assertEqual(check_prose.title_finding(title), "", title)


if __name__ == "__main__":
    unittest.main()
