#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/printable.h"
#include "base/secret.h"

void rig_cli_complain(const char *format, ...)
{
    char text[RIG_ERR_TEXT_BYTES * 2];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    rig_secret_redact(text, sizeof text);
    rig_printable_lines(text);
    (void)fflush(stdout); /* keeps the order where both go to one terminal */
    (void)fprintf(stderr, "rig: %s\n", text);
}

int rig_cli_fail(const struct rig_err *err)
{
    RIG_REQUIRE(err->rc != RIG_OK);
    rig_cli_complain("%s", err->text);
    return rig_rc_exit_status(err->rc);
}

void rig_cli_print(struct rig_buf *text)
{
    rig_printable_buf(text);
    (void)fputs(rig_buf_text(text), stdout);
}

int rig_cli_worst(int status, int other)
{
    if (status == RIG_EXIT_ANOMALY || other == RIG_EXIT_ANOMALY)
        return RIG_EXIT_ANOMALY;
    return status > other ? status : other;
}

const struct rig_cli_command rig_cli_commands[RIG_CLI_COMMAND_COUNT] = {
#define COMMAND_ROW(name, summary) {#name, summary, rig_cli_##name},
    RIG_CLI_TABLE(COMMAND_ROW)
#undef COMMAND_ROW
};

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
