#include "checker/known_anomaly.h"

#include "history/columns.h"

static bool is_within(const struct rig_count_range *range, uint64_t count)
{
    return count >= range->least && (range->most == 0 || count <= range->most);
}

/* Quadratic in the nodes of one witness, which are few; a long witness is compared up to so many. */
static uint32_t count_nodes(const struct rig_verdict *verdict, const struct rig_witness *witness)
{
    enum { NODES_MOST = 64 };
    int64_t nodes[NODES_MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < witness->txn_count && count < NODES_MOST; i++) {
        const int64_t node = rig_history_column(verdict->history, witness->txns[i], RIG_COLUMN_NODE);
        uint32_t at = 0;
        while (at < count && nodes[at] != node)
            at++;
        if (at == count && node != RIG_COLUMN_NONE)
            nodes[count++] = node;
    }
    return count;
}

static uint64_t most_meanwhile(const struct rig_verdict *verdict, const struct rig_witness *witness)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        const int64_t count = rig_history_column(verdict->history, witness->txns[i], RIG_COLUMN_MEANWHILE);
        most = count > most ? count : most;
    }
    return (uint64_t)most;
}

static bool has_shape(const struct rig_known_anomaly *known, const struct rig_verdict *verdict,
                      const struct rig_witness *witness)
{
    return is_within(&known->transactions, witness->txn_count) &&
           is_within(&known->nodes, count_nodes(verdict, witness)) &&
           is_within(&known->meanwhile, most_meanwhile(verdict, witness));
}

const struct rig_witness *rig_known_anomaly_find(const struct rig_known_anomaly *known,
                                                 const struct rig_verdict *verdict)
{
    for (int level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((known->keeps & RIG_LEVEL_BIT(level)) != 0 && verdict->levels[level].fate == RIG_FATE_REFUTED)
            return NULL;
    }
    for (int anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        for (uint32_t i = 0; (known->anomalies & RIG_ANOMALY_BIT(anomaly)) != 0 && i < finding->witness_count; i++) {
            if (has_shape(known, verdict, &finding->witnesses[i]))
                return &finding->witnesses[i];
        }
    }
    return NULL;
}
