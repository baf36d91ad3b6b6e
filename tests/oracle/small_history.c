#include "tests/oracle/small_history.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char key_letters[SMALL_KEYS + 1] = "xyzw";
static const char *const outcome_names[] = {"ok", "fail", "info"};

static const char *skip_blanks(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

/* A number at *at; moves *at behind it. */
static bool take_int(const char **at, int *number)
{
    char *end;
    *at = skip_blanks(*at);
    if (!isdigit((unsigned char)**at))
        return false;
    *number = (int)strtol(*at, &end, 10);
    *at = end;
    return true;
}

static bool take_list(const char **at, struct small_op *op)
{
    while (take_int(at, &op->list[op->count])) {
        if (++op->count == SMALL_LIST)
            return false;
    }
    if (**at != ']')
        return false;
    (*at)++;
    return true;
}

static bool take_op(const char **at, struct small_op *op)
{
    *op = (struct small_op){.append = **at == 'a'};
    if (**at != 'a' && **at != 'r')
        return false;
    (*at)++;
    const char *letter = **at == '\0' ? NULL : strchr(key_letters, **at);
    if (letter == NULL)
        return false;
    op->key = (int)(letter - key_letters);
    (*at)++;
    if (op->append)
        return take_int(at, &op->value);
    char form = *(*at)++;
    op->known = form == '[';
    return form == '?' || (form == '[' && take_list(at, op));
}

static bool take_txn(const char **at, struct small_txn *txn)
{
    *txn = (struct small_txn){.complete_at = SMALL_NEVER};
    bool named = false;
    for (int i = 0; i < 3 && !named; i++) {
        size_t length = strlen(outcome_names[i]);
        if (strncmp(*at, outcome_names[i], length) == 0) {
            txn->outcome = (enum small_outcome)i;
            *at += length;
            named = true;
        }
    }
    if (!named || !take_int(at, &txn->process) || !take_int(at, &txn->invoke_at) || *(*at)++ != '-')
        return false;
    if (**at != ':' && !take_int(at, &txn->complete_at))
        return false;
    if (*(*at)++ != ':')
        return false;
    for (*at = skip_blanks(*at); **at != '\0' && **at != ';' && **at != '\n'; *at = skip_blanks(*at)) {
        if (txn->op_count == SMALL_OPS || !take_op(at, &txn->ops[txn->op_count++]))
            return false;
    }
    return true;
}

bool small_parse(const char *text, struct small_history *history)
{
    *history = (struct small_history){0};
    const char *at = text;
    for (;;) {
        while (*at == ' ' || *at == ';' || *at == '\n')
            at++;
        if (*at == '\0')
            return true;
        if (history->txn_count == SMALL_TXNS || !take_txn(&at, &history->txns[history->txn_count++]))
            return false;
    }
}

static void print_list(const struct small_op *op, const char *separator, FILE *out)
{
    fputc('[', out);
    for (int i = 0; i < op->count; i++)
        fprintf(out, "%s%d", i > 0 ? separator : "", op->list[i]);
    fputc(']', out);
}

/* A read without a result is null; in an acknowledged transaction, where null is the initial state, it is omitted. */
static void print_op(const struct small_op *op, bool registers, bool completion, bool ok, FILE *out)
{
    const char *write = registers ? "w" : "append";
    fprintf(out, "[\"%s\", %d", op->append ? write : "r", op->key);
    if (op->append)
        fprintf(out, ", %d", op->value);
    else if (completion && !op->known && ok)
        fputs("", out);
    else if (!completion || !op->known || (registers && op->count == 0))
        fputs(", null", out);
    else if (registers)
        fprintf(out, ", %d", op->list[op->count - 1]);
    else {
        fputs(", ", out);
        print_list(op, ", ", out);
    }
    fputc(']', out);
}

static void print_event(const struct small_history *history, const struct small_txn *txn, int at, bool completion,
                        FILE *out)
{
    int time = history->same_times > 1 ? at / history->same_times : at;
    fprintf(out, "{\"index\": %d, \"time\": %d, \"type\": \"%s\", \"process\": %d, \"f\": \"txn\", \"value\": [", at,
            time * 1000000, completion ? outcome_names[txn->outcome] : "invoke", txn->process);
    for (int i = 0; i < txn->op_count; i++) {
        fputs(i > 0 ? ", " : "", out);
        print_op(&txn->ops[i], history->registers, completion, txn->outcome == SMALL_OK, out);
    }
    fputs("]}\n", out);
}

void small_print_json(const struct small_history *history, FILE *out)
{
    int last = 0;
    for (int t = 0; t < history->txn_count; t++) {
        const struct small_txn *txn = &history->txns[t];
        last = txn->invoke_at > last ? txn->invoke_at : last;
        last = txn->complete_at > last ? txn->complete_at : last;
    }
    for (int at = 0; at <= last; at++) {
        for (int t = 0; t < history->txn_count; t++) {
            const struct small_txn *txn = &history->txns[t];
            if (txn->invoke_at == at)
                print_event(history, txn, at, false, out);
            if (txn->complete_at == at)
                print_event(history, txn, at, true, out);
        }
    }
}

void small_print(const struct small_history *history, const char *indent, FILE *out)
{
    for (int t = 0; t < history->txn_count; t++) {
        const struct small_txn *txn = &history->txns[t];
        fprintf(out, "%s%s %d ", indent, outcome_names[txn->outcome], txn->process);
        if (txn->invoke_at != SMALL_NEVER)
            fprintf(out, "%d", txn->invoke_at);
        fputc('-', out);
        if (txn->complete_at != SMALL_NEVER)
            fprintf(out, "%d", txn->complete_at);
        fputc(':', out);
        for (int i = 0; i < txn->op_count; i++) {
            const struct small_op *op = &txn->ops[i];
            fprintf(out, " %c%c", op->append ? 'a' : 'r', key_letters[op->key]);
            if (op->append)
                fprintf(out, "%d", op->value);
            else if (op->known)
                print_list(op, " ", out);
            else
                fputc('?', out);
        }
        fputc('\n', out);
    }
}

void small_forget_nulls(struct small_history *history)
{
    for (int t = 0; t < history->txn_count && history->registers; t++) {
        for (int i = 0; i < history->txns[t].op_count; i++) {
            struct small_op *op = &history->txns[t].ops[i];
            op->known = op->known && (op->count > 0 || history->txns[t].outcome == SMALL_OK);
        }
    }
}

static bool is_known_read(const struct small_op *op)
{
    return !op->append && op->known;
}

/* The ok transactions, and the info ones with a write that one of these read, or that one of those read. */
static void find_committed(const struct small_history *history, bool committed[SMALL_TXNS])
{
    bool changed = true;
    for (int t = 0; t < history->txn_count; t++)
        committed[t] = history->txns[t].outcome == SMALL_OK;
    while (changed) {
        changed = false;
        for (int t = 0; t < history->txn_count; t++) {
            for (int i = 0; i < history->txns[t].op_count && committed[t]; i++) {
                const struct small_op *read = &history->txns[t].ops[i];
                int op, writer = is_known_read(read) && read->count > 0
                                     ? small_writer(history, read->key, read->list[0], &op)
                                     : -1;
                if (writer < 0 || committed[writer] || history->txns[writer].outcome != SMALL_INFO)
                    continue;
                committed[writer] = changed = true;
            }
        }
    }
}

/* A read that shows what the key began with, or NULL when it began as nil. */
static const struct small_op *initial_read(const struct small_history *history, const bool committed[SMALL_TXNS],
                                           int key)
{
    const struct small_op *initial = NULL;
    long best = -1;
    for (int t = 0; t < history->txn_count; t++) {
        const struct small_txn *txn = &history->txns[t];
        const long end = txn->complete_at == SMALL_NEVER ? 100000 : txn->complete_at;
        const long rank = (txn->outcome == SMALL_OK ? 0 : 200000) + end;
        for (int i = 0; i < txn->op_count && committed[t]; i++) {
            int op;
            if (!is_known_read(&txn->ops[i]) || txn->ops[i].key != key)
                continue;
            if (txn->ops[i].count == 0)
                return NULL;
            if (small_writer(history, key, txn->ops[i].list[0], &op) < 0 && (best < 0 || rank < best)) {
                initial = &txn->ops[i];
                best = rank;
            }
        }
    }
    return initial;
}

void small_name_initial(struct small_history *history)
{
    bool committed[SMALL_TXNS] = {false};
    find_committed(history, committed);
    for (int key = 0; key < SMALL_KEYS && history->registers; key++) {
        const struct small_op *initial = initial_read(history, committed, key);
        const int value = initial == NULL ? 0 : initial->list[0];
        for (int t = 0; t < history->txn_count && initial != NULL; t++) {
            for (int i = 0; i < history->txns[t].op_count; i++) {
                struct small_op *read = &history->txns[t].ops[i];
                if (is_known_read(read) && read->key == key && read->count > 0 && read->list[0] == value)
                    *read = (struct small_op){.known = true, .key = key, .has_row = true};
            }
        }
    }
}

int small_writer(const struct small_history *history, int key, int value, int *op)
{
    for (int t = 0; t < history->txn_count; t++) {
        const struct small_txn *txn = &history->txns[t];
        for (int i = 0; i < txn->op_count; i++) {
            if (txn->ops[i].append && txn->ops[i].key == key && txn->ops[i].value == value) {
                *op = i;
                return t;
            }
        }
    }
    return -1;
}

int small_appends_before(const struct small_txn *txn, int key, int op)
{
    int count = 0;
    for (int i = 0; i < op; i++)
        count += txn->ops[i].append && txn->ops[i].key == key;
    return count;
}
