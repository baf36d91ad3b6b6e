#include "base/json_members.h"

#include <string.h>

#include "base/bug.h"

enum { NAME_BYTES = 64 };

static void write_member(struct rig_json_writer *writer, const char *name, char directive, const struct rig_said *word)
{
    const bool is_integer = word->type == RIG_SAID_ID || word->type == RIG_SAID_COUNT || word->type == RIG_SAID_NUMBER;
    switch (directive) {
    case 'd':
        RIG_REQUIRE(is_integer);
        rig_json_int(writer, name, word->is.number);
        return;
    case 's':
        RIG_REQUIRE(word->type == RIG_SAID_TEXT);
        rig_json_text(writer, name, word->is.text);
        return;
    case 'b':
        RIG_REQUIRE(is_integer || word->type == RIG_SAID_TRUTH);
        rig_json_bool(writer, name, word->is.number != 0);
        return;
    case 'f':
        RIG_REQUIRE(word->type == RIG_SAID_REAL);
        rig_json_number(writer, name, word->is.real);
        return;
    default:
        RIG_REQUIRE(false && "a directive of members");
    }
}

void rig_json_write_members(struct rig_json_writer *writer, const struct rig_said *words)
{
    RIG_REQUIRE(words->type == RIG_SAID_TEXT);
    const char *at = (words++)->is.text;
    for (bool more = true; more; words++) {
        char name[NAME_BYTES];
        const size_t length = strcspn(at, ":");
        RIG_REQUIRE(length > 0 && length < sizeof name && at[length] == ':' && at[length + 1] == ' ' &&
                    at[length + 2] == '%');
        RIG_REQUIRE(words->type != RIG_SAID_END);
        memcpy(name, at, length);
        name[length] = '\0';
        write_member(writer, name, at[length + 3], words);
        at += length + 4;
        more = *at != '\0';
        RIG_REQUIRE(!more || (at[0] == ',' && at[1] == ' '));
        at += more ? 2 : 0;
    }
    RIG_REQUIRE(words->type == RIG_SAID_END);
}
