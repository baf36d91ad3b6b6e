#include "history/types/sent_sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"

#define HEAD "# sql: "
#define FORM "# sql "

static const char *const words[] = {
#define WORD(name, word) [RIG_SQL_FORM_##name] = word,
    RIG_SQL_FRAME_TABLE(WORD) RIG_SQL_ACTION_TABLE(WORD) RIG_SQL_ROWS_TABLE(WORD)
#undef WORD
};

/* ---- the lines ---- */

void rig_sent_sql_add_head(int64_t table_count, uint32_t client_count, bool locks_some, struct rig_buf *meta)
{
    rig_buf_printf(meta, HEAD "%" PRId64 " tables, %u clients, %s read locks by chance\n", table_count,
                   (unsigned)client_count, locks_some ? "with" : "no");
}

void rig_sent_sql_add_form(enum rig_sql_form form, const char *text, struct rig_buf *meta)
{
    rig_buf_printf(meta, FORM "%s: ", words[form]);
    for (; *text != '\0'; text++) {
        if (*text == '\n')
            rig_buf_add_text(meta, "\\n");
        else
            rig_buf_add_char(meta, *text);
    }
    rig_buf_add_char(meta, '\n');
}

/* A number from 1 on, and the text behind it. */
static bool take_number(const char **at, const char *behind, int64_t most, int64_t *number)
{
    *number = 0;
    for (; **at >= '0' && **at <= '9' && *number <= most; ++*at)
        *number = *number * 10 + (**at - '0');
    if (*number < 1 || *number > most || strncmp(*at, behind, strlen(behind)) != 0)
        return false;
    *at += strlen(behind);
    return true;
}

static bool take_head(const char *at, struct rig_sent_sql *sent)
{
    int64_t clients;
    if (!take_number(&at, " tables, ", INT32_MAX, &sent->table_count) ||
        !take_number(&at, " clients, ", INT32_MAX, &clients))
        return false;
    sent->client_count = (uint32_t)clients;
    sent->locks_some = strncmp(at, "with ", strlen("with ")) == 0;
    return true;
}

/* A line of a form; others are left to later versions. */
static void take_form(const char *line, size_t length, struct rig_sent_sql *sent)
{
    for (size_t form = 0; form < RIG_SQL_FORM_COUNT; form++) {
        const size_t word = strlen(words[form]), start = strlen(FORM) + word;
        if (length <= start + 2 || strncmp(line + strlen(FORM), words[form], word) != 0 ||
            strncmp(line + start, ": ", 2) != 0)
            continue;
        sent->texts[form].at = line + start + 2;
        sent->texts[form].length = length - start - 2;
        return;
    }
}

bool rig_sent_sql_read(const char *meta, struct rig_sent_sql *sent)
{
    bool has_head = false;
    *sent = (struct rig_sent_sql){.table_count = 0};
    while (meta != NULL && *meta != '\0') {
        const size_t length = strcspn(meta, "\n");
        if (strncmp(meta, HEAD, strlen(HEAD)) == 0)
            has_head = take_head(meta + strlen(HEAD), sent);
        else if (strncmp(meta, FORM, strlen(FORM)) == 0)
            take_form(meta, length, sent);
        meta += length + (meta[length] == '\n');
    }
    return has_head;
}

/* ---- a statement ---- */

struct saying {
    const struct rig_sent_sql *sent;
    const struct rig_sent_question *question;
    const char *before;
    struct rig_buf *out;
};

/* The class of the row that a statement writes. */
static int64_t class_of(const struct rig_sql_numbers *numbers)
{
    return rig_row_class(numbers->further != 0 ? numbers->further : numbers->value);
}

static void end_line(struct rig_buf *out, bool is_remark)
{
    rig_buf_add_text(out, is_remark ? "\n" : ";\n");
}

/* False: the run has no such statement. */
static bool say_form(const struct saying *say, enum rig_sql_form form, const struct rig_sql_numbers *numbers)
{
    const char *at = say->sent->texts[form].at, *end = at + (at == NULL ? 0 : say->sent->texts[form].length);
    const int64_t values[RIG_SQL_PLACES] = {numbers->key,
                                            numbers->value,
                                            numbers->expected,
                                            numbers->further,
                                            (int64_t)((uint64_t)numbers->key % (uint64_t)say->sent->table_count),
                                            class_of(numbers)};
    bool is_remark = false, is_new = true;
    if (at == NULL)
        return false;
    for (; at < end; at++) {
        if (is_new) {
            is_remark = end - at >= 2 && strncmp(at, "--", 2) == 0;
            rig_buf_add_text(say->out, say->before);
            is_new = false;
        }
        if (end - at >= 2 && at[0] == '$' && at[1] >= '1' && at[1] <= '0' + RIG_SQL_PLACES) {
            rig_buf_add_int(say->out, values[*++at - '1']);
        } else if (end - at >= 2 && at[0] == '\\' && at[1] == 'n') {
            end_line(say->out, is_remark);
            is_new = true;
            at++;
        } else {
            rig_buf_add_char(say->out, *at);
        }
    }
    end_line(say->out, is_remark);
    return true;
}

/* The value after an increment: what was read, and the increments of the key since then. */
static int64_t sum_since(const struct rig_sent_question *question, uint32_t read, uint32_t op)
{
    int64_t sum = question->reads[read].value;
    for (uint32_t i = read + 1; i <= op; i++)
        sum += question->ops[i].key == question->ops[op].key ? question->ops[i].value : 0;
    return sum;
}

static void say_action(const struct saying *say, uint32_t op)
{
    const struct rig_sent_question *question = say->question;
    const uint32_t read = rig_sql_ops_build_on(question->ops, op);
    const bool has_read = read != UINT32_MAX && question->reads[read].state == RIG_READ_SEEN;
    struct rig_sql_numbers numbers;
    const enum rig_sql_action action =
        rig_sql_ops_action(question->workload, question->ops, op, question->client, has_read, &numbers);
    if (action == RIG_SQL_NOTHING)
        return;
    if (action == RIG_SQL_REPLACE)
        numbers.value = sum_since(question, read, op);
    const enum rig_sql_form form = (enum rig_sql_form)(RIG_SQL_FORM_READ + (int)action);
    if (action != RIG_SQL_READ || question->read_only || say->sent->texts[RIG_SQL_FORM_READ_LOCKED].at == NULL) {
        (void)say_form(say, form, &numbers);
        return;
    }
    (void)say_form(say, RIG_SQL_FORM_READ_LOCKED, &numbers);
    if (!say->sent->locks_some)
        return;
    rig_buf_printf(say->out, "%s-- or without the lock, which some reads take by chance:\n", say->before);
    (void)say_form(say, form, &numbers);
}

static void say_operation(const struct saying *say, uint32_t op)
{
    const struct rig_sent_question *question = say->question;
    struct rig_sql_numbers numbers = {.key = 0};
    if (question->savepoint_from < question->savepoint_to && op == question->savepoint_from)
        (void)say_form(say, RIG_SQL_FORM_SAVEPOINT, &numbers);
    if (question->savepoint_from < question->savepoint_to && op == question->savepoint_to)
        (void)say_form(say, RIG_SQL_FORM_ROLLBACK_TO, &numbers);
    if (say->sent->texts[RIG_SQL_FORM_INSERT].at == NULL) {
        say_action(say, op);
        return;
    }
    const enum rig_sql_predicate which = rig_sql_ops_predicate(question->ops, question->op_count, op, &numbers);
    if (which != RIG_SQL_PREDICATE_COUNT)
        (void)say_form(say, (enum rig_sql_form)(RIG_SQL_FORM_LIST_BY_ID + (int)which), &numbers);
}

void rig_sent_sql_say_session(const struct rig_sent_sql *sent, const char *before, struct rig_buf *out)
{
    static const struct rig_sql_numbers none;
    const struct saying say = {.sent = sent, .before = before, .out = out};
    (void)say_form(&say, RIG_SQL_FORM_SESSION, &none);
}

static void say_operations(const struct saying *say)
{
    static const struct rig_sql_numbers none;
    if (!say->question->read_only || !say_form(say, RIG_SQL_FORM_BEGIN_READ_ONLY, &none))
        (void)say_form(say, RIG_SQL_FORM_BEGIN, &none);
    for (uint32_t op = 0; op < say->question->op_count && op < RIG_SENT_SQL_OPS; op++)
        say_operation(say, op);
    if (say->question->op_count > RIG_SENT_SQL_OPS) {
        const uint32_t others = say->question->op_count - RIG_SENT_SQL_OPS;
        rig_buf_printf(say->out, "%s-- [.. %u other%s ..]\n", say->before, (unsigned)others, rig_plural(others));
    }
}

void rig_sent_sql_say(const struct rig_sent_sql *sent, const struct rig_sent_question *question, const char *before,
                      struct rig_buf *out)
{
    static const struct rig_sql_numbers none;
    const struct saying say = {.sent = sent, .question = question, .before = before, .out = out};
    say_operations(&say);
    if (question->rolls_back)
        rig_buf_printf(out, "%s-- %s\n", before, RIG_ROLLED_BACK_TEXT);
    else
        (void)say_form(&say, RIG_SQL_FORM_COMMIT, &none);
}

/* ---- a transaction of a history ---- */

bool rig_sent_sql_say_txn(const struct rig_sent_sql *sent, const struct rig_history *history, uint32_t txn,
                          const char *before, struct rig_buf *out)
{
    static const char *const endings[] = {[RIG_OUTCOME_OK] = NULL,
                                          [RIG_OUTCOME_FAIL] = "the transaction failed",
                                          [RIG_OUTCOME_INFO] = "the client never learned the outcome"};
    const struct rig_txn *of = &history->txns[txn];
    const struct rig_txn_op *from = rig_txn_ops(history, txn);
    const uint32_t count = rig_txn_op_count(history, txn);
    struct rig_op *ops = calloc((size_t)count + 1, sizeof *ops);
    struct rig_read *reads = calloc((size_t)count + 1, sizeof *reads);
    const bool good = ops != NULL && reads != NULL && history->key_texts == NULL;
    struct rig_sent_question question = {.workload = history->workload,
                                         .ops = ops,
                                         .op_count = count,
                                         .reads = reads,
                                         .client = (uint32_t)of->process % sent->client_count,
                                         .read_only = true};
    for (uint32_t i = 0; good && i < count; i++) {
        const bool is_read = rig_op_reads(from[i].kind);
        ops[i] = (struct rig_op){.kind = (enum rig_op_kind)from[i].kind,
                                 .key = history->keys[from[i].key],
                                 .value = is_read ? 0 : from[i].value};
        reads[i].state = (enum rig_read_state)from[i].read_state;
        reads[i].value = is_read && !rig_op_reads_sequence(from[i].kind) ? from[i].value : 0;
        question.read_only = question.read_only && is_read;
    }
    if (good) {
        static const struct rig_sql_numbers none;
        const struct saying say = {.sent = sent, .question = &question, .before = before, .out = out};
        say_operations(&say);
        if (of->outcome != RIG_OUTCOME_FAIL)
            (void)say_form(&say, RIG_SQL_FORM_COMMIT, &none);
        const char *ending = rig_txn_is_rolled_back(history, txn) ? RIG_ROLLED_BACK_TEXT : endings[of->outcome];
        if (ending != NULL)
            rig_buf_printf(out, "%s-- %s\n", before, ending);
    }
    free(ops);
    free(reads);
    return good;
}
