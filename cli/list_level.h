/* `rig list levels NAME`: one level as text. */
#ifndef RIG_CLI_LIST_LEVEL_H
#define RIG_CLI_LIST_LEVEL_H

#include "base/buf.h"
#include "checker/model/level.h"

/* The order that the level's cycles may use: "process", "realtime", or "" where there is none. */
const char *rig_cli_level_order(enum rig_level level);
/* The levels that imply it directly, as bits. */
uint64_t rig_cli_level_implied_by(enum rig_level level);
/* Its definition, source, aliases, the cycles that it forbids, and what it implies and is implied by. */
void rig_cli_list_level(enum rig_level level, struct rig_buf *out);

#endif
