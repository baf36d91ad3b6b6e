/*
 * Certificates: what agrees, and the negative controls, each found and proved. A certificate is written as commits
 * separated by ';', each "PLACE: KEY=VERSION KEY=VERSION", where a version is all elements of the list. Transactions
 * are named in the notation of tests/oracle/small_history.h.
 */
#include "tests/unit/given_history.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "checker/evidence/claims.h"
#include "checker/judge/certify.h"
#include "checker/judge/known_issues.h"
#include "checker/model/certified.h"
#include "history/model/history_order.h"
#include "history/record/record_writer.h"
#include "history/source/load.h"
#include "history/source/source.h"
#include "report/report.h"

/* "12: x=1,2 y=3; 13: x=1,2,4": x to w are the keys 0 to 3; "x=-" removes it. "last;" at the beginning: last versions
 * only. "/13;": timeline 1 ended at 13, and the commits that follow were lost. */
static void read_certificate(const char *text, struct rig_certificate *certificate)
{
    static const char names[] = "xyzw";
    struct rig_certificate_builder builder;
    rig_certificate_init(certificate);
    rig_certificate_builder_init(&builder, certificate);
    certificate->last_only = strncmp(text, "last;", 5) == 0;
    for (const char *at = text + (certificate->last_only ? 5 : 0); *at != '\0';) {
        char *next;
        if (*at == '/') {
            assert_true(rig_certificate_add_fork(certificate, 1, strtoul(at + 1, &next, 10), 2));
            rig_certificate_builder_done(&builder);
            rig_certificate_builder_init(&builder, rig_certificate_make_lost(certificate));
            at = next + strspn(next, "; ");
            continue;
        }
        const unsigned long place = strtoul(at, &next, 10);
        assert_true(rig_certificate_add_commit(&builder, place, 700 + place, 1));
        for (at = next + 1; *at != ';' && *at != '\0'; at += *at == ' ') {
            int64_t elements[16];
            uint32_t count = 0;
            while (*at == ' ')
                at++;
            const int64_t key = strchr(names, *at) - names;
            const bool removed = at[2] == '-';
            for (at += 1; !removed && (*at == '=' || *at == ','); at = next)
                elements[count++] = strtol(at + 1, &next, 10);
            at += removed ? 2 : 0;
            assert_true(rig_certificate_add_version(&builder, key, removed ? NULL : elements, count));
        }
        at += strspn(at, "; ");
    }
    rig_certificate_builder_done(&builder);
    (void)snprintf(certificate->source, sizeof certificate->source, "test");
}

static struct rig_history *with_certificate(struct rig_history *history, const char *text, bool complete)
{
    struct rig_history_storage *storage = history->storage;
    read_certificate(text, &storage->certificate);
    storage->certificate.complete = complete;
    history->certificate = &storage->certificate;
    return history;
}

/* The verdict with its certificate; free it, then `whole`. */
static struct rig_verdict *certify(struct rig_history *history, struct rig_history *whole)
{
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    const struct rig_check_options options = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_READ_UNCOMMITTED)};
    if (rig_check(whole, &options, &verdict, &err) != RIG_OK || rig_certify(history, &options, verdict, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return verdict;
}

static const char agreed[] = "ok 0 0-1: ax1; ok 1 2-3: rx[1] ax2 ay1; fail 2 4-5: ax9; ok 3 6-7: rx[1 2] ry[1]";

/* The discrepancy that the certificate shows for the history, or RIG_DISCREPANCY_COUNT where both agree. */
static unsigned shown_by(const char *notation, const char *certificate, bool complete)
{
    struct rig_history *whole = given(notation);
    struct rig_verdict *verdict = certify(with_certificate(given(notation), certificate, complete), whole);
    const struct rig_certified *certified = verdict->certified;
    unsigned found = RIG_DISCREPANCY_COUNT, count = 0;
    for (unsigned kind = 0; kind < RIG_DISCREPANCY_COUNT; kind++) {
        if (certified->counts[kind] == 0)
            continue;
        found = kind;
        count++;
        assert_non_null(certified->kept[kind][0].text);
        assert_non_null(strstr(certified->kept[kind][0].text, "Suspect"));
    }
    assert_int_equal(certified->agrees, count == 0 && certified->foreign_count == 0);
    assert_int_equal(verdict->valid == RIG_VALID_FALSE, !certified->agrees);
    if (count > 1) /* the most severe one */
        for (found = 0; certified->counts[found] == 0; found++)
            ;
    rig_verdict_free(verdict);
    rig_history_free(whole);
    return found;
}

static void a_right_certificate_agrees(void **state)
{
    (void)state;
    assert_int_equal(shown_by(agreed, "1: x=1; 5: x=1,2 y=1", true), RIG_DISCREPANCY_COUNT);
    assert_int_equal(shown_by(agreed, "1: x=1; 5: x=1,2 y=1", false), RIG_DISCREPANCY_COUNT);
    /* One that ends earlier claims nothing about the rest. */
    assert_int_equal(shown_by(agreed, "1: x=1", false), RIG_DISCREPANCY_COUNT);
    assert_int_equal(shown_by(agreed, "", false), RIG_DISCREPANCY_COUNT);
}

static void commits_that_a_failover_lost_are_named(void **state)
{
    (void)state;
    static const char kept[] = "1: x=1; 5: x=1,2 y=1", lost[] = "1: x=1; /3; 5: x=1,2 y=1";
    char text[64];
    /* Also where the certificate is not complete: the commit itself proves it. */
    assert_int_equal(shown_by(agreed, lost, true), RIG_DISCREPANCY_LOST_COMMIT);
    assert_int_equal(shown_by(agreed, lost, false), RIG_DISCREPANCY_LOST_COMMIT);
    /* A failover that lost nothing of the run, and one that lost what no client wrote. */
    (void)snprintf(text, sizeof text, "%s; /6;", kept);
    assert_int_equal(shown_by(agreed, text, true), RIG_DISCREPANCY_COUNT);
    (void)snprintf(text, sizeof text, "%s; /6; 7: x=1,2,77", kept);
    assert_int_equal(shown_by(agreed, text, true), RIG_DISCREPANCY_COUNT);
    /* A failed transaction that committed, and was lost then. */
    (void)snprintf(text, sizeof text, "%s; /6; 7: x=1,2,9", kept);
    assert_int_equal(shown_by(agreed, text, true), RIG_DISCREPANCY_RESURRECTED_ABORT);
    struct rig_history *whole = given(agreed);
    struct rig_verdict *verdict = certify(with_certificate(given(agreed), lost, true), whole);
    const struct rig_discrepancy *found = &verdict->certified->kept[RIG_DISCREPANCY_LOST_COMMIT][0];
    assert_int_equal(verdict->certified->counts[RIG_DISCREPANCY_LOST_COMMIT], 1);
    assert_non_null(strstr(found->text,
                           "the commit at 0/5 on timeline 1 (transaction 705 of the database) has this write, "
                           "and a failover lost it: timeline 2 began at 0/3 on timeline 1"));
    rig_verdict_free(verdict);
    rig_history_free(whole);
}

static void negative_controls_are_caught(void **state)
{
    (void)state;
    /* A commit dropped from the stream, at its end and in between. */
    assert_int_equal(shown_by(agreed, "1: x=1", true), RIG_DISCREPANCY_LOST_COMMIT);
    assert_int_equal(shown_by(agreed, "5: x=2 y=1", true), RIG_DISCREPANCY_LOST_COMMIT);
    assert_int_equal(shown_by("ok 0 0-1: ax1", "", true), RIG_DISCREPANCY_LOST_COMMIT);
    /* An aborted transaction inserted. */
    assert_int_equal(shown_by(agreed, "1: x=1; 5: x=1,2 y=1; 6: x=1,2,9", true), RIG_DISCREPANCY_RESURRECTED_ABORT);
    assert_int_equal(shown_by(agreed, "1: x=1; 5: x=1,2 y=1; 6: x=1,2,9", false), RIG_DISCREPANCY_RESURRECTED_ABORT);
    /* The order of two commits swapped. */
    assert_int_equal(shown_by(agreed, "1: x=2 y=1; 5: x=2,1", true), RIG_DISCREPANCY_CERTIFICATE_MISMATCH);
    /* A value changed. */
    assert_int_equal(shown_by(agreed, "1: x=1; 5: x=1,3 y=1", true), RIG_DISCREPANCY_TORN_COMMIT);
    assert_int_equal(shown_by(agreed, "1: x=7; 5: x=7,2 y=1", true), RIG_DISCREPANCY_LOST_COMMIT);
    /* A change dropped from a commit, and one moved to another commit. */
    assert_int_equal(shown_by(agreed, "1: x=1; 5: x=1,2", true), RIG_DISCREPANCY_TORN_COMMIT);
    assert_int_equal(shown_by(agreed, "1: x=1; 5: x=1,2; 6: y=1", true), RIG_DISCREPANCY_TORN_COMMIT);
    /* The order within a commit swapped. */
    assert_int_equal(shown_by(agreed, "1: x=1; 5: y=1 x=1,2", true), RIG_DISCREPANCY_TORN_COMMIT);
    /* A version that does not build on the one before it, and a key that was removed. */
    assert_int_equal(shown_by("ok 0 0-1: ax1; ok 1 2-3: ax2", "1: x=1; 5: x=2", true), RIG_DISCREPANCY_TORN_COMMIT);
    assert_int_equal(shown_by("ok 0 0-1: ax1; ok 1 2-3: ax2", "1: x=1; 5: x=- x=2", true), RIG_DISCREPANCY_TORN_COMMIT);
    /* A read of a value that never committed. */
    assert_int_equal(shown_by("ok 0 0-1: ax1; fail 1 2-3: ax2; ok 2 4-5: rx[1 2]", "1: x=1", true),
                     RIG_DISCREPANCY_CERTIFICATE_MISMATCH);
    /* A commit that no client made. */
    assert_int_equal(shown_by(agreed, "1: x=1; 5: x=1,2 y=1; 7: z=5", true), RIG_DISCREPANCY_COUNT);
}

static void check_resolved(const char *notation, const char *certificate, bool complete, uint64_t ok, uint64_t fail,
                           uint64_t open)
{
    struct rig_history *whole = given(notation);
    struct rig_verdict *verdict = certify(with_certificate(given(notation), certificate, complete), whole);
    assert_int_equal(verdict->certified->resolved_ok, ok);
    assert_int_equal(verdict->certified->resolved_fail, fail);
    assert_int_equal(verdict->certified->open_count, open);
    rig_verdict_free(verdict);
    rig_history_free(whole);
}

/* Only transactions that write count, and absence proves nothing while the certificate may go on. */
static void unknown_outcomes_are_resolved_by_content(void **state)
{
    (void)state;
    static const char unknown[] = "ok 0 0-1: ax1; info 1 2-3: ax2; info 2 2-: ax3; info 3 3-4: rx?";
    check_resolved(unknown, "1: x=1; 5: x=1,2", true, 1, 1, 0);
    check_resolved(unknown, "1: x=1; 5: x=1,2", false, 1, 0, 1);
    check_resolved(unknown, "1: x=1; 5: x=1,3; 6: x=1,3,2", true, 2, 0, 0);
    check_resolved("info 0 0-1: ax1 ay1", "1: x=1", true, 0, 0, 1); /* torn: neither */
}

static enum rig_fate certified_fate(const char *notation, const char *certificate, enum rig_level level)
{
    struct rig_history *whole = given(notation);
    struct rig_verdict *verdict = certify(with_certificate(given(notation), certificate, true), whole);
    assert_true(verdict->certified->agrees && verdict->certified->verdict != NULL);
    const enum rig_fate fate = verdict->levels[level].fate;
    rig_verdict_free(verdict);
    rig_history_free(whole);
    return fate;
}

/* Two write skews of unread appends: the order in the stream makes one a cycle of writes. */
static void versions_that_no_read_shows_are_ordered(void **state)
{
    (void)state;
    static const char unread[] = "ok 0 0-10: ax1 ay1; ok 1 0-11: ax2 ay2";
    assert_int_equal(certified_fate(unread, "1: x=1 y=1; 2: x=1,2 y=1,2", RIG_LEVEL_SERIALIZABLE), RIG_FATE_HELD);
    /* Commits are atomic in the stream, but their keys need not agree in order: then each overwrote the other. */
    static const char read[] = "ok 0 0-10: ax1; ok 1 0-11: rx[1] ay1; ok 2 12-13: ax2 ry[]; ok 3 14-15: rx[1 2] ry[1]";
    assert_int_equal(certified_fate(read, "1: x=1; 2: y=1; 3: x=1,2", RIG_LEVEL_SERIALIZABLE), RIG_FATE_REFUTED);
}

/* Where no read shows anything, each order explains the history, and the one of the stream contradicts none. */
static void an_order_that_no_read_shows_is_no_contradiction(void **state)
{
    (void)state;
    static const char blind[] = "ok 0 0-1: ax1; ok 1 2-3: ax2", backwards[] = "1: x=2; 2: x=2,1";
    struct rig_history *whole = given(blind);
    struct rig_verdict *verdict = certify(with_certificate(given(blind), backwards, true), whole);
    assert_true(verdict->certified->agrees);
    assert_int_equal(verdict->certified->inferred[RIG_LEVEL_STRICT_SERIALIZABLE], RIG_FATE_HELD);
    assert_int_equal(verdict->levels[RIG_LEVEL_STRONG_READ_UNCOMMITTED].fate, RIG_FATE_REFUTED);
    assert_int_equal(verdict->valid, RIG_VALID_TRUE); /* read uncommitted was requested */
    rig_verdict_free(verdict);
    rig_history_free(whole);
}

/* ---- registers ---- */

static struct rig_history *registers(const char *lines)
{
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    const struct rig_load_options options = {.workload_given = true, .workload = RIG_WORKLOAD_RW_REGISTER};
    if (rig_history_parse("registers", lines, strlen(lines), &options, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

#define REGISTER_LINES(last)                                                                                           \
    "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",0,1],[\"w\",1,1]]}\n"                                            \
    "{\"type\":\"ok\",\"process\":1,\"value\":[[\"w\",0,2],[\"r\",0,2],[\"w\",1,2]]}\n"                                \
    "{\"type\":\"ok\",\"process\":2,\"value\":[[\"r\",0,1],[\"r\",1," last "]]}\n"

/* Reads alone leave the order of 1 and 2 open. */
static void registers_are_decided_without_assumptions(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *certificate;
        enum rig_fate inferred, certified;
    } cases[] = {
        {REGISTER_LINES("1"), "1: x=1 y=1; 2: x=2 y=2", RIG_FATE_HELD, RIG_FATE_HELD},
        {REGISTER_LINES("2"), "1: x=1 y=1; 2: x=2 y=2", RIG_FATE_REFUTED, RIG_FATE_REFUTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_history *whole = registers(cases[i].lines);
        struct rig_verdict *verdict =
            certify(with_certificate(registers(cases[i].lines), cases[i].certificate, true), whole);
        assert_true(verdict->certified->agrees && verdict->certified->decides);
        assert_int_equal(verdict->certified->inferred[RIG_LEVEL_SERIALIZABLE], cases[i].inferred);
        assert_int_equal(verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, cases[i].certified);
        rig_verdict_free(verdict);
        rig_history_free(whole);
    }
}

/* A read of a value that is not in the stream, and a stream that may go on. */
static void registers_are_not_decided_by_less(void **state)
{
    (void)state;
    struct rig_history *whole = registers(REGISTER_LINES("2"));
    struct rig_verdict *verdict = certify(with_certificate(registers(REGISTER_LINES("2")), "1: x=1 y=1", false), whole);
    assert_true(verdict->certified->agrees && !verdict->certified->decides && verdict->certified->unjudged != NULL);
    rig_verdict_free(verdict);
    verdict = certify(with_certificate(registers(REGISTER_LINES("2")), "1: x=1 y=1; 2: x=2 y=3", true), whole);
    assert_true(verdict->certified->counts[RIG_DISCREPANCY_CERTIFICATE_MISMATCH] == 1);
    assert_true(verdict->certified->counts[RIG_DISCREPANCY_TORN_COMMIT] == 1);
    rig_verdict_free(verdict);
    rig_history_free(whole);
}

/* A value that no transaction and no commit wrote is in no chain: as a list its read would show no row, but there was
 * one. */
static void initial_values_of_registers_are_not_certified(void **state)
{
    (void)state;
    static const char lines[] = "{\"type\":\"ok\",\"process\":0,\"value\":[[\"r\",0,7],[\"r\",1,8],[\"w\",1,1]]}\n"
                                "{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",1,8],[\"r\",0,7],[\"w\",0,1]]}\n";
    for (unsigned complete = 0; complete < 2; complete++) {
        struct rig_history *whole = registers(lines);
        struct rig_verdict *verdict = certify(with_certificate(registers(lines), "1: y=1; 2: x=1", complete), whole);
        assert_false(verdict->certified->decides);
        assert_int_equal(verdict->levels[RIG_LEVEL_REPEATABLE_READ].fate, RIG_FATE_REFUTED);
        rig_verdict_free(verdict);
        rig_history_free(whole);
    }
}

/* ---- last versions only ---- */

/* The order of keys does not matter then, nor that a value is missing which its transaction replaced. */
static void last_versions_agree(void **state)
{
    (void)state;
    static const char lists[] = "ok 0 0-1: ax1 ay1 ax2; ok 1 2-3: rx[1 2] ax3 rx[1 2 3]";
    assert_int_equal(shown_by(lists, "last;1: y=1 x=1,2; 2: x=1,2,3", true), RIG_DISCREPANCY_COUNT);
    assert_int_equal(shown_by(lists, "last;1: x=1,2 y=1; 2: x=1,2,3", true), RIG_DISCREPANCY_COUNT);
    assert_int_equal(shown_by(lists, "last;1: x=1,2; 2: x=1,2,3", true), RIG_DISCREPANCY_TORN_COMMIT);
    assert_int_equal(shown_by(lists, "last;1: x=1,2 y=1 z=1; 2: x=1,2,3", true), RIG_DISCREPANCY_TORN_COMMIT);
    assert_int_equal(shown_by(lists, "last;1: x=1 y=1; 2: x=1,3", true), RIG_DISCREPANCY_TORN_COMMIT);
    assert_int_equal(shown_by("ok 0 0-1: ax1 ax2", "last;1: x=2,1", true), RIG_DISCREPANCY_TORN_COMMIT);
}

#define LAST_LINES(first, last)                                                                                        \
    "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",0,1],[\"r\",0," first "],[\"w\",0,2],[\"w\",1,1]]}\n"            \
    "{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",0," last "],[\"w\",0,3]]}\n"

static void last_versions_of_registers(void **state)
{
    (void)state;
    static const struct {
        const char *lines, *certificate;
        unsigned found;
    } cases[] = {
        {LAST_LINES("1", "2"), "last;1: y=1 x=2; 2: x=3", RIG_DISCREPANCY_COUNT},
        {LAST_LINES("1", "1"), "last;1: y=1 x=2; 2: x=3", RIG_DISCREPANCY_CERTIFICATE_MISMATCH}, /* intermediate */
        {LAST_LINES("1", "2"), "last;1: y=1 x=1; 2: x=3", RIG_DISCREPANCY_TORN_COMMIT},
        {LAST_LINES("1", "2"), "last;2: x=3", RIG_DISCREPANCY_LOST_COMMIT},
        {LAST_LINES("9", "2"), "last;1: y=1 x=2; 2: x=3", RIG_DISCREPANCY_CERTIFICATE_MISMATCH},
        {LAST_LINES("1", "2"), "1: y=1 x=2; 2: x=3", RIG_DISCREPANCY_TORN_COMMIT}, /* all versions were promised */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_history *whole = registers(cases[i].lines);
        struct rig_verdict *verdict =
            certify(with_certificate(registers(cases[i].lines), cases[i].certificate, true), whole);
        const struct rig_certified *certified = verdict->certified;
        assert_int_equal(certified->agrees, cases[i].found == RIG_DISCREPANCY_COUNT);
        assert_true(certified->agrees ? certified->decides : certified->counts[cases[i].found] > 0);
        if (certified->agrees)
            assert_int_equal(verdict->levels[RIG_LEVEL_SERIALIZABLE].fate, RIG_FATE_HELD);
        rig_verdict_free(verdict);
        rig_history_free(whole);
    }
}

/* ---- places ---- */

/* Gives the transactions their places, in their order; 0: none. */
static void place(struct rig_history *history, const int64_t *places, uint32_t count)
{
    struct rig_history_storage *storage = history->storage;
    for (uint32_t txn = 0; txn < count; txn++)
        assert_true(places[txn] == 0 || rig_columns_set(&storage->columns, RIG_COLUMN_ORDER, txn, places[txn]));
    history->columns = &storage->columns;
}

/* The certificate places a transaction of unknown outcome; a place in an answer that it does not have is a mismatch. */
static void places_agree_with_the_certificate(void **state)
{
    (void)state;
    static const char notation[] = "ok 0 0-1: ax1; ok 1 4-5: rx[1 2]; ok 2 6-7: ax3; info 3 2-: ax2";
    static const struct {
        int64_t places[4];
        const char *certificate;
        uint64_t mismatches, stale, excluded;
    } cases[] = {
        {{2, 3, 4, 0}, "1: y=9; 2: x=1; 3: x=1,2; 4: x=1,2,3", 0, 0, 0},
        {{2, 2, 4, 0}, "2: x=1; 3: x=1,2; 4: x=1,2,3", 1, 0, 0}, /* it shows the append at 3 */
        {{2, 3, 5, 0}, "2: x=1; 3: x=1,2; 4: x=1,2,3", 1, 0, 0}, /* the certificate has 4 */
        {{3, 5, 4, 0}, "3: x=1; 4: x=1,3; 6: x=1,3,2", 1, 1, 0},
        {{2, 3, 4, 0}, "", 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_history *whole = given(notation), *history = given(notation);
        place(history, cases[i].places, 4);
        struct rig_verdict *verdict =
            certify(with_certificate(history, cases[i].certificate, cases[i].certificate[0] != '\0'), whole);
        const uint64_t mismatches = verdict->findings[RIG_ANOMALY_ORDER_MISMATCH].count;
        if (mismatches != cases[i].mismatches ||
            verdict->findings[RIG_ANOMALY_STALE_SNAPSHOT].count != cases[i].stale ||
            verdict->claims->excluded_count != cases[i].excluded)
            fail_msg("case %zu: %u, %u, %u", i, (unsigned)mismatches,
                     (unsigned)verdict->findings[RIG_ANOMALY_STALE_SNAPSHOT].count,
                     (unsigned)verdict->claims->excluded_count);
        assert_true(mismatches == 0 || verdict->valid == RIG_VALID_FALSE);
        rig_verdict_free(verdict);
        rig_history_free(whole);
    }
}

/* ---- reports ---- */

/* Every form says it: a job that reads only one of them must not take the run for a good one. */
static void reports_show_discrepancies(void **state)
{
    (void)state;
    struct rig_history *whole = given(agreed);
    struct rig_verdict *verdict = certify(with_certificate(given(agreed), "1: x=1", true), whole);
    struct rig_buf text, json, junit, html;
    rig_buf_init(&text, 0);
    rig_buf_init(&json, 0);
    rig_buf_init(&junit, 0);
    rig_buf_init(&html, 0);
    rig_report_text(verdict, NULL, false, 0, &text);
    rig_report_json(verdict, NULL, NULL, &json);
    rig_report_junit(verdict, NULL, "t", &junit);
    rig_report_html(verdict, NULL, NULL, "t", &html);
    assert_non_null(strstr(rig_buf_text(&text), "the certificate shows lost-commit"));
    assert_non_null(strstr(rig_buf_text(&text), "lost-commit #1: T3 = process 1: it has an append of 2 to key 0"));
    assert_non_null(strstr(rig_buf_text(&json), "\"valid\": false"));
    assert_non_null(strstr(rig_buf_text(&json), "\"lost-commit\": {"));
    assert_non_null(strstr(rig_buf_text(&junit), "failures=\"1\""));
    assert_non_null(strstr(rig_buf_text(&junit), "<failure type=\"certificate\""));
    assert_non_null(strstr(rig_buf_text(&html), "lost-commit #1"));
    rig_buf_done(&text);
    rig_buf_done(&json);
    rig_buf_done(&junit);
    rig_buf_done(&html);
    rig_verdict_free(verdict);
    rig_history_free(whole);
}

/* ---- the record ---- */

static void write_record(const struct rig_history *history, const char *path)
{
    struct rig_err err = {0};
    const struct rig_save_options options = {.form = RIG_FORM_RIG};
    if (rig_history_save(history, path, &options, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

/* Two views: numbers that go up and down, an absent row, a statement without a snapshot, and a standby. */
static void add_views(struct rig_txn_views *views)
{
    static const uint64_t active[] = {703, 705, UINT64_C(5000000000)};
    const struct rig_txn_view first = {.number = 1, .id = 704, .single = true}, second = {.number = 9, .standby = true};
    assert_true(rig_txn_views_add(views, &first));
    assert_true(rig_txn_views_add_snapshot(views, 703, UINT64_C(5000000001), active, 3));
    assert_true(rig_txn_views_add_row(views, 0, 701, true) && rig_txn_views_add_row(views, 2, 0, true));
    assert_true(rig_txn_views_add_row(views, 2, 704, false));
    assert_true(rig_txn_views_add(views, &second) && rig_txn_views_add_snapshot(views, 690, 701, NULL, 0));
    assert_true(rig_txn_views_add_row(views, 1, 650, true));
    /* Not what a database shows. */
    assert_false(rig_txn_views_add_snapshot(views, 704, 706, active, 2) || rig_txn_views_add_row(views, 0, 650, true));
    assert_false(rig_txn_views_add_snapshot(views, 703, 705, active, 2) || rig_txn_views_add(views, &second));
}

static void compare_views(const struct rig_txn_views *a, const struct rig_txn_views *b)
{
    assert_int_equal(a->views.count, b->views.count);
    for (uint32_t i = 0; i < a->views.count; i++) {
        const struct rig_txn_view *left = &a->views.at[i], *right = &b->views.at[i];
        assert_true(left->number == right->number && left->id == right->id && left->first_row == right->first_row);
        assert_true(left->single == right->single && left->standby == right->standby);
    }
    assert_int_equal(a->rows.count, b->rows.count);
    assert_memory_equal(a->rows.at, b->rows.at, a->rows.count * sizeof *a->rows.at);
    assert_int_equal(a->snapshots.count, b->snapshots.count);
    for (uint32_t i = 0; i < a->snapshots.count; i++) {
        const struct rig_snapshot *left = &a->snapshots.at[i], *right = &b->snapshots.at[i];
        assert_true(left->xmin == right->xmin && left->xmax == right->xmax && left->view == right->view);
        assert_true(left->first_active == right->first_active && left->active_count == right->active_count);
    }
    assert_int_equal(a->active.count, b->active.count);
    assert_memory_equal(a->active.at, b->active.at, a->active.count * sizeof *a->active.at);
}

static void a_record_keeps_its_certificate(void **state)
{
    (void)state;
    char path[] = "/tmp/rig-test-certify-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    struct rig_history *history = with_certificate(
                           given(agreed), "last;1: x=1; 5: x=1,2 y=1; 900: z=-; /901; 902: x=1,2,3; 903: y=-", true),
                       *back;
    add_views(&((struct rig_history_storage *)history->storage)->certificate.views);
    write_record(history, path);
    struct rig_err err = {0};
    const struct rig_load_options options = {.form = RIG_FORM_RIG};
    assert_int_equal(rig_history_load(path, &options, &back, &err), RIG_OK);
    const struct rig_certificate *a = history->certificate, *b = back->certificate;
    assert_non_null(b);
    assert_true(b->complete && b->last_only && strcmp(b->source, "test") == 0 && b->ending[0] == '\0');
    assert_int_equal(b->commits.count, 3);
    assert_int_equal(b->changes.count, 4);
    assert_memory_equal(a->elements.at, b->elements.at, a->elements.count * sizeof *a->elements.at);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(a->commits.at[i].place, b->commits.at[i].place);
        assert_int_equal(a->commits.at[i].id, b->commits.at[i].id);
        assert_int_equal(a->commits.at[i].timeline, b->commits.at[i].timeline);
        assert_int_equal(a->commits.at[i].first_change, b->commits.at[i].first_change);
    }
    assert_true(b->changes.at[3].removed && b->changes.at[1].kept == 1);
    compare_views(&a->views, &b->views);
    assert_true(b->forks.count == 1 && b->forks.at[0].timeline == 1 && b->forks.at[0].place == 901 &&
                b->forks.at[0].next == 2);
    assert_true(rig_certificate_lost_count(b) == 2 && b->lost->commits.at[1].place == 903 &&
                b->lost->commits.at[1].id == 1603 && b->lost->changes.at[0].count == 3 &&
                b->lost->elements.at[2] == 3 && b->lost->changes.at[1].removed);
    rig_history_free(back);
    /* A cut record has no end of the certificate, and so none that is complete. */
    struct rig_buf whole;
    rig_buf_init(&whole, 1 << 20);
    assert_int_equal(rig_buf_read_file(&whole, path, &err), RIG_OK);
    for (size_t size = 17; size < whole.size; size++) {
        err = (struct rig_err){0};
        if (rig_history_parse("cut", whole.data, size, &options, &back, &err) != RIG_OK)
            continue;
        assert_true(back->certificate == NULL || back->truncated);
        assert_true(back->certificate == NULL || !back->certificate->complete ||
                    (back->certificate->commits.count == 3 && back->certificate->views.views.count == 2));
        rig_history_free(back);
    }
    rig_buf_done(&whole);
    rig_history_free(history);
    (void)unlink(path);
}

/* -- known issues ---------------------------------------------------------------------------------------------------
 * */

static enum rig_rc load_none(void *context, struct rig_history **history, struct rig_err *err)
{
    (void)context;
    (void)history;
    return rig_fail(err, RIG_E_INPUT, "the history is in memory");
}

/* Whether write skews of two transactions (of registers also the proof by cases that they make) explain why the history
 * with its certificate is not serializable. */
static void expect_known(const char *notation, struct rig_history *(*make)(const char *), const char *certificate,
                         bool explained)
{
    struct rig_known_issue skew = {
        .name = "skew", .shape = {.anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_G2_ITEM), .transactions = {2, 2}}};
    if (make == registers)
        skew.shape = (struct rig_known_anomaly){
            .anomalies = skew.shape.anomalies | RIG_ANOMALY_BIT(RIG_ANOMALY_NO_VERSION_ORDER), .transactions = {2, 3}};
    struct rig_history *whole = make(notation), *same = make(notation);
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    const struct rig_known_request request = {
        .issues = &skew, .count = 1, .load = load_none, .check = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)}};
    assert_int_equal(rig_check(whole, &request.check, &verdict, &err), RIG_OK);
    assert_int_equal(rig_certify(with_certificate(same, certificate, true), &request.check, verdict, &err), RIG_OK);
    assert_int_equal(verdict->valid, RIG_VALID_FALSE);
    if (rig_known_issues_compare(verdict, &request, &err) != RIG_OK)
        fail_msg("%s", err.text);
    if (verdict->known->explained != explained)
        fail_msg("%s: %s", notation, verdict->known->why_not == NULL ? "explained" : verdict->known->why_not);
    assert_int_equal(verdict->valid, explained ? RIG_VALID_TRUE : RIG_VALID_FALSE);
    assert_true(verdict->known->outcomes[0].witness_count > 0);
    rig_verdict_free(verdict);
    rig_history_free(whole);
}

static void known_issues_are_searched_in_the_certificate(void **state)
{
    (void)state;
    static const char skew[] = "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ok 2 4-5: rx[1] ry[1]; ",
                      unread[] = "ok 0 0-2: rx[] ay1; ok 1 1-3: ry[] ax1; ",
                      other[] = "ok 3 10-12: rz[] aw1; ok 4 11-13: az1 aw2; ok 5 14-15: rz[1] rw[2 1]; ",
                      three[] = "ok 3 10-14: rz[] aw1; ok 4 11-15: rw[] ax5; ok 5 12-16: rx[1] az1; ";
    static const char both[] = "1: x=1; 2: y=1", with_other[] = "1: x=1; 2: y=1; 3: z=1 w=2; 4: w=2,1",
                      with_three[] = "1: x=1; 2: y=1; 3: w=1; 4: x=1,5; 5: z=1";
#define INVOKED(process, first, second)                                                                                \
    "{\"type\":\"invoke\",\"process\":" process ",\"value\":[" first "," second "]}\n"
    static const char register_invokes[] = INVOKED("0", "[\"w\",0,1]", "[\"w\",1,1]")
        INVOKED("1", "[\"r\",0,null]", "[\"w\",1,2]") INVOKED("2", "[\"r\",1,null]", "[\"w\",0,2]")
            INVOKED("3", "[\"r\",1,null]", "[\"r\",0,null]") INVOKED("4", "[\"r\",0,null]", "[\"r\",1,null]");
#undef INVOKED
    static const char registers_of_two[] = "{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",0,1],[\"w\",1,1]]}\n"
                                           "{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",0,1],[\"w\",1,2]]}\n"
                                           "{\"type\":\"ok\",\"process\":2,\"value\":[[\"r\",1,1],[\"w\",0,2]]}\n",
                      registers_of_three[] = "{\"type\":\"ok\",\"process\":3,\"value\":[[\"r\",1,2],[\"r\",0,1]]}\n"
                                             "{\"type\":\"ok\",\"process\":4,\"value\":[[\"r\",0,2],[\"r\",1,1]]}\n";
    char text[2048];
    expect_known(skew, given, both, true);
    expect_known(unread, given, both, true);
    expect_known(skew, given, "1: x=1", false);                   /* a lost commit */
    expect_known(skew, given, "1: x=1; 2: y=1; 3: x=1,8", false); /* a commit of no client */
    (void)snprintf(text, sizeof text, "%s%s", skew, other);
    expect_known(text, given, with_other, false);
    (void)snprintf(text, sizeof text, "%s%s", unread, three);
    expect_known(text, given, with_three, false);
    (void)snprintf(text, sizeof text, "%s%s", register_invokes, registers_of_two);
    expect_known(text, registers, "1: x=1 y=1; 2: x=2; 3: y=2", true);
    (void)snprintf(text, sizeof text, "%s%s%s", register_invokes, registers_of_two, registers_of_three);
    expect_known(text, registers, "1: x=1 y=1; 2: x=2; 3: y=2", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_issues_are_searched_in_the_certificate),
        cmocka_unit_test(a_right_certificate_agrees),
        cmocka_unit_test(negative_controls_are_caught),
        cmocka_unit_test(commits_that_a_failover_lost_are_named),
        cmocka_unit_test(unknown_outcomes_are_resolved_by_content),
        cmocka_unit_test(versions_that_no_read_shows_are_ordered),
        cmocka_unit_test(an_order_that_no_read_shows_is_no_contradiction),
        cmocka_unit_test(registers_are_decided_without_assumptions),
        cmocka_unit_test(registers_are_not_decided_by_less),
        cmocka_unit_test(initial_values_of_registers_are_not_certified),
        cmocka_unit_test(last_versions_agree),
        cmocka_unit_test(last_versions_of_registers),
        cmocka_unit_test(places_agree_with_the_certificate),
        cmocka_unit_test(reports_show_discrepancies),
        cmocka_unit_test(a_record_keeps_its_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
