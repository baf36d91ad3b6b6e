/*
 * The SARIF report (OASIS, Static Analysis Results Interchange Format 2.1.0): one run, an error for each case that did
 * not pass (report/cases.h), and a note for each other anomaly that was found, which no request forbids. A rule is an
 * anomaly with its definition, or the kind of another case.
 *
 * The format is made for source files, and readers reject a result without a place in one: each result names the plan
 * that was run, at the line of its requests, and the record as a related place; a bare history has its own line 1.
 * Fingerprints are the case's kind, name and type, so that a finding stays the same from one night to the next:
 * `rigCase/v1` as text, and `primaryLocationLineHash`, which GitHub compares, as a hash.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/json_members.h"
#include "report/cases.h"
#include "report/known_report.h"
#include "report/report.h"
#include "report/words.h"

static const char *const schema = "https://json.schemastore.org/sarif-2.1.0.json";

struct sarif {
    struct rig_json_writer w;
    const struct rig_verdict *verdict;
    const struct rig_report_run *run; /* NULL: a bare history */
    const char *record;               /* of every result's place, or of what is related to it */
    rig_anomaly_set told;             /* bits: anomalies that are a result already */
    struct rig_buf text;              /* of a message */
};

static void add_text(struct rig_json_writer *w, const char *name, const char *text)
{
    rig_json_object(w, name, "text: %s", text);
}

/* A reference by RFC 3986: of a file below the working folder, or of one by its whole path. */
static void add_uri(struct rig_json_writer *w, const char *path)
{
    static const char plain[] = "-._~/";
    struct rig_buf uri;
    rig_buf_init(&uri, 0);
    rig_buf_add_text(&uri, path[0] == '/' ? "file://" : "");
    for (; *path != '\0'; path++) {
        const unsigned char c = (unsigned char)*path;
        if (isalnum(c) || strchr(plain, c) != NULL)
            rig_buf_add_char(&uri, (char)c);
        else
            rig_buf_printf(&uri, "%%%02X", c);
    }
    rig_json_object(w, "artifactLocation", "uri: %s", rig_buf_text(&uri));
    rig_buf_done(&uri);
}

static void add_location(struct rig_json_writer *w, const char *path, uint32_t line)
{
    rig_json_begin_object(w, NULL);
    rig_json_begin_object(w, "physicalLocation");
    add_uri(w, path);
    rig_json_object(w, "region", "startLine: %d", line);
    rig_json_end(w);
    rig_json_end(w);
}

static void add_place(struct sarif *sarif)
{
    struct rig_json_writer *w = &sarif->w;
    const struct rig_report_run *run = sarif->run;
    const bool has_plan = run != NULL && run->plan_path != NULL;
    rig_json_begin_array(w, "locations");
    add_location(w, has_plan ? run->plan_path : sarif->record, has_plan && run->plan_line > 0 ? run->plan_line : 1);
    rig_json_end(w);
    if (!has_plan)
        return;
    rig_json_begin_array(w, "relatedLocations");
    add_location(w, sarif->record, 1);
    rig_json_end(w);
}

/* FNV-1a, in the form of GitHub's own: a hash, and the number of the equal line. */
static void add_fingerprints(struct sarif *sarif, const struct rig_report_case *test_case)
{
    struct rig_json_writer *w = &sarif->w;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char text[32];
    rig_buf_clear(&sarif->text);
    rig_buf_printf(&sarif->text, "%s/%s/%s", test_case->kind, test_case->name, test_case->type);
    for (const char *c = rig_buf_text(&sarif->text); *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    (void)snprintf(text, sizeof text, "%016" PRIx64 ":1", hash);
    rig_json_begin_object(w, "partialFingerprints");
    rig_json_string(w, "primaryLocationLineHash", text);
    rig_json_string(w, "rigCase/v1", rig_buf_text(&sarif->text));
    rig_json_end(w);
}

static void add_message(struct sarif *sarif, const struct rig_report_case *test_case)
{
    struct rig_buf *text = &sarif->text;
    rig_buf_clear(text);
    rig_words_clean(text, test_case->name, false);
    rig_buf_add_text(text, ": ");
    rig_report_case_say(text, test_case);
    add_text(&sarif->w, "message", rig_buf_text(text));
}

/* Readers hide a suppressed result, or show it as accepted. */
static void add_suppression(struct sarif *sarif)
{
    rig_buf_clear(&sarif->text);
    rig_buf_add_text(&sarif->text, "known issue: ");
    rig_known_names(&sarif->text, sarif->verdict);
    rig_json_begin_array(&sarif->w, "suppressions");
    rig_json_object(&sarif->w, NULL, "kind: %s, status: %s, justification: %s", "external", "accepted",
                    rig_buf_text(&sarif->text));
    rig_json_end(&sarif->w);
}

static void add_result(struct sarif *sarif, const struct rig_report_case *test_case, const char *level)
{
    struct rig_json_writer *w = &sarif->w;
    rig_json_begin_object(w, NULL);
    rig_json_members(w, "ruleId: %s, level: %s", test_case->type, level);
    add_message(sarif, test_case);
    add_place(sarif);
    add_fingerprints(sarif, test_case);
    if (test_case->state == RIG_CASE_KNOWN)
        add_suppression(sarif);
    rig_json_end(w);
    if (test_case->anomaly != RIG_ANOMALY_COUNT)
        sarif->told |= RIG_ANOMALY_BIT(test_case->anomaly);
}

/* An open case is an error too. SARIF's kind "open" allows no level but "none" (3.27.10), which readers do not show. */
static void add_case(const struct rig_report_case *test_case, void *context)
{
    if (test_case->state != RIG_CASE_PASSED)
        add_result(context, test_case, test_case->state == RIG_CASE_KNOWN ? "note" : "error");
}

/* The anomalies that no request forbids. */
static void add_notes(struct sarif *sarif)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &sarif->verdict->findings[anomaly];
        if (finding->count == 0 || (sarif->told & RIG_ANOMALY_BIT(anomaly)) != 0)
            continue;
        const struct rig_anomaly_info *info = rig_anomaly_info((enum rig_anomaly)anomaly);
        add_result(sarif,
                   &(struct rig_report_case){.state = RIG_CASE_FAILED,
                                             .kind = "found",
                                             .name = info->name,
                                             .type = info->name,
                                             .message = info->definition,
                                             .detail = finding->witness_count > 0 ? finding->witnesses[0].text : NULL,
                                             .anomaly = (enum rig_anomaly)anomaly},
                   "note");
    }
}

/* `source`: of the definition; NULL: rig's own. */
static void add_rule(struct rig_json_writer *w, const char *name, const char *text, const char *source)
{
    struct rig_buf help;
    rig_buf_init(&help, 0);
    rig_buf_printf(&help, "%s%s%s%s. ", text, source == NULL ? "" : " (", source == NULL ? "" : source,
                   source == NULL ? "" : ")");
    rig_buf_add_text(
        &help, source == NULL
                   ? "The report of the run has the reason, and rig.log what happened before."
                   : "The message has a witness: transactions that a person can check by hand. `rig reproduce DIR` "
                     "brings it back, and `rig list anomalies` has all definitions.");
    rig_json_begin_object(w, NULL);
    rig_json_members(w, "id: %s, name: %s", name, name);
    add_text(w, "shortDescription", text);
    add_text(w, "fullDescription", text);
    add_text(w, "help", rig_buf_text(&help));
    rig_json_end(w);
    rig_buf_done(&help);
}

/* Every rule, used or not: a reader then shows which anomalies were looked for. */
static void add_rules(struct rig_json_writer *w)
{
    rig_json_begin_array(w, "rules");
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_anomaly_info *info = rig_anomaly_info((enum rig_anomaly)anomaly);
        add_rule(w, info->name, info->definition, info->source);
    }
    add_rule(w, "condition", "a consistency condition of the application does not hold", NULL);
    add_rule(w, "server-crash", "a server that rig started has ended although rig did not end it", NULL);
    add_rule(w, "certificate", "the certificate of the database contradicts itself or what the clients read", NULL);
    add_rule(w, "run-failed", "the run failed before its end", NULL);
    add_rule(w, "undecided", "a request is undecided", NULL);
    add_rule(w, "verdict", "the verdict is not valid", NULL);
    rig_json_end(w);
}

void rig_report_sarif(const struct rig_verdict *verdict, const struct rig_report_run *run, const char *name,
                      struct rig_buf *out)
{
    RIG_REQUIRE(verdict != NULL && verdict->history != NULL && name != NULL && out != NULL);
    struct sarif sarif = {.verdict = verdict, .run = run, .record = run != NULL ? "history.rig" : name};
    rig_buf_init(&sarif.text, 0);
    struct rig_json_writer *w = &sarif.w;
    rig_json_init(w, out);
    rig_json_begin_object(w, NULL);
    rig_json_members(w, "$schema: %s, version: %s", schema, "2.1.0");
    rig_json_begin_array(w, "runs");
    rig_json_begin_object(w, NULL);
    rig_json_begin_object(w, "tool");
    rig_json_begin_object(w, "driver");
    rig_json_string(w, "name", "rig");
    if (run != NULL && run->provenance.version != NULL)
        rig_json_string(w, "version", run->provenance.version);
    add_rules(w);
    rig_json_end(w);
    rig_json_end(w);
    rig_json_object(w, "automationDetails", "id: %s", name);
    rig_json_begin_array(w, "results");
    rig_report_cases_visit(verdict, add_case, &sarif);
    add_notes(&sarif);
    rig_json_end(w);
    rig_json_end(w);
    rig_json_end(w);
    rig_json_end(w);
    rig_buf_add_char(out, '\n');
    rig_buf_done(&sarif.text);
}
