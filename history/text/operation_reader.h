/*
 * The rules for operations, in any syntax:
 *  - indices, where given, ascend (history/text/index_order.h sorts others); else the order of the file numbers the
 *    operations;
 *  - operations that are not of a client, or without a transaction, are left out and counted;
 *  - a history has either invocations for all its completions, or none at all;
 *  - a completion carries the operations that were invoked, or none (then its results are unknown, and it is not ok);
 *  - null read by an ok transaction is the initial state; in any other it is unknown; so is a read without a third
 *    member.
 *
 * A file is read in parts, in parallel (history/text/text_reader.h), which notice a fault but not its place in the
 * order of the file. Then rig_operation_blame() reads the file again from its beginning, one operation after the other;
 * it checks every rule and words the first fault, with file, line and column.
 *
 * Space: the open transactions. Threads: one at a time.
 */
#ifndef RIG_HISTORY_TEXT_OPERATION_READER_H
#define RIG_HISTORY_TEXT_OPERATION_READER_H

#include "history/source/load.h"
#include "history/types/object_kinds.h"
#include "history/text/operation_parser.h"
#include "history/types/types.h"

/* Facts from the beginning of a file. */
struct rig_operation_facts {
    enum rig_workload workload;
    enum rig_type_origin type_origin; /* where the options give no workload */
    bool has_invocations;
    bool uses_index;
    bool value_keys;            /* as in the options */
    struct rig_lock_rules lock; /* the same */
    int64_t start_utc_ns;       /* from the first operation; 0: unknown */
};

/* The workload: from the options, else from the first micro-operation that excludes every other type. Reads no further
 * than needed. RIG_E_INPUT where the operations fit several types, and RIG_E_INPUT for clients' operations without a
 * single transaction, such as those on one object; other faults are found when the file is read. */
enum rig_rc rig_operation_probe(const struct rig_text_syntax *syntax, const char *name, const char *data, size_t size,
                                const struct rig_load_options *options, struct rig_operation_facts *facts,
                                struct rig_err *err);

/* The first fault of the file; RIG_E_BUG when there is none. *mixes_keys: it is that keys are of several kinds. */
enum rig_rc rig_operation_blame(const struct rig_text_operations *operations, const struct rig_operation_facts *facts,
                                bool *mixes_keys, struct rig_err *err);

/* Refuses a history that may be one of several types, a bit each, and names them. */
enum rig_rc rig_types_refuse(const struct rig_text_cursor *cursor, size_t at, uint32_t types);

/* Whether the micro-operation can be one of the data type. */
enum rig_rc rig_micro_check(const struct rig_text_cursor *cursor, const struct rig_data_type *type,
                            const struct rig_micro *micro);
bool rig_micro_reads(const struct rig_micro *micro);
/* Its kind as one of the workload's operations; RIG_OP_KIND_COUNT: it is none. */
enum rig_op_kind rig_micro_kind(enum rig_workload workload, const struct rig_micro *micro);
/* Prepares the parser for histories of the workload (history/text/object_operation.h). */
void rig_operation_parser_takes(struct rig_operation_parser *parser, enum rig_workload workload, bool has_invocations);

#endif
