/*
 * The memory of finished sets (retired.h): only which keys there were. Every later use of one is a conflict, and the
 * census then tells when a key is finished.
 */
#include "checker/judge/stream/closing_private.h"
#include "checker/judge/stream/retired_private.h"

/* The closing set of sets (closing.h): transactions of unknown fate. */

static void keep_alive(struct rig_closing_search *s, uint32_t key)
{
    s->out->alive[key] = 1;
    s->again = true;
    s->first = 0;
}

/* The read precedes the additions that it misses. It may show that others committed. */
static void wait_behind_read(struct rig_closing_search *s, struct rig_set_marks *marks, uint32_t txn,
                             const struct rig_txn_op *read)
{
    const struct rig_sets *sets = s->sets;
    rig_set_marks_take(marks, sets, read);
    for (uint32_t i = sets->key_first[read->key]; i < sets->key_first[read->key + 1]; i++) {
        const uint32_t writer = sets->elements[i].writer;
        if (writer == txn)
            continue;
        if (!rig_set_is_marked(marks, i) && s->committed[writer])
            rig_closing_wait_again(s, writer);
        else if (rig_set_is_marked(marks, i) && !s->committed[writer] &&
                 s->history->txns[writer].outcome == RIG_OUTCOME_INFO && !s->out->alive[read->key])
            keep_alive(s, read->key);
    }
}

/*
 * A transaction of unknown fate counts as soon as a read shows one of its elements, which may happen later. Then its
 * reads precede the additions that they miss, so those writers wait, too. If it shows an element of another one, that
 * one would count as well, so the key stays alive. Its additions precede only reads that show them, which there are
 * none.
 */
void rig_set_wait_for_unknown(struct rig_closing_search *s)
{
    struct rig_set_marks marks = {0};
    for (uint32_t txn = s->first; txn < s->history->txn_count; txn++) {
        if (!rig_closing_is_unknown(s, txn))
            continue;
        if (marks.of == NULL && !rig_set_marks_init(&marks, s->sets, s->arena)) {
            s->no_memory = true;
            return;
        }
        const struct rig_txn_op *ops = rig_txn_ops(s->history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(s->history, txn); i++) {
            if (rig_set_is_read(&ops[i]))
                wait_behind_read(s, &marks, txn, &ops[i]);
        }
    }
}

static bool remember(const struct rig_retiring *r, uint32_t key, bool dropped)
{
    struct retired_key *kept = rig_retired_put(r->retired, r->inference->history, key);
    if (kept == NULL)
        return false;
    kept->anomalous = 1;
    return !dropped || rig_retired_rest(r->retired, kept);
}

/* Reads of aborted transactions cause no conflict. */
static void admit_op(struct rig_admission *a, struct retired_key *key, enum rig_outcome outcome, struct rig_txn_op *op)
{
    if (!rig_op_reads(op->kind))
        rig_admission_write(a, key, op->value);
    else if (outcome != RIG_OUTCOME_FAIL)
        a->conflict = "a set is read again after a long time";
}

static bool admit(struct rig_admission *a)
{
    rig_admission_walk(a, admit_op);
    return true;
}

const struct rig_type_retired rig_set_retired = {.remember = remember, .admit = admit};
