#include "drivers/postgres/pg_title.h"

#include <stdio.h>
#include <string.h>

enum { TITLE_BYTES = 512 };

static const char *next_word(const char *at)
{
    at += strcspn(at, " ");
    return at + strspn(at, " ");
}

/* `[local]`, or an address and a port: `127.0.0.1(5432)`. */
static bool is_host(const char *word)
{
    const size_t length = strcspn(word, " ");
    const char *bracket = memchr(word, '(', length);
    return (length == 7 && strncmp(word, "[local]", 7) == 0) ||
           (bracket != NULL && bracket > word && word[length - 1] == ')');
}

bool rig_pg_title_is_session(const char *title)
{
    static const char program[] = "postgres: ", worker[] = "parallel worker for PID ", sender[] = "walsender ";
    if (strncmp(title, program, sizeof program - 1) != 0)
        return false;
    const char *at = title + sizeof program - 1;
    const size_t first = strcspn(at, " ");
    if (first > 0 && at[first - 1] == ':') /* the cluster's name */
        at = next_word(at);
    if (strncmp(at, worker, sizeof worker - 1) == 0)
        return true;
    return strncmp(at, sender, sizeof sender - 1) != 0 && is_host(next_word(next_word(at)));
}

bool rig_pg_process_is_session(pid_t pid)
{
    char path[64], title[TITLE_BYTES];
    (void)snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t size = fread(title, 1, sizeof title - 1, file);
    (void)fclose(file);
    title[size] = '\0';
    return rig_pg_title_is_session(title);
}
