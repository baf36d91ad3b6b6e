/*
 * Writes a synthetic history, in the binary form: always the same one for the same arguments (bench/synthetic.h).
 *
 *   gen_history OUT.rig [NAME=VALUE]...
 *
 * with the names of a plan: workload.transactions=1000000 workload.keys.active=100 workload.keys.appends-per-key=100
 * database.isolation=read-committed database.bug=stale-read database.bug-rate=10% clients=20 seed=7 shape=simulated.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/synthetic.h"
#include "history/load.h"

int main(int argc, char **argv)
{
    struct rig_err err = {0};
    struct synthetic synthetic;
    struct rig_history *history = NULL;
    if (argc < 2) {
        (void)fprintf(stderr, "usage: gen_history OUT.rig [NAME=VALUE]...\n");
        return 64;
    }
    enum rig_rc rc = synthetic_defaults(&synthetic, &err);
    for (int i = 2; rc == RIG_OK && i < argc; i++)
        rc = synthetic_set(&synthetic, argv[i], &err);
    if (rc == RIG_OK)
        rc = synthetic_make(&synthetic, &history, &err);
    if (rc == RIG_OK)
        rc = rig_history_save(history, argv[1], RIG_FORM_RIG, &err);
    if (rc != RIG_OK)
        (void)fprintf(stderr, "gen_history: %s\n", err.text);
    else
        (void)printf("%u transactions, %u operations, %u keys\n", history->txn_count, history->op_count,
                     history->key_count);
    rig_history_free(history);
    return rc == RIG_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
