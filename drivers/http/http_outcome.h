/*
 * The outcome of a transaction by an answer, or the lack of one: the dialect's rules first, then the general rules for
 * databases over HTTP.
 *
 * The rules behind the general table: a transaction can only have been committed once a request of the phase `commit`
 * may have left. Before that every event means fail. From then on only an answer that the dialect knows decides, and
 * everything else is info. A transaction that writes nothing has no effects, so it may always fail.
 */
#ifndef RIG_DRIVERS_HTTP_HTTP_OUTCOME_H
#define RIG_DRIVERS_HTTP_HTTP_OUTCOME_H

#include "drivers/http/dialect.h"

struct rig_http_ruling {
    enum rig_ruling ruling;
    bool session_lost;
    bool by_dialect; /* by a rule of the dialect */
    char code[RIG_ERROR_CODE_BYTES];
    const char *reason;
};

/* One row for each end of a request and each half of a transaction's life. */
struct rig_outcome_row {
    enum rig_http_end end;
    bool at_commit;
    enum rig_ruling ruling;
    bool session_lost;
    const char *reason;
};

extern const struct rig_outcome_row rig_outcome_rows[];
extern const size_t rig_outcome_row_count;

/* `root`: the answer's body, NULL when it is no JSON. `at_commit`: the request is of the phase commit. */
void rig_outcome_find(const struct rig_dialect *dialect, const struct rig_dialect_step *step, bool at_commit,
                      enum rig_http_end end, const struct rig_http_answer *answer, json_t *root,
                      struct rig_http_ruling *verdict);

#endif
