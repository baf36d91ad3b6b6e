/*
 * The timeline on the page: its controls, and at the end of the page its data and its script. The content security
 * policy of the page allows this one script, by its hash.
 */
#include <inttypes.h>

#include "base/base64.h"
#include "base/sha256.h"
#include "report/html_parts.h"
#include "report/load_timeline.h"
#include "report/tell.h"
#include "report/timeline_script.h"

static const char *const rules[] = {
    "#tl{margin-top:10px}.tl-bar{display:flex;flex-wrap:wrap;gap:8px 14px;align-items:end;margin:10px 0}",
    ".tl-bar label{display:grid;font-size:12px;color:var(--dim);gap:2px}.tl-bar [hidden]{display:none}",
    ".tl-bar select,.tl-bar input,.tl-bar button{font:inherit;font-size:14px;color:var(--ink);background:var(--bg);",
    "border:1px solid var(--line);border-radius:6px;padding:4px 8px;min-height:32px;max-width:180px}",
    ".tl-bar input{width:110px}.tl-bar button{min-width:36px;cursor:pointer}",
    ".tl-bar button:hover{background:var(--card)}",
    ".tl-zoom{display:flex;gap:4px;margin-left:auto}",
    "#tl canvas{display:block;width:100%;border-radius:6px}#tl-canvas{cursor:crosshair;touch-action:pan-y}",
    "#tl-map{margin-bottom:6px;cursor:ew-resize;touch-action:pan-y}",
    ".tl-state{min-height:1.5em;font-variant-numeric:tabular-nums}#tl-txn{padding:10px 16px}#tl-txn ol{margin:4px 0}",
    ".tl-key i{display:inline-block;width:22px;height:11px;border-radius:2px;margin-right:6px}",
    ".tl-key .w{background:var(--good)}.tl-key .r{background:var(--link)}",
    ".tl-key .f{background:var(--bad);height:6px}.tl-key .u{border:1.5px solid var(--open);background:var(--openbg)}",
    ".tl-key .s{background:var(--open);opacity:.35}#tl-list table{font-size:13px;min-width:620px}",
    "kbd{border:1px solid var(--line);border-radius:4px;padding:0 5px;",
    "font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}",
    ":root{--n3:#8250df;--n4:#bf3989;--n5:#1b7c83}@media(prefers-color-scheme:dark){:root{--n3:#bc8cff;--n4:#f778ba;",
    "--n5:#56d4dd}}",
    "@media(max-width:640px){.tl-bar{gap:8px}.tl-bar label{flex:1 1 40%}.tl-bar select,.tl-bar input{width:100%;",
    "max-width:none}}@media print{.tl-bar,.tl-help,#tl-list,#tl-map{display:none}}",
};

void rig_html_timeline_style(struct rig_buf *out)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        rig_tell(out, "%s\n", rules[i]);
}

void rig_html_timeline_policy(struct rig_buf *out)
{
    unsigned char digest[RIG_SHA256_BYTES];
    rig_sha256_of(rig_timeline_script, rig_timeline_script_size, digest);
    rig_buf_add_text(out, "script-src 'sha256-");
    rig_base64_add((const char *)digest, sizeof digest, false, out);
    rig_buf_add_char(out, '\'');
}

/* Which transactions are in the page, and what stands for the others. */
static void add_drawn(struct rig_buf *out, const struct rig_course *course, const struct rig_load_timeline_size *size)
{
    static const char *const words[RIG_COURSE_WHYS] = {
        [RIG_COURSE_OF_WITNESS] = "of witnesses",
        [RIG_COURSE_NEAR_WITNESS] = "around the first witness of each anomaly",
        [RIG_COURSE_NEAR_FAULT] = "around the first begin and end of each kind of fault",
        [RIG_COURSE_UNACKNOWLEDGED] = "of the others that were not acknowledged",
        [RIG_COURSE_SAMPLE] = "of the rest, a sample",
    };
    rig_buf_add_text(out, "<p class=\"dim\" id=\"tl-drawn\">");
    if (size->embedded == course->txn_count) {
        rig_course_say_drawn(out, course);
        rig_buf_add_text(out, "</p>\n");
        return;
    }
    rig_tell(out, "%n of %n transactions are in this page: ", size->embedded, course->txn_count);
    bool any = false;
    for (unsigned why = 0; why < RIG_COURSE_WHYS; why++) {
        if (size->of[why] == 0)
            continue;
        rig_tell(out, "%s%n %s", any ? "; " : "", size->of[why], words[why]);
        any = true;
    }
    rig_tell(out,
             "%sThe others are left out, so that the page stays below 3 MB: the shades behind the rows and the curve "
             "on top count all of them. <code>history.rig</code> has each one.</p>\n",
             any ? ". " : "none. ");
}

static const char controls[] =
    "<noscript><p class=\"warn\">The timeline needs scripts, which are switched off here. The rest of the page does "
    "not.</p></noscript>\n<div id=\"tl\" hidden>\n<div class=\"tl-bar\" role=\"group\" aria-label=\"Timeline\">\n"
    "<label>Witness<select id=\"tl-witness\"><option value=\"\">none</option></select></label>\n"
    "<label>Key<input id=\"tl-key\" list=\"tl-keys\" autocomplete=\"off\" spellcheck=\"false\"/></label>"
    "<datalist id=\"tl-keys\"></datalist>\n"
    "<label>Client<select id=\"tl-client\"><option value=\"\">all</option></select></label>\n"
    "<label>Outcome<select id=\"tl-outcome\"><option value=\"\">all</option></select></label>\n"
    "<label>Node<select id=\"tl-node\"><option value=\"\">all</option></select></label>\n"
    "<label>Colour<select id=\"tl-colour\"><option value=\"outcome\">by outcome</option><option value=\"node\">by node"
    "</option></select></label>\n"
    "<div class=\"tl-zoom\"><button type=\"button\" id=\"tl-in\" aria-label=\"zoom in\">+</button>"
    "<button type=\"button\" id=\"tl-out\" aria-label=\"zoom out\">&#8722;</button>"
    "<button type=\"button\" id=\"tl-all\">Whole</button></div>\n</div>\n"
    "<canvas id=\"tl-map\" aria-hidden=\"true\"></canvas>\n"
    "<canvas id=\"tl-canvas\" tabindex=\"0\" role=\"application\" aria-label=\"Timeline of the transactions by "
    "client\" "
    "aria-describedby=\"tl-help\"></canvas>\n"
    "<p class=\"key tl-key\" id=\"tl-legend\"><span><i class=\"w\"></i>writing</span><span><i "
    "class=\"r\"></i>read-only</span>"
    "<span><i class=\"f\"></i>failed</span><span><i class=\"u\"></i>unknown fate</span>"
    "<span><i class=\"s\"></i>fault</span></p>\n"
    "<p class=\"tl-state\" id=\"tl-state\" role=\"status\"></p>\n"
    "<div class=\"card\" id=\"tl-txn\" aria-live=\"polite\" hidden></div>\n"
    "<p class=\"dim tl-help\" id=\"tl-help\">Drag to move, pinch or turn the wheel to zoom, click a transaction to "
    "read "
    "it. Keys: <kbd>+</kbd> <kbd>-</kbd> zoom, <kbd>0</kbd> whole, <kbd>&#8592;</kbd> <kbd>&#8594;</kbd> move, "
    "<kbd>n</kbd> <kbd>p</kbd> next and previous transaction, with Shift of the same client, <kbd>&#8593;</kbd> "
    "<kbd>&#8595;</kbd> client, <kbd>Enter</kbd> zoom to it, <kbd>Esc</kbd> none.</p>\n"
    "<details id=\"tl-list\"><summary>The transactions in view as a table</summary>\n<div class=\"wide\">"
    "<table id=\"tl-table\"><thead><tr><th>transaction</th><th>client</th><th>start</th><th>took</th><th>outcome</th>"
    "<th>node</th><th>operations</th></tr></thead><tbody></tbody></table></div>\n<p class=\"dim\" id=\"tl-table-rest\">"
    "</p></details>\n</div>\n";

void rig_html_timeline(struct rig_buf *out, const struct rig_course *course, const struct rig_load_timeline_size *size)
{
    struct rig_buf preview;
    rig_buf_init(&preview, 0);
    rig_tell(&preview, "%n transaction%p of %d client%p", course->txn_count, course->txn_count, size->client_count,
             size->client_count);
    if (size->witness_count > 0)
        rig_buf_printf(&preview, ", with %" PRIu32 " witness%s to zoom to", size->witness_count,
                       size->witness_count == 1 ? "" : "es");
    rig_html_fold(out, "timeline", "Timeline", rig_buf_text(&preview));
    rig_buf_done(&preview);
    add_drawn(out, course, size);
    rig_buf_add_text(out, controls);
    rig_html_fold_end(out);
}

void rig_html_timeline_script(struct rig_buf *out, const struct rig_buf *data)
{
    rig_buf_add_text(out, "<script type=\"application/json\" id=\"tl-data\">");
    rig_buf_add(out, rig_buf_text(data), data->size);
    rig_buf_add_text(out, "</script>\n<script>");
    rig_buf_add(out, rig_timeline_script, rig_timeline_script_size);
    rig_buf_add_text(out, "</script>\n");
}

size_t rig_html_timeline_bytes(void)
{
    return rig_timeline_script_size + sizeof controls + 2048;
}

void rig_html_timeline_link(struct rig_buf *out, enum rig_anomaly anomaly, uint32_t number, bool is_by_certificate)
{
    rig_buf_add_text(out, "<p hidden><a href=\"#timeline\" data-witness=\"");
    rig_load_timeline_witness(out, anomaly, number, is_by_certificate);
    rig_buf_add_text(out, "\">Show it in the timeline</a></p>\n");
}
