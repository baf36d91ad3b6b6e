#include "history/source/unpack.h"

#include <string.h>

#ifdef RIG_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef RIG_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/machine.h"

enum { STEP_BYTES = 1 << 16, LAYERS_MOST = 8, FIELDS_MOST = 5 };

static bool begins(const char *data, size_t size, const char *bytes, size_t count)
{
    return size >= count && memcmp(data, bytes, count) == 0;
}

static bool is_gzip(const char *data, size_t size)
{
    return begins(data, size, "\x1f\x8b", 2);
}

static bool is_zstd(const char *data, size_t size)
{
    return begins(data, size, "\x28\xb5\x2f\xfd", 4);
}

static bool has_mark(const char *data, size_t size)
{
    return begins(data, size, "\xef\xbb\xbf", 3);
}

/* ---- packed files ------------------------------------------------------------------------------------------------ */

static enum rig_rc too_long(const char *name, struct rig_err *err)
{
    return rig_fail(err, RIG_E_LIMIT,
                    "%s: unpacked it takes more than half of the memory; unpack it into a file, which is read in "
                    "parts, or raise --max-memory",
                    name);
}

static enum rig_rc unpack_gzip(const struct rig_source_bytes *bytes, const char *name, struct rig_buf *out,
                               struct rig_err *err)
{
#ifdef RIG_HAVE_ZLIB
    static const int any_window_with_gzip = 15 + 16;
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)bytes->data};
    unsigned char step[STEP_BYTES];
    size_t left = bytes->size;
    int state = inflateInit2(&stream, any_window_with_gzip);
    while (state == Z_OK && (left > 0 || stream.avail_in > 0)) {
        if (stream.avail_in == 0) {
            stream.avail_in = left > STEP_BYTES ? STEP_BYTES : (uInt)left;
            left -= stream.avail_in;
        }
        stream.next_out = step;
        stream.avail_out = sizeof step;
        state = inflate(&stream, Z_NO_FLUSH);
        rig_buf_add(out, step, sizeof step - stream.avail_out);
        if (state == Z_STREAM_END && (left > 0 || stream.avail_in > 0))
            state = inflateReset(&stream); /* a further member */
    }
    (void)inflateEnd(&stream);
    if (out->failed)
        return too_long(name, err);
    return state == Z_STREAM_END
               ? RIG_OK
               : rig_fail(err, RIG_E_INPUT, "%s: the gzip data is damaged or cut; pack it again", name);
#else
    (void)bytes, (void)out;
    return rig_fail(err, RIG_E_INPUT, "%s: this rig was built without zlib; unpack it with gunzip", name);
#endif
}

static enum rig_rc unpack_zstd(const struct rig_source_bytes *bytes, const char *name, struct rig_buf *out,
                               struct rig_err *err)
{
#ifdef RIG_HAVE_ZSTD
    ZSTD_DCtx *context = ZSTD_createDCtx();
    char step[STEP_BYTES];
    ZSTD_inBuffer in = {.src = bytes->data, .size = bytes->size};
    size_t state = 1; /* 0 at the end of a frame */
    if (context == NULL)
        return rig_no_memory(err, "unpacking");
    for (bool full = false; !ZSTD_isError(state) && !out->failed && (in.pos < in.size || full);) {
        ZSTD_outBuffer piece = {.dst = step, .size = sizeof step};
        state = ZSTD_decompressStream(context, &piece, &in);
        rig_buf_add(out, step, piece.pos);
        full = piece.pos == piece.size && state != 0;
    }
    (void)ZSTD_freeDCtx(context);
    if (out->failed)
        return too_long(name, err);
    return state == 0 ? RIG_OK : rig_fail(err, RIG_E_INPUT, "%s: the zstd data is damaged or cut; pack it again", name);
#else
    (void)bytes, (void)out;
    return rig_fail(err, RIG_E_INPUT, "%s: this rig was built without zstd; unpack it with `zstd -d`", name);
#endif
}

/* ---- history.txt ------------------------------------------------------------------------------------------------- */

struct field {
    const char *at;
    size_t length;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\r';
}

/* The fields of a line, without blanks around them; the last one has the rest of the line. Returns how many. */
static size_t split_line(const char *line, size_t length, struct field fields[FIELDS_MOST])
{
    size_t count = 0;
    for (const char *end = line + length, *next; line <= end && count < FIELDS_MOST; line = next + 1) {
        const char *tab = memchr(line, '\t', (size_t)(end - line));
        next = tab == NULL || count + 1 == FIELDS_MOST ? end : tab;
        const char *from = line, *to = next;
        while (from < to && is_blank(*from))
            from++;
        while (to > from && is_blank(to[-1]))
            to--;
        fields[count++] = (struct field){from, (size_t)(to - from)};
    }
    return count;
}

static bool is_type(const struct field *field)
{
    static const char *const types[] = {":invoke", ":ok", ":fail", ":info"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i]) == field->length && memcmp(types[i], field->at, field->length) == 0)
            return true;
    }
    return false;
}

static size_t line_length(const char *data, size_t size)
{
    const char *end = memchr(data, '\n', size);
    return end == NULL ? size : (size_t)(end - data);
}

/* By its first line: a process, the type, the function and a value. */
static bool is_history_txt(const char *data, size_t size)
{
    struct field fields[FIELDS_MOST];
    const size_t seen = size < STEP_BYTES ? size : STEP_BYTES; /* a line of JSON can be the whole file */
    const size_t count = split_line(data, line_length(data, seen), fields);
    return count >= 3 && is_type(&fields[1]) && fields[0].length > 0 &&
           (fields[0].at[0] == ':' || fields[0].at[0] == '-' || (fields[0].at[0] >= '0' && fields[0].at[0] <= '9'));
}

static void add_field(struct rig_buf *out, const char *name, const struct field *field)
{
    rig_buf_add_text(out, name);
    rig_buf_add(out, field->at, field->length);
}

/* The error is any text. */
static void add_error(struct rig_buf *out, const struct field *field)
{
    rig_buf_add_text(out, ", :error \"");
    for (size_t i = 0; i < field->length; i++) {
        if (field->at[i] == '"' || field->at[i] == '\\')
            rig_buf_add_char(out, '\\');
        rig_buf_add_char(out, field->at[i] == '\t' ? ' ' : field->at[i]);
    }
    rig_buf_add_char(out, '"');
}

static enum rig_rc rewrite_lines(const struct rig_source_bytes *bytes, const char *name, struct rig_buf *out,
                                 struct rig_err *err)
{
    size_t number = 1;
    for (size_t at = 0, length; at < bytes->size; at += length + 1, number++) {
        struct field fields[FIELDS_MOST];
        length = line_length(bytes->data + at, bytes->size - at);
        const size_t count = split_line(bytes->data + at, length, fields);
        if (count >= 3 && is_type(&fields[1])) {
            add_field(out, "{:process ", &fields[0]);
            add_field(out, ", :type ", &fields[1]);
            add_field(out, ", :f ", &fields[2]);
            if (count > 3 && fields[3].length > 0)
                add_field(out, ", :value ", &fields[3]);
            if (count > 4 && fields[4].length > 0)
                add_error(out, &fields[4]);
            rig_buf_add_char(out, '}');
        } else if (count > 1 || fields[0].length > 0) {
            return rig_fail(err, RIG_E_INPUT,
                            "%s:%zu:1: expected a process, a type (:invoke, :ok, :fail or :info), a function and a "
                            "value, with a tab after each, as in Jepsen's history.txt",
                            name, number);
        }
        rig_buf_add_char(out, '\n');
    }
    return out->failed ? too_long(name, err) : RIG_OK;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

bool rig_unpack_is_wanted(const char *data, size_t size)
{
    return size > 0 &&
           (is_gzip(data, size) || is_zstd(data, size) || has_mark(data, size) || is_history_txt(data, size));
}

enum rig_rc rig_unpack(struct rig_source_bytes *bytes, const char *name, size_t limit_bytes, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (unsigned layer = 0; rc == RIG_OK && layer < LAYERS_MOST && rig_unpack_is_wanted(bytes->data, bytes->size);
         layer++) {
        struct rig_buf out;
        rig_buf_init(&out, (limit_bytes == 0 ? rig_machine_memory_bytes() : limit_bytes) / 2);
        if (is_gzip(bytes->data, bytes->size))
            rc = unpack_gzip(bytes, name, &out, err);
        else if (is_zstd(bytes->data, bytes->size))
            rc = unpack_zstd(bytes, name, &out, err);
        else if (has_mark(bytes->data, bytes->size))
            rig_buf_add(&out, bytes->data + 3, bytes->size - 3);
        else
            rc = rewrite_lines(bytes, name, &out, err);
        if (rc == RIG_OK && out.failed)
            rc = too_long(name, err);
        if (rc == RIG_OK)
            rig_source_bytes_replace(bytes, &out);
        rig_buf_done(&out);
    }
    return rc;
}
