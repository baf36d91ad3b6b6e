#include "history/import/session_text.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

size_t rig_session_skip_blank(const char *data, size_t size)
{
    size_t at = 0;
    while (at < size && (is_blank(data[at]) || data[at] == '\n'))
        at++;
    return at;
}

bool rig_session_next_line(struct rig_text_cursor *cursor)
{
    cursor->at += rig_session_skip_blank(cursor->at, (size_t)(cursor->end - cursor->at));
    return cursor->at < cursor->end;
}

void rig_session_blanks(struct rig_text_cursor *cursor)
{
    while (cursor->at < cursor->end && is_blank(*cursor->at))
        cursor->at++;
}

enum rig_rc rig_session_end_line(struct rig_text_cursor *cursor)
{
    rig_session_blanks(cursor);
    if (cursor->at == cursor->end)
        return RIG_OK;
    if (*cursor->at != '\n')
        return rig_cursor_unexpected(cursor, "the end of the line");
    cursor->at++;
    return RIG_OK;
}

enum rig_rc rig_session_expect(struct rig_text_cursor *cursor, char wanted, const char *what)
{
    if (cursor->at == cursor->end || *cursor->at != wanted)
        return rig_cursor_unexpected(cursor, what);
    cursor->at++;
    return RIG_OK;
}

enum rig_rc rig_session_number(struct rig_text_cursor *cursor, const char *what, uint64_t *number)
{
    const char *from = cursor->at;
    uint64_t sum = 0;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
        const uint64_t digit = (uint64_t)(*cursor->at - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return rig_cursor_fail(cursor, (size_t)(from - cursor->start), "a number beyond 64 bits");
        sum = sum * 10 + digit;
    }
    if (cursor->at == from)
        return rig_cursor_unexpected(cursor, what);
    *number = sum;
    return RIG_OK;
}

bool rig_session_rule(struct rig_text_cursor *cursor, char mark)
{
    struct rig_text_cursor line = *cursor;
    line.err = NULL;
    rig_session_blanks(&line);
    const char *from = line.at;
    while (line.at < line.end && *line.at == mark)
        line.at++;
    if (line.at == from || rig_session_end_line(&line) != RIG_OK)
        return false;
    cursor->at = line.at;
    return true;
}
