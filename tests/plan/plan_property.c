#include "tests/plan/plan_property.h"

#include <stdio.h>
#include <string.h>

#include "base/secret.h"
#include "run/plan/plan.h"
#include "tests/unit/forget_secrets.h"

static const char name[] = "plan.yaml";

/* `plan.yaml:<line>:<column>: <text>` */
static bool has_place(const char *text)
{
    static const char digits[] = "0123456789";
    if (strncmp(text, name, sizeof name - 1) != 0)
        return false;
    text += sizeof name - 1;
    for (int i = 0; i < 2; i++) {
        if (*text++ != ':' || strspn(text, digits) == 0 || *text == '0')
            return false;
        text += strspn(text, digits);
    }
    return text[0] == ':' && text[1] == ' ' && text[2] != '\0';
}

static bool reads_back(const struct rig_plan *plan, bool with_help, char problem[PLAN_PROBLEM_BYTES])
{
    struct rig_buf first;
    struct rig_buf second;
    struct rig_plan *again = NULL;
    struct rig_err err = {0};
    rig_buf_init(&first, 0);
    rig_buf_init(&second, 0);
    rig_plan_write(plan, with_help, &first);
    bool holds = true;
    /* A plan with a secret is written with a mask, which is rejected when it is read. */
    const bool masked = strstr(rig_buf_text(&first), RIG_SECRET_MASK) != NULL;
    const enum rig_rc rc =
        rig_plan_parse(&(struct rig_plan_text){name, rig_buf_text(&first), first.size}, NULL, 0, NULL, &again, &err);
    if (rc == RIG_OK) {
        rig_plan_write(again, with_help, &second);
        holds = strcmp(rig_buf_text(&first), rig_buf_text(&second)) == 0;
        if (!holds)
            (void)snprintf(problem, PLAN_PROBLEM_BYTES, "reads back as another plan:\n%.1500s\n%.1500s",
                           rig_buf_text(&first), rig_buf_text(&second));
        rig_plan_free(again);
    } else if (!masked) {
        holds = false;
        (void)snprintf(problem, PLAN_PROBLEM_BYTES, "what was written is refused: %.1000s\n%.2000s", err.text,
                       rig_buf_text(&first));
    }
    rig_buf_done(&first);
    rig_buf_done(&second);
    return holds;
}

bool plan_property_holds(const char *text, size_t size, bool *taken, char problem[PLAN_PROBLEM_BYTES])
{
    struct rig_plan *plan = NULL;
    struct rig_err err = {0};
    bool holds = true;
    const enum rig_rc rc = rig_plan_parse(&(struct rig_plan_text){name, text, size}, NULL, 0, NULL, &plan, &err);
    *taken = rc == RIG_OK;
    if (*taken) {
        struct rig_buf json;
        rig_buf_init(&json, 0);
        rig_plan_write_json(plan, &json);
        holds = !json.failed && reads_back(plan, false, problem) && reads_back(plan, true, problem);
        rig_buf_done(&json);
        rig_plan_free(plan);
    } else if (rc != RIG_E_PLAN || err.rc != rc || !has_place(err.text)) {
        holds = false;
        (void)snprintf(problem, PLAN_PROBLEM_BYTES, "refused with code %d and `%.1000s`", (int)rc, err.text);
    }
    forget_secrets();
    return holds;
}
