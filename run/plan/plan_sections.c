#include "run/plan/plan_sections.h"

#include "checker/judge/check.h"
#include "checker/model/assumption.h"
#include "checker/model/durability.h"

const char *const rig_plan_section_names[] = {
#define SECTION_NAME(id, key) key,
    RIG_PLAN_SECTION_TABLE(SECTION_NAME)
#undef SECTION_NAME
        NULL};

const char rig_plan_phases_key[] = "phases";
const char rig_plan_nemesis_key[] = "nemesis";
const char *const rig_plan_top_names[] = {
#define SECTION_NAME(id, key) key,
    RIG_PLAN_SECTION_TABLE(SECTION_NAME)
#undef SECTION_NAME
        rig_plan_phases_key,
    rig_plan_nemesis_key, NULL};

/* By enum rig_report_form. */
static const char *const report_choices[] = {
#define REPORT_NAME(id, name, file, between) name,
    RIG_REPORT_FILE_TABLE(REPORT_NAME)
#undef REPORT_NAME
        NULL};

/* By enum rig_record_compression. */
static const char *const compress_choices[] = {"none", "zstd", NULL};

const struct rig_option rig_plan_top_table[] = {
    {.name = "name",
     .type = RIG_OPTION_TEXT,
     .offset = offsetof(struct rig_plan_top, name),
     .help = "name of the experiment; its runs are kept in a folder of this name",
     .required = true},
    {.name = "seed",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct rig_plan_top, seed),
     .least = 0,
     .most = 0x1p63,
     .help = "seed of every random choice; a fresh one for each run when not given"},
    {.name = "report",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = offsetof(struct rig_plan_top, report),
     .default_text = "text, json, html, junit",
     .choices = report_choices,
     .help = "forms in which a run's result is kept"},
    {.name = "store",
     .type = RIG_OPTION_TEXT,
     .offset = offsetof(struct rig_plan_top, store),
     .default_text = "store",
     .help = "folder in which runs are kept, as `<store>/<name>/<time>`",
     .required = true},
    {.name = "record.compress",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_plan_top, compress),
     .default_text = "none",
     .choices = compress_choices,
     .help = "compression of the run's record"},
    {.name = "time-limit",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct rig_plan_top, time_limit_ns),
     .least = 1e9,
     .most = 1e16,
     .help = "time for the whole run, also for starting the database, checking and reporting: the load ends after "
             "three quarters of it, and a check that is not done in time ends with exit status 2"},
    {.name = NULL},
};

/* The options of clients that each phase may have of its own: `prefix` before the name, `at` for the place of a
 * member. */
#define CLIENTS_OF_A_PHASE(prefix, at)                                                                                 \
    {.name = prefix "count",                                                                                           \
     RIG_OPTION_VARIED(.chance = 0.6, .values = "2 3 5 20 40"),                                                        \
     .type = RIG_OPTION_INT,                                                                                           \
     .offset = at(count),                                                                                              \
     .default_text = "16",                                                                                             \
     .least = 1,                                                                                                       \
     .most = 4096,                                                                                                     \
     .help = "clients, each a thread with a session of its own"},                                                      \
        {.name = prefix "rate",                                                                                        \
         .type = RIG_OPTION_RATE,                                                                                      \
         .offset = at(rate),                                                                                           \
         .default_text = "unlimited",                                                                                  \
         .least = 0.001,                                                                                               \
         .most = 1e8,                                                                                                  \
         .help = "transactions a second over all clients; unlimited: each client sends the next one at once"},         \
        {.name = prefix "pause.mean",                                                                                  \
         RIG_OPTION_VARIED(.chance = 0.15, .values = "100us 1ms 5ms"),                                                 \
         .type = RIG_OPTION_DURATION,                                                                                  \
         .offset = at(pause_ns),                                                                                       \
         .default_text = "0s",                                                                                         \
         .least = 0,                                                                                                   \
         .most = 3600e9,                                                                                               \
         .help = "mean pause of a client between two transactions (think time); 0: none"},                             \
        {.name = prefix "pause.distribution",                                                                          \
         .type = RIG_OPTION_CHOICE,                                                                                    \
         .offset = at(pause_distribution),                                                                             \
         .default_text = "exponential",                                                                                \
         .choices = rig_pause_distribution_names,                                                                      \
         .help = "distribution of these pauses; uniform: from 0 to twice the mean"},                                   \
        {.name = prefix "bursts.on",                                                                                   \
         RIG_OPTION_VARIED(.chance = 0.1, .values = "10ms 50ms", .with = "clients.bursts.off=20ms"),                   \
         .type = RIG_OPTION_DURATION,                                                                                  \
         .offset = at(burst_on_ns),                                                                                    \
         .default_text = "0s",                                                                                         \
         .least = 0,                                                                                                   \
         .most = 3600e9,                                                                                               \
         .help = "the clients act together in bursts of this length; 0: they act all the time"},                       \
    {                                                                                                                  \
        .name = prefix "bursts.off", .type = RIG_OPTION_DURATION, .offset = at(burst_off_ns), .default_text = "0s",    \
        .least = 0, .most = 3600e9, .help = "time between two bursts, in which no client starts a transaction"         \
    }

#define OF_CLIENTS(member) offsetof(struct rig_clients_options, member)
#define OF_A_PHASE(member) offsetof(struct rig_plan_phase_options, clients.member)

const struct rig_option rig_plan_phase_table[] = {
    {.name = "name",
     .type = RIG_OPTION_TEXT,
     .offset = offsetof(struct rig_plan_phase_options, name),
     .help = "name of the phase in the progress line, the record and the reports",
     .required = true},
    CLIENTS_OF_A_PHASE("clients.", OF_A_PHASE),
    {.name = NULL},
};

const struct rig_option rig_plan_clients_table[] = {
    CLIENTS_OF_A_PHASE("", OF_CLIENTS),
    {.name = "reconnect.pause",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct rig_clients_options, backoff_ns),
     .default_text = "10ms",
     .least = 1e3,
     .most = 3600e9,
     .help = "pause after a failed connection attempt; it doubles with each further one"},
    {.name = "reconnect.max-pause",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct rig_clients_options, max_backoff_ns),
     .default_text = "1s",
     .least = 1e3,
     .most = 3600e9,
     .help = "longest such pause"},
    {.name = "back-off.conflict",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct rig_clients_options, conflict_pause_ns),
     .default_text = "0s",
     .least = 0,
     .most = 3600e9,
     .help = "pause of a client after a transaction that failed because of another one (serialization failure, "
             "deadlock); it "
             "doubles with each further one; 0: none"},
    {.name = "back-off.resources",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct rig_clients_options, resources_pause_ns),
     .default_text = "5ms",
     .least = 0,
     .most = 3600e9,
     .help = "the same after one that failed because the server lacks memory, locks, disk or connections (PostgreSQL: "
             "SQLSTATE "
             "53...), so that it can recover"},
    {.name = "back-off.max",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct rig_clients_options, max_pause_ns),
     .default_text = "100ms",
     .least = 0,
     .most = 3600e9,
     .help = "longest such pause"},
    {.name = "stop-grace",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct rig_clients_options, stop_grace_ns),
     .default_text = "10s",
     .least = 0,
     .most = 3600e9,
     .help = "time that a transaction under way may still take after the load, before it is interrupted"},
    {.name = NULL},
};

/* By enum rig_certificate_mode. */
static const char *const certificate_choices[] = {"none", "stream", "full", NULL};

const struct rig_option rig_plan_database_table[] = {
    {.name = "driver",
     .type = RIG_OPTION_TEXT,
     .offset = offsetof(struct rig_plan_database, driver),
     .help = "the driver (`rig list drivers`); the other keys belong to this driver",
     .required = true},
    {.name = "certificate",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_plan_database, certificate),
     .default_text = "none",
     .choices = certificate_choices,
     .help = "what the database itself is asked for: nothing, or the stream of its commits, which the check compares "
             "with what the clients saw (docs/certificates.md); `stream` does not change the requests of clients, "
             "`full` adds their snapshots and the "
             "writers of rows"},
    {.name = "versions-source",
     .type = RIG_OPTION_COMMAND,
     .offset = offsetof(struct rig_plan_database, versions_source),
     .help =
         "command that prints the versions of all keys after the load, in place of the driver's certificate: a line "
         "`place key value` for each, and `end` last (docs/certificates.md); with `certificate: stream`, for lists and "
         "registers"},
    {.name = NULL},
};

/* By enum rig_stop_on. */
static const char *const stop_on_choices[] = {"never", "anomaly", NULL};

/* By enum rig_server_crash_rule. */
static const char *const server_crash_choices[] = {"fail", "report", NULL};

/* By enum rig_require. */
static const char *const require_choices[] = {"not-refuted", "held", NULL};
/* By enum rig_lattice. */
static const char *const lattice_choices[] = {"exact", "reference", NULL};

#define ASSUMPTION_NAME(id, name, meaning) name,
static const char *const assumption_names[] = {RIG_ASSUMPTION_TABLE(ASSUMPTION_NAME) RIG_ORDER_NAME, NULL};
#undef ASSUMPTION_NAME

const struct rig_option rig_plan_check_table[] = {
    {.name = "levels",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = offsetof(struct rig_plan_check, levels),
     .default_text = "strict-serializable",
     .help =
         "isolation levels that must not be refuted for exit status 0 (`rig list levels`), or of queues at-least-once, "
         "at-most-once or exactly-once; all levels are reported"},
    {.name = "require",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_plan_check, require),
     .default_text = "not-refuted",
     .choices = require_choices,
     .help = "the condition on each of `levels` for exit status 0: not refuted (no anomaly refutes it; the report "
             "says whether it is proven to hold), or held (proven to hold; else the run is undecided)"},
    {.name = "minimum.acknowledged",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct rig_plan_check, least_acknowledged),
     .default_text = "100",
     .least = 0,
     .most = 1e15,
     .help = "transactions of the load that the database must acknowledge; with fewer, a run without an anomaly is "
             "undecided (exit status 2)"},
    {.name = "minimum.load",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct rig_plan_check, least_load),
     .default_text = "90%",
     .least = 0,
     .most = 1,
     .help = "share of the planned transactions, or of the planned duration, that must be carried out; with less, a "
             "run without an anomaly is undecided; 0% also accepts a cut record"},
    {.name = "minimum.answering",
     .type = RIG_OPTION_SHARE,
     .offset = offsetof(struct rig_plan_check, least_answering),
     .default_text = "80%",
     .least = 0,
     .most = 1,
     .help = "share of the load's time in which the database must answer; with less, a run without an "
             "anomaly is undecided; faults and the recovery from them do not count; refused conflicts count as "
             "answers; reads do not while every write fails"},
    {.name = "anomalies",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = offsetof(struct rig_plan_check, anomalies),
     .default_text = "[]",
     .help = "further anomalies that must not occur (`rig list anomalies`)"},
    {.name = "assume",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = offsetof(struct rig_plan_check, assume),
     .default_text = "[]",
     .choices = assumption_names,
     .help = "assumptions that order the versions of registers (workload rw-register); order: the places that the "
             "database gives to transactions (`order`, `commit-ts`) do"},
    {.name = "lattice",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_plan_check, lattice),
     .default_text = "exact",
     .choices = lattice_choices,
     .help = "how levels are decided: exact (each by its own definition), or reference (by the names of anomalies and "
             "the implications of the Elle checker, for comparing verdicts)"},
    {.name = "budget",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct rig_plan_check, budget_ns),
     .default_text = "60s",
     .least = 1e6,
     .most = 1e15,
     .help = "time for deciding levels where reads leave the order of versions open; a level that is open after it is "
             "undecided, and the report says what is open"},
    {.name = "max-witnesses",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct rig_plan_check, max_witnesses),
     .default_text = "8",
     .least = 1,
     .most = RIG_WITNESSES_MOST,
     .help = "witnesses kept of each anomaly; all occurrences are counted"},
    {.name = "online",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct rig_plan_check, online),
     .default_text = "false",
     .help = "check during the run; memory grows with the active keys, plus about 18 bytes for each finished key "
             "(with the history for rw-register); "
             "the verdict is the same"},
    {.name = "online-memory",
     .type = RIG_OPTION_SIZE,
     .offset = offsetof(struct rig_plan_check, online_memory_bytes),
     .default_text = "1GiB",
     .least = 16 << 20,
     .most = (double)(INT64_C(1) << 50),
     .help = "memory for the check during the run; where it does not suffice, that check ends, the load goes on, and "
             "the record is checked from its beginning after the load: within this limit, or without it where no such "
             "check is possible"},
    {.name = "stop-on",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_plan_check, stop_on),
     .default_text = "never",
     .choices = stop_on_choices,
     .help = "end the load at the first anomaly that `levels` or `anomalies` forbid; needs `online: true`"},
    {.name = "server-crash",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_plan_check, server_crash),
     .default_text = "fail",
     .choices = server_crash_choices,
     .help = "result of a server of `cluster.local.command` that ends by itself while no fault accounts for it: fail "
             "(exit status 1, as for an anomaly), or report (the reports name it)"},
    {.name = "durability",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_plan_check, durability),
     .default_text = "durable",
     .choices = rig_promise_choices,
     .help = "what crashes of servers may take (kill, restart, promote, power, fsync, disk-full, memory) for exit "
             "status 0: durable (no acknowledged commit), strong-prefix (only the last commits, in an order that keeps "
             "real time), prefix (only the last ones, in an order that keeps their dependencies), or none (any; the "
             "report says what they took)"},
    {.name = "prefilled",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct rig_plan_check, prefilled),
     .default_text = "false",
     .help = "each key has its row before the load, so that a read of nil or of an empty list is a read of a row, and "
             "what appears there later is no phantom"},
    {.name = "initial",
     .type = RIG_OPTION_TEXT,
     .offset = offsetof(struct rig_plan_check, initial),
     .default_text = "",
     .help =
         "what each register has before the load, in a row of its own: a number, `nil`, or a value as EDN writes it; "
         "when empty, nil for `cas-register`, and for other registers nil or what a first read shows and nothing "
         "writes"},
    {.name = "proof",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct rig_plan_check, proof),
     .default_text = "false",
     .help = "after the check, write a proof of the verdict into the run's folder, as `proof`, for rig-verify; it "
             "takes memory "
             "for the whole history"},
    {.name = "known",
     .type = RIG_OPTION_TEXT_LIST,
     .offset = offsetof(struct rig_plan_check, known),
     .default_text = "[]",
     .help = "known bugs (`rig list bugs`) whose anomalies are accepted, by their shape; the reports name them"},
    {.name = "known-required",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct rig_plan_check, known_required),
     .default_text = "false",
     .help = "leave the run undecided (exit status 2) unless each bug of `known` appears"},
    {.name = NULL},
};
