#include "history/source/source.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/record/record_reader.h"
#include "history/source/source_private.h"
#include "history/source/unpack.h"
#include "history/text/certificate_text.h"
#include "history/text/text_reader.h"
#include "history/types/object_specification.h"

enum {
    MERGED_PART_BYTES = 1 << 16,
    BYTES_A_TXN = 16 /* of a record, about */
};

/* ---- opening and closing ---- */

static unsigned core_count(void)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? (unsigned)CPU_COUNT(&cores) : 1;
}

static struct rig_source *new_source(const char *name, const struct rig_source_options *options)
{
    struct rig_source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return NULL;
    source->options = *options;
    if (options->threads == 0)
        source->options.threads = core_count();
    if (source->options.threads > RIG_SOURCE_THREADS_MOST)
        source->options.threads = RIG_SOURCE_THREADS_MOST;
    source->settled = !options->follow;
    source->bytes.fd = -1;
    rig_arena_init(&source->fault_texts, 0);
    pthread_mutex_init(&source->lock, NULL);
    pthread_cond_init(&source->may_claim, NULL);
    pthread_cond_init(&source->is_ready, NULL);
    source->name = strdup(name);
    if (source->name == NULL) {
        rig_source_close(source);
        return NULL;
    }
    return source;
}

void rig_source_close(struct rig_source *source)
{
    if (source == NULL)
        return;
    rig_source_stop_threads(source);
    rig_merge_close(source->merge);
    for (unsigned i = 0; source->segments != NULL && i < source->part_count; i++)
        rig_segment_done(&source->segments[i]);
    if (source->reader != NULL)
        source->reader->close(source->state);
    rig_source_bytes_close(&source->bytes);
    rig_rewritten_done(&source->rewritten);
    pthread_cond_destroy(&source->is_ready);
    pthread_cond_destroy(&source->may_claim);
    pthread_mutex_destroy(&source->lock);
    free(source->parts);
    free(source->segments);
    rig_fault_event_vec_done(&source->faults);
    rig_arena_done(&source->fault_texts);
    rig_certificate_done(&source->certificate);
    free(source->idle);
    free(source->meta);
    free(source->name);
    free(source);
}

/* The reader's text may not live as long as the source. */
static enum rig_rc keep_meta(struct rig_source *source, struct rig_err *err)
{
    if (source->facts.meta == NULL)
        return RIG_OK;
    if (source->meta != NULL && strcmp(source->facts.meta, source->meta) == 0) {
        source->facts.meta = source->meta; /* the caller may hold it */
        return RIG_OK;
    }
    char *copy = strdup(source->facts.meta);
    if (copy == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the metadata", source->name);
    free(source->meta);
    source->meta = copy;
    source->facts.meta = copy;
    return RIG_OK;
}

/* The specification of a history of a model: the one that the caller gives, or the record has. */
static enum rig_rc find_specification(struct rig_source *source, enum rig_rc rc, struct rig_err *err)
{
    struct rig_source_facts *facts = &source->facts;
    if (rc != RIG_OK || !rig_workload_has_specification(facts->workload))
        return rc;
    facts->specification = source->options.load.specification != NULL ? source->options.load.specification
                                                                      : rig_specification_of(facts->meta);
    if (facts->specification == NULL)
        return rig_fail(err, RIG_E_USAGE,
                        "%s: the history has operations of a model, and not the model itself; give it "
                        "as --model FILE",
                        source->name);
    return RIG_OK;
}

static enum rig_rc open_reader(struct rig_source *source, struct rig_err *err)
{
    source->facts = (struct rig_source_facts){
        .form = source->options.load.form,
        .workload = source->options.load.workload,
        .type_origin = source->options.load.type_origin,
        .excerpt = source->options.load.excerpt,
        .lost_count = source->options.load.excerpt,
        .size_bytes = source->bytes.size,
        .has_invocations = true,
        .held_bytes = source->bytes.buf.size + source->rewritten.origin.count * sizeof *source->rewritten.origin.at,
        .sorted = source->rewritten.sorted,
        .reads_at_once = source->rewritten.reads_at_once,
        .parts_bytes = source->planned_bytes,
        .most_bytes = source->most_bytes,
    };
    enum rig_rc rc = source->reader->open(source->name, source->bytes.data, source->bytes.size, &source->options.load,
                                          &source->facts, &source->state, err);
    if (rc == RIG_OK && source->rewritten.origin.count > 0)
        rig_text_reader_set_origin(source->state, &source->rewritten.origin);
    if (source->bytes.in_parts) /* samples of a clock were looked for in the whole record */
        rig_source_bytes_release(&source->bytes, 0, source->bytes.size);
    return rc == RIG_OK ? find_specification(source, keep_meta(source, err), err) : rc;
}

static enum rig_rc find_reader(struct rig_source *source, struct rig_err *err)
{
    struct rig_source_bytes *bytes = &source->bytes;
    struct rig_load_options *load = &source->options.load;
    if (bytes->size == 0)
        return rig_fail(err, RIG_E_INPUT, "%s: is empty; a history has at least a header or one operation",
                        source->name);
    enum rig_form recognised = rig_form_recognise(bytes->data, bytes->size);
    if (load->form == RIG_FORM_AUTO)
        load->form = recognised;
    if (load->form == RIG_FORM_AUTO)
        return rig_form_refuse(source->name, bytes->data, bytes->size, err);
    if (load->form == RIG_FORM_RIG && recognised != RIG_FORM_RIG)
        return rig_fail(err, RIG_E_INPUT, "%s: byte 0: is not a record of rig; let rig recognise its form",
                        source->name);
    const enum rig_rc rc = source->options.follow
                               ? RIG_OK
                               : rig_rewrite_classic(source->name, load, &source->bytes, &source->rewritten, err);
    if (rc != RIG_OK)
        return rc;
    source->reader = rig_form_reader_of(load->form);
    const struct rig_form_reader *blocks = &rig_record_blocks_reader;
    size_t share =
        load->limit_bytes == 0 ? 0 : rig_source_part_share(source, blocks, rig_source_part_count(source, blocks)) + 1;
    if (load->form == RIG_FORM_RIG && (source->options.threads > 1 || source->options.by_blocks) &&
        !source->options.follow && !source->options.in_order && rig_record_has_blocks(bytes, share))
        source->reader = blocks;
    return RIG_OK;
}

static enum rig_rc unpack_and_find(struct rig_source *made, struct rig_err *err)
{
    const enum rig_rc rc = rig_unpack(&made->bytes, made->name, made->options.load.limit_bytes, err);
    return rc == RIG_OK ? find_reader(made, err) : rc;
}

/* Continues to open a source that has its bytes, unless `rc` is an error; frees it on failure. */
static enum rig_rc open_source(struct rig_source *made, enum rig_rc rc, struct rig_source **source, struct rig_err *err)
{
    if (rc == RIG_OK && made->reader == NULL)
        rc = unpack_and_find(made, err);
    if (rc == RIG_OK && made->options.follow && made->reader->grow == NULL)
        rc = rig_fail(err, RIG_E_INPUT, "%s: only rig's own form can be followed while it grows", made->name);
    if (rc == RIG_OK && !rig_source_make_parts(made))
        rc = rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "reading it", made->name);
    if (rc == RIG_OK)
        rc = open_reader(made, err);
    if (rc == RIG_OK)
        *source = made;
    else
        rig_source_close(made);
    return rc;
}

enum rig_rc rig_source_open(const char *path, const struct rig_source_options *options, struct rig_source **source,
                            struct rig_err *err)
{
    return rig_source_open_form(path, NULL, 0, NULL, options, source, err);
}

enum rig_rc rig_source_open_memory(const char *name, const void *data, size_t size,
                                   const struct rig_source_options *options, struct rig_source **source,
                                   struct rig_err *err)
{
    return rig_source_open_form(name, data == NULL ? "" : data, size, NULL, options, source, err);
}

enum rig_rc rig_source_open_form(const char *name, const void *data, size_t size, const struct rig_form_reader *reader,
                                 const struct rig_source_options *options, struct rig_source **source,
                                 struct rig_err *err)
{
    struct rig_source *made = new_source(strcmp(name, "-") == 0 ? "standard input" : name, options);
    if (made == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "reading it", name);
    enum rig_rc rc = RIG_OK;
    if (data == NULL)
        rc = rig_source_bytes_open(&made->bytes, name, options->load.limit_bytes, options->follow, rig_form_look, err);
    else
        rig_source_bytes_borrow(&made->bytes, data, size);
    made->reader = reader;
    return open_source(made, rc, source, err);
}

/* ---- several records ---- */

/* Each record has a share of the limit, and short parts in order, so that those of all records stay in the cache while
 * they are merged. The thread that merges parses them too, unless there are cores for a thread per record beside it and
 * the reader's. */
static struct rig_source_options share_options(const struct rig_source *source, size_t count)
{
    struct rig_source_options options = source->options;
    options.load.limit_bytes /= 2 * count;
    options.threads = options.threads > 2 && count <= (size_t)4 * options.threads ? 2 : 1;
    options.in_order = true;
    if (options.load.part_bytes == 0)
        options.load.part_bytes = MERGED_PART_BYTES;
    return options;
}

static enum rig_rc merge_sources(struct rig_source *made, struct rig_source **sources, size_t count,
                                 struct rig_err *err)
{
    const char **names = calloc(count, sizeof *names);
    if (names == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "merging the records");
    for (size_t i = 0; i < count; i++)
        names[i] = sources[i]->name;
    const struct rig_merge_records records = {.sources = sources,
                                              .names = names,
                                              .count = count,
                                              .threads = made->options.threads,
                                              .limit_bytes = made->options.load.limit_bytes,
                                              .output_txns = made->options.load.part_bytes / BYTES_A_TXN};
    const enum rig_rc rc = rig_merge_open(&records, &made->facts, &made->merge, err);
    free(names);
    return rc;
}

static enum rig_rc open_merged(const char *const *paths, size_t count, const struct rig_source_options *options,
                               struct rig_source **source, struct rig_err *err)
{
    struct rig_source *made = new_source(paths[0], options), **sources = calloc(count, sizeof(struct rig_source *));
    enum rig_rc rc =
        made == NULL || sources == NULL ? rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "merging the records") : RIG_OK;
    for (size_t i = 0; i < count && rc == RIG_OK; i++) {
        const struct rig_source_options each = share_options(made, count);
        rc = rig_source_open(paths[i], &each, &sources[i], err);
        if (rc == RIG_OK)
            sources[i]->merged = true;
    }
    if (rc == RIG_OK)
        rc = merge_sources(made, sources, count, err);
    for (size_t i = 0; sources != NULL && i < count; i++)
        rig_source_close(sources[i]);
    free(sources);
    if (rc == RIG_OK)
        *source = made;
    else
        rig_source_close(made);
    return rc;
}

enum rig_rc rig_source_open_ranks(const char *const *paths, size_t count, const struct rig_source_options *options,
                                  struct rig_source **source, struct rig_err *err)
{
    struct rig_source *single = NULL;
    RIG_REQUIRE(count > 0);
    if (count > 1)
        return open_merged(paths, count, options, source, err);
    const enum rig_rc rc = rig_source_open(paths[0], options, &single, err);
    if (rc != RIG_OK)
        return rc;
    if (single->facts.rank.count <= 1 || options->follow) {
        *source = single;
        return RIG_OK;
    }
    rig_source_close(single);
    return open_merged(paths, count, options, source, err);
}

/* ---- the reader's side ---- */

/* The lines of a certificate in a text, in order. */
static enum rig_rc join_certificate(struct rig_source *source, const struct rig_segment *segment, struct rig_err *err)
{
    for (size_t i = 0; i < segment->certificate.count; i++) {
        const struct rig_segment_line *line = &segment->certificate.at[i];
        switch (rig_certificate_text_take(line->text, line->length, &source->certificate)) {
        case RIG_CERTIFICATE_TAKEN:
            source->facts.certificate = &source->certificate;
            break;
        case RIG_CERTIFICATE_NO_MEMORY:
            return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the certificate", source->name);
        case RIG_CERTIFICATE_DAMAGED:
            return rig_fail(err, RIG_E_INPUT,
                            "%s: line %zu of the certificate, `%.60s`: this is not a line of a certificate, or it does "
                            "not fit those before it",
                            source->name, rig_certificate_text_count(&source->certificate), line->text);
        }
    }
    return RIG_OK;
}

static enum rig_rc keep_faults(struct rig_source *source, const struct rig_segment *segment, struct rig_err *err)
{
    if (!rig_fault_event_keep_all(&source->faults, &source->fault_texts, segment->faults.at, segment->faults.count))
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "the events of faults", source->name);
    source->facts.faults = source->faults.at;
    source->facts.fault_count = source->faults.count;
    return RIG_OK;
}

static enum rig_rc join(struct rig_source *source, struct rig_source_part *part, struct rig_err *err)
{
    if (part->rc != RIG_OK)
        return rig_fail(err, part->rc, "%s", part->err.text);
    enum rig_rc rc = source->reader->join == NULL ? RIG_OK : source->reader->join(source->state, part->segment, err);
    source->facts.skipped_count += part->segment->skipped_count;
    source->facts.lost_count += part->segment->lost_count;
    source->facts.reused_count += part->segment->reused_count;
    source->facts.keyword_keys |= part->segment->keyword_keys;
    source->facts.value_keys |= part->segment->value_keys;
    if (rc == RIG_OK)
        rc = keep_faults(source, part->segment, err);
    return rc == RIG_OK ? join_certificate(source, part->segment, err) : rc;
}

static enum rig_rc finish(struct rig_source *source, struct rig_err *err)
{
    source->ended = true;
    enum rig_rc rc =
        source->reader->finish == NULL ? RIG_OK : source->reader->finish(source->state, &source->facts, err);
    rig_source_empty_segments(source);
    return rc == RIG_OK ? keep_meta(source, err) : rc;
}

static enum rig_rc next(struct rig_source *source, const struct rig_segment **segment, struct rig_err *err)
{
    struct rig_source_part *part = NULL;
    pthread_mutex_lock(&source->lock);
    rig_source_release_part(source);
    enum rig_rc rc = source->ended ? RIG_OK : rig_source_wait_for_part(source, &part, err);
    bool settled = source->settled;
    pthread_mutex_unlock(&source->lock);
    if (rc == RIG_OK && part != NULL)
        rc = join(source, part, err);
    else if (rc == RIG_OK && settled && !source->ended)
        rc = finish(source, err);
    if (rc != RIG_OK)
        return rc;
    source->given_end = part == NULL ? source->given_end : part->end;
    if (part != NULL)
        rig_source_measure(source, part);
    *segment = part == NULL ? NULL : part->segment;
    return RIG_OK;
}

static enum rig_rc next_merged(struct rig_source *source, const struct rig_segment **segment, struct rig_err *err)
{
    const enum rig_rc rc = rig_merge_next(source->merge, segment, &source->facts, err);
    return rc == RIG_OK && *segment != NULL ? keep_faults(source, *segment, err) : rc;
}

enum rig_rc rig_source_next(struct rig_source *source, const struct rig_segment **segment, struct rig_err *err)
{
    if (source->failure.rc == RIG_OK)
        (void)(source->merge != NULL ? next_merged : next)(source, segment, &source->failure);
    return source->failure.rc == RIG_OK ? RIG_OK : rig_fail(err, source->failure.rc, "%s", source->failure.text);
}

void rig_source_settle(struct rig_source *source)
{
    pthread_mutex_lock(&source->lock);
    source->settling = true;
    pthread_mutex_unlock(&source->lock);
}

void rig_source_exchange(struct rig_source *source, struct rig_segment *segment)
{
    RIG_REQUIRE(source->given > source->released);
    struct rig_segment *given = source->parts[(source->given - 1) % source->part_count].segment;
    const struct rig_segment mine = *segment;
    const size_t limit_bytes = given->limit_bytes;
    void *const part = given->reader_part;
    void (*const part_free)(void *) = given->reader_part_free;
    *segment = *given;
    segment->reader_part = NULL;
    segment->reader_part_free = NULL;
    *given = mine;
    given->reader_part = part;
    given->reader_part_free = part_free;
    given->limit_bytes = limit_bytes;
    given->pool.arena.limit_bytes = segment->pool.arena.limit_bytes;
    given->texts.limit_bytes = segment->texts.limit_bytes;
}

/* `at` NULL: from the beginning. */
static enum rig_rc read_again(struct rig_source *source, const struct rig_source_start *at, struct rig_err *err)
{
    if (source->merge != NULL)
        return at == NULL ? rig_merge_rewind(source->merge, &source->facts, err)
                          : rig_merge_start_at(source->merge, at, &source->facts, err);
    rig_source_pause(source);
    source->uses_only = at != NULL && at->uses_only;
    source->reader->close(source->state);
    source->state = NULL;
    return open_reader(source, err);
}

static enum rig_rc restart(struct rig_source *source, const struct rig_source_start *at, struct rig_err *err)
{
    const size_t block = at == NULL ? 0 : at->block;
    source->failure = (struct rig_err){0};
    source->faults.count = 0;
    source->facts.fault_count = 0;
    source->facts.certificate = NULL;
    rig_certificate_done(&source->certificate);
    rig_arena_reset(&source->fault_texts);
    source->ended = false;
    enum rig_rc rc = read_again(source, at, &source->failure);
    if (rc != RIG_OK)
        return rig_fail(err, rc, "%s", source->failure.text);
    if (source->merge != NULL)
        return RIG_OK;
    if (block > 0)
        rig_record_begin_at(source->state, block);
    rig_source_resume_at(source, block);
    return RIG_OK;
}

enum rig_rc rig_source_rewind(struct rig_source *source, struct rig_err *err)
{
    return restart(source, NULL, err);
}

static bool is_record(const struct rig_source *source)
{
    return source->reader == &rig_record_blocks_reader || source->reader == &rig_record_reader;
}

bool rig_source_blocks(struct rig_source *source, struct rig_source_offsets *blocks)
{
    if (source->merge != NULL)
        return rig_merge_find_places(source->merge, blocks);
    return source->reader == &rig_record_blocks_reader && !rig_record_has_rank(source->state) &&
           rig_record_find_blocks(source->state, &source->bytes, blocks);
}

bool rig_source_find_entries(struct rig_source *source, struct rig_source_entries *entries)
{
    return is_record(source) && rig_record_find_entries(source->state, &source->bytes, entries);
}

enum rig_rc rig_source_start_at(struct rig_source *source, const struct rig_source_start *start, struct rig_err *err)
{
    RIG_REQUIRE(source->merge != NULL || (is_record(source) && start->block < source->bytes.size));
    return restart(source, start, err);
}

size_t rig_source_given_end(const struct rig_source *source)
{
    return source->merge != NULL ? rig_merge_place(source->merge) : source->given_end;
}

void rig_source_marks(struct rig_source *source, uint64_t *start, uint64_t *end)
{
    if (source->merge != NULL)
        rig_merge_marks(source->merge, &source->facts, start, end);
    else
        rig_record_marks(source->state, start, end);
}

bool rig_source_processes(const struct rig_source *source, struct rig_rank_processes *processes)
{
    return source->merge == NULL || rig_merge_list_processes(source->merge, processes);
}

bool rig_source_mend(struct rig_source *source, struct rig_err *why)
{
    const enum rig_form form = source->facts.form;
    struct rig_load_options *load = &source->options.load;
    struct rig_err err = {0};
    enum rig_rc rc = RIG_OK;
    bool mended = false;
    if (source->failure.rc != RIG_E_INPUT || (form != RIG_FORM_JSON_LINES && form != RIG_FORM_EDN))
        return false;
    rig_source_pause(source);
    if (!load->value_keys && rig_text_reader_mixes_keys(source->state)) {
        load->value_keys = mended = true;
    } else if (source->rewritten.origin.count == 0) {
        rc = rig_rewrite_sorted(source->name, load, &source->bytes, &source->rewritten, &err);
        mended = source->rewritten.sorted;
    }
    if (rc == RIG_OK && mended)
        rc = rig_source_rewind(source, &err);
    if (rc != RIG_OK || mended)
        *why = err;
    return rc == RIG_OK && mended;
}

double rig_source_share(const struct rig_source *source)
{
    if (source->merge != NULL)
        return rig_merge_share(source->merge);
    return source->facts.size_bytes == 0 ? 1 : (double)source->given_end / (double)source->facts.size_bytes;
}

const struct rig_source_facts *rig_source_facts(const struct rig_source *source)
{
    return &source->facts;
}
