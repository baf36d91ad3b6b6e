#include "tests/proof/replay_proof.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "checker/judge/proof/prove.h"
#include "history/source/load.h"
#include "checker/prove/proof_claims.h"
#include "checker/prove/proved_levels.h"

/* The line after "open LEVEL " of the proof; NULL: the proof does not leave the level open. */
static const char *open_line(const char *text, const char *level)
{
    char start[96];
    (void)snprintf(start, sizeof start, "\nopen %s ", level);
    const char *line = strstr(text, start);
    return line == NULL ? NULL : line + strlen(start);
}

static void compare_level(enum rig_level level, enum rig_fate fate, const struct rig_proved *proved, const char *proof,
                          struct replayed *replayed)
{
    const char *name = rig_level_info(level)->name, *why = open_line(proof, name);
    const int index = rig_proved_level_find(name, strlen(name));
    const bool held = index >= 0 && (proved->held >> index & 1) != 0,
               refuted = index >= 0 && (proved->refuted >> index & 1) != 0;
    const bool same = fate == RIG_FATE_HELD ? held : fate == RIG_FATE_REFUTED ? refuted : !held && !refuted;
    replayed->decided |= fate == RIG_FATE_NOT_REFUTED ? 0 : RIG_LEVEL_BIT(level);
    if (same)
        return;
    if (why != NULL && !held && !refuted) {
        replayed->open |= RIG_LEVEL_BIT(level);
        (void)snprintf(replayed->why_open, sizeof replayed->why_open, "%.*s", (int)strcspn(why, "\n"), why);
    } else if (replayed->problem[0] == '\0') {
        (void)snprintf(replayed->problem, sizeof replayed->problem, "%s: %s in the verdict, %s in the proof", name,
                       fate == RIG_FATE_HELD      ? "held"
                       : fate == RIG_FATE_REFUTED ? "refuted"
                                                  : "not refuted",
                       held      ? "held"
                       : refuted ? "refuted"
                                 : "not claimed");
    }
}

void replay_proof(const struct rig_history *history, const struct rig_verdict *verdict,
                  const struct rig_check_options *options, struct replayed *replayed)
{
    struct rig_facts facts = {0};
    struct rig_proved proved = {0};
    struct rig_err err = {0};
    struct rig_buf text;
    *replayed = (struct replayed){0};
    rig_buf_init(&text, 0);
    enum rig_rc rc = rig_prove(history, verdict, options, &text, &err);
    if (rc == RIG_OK)
        rc = rig_facts_init(&facts, history, &err);
    if (rc == RIG_OK)
        rc = rig_claims_prove(&facts, rig_buf_text(&text), text.size, &proved, &err);
    if (rc != RIG_OK)
        (void)snprintf(replayed->problem, sizeof replayed->problem, "%.300s\n%.800s", err.text, rig_buf_text(&text));
    for (int level = 0; rc == RIG_OK && level < RIG_LEVEL_COUNT; level++)
        compare_level((enum rig_level)level, verdict->levels[level].fate, &proved, rig_buf_text(&text), replayed);
    rig_facts_done(&facts);
    rig_buf_done(&text);
}

bool check_and_replay(const char *text, size_t size, enum rig_workload workload,
                      const struct rig_check_options *options, struct replayed *replayed)
{
    const struct rig_load_options load = {.form = RIG_FORM_AUTO, .workload_given = true, .workload = workload};
    struct rig_history *history = NULL;
    struct rig_verdict *verdict = NULL;
    struct rig_err err = {0};
    *replayed = (struct replayed){0};
    enum rig_rc rc = rig_history_parse("history", text, size, &load, &history, &err);
    if (rc == RIG_OK)
        rc = rig_check(history, options, &verdict, &err);
    if (rc == RIG_OK)
        replay_proof(history, verdict, options, replayed);
    rig_verdict_free(verdict);
    rig_history_free(history);
    return rc == RIG_OK;
}
