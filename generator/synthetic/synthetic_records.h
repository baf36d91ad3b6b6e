/*
 * The records that a synthetic history is written to: one, or one for each rank, as a run of several ranks leaves them.
 *
 * With several ranks, rank r has the clients r, r + ranks, r + 2 ranks and so on. Its clock differs from rank 0's by up
 * to 5 s and runs up to 20 ppm faster or slower, and it is measured each second of virtual time, with an error of up to
 * `ranks.clock-error`. Without an error the time of all ranks is simulated, which the records tell; so is that of
 * objects unless the error is given, since objects need one clock (history/merge/merge.h). Private to
 * generator/synthetic/. Threads: one.
 */
#ifndef RIG_GENERATOR_SYNTHETIC_SYNTHETIC_RECORDS_H
#define RIG_GENERATOR_SYNTHETIC_SYNTHETIC_RECORDS_H

#include "history/source/event_writer.h"
#include "generator/synthetic/synthetic.h"

struct rig_synthetic_records;

/* Opens the files (rig_synthetic_record_path()); borrows `path` until they are closed. */
enum rig_rc rig_synthetic_records_open(const struct rig_synthetic *synthetic, const char *path,
                                       const struct rig_save_options *save, struct rig_synthetic_records **records,
                                       struct rig_err *err);
/* As in history/source/event_writer.h; times are those of rank 0's clock. */
enum rig_rc rig_synthetic_records_invoke(struct rig_synthetic_records *records, const struct rig_client_event *event,
                                         struct rig_err *err);
enum rig_rc rig_synthetic_records_complete(struct rig_synthetic_records *records, const struct rig_client_event *event,
                                           const struct rig_record_completion *completion, struct rig_err *err);
void rig_synthetic_records_forget(struct rig_synthetic_records *records, int64_t key);
/* In the record of rank 0. */
enum rig_rc rig_synthetic_records_certify(struct rig_synthetic_records *records,
                                          const struct rig_certificate *certificate, struct rig_err *err);
/* Sums over all records. */
uint64_t rig_synthetic_records_bytes(const struct rig_synthetic_records *records);
uint64_t rig_synthetic_records_count(const struct rig_synthetic_records *records);

/* Frees them. `rc` is how writing went: on RIG_OK each file is completed and takes its place, else it is removed.
 * Writes rig_synthetic_records_bytes() of the whole files; returns the first failure. */
enum rig_rc rig_synthetic_records_close(struct rig_synthetic_records *records, enum rig_rc rc, uint64_t *bytes,
                                        struct rig_err *err);

#endif
