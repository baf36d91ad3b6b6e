#include "report/happened.h"

#include <string.h>

#include "base/clock.h"
#include "base/json_members.h"
#include "base/vec.h"
#include "checker/infer/type_inference.h"
#include "checker/model/certified.h"
#include "checker/model/object_words.h"
#include "history/types/types.h"
#include "report/certificate_report.h"
#include "report/durability_report.h"
#include "report/episodes.h"
#include "report/headline.h"
#include "report/tell.h"
#include "report/words.h"

enum { NODES_MOST = 8, NAMED_MOST = 4 };

/* A write that was acknowledged so long before a fault can be lost by it: it may not have been replicated. */
static const int64_t shortly_ns = RIG_NS_PER_S;

/* In the order of their weight. `one` and `many` follow the count. Anomalies that are not here are told by their
 * witness. */
static const struct {
    enum rig_anomaly anomaly;
    const char *kind, *one, *many;
} told[] = {
    {RIG_ANOMALY_LOST_APPEND, "lost-writes", "acknowledged append was lost", "acknowledged appends were lost"},
    {RIG_ANOMALY_LOST_WRITE, "lost-writes", "acknowledged write was lost", "acknowledged writes were lost"},
    {RIG_ANOMALY_LOST_ELEMENT, "lost-writes", "acknowledged element was lost", "acknowledged elements were lost"},
    {RIG_ANOMALY_G1A, "read-of-uncommitted", "read shows a write that never committed",
     "reads show writes that never committed"},
    {RIG_ANOMALY_GARBAGE_READ, "read-of-uncommitted", "read shows a value that nothing wrote",
     "reads show values that nothing wrote"},
    {RIG_ANOMALY_DIRTY_UPDATE, "read-of-uncommitted", "committed write builds on one that never committed",
     "committed writes build on others that never committed"},
    {RIG_ANOMALY_NONLINEARIZABLE, "wrong-answer", NULL, NULL},
    {RIG_ANOMALY_NONSEQUENTIAL, "wrong-answer", NULL, NULL},
    {RIG_ANOMALY_PHANTOM_ELEMENT, "wrong-answer", "element was taken that was never added",
     "elements were taken that were never added"},
    {RIG_ANOMALY_DUPLICATED_ELEMENT, "wrong-answer", "element was taken more often than it was added",
     "elements were taken more often than they were added"},
    {RIG_ANOMALY_WRONG_TOTAL, "wrong-total", "read of all accounts shows a wrong total",
     "reads of all accounts show a wrong total"},
    {RIG_ANOMALY_NEGATIVE_BALANCE, "wrong-total", "read shows an account below 0", "reads show an account below 0"},
    {RIG_ANOMALY_IMPOSSIBLE_VALUE, "wrong-total", "read of a counter shows a value to which no increments add up",
     "reads of counters show values to which no increments add up"},
    {RIG_ANOMALY_COUNTER_BOUNDS, "wrong-total", "read shows less or more than was possible at its time",
     "reads show less or more than was possible at their time"},
    {RIG_ANOMALY_DUPLICATE_ELEMENTS, "wrong-answer", "read shows the same element twice",
     "reads show the same element twice"},
    {RIG_ANOMALY_LOST_UPDATE, "lost-update", "update was lost: two transactions read one version and both replaced it",
     "updates were lost: each time two transactions read one version and both replaced it"},
    {RIG_ANOMALY_LOST_UPDATE_PREDICATE, "lost-update", "row was written by two transactions that had both found no row",
     "rows were written by two transactions that had both found no row"},
    {RIG_ANOMALY_G1B, "partial-read", "read shows a value that its own writer replaced before it committed",
     "reads show values that their own writers replaced before they committed"},
    {RIG_ANOMALY_FRACTURED_APPEND, "partial-read", "read shows a part of a transaction's appends to one list",
     "reads show a part of a transaction's appends to one list"},
    {RIG_ANOMALY_PREDICATE_MISMATCH, "wrong-answer", "read by a condition shows a row that does not meet it",
     "reads by a condition show rows that do not meet it"},
    {RIG_ANOMALY_PREDICATE_READ_MISS, "wrong-answer", "read by a condition misses a row that met it all the time",
     "reads by a condition miss rows that met it all the time"},
    {RIG_ANOMALY_INTERNAL, "wrong-answer", "read contradicts what its own transaction had read or written",
     "reads contradict what their own transactions had read or written"},
    {RIG_ANOMALY_INTERNAL_PREDICATE, "wrong-answer", "transaction found a row in only one of two reads",
     "transactions found a row in only one of two reads"},
    {RIG_ANOMALY_FUTURE_READ, "wrong-answer", "transaction read a value before it wrote that value itself",
     "transactions read a value before they wrote that value themselves"},
    {RIG_ANOMALY_INCOMPATIBLE_ORDER, "impossible-order",
     "read of a list contradicts another one: no order of the appends explains both",
     "reads of lists contradict other reads: no order of the appends explains both"},
};
enum { TOLD = sizeof told / sizeof told[0] };

/* Its place in the table; TOLD: none. */
static unsigned place_of(enum rig_anomaly anomaly)
{
    unsigned at = 0;
    while (at < TOLD && told[at].anomaly != anomaly)
        at++;
    return at;
}

static const char *kind_of(enum rig_anomaly anomaly)
{
    const unsigned at = place_of(anomaly);
    return at < TOLD ? told[at].kind : "impossible-order";
}

/* The certificate's finding where only it has one. */
static const struct rig_finding *finding_of(const struct rig_verdict *verdict, enum rig_anomaly anomaly,
                                            const struct rig_history **history)
{
    const bool further = rig_certificate_is_further(verdict, anomaly);
    const struct rig_verdict *of = further ? verdict->certified->verdict : verdict;
    *history = of->history;
    return &of->findings[anomaly];
}

/* ---- what was lost ---- */

struct fate_of_fault {
    const char *fault, *targets;
    uint64_t during, before;
};

RIG_VEC(struct fate_of_fault, fault_fates)

struct node_count {
    const char *node;
    uint64_t count;
};

/* Acknowledged writes that were lost, by the faults under which and the nodes by which they were acknowledged. */
struct loss {
    uint64_t count; /* 0: none */
    bool exact;
    enum rig_anomaly anomaly; /* RIG_ANOMALY_COUNT: elements of sets */
    struct fault_fates faults;
    uint64_t apart;         /* of those with a row, acknowledged apart from any fault */
    bool had_faults, timed; /* timed: each has a row with its time */
    struct node_count nodes[NODES_MOST];
    uint32_t node_count;
    bool nodes_known;
};

static void note_fault(struct loss *loss, const struct rig_episode *episode, bool during)
{
    size_t at = 0;
    while (at < loss->faults.count && (strcmp(loss->faults.at[at].fault, episode->fault) != 0 ||
                                       strcmp(loss->faults.at[at].targets, episode->targets) != 0))
        at++;
    const struct fate_of_fault fresh = {.fault = episode->fault, .targets = episode->targets};
    if (at == loss->faults.count && !fault_fates_add(&loss->faults, fresh))
        return;
    loss->faults.at[at].during += during;
    loss->faults.at[at].before += !during;
}

/* The first fault during which it was acknowledged, else the first one that began shortly afterwards. */
static void place(struct loss *loss, const struct rig_episodes *episodes, const struct rig_lost *lost)
{
    for (unsigned shortly = 0; shortly < 2; shortly++) {
        for (size_t i = 0; i < episodes->of.count; i++) {
            const struct rig_episode *episode = &episodes->of.at[i];
            const int64_t from_ns = episode->from_ns - (shortly == 1 ? shortly_ns : 0);
            if (!episode->took_effect || episode->from_ns == RIG_NO_TIME || lost->acknowledged_ns < from_ns ||
                (episode->healed && lost->acknowledged_ns > episode->to_ns))
                continue;
            note_fault(loss, episode, shortly == 0);
            return;
        }
    }
    loss->apart++;
}

static void note_node(struct loss *loss, const char *node)
{
    uint32_t at = 0;
    if (node == NULL) {
        loss->nodes_known = false;
        return;
    }
    while (at < loss->node_count && strcmp(loss->nodes[at].node, node) != 0)
        at++;
    if (at == NODES_MOST) {
        loss->nodes_known = false;
        return;
    }
    loss->node_count = at == loss->node_count ? at + 1 : loss->node_count;
    loss->nodes[at].node = node;
    loss->nodes[at].count++;
}

static void loss_init(struct loss *loss, const struct rig_verdict *verdict)
{
    static const enum rig_anomaly losses[] = {RIG_ANOMALY_LOST_APPEND, RIG_ANOMALY_LOST_WRITE,
                                              RIG_ANOMALY_LOST_ELEMENT};
    struct rig_episodes episodes;
    *loss = (struct loss){.exact = true, .anomaly = RIG_ANOMALY_COUNT, .nodes_known = true};
    for (size_t i = 0; i < sizeof losses / sizeof losses[0] && loss->count == 0; i++) {
        const struct rig_finding *finding = &verdict->findings[losses[i]];
        loss->anomaly = losses[i];
        loss->count = finding->count;
        loss->exact = finding->exact;
    }
    if (loss->count == 0 && verdict->elements.measured) {
        loss->anomaly = RIG_ANOMALY_COUNT;
        loss->count = verdict->elements.lost;
        loss->exact = true;
    }
    rig_episodes_init(&episodes, verdict);
    loss->had_faults = rig_episodes_had_effect(&episodes);
    loss->timed = loss->count > 0 && verdict->lost.count > 0;
    for (size_t i = 0; i < verdict->lost.count; i++) {
        const struct rig_lost *lost = &verdict->lost.at[i];
        loss->timed &= lost->acknowledged_ns != RIG_NO_TIME;
        note_node(loss, lost->node);
        if (loss->timed && loss->had_faults)
            place(loss, &episodes, lost);
    }
    loss->nodes_known &= loss->node_count > 0;
    rig_episodes_done(&episodes);
}

static void loss_done(struct loss *loss)
{
    fault_fates_done(&loss->faults);
}

static void say_fault(struct rig_buf *out, const struct fate_of_fault *fate, bool counts)
{
    if (counts)
        rig_tell(out, "%n ", fate->during > 0 ? fate->during : fate->before);
    rig_tell(out, "%s%c", fate->during > 0 ? "during " : "shortly before ", fate->fault);
    if (fate->targets[0] != '\0')
        rig_tell(out, " of %c", fate->targets);
    if (fate->during > 0 && fate->before > 0)
        rig_tell(out, " and %n shortly before it", fate->before);
}

static void say_faults(struct rig_buf *out, const struct loss *loss)
{
    const struct fate_of_fault *only = loss->faults.at;
    if (loss->faults.count == 1 && loss->apart == 0 && (only->during == 0 || only->before == 0)) {
        rig_buf_add_char(out, ' ');
        say_fault(out, only, false);
        return;
    }
    for (size_t i = 0; i < loss->faults.count && i < NAMED_MOST; i++) {
        rig_buf_add_text(out, i == 0 ? ": " : ", ");
        say_fault(out, &loss->faults.at[i], true);
    }
    if (loss->faults.count > NAMED_MOST)
        rig_tell(out, ", others at %n further fault%p", loss->faults.count - NAMED_MOST,
                 loss->faults.count - NAMED_MOST);
    if (loss->faults.count > 0 && loss->apart > 0)
        rig_tell(out, ", %n at other times", loss->apart);
}

/* The nodes that had acknowledged them. */
static void say_nodes(struct rig_buf *out, const struct loss *loss)
{
    if (!loss->nodes_known)
        return;
    rig_buf_add_text(out, "; acknowledged by ");
    for (uint32_t i = 0; i < loss->node_count; i++) {
        rig_tell(out, "%s%c", i == 0 ? "" : ", ", loss->nodes[i].node);
        if (loss->node_count > 1)
            rig_tell(out, " (%n)", loss->nodes[i].count);
    }
}

/* `first`: it begins the sentence. Elsewhere the cause is open, so only the fact is told. */
static void say_loss(struct rig_buf *out, const struct loss *loss, bool first)
{
    static const char *const nouns[] = {"element", "append", "write"};
    const char *noun = nouns[loss->anomaly == RIG_ANOMALY_LOST_APPEND  ? 1
                             : loss->anomaly == RIG_ANOMALY_LOST_WRITE ? 2
                                                                       : 0];
    if (!loss->exact)
        rig_buf_add_text(out, "At least ");
    rig_tell(out, "%n acknowledged %s%p %s", loss->count, noun, loss->count,
             first ? (loss->count == 1 ? "was lost" : "were lost")
                   : (loss->count == 1 ? "is in no later read" : "are in no later read"));
    if (loss->timed && loss->had_faults)
        say_faults(out, loss);
    say_nodes(out, loss);
}

/* ---- which finding weighs most ---- */

static bool is_asked(const struct rig_verdict *verdict, enum rig_anomaly anomaly, const struct rig_finding *finding)
{
    if (finding->count == 0)
        return false;
    if ((finding->refutes & verdict->requested_levels) != 0 || rig_words_answers_request(verdict, anomaly))
        return true;
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        if ((finding->witnesses[i].refutes & verdict->requested_levels) != 0)
            return true;
    }
    return false;
}

/* RIG_ANOMALY_COUNT: only anomalies that are told by their witness are asked for. */
static enum rig_anomaly heaviest(const struct rig_verdict *verdict)
{
    for (unsigned at = 0; at < TOLD; at++) {
        const struct rig_history *history;
        const struct rig_finding *finding = finding_of(verdict, told[at].anomaly, &history);
        if (is_asked(verdict, told[at].anomaly, finding))
            return told[at].anomaly;
    }
    return RIG_ANOMALY_COUNT;
}

/* Whether the loss is what happened, and other findings follow from it. */
static bool is_cause(const struct rig_verdict *verdict, const struct loss *loss)
{
    if (loss->count == 0 || verdict->valid != RIG_VALID_FALSE || rig_durability_has_loss(verdict))
        return false;
    return loss->had_faults || verdict->findings[RIG_ANOMALY_INCOMPATIBLE_ORDER].count > 0 ||
           verdict->findings[RIG_ANOMALY_LOST_UPDATE].count > 0 ||
           (loss->anomaly != RIG_ANOMALY_COUNT && is_asked(verdict, loss->anomaly, &verdict->findings[loss->anomaly]));
}

static enum rig_anomaly first_of(const struct rig_verdict *verdict, const struct loss *loss)
{
    if (verdict->valid != RIG_VALID_FALSE)
        return RIG_ANOMALY_COUNT;
    return is_cause(verdict, loss) ? loss->anomaly : heaviest(verdict);
}

enum rig_anomaly rig_happened_first(const struct rig_verdict *verdict)
{
    struct loss loss;
    loss_init(&loss, verdict);
    const enum rig_anomaly first = first_of(verdict, &loss);
    loss_done(&loss);
    return first;
}

/* ---- the sentence ---- */

/* An object that has no explanation: its deed, and the property that it lacks. */
static void say_object(struct rig_buf *out, const struct rig_history *history, const struct rig_witness *witness,
                       const char *property)
{
    rig_tell(out, "%s: the %s is not %s", rig_object_deed(history, witness), rig_object_noun(history->workload),
             property);
}

static void say_txns(struct rig_buf *out, const struct rig_history *history, const struct rig_witness *witness)
{
    if (witness->txn_count > NAMED_MOST) {
        rig_tell(out, "%n transactions", witness->txn_count);
        return;
    }
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        rig_buf_add_text(out, i == 0 ? "" : i + 1 == witness->txn_count ? " and " : ", ");
        rig_words_txn(out, history, witness->txns[i]);
    }
}

static uint32_t count_steps(const struct rig_witness *witness, enum rig_edge_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < witness->step_count; i++)
        count += witness->steps[i].kind == kind;
    return count;
}

/* "T17 missed a write of T23, and saw what came after it". */
static void say_missed(struct rig_buf *out, const struct rig_history *history, const struct rig_witness *witness)
{
    const struct rig_step *step = witness->steps;
    while (step->kind != RIG_EDGE_RW)
        step++;
    rig_words_txn(out, history, step->from);
    rig_buf_add_text(out, " missed a write of ");
    rig_words_txn(out, history, step->to);
    if (witness->txn_count == 2 && count_steps(witness, RIG_EDGE_REALTIME) == 1)
        rig_buf_add_text(out, ", which had been acknowledged before it began");
    else if (witness->txn_count == 2 && count_steps(witness, RIG_EDGE_PROCESS) == 1)
        rig_buf_add_text(out, ", which its own client had run before");
    else
        rig_buf_add_text(out, ", and saw or replaced what came after it");
}

/* The transactions of a cycle, or of a proof by cases, have no order. */
static void say_no_order(struct rig_buf *out, const struct rig_history *history, const struct rig_witness *witness)
{
    const bool realtime = count_steps(witness, RIG_EDGE_REALTIME) > 0;
    const bool process = count_steps(witness, RIG_EDGE_PROCESS) > 0;
    const uint32_t missed = count_steps(witness, RIG_EDGE_RW);
    if (missed == 1 && (witness->txn_count == 2 || (!realtime && !process))) {
        say_missed(out, history, witness);
        return;
    }
    if (witness->txn_count == 2 && missed == 2) {
        say_txns(out, history, witness);
        rig_buf_add_text(out, " each missed what the other wrote: neither can have come first");
        return;
    }
    rig_buf_add_text(out, "No order of ");
    say_txns(out, history, witness);
    rig_buf_add_text(out, missed > 0 ? " explains what they read" : " explains what they read and wrote");
    if (realtime || process)
        rig_buf_add_text(out, realtime ? " and keeps the order of real time" : " and keeps the order of each client");
}

static void say_definition(struct rig_buf *out, enum rig_anomaly anomaly)
{
    const char *definition = rig_anomaly_info(anomaly)->definition;
    rig_buf_add_char(out,
                     definition[0] >= 'a' && definition[0] <= 'z' ? (char)(definition[0] - 'a' + 'A') : definition[0]);
    rig_buf_add_text(out, definition + 1);
}

/* The anomaly by its count. */
static void say_count(struct rig_buf *out, const struct rig_verdict *verdict, const struct rig_finding *finding,
                      enum rig_anomaly anomaly)
{
    const uint64_t all = verdict->scope.full_reads;
    const unsigned at = place_of(anomaly);
    if (!finding->exact)
        rig_buf_add_text(out, "At least ");
    rig_words_count(out, finding->count);
    if (anomaly == RIG_ANOMALY_WRONG_TOTAL && all >= finding->count && all > 0)
        rig_tell(out, " of %n reads of all accounts %s a wrong total", all, finding->count == 1 ? "shows" : "show");
    else
        rig_tell(out, " %s", finding->count == 1 ? told[at].one : told[at].many);
}

static void say_witness(struct rig_buf *out, const struct rig_history *history, const struct rig_witness *witness)
{
    const enum rig_anomaly anomaly = witness->anomaly;
    if (anomaly == RIG_ANOMALY_NONLINEARIZABLE)
        say_object(out, history, witness, "linearizable");
    else if (anomaly == RIG_ANOMALY_NONSEQUENTIAL)
        say_object(out, history, witness, "sequentially consistent");
    else if ((rig_anomaly_info(anomaly)->cyclic || anomaly == RIG_ANOMALY_NO_VERSION_ORDER) && witness->txn_count > 0)
        say_no_order(out, history, witness);
    else
        say_definition(out, anomaly);
}

/* The finding that weighs most, or the witness that the headline shows. */
static void say_first(struct rig_buf *out, const struct rig_verdict *verdict, enum rig_anomaly anomaly)
{
    const unsigned at = place_of(anomaly);
    const struct rig_history *history = NULL;
    const struct rig_finding *finding = anomaly == RIG_ANOMALY_COUNT ? NULL : finding_of(verdict, anomaly, &history);
    const struct rig_headline headline = rig_headline_pick(verdict);
    if (at < TOLD && told[at].one != NULL)
        say_count(out, verdict, finding, anomaly);
    else if (headline.witness != NULL)
        say_witness(out, headline.history, headline.witness);
    else if (finding != NULL)
        say_definition(out, anomaly);
}

static const char *all_of(uint64_t count)
{
    return count == 1 ? "" : "all ";
}

/* The measure that the data type has of its own, where nothing requested is broken. */
static void say_right(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const struct rig_scope *scope = &verdict->scope;
    const struct rig_element_times *elements = &verdict->elements;
    const bool totals =
        (rig_type_inference(scope->workload)->anomalies & RIG_ANOMALY_BIT(RIG_ANOMALY_WRONG_TOTAL)) != 0;
    const bool linearizable = verdict->levels[RIG_LEVEL_STRICT_SERIALIZABLE].fate == RIG_FATE_HELD;
    if (rig_workload_is_object(scope->workload) && linearizable && scope->observations > 0)
        rig_tell(out, "Each %s is linearizable: an order of the operations explains %s%n result%p.",
                 rig_object_noun(scope->workload), all_of(scope->observations), scope->observations,
                 scope->observations);
    else if (totals && scope->full_reads > 0 && verdict->findings[RIG_ANOMALY_WRONG_TOTAL].count == 0)
        rig_tell(out, "The total was right in %s%n read%p of all accounts.", all_of(scope->full_reads),
                 scope->full_reads, scope->full_reads);
    else if (!totals && scope->full_reads > 0 &&
             (verdict->findings[RIG_ANOMALY_IMPOSSIBLE_VALUE].count |
              verdict->findings[RIG_ANOMALY_COUNTER_BOUNDS].count) == 0)
        rig_tell(out, "The counters were right in %s%n read%p.", all_of(scope->full_reads), scope->full_reads,
                 scope->full_reads);
    else if (elements->measured && elements->known > 0 && elements->lost == 0)
        rig_tell(out, "None of %n known element%p was lost: the last reads show %n%s.", elements->known,
                 elements->known, elements->stable,
                 elements->stable < elements->known ? ", and the others were not read" : "");
}

/* Whether something requested is broken that the crashes do not explain. */
static bool breaks_more(const struct rig_verdict *verdict)
{
    return (rig_words_levels_of(verdict, RIG_FATE_REFUTED) & verdict->requested_levels) != 0 ||
           heaviest(verdict) != RIG_ANOMALY_COUNT;
}

void rig_happened_say(struct rig_buf *out, const struct rig_verdict *verdict)
{
    const size_t from = out->size;
    struct loss loss;
    loss_init(&loss, verdict);
    rig_durability_say(out, verdict);
    const bool crashed = out->size > from;
    const bool begins = !crashed && is_cause(verdict, &loss);
    if (crashed && (verdict->valid != RIG_VALID_FALSE || !breaks_more(verdict))) {
        loss_done(&loss);
        return;
    }
    rig_buf_add_text(out, crashed ? " Beside that: " : "");
    if (begins)
        say_loss(out, &loss, true);
    else if (verdict->valid == RIG_VALID_FALSE)
        say_first(out, verdict, first_of(verdict, &loss));
    else if (verdict->valid == RIG_VALID_TRUE)
        say_right(out, verdict);
    if (out->size > from && verdict->valid == RIG_VALID_FALSE)
        rig_buf_add_char(out, '.');
    if (!begins && !crashed && loss.count > 0) {
        rig_buf_add_text(out, out->size == from ? "" : " ");
        say_loss(out, &loss, false);
        rig_buf_add_char(out, '.');
    }
    loss_done(&loss);
}

/* ---- for programs ---- */

static void loss_json(struct rig_json_writer *w, const struct loss *loss)
{
    if (loss->count == 0)
        return;
    rig_json_begin_object(w, "lost");
    rig_json_members(w, "count: %d, exact: %b", loss->count, loss->exact);
    if (loss->timed && loss->had_faults) {
        rig_json_begin_array(w, "faults");
        for (size_t i = 0; i < loss->faults.count; i++)
            rig_json_object(w, NULL, "fault: %s, targets: %s, during: %d, shortly_before: %d", loss->faults.at[i].fault,
                            loss->faults.at[i].targets, loss->faults.at[i].during, loss->faults.at[i].before);
        rig_json_end(w);
        rig_json_int(w, "at_other_times", (int64_t)loss->apart);
    }
    if (loss->nodes_known) {
        rig_json_begin_object(w, "acknowledged_by");
        for (uint32_t i = 0; i < loss->node_count; i++)
            rig_json_int(w, loss->nodes[i].node, (int64_t)loss->nodes[i].count);
        rig_json_end(w);
    }
    rig_json_end(w);
}

void rig_happened_json(struct rig_json_writer *w, const struct rig_verdict *verdict)
{
    struct loss loss;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_happened_say(&text, verdict);
    if (text.size == 0) {
        rig_buf_done(&text);
        return;
    }
    loss_init(&loss, verdict);
    const enum rig_anomaly heavy = first_of(verdict, &loss);
    const struct rig_headline headline = rig_headline_pick(verdict);
    const enum rig_anomaly first =
        heavy == RIG_ANOMALY_COUNT && headline.witness != NULL ? headline.witness->anomaly : heavy;
    rig_json_begin_object(w, "happened");
    rig_json_text(w, "text", rig_buf_text(&text));
    if (rig_durability_is_broken(verdict->durability))
        rig_json_string(w, "kind", "lost-commits");
    else if (is_cause(verdict, &loss))
        rig_json_string(w, "kind", "lost-writes");
    else if (first != RIG_ANOMALY_COUNT)
        rig_json_string(w, "kind", kind_of(first));
    if (first != RIG_ANOMALY_COUNT)
        rig_json_string(w, "anomaly", rig_anomaly_info(first)->name);
    loss_json(w, &loss);
    rig_json_end(w);
    rig_buf_done(&text);
    loss_done(&loss);
}
