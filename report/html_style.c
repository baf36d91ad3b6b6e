#include "report/html_parts.h"

static const char *const rules[] = {
    ":root{--bg:#ffffff;--ink:#1f2328;--dim:#59636e;--card:#f6f8fa;--line:#d1d9e0;--bad:#cf222e;--badbg:#ffebe9;",
    "--good:#1a7f37;--goodbg:#dafbe1;--open:#7d5a00;--openbg:#fff4d1;color-scheme:light dark}",
    "@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--ink:#e6edf3;--dim:#9198a1;--card:#161b22;--line:#3d444d;",
    "--bad:#ff7b72;--badbg:#3c1618;--good:#56d364;--goodbg:#12361f;--open:#e3b341;--openbg:#372b08}}",
    "*{box-sizing:border-box}",
    "body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,",
    "'DejaVu Sans',sans-serif;overflow-wrap:anywhere}",
    "main{max-width:1240px;margin:0 auto;padding:20px 20px 60px}",
    "h2{font-size:20px;margin:38px 0 12px;padding-bottom:6px;border-bottom:1px solid var(--line)}",
    "h3{font-size:17px;margin:0 0 2px}h4{font-size:14px;margin:18px 0 6px}",
    "a{color:inherit}p{margin:6px 0}.dim{color:var(--dim)}.sign{vertical-align:-3px}",
    ".banner{border-left:8px solid;border-radius:8px;padding:18px 22px}",
    ".banner h1{font-size:23px;line-height:1.3;margin:0 0 6px}.banner .verdict{font-weight:700;margin:0}",
    ".banner.bad{background:var(--badbg);border-color:var(--bad)}.banner.bad .verdict{color:var(--bad)}",
    ".banner.good{background:var(--goodbg);border-color:var(--good)}.banner.good .verdict{color:var(--good)}",
    ".banner.open{background:var(--openbg);border-color:var(--open)}.banner.open .verdict{color:var(--open)}",
    ".warn{background:var(--openbg);border-left:8px solid var(--open);border-radius:8px;padding:10px 22px;",
    "margin:10px 0}",
    ".kicker{color:var(--dim);font-size:13px;margin:0 0 10px}",
    ".scroll{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--bg)}",
    ".scroll svg{display:block;margin:0 auto}",
    ".key{display:flex;flex-wrap:wrap;gap:4px 22px;color:var(--dim);font-size:13px;margin:8px 0}",
    ".card{border:1px solid var(--line);border-radius:10px;padding:16px 18px;margin:14px 0;background:var(--card)}",
    ".count{float:right;font-weight:700;color:var(--bad);margin-left:12px}",
    "pre{background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:12px 14px;margin:10px 0;",
    "overflow-x:auto;font:12.5px/1.55 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}",
    "pre.wrap{white-space:pre-wrap}",
    "table{border-collapse:collapse;width:100%;font-size:14px}th,td{text-align:left;padding:6px 12px 6px 0;",
    "border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--dim);font-weight:600}",
    "td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}",
    "th,td.level,td.code{white-space:nowrap}td.code{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans "
    "Mono',monospace}",
    "tr.held td.fate{color:var(--good)}tr.refuted td.fate{color:var(--bad)}tr.not-refuted td.fate{color:var(--open)}",
    "td.fate{white-space:nowrap;font-weight:600}.asked{border:1px solid;border-radius:9px;font-size:11px;",
    "padding:0 7px;margin-left:8px;color:var(--dim)}",
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 22px;margin:0}dt{color:var(--dim)}dd{margin:0}",
    "summary{cursor:pointer;font-weight:600;padding:6px 0}ol{padding-left:22px;margin:8px 0}li{margin:4px 0}",
    "footer{color:var(--dim);font-size:13px;margin-top:40px}",
    "@media(max-width:640px){main{padding:10px 12px 40px}.banner{padding:14px 14px}.banner h1{font-size:19px}",
    "dl{grid-template-columns:1fr}dt{margin-top:8px}.card{padding:12px}.wide{overflow-x:auto}",
    "td.level{white-space:normal}.reasons td:nth-child(3){min-width:220px}}",
    ".lattice{width:100%;min-width:930px;height:auto}.lattice .node{stroke-width:1.3}",
    ".lattice .held .node{fill:var(--goodbg);stroke:var(--good)}",
    ".lattice .refuted .node{fill:var(--badbg);stroke:var(--bad)}",
    ".lattice .not-refuted .node{fill:var(--openbg);stroke:var(--open);stroke-dasharray:4 3}",
    ".lattice .asked .node{stroke-width:3.2}.lattice text{fill:var(--ink);font-size:11.5px}",
    ".lattice .asked text{font-weight:700}.lattice .link{stroke:var(--line);stroke-width:1.5;fill:none}",
    ".faults{width:100%;min-width:700px;height:auto;font-size:11.5px}.faults text{fill:var(--dim)}",
    ".faults polyline{fill:none;stroke-width:1.6}.faults .ok{stroke:var(--good)}.faults .not{stroke:var(--bad)}",
    ".faults .slow{stroke:var(--ink)}.faults .shade{fill:var(--open);opacity:.16}",
    ".faults line{stroke:var(--line)}.faults .under{fill:var(--open)}.faults .bad{fill:var(--bad)}",
    ".faults .idle{fill:none;stroke:var(--open);stroke-dasharray:3 2}",
    ".mark{fill:none;stroke-width:2.4;stroke-linecap:round;stroke-linejoin:round}",
    ".mark.held{stroke:var(--good)}.mark.refuted{stroke:var(--bad)}.mark.not-refuted{stroke:var(--open)}",
    "@media print{.scroll{overflow:visible}}",
};

void rig_html_style(struct rig_buf *out)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        rig_buf_add_text(out, rules[i]);
        rig_buf_add_char(out, '\n');
    }
}
