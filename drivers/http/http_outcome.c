#include "drivers/http/http_outcome.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"

/* clang-format off */
const struct rig_outcome_row rig_outcome_rows[] = {
    {RIG_HTTP_ANSWERED, false, RIG_RULING_FAIL, false,
     "no commit was requested, and an answer without a rule is not a success"},
    {RIG_HTTP_NOT_SENT, false, RIG_RULING_FAIL, true,
     "nothing was sent"},
    {RIG_HTTP_TIMEOUT, false, RIG_RULING_FAIL, true,
     "no commit was requested, and none will be"},
    {RIG_HTTP_LOST, false, RIG_RULING_FAIL, true,
     "no commit was requested, and none will be"},
    {RIG_HTTP_INTERRUPTED, false, RIG_RULING_FAIL, true,
     "no commit was requested, and none will be"},
    {RIG_HTTP_TOO_LARGE, false, RIG_RULING_FAIL, true,
     "no commit was requested, and none will be"},
    {RIG_HTTP_MALFORMED, false, RIG_RULING_FAIL, true,
     "no commit was requested, and none will be"},

    {RIG_HTTP_ANSWERED, true, RIG_RULING_INFO, false,
     "no rule matches this answer, so it may mean a commit"},
    {RIG_HTTP_NOT_SENT, true, RIG_RULING_FAIL, true,
     "no byte of the request that commits was sent"},
    {RIG_HTTP_TIMEOUT, true, RIG_RULING_INFO, true,
     "the request may still be executed"},
    {RIG_HTTP_LOST, true, RIG_RULING_INFO, true,
     "the answer is lost, but the commit may have happened"},
    {RIG_HTTP_INTERRUPTED, true, RIG_RULING_INFO, true,
     "rig gave up waiting: the request may still be executed"},
    {RIG_HTTP_TOO_LARGE, true, RIG_RULING_INFO, true,
     "the answer was not read, and the commit may have happened"},
    {RIG_HTTP_MALFORMED, true, RIG_RULING_INFO, true,
     "an answer that cannot be read proves nothing"},
};
/* clang-format on */

const size_t rig_outcome_row_count = sizeof rig_outcome_rows / sizeof rig_outcome_rows[0];

static bool test_holds(const struct rig_body_test *test, json_t *root)
{
    const json_t *found = rig_json_path_find(&test->path, root);
    switch (test->expects) {
    case RIG_BODY_PRESENT:
        return found != NULL;
    case RIG_BODY_ABSENT:
        /* An answer that is not JSON has no values, and proves nothing. */
        return root != NULL && found == NULL;
    case RIG_BODY_TEXT:
        return json_is_string(found) && strcmp(json_string_value(found), test->text) == 0;
    case RIG_BODY_INTEGER:
        return json_is_integer(found) && json_integer_value(found) == test->integer;
    case RIG_BODY_TRUE:
        return json_is_true(found);
    case RIG_BODY_FALSE:
        return json_is_false(found);
    case RIG_BODY_NULL:
        return json_is_null(found);
    }
    rig_bug(__FILE__, __LINE__, "a test of a known kind");
}

static bool rule_matches(const struct rig_outcome_rule *rule, bool at_commit, enum rig_http_end end,
                         const struct rig_http_answer *answer, json_t *root)
{
    if (rule->end != end || (!rule->any_phase && rule->at_commit != at_commit))
        return false;
    bool status = rule->status_count == 0;
    for (uint32_t i = 0; i < rule->status_count; i++)
        status = status || (answer->status >= rule->statuses[i].from && answer->status <= rule->statuses[i].to);
    for (uint32_t i = 0; status && i < rule->test_count; i++)
        status = test_holds(&rule->tests[i], root);
    if (status && rule->contains != NULL)
        status = memmem(rig_buf_text(&answer->body), answer->body.size, rule->contains, strlen(rule->contains)) != NULL;
    return status;
}

static const struct rig_outcome_rule *find_rule(const struct rig_outcome_rule *rule, bool at_commit,
                                                enum rig_http_end end, const struct rig_http_answer *answer,
                                                json_t *root)
{
    while (rule != NULL && !rule_matches(rule, at_commit, end, answer, root))
        rule = rule->next;
    return rule;
}

static void set_code(struct rig_http_ruling *verdict, const char *given, enum rig_http_end end, long status)
{
    if (given != NULL)
        (void)snprintf(verdict->code, sizeof verdict->code, "%s", given);
    else if (end == RIG_HTTP_ANSWERED)
        (void)snprintf(verdict->code, sizeof verdict->code, "http-%ld", status);
    else
        (void)snprintf(verdict->code, sizeof verdict->code, "%s", rig_http_end_names[end]);
}

void rig_outcome_find(const struct rig_dialect *dialect, const struct rig_dialect_step *step, bool at_commit,
                      enum rig_http_end end, const struct rig_http_answer *answer, json_t *root,
                      struct rig_http_ruling *verdict)
{
    const struct rig_outcome_rule *rule = find_rule(step->outcomes, at_commit, end, answer, root);
    if (rule == NULL)
        rule = find_rule(dialect->outcomes, at_commit, end, answer, root);
    if (rule != NULL) {
        *verdict = (struct rig_http_ruling){.ruling = rule->ruling, .reason = rule->reason, .by_dialect = true};
        verdict->session_lost = rule->session_lost || end != RIG_HTTP_ANSWERED;
        set_code(verdict, rule->code, end, answer->status);
        return;
    }
    for (size_t i = 0; i < rig_outcome_row_count; i++) {
        const struct rig_outcome_row *row = &rig_outcome_rows[i];
        if (row->end != end || row->at_commit != at_commit)
            continue;
        *verdict =
            (struct rig_http_ruling){.ruling = row->ruling, .session_lost = row->session_lost, .reason = row->reason};
        set_code(verdict, NULL, end, answer->status);
        return;
    }
    rig_bug(__FILE__, __LINE__, "a row for every end of a request");
}
