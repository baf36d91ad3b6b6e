#include "drivers/odbc/odbc_string.h"

#include <odbcinst.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 256, PATH_BYTES = 1024 };

/* The rest of the string after its first attribute. `key` and `value` are where the two stand, blanks included. */
static const char *next_attribute(const char *at, const char **key, size_t *key_size, const char **value,
                                  size_t *value_size)
{
    *key = at;
    *key_size = strcspn(at, "=;");
    at += *key_size;
    at += *at == '=';
    *value = at;
    if (*at == '{')
        for (at++; *at != '\0'; at++)
            if (*at == '}' && *++at != '}')
                break;
    at += strcspn(at, ";");
    *value_size = (size_t)(at - *value);
    return at + (*at == ';');
}

static void trim(const char **text, size_t *size)
{
    while (*size > 0 && (*text)[0] == ' ') {
        ++*text;
        --*size;
    }
    while (*size > 0 && (*text)[*size - 1] == ' ')
        --*size;
}

static void copy_value(const char *from, size_t from_size, char *value, size_t size)
{
    const bool braces = from_size >= 2 && from[0] == '{' && from[from_size - 1] == '}';
    const char *const end = from + from_size - braces;
    size_t used = 0;
    for (from += braces; from < end && used + 1 < size; from++) {
        value[used++] = *from;
        from += braces && from[0] == '}' && from + 1 < end && from[1] == '}';
    }
    value[used] = '\0';
}

bool rig_odbc_attribute(const char *connection, const char *key, char *value, size_t size)
{
    value[0] = '\0';
    while (*connection != '\0') {
        const char *found = NULL, *text = NULL;
        size_t found_size = 0, text_size = 0;
        connection = next_attribute(connection, &found, &found_size, &text, &text_size);
        trim(&found, &found_size);
        if (found_size != strlen(key) || strncasecmp(found, key, found_size) != 0)
            continue;
        trim(&text, &text_size);
        copy_value(text, text_size, value, size);
        return true;
    }
    return false;
}

void rig_odbc_add_attribute(struct rig_buf *connection, const char *key, const char *value)
{
    const size_t length = strlen(value);
    const bool braces = strpbrk(value, "[]{}(),;?*=!@ ") != NULL;
    rig_buf_printf(connection, "%s%s=", connection->size == 0 ? "" : ";", key);
    if (!braces) {
        rig_buf_add_text(connection, value);
        return;
    }
    rig_buf_add_char(connection, '{');
    for (size_t i = 0; i < length; i++) {
        rig_buf_add_char(connection, value[i]);
        if (value[i] == '}')
            rig_buf_add_char(connection, '}');
    }
    rig_buf_add_char(connection, '}');
}

bool rig_odbc_is_driver(const char *file, const char *name)
{
    const char *const slash = strrchr(file, '/');
    return strncasecmp(slash == NULL ? file : slash + 1, name, strlen(name)) == 0;
}

/* The value of a key for the data source that the string names; empty: there is none. */
static void ask_source(const char *connection, const char *key, char *value, int size)
{
    char name[NAME_BYTES];
    value[0] = '\0';
    if (strchr(connection, '=') == NULL)
        (void)SQLGetPrivateProfileString(connection, key, "", value, size, "odbc.ini");
    else if (rig_odbc_attribute(connection, "DSN", name, sizeof name))
        (void)SQLGetPrivateProfileString(name, key, "", value, size, "odbc.ini");
}

bool rig_odbc_source_has(const char *connection, const char *key)
{
    char value[NAME_BYTES];
    ask_source(connection, key, value, sizeof value);
    return value[0] != '\0';
}

bool rig_odbc_selects_driver(const char *connection, const char *name)
{
    char driver[PATH_BYTES], file[PATH_BYTES] = "";
    if (!rig_odbc_attribute(connection, "Driver", driver, sizeof driver))
        ask_source(connection, "Driver", driver, sizeof driver);
    if (driver[0] == '\0' || rig_odbc_is_driver(driver, name))
        return driver[0] != '\0';
    (void)SQLGetPrivateProfileString(driver, "Driver", "", file, sizeof file, "odbcinst.ini");
    return rig_odbc_is_driver(file, name);
}
