#include "tests/oracle/small_execution.h"

#include <string.h>

#include "base/rng.h"
#include "tests/oracle/small_random.h"

/* The view of a transaction: one set for all its operations, or one that grows, or one for each read. */
enum model {
    EACH_READ,          /* any committed version (read committed) */
    EACH_READ_UPDATES,  /* any committed version; of a key that it writes the last one (cursor stability) */
    GROWING,            /* monotonic atomic view */
    GROWING_DEPENDENT,  /* closed over dependencies: monotonic view */
    GROWING_PREFIX,     /* monotonic snapshot reads */
    SET,                /* read atomic */
    SET_UPDATES,        /* update atomic */
    SET_CLOSED,         /* causal */
    SET_CLOSED_UPDATES, /* parallel snapshot isolation */
    PREFIX,
    PREFIX_UPDATES, /* snapshot isolation */
    SERIAL_UPDATES, /* update serializable */
    SERIAL,
    MODELS
};

enum { NOTHING = -1, VALUES = 251, GARBAGE = 998 }; /* values written: 1 to VALUES */

struct making {
    struct rig_rng rng;
    struct small_history *history;
    enum model model;
    int key_count, read_keys; /* the other keys are never read */
    int op_limit, writes_percent, trouble_percent, sees_percent;
    int themes, crossed_writers, next_value, value_factor;
    uint64_t committed;
    uint64_t writers[SMALL_KEYS], readers[SMALL_KEYS]; /* committed ones */
    uint64_t saw[SMALL_TXNS], depends[SMALL_TXNS];
};

static int below(struct rig_rng *rng, int bound)
{
    return bound < 1 ? 0 : (int)rig_rng_below(rng, (uint64_t)bound);
}

static bool percent(struct rig_rng *rng, int chance)
{
    return below(rng, 100) < chance;
}

static bool in(uint64_t set, int txn)
{
    return (set >> txn & 1) != 0;
}

static uint64_t bit(int txn)
{
    return UINT64_C(1) << txn;
}

static int last_of(uint64_t set)
{
    int last = NOTHING;
    for (int t = 0; t < SMALL_TXNS; t++)
        last = in(set, t) ? t : last;
    return last;
}

/* ---- operations ---- */

static void add_op(struct making *m, struct small_txn *txn, bool write, int key)
{
    if (txn->op_count == SMALL_OPS)
        return;
    struct small_op *op = &txn->ops[txn->op_count++];
    *op = (struct small_op){.append = write, .key = write ? key : key % m->read_keys, .known = !write};
    if (write)
        op->value = 1 + m->next_value++ * m->value_factor % VALUES;
}

/* Blind writers of each key, then readers of any combination of versions: orders of several pairs depend on each other,
 * and no single one is forced. */
enum { CROSSED = 3, THEMED = 6 };

/* The operations that reveal one kind of anomaly, or a mixture. */
enum theme { MIXTURE, READ_ALL, WRITE_ONE, WRITE_SOME, UPDATE, SKEW, THEMES };

static void make_operations(struct making *m, struct small_txn *txn, int t, enum theme theme)
{
    int key = below(&m->rng, m->key_count);
    switch (theme) {
    case UPDATE: /* of what it read */
        for (int i = 1 + below(&m->rng, 2); i > 0; i--, key = (key + 1) % m->key_count) {
            add_op(m, txn, false, key);
            add_op(m, txn, true, key);
        }
        return;
    case WRITE_ONE:
        add_op(m, txn, true, m->themes == CROSSED ? t % m->key_count : key);
        return;
    case WRITE_SOME: /* blindly */
        for (int i = 1 + below(&m->rng, 3); i > 0; i--)
            add_op(m, txn, true, below(&m->rng, m->key_count));
        return;
    case READ_ALL: /* some twice */
    case SKEW:
        for (int i = m->themes == CROSSED ? below(&m->rng, m->key_count - 1) : 0; i < m->key_count; i++)
            add_op(m, txn, false, (key + i) % m->key_count);
        if (theme == SKEW || percent(&m->rng, 40))
            add_op(m, txn, theme == SKEW, theme == SKEW ? below(&m->rng, m->key_count) : key);
        return;
    case MIXTURE:
    case THEMES:
        for (int i = 2 + below(&m->rng, m->op_limit - 1); i > 0; i--)
            add_op(m, txn, percent(&m->rng, m->writes_percent), below(&m->rng, m->key_count));
        return;
    }
}

/* Long forks, skewed writes, chains of updates, or crossed reads in one history out of six each. */
static enum theme choose_theme(struct making *m, int t)
{
    static const enum theme forks[] = {READ_ALL, READ_ALL, WRITE_ONE, WRITE_ONE, WRITE_SOME, UPDATE};
    static const enum theme skews[] = {SKEW, SKEW, SKEW, READ_ALL, UPDATE, WRITE_ONE};
    static const enum theme chains[] = {UPDATE, UPDATE, UPDATE, READ_ALL, SKEW, WRITE_SOME};
    const int i = below(&m->rng, 6);
    switch (m->themes) {
    case 0:
        return forks[i];
    case 1:
        return skews[i];
    case 2:
        return chains[i];
    case CROSSED:
        return t < m->crossed_writers * m->key_count ? WRITE_ONE : percent(&m->rng, 90) ? READ_ALL : SKEW;
    default:
        return percent(&m->rng, 40) ? MIXTURE : (enum theme)below(&m->rng, THEMES);
    }
}

static bool writes_before(const struct small_txn *txn, int key, int end)
{
    for (int i = 0; i < end; i++) {
        if (txn->ops[i].append && txn->ops[i].key == key)
            return true;
    }
    return false;
}

/* ---- sets ---- */

/* Update transactions that come before `t` in each serial order: those that conflict with it. */
static uint64_t conflicts_of(const struct making *m, int t)
{
    uint64_t earlier = 0;
    const struct small_txn *txn = &m->history->txns[t];
    for (int i = 0; i < txn->op_count; i++)
        earlier |= m->writers[txn->ops[i].key] | (txn->ops[i].append ? m->readers[txn->ops[i].key] : 0);
    return earlier & (bit(t) - 1);
}

static uint64_t closed(const struct making *m, uint64_t set)
{
    for (int t = SMALL_TXNS; t-- > 0;) {
        if (!in(set, t))
            continue;
        switch (m->model) {
        case GROWING_DEPENDENT:
            set |= m->depends[t];
            break;
        case SET_CLOSED:
        case SET_CLOSED_UPDATES:
            set |= m->saw[t];
            break;
        case GROWING_PREFIX:
        case PREFIX:
        case PREFIX_UPDATES:
            set |= m->committed & (bit(t) - 1);
            break;
        case SERIAL_UPDATES:
            set |= conflicts_of(m, t);
            break;
        case EACH_READ:
        case EACH_READ_UPDATES:
        case GROWING:
        case SET:
        case SET_UPDATES:
        case SERIAL:
        case MODELS:
            break;
        }
    }
    return set;
}

static uint64_t some_of(struct making *m, uint64_t set, int chance)
{
    uint64_t some = 0;
    for (int t = 0; t < SMALL_TXNS; t++)
        some |= in(set, t) && percent(&m->rng, chance) ? bit(t) : 0;
    return some;
}

static int any_of(struct making *m, uint64_t set)
{
    int chosen = NOTHING, count = 0;
    for (int t = 0; t < SMALL_TXNS; t++) {
        if (in(set, t) && below(&m->rng, ++count) == 0)
            chosen = t;
    }
    return chosen;
}

/* The set that the transaction sees before its first operation. */
static uint64_t first_set(struct making *m, int t)
{
    const struct small_txn *txn = &m->history->txns[t];
    uint64_t overwritten = 0;
    bool updates = false;
    for (int i = 0; i < txn->op_count; i++) {
        overwritten |= txn->ops[i].append ? m->writers[txn->ops[i].key] : 0;
        updates |= txn->ops[i].append;
    }
    if (m->model == SERIAL || (m->model == SERIAL_UPDATES && updates))
        return m->committed;
    if (m->model != SET_UPDATES && m->model != SET_CLOSED_UPDATES && m->model != PREFIX_UPDATES)
        overwritten = 0;
    return closed(m, overwritten | some_of(m, m->committed, m->sees_percent));
}

static uint64_t next_set(struct making *m, int t, int i, uint64_t sees)
{
    const struct small_op *op = &m->history->txns[t].ops[i];
    if (m->model != GROWING && m->model != GROWING_DEPENDENT && m->model != GROWING_PREFIX)
        return sees;
    sees |= some_of(m, m->committed, m->sees_percent / 2);
    if (op->append && m->model != GROWING)
        sees |= m->writers[op->key];
    return closed(m, sees);
}

/* ---- reads ---- */

/* The writer of the version that the read returns, or NOTHING. */
static int choose_version(struct making *m, int t, const struct small_op *read, uint64_t sees)
{
    const uint64_t writers = m->writers[read->key];
    const struct small_txn *txn = &m->history->txns[t];
    if (m->model == EACH_READ_UPDATES && writes_before(txn, read->key, txn->op_count))
        return last_of(writers);
    if (m->model == EACH_READ && m->themes == CROSSED)
        return any_of(m, writers);
    if (m->model == EACH_READ || m->model == EACH_READ_UPDATES)
        return last_of(some_of(m, writers, m->sees_percent));
    return last_of(writers & sees);
}

static void show_writes(const struct small_txn *txn, int end, bool registers, struct small_op *read)
{
    for (int i = 0; i < end; i++) {
        if (!txn->ops[i].append || txn->ops[i].key != read->key || read->count == SMALL_LIST)
            continue;
        read->list[registers ? 0 : read->count] = txn->ops[i].value;
        read->count = registers ? 1 : read->count + 1;
    }
}

/* Returns the writer of the version read, or NOTHING. A list with own appends shows all that precede them. */
static int fill_read(struct making *m, int t, int i, uint64_t sees)
{
    struct small_txn *txn = &m->history->txns[t];
    struct small_op *read = &txn->ops[i];
    const bool own = writes_before(txn, read->key, i), registers = m->history->registers;
    const int version = own ? last_of(m->writers[read->key]) : choose_version(m, t, read, sees);
    for (int w = 0; w <= version; w++) {
        if (in(m->writers[read->key], w))
            show_writes(&m->history->txns[w], m->history->txns[w].op_count, registers, read);
    }
    show_writes(txn, i, registers, read);
    return own ? NOTHING : version;
}

static void run(struct making *m, int t, bool commits)
{
    struct small_txn *txn = &m->history->txns[t];
    uint64_t sees = first_set(m, t);
    for (int i = 0; i < txn->op_count; i++) {
        sees = next_set(m, t, i, sees);
        int version = txn->ops[i].append ? last_of(m->writers[txn->ops[i].key]) : fill_read(m, t, i, sees);
        if (version != NOTHING)
            m->depends[t] |= bit(version) | m->depends[version];
    }
    m->saw[t] = sees;
    if (!commits)
        return;
    m->committed |= bit(t);
    for (int i = 0; i < txn->op_count; i++)
        *(txn->ops[i].append ? &m->writers[txn->ops[i].key] : &m->readers[txn->ops[i].key]) |= bit(t);
}

/* ---- times and processes ---- */

/* Gives the events positions in the order of `from` and `to`, which hold the times of the intervals. */
static void rank_events(struct making *m, const int from[SMALL_TXNS], const int to[SMALL_TXNS])
{
    const int count = m->history->txn_count;
    for (int t = 0; t < count; t++) {
        int begin = 0, end = 1;
        for (int o = 0; o < count; o++) {
            begin += (from[o] < from[t] || (from[o] == from[t] && o < t)) + (to[o] < from[t]);
            end += (from[o] <= to[t] && o != t) + (to[o] < to[t] || (to[o] == to[t] && o < t));
        }
        m->history->txns[t].invoke_at = begin;
        m->history->txns[t].complete_at = end;
    }
}

/* Each transaction goes on with a process that has finished its last one, or begins one. */
static void choose_processes(struct making *m, int limit)
{
    int last[SMALL_TXNS], count = 0; /* of each process: the completion of its last transaction */
    for (int at = 0; at < 2 * SMALL_TXNS; at++) {
        for (int t = 0; t < m->history->txn_count; t++) {
            struct small_txn *txn = &m->history->txns[t];
            if (txn->invoke_at != at)
                continue;
            int free[SMALL_TXNS], free_count = 0;
            for (int p = 0; p < count; p++) {
                if (last[p] < at)
                    free[free_count++] = p;
            }
            bool new = free_count == 0 || (count < limit && percent(&m->rng, 60));
            txn->process = new ? count++ : free[below(&m->rng, free_count)];
            last[txn->process] = txn->complete_at;
        }
    }
}

static void choose_times(struct making *m)
{
    int point[SMALL_TXNS], from[SMALL_TXNS], to[SMALL_TXNS];
    const int count = m->history->txn_count, length = 2 + below(&m->rng, 4) * 12;
    const int swaps = percent(&m->rng, 50) ? 0 : 1 + below(&m->rng, count);
    for (int t = 0; t < count; t++)
        point[t] = 10 * t;
    for (int i = 0; i < swaps; i++) {
        int a = below(&m->rng, count), b = below(&m->rng, count), kept = point[a];
        point[a] = point[b];
        point[b] = kept;
    }
    for (int t = 0; t < count; t++) {
        from[t] = point[t] - below(&m->rng, length);
        to[t] = point[t] + 1 + below(&m->rng, length);
    }
    rank_events(m, from, to);
    choose_processes(m, 1 + below(&m->rng, count));
}

/* ---- the record ---- */

static bool is_last_of_process(const struct small_history *history, int txn)
{
    for (int t = 0; t < history->txn_count; t++) {
        if (history->txns[t].process == history->txns[txn].process &&
            history->txns[t].invoke_at > history->txns[txn].invoke_at)
            return false;
    }
    return true;
}

/* The client does not learn the fate, and perhaps not the reads. */
static void make_unknown(struct making *m, int t)
{
    struct small_txn *txn = &m->history->txns[t];
    const bool never = percent(&m->rng, 50) && is_last_of_process(m->history, t);
    const bool forgets = never || percent(&m->rng, 50);
    txn->outcome = SMALL_INFO;
    if (never)
        txn->complete_at = SMALL_NEVER;
    for (int i = 0; i < txn->op_count; i++) {
        struct small_op *op = &txn->ops[i];
        op->known = op->known && !forgets;
    }
}

/* The read returns another version: one more or less of a list, another write to a register, or nothing. */
static void change_read(struct making *m)
{
    struct small_txn *txn = &m->history->txns[below(&m->rng, m->history->txn_count)];
    const struct small_txn *other = &m->history->txns[below(&m->rng, m->history->txn_count)];
    if (txn->op_count == 0 || other->op_count == 0)
        return;
    struct small_op *read = &txn->ops[below(&m->rng, txn->op_count)];
    const struct small_op *from = &other->ops[below(&m->rng, other->op_count)];
    if (read->append || !read->known)
        return;
    if (percent(&m->rng, 30) && read->count > 0) {
        read->count--;
    } else if (from->key == read->key && from->append) {
        int at = m->history->registers ? 0 : read->count;
        if (at < SMALL_LIST)
            read->list[at] = percent(&m->rng, 8) ? GARBAGE + below(&m->rng, 2) : from->value;
        read->count = at < SMALL_LIST ? at + 1 : at;
    }
}

static void forget_invocations(struct small_history *history)
{
    for (int t = history->txn_count; t-- > 0;) {
        history->txns[t].invoke_at = SMALL_NEVER;
        if (history->txns[t].complete_at == SMALL_NEVER)
            small_drop(history, t, -1);
    }
}

void small_execution(uint64_t seed, uint64_t number, struct small_shape shape, struct small_history *history)
{
    static const int factors[] = {1, 7, 60, 250};
    struct making m = {.history = history};
    bool known[SMALL_TXNS];
    rig_rng_init(&m.rng, seed ^ UINT64_C(0xe8ec07ed), number);
    memset(history, 0, sizeof *history);
    history->registers = shape.registers;
    history->txn_count = shape.least + below(&m.rng, shape.most - shape.least + 1);
    m.model = (enum model)below(&m.rng, MODELS);
    m.key_count = percent(&m.rng, 10) ? 1 : 2 + below(&m.rng, history->txn_count > 7 ? SMALL_KEYS - 1 : 2);
    m.read_keys = percent(&m.rng, 75) ? m.key_count : 1 + below(&m.rng, m.key_count);
    m.op_limit = 3 + below(&m.rng, SMALL_OPS - 2);
    m.writes_percent = 30 + 10 * below(&m.rng, 5);
    m.trouble_percent = 10 * below(&m.rng, 4);
    m.sees_percent = 15 + 15 * below(&m.rng, 5);
    m.themes = history->txn_count >= 8 && percent(&m.rng, 50) ? CROSSED : below(&m.rng, THEMED);
    m.crossed_writers = 2 + below(&m.rng, history->txn_count / 8);
    if (m.themes == CROSSED && percent(&m.rng, 70))
        m.model = EACH_READ;
    m.value_factor = factors[below(&m.rng, 4)];
    for (int t = 0; t < history->txn_count; t++) {
        const bool trouble = percent(&m.rng, m.trouble_percent), commits = !trouble || percent(&m.rng, 60);
        known[t] = !trouble || (!commits && percent(&m.rng, 50));
        make_operations(&m, &history->txns[t], t, choose_theme(&m, t));
        run(&m, t, commits);
        history->txns[t].outcome = commits ? SMALL_OK : SMALL_FAIL;
    }
    choose_times(&m);
    for (int t = 0; t < history->txn_count; t++) {
        if (!known[t])
            make_unknown(&m, t);
    }
    for (int i = percent(&m.rng, 35) ? 1 + below(&m.rng, 2) : 0; i > 0; i--)
        change_read(&m);
    if (percent(&m.rng, 10))
        forget_invocations(history);
    small_forget_nulls(history);
    history->same_times = !percent(&m.rng, 20) ? 0 : percent(&m.rng, 30) ? 4 * SMALL_TXNS : 2 + below(&m.rng, 4);
}
