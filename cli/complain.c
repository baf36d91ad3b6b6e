#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>

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
