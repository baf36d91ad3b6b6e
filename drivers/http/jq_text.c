#include "drivers/http/jq_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "base/json_write.h"

/* jq's texts are JSON's; a backslash is written as two, so none begins an expression. */
static void add_quoted(const char *text, size_t size, struct rig_buf *out)
{
    rig_json_quote(out, text, size);
}

static void add_text(const char *text, struct rig_buf *out)
{
    add_quoted(text, strlen(text), out);
}

/* ---- keys and values ---- */

/* The key's place in `$s`. */
static void jq_key(uint32_t name, int64_t key, struct rig_buf *out)
{
    rig_buf_printf(out, "$s.T%" PRIu32 "[\"%" PRId64 "\"]", name, key);
}

void rig_jq_value(const struct rig_jq_scope *scope, const struct rig_key_state *key, uint32_t before,
                  struct rig_buf *out)
{
    const struct rig_transaction *transaction = scope->at.state->transaction;
    const struct rig_op *last = NULL;
    uint32_t appended = 0;
    for (uint32_t i = 0; i < before; i++) {
        const struct rig_op *op = &transaction->ops[i];
        if (op->key != key->key || rig_op_reads(op->kind))
            continue;
        if (op->kind == RIG_OP_APPEND)
            rig_buf_printf(out, "%s%" PRId64, appended++ == 0 ? "([" : ",", op->value);
        last = op;
    }
    if (last != NULL && appended == 0) {
        rig_buf_add_int(out, last->value);
        return;
    }
    if (appended == 0) {
        jq_key(scope->name, key->key, out);
        rig_buf_add_text(out, ".value");
        return;
    }
    rig_buf_add_text(out, "] as $own | (");
    jq_key(scope->name, key->key, out);
    rig_buf_add_text(out, ".value // []) + $own)");
}

static void add_known(const struct rig_value *value, struct rig_buf *out)
{
    switch (value->kind) {
    case RIG_IS_NOTHING:
    case RIG_IS_UNKNOWN:
        rig_buf_add_text(out, "null");
        break;
    case RIG_IS_TEXT:
        add_quoted(value->text, value->size, out);
        break;
    case RIG_IS_INTEGER:
        rig_buf_add_int(out, value->integer);
        break;
    case RIG_IS_LIST:
        rig_buf_add_char(out, '[');
        for (size_t i = 0; i < value->count; i++)
            rig_buf_printf(out, "%s%" PRId64, i == 0 ? "" : ",", value->list[i]);
        rig_buf_add_char(out, ']');
        break;
    }
}

static void add_element_value(const struct rig_text_part *part, const struct rig_jq_scope *scope, struct rig_buf *out)
{
    const struct rig_transaction_state *state = scope->at.state;
    const struct rig_key_state *key = rig_state_key(state, scope->at.set, scope->at.element);
    if (part->kind == RIG_PART_KEY) {
        rig_buf_add_int(out, key->key);
    } else if (part->kind == RIG_PART_INDEX) {
        rig_buf_add_int(out, scope->at.element);
    } else if (part->kind == RIG_PART_VERSION) {
        jq_key(scope->name, key->key, out);
        rig_buf_add_text(out, ".version");
    } else if (part->kind == RIG_PART_EXPECTED) {
        const struct rig_value expected = rig_state_expected(state, key);
        add_known(&expected, out);
    } else if (scope->at.set == RIG_SET_OPERATIONS) {
        rig_buf_add_int(out, state->transaction->ops[scope->at.element].value);
    } else {
        rig_jq_value(scope, key, state->transaction->op_count, out);
    }
}

/* ---- texts ---- */

/* A text as a sum: what is known is gathered into one literal. */
struct joining {
    struct rig_buf known;
    uint32_t count; /* of what was added to `out` */
    struct rig_buf *out;
};

static void begin_next(struct joining *joining)
{
    rig_buf_add_text(joining->out, joining->count++ == 0 ? "" : " + ");
}

static void flush_known(struct joining *joining)
{
    if (joining->known.size == 0)
        return;
    begin_next(joining);
    add_quoted(rig_buf_text(&joining->known), joining->known.size, joining->out);
    rig_buf_clear(&joining->known);
}

/* The value of a part, before its filters; returns whether it is a text. */
static bool add_part_value(const struct rig_text_part *part, const struct rig_jq_scope *scope, struct rig_buf *out)
{
    const struct rig_dialect *dialect = scope->at.dialect;
    switch (part->kind) {
    case RIG_PART_LITERAL:
        add_quoted(part->literal, part->literal_size, out);
        return true;
    case RIG_PART_CLIENT:
        rig_buf_add_int(out, scope->at.client);
        return false;
    case RIG_PART_RUN:
        rig_buf_add_text(out, "$run");
        return true;
    case RIG_PART_PARAMETER:
        add_text(dialect->values[part->index], out);
        return true;
    case RIG_PART_NAME:
        rig_jq_text(&dialect->names[part->index].text, scope, out);
        return true;
    case RIG_PART_VARIABLE:
        rig_buf_printf(out, "$s.T%" PRIu32 ".variables[", scope->name);
        add_text(dialect->variables[part->index], out);
        rig_buf_add_char(out, ']');
        return false;
    case RIG_PART_KEY:
    case RIG_PART_VALUE:
    case RIG_PART_EXPECTED:
    case RIG_PART_VERSION:
    case RIG_PART_INDEX:
        add_element_value(part, scope, out);
        return false;
    }
    rig_bug(__FILE__, __LINE__, "a part of a known kind");
}

/* The value of a part; `text` is what RIG_JQ_PRELUDE defines. Returns whether it is a text. */
static bool add_part(const struct rig_text_part *part, const struct rig_jq_scope *scope, struct rig_buf *out)
{
    static const char *const filters[] = {
        [RIG_FILTER_TEXT] = "",
        [RIG_FILTER_CSV] = " | csv",
        [RIG_FILTER_BASE64] = " | @base64",
        [RIG_FILTER_BASE64URL] = " | @base64 | gsub(\"[+]\"; \"-\") | gsub(\"/\"; \"_\") | gsub(\"=\"; \"\")",
        [RIG_FILTER_URL] = " | @uri"};
    bool is_text = add_part_value(part, scope, out);
    for (uint32_t i = 0; i < part->filter_count; i++) {
        if (!is_text && part->filters[i] != RIG_FILTER_CSV)
            rig_buf_add_text(out, " | text");
        rig_buf_add_text(out, filters[part->filters[i]]);
        is_text = true;
    }
    return is_text;
}

static bool is_number(const struct rig_buf *text)
{
    const char *at = rig_buf_text(text);
    return text->size > 0 && strspn(at + (*at == '-'), "0123456789") + (*at == '-') == text->size;
}

static void join_text(const struct rig_text_template *text, const struct rig_jq_scope *scope, struct joining *joining)
{
    for (size_t i = 0; i < text->count; i++) {
        const struct rig_text_part *part = &text->parts[i];
        struct rig_buf value;
        if (part->kind == RIG_PART_LITERAL) {
            rig_buf_add(&joining->known, part->literal, part->literal_size);
            continue;
        }
        if (part->kind == RIG_PART_NAME && part->filter_count == 0) {
            join_text(&scope->at.dialect->names[part->index].text, scope, joining);
            continue;
        }
        rig_buf_init(&value, 0);
        const bool is_text = add_part(part, scope, &value);
        if (!is_text && is_number(&value)) {
            rig_buf_add(&joining->known, rig_buf_text(&value), value.size);
        } else {
            flush_known(joining);
            begin_next(joining);
            const bool simple = strpbrk(rig_buf_text(&value), " |") == NULL && is_text;
            rig_buf_printf(joining->out, simple ? "%s" : is_text ? "(%s)" : "(%s | text)", rig_buf_text(&value));
        }
        joining->out->failed = joining->out->failed || value.failed;
        rig_buf_done(&value);
    }
}

void rig_jq_text(const struct rig_text_template *text, const struct rig_jq_scope *scope, struct rig_buf *out)
{
    struct rig_buf sum;
    struct joining joining = {.out = &sum};
    rig_buf_init(&joining.known, 0);
    rig_buf_init(&sum, 0);
    join_text(text, scope, &joining);
    flush_known(&joining);
    rig_buf_printf(out, joining.count > 1 ? "(%s)" : "%s", joining.count == 0 ? "\"\"" : rig_buf_text(&sum));
    out->failed = out->failed || sum.failed || joining.known.failed;
    rig_buf_done(&joining.known);
    rig_buf_done(&sum);
}

/* ---- conditions ---- */

enum rig_jq_condition rig_jq_conditions(const struct rig_conditions *conditions, const struct rig_jq_scope *scope,
                                        struct rig_buf *out)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < conditions->count; i++) {
        const struct rig_condition *condition = &conditions->at[i];
        const struct rig_conditions alone = {.at = {*condition}, .count = 1};
        if (condition->kind != RIG_CONDITION_EXISTS) {
            if (!rig_render_holds(&alone, &scope->at))
                return RIG_JQ_NEVER;
            continue;
        }
        rig_buf_add_text(out, open++ == 0 ? "(" : " and (");
        jq_key(scope->name, rig_state_key(scope->at.state, scope->at.set, scope->at.element)->key, out);
        rig_buf_add_text(out, condition->negated ? ".exists | not)" : ".exists)");
    }
    return open == 0 ? RIG_JQ_ALWAYS : RIG_JQ_DEPENDS;
}

/* ---- JSON ---- */

/* An array or object: children that are there in any case stand in one literal, the others are added to it. */
struct collecting {
    bool object;
    bool open; /* the literal at the end of `out` is not closed */
    uint32_t count;
    struct rig_buf *out;
};

static void add_child(const struct rig_template *json, const struct rig_jq_scope *scope, const char *name,
                      struct collecting *into);

static void close_literal(struct collecting *collecting)
{
    if (collecting->open)
        rig_buf_add_char(collecting->out, collecting->object ? '}' : ']');
    collecting->open = false;
}

static void begin_piece(struct collecting *collecting)
{
    close_literal(collecting);
    rig_buf_add_text(collecting->out, collecting->count++ == 0 ? "" : " + ");
}

static void end_collection(struct collecting *collecting)
{
    close_literal(collecting);
    if (collecting->count == 0)
        rig_buf_add_text(collecting->out, collecting->object ? "{}" : "[]");
}

/* One of two, as a collection of its own. */
static void add_branch(const struct rig_template *json, const struct rig_jq_scope *scope, const char *name,
                       const struct collecting *like, struct rig_buf *out)
{
    struct collecting branch = {.object = like->object, .out = out};
    if (json != NULL)
        add_child(json, scope, name, &branch);
    end_collection(&branch);
}

static void add_choice(const struct rig_template *json, const struct rig_jq_scope *scope, const char *name,
                       struct collecting *into)
{
    struct rig_buf condition;
    rig_buf_init(&condition, 0);
    const enum rig_jq_condition known = rig_jq_conditions(&json->when, scope, &condition);
    const struct rig_template *chosen = known == RIG_JQ_NEVER ? json->otherwise : json->first;
    if (known != RIG_JQ_DEPENDS && chosen != NULL)
        add_child(chosen, scope, name, into);
    if (known == RIG_JQ_DEPENDS) {
        begin_piece(into);
        rig_buf_printf(into->out, "(if %s then ", rig_buf_text(&condition));
        add_branch(json->first, scope, name, into, into->out);
        rig_buf_add_text(into->out, " else ");
        add_branch(json->otherwise, scope, name, into, into->out);
        rig_buf_add_text(into->out, " end)");
    }
    rig_buf_done(&condition);
}

static void add_each(const struct rig_template *json, const struct rig_jq_scope *scope, struct collecting *into)
{
    const struct rig_template item = {.kind = RIG_TEMPLATE_IF, .when = json->when, .first = json->first};
    struct rig_jq_scope inner = *scope;
    const uint32_t count = scope->at.state == NULL ? 0 : rig_state_set_size(scope->at.state, json->set);
    inner.at.set = json->set;
    for (inner.at.element = 0; inner.at.element < count; inner.at.element++)
        add_choice(&item, &inner, NULL, into);
}

static void add_child(const struct rig_template *json, const struct rig_jq_scope *scope, const char *name,
                      struct collecting *into)
{
    if (json->kind == RIG_TEMPLATE_EACH) {
        add_each(json, scope, into);
        return;
    }
    if (json->kind == RIG_TEMPLATE_IF) {
        add_choice(json, scope, name, into);
        return;
    }
    if (into->open) {
        rig_buf_add_text(into->out, ", ");
    } else {
        begin_piece(into);
        rig_buf_add_char(into->out, into->object ? '{' : '[');
        into->open = true;
    }
    if (into->object) {
        add_text(name, into->out);
        rig_buf_add_text(into->out, ": ");
    }
    rig_jq_json(json, scope, into->out);
}

static void add_children(const struct rig_template *json, const struct rig_jq_scope *scope, struct rig_buf *out)
{
    struct rig_buf sum;
    struct collecting into = {.object = json->kind == RIG_TEMPLATE_OBJECT, .out = &sum};
    rig_buf_init(&sum, 0);
    for (const struct rig_template *child = json->first; child != NULL; child = child->next)
        add_child(child, scope, child->name, &into);
    end_collection(&into);
    rig_buf_printf(out, into.count > 1 ? "(%s)" : "%s", rig_buf_text(&sum));
    out->failed = out->failed || sum.failed;
    rig_buf_done(&sum);
}

/* The whole body, or a value that is no child: what depends on an answer is chosen in the script. */
static void add_alone(const struct rig_template *json, const struct rig_jq_scope *scope, struct rig_buf *out)
{
    struct rig_buf condition;
    rig_buf_init(&condition, 0);
    const enum rig_jq_condition known = rig_jq_conditions(&json->when, scope, &condition);
    if (known != RIG_JQ_DEPENDS) {
        rig_jq_json(known == RIG_JQ_NEVER ? json->otherwise : json->first, scope, out);
    } else {
        rig_buf_printf(out, "(if %s then ", rig_buf_text(&condition));
        rig_jq_json(json->first, scope, out);
        rig_buf_add_text(out, " else ");
        rig_jq_json(json->otherwise, scope, out);
        rig_buf_add_text(out, " end)");
    }
    rig_buf_done(&condition);
}

void rig_jq_json(const struct rig_template *json, const struct rig_jq_scope *scope, struct rig_buf *out)
{
    struct rig_buf part;
    if (json == NULL) {
        rig_buf_add_text(out, "null");
        return;
    }
    switch (json->kind) {
    case RIG_TEMPLATE_PLAIN:
        rig_buf_add_text(out, json->plain);
        break;
    case RIG_TEMPLATE_TEXT:
        rig_jq_text(&json->text, scope, out);
        break;
    case RIG_TEMPLATE_TYPED:
        rig_buf_init(&part, 0);
        (void)add_part(&json->text.parts[0], scope, &part);
        rig_buf_printf(out, strpbrk(rig_buf_text(&part), " |") == NULL ? "%s" : "(%s)", rig_buf_text(&part));
        out->failed = out->failed || part.failed;
        rig_buf_done(&part);
        break;
    case RIG_TEMPLATE_OBJECT:
    case RIG_TEMPLATE_ARRAY:
        add_children(json, scope, out);
        break;
    case RIG_TEMPLATE_IF:
        add_alone(json, scope, out);
        break;
    case RIG_TEMPLATE_EACH:
        rig_bug(__FILE__, __LINE__, "an item stands in a list");
    }
}

/* ---- answers ---- */

/* Whether jq takes the name behind a point. */
static bool is_plain(const char *name, size_t length)
{
    bool plain = length > 0 && !isdigit((unsigned char)name[0]);
    for (size_t i = 0; i < length && plain; i++)
        plain = isalnum((unsigned char)name[i]) || name[i] == '_';
    return plain;
}

static void add_member(const char *name, size_t length, struct rig_buf *out)
{
    if (is_plain(name, length)) {
        rig_buf_printf(out, ".%.*s", (int)length, name);
        return;
    }
    rig_buf_add_char(out, '[');
    add_quoted(name, length, out);
    rig_buf_add_char(out, ']');
}

/* A path's steps behind `$`, up to a `[*]`. Returns what is left behind it, or NULL. */
static const char *add_steps(const char *at, struct rig_buf *out)
{
    while (*at != '\0') {
        const bool quoted = at[0] == '[' && at[1] == '\'';
        const char *name = at + (quoted ? 2 : 1);
        const size_t length = *at == '.' ? strcspn(name, ".[") : strcspn(name, quoted ? "'" : "]");
        if (strncmp(at, "[*]", 3) == 0)
            return at + 3;
        if (*at == '.' || quoted)
            add_member(name, length, out);
        else
            rig_buf_printf(out, "[%.*s]", (int)length, name);
        at = name + length + (*at == '.' ? 0 : quoted ? 2 : 1);
    }
    return NULL;
}

/* `root`: a variable, or empty: what is before a pipe. */
static void add_path(const char *steps, const char *root, struct rig_buf *out)
{
    struct rig_buf found;
    rig_buf_init(&found, 0);
    const char *rest = add_steps(steps, &found);
    const bool needs_point = root[0] == '\0' && (found.size == 0 || found.data[0] != '.');
    rig_buf_printf(out, rest == NULL ? "(try %s%s%s" : "(try (%s%s%s", root, needs_point ? "." : "",
                   found.size == 0 ? "" : rig_buf_text(&found));
    if (rest != NULL) {
        rig_buf_add_text(out, " | [.[] | ");
        add_path(rest, "", out);
        rig_buf_add_text(out, " | select(. != null)] | .[0])");
    }
    rig_buf_add_text(out, " catch null)");
    rig_buf_done(&found);
}

void rig_jq_path(const struct rig_json_path *path, const char *root, struct rig_buf *out)
{
    add_path(path->text + 1, root, out);
}

void rig_jq_answer_value(const struct rig_answer_value *value, const char *root, struct rig_buf *out)
{
    static const char *const decoded[] = {[RIG_DECODE_BASE64] = "@base64d",
                                          [RIG_DECODE_JSON] = "fromjson",
                                          [RIG_DECODE_CSV] = "split(\",\") | map(tonumber)",
                                          [RIG_DECODE_INTEGER] = "tonumber"};
    rig_buf_add_char(out, '(');
    if (value->absent != NULL)
        rig_buf_add_char(out, '(');
    if (value->header != NULL) {
        rig_buf_add_text(out, "$h[(");
        add_text(value->header, out);
        rig_buf_add_text(out, " | ascii_downcase)]");
    } else {
        rig_jq_path(&value->path, root, out);
    }
    if (value->absent != NULL) {
        rig_buf_add_text(out, " // ");
        add_text(value->absent, out);
        rig_buf_add_char(out, ')');
    }
    for (uint32_t i = 0; i < value->decode_count; i++)
        rig_buf_printf(out, " | known(%s)", decoded[value->decode[i]]);
    rig_buf_add_char(out, ')');
}

/* ---- outcomes ---- */

static void add_test(const struct rig_body_test *test, struct rig_buf *out)
{
    rig_buf_add_text(out, test->expects == RIG_BODY_ABSENT ? " and ($a != null and " : " and (");
    rig_jq_path(&test->path, "$a", out);
    switch (test->expects) {
    case RIG_BODY_PRESENT:
        rig_buf_add_text(out, " != null)");
        break;
    case RIG_BODY_ABSENT:
    case RIG_BODY_NULL:
        rig_buf_add_text(out, " == null)");
        break;
    case RIG_BODY_TEXT:
        rig_buf_add_text(out, " == ");
        add_text(test->text, out);
        rig_buf_add_char(out, ')');
        break;
    case RIG_BODY_INTEGER:
        rig_buf_printf(out, " == %" PRId64 ")", test->integer);
        break;
    case RIG_BODY_TRUE:
        rig_buf_add_text(out, " == true)");
        break;
    case RIG_BODY_FALSE:
        rig_buf_add_text(out, " == false)");
        break;
    }
}

static void add_status(const struct rig_outcome_rule *rule, uint32_t i, struct rig_buf *out)
{
    rig_buf_add_text(out, i == 0 ? "(" : " or ");
    if (rule->statuses[i].from == rule->statuses[i].to)
        rig_buf_printf(out, "$status == %ld", rule->statuses[i].from);
    else
        rig_buf_printf(out, "($status >= %ld and $status <= %ld)", rule->statuses[i].from, rule->statuses[i].to);
}

static void add_rules(const struct rig_outcome_rule *rule, bool at_commit, struct rig_buf *out)
{
    static const char *const rulings[] = {
        [RIG_RULING_OK] = "ok", [RIG_RULING_FAIL] = "fail", [RIG_RULING_INFO] = "info"};
    for (; rule != NULL; rule = rule->next) {
        if (rule->end != RIG_HTTP_ANSWERED || (!rule->any_phase && rule->at_commit != at_commit))
            continue;
        rig_buf_add_text(out, rule->status_count == 0 ? "if (true" : "if (");
        for (uint32_t i = 0; i < rule->status_count; i++)
            add_status(rule, i, out);
        rig_buf_add_text(out, rule->status_count == 0 ? "" : ")");
        for (uint32_t i = 0; i < rule->test_count; i++)
            add_test(&rule->tests[i], out);
        if (rule->contains != NULL) {
            rig_buf_add_text(out, " and ($text | contains(");
            add_text(rule->contains, out);
            rig_buf_add_text(out, "))");
        }
        rig_buf_printf(out, ") then \"%s\" el", rulings[rule->ruling]);
    }
}

void rig_jq_outcome(const struct rig_dialect_step *step, struct rig_buf *out)
{
    const bool at_commit = step->phase == RIG_PHASE_COMMIT;
    struct rig_buf rules;
    rig_buf_init(&rules, 0);
    add_rules(step->outcomes, at_commit, &rules);
    rig_buf_printf(out, rules.size == 0 ? "%s%s" : "%sse %s end", rig_buf_text(&rules),
                   at_commit ? "commit_outcome" : "outcome");
    rig_buf_done(&rules);
}

void rig_jq_prelude(const struct rig_dialect *dialect, struct rig_buf *out)
{
    rig_buf_add_text(out, "def text: if . == null then \"\" elif type == \"string\" then . else tojson end;\n"
                          "def csv: if type == \"array\" then map(tostring) | join(\",\") else text end;\n"
                          "def known(f): if . == null then null else f end;\n");
    for (int at_commit = 0; at_commit < 2; at_commit++) {
        struct rig_buf rules;
        rig_buf_init(&rules, 0);
        add_rules(dialect->outcomes, at_commit == 1, &rules);
        rig_buf_printf(out, rules.size == 0 ? "def %s: %s\"%s\";\n" : "def %s: %sse \"%s\" end;\n",
                       at_commit == 1 ? "commit_outcome" : "outcome", rig_buf_text(&rules),
                       at_commit == 1 ? "info" : "fail");
        rig_buf_done(&rules);
    }
}
