#include "report/load_timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/json_members.h"
#include "checker/model/certified.h"
#include "history/types/types.h"
#include "history/model/value_texts.h"
#include "report/words.h"

enum { TEXT_BYTES = 64, WITNESSES_MOST = 200, WITNESS_TXNS = 64, FAULTS_MOST = 500, ROUNDS_MOST = 40 };

/* The data, and how much of each kind is encoded. */
struct encoder {
    const struct rig_course *course;
    const struct rig_verdict *verdict;
    const struct rig_episodes *episodes;
    double share[RIG_COURSE_WHYS];
    int64_t unit_ns;
    uint32_t *map; /* texts of the course to those of the data, UINT32_MAX: not used yet */
    uint32_t text_count;
    struct rig_buf texts; /* the array of JSON, without its brackets */
    struct rig_buf bars;
    struct rig_load_timeline_size size;
};

static void add_number(struct rig_buf *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        rig_buf_add_char(out, (char)((number & 0x7f) | 0x80));
    rig_buf_add_char(out, (char)number);
}

static void add_signed(struct rig_buf *out, int64_t number)
{
    add_number(out, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static void add_base64(struct rig_json_writer *w, const char *name, const struct rig_buf *bytes)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_add_char(&text, '"');
    rig_base64_add(bytes->data, bytes->size, false, &text);
    rig_buf_add_char(&text, '"');
    w->buf->failed |= text.failed;
    rig_json_plain(w, name, rig_buf_text(&text));
    rig_buf_done(&text);
}

/* -- transactions -------------------------------------------------------------------------------------------------- */

static void add_new_text(struct encoder *e, const char *text)
{
    size_t length = strlen(text);
    if (length > TEXT_BYTES)
        for (length = TEXT_BYTES; length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;)
            length--;
    if (e->text_count++ > 0)
        rig_buf_add_char(&e->texts, ',');
    rig_json_quote(&e->texts, text, length);
}

static uint64_t text_of(struct encoder *e, uint32_t text)
{
    if (e->map[text] == UINT32_MAX) {
        e->map[text] = e->text_count;
        add_new_text(e, e->course->texts.texts[text]);
    }
    return e->map[text];
}

static void add_value(struct encoder *e, int64_t value)
{
    const char *text = rig_value_text(value);
    if (text == NULL) {
        add_signed(&e->bars, value);
        return;
    }
    add_number(&e->bars, e->text_count); /* each in its place: they are rare */
    add_new_text(e, text);
}

/* kind, read state, whether the value is a text; key; elements of a sequence; value. */
static void add_op(struct encoder *e, const struct rig_course_op *op)
{
    const bool sequence = rig_op_reads_sequence(op->kind);
    const bool has_value = sequence ? op->count > 0 : !rig_op_reads(op->kind) || op->state == RIG_READ_SEEN;
    const bool is_text = has_value && rig_value_text(op->value) != NULL;
    add_number(&e->bars, (uint64_t)op->kind << 3 | (uint64_t)op->state << 1 | is_text);
    add_number(&e->bars, text_of(e, op->key));
    if (sequence)
        add_number(&e->bars, op->count);
    if (has_value)
        add_value(e, op->value);
}

static void add_bar(struct encoder *e, size_t at, const struct rig_course_bar *before)
{
    const struct rig_course *course = e->course;
    const struct rig_course_bar *bar = &course->bars.at[at];
    const uint32_t end = at + 1 < course->bars.count ? course->bars.at[at + 1].first_op : (uint32_t)course->ops.count;
    const bool has_node = bar->node != UINT32_MAX;
    const int64_t from = bar->invoke_ns / e->unit_ns;
    add_signed(&e->bars, (int64_t)bar->name - (before == NULL ? 0 : (int64_t)before->name));
    add_signed(&e->bars, from - (before == NULL ? 0 : before->invoke_ns / e->unit_ns));
    add_number(&e->bars, bar->complete_ns == RIG_NO_TIME || bar->complete_ns < bar->invoke_ns
                             ? bar->complete_ns != RIG_NO_TIME
                             : (uint64_t)(bar->complete_ns / e->unit_ns - from) + 1);
    add_signed(&e->bars, bar->process);
    add_number(&e->bars,
               (uint64_t)bar->outcome | (uint64_t)bar->kind << 2 | (uint64_t)bar->why << 3 | (uint64_t)has_node << 6);
    if (has_node)
        add_number(&e->bars, text_of(e, bar->node));
    add_number(&e->bars, end - bar->first_op);
    for (uint32_t i = bar->first_op; i < end; i++)
        add_op(e, &course->ops.at[i]);
}

static void encode_bars(struct encoder *e)
{
    const struct rig_course *course = e->course;
    const struct rig_course_bar *before = NULL;
    memset(e->map, 0xff, (course->texts.count + 1) * sizeof *e->map);
    rig_buf_clear(&e->bars);
    rig_buf_clear(&e->texts);
    e->text_count = 0;
    e->size = (struct rig_load_timeline_size){.embedded = 0};
    for (unsigned why = 0; why < RIG_COURSE_WHYS; why++)
        e->size.whole[why] = e->share[why] >= 1;
    for (size_t i = 0; i < course->bars.count; i++) {
        const struct rig_course_bar *bar = &course->bars.at[i];
        if (e->share[bar->why] < 1 && rig_course_chance(~bar->name) >= e->share[bar->why])
            continue;
        add_bar(e, i, before);
        before = bar;
        e->size.embedded++;
        e->size.of[bar->why]++;
    }
}

/* -- the rest ------------------------------------------------------------------------------------------------------ */

void rig_load_timeline_witness(struct rig_buf *out, enum rig_anomaly anomaly, uint32_t number, bool is_by_certificate)
{
    rig_buf_printf(out, "%s #%" PRIu32 "%s", rig_anomaly_info(anomaly)->name, number,
                   is_by_certificate ? " (certificate)" : "");
}

static void add_witnesses_of(struct rig_json_writer *w, struct encoder *e, const struct rig_verdict *verdict,
                             bool is_by_certificate)
{
    struct rig_buf name;
    rig_buf_init(&name, 0);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        for (uint32_t i = 0; i < finding->witness_count && e->size.witness_count < WITNESSES_MOST; i++) {
            const struct rig_witness *witness = &finding->witnesses[i];
            rig_buf_clear(&name);
            rig_load_timeline_witness(&name, (enum rig_anomaly)anomaly, i + 1, is_by_certificate);
            e->size.witness_count++;
            rig_json_begin_array(w, NULL);
            rig_json_string(w, NULL, rig_buf_text(&name));
            for (uint32_t j = 0; j < witness->txn_count && j < WITNESS_TXNS; j++)
                rig_json_int(w, NULL, rig_txn_name(verdict->history, witness->txns[j]));
            rig_json_end(w);
        }
    }
    rig_buf_done(&name);
}

static void add_faults(struct rig_json_writer *w, const struct encoder *e)
{
    struct rig_buf name;
    rig_buf_init(&name, 0);
    rig_json_begin_array(w, "faults");
    for (size_t i = 0; i < e->episodes->of.count && i < FAULTS_MOST; i++) {
        const struct rig_episode *episode = &e->episodes->of.at[i];
        if (episode->from_ns == RIG_NO_TIME || episode->to_ns == RIG_NO_TIME)
            continue;
        rig_buf_clear(&name);
        rig_episode_name(&name, e->episodes, episode);
        rig_json_begin_array(w, NULL);
        rig_json_int(w, NULL, (episode->from_ns - e->episodes->zero_ns) / e->unit_ns);
        rig_json_int(w, NULL, episode->healed ? (episode->to_ns - e->episodes->zero_ns) / e->unit_ns : -1);
        rig_json_string(w, NULL, rig_buf_text(&name));
        rig_json_end(w);
    }
    rig_json_end(w);
    rig_buf_done(&name);
}

/* A label a row that has clients, and its number; then how many completed in each slot, by outcome. */
static void add_rows(struct rig_json_writer *w, struct encoder *e, bool counts)
{
    const struct rig_course *course = e->course;
    const char *word = course->client_count > 0 ? "client" : "process";
    struct rig_buf bytes, label;
    rig_buf_init(&bytes, 0);
    rig_buf_init(&label, 0);
    rig_json_begin_array(w, "rows");
    for (uint32_t i = 0; i < RIG_COURSE_ROWS; i++) {
        const struct rig_course_row *row = &course->rows[i];
        if (row->least > row->most)
            continue;
        rig_buf_clear(&label);
        rig_buf_printf(&label, row->least == row->most ? "%s %" PRIu32 : "%s %" PRIu32 ", %" PRIu32 " …", word,
                       row->least, row->most);
        rig_json_begin_array(w, NULL);
        rig_json_int(w, NULL, i);
        rig_json_string(w, NULL, rig_buf_text(&label));
        rig_json_end(w);
        e->size.client_count++;
        for (uint32_t slot = 0; slot < course->slot_count && counts; slot++)
            for (unsigned outcome = 0; outcome < 3; outcome++)
                add_number(&bytes, row->count[slot][outcome]);
    }
    rig_json_end(w);
    add_base64(w, "bins", &bytes);
    w->buf->failed |= bytes.failed;
    rig_buf_done(&bytes);
    rig_buf_done(&label);
}

static void add_kinds(struct rig_json_writer *w)
{
    rig_json_begin_array(w, "kinds");
    for (unsigned kind = 0; kind < RIG_OP_KIND_COUNT; kind++) {
        rig_json_begin_array(w, NULL);
        rig_json_string(w, NULL, rig_op_infos[kind].name);
        rig_json_int(w, NULL, rig_op_reads(kind));
        rig_json_int(w, NULL, rig_op_reads_sequence(kind));
        rig_json_end(w);
    }
    rig_json_end(w);
}

static int64_t end_of(const struct rig_course *course)
{
    int64_t end = (int64_t)course->slot_count * course->slot_ns;
    for (size_t i = 0; i < course->bars.count; i++)
        end = course->bars.at[i].invoke_ns > end ? course->bars.at[i].invoke_ns : end;
    return end;
}

static void encode(struct encoder *e, struct rig_buf *out)
{
    const struct rig_course *course = e->course;
    struct rig_json_writer w;
    rig_json_init(&w, out);
    encode_bars(e);
    rig_json_begin_object(&w, NULL);
    rig_json_members(&w, "unit_ns: %d, span: %d, total: %d, clients: %d, row_count: %d, slot: %d, slots: %d",
                     e->unit_ns, end_of(course) / e->unit_ns, course->txn_count, course->client_count, RIG_COURSE_ROWS,
                     course->slot_ns / e->unit_ns, course->slot_count);
    add_rows(&w, e, e->size.embedded < course->txn_count);
    add_kinds(&w);
    add_faults(&w, e);
    rig_json_begin_array(&w, "witnesses");
    add_witnesses_of(&w, e, e->verdict, false);
    if (e->verdict->certified != NULL && e->verdict->certified->verdict != NULL)
        add_witnesses_of(&w, e, e->verdict->certified->verdict, true);
    rig_json_end(&w);
    rig_buf_add_text(out, ", \"texts\": [");
    rig_buf_add(out, rig_buf_text(&e->texts), e->texts.size);
    rig_buf_add_char(out, ']');
    add_base64(&w, "bars", &e->bars);
    rig_json_end(&w);
    out->failed |= e->bars.failed || e->texts.failed;
}

/* Leaves out half of the least important kind that is still there, or the rest of it. False: none is left. */
static bool leave_out(struct encoder *e)
{
    for (unsigned why = RIG_COURSE_WHYS; why-- > 0;) {
        if (e->share[why] == 0)
            continue;
        e->share[why] = e->share[why] < 0.1 ? 0 : e->share[why] / 2;
        return true;
    }
    return false;
}

/* The characters that end the element around the data only occur in strings. */
static void add_escaped(struct rig_buf *out, const struct rig_buf *json)
{
    for (size_t i = 0; i < json->size; i++) {
        const char c = json->data[i];
        if (c == '<' || c == '>' || c == '&' || c == 0x7f)
            rig_buf_printf(out, "\\u%04x", (unsigned)c);
        else
            rig_buf_add_char(out, c);
    }
}

static size_t escaped_size(const struct rig_buf *json)
{
    size_t size = json->size;
    for (size_t i = 0; i < json->size; i++) {
        const char c = json->data[i];
        size += c == '<' || c == '>' || c == '&' || c == 0x7f ? 5 : 0;
    }
    return size;
}

bool rig_load_timeline_data(struct rig_buf *out, const struct rig_course *course, const struct rig_verdict *verdict,
                            const struct rig_episodes *episodes, size_t room, struct rig_load_timeline_size *size)
{
    struct encoder e = {.course = course, .verdict = verdict, .episodes = episodes};
    struct rig_buf json;
    bool fits = false;
    e.map = malloc((course->texts.count + 1) * sizeof *e.map);
    if (e.map == NULL)
        return false;
    for (unsigned why = 0; why < RIG_COURSE_WHYS; why++)
        e.share[why] = 1;
    e.unit_ns = end_of(course) < 20 * RIG_NS_PER_MS ? 1 : 1000;
    rig_buf_init(&json, 0);
    rig_buf_init(&e.bars, 0);
    rig_buf_init(&e.texts, 0);
    for (unsigned round = 0; round < ROUNDS_MOST && !fits; round++) {
        rig_buf_clear(&json);
        encode(&e, &json);
        fits = !json.failed && escaped_size(&json) <= room;
        if (json.failed || (!fits && !leave_out(&e)))
            break;
    }
    if (fits) {
        add_escaped(out, &json);
        *size = e.size;
    }
    rig_buf_done(&json);
    rig_buf_done(&e.bars);
    rig_buf_done(&e.texts);
    free(e.map);
    return fits && !out->failed;
}
