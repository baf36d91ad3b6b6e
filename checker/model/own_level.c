#include "checker/model/own_level.h"

const rig_anomaly_set rig_own_level_reads =
    RIG_ANOMALY_BIT(RIG_ANOMALY_G1A) | RIG_ANOMALY_BIT(RIG_ANOMALY_G1B) | RIG_ANOMALY_BIT(RIG_ANOMALY_GARBAGE_READ) |
    RIG_ANOMALY_BIT(RIG_ANOMALY_DUPLICATE_ELEMENTS) | RIG_ANOMALY_BIT(RIG_ANOMALY_FUTURE_READ) |
    RIG_ANOMALY_BIT(RIG_ANOMALY_INTERNAL) | RIG_ANOMALY_BIT(RIG_ANOMALY_INTERNAL_PREDICATE) |
    RIG_ANOMALY_BIT(RIG_ANOMALY_PREDICATE_MISMATCH);

bool rig_history_has_levels(const struct rig_history *history)
{
    return history->columns != NULL && history->columns->of[RIG_COLUMN_LEVEL].count > 0;
}

bool rig_txn_own_level(const struct rig_history *history, uint32_t txn, enum rig_level *level)
{
    const char *name = rig_history_column_name(history, txn, RIG_COLUMN_LEVEL);
    return name != NULL && rig_level_find(name, level);
}

unsigned rig_txn_obliges(const struct rig_history *history, uint32_t txn)
{
    enum rig_level level;
    if (!rig_txn_own_level(history, txn, &level))
        return 0;
    const uint64_t below = rig_level_info(level)->below;
    const bool reads = (below & RIG_LEVEL_BIT(RIG_LEVEL_READ_COMMITTED)) != 0;
    const bool items = (below & RIG_LEVEL_BIT(RIG_LEVEL_REPEATABLE_READ)) != 0;
    const bool predicates = (below & RIG_LEVEL_BIT(RIG_LEVEL_SERIALIZABLE)) != 0;
    return (reads ? RIG_OBLIGES_READS : 0) | (items ? RIG_OBLIGES_ITEMS : 0) |
           (predicates ? RIG_OBLIGES_PREDICATES : 0);
}

bool rig_edge_is_obligatory(const struct rig_history *history, const struct rig_step *step)
{
    switch (step->kind) {
    case RIG_EDGE_WW:
        return true;
    case RIG_EDGE_WR:
        return (rig_txn_obliges(history, step->to) & RIG_OBLIGES_READS) != 0;
    case RIG_EDGE_RW:
        return (rig_txn_obliges(history, step->from) &
                (step->by_predicate ? RIG_OBLIGES_PREDICATES : RIG_OBLIGES_ITEMS)) != 0;
    case RIG_EDGE_PROCESS:
    case RIG_EDGE_REALTIME:
        break;
    }
    return false;
}
