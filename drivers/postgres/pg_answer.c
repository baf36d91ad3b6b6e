#include "drivers/postgres/pg_answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

/* How the rows that came agree with the number in the tag. */
enum rows { ROWS_NO_NUMBER, ROWS_IF_ANY, ROWS_ALWAYS };

static const struct {
    const char *sql; /* the beginning of the statement */
    const char *tag; /* without its numbers */
    enum rows rows;
} tags[] = {
    {"SELECT ", "SELECT", ROWS_ALWAYS},
    {"INSERT ", "INSERT 0", ROWS_IF_ANY},
    {"UPDATE ", "UPDATE", ROWS_IF_ANY},
    {"DELETE ", "DELETE", ROWS_IF_ANY},
    {"WITH ", "SELECT", ROWS_ALWAYS},
    {"WITH ", "INSERT 0", ROWS_IF_ANY},
    {"WITH ", "UPDATE", ROWS_IF_ANY},
    {"WITH ", "DELETE", ROWS_IF_ANY},
    {"BEGIN", "BEGIN", ROWS_NO_NUMBER},
    {"SAVEPOINT ", "SAVEPOINT", ROWS_NO_NUMBER},
    {"RELEASE ", "RELEASE", ROWS_NO_NUMBER},
    {"ROLLBACK", "ROLLBACK", ROWS_NO_NUMBER},
    {"COMMIT PREPARED", "COMMIT PREPARED", ROWS_NO_NUMBER},
    {"COMMIT", "COMMIT", ROWS_NO_NUMBER},
    {"COMMIT", "ROLLBACK", ROWS_NO_NUMBER}, /* of a transaction that had failed */
    {"PREPARE TRANSACTION", "PREPARE TRANSACTION", ROWS_NO_NUMBER},
    {"PREPARE TRANSACTION", "ROLLBACK", ROWS_NO_NUMBER},
};

static bool starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Whether the rest of the tag is the number of the rows. */
static bool counts(const char *rest, enum rows how, int rows)
{
    if (how == ROWS_NO_NUMBER)
        return rest[0] == '\0' && rows < 0;
    if (rest[0] != ' ' || rest[1] < '0' || rest[1] > '9' || (how == ROWS_ALWAYS && rows < 0))
        return false;
    char *end;
    const unsigned long long count = strtoull(rest + 1, &end, 10);
    return *end == '\0' && (rows < 0 || count == (unsigned long long)rows);
}

bool rig_pg_tag_fits(const char *sql, const char *tag, int rows)
{
    bool known = false;
    RIG_REQUIRE(sql != NULL && tag != NULL);
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        if (!starts(sql, tags[i].sql))
            continue;
        known = true;
        if (starts(tag, tags[i].tag) && counts(tag + strlen(tags[i].tag), tags[i].rows, rows))
            return true;
    }
    return !known;
}

bool rig_pg_ends_transaction(const char *sql)
{
    return starts(sql, "COMMIT") || starts(sql, "PREPARE TRANSACTION") ||
           (starts(sql, "ROLLBACK") && !starts(sql, "ROLLBACK TO"));
}
