#include "history/import/session_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/import/cobra_logs.h"
#include "history/import/dbcop_binary.h"
#include "history/import/dbcop_json.h"
#include "history/import/session_text.h"
#include "history/types/types.h"

enum {
    PART_TXNS = 32768,
    LIMIT_SHARE = 4, /* of the limit, for the decoded sessions */
};

struct reader {
    const char *name;
    size_t size; /* of the file */
    size_t part_bytes;
    uint32_t part_txns;
    struct rig_sessions sessions;
    uint32_t *places; /* for rig_sessions_give() */
};

static const struct {
    enum rig_form form;
    const struct rig_session_form *how;
} forms[] = {
    {RIG_FORM_COBRA, &rig_cobra_form},           {RIG_FORM_PLUME, &rig_plume_form},
    {RIG_FORM_AWDIT, &rig_awdit_form},           {RIG_FORM_DBCOP, &rig_dbcop_binary_form},
    {RIG_FORM_DBCOP_TEXT, &rig_dbcop_text_form}, {RIG_FORM_DBCOP_JSON, &rig_dbcop_json_form},
};
enum { FORM_COUNT = sizeof forms / sizeof *forms };

static const struct rig_session_form *form_of(enum rig_form form)
{
    size_t i = 0;
    while (i < FORM_COUNT && forms[i].form != form)
        i++;
    RIG_REQUIRE(i < FORM_COUNT);
    return forms[i].how;
}

enum rig_form rig_session_recognise(const char *data, size_t size)
{
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (forms[i].how->recognise(data, size))
            return forms[i].form;
    }
    return RIG_FORM_AUTO;
}

static void close_reader(void *state)
{
    struct reader *reader = state;
    if (reader == NULL)
        return;
    rig_sessions_done(&reader->sessions);
    free(reader->places);
    free(reader);
}

static uint32_t txn_count(const struct reader *reader)
{
    return (uint32_t)reader->sessions.txns.count - 1;
}

/* A part of the file stands for the same share of the transactions. */
static void plan_parts(struct reader *reader)
{
    size_t parts = (size_t)txn_count(reader) / PART_TXNS + 1;
    parts = parts < reader->size ? parts : 1;
    reader->part_txns = (uint32_t)(txn_count(reader) / parts + 1);
    reader->part_bytes = reader->size / parts;
}

static enum rig_rc no_memory(const struct reader *reader, const struct rig_load_options *options, struct rig_err *err)
{
    if (options->limit_bytes == 0)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the history", reader->name);
    return rig_fail(err, RIG_E_LIMIT,
                    "%s: a history of this form is decoded as a whole, which may take a quarter of the %zu bytes "
                    "allowed; raise --max-memory, or convert it to a .rig file, which is read in parts",
                    reader->name, options->limit_bytes);
}

static enum rig_rc decode(struct reader *reader, const char *data, const struct rig_load_options *options,
                          struct rig_err *err)
{
    const struct rig_session_form *form = form_of(options->form);
    struct rig_sessions *sessions = &reader->sessions;
    if (options->workload_given && options->workload != rig_sessions_workload())
        return rig_fail(err, RIG_E_INPUT, "%s: is %s, which holds registers; leave out --workload %s", reader->name,
                        form->what, rig_data_type_names[options->workload]);
    enum rig_rc rc = form->decode(reader->name, data, reader->size, sessions, err);
    if (rc == RIG_OK && !rig_sessions_finish(sessions, form->zero_is_initial))
        rc = no_memory(reader, options, err);
    if (rc != RIG_OK)
        return rc;
    reader->places = malloc((sessions->keys.count + 1) * sizeof *reader->places);
    if (reader->places == NULL)
        return no_memory(reader, options, err);
    memset(reader->places, 0xff, (sessions->keys.count + 1) * sizeof *reader->places);
    plan_parts(reader);
    return RIG_OK;
}

static enum rig_rc open_reader(const char *name, const char *data, size_t size, const struct rig_load_options *options,
                               struct rig_source_facts *facts, void **state, struct rig_err *err)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the history", name);
    reader->name = name;
    reader->size = size;
    rig_sessions_init(&reader->sessions, options->limit_bytes / LIMIT_SHARE);
    enum rig_rc rc = decode(reader, data, options, err);
    if (rc != RIG_OK) {
        close_reader(reader);
        return rc;
    }
    facts->form = options->form;
    facts->workload = rig_sessions_workload();
    facts->type_origin = options->workload_given ? RIG_TYPE_GIVEN : RIG_TYPE_FOUND;
    facts->has_invocations = false;
    facts->has_all_rows = !reader->sessions.any_absent;
    *state = reader;
    return RIG_OK;
}

static size_t cut(void *state, size_t begin)
{
    const struct reader *reader = state;
    return reader->size - begin < 2 * reader->part_bytes ? reader->size : begin + reader->part_bytes;
}

static enum rig_rc parse(void *state, size_t begin, size_t end, struct rig_segment *segment, struct rig_err *err)
{
    struct reader *reader = state;
    const size_t first = begin / reader->part_bytes * reader->part_txns;
    const size_t last = end == reader->size ? txn_count(reader) : first + reader->part_txns;
    const uint32_t from = (uint32_t)(first < txn_count(reader) ? first : txn_count(reader));
    const uint32_t to = (uint32_t)(last < txn_count(reader) ? last : txn_count(reader));
    if (!rig_sessions_give(&reader->sessions, from, to, reader->places, segment))
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the history", reader->name);
    return RIG_OK;
}

static enum rig_rc look(const char *name, const char *data, size_t size, bool *undecided, struct rig_err *err)
{
    (void)name, (void)data, (void)size, (void)err;
    *undecided = false;
    return RIG_OK;
}

const struct rig_form_reader rig_session_reader = {
    .usual_part_bytes = (size_t)4 << 20,
    .held_per_byte = 6,
    .open = open_reader,
    .cut = cut,
    .parse = parse,
    .close = close_reader,
    .look = look,
};
