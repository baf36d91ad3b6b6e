/* The names of the files in the folder of witnesses: <anomaly>-<n>.txt, .svg, .dot and .jsonl. */
#ifndef RIG_REPORT_WITNESS_FILE_H
#define RIG_REPORT_WITNESS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "checker/model/anomaly.h"

enum { RIG_WITNESS_FILE_BYTES = 128 };

void rig_witness_file_name(enum rig_anomaly anomaly, uint32_t number, const char *suffix,
                           char name[RIG_WITNESS_FILE_BYTES]);
bool rig_witness_file_is(const char *name);

#endif
