/*
 * The memory that a whole history owns in addition to its arrays. Private to history/.
 */
#ifndef RIG_HISTORY_MODEL_HISTORY_STORAGE_H
#define RIG_HISTORY_MODEL_HISTORY_STORAGE_H

#include "history/model/certificate.h"
#include "history/model/columns.h"
#include "history/model/fault_event.h"
#include "history/model/growing_list.h"
#include "history/merge/rank_clock.h"
#include "history/text/text_table.h"

struct rig_history_storage {
    struct rig_list_pool pool; /* of all lists */
    struct rig_text_table key_texts;
    struct rig_text_table errors;
    struct rig_columns columns;
    struct rig_fault_event_vec faults;
    struct rig_arena fault_texts;
    struct rig_certificate certificate;
    struct rig_clock_samples clock;
};

#endif
