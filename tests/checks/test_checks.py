"""The checks in scripts/ find their violations: each is run over a small tree with one violation planted, and over the
same tree without it."""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.environ.get("RIG_SOURCE", os.path.join(os.path.dirname(__file__), "..", "..")), "scripts")

CLEAN = {
    "base/err.h": "int rig_err;\n",
    "base/err.c": '#include "base/err.h"\n',
    "base/CMakeLists.txt": "rig_library(base SOURCES err.c LINKS m)\n",
    "history/model/transaction.h": '#include "base/err.h"\n'
    '#define RIG_OP_TABLE(X) \\\n    X(RIG_OP_APPEND, "append")\n#define RIG_WORKLOAD_TABLE(X) \\\n    X(RIG_WORKLOAD_LIST_APPEND, "l")\n',
    "history/model/history.h": '#include "transaction.h"\n',
    "history/model/history.c": '#include "history/model/history.h"\n#include <stdio.h>\n',
    "history/CMakeLists.txt": "rig_library(history SOURCES model/history.c LINKS rig_base)\n",
    "drivers/driver.h": '#include "history/model/transaction.h"\n',
    "drivers/postgres/pg.h": '#include "drivers/driver.h"\n',
    "drivers/postgres/pg.c": '#include "drivers/postgres/pg.h"\n#include "base/err.h"\n',
    "drivers/postgres/CMakeLists.txt": "add_library(rig_pg MODULE pg.c)\ntarget_link_libraries(rig_pg PRIVATE PkgConfig::PQ)\n",
    "checker/decide/graph.h": "int graph;\n",
    "checker/prove/witness/verify.h": '#include "history/model/history.h"\n',
    "checker/prove/witness/verify.c": '#include "checker/prove/witness/verify.h"\n',
    "checker/prove/witness/CMakeLists.txt": "rig_library(checker_witness\n  SOURCES verify.c\n  LINKS rig_base rig_history) # both\n",
    "cli/main.c": '#include "checker/decide/graph.h"\n#include "drivers/postgres/pg.h"\nint main(void) { printf("x"); }\n',
    "cli/CMakeLists.txt": "add_executable(rig main.c)\n",
    "tests/CMakeLists.txt": "add_subdirectory(unit)\nadd_subdirectory(cli)\n",
    "tests/unit/CMakeLists.txt": "rig_unit_test(err LINKS rig_base)\n",
    "tests/unit/test_err.c": '#include "base/err.h"\n',
    "tests/cli/CMakeLists.txt": "rig_script_test(cli COMMAND test_cli.py)\n",
    "tests/cli/test_cli.py": "import cli_helper\n",
    "tests/cli/cli_helper.py": "pass\n",
}


def run(check, tree, *options):
    with tempfile.TemporaryDirectory(prefix="rig-checks-") as root:
        for path, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        answer = subprocess.run(
            [sys.executable, os.path.join(SCRIPTS, check), "--root", root, *options], capture_output=True, text=True, timeout=300
        )
        return answer.returncode, answer.stdout + answer.stderr


class Checks(unittest.TestCase):
    def passes(self, check, **planted):
        status, output = run(check, {**CLEAN, **planted})
        self.assertEqual(status, 0, output)

    def catches(self, check, planted, *expected):
        tree = {path: text for path, text in {**CLEAN, **planted}.items() if text is not None}
        status, output = run(check, tree)
        self.assertEqual(status, 1, output)
        for text in expected:
            self.assertIn(text, output)
        self.assertIn("1 problem(s)", output)

    def test_a_clean_tree_passes(self):
        for check in ("check-layers", "check-registration", "check-sentences", "check-text"):
            self.passes(check)

    def test_an_empty_tree_is_no_success(self):
        for check in ("check-layers", "check-registration", "check-sentences", "check-text"):
            status, output = run(check, {"README": ""})
            self.assertEqual(status, 2, output)

    # check-layers

    def test_include_that_runs_backwards(self):
        planted = {"base/err.c": '#include "base/err.h"\n\n#  include "history/model/history.h"\n'}
        self.catches("check-layers", planted, "base/err.c:3: base may not include history/model/history.h")

    def test_include_in_a_comment_is_none(self):
        self.passes("check-layers", **{"base/err.c": '/* #include "history/model/history.h" */\n// #include "cli/x.h"\n'})

    def test_driver_that_sees_history_storage(self):
        planted = {"drivers/postgres/pg.c": '#include "history/model/history.h"\n'}
        self.catches("check-layers", planted, "drivers/postgres may not include history/model/history.h")

    def test_driver_that_sees_another_driver(self):
        planted = {"drivers/other/other.c": '#include "drivers/postgres/pg.h"\n'}
        self.catches("check-layers", planted, "drivers/other may not include drivers/postgres/pg.h")

    def test_folders_of_a_layer_that_include_each_other(self):
        down = {"history/text/fast/lines.c": '#include "history/text/part/keys.h"\n',
                "history/text/part/keys.h": '#include "history/text/scan/block.h"\n',
                "history/text/scan/block.h": "int block;\n"}
        self.passes("check-layers", **down, **{"history/CMakeLists.txt": "rig_library(history SOURCES text/fast/lines.c)\n"})
        up = {**down, "history/text/scan/block.h": '#include "history/text/fast/lines.h"\n', "history/text/fast/lines.h": "int x;\n"}
        self.catches("check-layers", up, "block.h:1: history/text/scan may not include history/text/fast/lines.h")

    def test_checker_that_sees_the_run(self):
        planted = {"checker/judge/check.c": '#include "run/load/run.h"\n', "run/load/run.h": "int run;\n"}
        self.catches("check-layers", planted, "checker/judge may not include run/load/run.h")
        planted = {"checker/judge/check.c": "#include <ccadical.h>\n"}
        self.catches("check-layers", planted, "checker/judge/check.c:1: only checker/decide/solve/ may include <ccadical.h>")
        self.passes("check-layers", **{"checker/decide/solve/sat.c": "#include <ccadical.h>\n"})

    def test_verifier_that_shares_code_with_the_inference(self):
        planted = {
            "checker/model/text.h": '#include "checker/decide/graph.h"\n',
            "checker/prove/witness/verify.c": '#include "checker/model/text.h"\n',
        }
        status, output = run("check-layers", {**CLEAN, **planted})
        self.assertEqual(status, 1, output)
        self.assertIn("must share nothing with checker/decide/graph.h", output)
        self.assertIn("verify.c -> checker/model/text.h -> checker/decide/graph.h", output)

    def test_program_that_replays_proofs_and_shares_code_with_the_checker(self):
        self.passes("check-layers", **{"checker/prove/facts.c": '#include "history/model/history.h"\n'})
        status, output = run("check-layers", {**CLEAN, "checker/prove/facts.c": '#include "checker/judge/check.h"\n',
                                               "checker/judge/check.h": "int check;\n"})
        self.assertEqual(status, 1, output)
        self.assertIn("checker/prove may not include checker/judge/check.h", output)
        self.assertIn("checker/prove/facts.c:1: must share nothing with checker/judge/check.h", output)
        linked = {"checker/prove/CMakeLists.txt": "rig_library(verify SOURCES facts.c LINKS rig_checker_witness)\n"}
        self.catches("check-layers", linked, "checker/prove may not know checker/prove/witness")

    def test_tag_of_two_files(self):
        twice = {"base/source.h": "struct rig_source {\n    int a;\n};\n", "history/source/source.h": "\nenum rig_source { A };\n"}
        self.catches("check-layers", twice, "history/source/source.h:2: rig_source is defined in base/source.h:1 as well")
        vector = {"base/source.h": "struct rig_sources { int a; };\n", "history/source/source.h": "RIG_VEC(int, rig_sources)\n"}
        self.catches("check-layers", vector, "history/source/source.h:1: rig_sources is defined in base/source.h:1 as well")

    def test_tag_that_is_used_or_of_a_test(self):
        self.passes("check-layers", **{
            "base/source.h": "struct rig_source {\n    int a;\n};\nstruct rig_source *next(struct rig_source *source);\n",
            "base/source.c": "/* struct rig_source { is in a comment } */\nstatic const struct rig_source one = {.a = 1};\n",
            "tests/unit/fake.h": "struct rig_source { int b; };\n"})

    def test_data_type_outside_of_its_table(self):
        for name in ("RIG_OP_APPEND", "RIG_WORKLOAD_LIST_APPEND"):
            planted = {"history/model/segment.c": f"/* of {name} */\nint x = {name};\n"}
            self.catches("check-layers", planted, f"history/model/segment.c:2: {name} belongs into a table of data types")

    def test_data_type_in_its_own_files(self):
        own = "int x = RIG_OP_APPEND;\n"
        self.passes("check-layers", **{
            "checker/infer/list_survey.c": own, "checker/prove/witness/verify_list.c": own, "history/types/types.c": own,
            "drivers/postgres/pg_ops.c": own, "checker/infer/listing.c": "int y = RIG_OP_APPENDED;\n"})

    def test_table_of_data_types_that_is_gone(self):
        self.catches("check-layers", {"history/model/transaction.h": "enum { NONE };\n"}, "no table of operations or workloads")

    def test_include_of_nothing(self):
        self.catches("check-layers", {"base/err.c": '#include "base/gone.h"\n'}, "no file of the repository")

    def test_layer_that_is_not_in_the_table(self):
        self.catches("check-layers", {"utils/x.c": "int x;\n"}, "not in a layer")

    def test_library_linked_backwards(self):
        planted = {"base/CMakeLists.txt": "rig_library(base SOURCES err.c LINKS rig_history)\n"}
        self.catches("check-layers", planted, "base/CMakeLists.txt:1: rig_base may not link rig_history")

    def test_libpq_outside_its_driver(self):
        planted = {"checker/prove/witness/CMakeLists.txt": "rig_library(checker_witness SOURCES verify.c LINKS PkgConfig::PQ)\n"}
        self.catches("check-layers", planted, "rig_checker_witness may not link PkgConfig::PQ")

    # check-registration

    def test_unit_test_that_is_not_registered(self):
        self.catches("check-registration", {"tests/unit/test_arena.c": "int x;\n"}, "test_arena.c: not registered")

    def test_unit_test_registered_in_a_comment_only(self):
        planted = {"tests/unit/CMakeLists.txt": "# rig_unit_test(err LINKS rig_base)\n"}
        self.catches("check-registration", planted, "test_err.c: not registered")

    def test_source_that_is_never_compiled(self):
        self.catches("check-registration", {"history/record.c": "int x;\n"}, "history/record.c: no CMakeLists.txt")

    def test_script_that_is_not_registered(self):
        self.catches("check-registration", {"tests/cli/test_more.py": "pass\n"}, "tests/cli/test_more.py: neither")

    def test_folder_that_is_not_added(self):
        planted = {"tests/CMakeLists.txt": "add_subdirectory(unit)\n"}
        self.catches("check-registration", planted, "tests/cli: tests/CMakeLists.txt does not add it")

    def test_name_that_is_taken(self):
        self.catches("check-registration", {"cli/err.h": "int x;\n"}, "the name err.h is taken by base/err.h")

    # check-text

    def test_words_that_promise_later_work(self):
        for word in ("TO" "DO", "fix" "me", "X" "XX", "not yet impl" "emented"):
            self.catches("check-text", {"base/err.h": f"/* {word}: more */\n"}, "base/err.h:1", "promises later work")

    def test_place_on_one_machine(self):
        place = "/ho" "me/anna/rig"
        self.catches("check-text", {"README.md": f"See {place}.\n"}, "README.md:1", "names a place on one machine")

    def test_banned_function(self):
        planted = {"base/err.c": "/* strcpy(a, b) is fine here */\nvoid f(void) { strcpy(a, b); }\n"}
        self.catches("check-text", planted, "base/err.c:2: strcpy()")

    def test_banned_name_inside_another_is_fine(self):
        self.passes("check-text", **{"base/err.c": "void f(void) { my_strcpy(a); p->rand(); signal(SIGPIPE, SIG_IGN); }\n"})

    def test_library_that_prints(self):
        planted = {"history/model/history.c": 'void f(void) { printf("x"); }\n'}
        self.catches("check-text", planted, "history/model/history.c:1: printf()")

    def test_words_for_persons(self):
        for planted, place in (({"README.md": "Rig\n\nA server that no" "body uses, wh" "ose keys are gone.\n"}, "README.md:3"),
                               ({"cli/main.c": '/* the client wh' 'o waits */\n'}, "cli/main.c:1"),
                               ({"base/err.c": 'const char *x = "some' 'body waits";\n'}, "base/err.c:1"),
                               ({"configs/a.yaml": "name: a\n# for wh" "om\n"}, "configs/a.yaml:2")):  # fmt: skip
            status, output = run("check-text", planted)
            self.assertEqual(status, 1, output)
            self.assertIn(place, output)
            self.assertIn("name the thing", output)
        self.passes("check-text", **{"README.md": "The user `no" "body` runs it.\n\n```sh\nid wh" "o\n```\n"})
        self.passes("check-text", **{"base/err.c": 'const char *x = "no' 'body";\nint wh' 'o;\n'})

    def test_words_in_place_of_what_is_meant(self):
        for planted, expected in (({"base/err.h": "/* The lik" "ewise empty one. */\n"}, "base/err.h:1: 'lik" "ewise'"),
                                  ({"docs/a.md": "It ends.\n\nAll b" "ut f" "or one.\n"}, "docs/a.md:3: 'b" "ut f" "or'"),
                                  ({"base/err.c": 'const char *x = "after so m" "any runs";\n'.replace('" "', "")}, "base/err.c:1: 'so m" "any'"),
                                  ({"docs/a.md": "It waits, n" "or does it fail.\n"}, "docs/a.md:1: 'n" "or'"),
                                  ({"tests/cli/test_cli.py": "# tried in v" "ain\n"}, "tests/cli/test_cli.py:1: 'in v" "ain'")):  # fmt: skip
            self.catches("check-text", planted, expected)
        self.passes("check-text", **{"docs/a.md": "So m" "any runs that the disk is full; neither here n" "or there; b" "ut forms `b" "ut f" "or`.\n"})

    def test_comment_that_runs_on(self):
        for comment in ("/* the first, */", "/*   an" "d their number */", "/* the commits,\n * ascending, an" "d */"):
            self.catches("check-text", {"base/err.h": f"int x; {comment}\n"}, "base/err.h:1: a comment that begins or ends in mid-sentence")
        self.passes("check-text", **{"base/err.h": "int x; /* for both, and for all */\nint y; /* android */\n"})

    def test_comment_apart_from_what_it_is_about(self):
        self.catches("check-text", {"base/err.h": "/* The\n * first. */\n/* The second. */\nint x;\n"}, "base/err.h:1: a comment that another one follows")
        self.passes("check-text", **{"base/err.h": "/* ---- both ---- */\n/* The first. */\nint x; /* a count */\n/* Another. */\nint y;\n"})

    def test_sentences_that_do_not_begin_with_their_subject(self):
        for text in ("Wh" "at is held is printed.\n", "It ends. Of these one is kept.\n", "| a | Wh" "at it does. |\n", "- Of two, one\n"):
            self.catches("check-text", {"docs/a.md": text}, "docs/a.md:1: a sentence that begins with")
        self.catches("check-text", {"base/err.c": "int x;\n/*\n * Wh" "at rig did.\n */\n"}, "base/err.c:3")
        self.passes("check-text", **{"docs/a.md": "Wh" "at does it lose? A list\nof keys, and of\nOf course `Wh" "at x` no.\n"})

    def test_comment_that_names_a_file_that_is_gone(self):
        self.catches("check-text", {"base/err.c": "int x;\n/*\n * As in gone.h.\n */\n"}, "base/err.c:3: names gone.h, which")
        self.passes("check-text", **{"base/err.c": "#include <stdio.h>\n/* err.h, history/model/history.h and stdio.h. */\nint gone;\n"})

    def test_blanks_at_the_end_of_a_line(self):
        self.catches("check-text", {"base/err.c": "int x; \n"}, "blanks at the end")

    # check-sentences

    def sentence(self, call):
        return {"checker/explain/say.c": "int directives[] = {{'T', \"i\", say_txn}, {'R', \"ii\", say_read}};\n",
                "checker/explain/a.c": f"void f(void) {{\n    {call};\n}}\n"}  # fmt: skip

    def test_directive_that_is_not_in_the_table(self):
        self.catches("check-sentences", self.sentence('rig_say(h, t, "%X", a)'), "checker/explain/a.c:2: rig_say: unknown directive %X")

    def test_directives_that_do_not_fit_the_arguments(self):
        for call in ('"%T %R", a, b', '"%T" " %R", f(a, b), b, c, d', 'a ? "%T" : "%R", b', '"100%%", a', '"%T"'):
            self.catches("check-sentences", self.sentence(f"rig_say(h, t, {call})"), "a.c:2: rig_say: ", "takes")
        self.catches("check-sentences", self.sentence("rig_say(h, t, format, a)"), "the format is no literal")

    def test_members_that_do_not_fit_the_arguments(self):
        for call in ('rig_json_members(w, "a: %d, b: %s", 1)', 'rig_json_object(w, "x", "a: %d", 1, 2)'):
            self.catches("check-sentences", self.sentence(call), "a.c:2: rig_json_", "takes")
        self.passes("check-sentences", **self.sentence('rig_json_object(w, "x", "a: %d, b: %b", 1, f(2, 3))'))

    def test_arguments_of_another_type(self):
        declared = "#include <stdbool.h>\n#include <stdint.h>\nvoid f(void *w, uint32_t txn, int64_t value, double x, bool is) {\n    CALL;\n}\n"
        for call, fits in (('rig_say(w, w, "%T", txn)', True), ('rig_say(w, w, "%T", value)', False),
                           ('rig_json_members(w, "a: %f, b: %b", x, is)', True), ('rig_json_members(w, "a: %d", x)', False)):  # fmt: skip
            tree = {**CLEAN, **self.sentence("f()"), "checker/explain/a.c": declared.replace("CALL", call)}
            status, output = run("check-sentences", tree, "--compiler", os.environ.get("CC", "cc"))
            self.assertEqual(status, 0 if fits else 1, output)
            self.assertEqual("checker/explain/a.c:4: " in output, not fits, output)

    def test_directives_that_fit_the_arguments(self):
        for call in ('"%T %R", a, b, c', '"%T" ", (%R", f(a, b), b["x, y"], c', 'a ? "%T: ?" : "(%T", b', '"100%%"'):
            self.passes("check-sentences", **self.sentence(f"rig_say(h, t, {call})"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
