#include "history/source/source_rewrite.h"

#include "base/machine.h"
#include "history/text/classic_operations.h"
#include "history/text/index_order.h"

void rig_rewritten_done(struct rig_rewritten *rewritten)
{
    rig_text_origin_done(&rewritten->origin);
}

static const struct rig_text_syntax *syntax_of(const struct rig_load_options *load)
{
    return load->form == RIG_FORM_EDN ? &rig_text_syntax_edn : &rig_text_syntax_json;
}

static size_t half_of_limit(const struct rig_load_options *load)
{
    return (load->limit_bytes == 0 ? rig_machine_memory_bytes() : load->limit_bytes) / 2;
}

enum rig_rc rig_rewrite_sorted(const char *name, const struct rig_load_options *load, struct rig_source_bytes *bytes,
                               struct rig_rewritten *rewritten, struct rig_err *err)
{
    const size_t all = half_of_limit(load), held = bytes->buf.size;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    const enum rig_rc rc =
        rig_index_order_restore(syntax_of(load), name, bytes->data, bytes->size, all > held ? all - held : 0, &text,
                                &rewritten->origin, &rewritten->sorted, err);
    if (rc == RIG_OK && rewritten->sorted)
        rig_source_bytes_replace(bytes, &text);
    rig_buf_done(&text);
    return rc;
}

static enum rig_rc rewrite(const char *name, struct rig_load_options *load, struct rig_source_bytes *bytes,
                           const struct rig_text_origin *sorted_from, struct rig_text_origin *origin,
                           bool *reads_at_once, struct rig_err *err)
{
    struct rig_buf text;
    bool rewritten = false;
    rig_buf_init(&text, half_of_limit(load));
    const enum rig_rc rc = rig_classic_rewrite(syntax_of(load), name, bytes->data, bytes->size, sorted_from, load,
                                               &text, origin, &rewritten, reads_at_once, err);
    if (rc == RIG_OK && rewritten)
        rig_source_bytes_replace(bytes, &text);
    rig_buf_done(&text);
    return rc;
}

enum rig_rc rig_rewrite_classic(const char *name, struct rig_load_options *load, struct rig_source_bytes *bytes,
                                struct rig_rewritten *rewritten, struct rig_err *err)
{
    struct rig_err why = {0};
    if (load->form != RIG_FORM_JSON_LINES && load->form != RIG_FORM_EDN)
        return RIG_OK;
    enum rig_rc rc = rewrite(name, load, bytes, NULL, &rewritten->origin, &rewritten->reads_at_once, &why);
    if (rc == RIG_E_INPUT) {
        struct rig_err other = {0};
        rewritten->origin.count = 0;
        const enum rig_rc sorting = rig_rewrite_sorted(name, load, bytes, rewritten, &other);
        if (sorting != RIG_OK) {
            why = other;
            rc = sorting;
        }
    }
    if (rc == RIG_E_INPUT && rewritten->sorted) {
        struct rig_text_origin sorted = rewritten->origin;
        rewritten->origin = (struct rig_text_origin){0};
        why = (struct rig_err){0};
        rc = rewrite(name, load, bytes, &sorted, &rewritten->origin, &rewritten->reads_at_once, &why);
        if (rewritten->origin.count == 0)
            rewritten->origin = sorted;
        else
            rig_text_origin_done(&sorted);
    }
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}
