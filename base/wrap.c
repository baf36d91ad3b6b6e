#include "base/wrap.h"

#include <string.h>

void rig_wrap(const char *text, size_t indent, size_t columns, struct rig_buf *out)
{
    size_t column = indent;
    for (const char *word = text; *word != '\0';) {
        const size_t length = strcspn(word, " ");
        if (column > indent && column + 1 + length > columns) {
            rig_buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            rig_buf_add_char(out, ' ');
            column++;
        }
        rig_buf_add(out, word, length);
        column += length;
        word += length;
        word += strspn(word, " ");
    }
    rig_buf_add_char(out, '\n');
}
