#include "synthetic/synthetic.h"

#include "history/event_writer.h"
#include "synthetic/ring.h"
#include "synthetic/simulation.h"

/* Gives the writer, also after a failure; NULL when there is none. */
static enum rig_rc write_to(const struct rig_synthetic *synthetic, const struct rig_save_options *save,
                            struct rig_output *output, const struct rig_synthetic_watch *watch,
                            struct rig_synthetic_counts *counts, struct rig_event_writer **writer, struct rig_err *err)
{
    const uint32_t of_holds = RIG_COLUMN_BIT(RIG_COLUMN_HELD) | RIG_COLUMN_BIT(RIG_COLUMN_HELD_BEFORE);
    const struct rig_generator_options *workload = &synthetic->workload;
    const struct rig_event_writer_options options = {
        .save = *save,
        .workload = (enum rig_workload)synthetic->workload.type,
        .certificate = synthetic->certificate != RIG_CERTIFICATE_NONE,
        .columns = (workload->long_share > 0 ? of_holds : 0) |
                   (synthetic->certificate == RIG_CERTIFICATE_FULL ? RIG_COLUMN_BIT(RIG_COLUMN_VIEW) : 0) |
                   (workload->rollback_share > 0 ? RIG_COLUMN_BIT(RIG_COLUMN_SAVEPOINT) : 0)};
    enum rig_rc rc = rig_event_writer_new(&options, output, writer, err);
    if (rc != RIG_OK)
        return rc;
    if (synthetic->shape == RIG_SHAPE_SIMULATED || synthetic->shape == RIG_SHAPE_BLIND)
        rc = rig_simulation_write(synthetic, *writer, watch, counts, err);
    else
        rc = rig_ring_write(synthetic, *writer, counts, err);
    if (rc == RIG_OK)
        rc = rig_event_writer_finish(*writer, err);
    counts->bytes = rig_event_writer_bytes(*writer);
    return rc;
}

enum rig_rc rig_synthetic_write(const struct rig_synthetic *synthetic, const char *path,
                                const struct rig_save_options *save, const struct rig_synthetic_watch *watch,
                                struct rig_synthetic_counts *counts, struct rig_err *err)
{
    struct rig_output output;
    struct rig_event_writer *writer = NULL;
    struct rig_synthetic_counts made = {0};
    enum rig_rc rc = rig_synthetic_check(synthetic, err);
    if (rc == RIG_OK)
        rc = rig_output_open(&output, path, err);
    if (rc != RIG_OK)
        return rc;
    rc = write_to(synthetic, save, &output, watch, &made, &writer, err);
    rig_event_writer_free(writer);
    rc = rig_output_close(&output, rc, err);
    if (rc == RIG_OK)
        *counts = made;
    return rc;
}
