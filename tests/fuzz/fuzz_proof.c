/*
 * The reader of proofs, and the replays behind it: no bytes make rig-verify prove of a small history what is false of
 * it. The head of the file is given, so that the bytes are claims; a first line with a digit alone chooses the history,
 * of another type.
 */
#include "tests/fuzz/fuzz_target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "history/model/fingerprint.h"
#include "history/source/load.h"
#include "checker/prove/proof_claims.h"
#include "checker/prove/proved_levels.h"

#define INVOKE(process, f, value) "{:type :invoke, :process " #process ", :f :" #f ", :value " value "}\n"
#define OK(process, f, value)     "{:type :ok, :process " #process ", :f :" #f ", :value " value "}\n"
#define FAIL(process, f, value)   "{:type :fail, :process " #process ", :f :" #f ", :value " value "}\n"
#define INFO(process, f, value)   "{:type :info, :process " #process ", :f :" #f ", :value " value "}\n"

static const struct subject {
    enum rig_workload workload;
    const char *kept, *broken; /* the strongest level that explains the history, and a weakest one that does not */
    const char *text;
} subjects[] = {
    /* Write skew; one of unknown fate, and one that failed. */
    {RIG_WORKLOAD_LIST_APPEND, "snapshot-isolation", "serializable",
     INVOKE(0, txn, "[[:r 1 nil] [:append 2 1]]") INVOKE(1, txn, "[[:r 2 nil] [:append 1 1]]") OK(
         0, txn, "[[:r 1 []] [:append 2 1]]") OK(1, txn, "[[:r 2 []] [:append 1 1]]") INVOKE(2, txn, "[[:append 1 2]]")
         INFO(2, txn, "[[:append 1 2]]") INVOKE(3, txn, "[[:append 1 3]]") FAIL(3, txn, "[[:append 1 3]]")
             INVOKE(0, txn, "[[:r 1 nil] [:r 2 nil]]") OK(0, txn, "[[:r 1 [1]] [:r 2 [1]]]")},
    {RIG_WORKLOAD_RW_REGISTER, "strong-session-serializable", "strict-serializable",
     INVOKE(0, txn, "[[:w 1 1] [:w 1 2]]") OK(0, txn, "[[:w 1 1] [:w 1 2]]") INVOKE(1, txn, "[[:r 1 nil] [:w 1 3]]")
         OK(1, txn, "[[:r 1 2] [:w 1 3]]") INVOKE(2, txn, "[[:w 1 4]]") INFO(2, txn, "[[:w 1 4]]") INVOKE(
             3, txn, "[[:w 1 5]]") FAIL(3, txn, "[[:w 1 5]]") INVOKE(0, txn, "[[:r 1 nil]]") OK(0, txn, "[[:r 1 2]]")},
    {RIG_WORKLOAD_SET, "strong-session-read-committed", "read-atomic",
     INVOKE(0, txn, "[[:add 1 1] [:add 1 2]]") OK(0, txn, "[[:add 1 1] [:add 1 2]]") INVOKE(
         1, txn, "[[:r 1 nil] [:add 1 3]]") OK(1, txn, "[[:r 1 [2 1]] [:add 1 3]]") INVOKE(2, txn, "[[:add 1 4]]")
         FAIL(2, txn, "[[:add 1 4]]") INVOKE(0, txn, "[[:r 1 nil]]") OK(0, txn, "[[:r 1 [1]]]")},
    {RIG_WORKLOAD_COUNTER, "strong-session-serializable", "strict-serializable",
     INVOKE(0, add, "2") OK(0, add, "2") INVOKE(1, read, "nil") OK(1, read, "2") INVOKE(2, read, "nil")
         OK(2, read, "0")},
    {RIG_WORKLOAD_BANK, "read-committed", "consistent-view",
     INVOKE(0, read, "nil") OK(0, read, "{0 10, 1 0}") INVOKE(1, transfer, "{:from 0, :to 1, :amount 4}")
         OK(1, transfer, "{:from 0, :to 1, :amount 4}") INVOKE(2, read, "nil") OK(2, read, "{0 10, 1 4}")},
    {RIG_WORKLOAD_CAS_REGISTER, "strong-session-serializable", "strict-serializable",
     INVOKE(0, write, "1") OK(0, write, "1") INVOKE(1, cas, "[1 2]") OK(1, cas, "[1 2]") INVOKE(2, read, "nil")
         OK(2, read, "1") INVOKE(3, write, "3") INFO(3, write, "3")},
    {RIG_WORKLOAD_MUTEX, "read-committed", "repeatable-read",
     INVOKE(0, acquire, "nil") OK(0, acquire, "nil") INVOKE(1, acquire, "nil") OK(1, acquire, "nil")},
    {RIG_WORKLOAD_QUEUE, "serializable", "strong-session-serializable",
     INVOKE(0, enqueue, "1") OK(0, enqueue, "1") INVOKE(0, enqueue, "2") OK(0, enqueue, "2") INVOKE(1, dequeue, "nil")
         OK(1, dequeue, "2") INVOKE(1, enqueue, "3") INFO(1, enqueue, "3")},
    {RIG_WORKLOAD_STACK, "strong-session-serializable", "strict-serializable",
     INVOKE(0, push, "1") OK(0, push, "1") INVOKE(1, pop, "nil") OK(1, pop, "nil") INVOKE(2, pop, "nil")
         OK(2, pop, "1")},
    {RIG_WORKLOAD_APPEND_REGISTER, "strong-session-serializable", "strict-serializable",
     INVOKE(0, put, "\"a\"") OK(0, put, "\"a\"") INVOKE(0, append, "\"b\"") OK(0, append, "\"b\"") INVOKE(1, get, "nil")
         OK(1, get, "\"ab\"") INVOKE(2, get, "nil") OK(2, get, "\"a\"")},
};

static uint64_t level_of(const char *name)
{
    const int level = rig_proved_level_find(name, strlen(name));
    RIG_REQUIRE(level >= 0);
    return UINT64_C(1) << level;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const bool chosen = size >= 2 && bytes[0] >= '0' && bytes[0] <= '9' && bytes[1] == '\n';
    const struct subject *subject = &subjects[chosen ? bytes[0] - '0' : 0];
    const struct rig_load_options options = {
        .form = RIG_FORM_EDN, .workload_given = true, .workload = subject->workload};
    struct rig_err err = {0};
    struct rig_history *history = NULL;
    struct rig_facts facts = {0};
    struct rig_proved proved = {0};
    struct rig_buf text;
    uint64_t fingerprint = 0;
    enum rig_rc rc = rig_history_parse("subject", subject->text, strlen(subject->text), &options, &history, &err);
    _Static_assert(sizeof subjects / sizeof subjects[0] == 10, "a digit chooses one");
    RIG_REQUIRE(rc == RIG_OK);
    RIG_REQUIRE(rig_history_fingerprint(history, &fingerprint, &err) == RIG_OK);
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "rig-proof 1\nhistory %016" PRIx64 "\n", fingerprint);
    rig_buf_add(&text, bytes + (chosen ? 2 : 0), size - (chosen ? 2 : 0));
    RIG_REQUIRE(rig_facts_init(&facts, history, &err) == RIG_OK);
    rc = rig_claims_prove(&facts, text.data, text.size, &proved, &err);
    RIG_REQUIRE((rc == RIG_OK) == (err.rc == RIG_OK));
    /* Assumptions may refute more. */
    if (proved.assumed == 0 && !facts.assumes_total && !facts.assumes_balances)
        RIG_REQUIRE((proved.refuted & rig_proved_levels_below(level_of(subject->kept))) == 0);
    RIG_REQUIRE((proved.held & rig_proved_levels_above(level_of(subject->broken))) == 0);
    rig_facts_done(&facts);
    rig_history_free(history);
    rig_buf_done(&text);
    return 0;
}
