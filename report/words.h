/*
 * The words that all reports share: numbers, times, operations and names as a person reads them.
 *
 * Every function appends to a buffer. Texts from outside (keys, errors, server names, plans) go through
 * rig_words_clean(), so that no report carries a control character to a terminal.
 *
 * Lists are elided in the middle: of more than RIG_WORDS_LIST_SHOWN elements the first three and the last two remain,
 * with the count.
 */
#ifndef RIG_REPORT_WORDS_H
#define RIG_REPORT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "checker/model/verdict.h"
#include "report/report.h"

enum { RIG_WORDS_LIST_SHOWN = 8 };

/* Foreign text: control characters (except newlines when `keep_lines`) become "?"; NULL is written as nothing. */
void rig_words_clean(struct rig_buf *out, const char *text, bool keep_lines);

/* 1234567 as "1,234,567". */
void rig_words_count(struct rig_buf *out, uint64_t number);
/* "3", or "at least 3" where the count is a lower bound. */
void rig_words_found(struct rig_buf *out, const struct rig_finding *finding);
/* A duration with three significant digits and its unit: "1.20 s", "12.3 ms", "450 us", "87 ns". */
void rig_words_duration(struct rig_buf *out, int64_t duration_ns);
/* "12.3 MiB". */
void rig_words_size(struct rig_buf *out, uint64_t size_bytes);
/* A share of a whole: "0.12 %"; "0 %" of nothing. */
void rig_words_share(struct rig_buf *out, uint64_t part, uint64_t whole);

/* "T17". */
void rig_words_txn(struct rig_buf *out, const struct rig_history *history, uint32_t txn);
/* "process 3, 1.204 s - 1.209 s" counted from `zero_ns`; without times only the process; "- ?" when it never completed.
 */
void rig_words_txn_when(struct rig_buf *out, const struct rig_history *history, uint32_t txn, int64_t zero_ns);
/* "r 5 [1 2]", "append 9 4", without brackets around. */
void rig_words_op(struct rig_buf *out, const struct rig_history *history, const struct rig_txn_op *op);
/* "key 5"; text keys are shortened to 24 bytes. */
void rig_words_key(struct rig_buf *out, const struct rig_history *history, uint32_t key);

/* "ww", "wr", "rw", "process", "real-time". */
const char *rig_words_edge(enum rig_edge_kind kind);
/* "not-refuted", "held", "refuted". */
const char *rig_words_fate(enum rig_fate fate);

/* Bits of the levels with this fate. */
uint64_t rig_words_levels_of(const struct rig_verdict *verdict, enum rig_fate fate);
/* Bits: those of `set` that reports for people list: plain levels, the session and strong forms of read uncommitted,
 * read committed, snapshot isolation and serializable, and another form only where it is among the weakest refuted or
 * the strongest held levels, or where nothing that is listed tells that it is open. */
uint64_t rig_words_levels_listed(const struct rig_verdict *verdict, uint64_t set);
/* The names of the levels in `set`, in the lattice's order, separated by ", "; "none" when empty. */
void rig_words_levels(struct rig_buf *out, uint64_t set);
/* Whether a requested anomaly is broken by this one: itself, or where there is none of it, its first special case. */
bool rig_words_answers_request(const struct rig_verdict *verdict, enum rig_anomaly anomaly);
/* The names of the requested levels and anomalies. */
void rig_words_requested(struct rig_buf *out, const struct rig_verdict *verdict);
/* The type of the data, how it is known, and what is taken for known: "list-append (found in the file)". */
void rig_words_workload(struct rig_buf *out, const struct rig_verdict *verdict);
/* The values that registers begin with, unless all begin with nil: "0 (given)". */
void rig_words_initial(struct rig_buf *out, const struct rig_verdict *verdict);
/* Which of what was requested is broken: levels refuted, anomalies found. */
void rig_words_broken(struct rig_buf *out, const struct rig_verdict *verdict);
/* Each requested level by its fate, and the anomalies that were not found. */
void rig_words_kept(struct rig_buf *out, const struct rig_verdict *verdict);
/* "14,033 acknowledged transactions". */
void rig_words_acknowledged(struct rig_buf *out, uint64_t count);

/*
 * The verdict in one line, with the number of acknowledged transactions that were checked, final reads among them:
 * "ANOMALY: in 14,033 acknowledged transactions, serializable does not hold", "VALID: in 14,033 acknowledged
 * transactions, serializable held", "UNDECIDED: why; 14,033 acknowledged transactions were checked".
 * The word before the colon is one of ANOMALY, VALID, UNDECIDED.
 */
void rig_words_verdict(struct rig_buf *out, const struct rig_verdict *verdict);
/* Warnings that the verdict covers only part of a run: the record was cut or damaged, the run was interrupted or
 * failed. One sentence a line; nothing where the verdict is undecided, because it gives these reasons itself. */
void rig_words_warnings(struct rig_buf *out, const struct rig_verdict *verdict);
/* "14,033 acknowledged in the load (at least 100), 98.2 % of the load (90 %), ...": what the verdict rests on. */
void rig_words_evidence(struct rig_buf *out, const struct rig_verdict *verdict);
/* "gave up 12 reads of keys' last versions: the last error was ...". */
void rig_words_unread(struct rig_buf *out, uint64_t count, const char *why);
const char *rig_words_valid(const struct rig_verdict *verdict);

/* True when more than 5 % of the transactions that did not fail have unknown fates, so that the check sees much
 * less. */
bool rig_words_blunt(const struct rig_verdict *verdict);
/* When the elements of sets became visible, as up to three lines that each end with a newline; nothing where it was not
 * measured. */
void rig_words_elements(struct rig_buf *out, const struct rig_verdict *verdict);
/* Which operations of the history were left out; adds nothing where none was. */
void rig_words_left_out(const struct rig_scope *scope, struct rig_buf *text);
/* How many ranks a run had, how well their times can be compared, and which records are incomplete; adds nothing for a
 * single record. */
void rig_words_ranks(const struct rig_scope *scope, struct rig_buf *text);
/* How often a process invoked although its earlier transaction was open; adds nothing where none did. */
void rig_words_reused(const struct rig_scope *scope, struct rig_buf *text);
/* A warning about the order of the file; empty if there is none. */
const char *rig_words_sorted(const struct rig_scope *scope);

/* The word of an outcome for people: "unknown" for "info". */
const char *rig_words_outcome(const char *outcome);
/* "7,221 times 40001 could not serialize access": what clients got most often; adds nothing where there is none. */
void rig_words_top_error(struct rig_buf *out, const struct rig_report_run *run);

/* "Linux 6.1 x86_64, 2 cores of a CPU, 24 GiB, overlay (/tmp)"; what is not known is left out. */
void rig_words_provenance(struct rig_buf *out, const struct rig_report_provenance *facts);

#endif
