/*
 * Extracts from an answer what the dialect of a step describes: values and versions of keys, variables, a position in
 * the database's order, the server's name for itself. An answer that does not match the description is rejected.
 */
#ifndef RIG_DRIVERS_HTTP_HTTP_ANSWER_H
#define RIG_DRIVERS_HTTP_HTTP_ANSWER_H

#include "drivers/http/transaction_state.h"

enum { RIG_PROBLEM_BYTES = 240 };

struct rig_answer_source {
    const struct rig_http_client *client; /* for headers */
    long status;
    json_t *root; /* the body; NULL: no JSON */
    bool lists;   /* the workload's values are lists, else integers */
};

enum rig_answer_result { RIG_ANSWER_TAKEN, RIG_ANSWER_MALFORMED, RIG_ANSWER_NO_ROOM };

/*
 * `set` and `element`: those of the step, for an answer about one element. `problem` has the reason.
 */
enum rig_answer_result rig_answer_take(const struct rig_answer_rule *rule, const struct rig_answer_source *source,
                                       enum rig_dialect_set set, uint32_t element, struct rig_transaction_state *state,
                                       char problem[static RIG_PROBLEM_BYTES]);

#endif
