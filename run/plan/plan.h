/*
 * Plans: YAML in, a checked and immutable `struct rig_plan` out.
 *
 * A plan is read with libyaml's events against the option tables (base/option.h) of its sections: the core's own, the
 * generator's, and the chosen driver's. Everything wrong with it is refused with file:line:column, what was expected,
 * and the nearest valid name. Defaults are filled in; `${NAME}` and `${NAME:-default}` are expanded in texts.
 *
 * Errors: RIG_E_PLAN for a bad plan, RIG_E_IO when it cannot be read, RIG_E_DRIVER when its driver cannot be loaded.
 */
#ifndef RIG_RUN_PLAN_PLAN_H
#define RIG_RUN_PLAN_PLAN_H

#include "base/buf.h"
#include "base/err.h"
#include "base/option.h"
#include "base/run_files.h"
#include "checker/model/assumption.h"
#include "checker/model/verdict.h"
#include "drivers/driver.h"
#include "generator/generator.h"
#include "nemesis/nemesis_options.h"

/* The forms of a report (base/run_files.h). */
enum rig_report_form {
#define REPORT_FORM(id, name, file, between) RIG_REPORT_##id,
    RIG_REPORT_FORM_TABLE(REPORT_FORM)
#undef REPORT_FORM
        RIG_REPORT_FORM_COUNT
};

struct rig_clients_options {
    int64_t count;
    double rate;                       /* transactions a second over all clients; 0: unlimited (closed loop) */
    int64_t pause_ns;                  /* mean time between two transactions of a client; 0: none */
    int64_t pause_distribution;        /* enum rig_pause_distribution */
    int64_t burst_on_ns, burst_off_ns; /* all clients act and rest by turns; 0: they always act */
    int64_t backoff_ns;                /* first pause before a reconnect; doubles up to */
    int64_t max_backoff_ns;
    /* first pauses after a failed transaction, by enum rig_error_class, that double up to */
    int64_t conflict_pause_ns, resources_pause_ns; /* 0: none */
    int64_t max_pause_ns;
    int64_t stop_grace_ns; /* how long a client may take to finish once the run ends, before it is interrupted */
};

/* The findings on which a check during the run ends the load, in the order of the choices. */
enum rig_stop_on { RIG_STOP_ON_NOTHING, RIG_STOP_ON_ANOMALY };

/* The result of a server's end that no fault accounts for, in the order of the choices. */
enum rig_server_crash_rule { RIG_SERVER_CRASH_FAILS, RIG_SERVER_CRASH_IS_REPORTED };

/* The condition on a requested level for exit status 0, in the order of the choices. */
enum rig_require { RIG_REQUIRE_NOT_REFUTED, RIG_REQUIRE_HELD };

/* Names of known bugs (run/plan/reproduction.h). */
enum { RIG_KNOWN_MOST = 8, RIG_KNOWN_BYTES = 192 };
struct rig_known_names {
    uint32_t count;
    char at[RIG_KNOWN_MOST][RIG_KNOWN_BYTES];
};
/* False when there is no place for it: there are too many, or it is too long. */
bool rig_known_names_add(struct rig_known_names *names, const char *name);

struct rig_check_section {
    uint64_t levels;           /* bits; from the list of names in `check.levels` */
    rig_anomaly_set anomalies; /* bits */
    unsigned assumptions;      /* RIG_ASSUMPTION_BIT()s, and what the workload says of a bank, as */
    struct rig_known_total total;
    struct rig_known_initial initial;
    enum rig_lattice lattice;
    int64_t budget_ns;
    int64_t max_witnesses;
    bool online;                 /* check while the run goes on */
    int64_t online_memory_bytes; /* limit of that check */
    int64_t stop_on;             /* enum rig_stop_on */
    int64_t server_crash;        /* enum rig_server_crash_rule */
    int64_t durability;          /* enum rig_promise */
    bool proof;                  /* write a proof of the verdict */
    struct rig_known_names known;
    bool known_required; /* each of them must appear */
    struct rig_minimum minimum;
};

/* One of the phases of a load; what it does not say is as in the sections `workload` and `clients`. */
struct rig_plan_phase {
    const char *name;
    struct rig_generator_options workload;
    struct rig_clients_options clients;
};

enum { RIG_PLAN_PHASES_MOST = 64 };

enum rig_record_compression { RIG_RECORD_COMPRESS_NONE, RIG_RECORD_COMPRESS_ZSTD };

struct rig_plan {
    const char *name;
    const char *path; /* as given */
    uint64_t seed;    /* given, by --seed, or fresh */
    bool seed_given;
    struct rig_generator_options workload;
    struct rig_clients_options clients;  /* with phases: as many as the phase with most has */
    int64_t prefilled_keys;              /* keys below this have rows before the load; 0: no key has */
    const struct rig_plan_phase *phases; /* one after the other */
    uint32_t phase_count;                /* 0: the load is one phase, as `workload` and `clients` say */
    const struct rig_driver *driver;
    const void *driver_options; /* of the driver's own type */
    enum rig_certificate_mode certificate;
    struct rig_text_list versions_source; /* the command that gives it in place of the driver; empty: none */
    struct rig_check_section check;
    struct rig_nemesis_plan nemesis;
    uint32_t reports;  /* bits 1 << enum rig_report_form */
    const char *store; /* where runs are kept; default "store" */
    enum rig_record_compression compress;
    int64_t time_limit_ns; /* for the whole run; 0: there is none */
    void *storage;
};

/* The number of phases, at least 1, and what they ask for. */
static inline uint32_t rig_plan_phases(const struct rig_plan *plan)
{
    return plan->phase_count > 0 ? plan->phase_count : 1;
}

static inline const struct rig_generator_options *rig_plan_workload(const struct rig_plan *plan, uint32_t phase)
{
    return plan->phase_count > 0 ? &plan->phases[phase].workload : &plan->workload;
}

static inline const struct rig_clients_options *rig_plan_clients(const struct rig_plan *plan, uint32_t phase)
{
    return plan->phase_count > 0 ? &plan->phases[phase].clients : &plan->clients;
}

enum { RIG_PLAN_PLACE_BYTES = 1024 };
/* The driver and the given servers, separated by blanks, cut after the last one that fits; rig starts the servers when
 * none are given. */
void rig_plan_place(const struct rig_plan *plan, char place[RIG_PLAN_PLACE_BYTES]);

/* A `--set section.key=value`; borrowed. */
struct rig_plan_override {
    const char *text;
};

/* `overrides` come after the file and win. `path` "-" is standard input. Frees with rig_plan_free(). */
enum rig_rc rig_plan_load(const char *path, const struct rig_plan_override *overrides, size_t override_count,
                          const uint64_t *seed, struct rig_plan **plan, struct rig_err *err);
/* A plan in memory, borrowed; `name` stands for the file in errors. */
struct rig_plan_text {
    const char *name;
    const char *text;
    size_t size;
};
enum rig_rc rig_plan_parse(const struct rig_plan_text *text, const struct rig_plan_override *overrides,
                           size_t override_count, const uint64_t *seed, struct rig_plan **plan, struct rig_err *err);
void rig_plan_free(struct rig_plan *plan);
/*
 * Reads only the section `check` of a stored plan: the plan may have masks instead of its secrets, name variables that
 * are not set here, or a driver that is not installed.
 */
enum rig_rc rig_plan_parse_check(const char *name, const char *text, size_t size, struct rig_check_section *check,
                                 struct rig_err *err);

/* The driver and the isolation level that the plan of a run names; empty where it names none. */
struct rig_plan_database_names {
    char driver[64], isolation[64];
};
enum rig_rc rig_plan_parse_database(const char *name, const char *text, size_t size,
                                    struct rig_plan_database_names *names, struct rig_err *err);

/* The plan resolved, as YAML that rig_plan_parse() reads back to the same plan; secrets are masked. `with_help`: a
 * comment a line. */
void rig_plan_write(const struct rig_plan *plan, bool with_help, struct rig_buf *yaml);
/* The same as JSON: numbers and truth values as such, values with a unit as texts, what has no value as null. */
void rig_plan_write_json(const struct rig_plan *plan, struct rig_buf *json);

/* Every key that a plan may hold, from the option tables: the reference page (RIG_PLAN_MARKDOWN), or the text of `rig
 * plan --explain`, `columns` wide. With the options of every driver in `drivers`, NULL-ended. */
enum { RIG_PLAN_MARKDOWN = 0 };
void rig_plan_write_reference(const struct rig_driver *const *drivers, unsigned columns, struct rig_buf *out);
/* Each key that `--set` takes, as `workload.type=` on a line of its own; keys of several drivers once, those of
 * elements of lists not. */
void rig_plan_write_keys(const struct rig_driver *const *drivers, struct rig_buf *out);
/* Gives the option tables of `workload`, of `clients` and of the driver's part of `database`, each with what the keys
 * begin with: "workload." */
typedef void rig_plan_table_visitor(void *context, const char *prefix, const struct rig_option *table);
void rig_plan_visit_tables(const struct rig_driver *driver, rig_plan_table_visitor *visitor, void *context);

#endif
