#include "drivers/http/http_script.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "drivers/http/jq_text.h"

static void set_own_parameter(const struct rig_dialect_choice *choice, struct rig_dialect *dialect)
{
    for (uint32_t i = 0; choice->own_parameter != NULL && i < dialect->parameter_count; i++) {
        if (strcmp(dialect->parameters[i].name, choice->own_parameter) == 0)
            dialect->values[i] = choice->own_value;
    }
}

enum rig_rc rig_dialect_choose(const struct rig_dialect_choice *choice, enum rig_workload workload,
                               struct rig_dialect **dialect, struct rig_err *err)
{
    struct rig_dialect *found = NULL;
    const int64_t spread = choice->http->spread;
    const bool by_role = spread == RIG_HTTP_LEADER || spread == RIG_HTTP_FOLLOWERS;
    enum rig_rc rc = rig_dialect_load(choice->name, choice->parameters, &found, err);
    if (rc == RIG_OK && !found->workloads[workload].given)
        rc = rig_fail(err, RIG_E_PLAN, "`dialect`: %s does not describe this workload", found->name);
    if (rc == RIG_OK && by_role && found->role.count == 0)
        rc =
            rig_fail(err, RIG_E_PLAN, "`spread`: the dialect %s does not say which server leads (`role`)", found->name);
    if (rc != RIG_OK) {
        rig_dialect_free(found);
        return rc;
    }
    set_own_parameter(choice, found);
    *dialect = found;
    return RIG_OK;
}

int64_t rig_dialect_most_keys(const struct rig_dialect_choice *choice, enum rig_workload workload)
{
    struct rig_dialect *dialect = NULL;
    if (rig_dialect_choose(choice, workload, &dialect, NULL) != RIG_OK)
        return 0;
    const int64_t most = dialect->workloads[workload].most_keys;
    rig_dialect_free(dialect);
    return most;
}

struct script {
    const struct rig_script_part *part;
    const struct rig_dialect *dialect;
    const struct rig_dialect_workload *workload;
    struct rig_transaction *transactions; /* copies: a state may change its own */
    struct rig_transaction_state *states;
    const char *url; /* of the plan's first server; NULL: the script has to be given one */
    struct rig_arena arena;
    struct rig_buf *out;
};

/* ---- shell ---- */

static const char before_url[] = "set -u\nurl=${1:-";
/* clang-format off */
static const char behind_url[] =
    "}\n"
    "[ -n \"$url\" ] || { echo \"usage: $0 URL of a server; CURL_OPTIONS has further options of curl\" >&2; exit 64; }\n"
    "for program in curl jq; do\n"
    "    command -v $program >/dev/null || { echo \"$program is not installed\" >&2; exit 2; }\n"
    "done\n"
    "at=$(mktemp -d) || exit 2\n"
    "url=${url%/} run=rig_script_$(date +%s)_$$ state={} status=0 different=0\n"
    "for name in answer headers body; do : >\"$at/$name\"; done\n"
    "for name in json heads; do echo null >\"$at/$name\"; done\n"
    "\n"
    "# What jq says of an expression: $s is what answers have told, $a the last answer.\n"
    "tell() {\n"
    "    jq -n \"$1\" --arg run \"$run\" --argjson s \"$state\" --argjson status \"$status\" --rawfile text \"$at/answer\" \\\n"
    "        --slurpfile as_json \"$at/json\" --slurpfile heads \"$at/heads\" \"\\$as_json[0] as \\$a | \\$heads[0] as \\$h |\n"
    "$functions$2\"\n"
    "}\n"
    "when() { [ \"$(tell -r \"$1\")\" = true ]; }\n"
    "# Whether the transaction goes on: none of its requests has failed.\n"
    "goes_on() { when \"\\$s.$1.outcome // \\\"ok\\\" | . == \\\"ok\\\"\"; }\n"
    "# Name, method, path, headers, body, outcome, and what the answer tells.\n"
    "ask() {\n"
    "    goes_on \"$1\" || return 0\n"
    "    path=$(tell -r \"$3\") && tell -r \"$4\" >\"$at/headers\" && tell -j \"$5\" >\"$at/body\" || exit 2\n"
    "    name=$1 method=$2 outcome=$6 told=$7\n"
    "    set -- -H \"@$at/headers\"\n"
    "    [ -s \"$at/body\" ] && set -- \"$@\" --data-binary \"@$at/body\"\n"
    "    status=$(curl -sS --globoff --max-time 30 ${CURL_OPTIONS:-} -X \"$method\" -D \"$at/head\" -o \"$at/answer\" \\\n"
    "        -w '%{http_code}' \"$@\" \"$url$path\") || { echo \"$name: $method $path: no answer\" >&2; exit 2; }\n"
    "    jq -R -s '[splits(\"\\r?\\n\") | capture(\"^(?<key>[^:]+): *(?<value>.*)$\") | .key |= ascii_downcase] | from_entries' \\\n"
    "        \"$at/head\" >\"$at/heads\" || exit 2\n"
    "    jq . \"$at/answer\" >\"$at/json\" 2>\"$at/errors\" && [ -s \"$at/json\" ] || echo null >\"$at/json\"\n"
    "    state=$(tell -c \"($outcome) as \\$outcome | \\$s | .$name.outcome = \\$outcome | if \\$outcome == \\\"ok\\\" then .$told else . end\") ||\n"
    "        exit 2\n"
    "    echo \"$name: $method $path: $status, $(tell -r \"\\$s.$name.outcome\")\"\n"
    "}\n"
    "# Name, what, what it is now, what it was.\n"
    "compare() {\n"
    "    now=$(tell -c \"$3\") || exit 2\n"
    "    [ \"$now\" = \"$4\" ] && { echo \"$1: $2: $now\"; return; }\n"
    "    echo \"$1: $2: $now, not $4\"\n"
    "    different=1\n"
    "}\n";
/* clang-format on */

/* Inside of single quotes. */
static void add_escaped(const struct rig_buf *text, struct rig_buf *out)
{
    for (size_t i = 0; i < text->size; i++) {
        if (text->data[i] == '\'')
            rig_buf_add_text(out, "'\\''");
        else
            rig_buf_add_char(out, text->data[i]);
    }
}

static void add_argument(const struct rig_buf *text, struct rig_buf *out)
{
    rig_buf_add_text(out, " \\\n    '");
    add_escaped(text, out);
    rig_buf_add_char(out, '\'');
}

/* A line of a comment: no control characters. */
static void add_comment(const char *text, struct rig_buf *out)
{
    rig_buf_add_text(out, "# ");
    for (; *text != '\0'; text++)
        rig_buf_add_char(out, (unsigned char)*text < ' ' ? ' ' : *text);
    rig_buf_add_char(out, '\n');
}

/* ---- requests ---- */

static void add_headers(const struct rig_dialect_step *step, const struct rig_jq_scope *scope, struct rig_buf *out)
{
    const struct rig_dialect *dialect = scope->at.dialect;
    rig_buf_add_char(out, '[');
    for (uint32_t i = 0; i < dialect->header_count + step->header_count; i++) {
        const bool own = i >= dialect->header_count;
        const struct rig_dialect_header *header =
            own ? &step->headers[i - dialect->header_count] : &dialect->headers[i];
        rig_buf_printf(out, "%s[\"%s: \", ", i == 0 ? "" : ", ", header->name);
        rig_jq_text(&header->value, scope, out);
        rig_buf_add_char(out, ']');
    }
    rig_buf_add_text(out, "] | .[] | select(.[1] != \"\") | add");
}

static void add_body(const struct rig_dialect_step *step, const struct rig_jq_scope *scope, struct rig_buf *out)
{
    if (step->body != NULL) {
        rig_jq_json(step->body, scope, out);
        rig_buf_add_text(out, " | tojson");
    } else if (step->has_text) {
        rig_jq_text(&step->text, scope, out);
    } else {
        rig_buf_add_text(out, "empty");
    }
}

/* Takes from an item of an answer what it tells of an element's key, or of a read. */
static void add_told(const struct rig_jq_scope *scope, const struct rig_answer_rule *rule, const char *item,
                     struct rig_buf *out)
{
    const struct rig_transaction *transaction = scope->at.state->transaction;
    const bool is_op = scope->at.set == RIG_SET_OPERATIONS;
    if (is_op && !rig_op_reads(transaction->ops[scope->at.element].kind))
        return;
    if (is_op)
        rig_buf_printf(out, " | .T%" PRIu32 ".reads[\"%" PRIu32 "\"]", scope->name, scope->at.element);
    else
        rig_buf_printf(out, " | .T%" PRIu32 "[\"%" PRId64 "\"]", scope->name,
                       rig_state_key(scope->at.state, scope->at.set, scope->at.element)->key);
    rig_buf_printf(out, " = (%s as $i | {value: ", item);
    if (rule->value.given)
        rig_jq_answer_value(&rule->value, "$i", out);
    else
        rig_buf_add_text(out, "null");
    rig_buf_add_text(out, ", version: ");
    if (rule->version.given)
        rig_jq_answer_value(&rule->version, "$i", out);
    else
        rig_buf_add_text(out, "null");
    rig_buf_add_text(out, "} | .exists = (");
    if (rule->exists.text != NULL) {
        rig_jq_path(&rule->exists, "$i", out);
        rig_buf_add_text(out, " != null))");
    } else {
        rig_buf_add_text(out, ".value != null))");
    }
}

static bool tells(const struct rig_answer_rule *rule)
{
    return rule->value.given || rule->version.given || rule->exists.text != NULL;
}

static void add_learning(const struct rig_dialect_step *step, const struct rig_jq_scope *scope, struct rig_buf *out)
{
    const struct rig_answer_rule *rule = &step->answer;
    if (scope->at.state == NULL)
        return;
    if (rule->set == RIG_SET_ONCE && scope->at.set != RIG_SET_ONCE && tells(rule)) {
        char item[64];
        (void)snprintf(item, sizeof item, "(if $status == %ld then null else $a end)", rule->missing);
        add_told(scope, rule, rule->missing == 0 ? "$a" : item, out);
    } else if (rule->set != RIG_SET_ONCE && tells(rule)) {
        struct rig_jq_scope inner = *scope;
        struct rig_buf items;
        rig_buf_init(&items, 0);
        rig_jq_path(&rule->items, "$a", &items);
        inner.at.set = rule->set;
        const uint32_t count = rig_state_set_size(scope->at.state, rule->set);
        const size_t size = items.size;
        for (inner.at.element = 0; inner.at.element < count; inner.at.element++) {
            items.size = size;
            rig_buf_printf(&items, "[%" PRIu32 "]", inner.at.element);
            add_told(&inner, rule, rig_buf_text(&items), out);
        }
        rig_buf_done(&items);
    }
    for (uint32_t i = 0; i < rule->variable_count; i++) {
        rig_buf_printf(out, " | .T%" PRIu32 ".variables[\"%s\"] = ", scope->name,
                       scope->at.dialect->variables[rule->variables[i].variable]);
        rig_jq_answer_value(&rule->variables[i].value, "$a", out);
    }
}

/* A request of the step for an element; `name` NULL: of a transaction. */
static void add_request(const struct script *script, const struct rig_dialect_step *step,
                        const struct rig_jq_scope *scope, const char *name)
{
    enum { PATH, HEADERS, BODY, OUTCOME, LEARNING, PARTS };
    struct rig_buf parts[PARTS], condition;
    rig_buf_init(&condition, 0);
    const enum rig_jq_condition wanted = rig_jq_conditions(&step->when, scope, &condition);
    for (int i = 0; i < PARTS; i++)
        rig_buf_init(&parts[i], 0);
    if (wanted != RIG_JQ_NEVER) {
        rig_jq_text(&step->path, scope, &parts[PATH]);
        add_headers(step, scope, &parts[HEADERS]);
        add_body(step, scope, &parts[BODY]);
        rig_jq_outcome(step, &parts[OUTCOME]);
        add_learning(step, scope, &parts[LEARNING]);
        if (wanted == RIG_JQ_DEPENDS) {
            rig_buf_printf(script->out, "when '%s' &&\n", rig_buf_text(&condition));
        }
        if (name == NULL)
            rig_buf_printf(script->out, "ask T%" PRIu32 " %s", scope->name, step->method);
        else
            rig_buf_printf(script->out, "ask %s %s", name, step->method);
        for (int i = 0; i < PARTS; i++)
            add_argument(&parts[i], script->out);
        rig_buf_add_char(script->out, '\n');
    }
    for (int i = 0; i < PARTS; i++) {
        script->out->failed = script->out->failed || parts[i].failed;
        rig_buf_done(&parts[i]);
    }
    rig_buf_done(&condition);
}

static void add_outside(const struct script *script, const struct rig_dialect_steps *steps, const char *name)
{
    const struct rig_jq_scope scope = {.at = {.dialect = script->dialect}};
    for (uint32_t i = 0; i < steps->count; i++)
        add_request(script, &steps->at[i], &scope, name);
}

static void add_turn(const struct script *script, const struct rig_script_turn *turn)
{
    const uint32_t txn = turn->transaction;
    struct rig_jq_scope scope = {
        .at = {.dialect = script->dialect, .state = &script->states[txn], .client = txn, .dry = true},
        .name = script->part->names[txn]};
    const struct rig_dialect_steps *steps = &script->workload->steps;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct rig_dialect_step *step = &steps->at[i];
        const bool at_end = step->phase == RIG_PHASE_COMMIT && script->states[txn].write_count > 0;
        if (at_end != turn->ends)
            continue;
        scope.at.set = step->set;
        const uint32_t count = rig_state_set_size(scope.at.state, step->set);
        for (scope.at.element = 0; scope.at.element < count; scope.at.element++)
            add_request(script, step, &scope, NULL);
    }
}

/* ---- comparisons ---- */

static void add_expected(const struct rig_transaction *transaction, uint32_t op, struct rig_buf *out)
{
    const struct rig_read *read = &transaction->reads[op];
    const bool is_list = rig_op_reads_sequence(transaction->ops[op].kind);
    if (!is_list && read->state != RIG_READ_SEEN) {
        rig_buf_add_text(out, "null");
        return;
    }
    if (!is_list) {
        rig_buf_add_int(out, read->value);
        return;
    }
    rig_buf_add_char(out, '[');
    for (uint32_t i = 0; read->state == RIG_READ_SEEN && i < read->count; i++)
        rig_buf_printf(out, "%s%" PRId64, i == 0 ? "" : ",", transaction->elements[read->first_element + i]);
    rig_buf_add_char(out, ']');
}

static void compare_read(const struct script *script, uint32_t txn, uint32_t op)
{
    const struct rig_transaction *transaction = &script->transactions[txn];
    const struct rig_transaction_state *state = &script->states[txn];
    const struct rig_jq_scope scope = {.at = {.dialect = script->dialect, .state = state},
                                       .name = script->part->names[txn]};
    struct rig_buf now;
    rig_buf_init(&now, 0);
    rig_buf_printf(
        &now, "(if $s.T%" PRIu32 ".reads[\"%" PRIu32 "\"]? then $s.T%" PRIu32 ".reads[\"%" PRIu32 "\"].value else ",
        scope.name, op, scope.name, op);
    rig_jq_value(&scope, &state->keys[state->key_of_op[op]], op, &now);
    rig_buf_add_text(&now, rig_op_reads_sequence(transaction->ops[op].kind) ? " end) // []" : " end)");
    rig_buf_printf(script->out, "compare T%" PRIu32 " 'read of key %" PRId64 "'", scope.name, transaction->ops[op].key);
    add_argument(&now, script->out);
    rig_buf_add_text(script->out, " '");
    add_expected(transaction, op, script->out);
    rig_buf_add_text(script->out, "'\n");
    script->out->failed = script->out->failed || now.failed;
    rig_buf_done(&now);
}

static void compare_all(const struct script *script)
{
    for (uint32_t txn = 0; txn < script->part->transaction_count; txn++) {
        if (!script->part->acknowledged[txn])
            continue;
        const uint32_t name = script->part->names[txn];
        rig_buf_printf(script->out, "compare T%" PRIu32 " outcome '$s.T%" PRIu32 ".outcome' '\"ok\"'\n", name, name);
        for (uint32_t op = 0; op < script->transactions[txn].op_count; op++) {
            if (rig_op_reads(script->transactions[txn].ops[op].kind))
                compare_read(script, txn, op);
        }
    }
}

/* ---- the script ---- */

static void write_all(const struct script *script)
{
    struct rig_buf *out = script->out, prelude;
    rig_buf_add_text(out, "#!/bin/sh\n");
    add_comment(script->part->title, out);
    rig_buf_add_text(
        out, "# Sends the requests of its transactions to the server, one after the other, and compares the answers.\n"
             "# Exit status: 0: as described; 1: something differs; 2: no comparison was possible.\n");
    rig_buf_add_text(out, before_url);
    if (script->url != NULL)
        rig_buf_add_text(out, script->url);
    rig_buf_add_text(out, behind_url);
    rig_buf_add_text(out, "functions='");
    rig_buf_init(&prelude, 0);
    rig_jq_prelude(script->dialect, &prelude);
    add_escaped(&prelude, out);
    rig_buf_done(&prelude);
    rig_buf_add_text(out, "'\n");
    rig_buf_add_text(out, "\n# Removes what the script has made on the server.\nfinish() {\nstate={}\n");
    add_outside(script, &script->dialect->teardown, "teardown");
    rig_buf_add_text(out, "}\n\n");
    add_outside(script, &script->dialect->setup, "setup");
    rig_buf_add_text(
        out, "trap '(finish) >/dev/null; rm -r \"$at\"' EXIT\ntrap 'exit 2' INT TERM\ngoes_on setup || exit 2\n\n");
    for (uint32_t i = 0; i < script->part->turn_count; i++)
        add_turn(script, &script->part->turns[i]);
    rig_buf_add_text(out, "\n");
    compare_all(script);
    rig_buf_add_text(out, "\n[ $different = 0 ] && echo 'as described' || echo 'not as described'\nexit $different\n");
}

/* Neither a password nor a character that a shell would take for its own. */
static bool is_plain(const char *url)
{
    for (; *url != '\0'; url++) {
        if (!isalnum((unsigned char)*url) && strchr(":/._-[]", *url) == NULL)
            return false;
    }
    return true;
}

static enum rig_rc begin(struct script *script, struct rig_err *err)
{
    const uint32_t count = script->part->transaction_count;
    script->transactions = rig_arena_array(&script->arena, count + 1, sizeof *script->transactions);
    script->states = rig_arena_array(&script->arena, count + 1, sizeof *script->states);
    bool good = script->transactions != NULL && script->states != NULL;
    for (uint32_t i = 0; i < count && good; i++) {
        script->transactions[i] = script->part->transactions[i];
        good = rig_state_begin(&script->states[i], NULL, &script->arena, &script->transactions[i]);
    }
    return good ? RIG_OK : rig_no_memory(err, "a script");
}

static enum rig_rc write_script(const struct rig_dialect_choice *choice, enum rig_workload workload,
                                const struct rig_script_part *part, struct rig_buf *out, struct rig_err *err)
{
    struct rig_dialect *dialect = NULL;
    const struct rig_text_list *endpoints = &choice->http->endpoints;
    struct script script = {.part = part, .out = out};
    if (endpoints->count > 0 && is_plain(endpoints->at[0]))
        script.url = endpoints->at[0];
    rig_arena_init(&script.arena, 0);
    enum rig_rc rc = rig_dialect_choose(choice, workload, &dialect, err);
    if (rc == RIG_OK) {
        script.dialect = dialect;
        script.workload = &dialect->workloads[workload];
        rc = begin(&script, err);
    }
    if (rc == RIG_OK) {
        write_all(&script);
        rc = out->failed ? rig_no_memory(err, "a script") : RIG_OK;
    }
    rig_arena_done(&script.arena);
    rig_dialect_free(dialect);
    return rc;
}

enum rig_rc rig_http_script_show(const struct rig_dialect_choice *choice, enum rig_workload workload,
                                 const struct rig_script_part *part, void (*show)(void *context, const char *text),
                                 void *context, struct rig_err *err)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    const enum rig_rc rc = write_script(choice, workload, part, &text, err);
    if (rc == RIG_OK)
        show(context, rig_buf_text(&text));
    rig_buf_done(&text);
    return rc;
}
