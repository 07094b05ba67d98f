#!/usr/bin/python3
"""Tests of scripts/check_layering.py and scripts/check_documents.py on made-up sources."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import check_documents  # noqa: E402
import check_layering  # noqa: E402

PUBLIC = {f"host/include/ephost/{name}": [] for name in
          ("c_api.h", "status.h", "session.h", "detail/api.h", "detail/records.h", "types/session.h")}


class Layering(unittest.TestCase):
    def expect(self, file, header, breach):
        """`breach` is what is said of `file` if it includes `header`; none: it may."""
        found = list(check_layering.breaches({**PUBLIC, file: [header]}))
        self.assertEqual(len(found), 1 if breach else 0, (file, header, found))
        if breach:
            self.assertIn(breach, found[0])

    def test_lets_public_headers_include_the_standard_library_and_each_other_only(self):
        session = "host/include/ephost/session.h"
        for header in ("vector", "type_traits", "stdint.h", "ephost/c_api.h", "ephost/detail/api.h"):
            self.expect(session, header, None)
        for header in ("host/session/facade/session.h", "ephost/plugin_abi.h", "ephost/missing.h", "unistd.h",
                       "sys/mman.h"):
            self.expect(session, header, "the standard library and each other only")
        self.expect("host/include/ephost/c_api.h", "host/api/tables.h", "the standard library and each other only")

    def test_keeps_plain_values_apart_from_the_functions_of_the_library(self):
        values = "host/include/ephost/types/session.h"
        self.expect(values, "ephost/status.h", None)
        for header in ("ephost/c_api.h", "ephost/session.h", "ephost/detail/api.h"):
            self.expect(values, header, "a header of plain values")

    def test_lets_the_commands_include_the_cc_api_and_base_only(self):
        command = "host/cli/commands/run.cc"
        for header in ("ephost/session.h", "host/cli/arguments/flags.h", "host/base/text.h"):
            self.expect(command, header, None)
        for header in ("ephost/c_api.h", "ephost/detail/api.h", "host/session/facade/session.h", "host/api/tables.h"):
            self.expect(command, header, f"includes {header}")

    def test_keeps_the_classes_of_the_cc_api_out_of_the_library(self):
        self.expect("host/session/facade/session.cc", "ephost/types/session.h", None)
        self.expect("host/session/facade/session.cc", "ephost/session.h", "not for session")
        self.expect("host/session/facade/session.cc", "ephost/c_api.h", "not for session")
        self.expect("host/api/session.cc", "ephost/c_api.h", None)
        self.expect("host/api/session.cc", "ephost/session.h", "not for api")

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


if __name__ == "__main__":
    unittest.main()
