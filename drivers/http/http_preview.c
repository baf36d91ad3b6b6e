#include "drivers/http/http_preview.h"

#include "drivers/http/http_request.h"

struct preview {
    struct rig_request_maker maker;
    struct rig_buf text;
    struct rig_render_scope scope;
    void (*show)(void *context, const char *text);
    void *context;
};

static enum rig_rc show_request(struct preview *preview, const struct rig_dialect_step *step, struct rig_err *err)
{
    static const char *const phases[] = {"connect", "begin", "operation", "commit"};
    const char *refused = rig_request_make(&preview->maker, step, &preview->scope);
    if (refused != NULL)
        return rig_fail(err, RIG_E_PLAN, "dialect %s, step %s: %s", preview->scope.dialect->name, step->name, refused);
    const struct rig_http_request *request = &preview->maker.request;
    struct rig_buf *text = &preview->text;
    rig_buf_clear(text);
    rig_buf_printf(text, "  # %s (%s)\n  %s %s\n", step->name, phases[step->phase], request->method, request->path);
    for (size_t i = 0; i < request->header_count; i++)
        rig_buf_printf(text, "  %s: %s\n", request->headers[i].name, request->headers[i].value);
    if (request->body != NULL)
        rig_buf_printf(text, "\n  %s\n", request->body);
    rig_buf_add_char(text, '\n');
    preview->show(preview->context, rig_buf_text(text));
    return RIG_OK;
}

static enum rig_rc show_steps(struct preview *preview, const struct rig_dialect_steps *steps, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct rig_dialect_step *step = &steps->at[i];
        const uint32_t count = rig_state_set_size(preview->scope.state, step->set);
        preview->scope.set = step->set;
        for (uint32_t element = 0; rc == RIG_OK && element < count; element++) {
            preview->scope.element = element;
            if (rig_render_holds(&step->when, &preview->scope))
                rc = show_request(preview, step, err);
        }
    }
    return rc;
}

enum rig_rc rig_http_preview(const struct rig_dialect *dialect, enum rig_workload workload,
                             const struct rig_transaction *transaction, void (*show)(void *context, const char *text),
                             void *context, struct rig_err *err)
{
    struct rig_arena arena;
    struct rig_transaction_state state;
    struct rig_transaction question = *transaction;
    struct preview preview = {.show = show, .context = context};
    rig_arena_init(&arena, 0);
    rig_buf_init(&preview.text, 0);
    rig_request_maker_init(&preview.maker);
    enum rig_rc rc = RIG_OK;
    if (!rig_state_begin(&state, NULL, &arena, &question))
        rc = rig_no_memory(err, "a transaction");
    preview.scope =
        (struct rig_render_scope){.dialect = dialect, .state = &state, .client = transaction->client, .dry = true};
    if (rc == RIG_OK)
        rc = show_steps(&preview, &dialect->workloads[workload].steps, err);
    rig_request_maker_done(&preview.maker);
    rig_buf_done(&preview.text);
    rig_arena_done(&arena);
    return rc;
}

enum rig_rc rig_http_preview_choice(const struct rig_dialect_choice *choice, enum rig_workload workload,
                                    const struct rig_transaction *transaction,
                                    void (*show)(void *context, const char *text), void *context, struct rig_err *err)
{
    struct rig_dialect *dialect = NULL;
    enum rig_rc rc = rig_dialect_choose(choice, workload, &dialect, err);
    if (rc == RIG_OK)
        rc = rig_http_preview(dialect, workload, transaction, show, context, err);
    rig_dialect_free(dialect);
    return rc;
}
