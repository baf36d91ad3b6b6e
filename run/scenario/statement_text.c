#include "run/scenario/statement_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TOKEN_BYTES = 64 };

struct reading {
    const char *at; /* after the token */
    char token[TOKEN_BYTES];
    const struct rig_row_table *table;
    struct rig_row_statement *statement;
    int64_t *values;
    uint32_t value_count;
    char *fault;
    bool failed;
};

static void next(struct reading *r)
{
    size_t length = 0;
    while (isspace((unsigned char)*r->at))
        r->at++;
    if (isalpha((unsigned char)*r->at) || *r->at == '_') {
        while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_')
            length++;
    } else if (isdigit((unsigned char)*r->at)) {
        while (isdigit((unsigned char)r->at[length]))
            length++;
    } else if (r->at[0] == '>' && r->at[1] == '=')
        length = 2;
    else
        length = *r->at != '\0';
    const size_t kept = length < TOKEN_BYTES ? length : TOKEN_BYTES - 1;
    memcpy(r->token, r->at, kept);
    r->token[kept] = '\0';
    r->at += length;
}

static void refuse(struct reading *r, const char *expected)
{
    if (!r->failed && r->token[0] == '\0')
        (void)snprintf(r->fault, RIG_STATEMENT_FAULT_BYTES, "expected %s at the end", expected);
    else if (!r->failed)
        (void)snprintf(r->fault, RIG_STATEMENT_FAULT_BYTES, "expected %s, found `%s`", expected, r->token);
    r->failed = true;
}

static bool is(const struct reading *r, const char *word)
{
    return strcasecmp(r->token, word) == 0;
}

/* Takes the word if it is next. */
static bool take(struct reading *r, const char *word)
{
    if (r->failed || !is(r, word))
        return false;
    next(r);
    return true;
}

static void need(struct reading *r, const char *word)
{
    char quoted[TOKEN_BYTES + 2];
    (void)snprintf(quoted, sizeof quoted, "`%s`", word);
    if (!r->failed && !take(r, word))
        refuse(r, quoted);
}

static void need_table(struct reading *r)
{
    if (!r->failed && !take(r, r->table->name))
        refuse(r, "the table's name");
}

static uint8_t need_column(struct reading *r)
{
    for (uint32_t i = 0; i < r->table->column_count && !r->failed; i++) {
        if (take(r, r->table->columns[i]))
            return (uint8_t)i;
    }
    refuse(r, "a column of the table");
    return 0;
}

/* A whole number becomes the statement's next value. */
static void need_number(struct reading *r, bool negated)
{
    negated ^= take(r, "-");
    char *end = NULL;
    errno = 0;
    const long long number = r->failed ? 0 : strtoll(r->token, &end, 10);
    if (r->failed || r->token[0] == '\0' || !isdigit((unsigned char)r->token[0]) || *end != '\0' || errno != 0 ||
        r->value_count == RIG_ROW_VALUES) {
        refuse(r, "a whole number");
        return;
    }
    r->values[r->value_count++] = negated ? -number : number;
    next(r);
}

static void read_conditions(struct reading *r)
{
    struct rig_row_statement *statement = r->statement;
    if (!take(r, "where"))
        return;
    do {
        if (statement->condition_count == RIG_ROW_CONDITIONS) {
            refuse(r, "no further condition");
            return;
        }
        struct rig_row_condition *condition = &statement->conditions[statement->condition_count++];
        condition->column = need_column(r);
        if (take(r, "="))
            condition->test = RIG_ROW_EQUAL;
        else if (take(r, ">="))
            condition->test = RIG_ROW_AT_LEAST;
        else if (take(r, "<"))
            condition->test = RIG_ROW_BELOW;
        else
            refuse(r, "`=`, `>=` or `<`");
        need_number(r, false);
    } while (take(r, "and"));
}

static void read_assignment(struct reading *r)
{
    struct rig_row_statement *statement = r->statement;
    if (statement->assignment_count == RIG_ROW_ASSIGNMENTS) {
        refuse(r, "no further assignment");
        return;
    }
    struct rig_row_assignment *assignment = &statement->assignments[statement->assignment_count++];
    assignment->column = need_column(r);
    assignment->source = RIG_ROW_VALUE;
    need(r, "=");
    if (r->failed || !is(r, r->table->columns[assignment->column])) {
        need_number(r, false);
        return;
    }
    next(r);
    assignment->source = RIG_ROW_SUM;
    const bool negated = is(r, "-");
    if (!take(r, "+") && !take(r, "-"))
        refuse(r, "`+` or `-`");
    need_number(r, negated);
}

static void read_update(struct reading *r)
{
    r->statement->act = RIG_ROW_UPDATE;
    r->statement->counted = true;
    need_table(r);
    need(r, "set");
    do
        read_assignment(r);
    while (take(r, ","));
    read_conditions(r);
}

static void read_insertion(struct reading *r)
{
    r->statement->act = RIG_ROW_INSERT;
    need(r, "into");
    need_table(r);
    need(r, "values");
    need(r, "(");
    for (uint32_t i = 0; i < r->table->column_count; i++) {
        if (i > 0)
            need(r, ",");
        need_number(r, false);
    }
    need(r, ")");
}

static void read_selection(struct reading *r)
{
    r->statement->act = RIG_ROW_SELECT;
    need(r, "*");
    need(r, "from");
    need_table(r);
    read_conditions(r);
    if (take(r, "order")) {
        need(r, "by");
        r->statement->order = need_column(r);
        r->statement->ordered = true;
    }
    if (take(r, "for")) {
        need(r, "update");
        r->statement->for_update = true;
    }
}

bool rig_statement_text_parse(const char *text, const struct rig_row_table *table, struct rig_row_statement *statement,
                              int64_t values[RIG_ROW_VALUES], char fault[RIG_STATEMENT_FAULT_BYTES])
{
    struct reading r = {.at = text, .table = table, .statement = statement, .values = values, .fault = fault};
    *statement = (struct rig_row_statement){.table = 0};
    next(&r);
    if (take(&r, "select"))
        read_selection(&r);
    else if (take(&r, "insert"))
        read_insertion(&r);
    else if (take(&r, "update"))
        read_update(&r);
    else if (take(&r, "delete")) {
        statement->act = RIG_ROW_DELETE;
        need(&r, "from");
        need_table(&r);
        read_conditions(&r);
    } else
        refuse(&r, "`select`, `insert`, `update`, `delete`, `commit` or `rollback`");
    if (!r.failed && r.token[0] != '\0')
        refuse(&r, "nothing further");
    return !r.failed;
}
