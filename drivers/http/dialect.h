/*
 * A dialect: the requests and answers of a database with an HTTP API, described in YAML, checked and made immutable.
 *
 * For each workload it has the steps of a transaction. A step is one request, or one for each element of a set:
 *
 *     operations   each operation of the transaction, in order
 *     keys         each key it touches, in order of first use
 *     reads        each key that it reads before it writes it
 *     writes       each key that it writes
 *
 * Before the transaction's steps rig knows nothing about the keys; a step's answer can give a key's value and version.
 * The driver then computes the effect of the transaction's own operations (transaction_state.h), so that a later step
 * can write `${value}` on condition that the version is still `${version}`. Steps before the one that commits have the
 * phase `begin` or `operation`; the phase decides what a failure means. docs/dialects.md is the manual.
 *
 * All of it is in one arena; immutable once loaded, and shared by all threads.
 */
#ifndef RIG_DRIVERS_HTTP_DIALECT_H
#define RIG_DRIVERS_HTTP_DIALECT_H

#include "base/arena.h"
#include "drivers/driver.h"
#include "drivers/http/http_client.h"
#include "drivers/http/json_path.h"

enum {
    RIG_DIALECT_PARAMETERS_MOST = 16,
    RIG_DIALECT_NAMES_MOST = 16,
    RIG_DIALECT_VARIABLES_MOST = 16,
    RIG_DIALECT_STEPS_MOST = 16,
    RIG_DIALECT_HEADERS_MOST = 16,
    RIG_DIALECT_CONDITIONS_MOST = 4,
    RIG_DIALECT_FILTERS_MOST = 4,
    RIG_DIALECT_STATUSES_MOST = 16,
    RIG_DIALECT_EXPECTED_MOST = 4,
};

/* X(name, name in dialects). ONCE is no set. */
#define RIG_DIALECT_SET_TABLE(X)                                                                                       \
    X(RIG_SET_ONCE, "once")                                                                                            \
    X(RIG_SET_OPERATIONS, "operations")                                                                                \
    X(RIG_SET_KEYS, "keys")                                                                                            \
    X(RIG_SET_READS, "reads")                                                                                          \
    X(RIG_SET_WRITES, "writes")

enum rig_dialect_set {
#define RIG_DIALECT_SET_ENUM(name, text) name,
    RIG_DIALECT_SET_TABLE(RIG_DIALECT_SET_ENUM)
#undef RIG_DIALECT_SET_ENUM
};

/* X(name, name in dialects, needs an element, its meaning) */
#define RIG_DIALECT_VALUE_TABLE(X)                                                                                     \
    X(RIG_VALUE_KEY, "key", true, "the element's key")                                                                 \
    X(RIG_VALUE_VALUE, "value", true,                                                                                  \
      "for an operation, the value that it writes; for a key, its value after the "                                    \
      "operations")                                                                                                    \
    X(RIG_VALUE_EXPECTED, "expected", true, "the value that a compare-and-set of the element's key expects")           \
    X(RIG_VALUE_VERSION, "version", true, "the version of the element's key, from an answer")                          \
    X(RIG_VALUE_INDEX, "index", true, "the element's place in its set, from 0")                                        \
    X(RIG_VALUE_CLIENT, "client", false, "the client's number, from 0")                                                \
    X(RIG_VALUE_RUN, "run", false, "the run's unique name: letters, digits and `_`")

/* X(name, name in dialects, its result). */
#define RIG_DIALECT_FILTER_TABLE(X)                                                                                    \
    X(RIG_FILTER_TEXT, "text", "a text: numbers in decimal, lists as JSON")                                            \
    X(RIG_FILTER_CSV, "csv", "a list as text, with commas between its elements")                                       \
    X(RIG_FILTER_BASE64, "base64", "the text in base64")                                                               \
    X(RIG_FILTER_BASE64URL, "base64url", "the text in base64 for URLs, without padding")                               \
    X(RIG_FILTER_URL, "url", "the text with all but letters, digits, `-`, `_`, `.` and `~` as %XX")

enum rig_dialect_filter {
#define RIG_DIALECT_FILTER_ENUM(name, text, help) name,
    RIG_DIALECT_FILTER_TABLE(RIG_DIALECT_FILTER_ENUM)
#undef RIG_DIALECT_FILTER_ENUM
};

/* X(name, name in dialects, the filter that it undoes). */
#define RIG_DIALECT_DECODE_TABLE(X)                                                                                    \
    X(RIG_DECODE_BASE64, "base64", "base64, into text")                                                                \
    X(RIG_DECODE_JSON, "json", "JSON inside a text")                                                                   \
    X(RIG_DECODE_CSV, "csv", "numbers in a text, with commas between them")                                            \
    X(RIG_DECODE_INTEGER, "integer", "a whole number in a text")

enum rig_dialect_decode {
#define RIG_DIALECT_DECODE_ENUM(name, text, help) name,
    RIG_DIALECT_DECODE_TABLE(RIG_DIALECT_DECODE_ENUM)
#undef RIG_DIALECT_DECODE_ENUM
};

/* ---- templates ---- */

enum rig_part_kind {
    RIG_PART_LITERAL,
    RIG_PART_KEY,
    RIG_PART_VALUE,
    RIG_PART_EXPECTED,
    RIG_PART_VERSION,
    RIG_PART_INDEX,
    RIG_PART_CLIENT,
    RIG_PART_RUN,
    RIG_PART_PARAMETER,
    RIG_PART_NAME,
    RIG_PART_VARIABLE,
};

/* A piece of text: a literal, or the value of `${...}`. */
struct rig_text_part {
    enum rig_part_kind kind;
    const char *literal;
    size_t literal_size;
    uint32_t index; /* of the parameter, name or variable */
    enum rig_dialect_filter filters[RIG_DIALECT_FILTERS_MOST];
    uint32_t filter_count;
};

struct rig_text_template {
    const struct rig_text_part *parts;
    size_t count;
};

enum rig_condition_kind {
    RIG_CONDITION_WRITES,    /* the transaction writes */
    RIG_CONDITION_READ_ONLY, /* it does not write */
    RIG_CONDITION_COMPARES,  /* it is a compare-and-set, or acquires or releases a lock */
    RIG_CONDITION_ACQUIRES,  /* it acquires a lock */
    RIG_CONDITION_WORKS,     /* it works under the token of a lock */
    RIG_CONDITION_TAKES,     /* it takes a value off a queue or a stack */
    RIG_CONDITION_APPENDS,   /* it appends to a string */
    RIG_CONDITION_READ,      /* the element is an operation that reads */
    RIG_CONDITION_WRITE,     /* the element is an operation that writes */
    RIG_CONDITION_EXISTS,    /* the element's key exists, according to an answer */
    RIG_CONDITION_PARAMETER, /* a parameter has the value */
};

struct rig_condition {
    enum rig_condition_kind kind;
    bool negated;
    uint32_t parameter;
    const char *value;
};

/* All must hold. */
struct rig_conditions {
    struct rig_condition at[RIG_DIALECT_CONDITIONS_MOST];
    uint32_t count;
};

enum rig_template_kind {
    RIG_TEMPLATE_PLAIN, /* JSON as it is: true, null, a number */
    RIG_TEMPLATE_TEXT,  /* a JSON string made of parts */
    RIG_TEMPLATE_TYPED, /* one `${...}` alone, which keeps the value's type */
    RIG_TEMPLATE_OBJECT,
    RIG_TEMPLATE_ARRAY,
    RIG_TEMPLATE_EACH, /* in an array: the item for each element of a set */
    RIG_TEMPLATE_IF,   /* one of two, or nothing */
};

struct rig_template {
    enum rig_template_kind kind;
    const char *name;                /* of a member */
    const struct rig_template *next; /* beside this one in its object or array */
    const char *plain;
    struct rig_text_template text;
    enum rig_dialect_set set;
    struct rig_conditions when;
    const struct rig_template *first;     /* of an object or array, the item, or the branch where the condition holds */
    const struct rig_template *otherwise; /* or NULL */
};

/* ---- answers ---- */

/* A value in an answer: at a path of its body, or in a header. */
struct rig_answer_value {
    bool given;
    const char *header;        /* NULL: in the body */
    struct rig_json_path path; /* from the element's item */
    enum rig_dialect_decode decode[RIG_DIALECT_FILTERS_MOST];
    uint32_t decode_count;
    const char *absent; /* the default for a missing value; NULL: none */
};

/* The conditions on items. */
enum rig_expect_of { RIG_EXPECT_OF_ALL, RIG_EXPECT_OF_READS, RIG_EXPECT_OF_WRITES, RIG_EXPECT_COUNT };

struct rig_expectation {
    struct rig_json_path paths[RIG_DIALECT_EXPECTED_MOST];
    uint32_t count;
};

struct rig_answer_rule {
    enum rig_dialect_set set;   /* of the answer's elements; ONCE: the step's own element, if it has one */
    struct rig_json_path items; /* the list with an item for each, when `set` is no ONCE */
    struct rig_expectation expected[RIG_EXPECT_COUNT]; /* by kind; other than ALL only for items of operations */
    struct rig_json_path exists; /* present exactly when the key exists; count 0 and text NULL: as the value's path */
    struct rig_answer_value value;
    struct rig_answer_value version;
    struct rig_answer_value order;
    struct rig_answer_value member;
    struct {
        uint32_t variable;
        struct rig_answer_value value;
    } variables[RIG_DIALECT_VARIABLES_MOST];
    uint32_t variable_count;
    long missing; /* an answer with this status means that the key does not exist; 0: none does */
};

/* ---- outcomes ---- */

enum rig_ruling { RIG_RULING_OK, RIG_RULING_FAIL, RIG_RULING_INFO };

enum rig_body_expects {
    RIG_BODY_PRESENT,
    RIG_BODY_ABSENT,
    RIG_BODY_TEXT,
    RIG_BODY_INTEGER,
    RIG_BODY_TRUE,
    RIG_BODY_FALSE,
    RIG_BODY_NULL,
};

struct rig_body_test {
    struct rig_json_path path;
    enum rig_body_expects expects;
    const char *text;
    int64_t integer;
};

struct rig_outcome_rule {
    enum rig_http_end end;
    bool any_phase;
    bool at_commit; /* else before it */
    struct {
        long from, to;
    } statuses[RIG_DIALECT_STATUSES_MOST]; /* none: any */
    uint32_t status_count;
    struct rig_body_test tests[RIG_DIALECT_EXPECTED_MOST];
    uint32_t test_count;
    const char *contains; /* NULL: any */
    enum rig_ruling ruling;
    bool session_lost;
    const char *code; /* NULL: "http-<status>" or the transport's name */
    const char *reason;
    const struct rig_outcome_rule *next;
};

/* ---- steps ---- */

struct rig_dialect_header {
    const char *name;
    struct rig_text_template value;
};

struct rig_dialect_step {
    const char *name;
    enum rig_phase phase;
    struct rig_conditions when;
    enum rig_dialect_set set;
    const char *method;
    struct rig_text_template path;
    struct rig_dialect_header headers[RIG_DIALECT_HEADERS_MOST];
    uint32_t header_count;
    const struct rig_template *body; /* NULL: none, or text */
    bool has_text;
    struct rig_text_template text;
    struct rig_answer_rule answer;
    bool answer_is_json; /* something is searched in it */
    const struct rig_outcome_rule *outcomes;
};

struct rig_dialect_steps {
    struct rig_dialect_step *at;
    uint32_t count;
};

struct rig_dialect_workload {
    bool given;
    int64_t most_keys; /* 0: any number */
    struct rig_dialect_steps steps;
    struct rig_dialect_steps abort; /* after a failure before the commit */
};

struct rig_dialect_parameter {
    const char *name;
    const char *default_text;
    const char *const *choices; /* NULL: any text */
    const char *help;
};

struct rig_dialect {
    struct rig_arena arena;
    const char *file;
    const char *name;
    const char *summary;
    struct rig_dialect_parameter parameters[RIG_DIALECT_PARAMETERS_MOST];
    uint32_t parameter_count;
    const char *values[RIG_DIALECT_PARAMETERS_MOST]; /* of the parameters, in this run */
    const char *run_name;                            /* borrowed; `rig_run` in a dry run */
    struct {
        const char *name;
        struct rig_text_template text;
    } names[RIG_DIALECT_NAMES_MOST];
    uint32_t name_count;
    const char *variables[RIG_DIALECT_VARIABLES_MOST];
    uint32_t variable_count;
    struct rig_dialect_header headers[RIG_DIALECT_HEADERS_MOST];
    uint32_t header_count;
    struct rig_dialect_steps health;   /* asked when a session opens; none: a connection is enough */
    struct rig_dialect_steps setup;    /* before the load */
    struct rig_dialect_steps teardown; /* after it */
    struct rig_dialect_steps describe; /* its answer sets the variable `server-version` */
    struct rig_dialect_steps role;     /* its answer sets the variables `self` and `leader` */
    const struct rig_outcome_rule *outcomes;
    struct rig_dialect_workload workloads[RIG_WORKLOAD_COUNT];
};

/*
 * Loads the dialect called `name`: a path when it holds a `/` or ends in `.yaml`, else `<name>.yaml` in a folder of
 * RIG_DIALECT_PATH, in `dialects` beside the binary, or in the installation. `values`: "parameter=value" each.
 * RIG_E_PLAN with file, line and column. Free it with rig_dialect_free().
 */
enum rig_rc rig_dialect_load(const char *name, const struct rig_text_list *values, struct rig_dialect **dialect,
                             struct rig_err *err);
/* The same from memory; `file` is the name in errors. */
enum rig_rc rig_dialect_parse(const char *file, const char *text, size_t size, const struct rig_text_list *values,
                              struct rig_dialect **dialect, struct rig_err *err);
void rig_dialect_free(struct rig_dialect *dialect);

#endif
