#include "history/form_reader.h"

#include "history/record/record_reader.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* By the first characters that tell: {" of an object against {: or # of an EDN map. */
enum rig_form rig_form_recognise(const char *data, size_t size)
{
    size_t at = 0;
    if (rig_record_recognise(data, size))
        return RIG_FORM_RIG;
    while (at < size && (is_blank(data[at]) || data[at] == '['))
        at++;
    if (at == size)
        return RIG_FORM_JSON_LINES;
    if (data[at] == ']')
        return RIG_FORM_JSON_LINES;
    if (data[at] == '#' || data[at] == ';' || data[at] == '(' || data[at] == ',')
        return RIG_FORM_EDN;
    if (data[at] != '{')
        return RIG_FORM_AUTO;
    for (at++; at < size && (is_blank(data[at]) || data[at] == ','); at++)
        ;
    return at < size && data[at] != '"' && data[at] != '}' ? RIG_FORM_EDN : RIG_FORM_JSON_LINES;
}

const struct rig_form_reader *rig_form_reader_of(enum rig_form form)
{
    switch (form) {
    case RIG_FORM_RIG:
        return &rig_record_reader;
    case RIG_FORM_JSON_LINES:
        return &rig_json_lines_reader;
    case RIG_FORM_EDN:
        return &rig_edn_reader;
    case RIG_FORM_AUTO:
        break;
    }
    return NULL;
}
