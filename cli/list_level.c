#include "cli/list_level.h"

#include <string.h>

#include "checker/decide/rule.h"

enum { LABEL_WIDTH = 12, LINE_WIDTH = 80 };

const char *rig_cli_level_order(enum rig_level level)
{
    static const char *const orders[RIG_ALONG_COUNT] = {
        [RIG_ALONG_PLAIN] = "", [RIG_ALONG_PROCESS] = "process", [RIG_ALONG_REALTIME] = "realtime"};
    return orders[rig_level_rule(level)->along];
}

uint64_t rig_cli_level_implied_by(enum rig_level level)
{
    uint64_t above = 0;
    for (unsigned at = 0; at < RIG_LEVEL_COUNT; at++)
        above |= (rig_level_info((enum rig_level)at)->implies & RIG_LEVEL_BIT(level)) != 0 ? RIG_LEVEL_BIT(at) : 0;
    return above;
}

/* A label and a list of names, in lines of LINE_WIDTH. */
struct names {
    struct rig_buf *out;
    const char *label;
    size_t count, column;
};

static void add_name(struct names *names, const char *name)
{
    const bool fits = names->column + strlen(name) + 2 <= LINE_WIDTH;
    if (names->count > 0)
        rig_buf_add_text(names->out, fits ? ", " : ",\n");
    if (names->count == 0 || !fits) {
        rig_buf_printf(names->out, "  %-*s ", LABEL_WIDTH, names->count == 0 ? names->label : "");
        names->column = LABEL_WIDTH + 3;
    }
    rig_buf_add_text(names->out, name);
    names->column += strlen(name) + 2;
    names->count++;
}

static void end_names(struct names *names)
{
    if (names->count > 0)
        rig_buf_add_char(names->out, '\n');
}

/* Strongest first. */
static void add_levels(struct rig_buf *out, const char *label, uint64_t levels)
{
    struct names names = {.out = out, .label = label};
    for (int level = RIG_LEVEL_COUNT - 1; level >= 0; level--) {
        if ((levels & RIG_LEVEL_BIT(level)) != 0)
            add_name(&names, rig_level_info((enum rig_level)level)->name);
    }
    end_names(&names);
}

static void add_aliases(struct rig_buf *out, enum rig_level of)
{
    struct names names = {.out = out, .label = "also"};
    const char *alias = NULL;
    enum rig_level level;
    for (uint32_t i = 0; rig_level_alias(i, &alias, &level); i++) {
        if (level == of)
            add_name(&names, alias);
    }
    end_names(&names);
}

static void add_forbidden(struct rig_buf *out, enum rig_level level)
{
    static const char *const orders[RIG_ALONG_COUNT] = {[RIG_ALONG_PLAIN] = "",
                                                        [RIG_ALONG_PROCESS] = "; edges include process order",
                                                        [RIG_ALONG_REALTIME] = "; edges include real-time order"};
    const struct rig_rule *rule = rig_level_rule(level);
    rig_buf_printf(out, "  %-*s cycles%s%s\n", LABEL_WIDTH, "forbids", rig_rule_cycles(rule), orders[rule->along]);
    struct names names = {.out = out, .label = "anomalies"};
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((rig_level_info(level)->forbids & RIG_ANOMALY_BIT(anomaly)) != 0)
            add_name(&names, rig_anomaly_info((enum rig_anomaly)anomaly)->name);
    }
    end_names(&names);
}

void rig_cli_list_level(enum rig_level level, struct rig_buf *out)
{
    const struct rig_level_info *info = rig_level_info(level);
    const uint64_t implied_by = rig_cli_level_implied_by(level), itself = RIG_LEVEL_BIT(level);
    rig_buf_printf(out, "%s: %s\n", info->name, info->definition);
    rig_buf_printf(out, "  %-*s %s\n", LABEL_WIDTH, "source", info->source);
    add_aliases(out, level);
    add_forbidden(out, level);
    add_levels(out, "implies", info->implies);
    add_levels(out, "  indirectly", info->below & ~info->implies & ~itself);
    add_levels(out, "implied by", implied_by);
    add_levels(out, "  indirectly", info->above & ~implied_by & ~itself);
}
