#include "cli/proof_file.h"

#include "base/output_file.h"
#include "checker/judge/proof/prove.h"
#include "history/source/load.h"
#include "history/types/types.h"

enum { PROOF_GIB = 4 };

enum rig_rc rig_cli_proof_check(enum rig_workload workload, enum rig_lattice lattice, struct rig_err *err)
{
    const char *lacks = rig_prove_lacks(workload);
    if (lacks != NULL)
        return rig_fail(err, RIG_E_USAGE, "there are no proofs for %s: %s", rig_data_types[workload].name, lacks);
    if (lattice != RIG_LATTICE_EXACT)
        return rig_fail(err, RIG_E_USAGE, "there are no proofs in the lattice of the reference: leave --lattice out");
    return RIG_OK;
}

bool rig_cli_proof_decides(const struct rig_verdict *verdict)
{
    bool decides = false;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        decides |= verdict->levels[level].fate != RIG_FATE_NOT_REFUTED;
    return decides;
}

enum rig_rc rig_cli_proof_write(struct rig_source *source, const char *name, const struct rig_check_options *check,
                                bool decides, const char *path, struct rig_err *err)
{
    struct rig_check_options again = *check;
    const struct rig_load_options load = {.limit_bytes = check->limit_bytes};
    struct rig_history *history = NULL;
    struct rig_verdict *verdict = NULL;
    struct rig_buf text;
    struct rig_err why = {0};
    rig_buf_init(&text, (size_t)PROOF_GIB << 30);
    if (!decides)
        again.budget_ns = 1;
    enum rig_rc rc = rig_cli_proof_check(rig_source_facts(source)->workload, check->lattice, &why);
    if (rc == RIG_OK)
        rc = rig_source_rewind(source, &why);
    if (rc == RIG_OK)
        rc = rig_history_take(source, &load, name, &history, &why);
    if (rc == RIG_OK)
        rc = rig_check(history, &again, &verdict, &why);
    if (rc == RIG_OK)
        rc = rig_prove(history, verdict, &again, &text, &why);
    if (rc == RIG_OK)
        rc = rig_output_save(&text, path, &why);
    rig_verdict_free(verdict);
    rig_history_free(history);
    rig_buf_done(&text);
    if (rc == RIG_E_LIMIT)
        return rig_fail(err, rc, "a proof needs the whole history in memory: %.900s", why.text);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}
