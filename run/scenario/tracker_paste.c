#include "run/scenario/tracker_paste.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"

enum { SESSION_BYTES = 32, STATEMENTS_MOST = RIG_SQL_SCENARIO_STEPS_MOST + 256 };

enum part { SETUP, STEPS, FINAL };

/* A statement, before it is known to which part it belongs. */
struct statement {
    const char *text;
    uint32_t line;
    enum part part;
    char session[SESSION_BYTES];
};

struct pasting {
    struct rig_sql_scenario *interleaving;
    const char *file;
    const char *at, *end;
    uint32_t line;
    enum part part;
    char session[SESSION_BYTES];
    struct rig_buf text; /* of the statement that is being read */
    uint32_t text_line;
    struct statement *statements;
    uint32_t count;
    uint32_t line_first; /* statements before this line */
    struct rig_err *err;
    enum rig_rc rc;
};

static void refuse(struct pasting *p, uint32_t line, const char *what)
{
    if (p->rc == RIG_OK)
        p->rc = rig_fail(p->err, RIG_E_PLAN, "%s:%u: %s", p->file, (unsigned)line, what);
}

/* ---- statements ---- */

static bool is_blank(const struct rig_buf *text)
{
    for (size_t i = 0; i < text->size; i++) {
        if (isspace((unsigned char)text->data[i]) == 0)
            return false;
    }
    return true;
}

/* Without blanks at its ends. */
static const char *take_text(struct pasting *p)
{
    size_t begin = 0, end = p->text.size;
    while (begin < end && isspace((unsigned char)p->text.data[begin]) != 0)
        begin++;
    while (end > begin && isspace((unsigned char)p->text.data[end - 1]) != 0)
        end--;
    return rig_arena_text(&p->interleaving->arena, p->text.data + begin, end - begin);
}

static void end_statement(struct pasting *p)
{
    if (!is_blank(&p->text) && p->count == STATEMENTS_MOST) {
        refuse(p, p->line, "expected fewer statements");
    } else if (!is_blank(&p->text)) {
        struct statement *statement = &p->statements[p->count++];
        *statement = (struct statement){.text = take_text(p), .line = p->text_line, .part = p->part};
        memcpy(statement->session, p->session, sizeof statement->session);
        if (statement->text == NULL || p->text.failed)
            p->rc = rig_no_memory(p->err, "a scenario");
    }
    rig_buf_clear(&p->text);
    p->text_line = 0;
}

static void add(struct pasting *p, const char *text, size_t length)
{
    if (p->text_line == 0 && length > 0 && isspace((unsigned char)*text) == 0)
        p->text_line = p->line;
    rig_buf_add(&p->text, text, length);
}

/* ---- names of sessions ---- */

static size_t word_length(const char *text, const char *end)
{
    size_t length = 0;
    while (text + length < end && (isalnum((unsigned char)text[length]) != 0 || text[length] == '_'))
        length++;
    return length;
}

static bool is_prefix(const char *text, size_t length)
{
    static const char *const prefixes[] = {"session",  "sess",        "connection", "conn", "con", "client",
                                           "terminal", "thread",      "txn",        "trx",  "tx",  "process",
                                           "user",     "transaction", "s",          "t",    "c",   NULL};
    for (size_t i = 0; prefixes[i] != NULL; i++) {
        if (strlen(prefixes[i]) == length && strncasecmp(prefixes[i], text, length) == 0)
            return true;
    }
    return false;
}

/* "T1", "conn_a", "session2", "A". */
static bool is_whole_name(const char *text, size_t length)
{
    size_t letters = 0;
    while (letters < length && isalpha((unsigned char)text[letters]) != 0)
        letters++;
    if (length == 1)
        return isupper((unsigned char)text[0]) != 0;
    if (letters < length && text[letters] == '_')
        return is_prefix(text, letters) && length - letters == 2;
    return letters > 0 && letters < length && length - letters <= 3 && is_prefix(text, letters) &&
           strspn(text + letters, "0123456789") >= length - letters;
}

/* The session that a comment or prompt names at its beginning. 0: none; else the characters that were read. */
static size_t read_session(const char *text, const char *end, char session[static SESSION_BYTES])
{
    const char *begin = text;
    while (text < end && strchr(" \t-=*#[(<", *text) != NULL)
        text++;
    const size_t length = word_length(text, end);
    const char *after = text + length;
    if (length == 0 || length >= SESSION_BYTES)
        return 0;
    const char *further = after;
    while (further < end && (*further == ' ' || *further == '\t' || *further == '\r'))
        further++;
    const bool is_article = length == 1 && further < end && further > after && isalnum((unsigned char)*further) != 0;
    if (!is_article && is_whole_name(text, length) && (after == end || strchr(" \t:.,;>)]-=*/\r@", *after) != NULL)) {
        (void)snprintf(session, SESSION_BYTES, "%.*s", (int)length, text);
        return (size_t)(after - begin);
    }
    const char *number = after + (after < end && strchr(" -#", *after) != NULL);
    number += number < end && *number == '#';
    const size_t number_length = word_length(number, end);
    const bool is_number = number_length > 0 && strspn(number, "0123456789") >= number_length;
    const bool is_letter = number_length == 1 && isalpha((unsigned char)*number) != 0;
    if (number == after || !is_prefix(text, length) || length < 2)
        return 0;
    if (number_length < SESSION_BYTES && is_whole_name(number, number_length)) /* "session T1" is T1 */
        (void)snprintf(session, SESSION_BYTES, "%.*s", (int)number_length, number);
    else if ((is_number || is_letter) && number_length <= 3)
        (void)snprintf(session, SESSION_BYTES, "%.*s%.*s", (int)length, text, (int)number_length, number);
    else
        return 0;
    return (size_t)(number + number_length - begin);
}

static bool begins_with(const char *text, const char *end, const char *word)
{
    const size_t length = strlen(word);
    while (text < end && strchr(" \t-=*", *text) != NULL)
        text++;
    return (size_t)(end - text) >= length && strncasecmp(text, word, length) == 0 &&
           (text + length == end || isalnum((unsigned char)text[length]) == 0);
}

static bool read_part(const char *text, const char *end, enum part *part)
{
    static const struct {
        const char *word;
        enum part part;
    } words[] = {{"setup", SETUP},  {"set up", SETUP}, {"init", SETUP},  {"prepare", SETUP},
                 {"schema", SETUP}, {"final", FINAL},  {"check", FINAL}, {"verify", FINAL}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (begins_with(text, end, words[i].word)) {
            *part = words[i].part;
            return true;
        }
    }
    return false;
}

/* ---- comments ---- */

/* Statements of this line that end before the comment: it stands after them, and is about them. */
static bool ends_line(const struct pasting *p, const char *after)
{
    while (after < p->end && (*after == ' ' || *after == '\t' || *after == '\r'))
        after++;
    return (after == p->end || *after == '\n') && p->count > p->line_first && is_blank(&p->text);
}

/* A comment between `text` and `end`; `after` is behind its last mark. */
static void read_comment(struct pasting *p, const char *text, const char *end, const char *after)
{
    char session[SESSION_BYTES];
    enum part part = p->part;
    if (read_session(text, end, session) == 0) {
        if (read_part(text, end, &part)) {
            end_statement(p);
            p->part = part;
            p->session[0] = '\0';
        } else if (text[0] == '+' || text[0] == '!') { /* a hint, or SQL for one product */
            add(p, text - 2, (size_t)(after - text) + 2);
        }
        return;
    }
    if (ends_line(p, after)) {
        for (uint32_t i = p->line_first; i < p->count; i++) {
            memcpy(p->statements[i].session, session, sizeof session);
            p->statements[i].part = STEPS;
        }
        return;
    }
    end_statement(p);
    p->part = STEPS;
    memcpy(p->session, session, sizeof session);
}

/* ---- lines that are no SQL ---- */

static bool is_output(const char *line, size_t length)
{
    static const char *const begins[] = {"+--",           "| ",    "Query OK", "Empty set", "ERROR ",    "ERROR:",
                                         "Rows matched:", "Time:", "--->",     "----+",     "Records: ", NULL};
    for (size_t i = 0; begins[i] != NULL; i++) {
        if (length >= strlen(begins[i]) && strncmp(line, begins[i], strlen(begins[i])) == 0)
            return true;
    }
    const size_t digits = strspn(line, "(0123456789");
    return digits > 0 && length > digits + 4 &&
           (strncmp(line + digits, " row)", 5) == 0 || strncmp(line + digits, " rows", 5) == 0 ||
            strncmp(line + digits, " row ", 5) == 0);
}

static const char *line_end(const struct pasting *p, const char *at)
{
    const char *end = at < p->end ? memchr(at, '\n', (size_t)(p->end - at)) : NULL;
    return end == NULL ? p->end : end;
}

/* "T1> begin", "T1: begin", "mysql-1> begin" is none; "mysql> begin" has a prompt without a session. */
static void begin_line(struct pasting *p)
{
    const char *at = p->at + strspn(p->at, " \t"), *end = line_end(p, at);
    char session[SESSION_BYTES];
    p->line_first = p->count;
    if (is_output(at, (size_t)(end - at)) && is_blank(&p->text)) {
        p->at = end;
        return;
    }
    const size_t length = word_length(at, end) > 0 ? read_session(at, end, session) : 0;
    const char *mark = at + length + (length > 0 ? strspn(at + length, " ") : 0);
    if (length > 0 && mark < end && (*mark == '>' || *mark == ':') && (mark + 1 >= end || mark[1] != ':')) {
        end_statement(p);
        p->part = STEPS;
        memcpy(p->session, session, sizeof session);
        p->at = mark + 1;
        return;
    }
    const char *prompt = memchr(at, '>', (size_t)(end - at));
    static const char *const clients[] = {"mysql", "MariaDB", "sqlite", "postgres", NULL};
    for (size_t i = 0; prompt != NULL && clients[i] != NULL; i++) {
        if (strncmp(at, clients[i], strlen(clients[i])) == 0 && prompt - at < 40) {
            p->at = prompt + 1;
            return;
        }
    }
}

/* ---- the text ---- */

/* A text in quotes, to its end. */
static void read_quoted(struct pasting *p)
{
    const char quote = *p->at;
    const char *begin = p->at++;
    const uint32_t line = p->line;
    while (p->at < p->end && *p->at != quote) {
        p->line += *p->at == '\n';
        p->at += *p->at == '\\' && quote == '\'' && p->at + 1 < p->end && p->at[1] == quote ? 2 : 1;
    }
    if (p->at >= p->end) {
        refuse(p, line, "a text in quotes that does not end");
        return;
    }
    p->at++;
    add(p, begin, (size_t)(p->at - begin));
}

/* $$ ... $$ or $name$ ... $name$; false: it is no such text. */
static bool read_dollars(struct pasting *p)
{
    const char *begin = p->at;
    const size_t name = word_length(begin + 1, p->end);
    if (begin + 1 + name >= p->end || begin[1 + name] != '$' || isdigit((unsigned char)begin[1]) != 0)
        return false;
    const size_t length = name + 2;
    for (const char *at = begin + length; at + length <= p->end; at++) {
        if (memcmp(at, begin, length) != 0)
            continue;
        add(p, begin, (size_t)(at + length - begin));
        for (; p->at < at + length; p->at++)
            p->line += *p->at == '\n';
        return true;
    }
    refuse(p, p->line, "a text in dollars that does not end");
    p->at = p->end;
    return true;
}

static void read_line_comment(struct pasting *p)
{
    const char *end = line_end(p, p->at);
    read_comment(p, p->at + (*p->at == '#' ? 1 : 2), end, end);
    p->at = end;
}

static void read_block_comment(struct pasting *p)
{
    const char *begin = p->at, *end = begin + 2;
    const uint32_t line = p->line;
    while (end + 1 < p->end && (end[0] != '*' || end[1] != '/'))
        p->line += *end++ == '\n';
    if (end + 1 >= p->end) {
        refuse(p, line, "a comment that does not end");
        p->at = p->end;
        return;
    }
    read_comment(p, begin + 2, end, end + 2);
    p->at = end + 2;
}

static void read_next(struct pasting *p)
{
    const char c = *p->at;
    const char next = p->at + 1 < p->end ? p->at[1] : '\0';
    if (c == '\n') {
        add(p, p->at++, 1);
        p->line++;
        begin_line(p);
    } else if (c == '\'' || c == '"' || c == '`') {
        read_quoted(p);
    } else if ((c == '-' && next == '-') || (c == '#' && is_blank(&p->text))) {
        read_line_comment(p);
    } else if (c == '/' && next == '*') {
        read_block_comment(p);
    } else if (c == ';') {
        p->at++;
        end_statement(p);
    } else if (c != '$' || !read_dollars(p)) {
        add(p, p->at++, 1);
    }
}

/* ---- the interleaving ---- */

static bool put(struct pasting *p, struct rig_engine_texts *texts, const char *text)
{
    texts->at = rig_arena_array(&p->interleaving->arena, 1, sizeof *texts->at);
    if (texts->at == NULL) {
        p->rc = rig_no_memory(p->err, "a scenario");
        return false;
    }
    texts->at[0] = (struct rig_engine_text){.text = text};
    texts->count = 1;
    return true;
}

static void put_step(struct pasting *p, const struct statement *statement)
{
    struct rig_sql_scenario *interleaving = p->interleaving;
    const char *fault = NULL;
    if (interleaving->step_count == RIG_SQL_SCENARIO_STEPS_MOST) {
        refuse(p, statement->line, "expected at most 256 statements of sessions");
        return;
    }
    struct rig_sql_scenario_step *step = &interleaving->steps[interleaving->step_count];
    step->session = rig_sql_scenario_session(interleaving, statement->session, &fault);
    if (step->session == UINT32_MAX) {
        refuse(p, statement->line, fault);
        return;
    }
    step->number = ++interleaving->step_count;
    (void)put(p, &step->texts, statement->text);
}

static void put_all(struct pasting *p)
{
    struct rig_sql_scenario *interleaving = p->interleaving;
    interleaving->setup = rig_arena_array(&interleaving->arena, p->count + 1, sizeof *interleaving->setup);
    interleaving->final = rig_arena_array(&interleaving->arena, p->count + 1, sizeof *interleaving->final);
    interleaving->steps =
        rig_arena_array(&interleaving->arena, RIG_SQL_SCENARIO_STEPS_MOST, sizeof *interleaving->steps);
    if (interleaving->setup == NULL || interleaving->final == NULL || interleaving->steps == NULL) {
        p->rc = rig_no_memory(p->err, "a scenario");
        return;
    }
    for (uint32_t i = 0; p->rc == RIG_OK && i < p->count; i++) {
        const struct statement *statement = &p->statements[i];
        if (statement->part == STEPS)
            put_step(p, statement);
        else if (statement->part == SETUP)
            (void)put(p, &interleaving->setup[interleaving->setup_count++], statement->text);
        else if (interleaving->final_count < RIG_SQL_SCENARIO_FINALS_MOST)
            (void)put(p, &interleaving->final[interleaving->final_count++], statement->text);
        else
            refuse(p, statement->line, "expected at most 32 queries after the last step");
    }
    if (interleaving->step_count == 0)
        refuse(p, 1,
               "no statement has a session: write `-- T1`, `/* T1 */` or `T1>` before the statements of a session");
}

bool rig_tracker_paste_is_one(const char *file)
{
    const size_t length = strlen(file);
    return length > 4 && (strcasecmp(file + length - 4, ".sql") == 0 || strcasecmp(file + length - 4, ".txt") == 0);
}

/* The file's name without its folder and its end. */
static const char *name_of(struct rig_sql_scenario *interleaving, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash == NULL ? file : slash + 1;
    return rig_arena_text(&interleaving->arena, name, strcspn(name, "."));
}

enum rig_rc rig_tracker_paste_parse(const char *name, const char *text, size_t size,
                                    struct rig_sql_scenario **interleaving, struct rig_err *err)
{
    struct rig_sql_scenario *out = calloc(1, sizeof *out);
    struct pasting p = {.interleaving = out, .file = name, .at = text, .end = text + size, .line = 1, .err = err};
    p.statements = calloc(STATEMENTS_MOST, sizeof *p.statements);
    if (out == NULL || p.statements == NULL) {
        free(out);
        free(p.statements);
        return rig_no_memory(err, "a scenario");
    }
    rig_arena_init(&out->arena, 0);
    rig_buf_init(&p.text, 1 << 20);
    out->name = name_of(out, name);
    out->title = "";
    if (memchr(text, '\0', size) != NULL)
        refuse(&p, 1, "the file has a NUL: expected SQL");
    begin_line(&p);
    while (p.rc == RIG_OK && p.at < p.end)
        read_next(&p);
    end_statement(&p);
    if (p.rc == RIG_OK)
        put_all(&p);
    rig_buf_done(&p.text);
    free(p.statements);
    if (p.rc == RIG_OK)
        *interleaving = out;
    else
        rig_sql_scenario_free(out);
    return p.rc;
}
