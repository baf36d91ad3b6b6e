/*
 * Known issues: whether known anomalies alone (known_anomaly.h) refute what a verdict is asked for.
 *
 * A verdict keeps a few witnesses of each anomaly, so "all witnesses have the shape" says nothing about the others. The
 * history is searched again instead. A transaction of a known witness is taken apart into its operations
 * (history/model/history_excerpt.h): what it read and wrote stays, and that it was one transaction is given up, so that
 * the witness is gone. This is repeated, with each transaction of each witness in turn, until nothing that was asked
 * for is refuted. So the known issues explain a verdict only if every violation contains all transactions of a witness
 * that has a known shape: of a violation that lacks one of them, that one would have been taken apart without touching
 * it. (Where one operation of a transaction is all that a witness needs of it, the witness stays, with that operation
 * as a version on the way between the others. It is known if these are among the transactions of a known one, and the
 * search goes on with them.)
 *
 * With a certificate (model/certified.h) that agrees with the clients, the history with what it adds is searched: there
 * the order of all versions is known, and a violation that only the certificate shows is one like any other. Levels
 * that the reads alone refute are searched for in the history without it as well. Rows are taken apart into their
 * statements; a part has no snapshot, because the statements before it, which a snapshot does not show, are
 * transactions of their own.
 *
 * Everything else is left unexplained, with the reason: another anomaly, a witness of another shape, an issue of
 * another database, a discrepancy between clients and certificate, a search that is too long.
 *
 * Time: a judgement of the whole history for each choice of one transaction from each known witness: 3 witnesses of 3
 * transactions take up to 39. Space: twice that of the history. Threads: one call uses the calling thread.
 */
#ifndef RIG_CHECKER_JUDGE_KNOWN_ISSUES_H
#define RIG_CHECKER_JUDGE_KNOWN_ISSUES_H

#include "checker/judge/check.h"
#include "checker/judge/known_anomaly.h"

struct rig_known_issue {
    const char *name, *page; /* borrowed for as long as the verdict */
    struct rig_known_anomaly shape;
    const char *unlike; /* why it is not an issue of this run's database; NULL: it is, or that is not known. Borrowed */
    bool unsure;        /* driver, isolation level or version of the run are not known */
};

struct rig_known_outcome { /* of an issue */
    const struct rig_known_issue *issue;
    uint32_t witness_count;            /* those of the verdict that have its shape */
    const struct rig_witness *witness; /* the first of them; NULL: it did not appear */
    uint32_t number;                   /* its number among those of its anomaly, from 1 */
    bool by_certificate;               /* they are witnesses of the certificate's verdict */
};

struct rig_known_issues {
    struct rig_known_outcome *outcomes;
    uint32_t count;
    bool required;        /* the verdict is undecided unless each issue appears */
    bool explained;       /* something that was asked for is refuted, and only by these issues */
    char *why_not;        /* refuted and not explained: the reason; else NULL */
    uint32_t check_count; /* judgements of the history that the search took */
};

struct rig_known_request {
    const struct rig_known_issue *issues; /* borrowed for as long as the verdict */
    uint32_t count;
    bool required;
    struct rig_check_options check; /* as the verdict was asked; its budget is also that of the whole search */
    /* Gives the whole history to the caller, for rig_history_free(). Asked where the verdict has but an excerpt. */
    enum rig_rc (*load)(void *context, struct rig_history **history, struct rig_err *err);
    void *context;
};

/*
 * Compares a verdict, before its evidence is weighed (minimum.h), with the known issues: fills in verdict->known, and
 * makes a verdict valid that they explain. RIG_E_LIMIT when memory runs out for the verdict, RIG_E_BUG as of
 * rig_check().
 */
enum rig_rc rig_known_issues_compare(struct rig_verdict *verdict, const struct rig_known_request *request,
                                     struct rig_err *err);

#endif
