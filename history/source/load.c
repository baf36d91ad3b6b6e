#include "history/source/load.h"

#include <string.h>

#include "base/bug.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "history/import/dbcop_binary.h"
#include "history/import/session_text.h"
#include "history/model/process_lanes.h"
#include "history/model/value_texts.h"
#include "history/model/window.h"
#include "history/record/record_cursor.h"
#include "history/record/record_decoder.h"
#include "history/record/record_writer.h"
#include "history/source/source.h"
#include "history/text/edn.h"
#include "history/text/json_lines.h"
#include "history/types/object_kinds.h"

/* Joins all segments in one window and gives the window's history to the caller. */
static enum rig_rc take(struct rig_source *source, const struct rig_load_options *options, const char *name,
                        struct rig_history **history, struct rig_err *err)
{
    const struct rig_source_facts *facts = rig_source_facts(source);
    /* The other half is for decoding (source.c). */
    struct rig_window *window = rig_window_new(facts->workload, options->limit_bytes / 2);
    if (window == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the history", name);
    const struct rig_segment *segment = NULL;
    struct rig_err why = {0}; /* the window's error, without the file's name */
    enum rig_rc rc = rig_source_next(source, &segment, err);
    while (rc == RIG_OK && segment != NULL) {
        rc = rig_window_add(window, segment, &why);
        if (rc == RIG_OK && options->limit_bytes == 0 && rig_window_bytes(window) > facts->most_bytes)
            rc = rig_fail(&why, RIG_E_LIMIT,
                          "needs more than %zu bytes of memory, and has only %zu bytes; if that is right, give "
                          "--max-memory",
                          facts->most_bytes, facts->size_bytes);
        if (rc == RIG_OK)
            rc = rig_source_next(source, &segment, err);
    }
    if (rc == RIG_OK)
        rc = rig_window_give(window, facts, history, &why);
    else
        rig_window_free(window);
    if (why.rc == RIG_E_LIMIT && options->limit_bytes > 0)
        return rig_fail(err, why.rc, "%s: needs more memory than the %zu bytes allowed; raise --max-memory", name,
                        options->limit_bytes);
    return why.rc == RIG_OK ? rc : rig_fail(err, why.rc, "%s: %s", name, why.text);
}

enum rig_rc rig_history_take(struct rig_source *source, const struct rig_load_options *options, const char *name,
                             struct rig_history **history, struct rig_err *err)
{
    struct rig_err why = {0};
    enum rig_rc rc = take(source, options, name, history, &why);
    while (rc == RIG_E_INPUT && rig_source_mend(source, &why))
        rc = take(source, options, name, history, &why);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, why.rc, "%s", why.text);
}

static enum rig_rc load(struct rig_source *source, const struct rig_load_options *options, const char *name,
                        struct rig_history **history, struct rig_err *err)
{
    enum rig_rc rc = rig_history_take(source, options, name, history, err);
    rig_source_close(source);
    return rc;
}

enum rig_rc rig_history_parse(const char *name, const void *data, size_t size, const struct rig_load_options *options,
                              struct rig_history **history, struct rig_err *err)
{
    struct rig_source *source;
    struct rig_source_options wanted = {.load = *options};
    enum rig_rc rc = rig_source_open_memory(name, data, size, &wanted, &source, err);
    return rc == RIG_OK ? load(source, options, name, history, err) : rc;
}

enum rig_rc rig_history_load(const char *path, const struct rig_load_options *options, struct rig_history **history,
                             struct rig_err *err)
{
    struct rig_source *source;
    struct rig_source_options wanted = {.load = *options};
    enum rig_rc rc = rig_source_open(path, &wanted, &source, err);
    if (rc != RIG_OK)
        return rc;
    return load(source, options, strcmp(path, "-") == 0 ? "standard input" : path, history, err);
}

enum rig_rc rig_history_load_ranks(const char *const *paths, size_t count, const struct rig_load_options *options,
                                   struct rig_history **history, struct rig_err *err)
{
    struct rig_source *source;
    const struct rig_source_options wanted = {.load = *options};
    const enum rig_rc rc = rig_source_open_ranks(paths, count, &wanted, &source, err);
    const char *name = count > 1 ? "the records" : strcmp(paths[0], "-") == 0 ? "standard input" : paths[0];
    return rc == RIG_OK ? load(source, options, name, history, err) : rc;
}

static bool is_utf8(const char *text)
{
    size_t bytes = 1;
    for (size_t left = strlen(text); left > 0 && bytes > 0; left -= bytes, text += bytes)
        bytes = rig_utf8_decode(text, left, NULL);
    return bytes > 0;
}

/* JSON lines and EDN hold UTF-8 only, and JSON has a keyword as a string: keys would become one. */
static enum rig_rc check_keys(const struct rig_history *history, enum rig_form form, const char *path,
                              struct rig_err *err)
{
    bool any_keyword = false, any_like_one = false;
    for (uint32_t key = 0; form == RIG_FORM_JSON_LINES && history->value_keys && key < history->key_count; key++) {
        const char *text = history->key_texts[history->keys[key]];
        any_keyword |= text[0] == ':' || strstr(text, "[:") != NULL || strstr(text, " :") != NULL;
        any_like_one |= strstr(text, "\":") != NULL;
    }
    if (any_keyword && any_like_one)
        return rig_fail(
            err, RIG_E_INPUT,
            "%s: keys of the history are keywords and strings that begin with a colon, which JSON lines cannot "
            "tell apart; write EDN, or a .rig file",
            path);
    for (uint32_t key = 0; history->key_texts != NULL && key < history->key_count; key++) {
        if (!is_utf8(history->key_texts[history->keys[key]]))
            return rig_fail(err, RIG_E_INPUT,
                            "%s: key %u of the history is not UTF-8, which JSON lines and EDN cannot hold; rename it, "
                            "or write a .rig file",
                            path, (unsigned)key + 1);
    }
    return RIG_OK;
}

static enum rig_rc no_place(const struct rig_history *history, const char *path, struct rig_err *err)
{
    return rig_fail(err, RIG_E_INPUT, "%s: this form cannot hold a history of %s; --to jsonl keeps it", path,
                    rig_data_types[history->workload].name);
}

static enum rig_rc check_objects(const struct rig_history *history, const char *path, struct rig_err *err)
{
    for (uint32_t txn = 0; rig_workload_is_object(history->workload) && txn < history->txn_count; txn++) {
        if (!rig_object_is_recorded(history->workload, rig_txn_ops(history, txn), rig_txn_op_count(history, txn)))
            return rig_fail(
                err, RIG_E_INPUT,
                "%s: transaction %u has several operations, which this form cannot hold in a history of %s; "
                "--to jsonl keeps it",
                path, (unsigned)rig_txn_name(history, txn), rig_data_types[history->workload].name);
    }
    return RIG_OK;
}

/* Whether rig's own form has a place for the texts. */
static bool texts_fit(const struct rig_value_numbers *numbers)
{
    enum { MOST_BYTES = RIG_FRAME_MAX_BYTES / 2 };
    size_t bytes = 0;
    for (size_t i = 0; i < numbers->count; i++)
        bytes += strlen(rig_value_text(numbers->at[i])) + 2 * RIG_VARINT_BYTES;
    return bytes <= MOST_BYTES;
}

/* Values that are not integers: forms of solver-based checkers have no place for them. */
static enum rig_rc check_values(const struct rig_history *history, enum rig_form form, const char *path,
                                struct rig_err *err)
{
    struct rig_value_numbers numbers = {0};
    enum rig_rc rc = RIG_OK;
    if (form != RIG_FORM_RIG && rig_workload_is_object(history->workload))
        return no_place(history, path, err);
    if (form == RIG_FORM_RIG)
        rc = check_objects(history, path, err);
    if (rc == RIG_OK && !rig_record_texts_find(history, &numbers))
        rc = rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the values of the history", path);
    if (rc == RIG_OK && numbers.count > 0 && form != RIG_FORM_RIG)
        rc = rig_fail(err, RIG_E_INPUT,
                      "%s: the history has values that are not integers, such as %.40s, which this form "
                      "cannot hold; --to jsonl keeps it",
                      path, rig_value_text(numbers.at[0]));
    else if (rc == RIG_OK && !texts_fit(&numbers))
        rc = rig_fail(
            err, RIG_E_INPUT,
            "%s: the texts of its values take more than 512 MiB, which this form cannot hold; --to jsonl keeps "
            "it",
            path);
    rig_value_numbers_done(&numbers);
    return rc;
}

static enum rig_rc save(const struct rig_history *history, const char *path, const struct rig_save_options *options,
                        struct rig_err *err)
{
    enum rig_form form = options->form;
    const bool is_text = form == RIG_FORM_JSON_LINES || form == RIG_FORM_EDN;
    RIG_REQUIRE(is_text || form == RIG_FORM_RIG || form == RIG_FORM_PLUME || form == RIG_FORM_DBCOP);
    RIG_REQUIRE(form == RIG_FORM_RIG || !options->pack);
    const struct rig_record_write_options record_options = {.pack = options->pack};
    struct rig_output output;
    enum rig_rc rc = is_text ? check_keys(history, form, path, err) : check_values(history, form, path, err);
    if (rc == RIG_OK)
        rc = rig_output_open(&output, path, err);
    if (rc != RIG_OK)
        return rc;
    if (form == RIG_FORM_RIG)
        rc = rig_record_write(history, &record_options, &output, err);
    else if (form == RIG_FORM_EDN)
        rc = rig_edn_write(history, &output, err);
    else if (form == RIG_FORM_PLUME)
        rc = rig_plume_write(history, &output, err);
    else if (form == RIG_FORM_DBCOP)
        rc = rig_dbcop_binary_write(history, &output, err);
    else
        rc = rig_json_lines_write(history, &output, err);
    return rig_output_close(&output, rc, err);
}

enum rig_rc rig_history_save(const struct rig_history *history, const char *path,
                             const struct rig_save_options *options, struct rig_err *err)
{
    struct rig_process_lanes lanes;
    if (!history->in_turn)
        return save(history, path, options, err);
    enum rig_rc rc = rig_process_lanes_init(&lanes, history, err);
    if (rc == RIG_OK)
        rc = save(&lanes.history, path, options, err);
    rig_process_lanes_done(&lanes);
    return rc;
}
