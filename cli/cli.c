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
    struct rig_buf line;
    rig_buf_init(&line, 0);
    rig_buf_printf(&line, "rig: %s\n", text);
    rig_printable_buf(&line);
    rig_cli_wrap(&line, stderr);
    (void)fflush(stdout); /* keeps the order where both go to one terminal */
    (void)fputs(rig_buf_text(&line), stderr);
    rig_buf_done(&line);
}

int rig_cli_fail(const struct rig_err *err)
{
    RIG_REQUIRE(err->rc != RIG_OK);
    rig_cli_complain("%s", err->text);
    return rig_rc_exit_status(err->rc);
}

void rig_cli_print_data(struct rig_buf *data)
{
    rig_printable_buf(data);
    (void)fputs(rig_buf_text(data), stdout);
}

void rig_cli_print(struct rig_buf *text)
{
    rig_printable_buf(text);
    rig_cli_wrap(text, stdout);
    (void)fputs(rig_buf_text(text), stdout);
}

unsigned rig_cli_row_columns(void)
{
    return isatty(STDOUT_FILENO) == 1 ? rig_terminal_text_columns(stdout) : 0;
}

void rig_cli_wrap(struct rig_buf *text, FILE *stream)
{
    struct rig_buf wrapped;
    if (isatty(fileno(stream)) != 1)
        return;
    rig_buf_init(&wrapped, 0);
    rig_wrap_rows(rig_buf_text(text), rig_terminal_text_columns(stream), &wrapped);
    if (!wrapped.failed && wrapped.size > 0) {
        rig_buf_clear(text);
        rig_buf_add(text, wrapped.data, wrapped.size);
    }
    rig_buf_done(&wrapped);
}

void rig_cli_say(const char *format, ...)
{
    struct rig_buf text;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    rig_buf_init(&text, 0);
    const int size = vsnprintf(NULL, 0, format, arguments);
    char *to = size < 0 ? NULL : rig_buf_reserve(&text, (size_t)size + 1);
    if (to != NULL) {
        (void)vsnprintf(to, (size_t)size + 1, format, again);
        text.size += (size_t)size;
    }
    va_end(again);
    va_end(arguments);
    rig_cli_print(&text);
    rig_buf_done(&text);
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
