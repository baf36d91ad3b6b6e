#include "base/json_members.h"
#include "report/claims_report.h"

#include "checker/evidence/claims.h"
#include "report/html_parts.h"
#include "report/tell.h"

static const char *name_of(unsigned kind)
{
    return rig_anomaly_info(rig_claim_anomalies[kind])->name;
}

static void add_coverage(struct rig_buf *out, const struct rig_order_claims *claims)
{
    rig_tell(out, "%n transaction%p with %s; %n read%p replayed", claims->placed_count, claims->placed_count,
             claims->is_order ? "a place in the database's order" : "timestamps of the database", claims->read_count,
             claims->read_count);
    if (claims->excluded_count > 0)
        rig_tell(out, "; %n of %n keys left out, whose versions have no known order", claims->excluded_count,
                 claims->key_count);
    rig_tell(out, "\n");
}

void rig_claims_lines(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_order_claims *claims = verdict->claims;
    bool any = false;
    if (claims == NULL)
        return;
    if (claims->unjudged != NULL) {
        rig_tell(out, "not checked: %c\n", claims->unjudged);
        return;
    }
    add_coverage(out, claims);
    for (unsigned kind = 0; kind < RIG_CLAIM_COUNT; kind++) {
        any |= claims->counts[kind] > 0;
        if (claims->counts[kind] > 0)
            rig_tell(out, "%s: %d: %s\n", name_of(kind), claims->counts[kind],
                     rig_anomaly_info(rig_claim_anomalies[kind])->definition);
    }
    rig_buf_add_text(out, any ? "\n" : "all of it agrees with the reads and with real time\n");
    for (unsigned kind = 0; kind < RIG_CLAIM_COUNT; kind++) {
        for (uint64_t i = 0; i < claims->counts[kind] && i < RIG_CLAIMS_KEPT; i++)
            rig_tell(out, "%s #%d: %c\n\n", name_of(kind), i + 1, claims->kept[kind][i].text);
    }
}

static void add_cases(struct rig_json_writer *w, const struct rig_order_claims *claims, unsigned kind)
{
    rig_json_begin_object(w, name_of(kind));
    rig_json_int(w, "count", (int64_t)claims->counts[kind]);
    rig_json_begin_array(w, "witnesses");
    for (uint64_t i = 0; i < claims->counts[kind] && i < RIG_CLAIMS_KEPT; i++) {
        const struct rig_claim_case *found = &claims->kept[kind][i];
        rig_json_begin_object(w, NULL);
        rig_json_begin_array(w, "transactions");
        rig_json_int(w, NULL, found->names[0]);
        if (found->other != UINT32_MAX)
            rig_json_int(w, NULL, found->names[1]);
        rig_json_end(w);
        rig_json_string(w, "text", found->text);
        rig_json_end(w);
    }
    rig_json_end(w);
    rig_json_end(w);
}

void rig_claims_json(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    const struct rig_order_claims *claims = verdict->claims;
    if (claims == NULL)
        return;
    rig_json_begin_object(w, "claims");
    if (claims->unjudged != NULL) {
        rig_json_string(w, "unjudged", claims->unjudged);
        rig_json_end(w);
        return;
    }
    rig_json_members(w, "kind: %s, placed: %d, unplaced: %d, keys: %d, keys_left_out: %d, reads: %d",
                     claims->is_order ? "order" : "timestamps", claims->placed_count, claims->unplaced_count,
                     claims->key_count, claims->excluded_count, claims->read_count);
    rig_json_begin_object(w, "cases");
    for (unsigned kind = 0; kind < RIG_CLAIM_COUNT; kind++) {
        if (claims->counts[kind] > 0)
            add_cases(w, claims, kind);
    }
    rig_json_end(w);
    rig_json_end(w);
}

void rig_claims_html(struct rig_buf *out, const struct rig_verdict *verdict)
{
    struct rig_buf lines;
    if (verdict->claims == NULL)
        return;
    rig_buf_init(&lines, 0);
    rig_claims_lines(&lines, verdict);
    rig_html_fold(out, "claims", "The database's own order", "");
    rig_tell(out, "<pre>%h</pre>\n", rig_buf_text(&lines));
    rig_html_fold_end(out);
    rig_buf_done(&lines);
}
