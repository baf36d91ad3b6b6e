#include "report/text_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/printable.h"
#include "report/happened.h"
#include "report/known_report.h"
#include "report/server_log.h"
#include "report/tell.h"
#include "report/words.h"

enum { LOG_LINES_SHOWN = 4 /* of a witness */ };

void rig_text_paint(const struct rig_text_page *page, const char *colour, const char *text)
{
    if (page->colour)
        rig_buf_add_text(page->out, colour);
    rig_words_clean(page->out, text, true);
    if (page->colour)
        rig_buf_add_text(page->out, RIG_TEXT_PLAIN);
}

/* Writes foreign `text` from the column `indent` on, as rig_wrap() does. */
void rig_text_wrapped(const struct rig_text_page *page, const char *text, size_t indent)
{
    struct rig_buf clean;
    rig_buf_init(&clean, 0);
    rig_words_clean(&clean, text, false);
    rig_wrap(rig_buf_text(&clean), indent, page->columns, page->out);
    rig_buf_done(&clean);
}

/* Foreign text of which only the first `length` bytes are meant. */
static void add_clean_bytes(struct rig_buf *out, const char *text, size_t length)
{
    struct rig_buf copy;
    rig_buf_init(&copy, 0);
    rig_buf_add(&copy, text, length);
    rig_words_clean(out, rig_buf_text(&copy), false);
    rig_buf_done(&copy);
}

/* Where to break `text` so that at most `columns` bytes stand on the line: between operations, else at a blank. */
static size_t break_of(const char *text, size_t columns)
{
    size_t between = 0, blank = 0;
    for (size_t i = 1; text[i] != '\0' && i <= columns; i++) {
        if (text[i] != ' ')
            continue;
        blank = i;
        if ((text[i - 1] == ']' || text[i - 1] == ':') && text[i + 1] == '[')
            between = i;
    }
    size_t at = between > columns / 3 ? between : blank;
    return at > columns / 3 ? at : strcspn(text + at, " ") + at;
}

/* One line of a witness, broken where it is too long; what follows is indented four columns deeper. */
static void add_witness_line(const struct rig_text_page *page, const char *text, size_t used_columns)
{
    size_t indent = strspn(text, " ");
    rig_buf_add(page->out, text, indent);
    text += indent;
    size_t room = page->columns - used_columns - indent;
    while (strlen(text) > room) {
        size_t at = break_of(text, room);
        if (text[at] == '\0')
            break;
        rig_buf_add(page->out, text, at);
        text += at + strspn(text + at, " ");
        rig_buf_printf(page->out, "\n%*s", (int)indent + 4, "");
        room = page->columns - indent - 4;
    }
    rig_tell(page->out, "%s\n", text);
}

/* A few lines of the servers' logs around it, without conflicts between transactions; its file has more. */
static void add_log_lines(const struct rig_text_page *page, const struct rig_witness *witness)
{
    const char *best[RIG_SERVER_LOG_LINES];
    const struct rig_server_logs *logs = page->run == NULL ? NULL : page->run->logs;
    const unsigned count = rig_server_logs_best(logs, witness, LOG_LINES_SHOWN, false, best);
    for (unsigned i = 0; i < count; i++) {
        rig_buf_add_text(page->out, i == 0 ? "    around it: " : "               ");
        rig_text_wrapped(page, best[i], 15);
    }
}

/* The witness's own text, indented, with its running number after the anomaly's name. */
void rig_text_witness(const struct rig_text_page *page, const struct rig_witness *witness, uint32_t number)
{
    const char *name = rig_anomaly_info(witness->anomaly)->name;
    const char *text = witness->text == NULL ? "" : witness->text;
    if (strncmp(text, name, strlen(name)) == 0)
        text += strlen(name);
    else if (*text != '\0')
        text = witness->text;
    struct rig_buf title;
    rig_buf_init(&title, 0);
    rig_buf_printf(&title, "%s #%" PRIu32, name, number);
    rig_buf_add_text(page->out, "\n  ");
    rig_text_paint(page, RIG_TEXT_BOLD, rig_buf_text(&title));
    size_t title_columns = title.size;
    rig_buf_done(&title);
    if (text == witness->text && *text != '\0')
        rig_buf_add_text(page->out, ": ");
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        struct rig_buf clean;
        rig_buf_init(&clean, 0);
        rig_buf_add(&clean, line == text ? "" : "  ", line == text ? 0 : 2);
        add_clean_bytes(&clean, line, length);
        add_witness_line(page, rig_buf_text(&clean), line == text ? 2 + title_columns : 0);
        rig_buf_done(&clean);
        line += length + (line[length] == '\n');
    }
    if (*text == '\0')
        rig_buf_add_char(page->out, '\n');
    struct rig_buf during;
    rig_buf_init(&during, 0);
    rig_episodes_of_witness(&during, &page->episodes, page->verdict->history, witness);
    if (during.size > 0) {
        rig_buf_add_text(page->out, "    ");
        rig_text_wrapped(page, rig_buf_text(&during), 4);
    }
    rig_buf_done(&during);
    add_log_lines(page, witness);
}

void rig_text_paragraph(const struct rig_text_page *page, const char *colour, const char *text)
{
    if (page->colour)
        rig_buf_add_text(page->out, colour);
    rig_text_wrapped(page, text, 0);
    if (page->colour)
        rig_buf_add_text(page->out, RIG_TEXT_PLAIN);
}

bool rig_text_happened(const struct rig_text_page *page)
{
    struct rig_buf happened;
    rig_buf_init(&happened, 0);
    rig_happened_say(&happened, page->verdict);
    const bool told = happened.size > 0;
    if (told)
        rig_text_paragraph(page, RIG_TEXT_BOLD, rig_buf_text(&happened));
    rig_buf_done(&happened);
    return told;
}

void rig_text_decision(const struct rig_text_page *page)
{
    const struct rig_verdict *verdict = page->verdict;
    const char *colour = rig_known_explains(verdict)         ? RIG_TEXT_YELLOW
                         : verdict->valid == RIG_VALID_TRUE  ? RIG_TEXT_GREEN
                         : verdict->valid == RIG_VALID_FALSE ? RIG_TEXT_RED
                                                             : RIG_TEXT_YELLOW;
    const char *word = rig_words_valid(verdict);
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_words_verdict(&line, verdict);
    rig_text_paint(page, colour, word);
    rig_text_wrapped(page, rig_buf_text(&line) + strlen(word), strlen(word));
    rig_buf_done(&line);
}
