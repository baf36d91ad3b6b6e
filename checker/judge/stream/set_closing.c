/* The closing set of sets (closing.h): transactions of unknown fate. */
#include "checker/judge/stream/closing_private.h"

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
