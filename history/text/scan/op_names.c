#include "history/text/scan/op_names.h"

#include <stdio.h>
#include <string.h>

#include "base/bug.h"

static struct rig_op_name name_of(const char *word, bool is_edn)
{
    char text[16] = "";
    const int length = snprintf(text, sizeof text, is_edn ? ":%s " : "\"%s\",", word);
    const uint32_t compared = length < 8 ? (uint32_t)length : 8;
    /* The last of nine bytes is the blank, which is compared by itself. */
    RIG_REQUIRE(length > 0 && length <= 9);
    struct rig_op_name name = {.blind = 64 - compared * 8, .length = (uint32_t)length};
    memcpy(&name.word, text, compared);
    return name;
}

void rig_op_names_init(struct rig_op_names *names, const struct rig_data_type *type, bool is_edn)
{
    const char *write = rig_op_infos[type->write_op].name;
    names->at[0] = name_of(write, is_edn);
    names->at[1] = name_of(rig_op_infos[type->read_op].name, is_edn);
    rig_lane_syntax_init(&names->lanes, write, is_edn);
}
