#include "report/plain_page.h"

#include "report/markup.h"

static const char *const rules[] = {
    ":root{--bg:#fff;--ink:#1f2328;--dim:#59636e;--card:#f6f8fa;--line:#d1d9e0;--bad:#a40e26;--badbg:#ffd8d3;",
    "--good:#116329;--goodbg:#dafbe1;--open:#6b4d00;--openbg:#fff4d1;--allowed:#0a3069;--allowedbg:#ddf0ff;",
    "--broken:#fff;--brokenbg:#6e1a7a;color-scheme:light dark}",
    "@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--ink:#e6edf3;--dim:#9198a1;--card:#161b22;--line:#3d444d;",
    "--bad:#ffa198;--badbg:#4b1113;--good:#7ee787;--goodbg:#0f2f1a;--open:#e3b341;--openbg:#372b08;",
    "--allowed:#a5d6ff;--allowedbg:#0c2d4d;--broken:#fff;--brokenbg:#7a2b87}}",
    "*{box-sizing:border-box}",
    "body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,",
    "'DejaVu Sans',sans-serif}",
    "main{max-width:1500px;margin:0 auto;padding:20px 20px 60px}",
    "h1{font-size:23px;line-height:1.3;margin:0 0 6px}",
    "h2{font-size:19px;margin:34px 0 10px;padding-bottom:6px;border-bottom:1px solid var(--line)}",
    "p{margin:6px 0}a{color:inherit}.dim{color:var(--dim)}",
    ".banner{border-left:8px solid;border-radius:8px;padding:18px 22px}",
    ".good{background:var(--goodbg);color:var(--good)}.bad{background:var(--badbg);color:var(--bad)}",
    ".open{background:var(--openbg);color:var(--open)}.broken{background:var(--brokenbg);color:var(--broken)}",
    ".allowed{background:var(--allowedbg);color:var(--allowed)}.none{background:var(--card);color:var(--dim)}",
    ".banner .dim{color:inherit}",
    ".warn{background:var(--openbg);color:var(--open);border-left:8px solid;border-radius:8px;padding:10px 22px}",
    ".key{display:flex;flex-wrap:wrap;gap:6px;font-size:13px;margin:12px 0}",
    ".key span{border-radius:5px;padding:1px 9px}",
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px}",
    "th{text-align:left;font-weight:600}th small{display:block;font-weight:400;color:var(--dim)}",
    ".grid{border-spacing:3px;border-collapse:separate}.grid th{padding:5px 9px}.grid td{padding:0;border-radius:5px}",
    ".grid td a{display:block;padding:6px 9px;text-decoration:none;min-width:52px}",
    ".grid td a:hover,.grid td a:focus{outline:2px solid}.grid thead th{vertical-align:bottom}",
    ".runs{width:100%}.runs th,.runs td{text-align:left;padding:6px 12px 6px 8px;border-bottom:1px solid var(--line);",
    "vertical-align:top}.runs thead th{color:var(--dim)}.runs tr:target{outline:3px solid var(--open)}",
    ".pair{table-layout:fixed}.pair th,.pair td{overflow-wrap:anywhere}.pair tbody th{color:var(--dim)}",
    "td.n,th.n{text-align:right!important;white-space:nowrap;font-variant-numeric:tabular-nums}",
    "pre{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 12px;overflow-x:auto;",
    "font:12.5px/1.5 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;color:var(--ink)}",
    "summary{cursor:pointer}svg text{fill:var(--dim);font-size:11px}",
    "footer{color:var(--dim);font-size:13px;margin-top:40px}",
    "@media(max-width:640px){main{padding:10px 12px 40px}.banner{padding:14px}h1{font-size:19px}",
    ".grid{font-size:12.5px}.grid th,.grid td a{padding:4px}",
    ".grid tbody th{position:sticky;left:0;background:var(--bg);min-width:72px;max-width:104px}}",
    "@media print{.wide{overflow:visible}*{print-color-adjust:exact}}",
};

static void begin(struct rig_buf *out, const char *title, const char *script)
{
    rig_buf_printf(out,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                   "'unsafe-inline'%s\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
                   script == NULL ? "" : "; script-src 'self'; connect-src 'self'; img-src data:");
    rig_markup_escape(out, title);
    rig_buf_add_text(out, " - rig</title>\n");
    if (script != NULL)
        rig_buf_printf(out,
                       "<link rel=\"icon\" href=\"data:,\">\n<script src=\"%s\" defer></script>\n"
                       "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>\n",
                       script);
    rig_buf_add_text(out, "<style>\n");
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        rig_buf_add_text(out, rules[i]);
        rig_buf_add_char(out, '\n');
    }
    rig_buf_add_text(out, "</style>\n</head>\n<body>\n<main>\n");
}

void rig_plain_page_begin(struct rig_buf *out, const char *title)
{
    begin(out, title, NULL);
}

void rig_plain_page_begin_live(struct rig_buf *out, const char *title, const char *script)
{
    begin(out, title, script);
}

void rig_plain_page_end(struct rig_buf *out)
{
    rig_buf_add_text(out, "</main>\n</body>\n</html>\n");
}
