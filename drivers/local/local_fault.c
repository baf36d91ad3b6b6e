#include "drivers/local/local_fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rig_local_say(struct rig_evidence *evidence, const char *format, ...)
{
    size_t length = strlen(evidence->text);
    if (length > 0)
        length += (size_t)snprintf(evidence->text + length, sizeof evidence->text - length, "; ");
    if (length >= sizeof evidence->text)
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(evidence->text + length, sizeof evidence->text - length, format, arguments);
    va_end(arguments);
}
