/*
 * Parts that the text report and the screen share: coloured texts, wrapped texts, and a witness. Private to report/.
 */
#ifndef RIG_REPORT_TEXT_PARTS_H
#define RIG_REPORT_TEXT_PARTS_H

#include "report/episodes.h"
#include "report/report.h"

#define RIG_TEXT_BOLD   "\033[1m"
#define RIG_TEXT_RED    "\033[1;31m"
#define RIG_TEXT_GREEN  "\033[1;32m"
#define RIG_TEXT_YELLOW "\033[1;33m"
#define RIG_TEXT_PLAIN  "\033[0m"

struct rig_text_page {
    const struct rig_verdict *verdict;
    const struct rig_report_run *run; /* or NULL */
    bool colour;
    size_t columns;
    bool brief; /* the verdict only */
    struct rig_buf *out;
    struct rig_episodes episodes;
};

/* Foreign text in a colour, where the page has colours. */
void rig_text_paint(const struct rig_text_page *page, const char *colour, const char *text);
/* Writes foreign `text` from the column `indent` on, as rig_wrap() does. */
void rig_text_wrapped(const struct rig_text_page *page, const char *text, size_t indent);
/* The witness's own text, indented, with its running number after the anomaly's name. */
void rig_text_witness(const struct rig_text_page *page, const struct rig_witness *witness, uint32_t number);
/* The text wrapped, in one colour; "": none. */
void rig_text_paragraph(const struct rig_text_page *page, const char *colour, const char *text);
/* The paragraph of happened.h; false: there is none. */
bool rig_text_happened(const struct rig_text_page *page);
/* The verdict in one sentence, wrapped. */
void rig_text_decision(const struct rig_text_page *page);

#endif
