/*
 * The rules that operations keep, whatever syntax they are written in:
 *  - indices, where given, ascend; else the order of the file numbers the operations;
 *  - operations of no client (a process that is no integer) or without a transaction are left out and counted;
 *  - a history has either invocations for all its completions, or none at all;
 *  - a completion carries the operations that were invoked, or none (then its results are unknown, and it is not ok);
 *  - null read by an ok transaction is the initial state; in any other it says nothing; a read without a third member
 *    says nothing either.
 *
 * A file is read in parts, side by side (history/text/text_reader.h), where a fault is noticed but its place in the
 * order of the file is not known. Then the file is read again from its beginning, one operation after the other, by
 * rig_operation_blame(): it knows every rule and words the first fault, with file, line and column of the byte.
 *
 * Space: the open transactions. Threads: one at a time.
 */
#ifndef RIG_HISTORY_TEXT_OPERATION_READER_H
#define RIG_HISTORY_TEXT_OPERATION_READER_H

#include "history/load.h"
#include "history/text/operation_parser.h"
#include "history/types.h"

/* What the beginning of a file tells. */
struct rig_operation_facts {
    enum rig_workload workload;
    bool has_invocations;
    bool uses_index;
    int64_t start_utc_ns; /* as the first operation says; 0: it does not */
};

/* Which workload: as the options say, else that of the first micro-operation that tells. Reads no further than needed.
 */
void rig_operation_probe(const struct rig_text_syntax *syntax, const char *data, size_t size,
                         const struct rig_load_options *options, struct rig_operation_facts *facts);

/* The first fault of the file; RIG_E_BUG when there is none. */
enum rig_rc rig_operation_blame(const struct rig_text_syntax *syntax, const char *name, const char *data, size_t size,
                                enum rig_workload workload, struct rig_err *err);

/* Whether the micro-operation can be one of the data type. */
enum rig_rc rig_micro_check(const struct rig_text_cursor *cursor, const struct rig_data_type *type,
                            const struct rig_micro *micro);
bool rig_micro_reads(const struct rig_micro *micro);

#endif
