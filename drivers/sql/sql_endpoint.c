#include "drivers/sql/sql_endpoint.h"

#include <ctype.h>
#include <string.h>

/* A port as text, 1 to 65535. */
static bool parse_port(const char *text, char port[static 6])
{
    size_t length = strlen(text);
    if (length == 0 || length > 5 || strspn(text, "0123456789") != length)
        return false;
    unsigned number = 0;
    for (size_t i = 0; i < length; i++)
        number = number * 10 + (unsigned)(text[i] - '0');
    if (number == 0 || number > 65535)
        return false;
    memcpy(port, text, length + 1);
    return true;
}

bool rig_sql_endpoint_parse(const char *text, struct rig_sql_endpoint *endpoint)
{
    struct rig_sql_endpoint parsed = {{0}, {0}};
    const char *host = text;
    size_t host_length;
    const char *port = NULL;
    if (text[0] == '[') {
        const char *end = strchr(text, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return false;
        host = text + 1;
        host_length = (size_t)(end - host);
        port = end[1] == ':' ? end + 2 : NULL;
    } else {
        const char *colon = strrchr(text, ':');
        /* Several colons without brackets are an IPv6 address without a port. */
        if (colon != NULL && text[0] != '/' && strchr(text, ':') != colon)
            colon = NULL;
        host_length = colon != NULL ? (size_t)(colon - text) : strlen(text);
        port = colon != NULL ? colon + 1 : NULL;
    }
    if (host_length == 0 || host_length >= sizeof parsed.host)
        return false;
    memcpy(parsed.host, host, host_length);
    /* A client library takes a comma for a list of hosts to try in turn, which would hide the session's server. */
    if (strpbrk(parsed.host, ", \t\n") != NULL || (port != NULL && !parse_port(port, parsed.port)))
        return false;
    *endpoint = parsed;
    return true;
}

bool rig_sql_setting_split(const char *text, char *name, size_t name_size, const char **value)
{
    const char *equals = strchr(text, '=');
    size_t length = equals == NULL ? 0 : (size_t)(equals - text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length == 0 || length >= name_size)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '.')
            return false;
    }
    const char *behind = equals + 1;
    while (*behind == ' ')
        behind++;
    if (strchr(behind, '\n') != NULL)
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    *value = behind;
    return true;
}
