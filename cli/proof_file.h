/*
 * The proof of a verdict as a file: `rig check --proof`, and `check.proof` of a plan.
 */
#ifndef RIG_CLI_PROOF_FILE_H
#define RIG_CLI_PROOF_FILE_H

#include "checker/judge/check.h"
#include "checker/model/verdict.h"
#include "history/source/source.h"

/* Whether histories of this workload have proofs, in this lattice: RIG_E_USAGE if not. */
enum rig_rc rig_cli_proof_check(enum rig_workload workload, enum rig_lattice lattice, struct rig_err *err);
/*
 * Reads the source once more from its beginning, as a whole, checks it, and writes the proof to `path`. `name` stands for
 * the source in errors. `decides`: the verdict on the source does (rig_cli_proof_decides()); otherwise nothing is searched
 * again. RIG_E_LIMIT when the history does not fit into memory.
 */
enum rig_rc rig_cli_proof_write(struct rig_source *source, const char *name, const struct rig_check_options *check,
                                bool decides, const char *path, struct rig_err *err);
/* Whether the verdict holds or refutes any level, so that there is something to prove. */
bool rig_cli_proof_decides(const struct rig_verdict *verdict);

#endif
