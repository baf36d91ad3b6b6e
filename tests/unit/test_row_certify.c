/*
 * Certificates of rows: what agrees decides levels that answers alone leave open; the negative controls are found, each
 * by its name, and proved; and the proofs refuse discrepancies and steps that are not there.
 */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "checker/judge/certify.h"
#include "checker/model/certified.h"
#include "checker/prove/witness/verify_certificate.h"
#include "checker/prove/witness/verify_row_turn.h"
#include "history/source/load.h"

/* T1 and T2 count the rows of class 1, each without the other's: a phantom that only snapshots show. T3 moves all rows
 * to class 2, T4 finds no row of class 1 and deletes one, and T5 reads the rest. */
static const char agreed[] =
    "{'index':0,'type':'invoke','process':0,'f':'txn','value':[['row',0,1010]]}\n"
    "{'index':1,'type':'ok','process':0,'f':'txn','value':[['row',0,1010]],'view':1}\n"
    "{'index':2,'type':'invoke','process':1,'f':'txn','value':[['row',0,-100021],['r',0,null],['row',0,2010]]}\n"
    "{'index':3,'type':'invoke','process':2,'f':'txn','value':[['row',0,-100021],['r',0,null],['row',0,3010]]}\n"
    "{'index':4,'type':'ok','process':1,'f':'txn','value':[['row',0,-100021],['r',0,[1,1010]],['row',0,2010]],'view':2}"
    "\n"
    "{'index':5,'type':'ok','process':2,'f':'txn','value':[['row',0,-100021],['r',0,[1,1010]],['row',0,3010]],'view':3}"
    "\n"
    "{'index':6,'type':'invoke','process':3,'f':'txn','value':[['row',0,-100020],['r',0,null],['row',0,4021]]}\n"
    "{'index':7,'type':'ok','process':3,'f':'txn','value':[['row',0,-100020],['r',0,[1010,1010,2010,2010,3010,3010]],"
    "['row',0,4021]],'view':4}\n"
    "{'index':8,'type':'invoke','process':4,'f':'txn','value':[['row',0,-100020],['r',0,null],['row',0,-100010],"
    "['r',0,null],['row',0,5002]]}\n"
    "{'index':9,'type':'ok','process':4,'f':'txn','value':[['row',0,-100020],['r',0,[]],['row',0,-100010],"
    "['r',0,[1010,4021]],['row',0,5002]],'view':5}\n"
    "{'index':10,'type':'invoke','process':5,'f':'txn','value':[['row',0,-99910],['r',0,null]]}\n"
    "{'index':11,'type':'ok','process':5,'f':'txn','value':[['row',0,-99910],['r',0,[2010,4021,3010,4021]]],'view':6}\n"
    "{'index':12,'type':'info','process':'rig-certificate','value':'commit 1 700 1 0:0:1010,1010'}\n"
    "{'index':13,'type':'info','process':'rig-certificate','value':'commit 2 701 1 0:0:2010,2010'}\n"
    "{'index':14,'type':'info','process':'rig-certificate','value':'commit 3 702 1 0:0:3010,3010'}\n"
    "{'index':15,'type':'info','process':'rig-certificate','value':'commit 4 703 1 0:0:1010,4021 0:0:2010,4021 "
    "0:0:3010,4021'}\n"
    "{'index':16,'type':'info','process':'rig-certificate','value':'commit 5 704 1 0:0:1010,0'}\n"
    "{'index':17,'type':'info','process':'rig-certificate','value':'view 1 700 single 0:700:700:700:'}\n"
    "{'index':18,'type':'info','process':'rig-certificate','value':'view 2 701 single 1:0:701:701: 2:701:='}\n"
    "{'index':19,'type':'info','process':'rig-certificate','value':'view 3 702 single 1:0:701:702:701 2:702:='}\n"
    "{'index':20,'type':'info','process':'rig-certificate','value':'view 4 703 single 1:0:703:703: 2:703:='}\n"
    "{'index':21,'type':'info','process':'rig-certificate','value':'view 5 704 single 1:0:704:704: 3:703:='}\n"
    "{'index':22,'type':'info','process':'rig-certificate','value':'view 6 0 single 1:703:705:705: 1:703:='}\n"
    "{'index':23,'type':'info','process':'rig-certificate','value':'end complete 5 6 test|'}\n";

/* T1 inserts a row of class 1 and removes it again, and T0 does not see it; T1 misses T0's row: no cycle. */
static const char removed_again[] =
    "{'index':0,'type':'invoke','process':0,'f':'txn','value':[['row',0,-100020],['r',0,null],['row',0,2020]]}\n"
    "{'index':1,'type':'invoke','process':1,'f':'txn','value':[['row',0,-200020],['r',0,null],['row',0,1010],"
    "['row',0,-100020],['r',0,null],['row',0,3002]]}\n"
    "{'index':2,'type':'ok','process':0,'f':'txn','value':[['row',0,-100020],['r',0,[]],['row',0,2020]],'view':1}\n"
    "{'index':3,'type':'ok','process':1,'f':'txn','value':[['row',0,-200020],['r',0,[]],['row',0,1010],"
    "['row',0,-100020],['r',0,[1010,1010]],['row',0,3002]],'view':2}\n"
    "{'index':4,'type':'info','process':'rig-certificate','value':'commit 1 700 1 0:0:2020,2020'}\n"
    "{'index':5,'type':'info','process':'rig-certificate','value':'commit 2 701 1 0:0:1010,1010 0:1:0'}\n"
    "{'index':6,'type':'info','process':'rig-certificate','value':'view 1 700 single 1:0:700:700: 2:700:='}\n"
    "{'index':7,'type':'info','process':'rig-certificate','value':'view 2 701 single 1:0:700:701:700 2:701:= "
    "4:701:='}\n"
    "{'index':8,'type':'info','process':'rig-certificate','value':'end complete 2 2 test|'}\n";

/* The history under test. */
static const char *given = agreed;

/* The certificate of `agreed` is changed first: this becomes that. */
static const char *changed = "", *into = "";

static void replace(char text[static 2 * sizeof agreed], const char *after, const char *from, const char *to)
{
    char copy[2 * sizeof agreed];
    (void)snprintf(copy, sizeof copy, "%s", text);
    const char *begin = strstr(copy, after);
    const char *at = begin == NULL ? NULL : strstr(begin, from);
    if (at == NULL)
        fail_msg("no %s behind %s", from, after);
    (void)snprintf(text, sizeof copy, "%.*s%s%s", (int)(at - copy), copy, to, at + strlen(from));
}

/* The history, with the first `from` behind `after` replaced by `to`. */
static struct rig_history *load(const char *after, const char *from, const char *to)
{
    char text[2 * sizeof agreed];
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    (void)snprintf(text, sizeof text, "%s", given);
    replace(text, "", changed, into);
    replace(text, after, from, to);
    for (char *p = text; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    const struct rig_load_options options = {.workload = RIG_WORKLOAD_PREDICATE, .workload_given = true};
    if (rig_history_parse("test", text, strlen(text), &options, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

struct certified {
    struct rig_history *whole;
    struct rig_verdict *verdict;
};

static struct certified certify(const char *after, const char *from, const char *to)
{
    struct certified of = {.whole = load(after, from, to)};
    struct rig_err err = {0};
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)};
    if (rig_check(of.whole, &options, &of.verdict, &err) != RIG_OK ||
        rig_certify(load(after, from, to), &options, of.verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return of;
}

static void release(struct certified *of)
{
    rig_verdict_free(of->verdict);
    rig_history_free(of->whole);
}

static void snapshots_decide_what_counts_leave_open(void **state)
{
    (void)state;
    struct certified of = certify("", "", "");
    const struct rig_certified *certified = of.verdict->certified;
    assert_true(certified->agrees && certified->decides && certified->complete);
    assert_int_equal(certified->inferred[RIG_LEVEL_SERIALIZABLE], RIG_FATE_NOT_REFUTED);
    assert_int_equal(of.verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    assert_int_equal(of.verdict->levels[RIG_LEVEL_REPEATABLE_READ].fate, RIG_FATE_HELD);
    assert_int_equal(of.verdict->levels[RIG_LEVEL_SNAPSHOT_ISOLATION].fate, RIG_FATE_HELD);
    assert_int_equal(certified->by_snapshots, RIG_FATE_HELD);
    assert_int_equal(of.verdict->valid, RIG_VALID_FALSE);
    /* T0, T1 to T3 twice each by items, T4 twice, T5. */
    assert_int_equal(certified->reads_compared, 6);
    assert_int_equal(certified->verdict->findings[RIG_ANOMALY_G2_PREDICATE].count, 1);
    release(&of);
}

static void rows_that_a_transaction_removes_again_change_nothing(void **state)
{
    (void)state;
    given = removed_again;
    struct certified of = certify("", "", "");
    assert_true(of.verdict->certified->agrees && of.verdict->certified->decides);
    assert_int_equal(of.verdict->certified->reads_compared, 3);
    assert_int_equal(of.verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate, RIG_FATE_HELD);
    release(&of);
    given = agreed;
}

static void reads_on_standbys_are_not_compared(void **state)
{
    (void)state;
    struct certified of = certify("'index':22", "view 6 0 single", "view 6 0 single,standby");
    assert_true(of.verdict->certified->agrees);
    assert_int_equal(of.verdict->certified->standby_reads, 1);
    assert_int_equal(of.verdict->certified->reads_compared, 5);
    assert_int_not_equal(of.verdict->certified->by_snapshots, RIG_FATE_HELD);
    release(&of);
    /* Not even where the standby shows a row too few. */
    changed = "view 6 0 single";
    into = "view 6 0 single,standby";
    of = certify("'index':11", "2010,4021,3010,4021", "3010,4021");
    assert_int_equal(of.verdict->certified->standby_reads, 1);
    assert_int_not_equal(of.verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_HELD);
    changed = into = "";
    release(&of);
}

static void steps_that_are_not_there_are_refused(void **state)
{
    (void)state;
    struct certified of = certify("", "", "");
    const struct rig_verdict *verdict = of.verdict->certified->verdict;
    const struct rig_witness *witness = verdict->findings[RIG_ANOMALY_G2_PREDICATE].witnesses;
    assert_int_equal(witness->step_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct rig_step *step = &witness->steps[i];
        assert_true(step->by_predicate && step->by_snapshot);
        assert_null(rig_verify_row_turn(verdict->history, step));
        assert_non_null(strstr(step->text, "with a snapshot that does not show"));
        struct rig_step wrong[8];
        for (unsigned j = 0; j < 8; j++)
            wrong[j] = *step;
        wrong[7].by_predicate = false; /* an item */
        wrong[0].from_value = 1010;    /* a row that the snapshot shows */
        wrong[1].to_value = 4021;      /* another statement */
        wrong[2].to = 3;               /* another transaction */
        wrong[3].from_op = 2;          /* no read */
        wrong[4].to_op = 0;            /* a condition */
        wrong[5].kind = RIG_EDGE_WR;   /* the other way */
        wrong[5].from = step->to, wrong[5].to = step->from, wrong[5].from_op = step->to_op,
        wrong[5].to_op = step->from_op;
        wrong[5].from_value = step->to_value, wrong[5].to_value = step->from_value;
        wrong[6].from = 0; /* a transaction without reads */
        for (unsigned j = 0; j < 8; j++) {
            if (rig_verify_row_turn(verdict->history, &wrong[j]) == NULL)
                fail_msg("wrong step %u of step %u was proved", j, i);
        }
    }
    release(&of);
}

static const struct control {
    const char *after, *from, *to;
    enum rig_discrepancy_kind kind;
} controls[] = {
    {"'index':4", "[1,1010]", "[2,1010]", RIG_DISCREPANCY_SNAPSHOT_MISMATCH},                /* a count */
    {"'index':5", "[1,1010]", "[1,1011]", RIG_DISCREPANCY_SNAPSHOT_MISMATCH},                /* a sum */
    {"'index':11", "2010,4021,", "", RIG_DISCREPANCY_SNAPSHOT_MISMATCH},                     /* a row removed */
    {"'index':11", "2010,4021,", "1010,4021,2010,4021,", RIG_DISCREPANCY_SNAPSHOT_MISMATCH}, /* a deleted row */
    {"'index':9", "[]", "[2010,2010]", RIG_DISCREPANCY_SNAPSHOT_MISMATCH},                   /* an old version */
    {"'index':11", "2010,4021", "2010,6021", RIG_DISCREPANCY_CERTIFICATE_MISMATCH}, /* a version of no statement */
    {"'index':7", "2010,2010,", "", RIG_DISCREPANCY_TORN_COMMIT},                   /* a row of an update */
    {"'index':9", "[1010,4021]", "[1010,1010]", RIG_DISCREPANCY_TORN_COMMIT},       /* deleted at another version */
    {"'index':9", "[1010,4021]", "[]", RIG_DISCREPANCY_SNAPSHOT_MISMATCH},          /* a delete without its row */
    {"'index':13", "2010,2010", "2010,9010", RIG_DISCREPANCY_LOST_COMMIT},          /* another version in the stream */
    {"'index':15", " 0:0:2010,4021", "", RIG_DISCREPANCY_TORN_COMMIT},              /* a change dropped */
    {"'index':16", "1010,0", "2010,0", RIG_DISCREPANCY_LOST_COMMIT},                /* another row removed */
    {"'index':5", "'ok'", "'fail'", RIG_DISCREPANCY_RESURRECTED_ABORT},             /* a failed one */
    {"'index':9", "'ok'", "'fail'", RIG_DISCREPANCY_RESURRECTED_ABORT},             /* a failed one that deletes */
    {"'index':21", "704:704:", "703:704:703", RIG_DISCREPANCY_MISSED_COMMIT},       /* an aged snapshot */
    {"'index':22", "705:705:", "704:705:704", RIG_DISCREPANCY_MISSED_COMMIT},       /* of a commit that deletes */
    {"'index':20", "703:703:", "702:703:702", RIG_DISCREPANCY_SNAPSHOT_MISMATCH},   /* of an update */
    {"'index':22", "1:703:705:705:", "1:702:705:705:", RIG_DISCREPANCY_VERSION_MISMATCH}, /* xmin */
    {"'index':22", "1:703:=", "1:17:=", RIG_DISCREPANCY_UNKNOWN_VERSION},
    {"'index':21", "3:703:=", "3:701:=", RIG_DISCREPANCY_VERSION_MISMATCH}, /* xmin of a deleted row */
    {"'index':21", "view 5 704", "view 5 709", RIG_DISCREPANCY_NUMBER_MISMATCH},
    {"'index':21", "3:703:=", "3:703:703:704:703", RIG_DISCREPANCY_UNSTEADY_SNAPSHOT},
    {"'index':22", "705:705:", "700:705:700", RIG_DISCREPANCY_SNAPSHOT_FORK},
};

static void each_control_is_found_and_proved(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        const struct control *control = &controls[i];
        struct certified of = certify(control->after, control->from, control->to);
        const struct rig_certified *certified = of.verdict->certified;
        if (certified->counts[control->kind] == 0 || certified->agrees || of.verdict->valid != RIG_VALID_FALSE)
            fail_msg("control %zu: no %s", i, rig_discrepancy_infos[control->kind].name);
        assert_non_null(strstr(certified->kept[control->kind][0].text, "Suspect"));
        release(&of);
    }
}

/* No discrepancy of any kind, about any operation, commit, row and snapshot, is proved of a history that agrees. */
static void discrepancies_that_are_not_there_are_refused(void **state)
{
    (void)state;
    struct rig_history *history = load("", "", "");
    static const int64_t rows[] = {0, 1010, 2010, 3010};
    for (unsigned kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++) {
        struct rig_discrepancy found = {.kind = (enum rig_discrepancy_kind)kind, .other_snapshot = 1};
        for (found.txn = 0; found.txn < history->txn_count; found.txn++) {
            for (found.op = 0; found.op < rig_txn_op_count(history, found.txn); found.op++) {
                for (unsigned j = 0; j < 4 * 6 * 6; j++) {
                    found.row = rows[j % 4];
                    found.commit = j / 4 % 6 == 5 ? UINT32_MAX : j / 4 % 6;
                    found.snapshot = j / 24;
                    found.other_commit = found.commit == 0 ? 1 : 0;
                    if (rig_verify_discrepancy(history, &found) == NULL)
                        fail_msg("%s of T%u, operation %u, row %lld was proved", rig_discrepancy_infos[kind].name,
                                 found.txn, found.op, (long long)found.row);
                }
            }
        }
    }
    rig_history_free(history);
}

/* Without an answer the commit resolves it: its one insert is there, or is not. */
static void commits_resolve_unknown_outcomes(void **state)
{
    (void)state;
    struct certified of = certify("'index':1,", "'ok'", "'info'");
    assert_true(of.verdict->certified->agrees && of.verdict->certified->decides);
    assert_int_equal(of.verdict->certified->resolved_ok, 1);
    release(&of);
    of = certify("'index':4,", "'ok','process':1,'f':'txn','value':[['row',0,-100021],['r',0,[1,1010]]",
                 "'info','process':1,'f':'txn','value':[['row',0,-100021],['r',0,null]");
    assert_true(of.verdict->certified->agrees && of.verdict->certified->decides);
    /* Its read is not known, so that the phantom cannot be shown. */
    assert_int_not_equal(of.verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_REFUTED);
    release(&of);
    /* An update whose rows no answer shows: the commit has them. */
    of = certify("'index':7,",
                 "'ok','process':3,'f':'txn','value':[['row',0,-100020],['r',0,[1010,1010,2010,2010,3010,3010]]",
                 "'info','process':3,'f':'txn','value':[['row',0,-100020],['r',0,null]");
    assert_true(of.verdict->certified->agrees && of.verdict->certified->decides);
    assert_int_equal(of.verdict->certified->recovered, 1);
    assert_int_equal(of.verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_REFUTED); /* by the others */
    release(&of);
    /* And one that ends early. */
    of = certify("", "end complete", "end -");
    assert_true(of.verdict->certified->agrees && !of.verdict->certified->decides);
    assert_non_null(strstr(of.verdict->certified->unjudged, "not complete"));
    release(&of);
}

#define DELETED       "'commit 5 704 1 0:0:1010,0'"
#define MARKED        "'commit 5 704 1 0:0:5002,5002 0:0:1010,0'"
#define ANSWERED(how) how "','process':4,'f':'txn','value':[['row',0,-100020],['r',0,"
#define DELETES       "['row',0,-100010],['r',0,[1010,4021]]"
#define UNANSWERED    "['row',0,-100010],['r',0,null]"

static unsigned first_discrepancy(const struct certified *of)
{
    unsigned kind = 0;
    while (kind < RIG_DISCREPANCY_COUNT && of->verdict->certified->counts[kind] == 0)
        kind++;
    return kind;
}

static void marks_name_deletes(void **state)
{
    (void)state;
    /* Without an answer to the delete, and without its mark, nothing is decided. */
    struct certified of = certify("'index':9", ANSWERED("'ok") "[]]," DELETES, ANSWERED("'info") "[]]," UNANSWERED);
    assert_true(of.verdict->certified->agrees && !of.verdict->certified->decides);
    release(&of);
    changed = DELETED, into = MARKED;
    of = certify("", "", "");
    assert_true(of.verdict->certified->agrees && of.verdict->certified->decides);
    assert_int_equal(of.verdict->levels[RIG_LEVEL_SNAPSHOT_ISOLATION].fate, RIG_FATE_HELD);
    release(&of);
    of = certify("'index':9", ANSWERED("'ok") "[]]," DELETES, ANSWERED("'info") "null]," UNANSWERED);
    assert_true(of.verdict->certified->agrees && of.verdict->certified->decides);
    assert_int_equal(of.verdict->certified->resolved_ok, 1);
    assert_int_equal(of.verdict->certified->open_count, 0);
    assert_int_equal(of.verdict->certified->recovered, 1);
    release(&of);
    /* A transaction that failed is in the stream: its delete left a mark, and its answer is gone. */
    of = certify("'index':9", ANSWERED("'ok") "[]]," DELETES, ANSWERED("'fail") "null]," UNANSWERED);
    assert_int_equal(first_discrepancy(&of), RIG_DISCREPANCY_RESURRECTED_ABORT);
    release(&of);
    /* The row that the commit removed does not meet the condition of the delete. */
    into = "'commit 5 704 1 0:0:5002,5002 0:0:2010,0'";
    of = certify("'index':9", ANSWERED("'ok") "[]]," DELETES, ANSWERED("'info") "null]," UNANSWERED);
    assert_int_equal(first_discrepancy(&of), RIG_DISCREPANCY_TORN_COMMIT);
    release(&of);
    /* The mark is in another transaction's commit; and one that no client's delete has. */
    changed = "'commit 4 703 1", into = "'commit 4 703 1 0:0:5002,5002";
    of = certify("", "", "");
    assert_int_equal(first_discrepancy(&of), RIG_DISCREPANCY_TORN_COMMIT);
    release(&of);
    changed = DELETED, into = "'commit 5 704 1 0:0:5002,5002 0:0:7002,7002 0:0:1010,0'";
    of = certify("", "", "");
    assert_int_equal(first_discrepancy(&of), RIG_DISCREPANCY_TORN_COMMIT);
    release(&of);
    /* A commit of such a mark alone. */
    changed = DELETED, into = "'commit 5 704 1 0:0:7002,7002'";
    of = certify("", "", "");
    assert_int_equal(of.verdict->certified->foreign_count, 1);
    assert_false(of.verdict->certified->agrees);
    release(&of);
    changed = into = "";
}

static void other_certificates_are_refused(void **state)
{
    (void)state;
    static const char *const changes[] = {"0:0:2010", "0:0:2010,2010,1", "0:-", "0:1:"};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct rig_history *whole = load("'index':13", "0:0:2010,2010", changes[i]);
        struct rig_verdict *verdict = NULL;
        struct rig_err err = {0};
        const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)};
        assert_int_equal(rig_check(whole, &options, &verdict, &err), RIG_OK);
        assert_int_equal(rig_certify(load("'index':13", "0:0:2010,2010", changes[i]), &options, verdict, &err),
                         RIG_E_INPUT);
        assert_non_null(strstr(err.text, "commit 2 has a change that is not a row's id and version"));
        rig_verdict_free(verdict);
        rig_history_free(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_decide_what_counts_leave_open),
        cmocka_unit_test(rows_that_a_transaction_removes_again_change_nothing),
        cmocka_unit_test(reads_on_standbys_are_not_compared),
        cmocka_unit_test(steps_that_are_not_there_are_refused),
        cmocka_unit_test(each_control_is_found_and_proved),
        cmocka_unit_test(discrepancies_that_are_not_there_are_refused),
        cmocka_unit_test(commits_resolve_unknown_outcomes),
        cmocka_unit_test(marks_name_deletes),
        cmocka_unit_test(other_certificates_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
