#include "generator/synthetic/synthetic.h"

#include "generator/synthetic/ring.h"
#include "generator/synthetic/simulation.h"
#include "generator/synthetic/synthetic_records.h"

enum rig_rc rig_synthetic_write(const struct rig_synthetic *synthetic, const char *path,
                                const struct rig_save_options *save, const struct rig_synthetic_watch *watch,
                                struct rig_synthetic_counts *counts, struct rig_err *err)
{
    struct rig_synthetic_records *records = NULL;
    struct rig_synthetic_counts made = {0};
    enum rig_rc rc = rig_synthetic_check(synthetic, err);
    if (rc == RIG_OK)
        rc = rig_synthetic_records_open(synthetic, path, save, &records, err);
    if (rc != RIG_OK)
        return rc;
    if (synthetic->shape == RIG_SHAPE_SIMULATED || synthetic->shape == RIG_SHAPE_BLIND)
        rc = rig_simulation_write(synthetic, records, watch, &made, err);
    else
        rc = rig_ring_write(synthetic, records, &made, err);
    rc = rig_synthetic_records_close(records, rc, &made.bytes, err);
    if (rc == RIG_OK)
        *counts = made;
    return rc;
}
