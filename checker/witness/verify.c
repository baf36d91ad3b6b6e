#include "checker/witness/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "checker/witness/verify_register.h"

/* An append of a transaction whose fate its client does not know. */
struct pending {
    uint32_t key, txn;
    int64_t value;
};

RIG_VEC(struct pending, pending_list)
RIG_VEC(uint32_t, proved)

struct rig_verifier {
    const struct rig_history *history;
    bool *committed; /* per transaction: acknowledged, or unknown with a write that a committed one shows */
    struct pending_list pending;
    uint32_t *shown;        /* per list, spines first: its leading elements that some committed transaction read, */
    uint32_t *acknowledged; /*   and that some acknowledged transaction read */
    uint32_t
        *first_branch;     /* per key: one of its lists beside the spine of which elements are shown, or NO_LIST, and */
    uint32_t *next_branch; /* per such list, the next one */
};

#define NO_LIST UINT32_MAX

static enum rig_rc refuse(const struct rig_history *history, const struct rig_witness *witness, uint32_t txn,
                          const char *lacks, struct rig_err *err)
{
    return rig_fail(err, RIG_E_BUG, "a witness of %s does not hold: T%" PRIu32 " %s; please report this history",
                    rig_anomaly_info(witness->anomaly)->name, rig_txn_name(history, txn), lacks);
}

/* ---- what the transactions did ---- */

/* The place of `value` in a list, or UINT32_MAX. */
static uint32_t place_in_list(struct rig_read_list list, int64_t value)
{
    for (uint32_t i = 0; i < list.count; i++) {
        if (rig_read_element(&list, i) == value)
            return i;
    }
    return UINT32_MAX;
}

/* The place of `value` in what `op` read, or UINT32_MAX. */
static uint32_t place_in_read(const struct rig_history *history, const struct rig_txn_op *op, int64_t value)
{
    return place_in_list(rig_txn_op_list(history, op), value);
}

/* The operation of `txn` that appends `value` to `key`, or UINT32_MAX. */
static uint32_t find_append(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_APPEND && ops[i].key == key && ops[i].value == value)
            return i;
    }
    return UINT32_MAX;
}

/* The operation `op` of `txn` when it is a read of a list with a known result, else NULL. */
static const struct rig_txn_op *known_read(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    if (txn >= history->txn_count || op >= rig_txn_op_count(history, txn))
        return NULL;
    const struct rig_txn_op *read = rig_txn_ops(history, txn) + op;
    return read->kind == RIG_OP_READ_LIST && read->read_state != RIG_READ_UNKNOWN ? read : NULL;
}

/* Lists by number: the spines of the keys, then the branches. */
static uint32_t list_id(const struct rig_history *history, const struct rig_txn_op *op)
{
    return rig_txn_op_is_branch(op) ? history->key_count + rig_txn_op_branch(op) : op->key;
}

/* The lists that committed transactions read of `key`, as far as they read them: start with the key, ends by NO_LIST.
 */
static uint32_t list_after(const struct rig_verifier *verifier, uint32_t key, uint32_t list)
{
    uint32_t key_count = verifier->history->key_count;
    return list < key_count ? verifier->first_branch[key] : verifier->next_branch[list - key_count];
}

static struct rig_read_list shown_list(const struct rig_verifier *verifier, uint32_t list)
{
    const struct rig_history *history = verifier->history;
    uint32_t count = verifier->shown[list];
    return list < history->key_count ? rig_read_of(history->spines[list], count)
                                     : rig_read_of_branch(history, list - history->key_count, count);
}

/* Some committed transaction shows `value` of `key`. */
static bool is_shown(const struct rig_verifier *verifier, uint32_t key, int64_t value)
{
    for (uint32_t list = key; list != NO_LIST; list = list_after(verifier, key, list)) {
        if (place_in_list(shown_list(verifier, list), value) != UINT32_MAX)
            return true;
    }
    return false;
}

/* ---- which transactions committed ---- */

static int compare_pending(const void *left, const void *right)
{
    const struct pending *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static bool list_pending(struct rig_verifier *verifier)
{
    const struct rig_history *history = verifier->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].outcome != RIG_OUTCOME_INFO || history->txns[txn].judged != RIG_JUDGED_NOT)
            continue;
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            struct pending pending = {.key = ops[i].key, .txn = txn, .value = ops[i].value};
            if (ops[i].kind == RIG_OP_APPEND && !pending_list_add(&verifier->pending, pending))
                return false;
        }
    }
    if (verifier->pending.count > 0)
        qsort(verifier->pending.at, verifier->pending.count, sizeof *verifier->pending.at, compare_pending);
    return true;
}

/* Elements that a committed transaction shows prove that the unknown transactions which appended them committed. */
static bool follow_elements(struct rig_verifier *verifier, uint32_t key, struct rig_read_list list, uint32_t from,
                            struct proved *proved)
{
    for (uint32_t i = from; i < list.count; i++) {
        struct pending wanted = {.key = key, .value = rig_read_element(&list, i)};
        const struct pending *found =
            bsearch(&wanted, verifier->pending.at, verifier->pending.count, sizeof wanted, compare_pending);
        if (found == NULL || verifier->committed[found->txn])
            continue;
        verifier->committed[found->txn] = true;
        if (!proved_add(proved, found->txn))
            return false;
    }
    return true;
}

/* Notes what a committed transaction read. */
static bool follow_reads(struct rig_verifier *verifier, uint32_t txn, struct proved *proved)
{
    const struct rig_history *history = verifier->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind != RIG_OP_READ_LIST || ops[i].read_state != RIG_READ_SEEN)
            continue;
        struct rig_read_list list = rig_txn_op_list(history, &ops[i]);
        uint32_t key = ops[i].key, id = list_id(history, &ops[i]), from = verifier->shown[id];
        if (history->txns[txn].outcome == RIG_OUTCOME_OK && list.count > verifier->acknowledged[id])
            verifier->acknowledged[id] = list.count;
        if (list.count <= from)
            continue;
        if (from == 0 && id >= history->key_count) {
            verifier->next_branch[id - history->key_count] = verifier->first_branch[key];
            verifier->first_branch[key] = id;
        }
        verifier->shown[id] = list.count;
        if (verifier->pending.count > 0 && !follow_elements(verifier, key, list, from, proved))
            return false;
    }
    return true;
}

static bool prove_committed(struct rig_verifier *verifier)
{
    const struct rig_history *history = verifier->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++)
        verifier->committed[txn] =
            history->txns[txn].outcome == RIG_OUTCOME_OK || history->txns[txn].judged == RIG_JUDGED_COMMITTED;
    memset(verifier->first_branch, 0xff, ((size_t)history->key_count + 1) * sizeof *verifier->first_branch);
    if (!list_pending(verifier))
        return false;
    struct proved proved = {0};
    bool done = true;
    for (uint32_t txn = 0; done && txn < history->txn_count; txn++) {
        if (verifier->committed[txn])
            done = follow_reads(verifier, txn, &proved);
    }
    while (done && proved.count > 0)
        done = follow_reads(verifier, proved.at[--proved.count], &proved);
    proved_done(&proved);
    return done;
}

struct rig_verifier *rig_verifier_new(const struct rig_history *history)
{
    struct rig_verifier *verifier = calloc(1, sizeof *verifier);
    if (verifier == NULL)
        return NULL;
    verifier->history = history;
    verifier->committed = calloc((size_t)history->txn_count + 1, sizeof *verifier->committed);
    verifier->shown = calloc((size_t)history->key_count + history->branch_count + 1, sizeof *verifier->shown);
    verifier->acknowledged = calloc((size_t)history->key_count + history->branch_count + 1, sizeof(uint32_t));
    verifier->first_branch = malloc(((size_t)history->key_count + 1) * sizeof *verifier->first_branch);
    verifier->next_branch = calloc((size_t)history->branch_count + 1, sizeof *verifier->next_branch);
    bool room = verifier->committed != NULL && verifier->shown != NULL && verifier->acknowledged != NULL &&
                verifier->first_branch != NULL && verifier->next_branch != NULL;
    bool registers = history->workload == RIG_WORKLOAD_RW_REGISTER;
    bool proved =
        room && (registers ? rig_verify_register_commits(history, verifier->committed) : prove_committed(verifier));
    if (!proved) {
        rig_verifier_free(verifier);
        return NULL;
    }
    return verifier;
}

void rig_verifier_free(struct rig_verifier *verifier)
{
    if (verifier == NULL)
        return;
    free(verifier->committed);
    free(verifier->shown);
    free(verifier->acknowledged);
    free(verifier->first_branch);
    free(verifier->next_branch);
    pending_list_done(&verifier->pending);
    free(verifier);
}

/* ---- steps of a cycle ---- */

static const char *check_ww(const struct rig_verifier *verifier, const struct rig_step *step)
{
    const struct rig_history *history = verifier->history;
    if (find_append(history, step->from, step->key, step->from_value) == UINT32_MAX)
        return "did not append the earlier value";
    if (find_append(history, step->to, step->key, step->to_value) == UINT32_MAX)
        return "is followed by one that did not append the later value";
    if (step->order_txn == UINT32_MAX) {
        bool in_order =
            is_shown(verifier, step->key, step->from_value) && !is_shown(verifier, step->key, step->to_value);
        return in_order ? NULL : "has no read that orders its append before an unread one";
    }
    const struct rig_txn_op *read = known_read(history, step->order_txn, step->order_op);
    if (read == NULL || read->key != step->key || !verifier->committed[step->order_txn])
        return "has no committed read that orders its append";
    uint32_t from = place_in_read(history, read, step->from_value);
    uint32_t to = place_in_read(history, read, step->to_value);
    return from != UINT32_MAX && to != UINT32_MAX && from < to ? NULL : "did not append before the next one";
}

static const char *check_wr(const struct rig_verifier *verifier, const struct rig_step *step)
{
    const struct rig_history *history = verifier->history;
    if (find_append(history, step->from, step->key, step->from_value) == UINT32_MAX)
        return "did not append the value that was read";
    const struct rig_txn_op *read = known_read(history, step->to, step->to_op);
    bool saw = read != NULL && read->key == step->key && place_in_read(history, read, step->from_value) != UINT32_MAX;
    return saw ? NULL : "is followed by one that did not read its value";
}

/* Whether `txn` appended any of the elements of a list in [begin, end) to the key. */
static bool appended_any(const struct rig_history *history, uint32_t txn, uint32_t key, struct rig_read_list list,
                         uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++) {
        if (find_append(history, txn, key, rig_read_element(&list, i)) != UINT32_MAX)
            return true;
    }
    return false;
}

/* Where the value comes after all that was read: in a list that begins with that, or in none at all. */
static const char *check_overwritten(const struct rig_verifier *verifier, const struct rig_step *step,
                                     const struct rig_txn_op *read)
{
    const struct rig_history *history = verifier->history;
    if (step->order_txn == UINT32_MAX)
        return is_shown(verifier, step->key, step->to_value) ? "missed a value that reads show, without an order"
                                                             : NULL;
    const struct rig_txn_op *later = known_read(history, step->order_txn, step->order_op);
    if (later == NULL || later->key != step->key || !verifier->committed[step->order_txn])
        return "has no committed read that orders the value after what it read";
    struct rig_read_list before = rig_txn_op_list(history, read), list = rig_txn_op_list(history, later);
    uint32_t place = place_in_list(list, step->to_value);
    if (place == UINT32_MAX || place < before.count)
        return "read no less than what came before the value";
    for (uint32_t i = 0; i < before.count; i++) {
        if (rig_read_element(&before, i) != rig_read_element(&list, i))
            return "read what is no beginning of the list that shows the value";
    }
    return appended_any(history, step->from, step->key, list, before.count, place)
               ? "appended to what it read before the next one did"
               : NULL;
}

static const char *check_rw(const struct rig_verifier *verifier, const struct rig_step *step)
{
    const struct rig_history *history = verifier->history;
    if (find_append(history, step->to, step->key, step->to_value) == UINT32_MAX)
        return "is followed by one that did not append the value";
    const struct rig_txn_op *read = known_read(history, step->from, step->from_op);
    bool missed = read != NULL && read->key == step->key && place_in_read(history, read, step->to_value) == UINT32_MAX;
    return missed ? check_overwritten(verifier, step, read) : "did not miss the value";
}

static const char *check_precedence(const struct rig_verifier *verifier, const struct rig_step *step)
{
    const struct rig_history *history = verifier->history;
    const struct rig_txn *from = &history->txns[step->from], *to = &history->txns[step->to];
    if (step->kind == RIG_EDGE_PROCESS && from->process != to->process)
        return "is of another process than the next one";
    if (from->outcome != RIG_OUTCOME_OK)
        return "never ended for certain";
    if (to->invoke_at == RIG_POSITION_NONE)
        return step->kind == RIG_EDGE_PROCESS && from->complete_at < to->complete_at
                   ? NULL
                   : "is followed by one without an invocation";
    return from->complete_at < to->invoke_at ? NULL : "did not complete before the next one was invoked";
}

static const char *check_step(const struct rig_verifier *verifier, const struct rig_step *step)
{
    bool dependency = step->kind != RIG_EDGE_PROCESS && step->kind != RIG_EDGE_REALTIME;
    if (dependency && verifier->history->workload == RIG_WORKLOAD_RW_REGISTER)
        return rig_verify_register_step(verifier->history, step);
    switch (step->kind) {
    case RIG_EDGE_WW:
        return check_ww(verifier, step);
    case RIG_EDGE_WR:
        return check_wr(verifier, step);
    case RIG_EDGE_RW:
        return check_rw(verifier, step);
    case RIG_EDGE_PROCESS:
    case RIG_EDGE_REALTIME:
        return check_precedence(verifier, step);
    }
    return "has a step of an unknown kind";
}

/* ---- the shape of a cycle ---- */

struct shape {
    bool wr, adjacent, process, realtime, settled;
    uint32_t rw;
};

/* Whether reads of acknowledged transactions show the order of a ww step by themselves. */
static bool is_acknowledged(const struct rig_verifier *verifier, const struct rig_step *step)
{
    const struct rig_history *history = verifier->history;
    if (history->workload == RIG_WORKLOAD_RW_REGISTER)
        return true; /* only acknowledged transactions order versions */
    for (uint32_t id = step->key; id != NO_LIST; id = list_after(verifier, step->key, id)) {
        struct rig_read_list list = shown_list(verifier, id);
        list.count = verifier->acknowledged[id];
        uint32_t from = place_in_list(list, step->from_value);
        if (from != UINT32_MAX && from < place_in_list(list, step->to_value))
            return true;
    }
    return false;
}

/* `settled`: a cycle of writes is one at read uncommitted, too. */
static struct shape shape_of(const struct rig_verifier *verifier, const struct rig_witness *witness)
{
    const struct rig_history *history = verifier->history;
    struct shape shape = {.settled = true};
    for (uint32_t i = 0; i < witness->step_count; i++) {
        enum rig_edge_kind kind = witness->steps[i].kind;
        enum rig_edge_kind next = witness->steps[i + 1 < witness->step_count ? i + 1 : 0].kind;
        shape.settled &= history->txns[witness->steps[i].from].outcome == RIG_OUTCOME_OK;
        shape.settled = shape.settled && (kind != RIG_EDGE_WW || is_acknowledged(verifier, &witness->steps[i]));
        shape.wr |= kind == RIG_EDGE_WR;
        shape.rw += kind == RIG_EDGE_RW;
        shape.adjacent |= kind == RIG_EDGE_RW && next == RIG_EDGE_RW;
        shape.process |= kind == RIG_EDGE_PROCESS;
        shape.realtime |= kind == RIG_EDGE_REALTIME;
    }
    return shape;
}

static bool has_shape(const struct rig_verifier *verifier, const struct rig_witness *witness)
{
    struct shape s = shape_of(verifier, witness);
    bool plain = !s.process && !s.realtime;
    bool in_process = s.process && !s.realtime;
    bool g0 = s.rw == 0 && !s.wr && s.settled, g1c = s.rw == 0 && !g0, single = s.rw == 1;
    bool nonadjacent = s.rw > 1 && !s.adjacent, g2 = s.rw > 1 && s.adjacent;
    switch ((int)witness->anomaly) {
    case RIG_ANOMALY_G0:
        return plain && g0;
    case RIG_ANOMALY_G1C:
        return plain && g1c;
    case RIG_ANOMALY_G_SINGLE:
        return plain && single;
    case RIG_ANOMALY_G_NONADJACENT:
        return plain && nonadjacent;
    case RIG_ANOMALY_G2_ITEM:
        return plain && g2;
    case RIG_ANOMALY_G0_PROCESS:
        return in_process && g0;
    case RIG_ANOMALY_G1C_PROCESS:
        return in_process && g1c;
    case RIG_ANOMALY_G_SINGLE_PROCESS:
        return in_process && single;
    case RIG_ANOMALY_G_NONADJACENT_PROCESS:
        return in_process && nonadjacent;
    case RIG_ANOMALY_G2_ITEM_PROCESS:
        return in_process && g2;
    case RIG_ANOMALY_G0_REALTIME:
        return s.realtime && g0;
    case RIG_ANOMALY_G1C_REALTIME:
        return s.realtime && g1c;
    case RIG_ANOMALY_G_SINGLE_REALTIME:
        return s.realtime && single;
    case RIG_ANOMALY_G_NONADJACENT_REALTIME:
        return s.realtime && nonadjacent;
    case RIG_ANOMALY_G2_ITEM_REALTIME:
        return s.realtime && g2;
    default:
        return false;
    }
}

static int compare_txns(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Whether no transaction stands in the cycle twice; false when memory runs out. */
static bool find_repetition(const struct rig_witness *witness, bool *distinct)
{
    uint32_t *txns = malloc(witness->txn_count * sizeof *txns);
    if (txns == NULL)
        return false;
    memcpy(txns, witness->txns, witness->txn_count * sizeof *txns);
    qsort(txns, witness->txn_count, sizeof *txns, compare_txns);
    *distinct = true;
    for (uint32_t i = 1; i < witness->txn_count; i++)
        *distinct &= txns[i] != txns[i - 1];
    free(txns);
    return true;
}

static enum rig_rc verify_cycle(const struct rig_verifier *verifier, const struct rig_witness *witness,
                                struct rig_err *err)
{
    const struct rig_history *history = verifier->history;
    if (witness->step_count < 2 || witness->txn_count != witness->step_count)
        return refuse(history, witness, witness->txns[0], "does not stand in a cycle", err);
    for (uint32_t i = 0; i < witness->step_count; i++) {
        const struct rig_step *step = &witness->steps[i];
        const struct rig_step *next = &witness->steps[i + 1 < witness->step_count ? i + 1 : 0];
        if (step->to != next->from || step->from != witness->txns[i])
            return refuse(history, witness, step->from, "does not lead to the next step", err);
        if (!verifier->committed[step->from])
            return refuse(history, witness, step->from, "did not commit for certain", err);
        const char *lacks = check_step(verifier, step);
        if (lacks != NULL)
            return refuse(history, witness, step->from, lacks, err);
    }
    bool distinct;
    if (!find_repetition(witness, &distinct))
        return rig_fail(err, RIG_E_LIMIT, "not enough memory to prove a witness; raise --max-memory");
    if (!distinct)
        return refuse(history, witness, witness->txns[0], "stands in a cycle that passes somebody twice", err);
    if (!has_shape(verifier, witness))
        return refuse(history, witness, witness->txns[0], "stands in a cycle of another shape", err);
    return RIG_OK;
}

/* ---- non-cyclic anomalies ---- */

static const char *check_aborted(const struct rig_verifier *verifier, const struct rig_witness *w,
                                 const struct rig_txn_op *read)
{
    const struct rig_history *history = verifier->history;
    if (place_in_read(history, read, w->value) == UINT32_MAX)
        return "did not read the value";
    bool aborted = w->txn_count == 2 && history->txns[w->txns[1]].outcome == RIG_OUTCOME_FAIL &&
                   find_append(history, w->txns[1], w->key, w->value) != UINT32_MAX;
    return aborted ? NULL : "read a value that is not of a failed transaction";
}

static const char *check_intermediate(const struct rig_verifier *verifier, const struct rig_witness *w,
                                      const struct rig_txn_op *read)
{
    const struct rig_history *history = verifier->history;
    struct rig_read_list list = rig_txn_op_list(history, read);
    uint32_t place = list.count;
    while (place > 0 && rig_read_element(&list, place - 1) != w->value)
        place--;
    uint32_t append = w->txn_count == 2 ? find_append(history, w->txns[1], w->key, w->value) : UINT32_MAX;
    if (place == 0 || append == UINT32_MAX)
        return "did not read a value of the other transaction";
    for (uint32_t i = place; i < list.count; i++) {
        if (find_append(history, w->txns[0], w->key, rig_read_element(&list, i)) == UINT32_MAX)
            return "read something of others behind the intermediate value";
    }
    const struct rig_txn_op *ops = rig_txn_ops(history, w->txns[1]);
    for (uint32_t i = append + 1; i < rig_txn_op_count(history, w->txns[1]); i++) {
        if (ops[i].kind == RIG_OP_APPEND && ops[i].key == w->key)
            return NULL;
    }
    return "read the last append of the other transaction";
}

static const char *check_garbage(const struct rig_verifier *verifier, const struct rig_witness *w,
                                 const struct rig_txn_op *read)
{
    const struct rig_history *history = verifier->history;
    if (place_in_read(history, read, w->value) == UINT32_MAX)
        return "did not read the value";
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (find_append(history, txn, w->key, w->value) != UINT32_MAX)
            return "read a value that somebody appended";
    }
    return NULL;
}

static const char *check_repeated(const struct rig_verifier *verifier, const struct rig_witness *w,
                                  const struct rig_txn_op *read)
{
    const struct rig_history *history = verifier->history;
    struct rig_read_list list = rig_txn_op_list(history, read);
    uint32_t times = 0;
    for (uint32_t i = 0; i < list.count; i++)
        times += rig_read_element(&list, i) == w->value;
    return times > 1 ? NULL : "read the value at most once";
}

static const char *check_incompatible(const struct rig_verifier *verifier, const struct rig_witness *w,
                                      const struct rig_txn_op *read)
{
    const struct rig_history *history = verifier->history;
    uint32_t other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    const struct rig_txn_op *other_read = known_read(history, other, w->other_op);
    if (other_read == NULL || other_read->key != w->key || !verifier->committed[other])
        return "has no other committed read to disagree with";
    struct rig_read_list a = rig_txn_op_list(history, read), b = rig_txn_op_list(history, other_read);
    for (uint32_t i = 0; i < a.count && i < b.count; i++) {
        if (rig_read_element(&a, i) != rig_read_element(&b, i))
            return NULL;
    }
    return "read a prefix of the other list, or the other way round";
}

static const char *check_fractured(const struct rig_verifier *verifier, const struct rig_witness *w,
                                   const struct rig_txn_op *read)
{
    const struct rig_history *history = verifier->history;
    uint32_t other = w->txn_count > 1 ? w->txns[1] : w->txns[0];
    uint32_t earlier = find_append(history, other, w->key, w->other_value);
    uint32_t later = find_append(history, other, w->key, w->value);
    if (earlier == UINT32_MAX || later == UINT32_MAX || earlier >= later || !verifier->committed[other])
        return "has no two appends of one committed transaction to show";
    uint32_t shown = place_in_read(history, read, w->value);
    return shown != UINT32_MAX && place_in_read(history, read, w->other_value) >= shown
               ? NULL
               : "read both appends in order, or not the later one";
}

static const char *check_future(const struct rig_verifier *verifier, const struct rig_witness *w,
                                const struct rig_txn_op *read)
{
    const struct rig_history *history = verifier->history;
    uint32_t append = find_append(history, w->txns[0], w->key, w->value);
    bool later = append != UINT32_MAX && append > w->op && place_in_read(history, read, w->value) != UINT32_MAX;
    return later ? NULL : "did not read what it appended later";
}

/* Replays the transaction on the key: after the first known read, every read is the last one plus what was appended
 * since. */
static const char *check_internal(const struct rig_verifier *verifier, const struct rig_witness *w,
                                  const struct rig_txn_op *read)
{
    const struct rig_history *history = verifier->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, w->txns[0]);
    struct rig_read_list now = rig_txn_op_list(history, read);
    uint32_t left = now.count;
    for (uint32_t i = w->op; i-- > 0;) {
        if (ops[i].key != w->key)
            continue;
        if (ops[i].kind == RIG_OP_APPEND) {
            if (left == 0 || rig_read_element(&now, left - 1) != ops[i].value)
                return NULL;
            left--;
        } else if (ops[i].read_state != RIG_READ_UNKNOWN) {
            struct rig_read_list before = rig_txn_op_list(history, &ops[i]);
            if (before.count != left)
                return NULL;
            for (uint32_t j = 0; j < left; j++) {
                if (rig_read_element(&before, j) != rig_read_element(&now, j))
                    return NULL;
            }
            return "read what it had to";
        }
    }
    return "read what it had to";
}

static bool appends_after(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = op + 1; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].kind == RIG_OP_APPEND && ops[i].key == key)
            return true;
    }
    return false;
}

static const char *check_lost_update(const struct rig_verifier *verifier, const struct rig_witness *w,
                                     const struct rig_txn_op *read)
{
    const struct rig_history *history = verifier->history;
    if (w->txn_count != 2)
        return "has nobody to lose an update to";
    const struct rig_txn_op *other = known_read(history, w->txns[1], w->other_op);
    if (other == NULL || other->key != w->key || !verifier->committed[w->txns[1]])
        return "has no other committed read of the key";
    struct rig_read_list a = rig_txn_op_list(history, read), b = rig_txn_op_list(history, other);
    if (a.count != b.count)
        return "read another version than the other one";
    for (uint32_t i = 0; i < a.count; i++) {
        if (rig_read_element(&a, i) != rig_read_element(&b, i))
            return "read another version than the other one";
    }
    bool both =
        appends_after(history, w->txns[0], w->op, w->key) && appends_after(history, w->txns[1], w->other_op, w->key);
    return both ? NULL : "did not append like the other one";
}

/* A list that some committed transaction read shows the failed transaction's element before the committed one's. */
static const char *check_dirty_update(const struct rig_verifier *verifier, const struct rig_witness *w)
{
    const struct rig_history *history = verifier->history;
    bool known = w->txn_count == 2 && history->txns[w->txns[1]].outcome == RIG_OUTCOME_FAIL &&
                 find_append(history, w->txns[1], w->key, w->other_value) != UINT32_MAX &&
                 find_append(history, w->txns[0], w->key, w->value) != UINT32_MAX;
    if (!known)
        return "does not build on a failed transaction";
    for (uint32_t list = w->key; list != NO_LIST; list = list_after(verifier, w->key, list)) {
        uint32_t under = place_in_list(shown_list(verifier, list), w->other_value);
        uint32_t over = place_in_list(shown_list(verifier, list), w->value);
        if (under < over && over != UINT32_MAX)
            return NULL;
    }
    return "is in no list above the failed transaction's value";
}

static const char *check_noncyclic(const struct rig_verifier *verifier, const struct rig_witness *w)
{
    const struct rig_history *history = verifier->history;
    if (w->anomaly == RIG_ANOMALY_DIRTY_UPDATE)
        return check_dirty_update(verifier, w);
    const struct rig_txn_op *read = known_read(history, w->txns[0], w->op);
    if (read == NULL || read->key != w->key)
        return "made no such read";
    switch ((int)w->anomaly) {
    case RIG_ANOMALY_G1A:
        return check_aborted(verifier, w, read);
    case RIG_ANOMALY_G1B:
        return check_intermediate(verifier, w, read);
    case RIG_ANOMALY_GARBAGE_READ:
        return check_garbage(verifier, w, read);
    case RIG_ANOMALY_DUPLICATE_ELEMENTS:
        return check_repeated(verifier, w, read);
    case RIG_ANOMALY_INCOMPATIBLE_ORDER:
        return check_incompatible(verifier, w, read);
    case RIG_ANOMALY_FRACTURED_APPEND:
        return check_fractured(verifier, w, read);
    case RIG_ANOMALY_FUTURE_READ:
        return check_future(verifier, w, read);
    case RIG_ANOMALY_INTERNAL:
        return check_internal(verifier, w, read);
    case RIG_ANOMALY_LOST_UPDATE:
        return check_lost_update(verifier, w, read);
    default:
        return "shows an anomaly that cannot stand without a cycle";
    }
}

enum rig_rc rig_verify_witness(const struct rig_verifier *verifier, const struct rig_witness *witness,
                               struct rig_err *err)
{
    if (witness->step_count > 0)
        return verify_cycle(verifier, witness, err);
    if (!verifier->committed[witness->txns[0]])
        return refuse(verifier->history, witness, witness->txns[0], "did not commit for certain", err);
    const char *lacks = verifier->history->workload == RIG_WORKLOAD_RW_REGISTER
                            ? rig_verify_register_noncyclic(verifier->history, verifier->committed, witness)
                            : check_noncyclic(verifier, witness);
    return lacks == NULL ? RIG_OK : refuse(verifier->history, witness, witness->txns[0], lacks, err);
}
