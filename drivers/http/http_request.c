#include "drivers/http/http_request.h"

#include <string.h>

enum { PATH_BYTES_MOST = 3000, HEADER_BYTES_MOST = 8192, BODY_BYTES_MOST = 256 << 20 };

void rig_request_maker_init(struct rig_request_maker *maker)
{
    *maker = (struct rig_request_maker){0};
    rig_buf_init(&maker->path, PATH_BYTES_MOST);
    rig_buf_init(&maker->body, BODY_BYTES_MOST);
    rig_buf_init(&maker->header_texts, HEADER_BYTES_MOST);
}

void rig_request_maker_done(struct rig_request_maker *maker)
{
    rig_buf_done(&maker->path);
    rig_buf_done(&maker->body);
    rig_buf_done(&maker->header_texts);
}

static void clear(struct rig_buf *buf)
{
    rig_buf_clear(buf);
    buf->failed = false;
}

/* A line break in a header would start another header; a blank in a path ends it. */
static bool has_control(const char *text, size_t size, unsigned char least)
{
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < least || text[i] == 0x7F)
            return true;
    }
    return false;
}

static bool make_headers(struct rig_request_maker *maker, const struct rig_dialect_step *step,
                         const struct rig_render_scope *scope)
{
    const struct rig_dialect *dialect = scope->dialect;
    size_t starts[RIG_REQUEST_HEADERS];
    size_t count = 0;
    clear(&maker->header_texts);
    for (uint32_t i = 0; i < dialect->header_count + step->header_count; i++) {
        const bool own = i >= dialect->header_count;
        const struct rig_dialect_header *header =
            own ? &step->headers[i - dialect->header_count] : &dialect->headers[i];
        starts[count] = maker->header_texts.size;
        rig_render_text(&header->value, scope, &maker->header_texts);
        const size_t size = maker->header_texts.size - starts[count];
        if (size == 0)
            continue; /* as in an If-Match without a version */
        if (has_control(rig_buf_text(&maker->header_texts) + starts[count], size, ' '))
            return false;
        rig_buf_add_char(&maker->header_texts, '\0');
        maker->headers[count++].name = header->name;
    }
    /* The buffer may have moved while it grew. */
    for (size_t i = 0; i < count; i++)
        maker->headers[i].value = rig_buf_text(&maker->header_texts) + starts[i];
    maker->request.headers = maker->headers;
    maker->request.header_count = count;
    return !maker->header_texts.failed;
}

const char *rig_request_make(struct rig_request_maker *maker, const struct rig_dialect_step *step,
                             const struct rig_render_scope *scope)
{
    bool missing = false;
    struct rig_render_scope strict = *scope;
    strict.missing = &missing;
    clear(&maker->path);
    clear(&maker->body);
    maker->request = (struct rig_http_request){.method = step->method};
    if (!make_headers(maker, step, &strict))
        return "a header that is too long or contains a control character";
    rig_render_text(&step->path, &strict, &maker->path);
    if (step->body != NULL)
        rig_render_json(step->body, &strict, &maker->body);
    else if (step->has_text)
        rig_render_text(&step->text, &strict, &maker->body);
    if (maker->path.failed || maker->body.failed)
        return "a request that is too large";
    if (missing && !scope->dry)
        return "the dialect writes a value or a version that no answer has given";
    if (has_control(rig_buf_text(&maker->path), maker->path.size, '!'))
        return "a path with a blank or a control character: the dialect lacks a `|url`";
    maker->request.path = rig_buf_text(&maker->path);
    if (step->body != NULL || step->has_text) {
        maker->request.body = rig_buf_text(&maker->body);
        maker->request.body_size = maker->body.size;
    }
    return NULL;
}
