#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_WITHOUT_TERMINAL = 80, TEXT_COLUMNS = 116, FEWEST_COLUMNS = 60, MOST_COLUMNS = 160 };

bool rig_terminal_is_live(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) == 1 && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

bool rig_terminal_has_colour(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR");
    return (no_color == NULL || no_color[0] == '\0') && rig_terminal_is_live(stream);
}

unsigned rig_terminal_columns(FILE *stream)
{
    struct winsize size = {0};
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return COLUMNS_WITHOUT_TERMINAL;
    return size.ws_col;
}

unsigned rig_terminal_text_columns(FILE *stream)
{
    struct winsize size = {0};
    if (isatty(fileno(stream)) != 1 || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return TEXT_COLUMNS;
    return size.ws_col < FEWEST_COLUMNS ? FEWEST_COLUMNS : size.ws_col > MOST_COLUMNS ? MOST_COLUMNS : size.ws_col;
}
