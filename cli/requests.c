#include "cli/requests.h"

#include <string.h>

#include "base/nearest.h"
#include "base/option_parse.h"
#include "checker/model/delivery.h"
#include "checker/model/certified.h"
#include "checker/model/assumption.h"
#include "cli/cli.h"
#include "run/plan/plan.h"
#include "history/types/object_kinds.h"
#include "history/types/object_specification.h"

static void complain_unknown(const char *option, const char *what, const char *name, const char *nearest)
{
    struct rig_buf quoted;
    rig_buf_init(&quoted, 0);
    rig_option_quote(name, &quoted);
    if (rig_discrepancy_is_name(name))
        rig_cli_complain("--%s: %s " RIG_DISCREPANCY_NOT_ASKED, option, name);
    else if (nearest != NULL)
        rig_cli_complain("--%s: unknown %s %s; did you mean `%s`?", option, what, rig_buf_text(&quoted), nearest);
    else
        rig_cli_complain("--%s: unknown %s %s; `rig list %s` shows them", option, what, rig_buf_text(&quoted),
                         strcmp(what, "level") == 0 ? "levels" : "anomalies");
    rig_buf_done(&quoted);
}

bool rig_cli_read_level(const struct rig_arguments *args, const char *option, enum rig_level *level)
{
    const char *name = rig_arguments_value(args, option);
    if (name == NULL || rig_level_find(name, level))
        return true;
    complain_unknown(option, "level", name, rig_level_nearest(name));
    return false;
}

static bool read_levels(const struct rig_arguments *args, struct rig_check_options *options)
{
    const char *name;
    for (size_t i = 0; (name = rig_arguments_value_at(args, "level", i)) != NULL; i++) {
        enum rig_level level;
        rig_anomaly_set anomalies;
        const char *proper;
        if (rig_level_find(name, &level)) {
            options->levels |= RIG_LEVEL_BIT(level);
            continue;
        }
        if (rig_delivery_promise_find(name, &anomalies, &proper)) {
            options->anomalies |= anomalies;
            continue;
        }
        complain_unknown("level", "level", name, rig_level_nearest(name));
        return false;
    }
    return true;
}

static bool read_anomalies(const struct rig_arguments *args, struct rig_check_options *options)
{
    const char *name;
    for (size_t i = 0; (name = rig_arguments_value_at(args, "anomaly", i)) != NULL; i++) {
        const char *proper;
        rig_anomaly_set anomalies;
        if (!rig_anomaly_find_all(name, &anomalies, &proper)) {
            complain_unknown("anomaly", "anomaly", name, rig_anomaly_nearest(name));
            return false;
        }
        options->anomalies |= anomalies;
    }
    return true;
}

bool rig_cli_read_max_memory(const struct rig_arguments *args, size_t *limit_bytes)
{
    static const struct rig_option size = {
        .name = "max-memory", .type = RIG_OPTION_SIZE, .least = 1 << 20, .most = (double)(INT64_C(1) << 50)};
    const char *text = rig_arguments_value(args, "max-memory");
    if (text == NULL)
        return true;
    int64_t bytes = 0;
    struct rig_err err = {0};
    if (rig_option_parse(&size, text, &bytes, &err) != RIG_OK) {
        rig_cli_complain("--max-memory: %s", err.text);
        return false;
    }
    *limit_bytes = (size_t)bytes;
    return true;
}

bool rig_cli_read_requests(const struct rig_arguments *args, struct rig_check_options *options)
{
    if (!read_levels(args, options) || !read_anomalies(args, options) ||
        !rig_cli_read_max_memory(args, &options->limit_bytes))
        return false;
    uint64_t witnesses = options->max_witnesses;
    if (!rig_arguments_number(args, "max-witnesses", 1, RIG_WITNESSES_MOST, &witnesses))
        return false;
    options->max_witnesses = (uint32_t)witnesses;
    return true;
}

const char *const rig_cli_lattice_choices[] = {"exact", "reference", NULL};

bool rig_cli_read_decision(const struct rig_arguments *args, struct rig_check_options *options)
{
    static const struct rig_option budget = {.name = "budget", .type = RIG_OPTION_DURATION, .least = 1e6, .most = 1e15};
    const char *lattice = rig_arguments_value(args, "lattice"), *text = rig_arguments_value(args, "budget");
    struct rig_err err = {0};
    if (lattice != NULL)
        (void)rig_lattice_find(lattice, &options->lattice);
    if (text == NULL || rig_option_parse(&budget, text, &options->budget_ns, &err) == RIG_OK)
        return true;
    rig_cli_complain("--budget: %s", err.text);
    return false;
}

void rig_cli_read_durability(const struct rig_arguments *args, struct rig_check_options *options)
{
    const char *durability = rig_arguments_value(args, "durability");
    for (unsigned i = 0; durability != NULL && rig_promise_choices[i] != NULL; i++)
        options->durability =
            strcmp(durability, rig_promise_choices[i]) == 0 ? (enum rig_promise)i : options->durability;
}

const char *const rig_cli_require_choices[] = {"not-refuted", "held", NULL};

/* One `KEY=VALUE` of --minimum. */
static bool read_least(const char *text, struct rig_minimum *minimum)
{
    static const struct rig_option count = {.name = "acknowledged", .type = RIG_OPTION_INT, .least = 0, .most = 1e15};
    static const struct rig_option share = {.name = "share", .type = RIG_OPTION_SHARE, .least = 0, .most = 1};
    const size_t length = strcspn(text, "=");
    const char *value = text + length + (text[length] == '=');
    struct rig_err err = {0};
    enum rig_rc rc = RIG_OK;
    int64_t transactions = 0;
    if (length == strlen("acknowledged") && strncmp(text, "acknowledged", length) == 0) {
        rc = rig_option_parse(&count, value, &transactions, &err);
        minimum->acknowledged = (uint64_t)transactions;
    } else if (length == strlen("load") && strncmp(text, "load", length) == 0) {
        rc = rig_option_parse(&share, value, &minimum->load, &err);
    } else if (length == strlen("answering") && strncmp(text, "answering", length) == 0) {
        rc = rig_option_parse(&share, value, &minimum->answering, &err);
    } else {
        rig_cli_complain("--minimum: expected acknowledged=N, load=SHARE or answering=SHARE, not `%s`", text);
        return false;
    }
    if (rc != RIG_OK)
        rig_cli_complain("--minimum: %.*s: %s", (int)length, text, err.text);
    return rc == RIG_OK;
}

bool rig_cli_read_minimum(const struct rig_arguments *args, struct rig_minimum *minimum)
{
    const char *text;
    for (size_t i = 0; (text = rig_arguments_value_at(args, "minimum", i)) != NULL; i++) {
        if (!read_least(text, minimum))
            return false;
    }
    const char *require = rig_arguments_value(args, "require");
    if (require != NULL)
        minimum->held = strcmp(require, "held") == 0;
    return true;
}

bool rig_cli_read_report(const struct rig_arguments *args, size_t i, struct rig_cli_report_request *request)
{
    static const char *const forms[] = {
#define REPORT_NAME(id, name, file, between) name,
        RIG_REPORT_FORM_TABLE(REPORT_NAME)
#undef REPORT_NAME
            NULL};
    const char *text = rig_arguments_value_at(args, "report", i);
    *request = (struct rig_cli_report_request){.path = NULL};
    if (text == NULL)
        return true;
    size_t length = strcspn(text, "=");
    if (text[length] == '\0' || text[length + 1] == '\0') {
        rig_cli_complain("--report: expected FORM=FILE (`html=report.html`), not `%s`", text);
        return false;
    }
    for (size_t form = 0; forms[form] != NULL; form++) {
        if (strlen(forms[form]) == length && strncmp(forms[form], text, length) == 0) {
            *request = (struct rig_cli_report_request){(enum rig_report_form)form, text + length + 1};
            return true;
        }
    }
    rig_cli_complain("--report: unknown form `%.*s`; expected " RIG_CLI_REPORT_FORMS, (int)length, text);
    return false;
}

bool rig_cli_reports_are_known(const struct rig_arguments *args)
{
    struct rig_cli_report_request request;
    size_t i = 0;
    do {
        if (!rig_cli_read_report(args, i++, &request))
            return false;
    } while (request.path != NULL);
    return true;
}

bool rig_cli_add_request(const char *name, struct rig_check_options *options)
{
    enum rig_level level;
    rig_anomaly_set anomalies;
    const char *proper;
    if (rig_level_find(name, &level))
        options->levels |= RIG_LEVEL_BIT(level);
    else if (rig_anomaly_find_all(name, &anomalies, &proper))
        options->anomalies |= anomalies;
    else
        return false;
    return true;
}

void rig_cli_read_workload(const struct rig_arguments *args, struct rig_load_options *options)
{
    const char *workload = rig_arguments_value(args, "workload");
    for (size_t i = 0; workload != NULL && rig_data_type_names[i] != NULL; i++) {
        if (strcmp(rig_data_type_names[i], workload) == 0) {
            options->workload_given = true;
            options->workload = (enum rig_workload)i;
        }
    }
}

bool rig_cli_read_model(const struct rig_arguments *args, struct rig_load_options *options)
{
    const char *path = rig_arguments_value(args, "model");
    struct rig_err err = {0};
    if (path == NULL)
        return true;
    if (options->workload_given && !rig_workload_has_specification(options->workload)) {
        rig_cli_complain("--model is for the workload model, not for %s", rig_data_type_names[options->workload]);
        return false;
    }
    if (rig_specification_open(path, &options->specification, &err) != RIG_OK) {
        rig_cli_complain("%s", err.text);
        return false;
    }
    options->workload_given = true;
    options->workload = (enum rig_workload)RIG_WORKLOAD_OF_SPECIFICATIONS;
    return true;
}

bool rig_cli_read_lock_rules(const struct rig_arguments *args, struct rig_load_options *options)
{
    enum { MOST = 1000000 };
    static const struct rig_option lease = {.name = "lease", .type = RIG_OPTION_DURATION, .least = 1e6, .most = 1e15};
    const char *text = rig_arguments_value(args, "lease");
    struct rig_err err = {0};
    struct rig_lock_rules *lock = &options->lock;
    uint64_t permits = 0, reentrant = 0;
    if (!rig_arguments_number(args, "permits", 1, MOST, &permits) ||
        !rig_arguments_number(args, "reentrant", 1, MOST, &reentrant))
        return false;
    if (text != NULL && rig_option_parse(&lease, text, &lock->lease_ns, &err) != RIG_OK) {
        rig_cli_complain("--lease: %s", err.text);
        return false;
    }
    const bool any = permits > 0 || reentrant > 0 || lock->lease_ns > 0;
    if (any && (!options->workload_given || !rig_object_has_owners(options->workload))) {
        rig_cli_complain("--permits, --reentrant and --lease are for locks with owners: add --workload lock");
        return false;
    }
    if ((permits > 0) + (reentrant > 0) + (lock->lease_ns > 0) > 1) {
        rig_cli_complain("--permits, --reentrant and --lease are for different kinds of locks: give one of them");
        return false;
    }
    lock->limit = reentrant > 0 ? -(int64_t)reentrant : lock->lease_ns > 0 ? 1 : (int64_t)permits;
    return true;
}

/* Refuses what is no assumption. */
static bool read_assumption(const char *name, size_t length, unsigned *assumptions)
{
#define ASSUMPTION_NAME(id, name, meaning) name,
    static const char *const known[] = {RIG_ASSUMPTION_TABLE(ASSUMPTION_NAME) RIG_ORDER_NAME, NULL};
#undef ASSUMPTION_NAME
    char text[64];
    if (length >= sizeof text)
        length = sizeof text - 1;
    memcpy(text, name, length);
    text[length] = '\0';
    for (unsigned i = 0; known[i] != NULL; i++) {
        if (strcmp(known[i], text) == 0) {
            *assumptions |= i < RIG_ASSUMPTION_COUNT ? RIG_ASSUMPTION_BIT(i) : RIG_ASSUMES_ORDER;
            return true;
        }
    }
    const char *near = rig_nearest_of(text, known);
    if (near != NULL)
        rig_cli_complain("--assume: unknown assumption `%s`; did you mean `%s`?", text, near);
    else
        rig_cli_complain(
            "--assume: unknown assumption `%s`; expected wfr-keys, sequential-keys, linearizable-keys or order", text);
    return false;
}

static bool read_initial(const struct rig_arguments *args, struct rig_check_options *options)
{
    const char *text = rig_arguments_value(args, "initial");
    struct rig_err err = {0};
    if (text == NULL)
        return true;
    if (rig_initial_parse(text, &options->initial, &options->assumptions, &err) == RIG_OK)
        return true;
    rig_cli_complain("--initial: %s", err.text);
    return false;
}

enum rig_rc rig_cli_check_initial(const struct rig_arguments *args, enum rig_workload workload, struct rig_err *err)
{
    if (!rig_arguments_has(args, "initial") || rig_workload_may_begin(workload))
        return RIG_OK;
    return rig_fail(
        err, RIG_E_USAGE,
        "--initial is for registers (rw-register, cas-register, long-fork, multi-key-acid, dirty-reads); this "
        "history is %s",
        rig_data_types[workload].name);
}

bool rig_cli_read_assume(const struct rig_arguments *args, struct rig_check_options *options)
{
    unsigned *assumptions = &options->assumptions;
    const char *list;
    if (!read_initial(args, options))
        return false;
    if (rig_arguments_has(args, "prefilled"))
        *assumptions |= RIG_ASSUMES_PREFILLED;
    for (size_t i = 0; (list = rig_arguments_value_at(args, "assume", i)) != NULL; i++) {
        for (const char *at = list;; at++) {
            size_t length = strcspn(at, ",");
            if (!read_assumption(at, length, assumptions))
                return false;
            at += length;
            if (*at == '\0')
                break;
        }
    }
    return true;
}

void rig_cli_take_load(const char *meta, bool has_all_rows, struct rig_check_options *options)
{
    struct rig_check_section check = {0};
    options->assumptions |= has_all_rows ? RIG_ASSUMES_PREFILLED : 0;
    if (meta == NULL || rig_plan_parse_check("plan.yaml", meta, strlen(meta), &check, NULL) != RIG_OK)
        return;
    options->assumptions |= check.assumptions & (RIG_ASSUMES_NEGATIVE_BALANCES | RIG_ASSUMES_PREFILLED);
    if (!options->total.known)
        options->total = check.total;
    if (!options->initial.known)
        options->initial = check.initial;
}
