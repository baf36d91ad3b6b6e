/* Lines of certificates in textual histories: malformed ones are refused, with their place. */
#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <string.h>

#include "history/source/load.h"
#include "history/text/certificate_text.h"

/* Takes the lines of `text`, up to the first that is refused. */
static enum rig_certificate_taken take(const char *text, struct rig_certificate *certificate)
{
    enum rig_certificate_taken taken = RIG_CERTIFICATE_TAKEN;
    rig_certificate_init(certificate);
    while (*text != '\0' && taken == RIG_CERTIFICATE_TAKEN) {
        const size_t length = strcspn(text, "\n");
        taken = rig_certificate_text_take(text, length, certificate);
        text += length + (text[length] == '\n');
    }
    return taken;
}

static void lines_are_written_as_they_were_read(void **state)
{
    (void)state;
    static const char lines[] = "commit 12 700 1 0:0:1,2 3:2:-5 4:-\n"
                                "commit 13 701 1\n"
                                "fork 1 14 2\n"
                                "lost 14 702 1 0:0:1,2,3\n"
                                "lost 16 703 1 3:-\n"
                                "view 12 728 single 0:727:727:730:727,728 1:0:= 2:728:-\n"
                                "view 13 0 single,standby 0:0:-\n"
                                "view 15 0 - 0:0:-\n"
                                "end complete,last-only,forks 2 3 1 2 pgoutput|";
    struct rig_certificate certificate;
    assert_int_equal(take(lines, &certificate), RIG_CERTIFICATE_TAKEN);
    assert_true(certificate.complete && certificate.last_only && strcmp(certificate.source, "pgoutput") == 0);
    assert_int_equal(rig_certificate_text_count(&certificate), 9);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    for (size_t line = 0; line < 9; line++)
        rig_certificate_text_write(&rig_syntax_json, &certificate, line, (uint32_t)line, &out);
    for (const char *at = lines; *at != '\0';) {
        char line[128];
        const size_t length = strcspn(at, "\n");
        (void)snprintf(line, sizeof line, "\"%.*s\"", (int)length, at);
        assert_non_null(strstr(rig_buf_text(&out), line));
        at += length + (at[length] == '\n');
    }
    rig_buf_done(&out);
    rig_certificate_done(&certificate);
}

static const char *const malformed[] = {
    "", /* no word */
    "commit",
    "commit ",
    "commits 1 2 3",
    "commit x 700 1",
    "commit -1 700 1",
    "commit 12",
    "commit 12 700",
    "commit 12 700 ",
    "commit 12  700 1",
    "commit 99999999999999999999 700 1",
    "commit 12 700 4294967296",
    "commit 12 700 1 ",
    "commit 12 700 1 0",
    "commit 12 700 1 0:",
    "commit 12 700 1 0:0",
    "commit 12 700 1 0:x:1",
    "commit 12 700 1 0:0:1,",
    "commit 12 700 1 0:0:,1",
    "commit 12 700 1 0:0:1;2",
    "commit 12 700 1 0:0:9223372036854775808",
    "commit 12 700 1 9223372036854775808:0:1",
    "commit 12 700 1 0:4294967296:1",
    "commit 12 700 1 0:--",
    "commit 12 700 1\ncommit 12 701 1",
    "commit 12 700 1\ncommit 11 701 2",
    "fork 1 14",
    "fork 1 14 1",
    "fork 2 14 1",
    "fork 1 14 4294967296",
    "fork 1 14 2 ",
    "fork 1 14 2\nfork 1 15 3",
    "fork 1 14 2\nfork 2 13 3",
    "fork 1 14 2\ncommit 15 700 2",
    "lost 14 700 1",
    "fork 1 14 2\nlost 13 700 1",
    "fork 1 14 2\nlost 15 700 2",
    "fork 1 14 2\nlost 15 700 1\nlost 15 701 1",
    "fork 1 14 2\nlost 15 700 1 0:0:x",
    "fork 1 14 2\nlost 15 700 1\nfork 2 20 3",
    "view 1",
    "view 1 2",
    "view 1 2 x",
    "view 1 2 single,x",
    "view 1 2 -\nview 1 3 -",
    "view 2 2 -\nview 1 3 -",
    "view 1 2 - 0",
    "view 1 2 - 0:1",
    "view 1 2 - 0:1:",
    "view 1 2 - 0:1:=",
    "view 1 2 - 0:1:5",
    "view 1 2 - 0:1:5:4:",
    "view 1 2 - 0:1:5:9:4",
    "view 1 2 - 0:1:5:9:9",
    "view 1 2 - 0:1:5:9:6,6",
    "view 1 2 - 0:1:5:9:6,",
    "view 1 2 - 4294967295:1:-",
    "view 1 2 - 1:1:- 0:1:-",
    "view 1 2 -\ncommit 12 700 1",
    "view 1 2 -\nfork 1 14 2",
    "end",
    "end - 0 0",
    "end - 0 0 pgoutput",
    "end x 0 0 pgoutput|",
    "end complete,complete 0 0 pgoutput|",
    "end last-only,complete 0 0 pgoutput|",
    "end -complete 0 0 pgoutput|",
    "end - 1 0 pgoutput|",
    "end - 0 1 pgoutput|",
    "end forks 0 0 pgoutput|",
    "end forks 0 0 1 0 pgoutput|",
    "fork 1 14 2\nend - 0 0 pgoutput|",
    "fork 1 14 2\nend forks 0 0 1 1 pgoutput|",
    "end - 0 0 a-name-of-a-source-that-is-longer-than-the-room-that-there-is-for-it-in-a-certificate|",
    "end - 0 0 pgoutput|\nend - 0 0 pgoutput|",
    "end - 0 0 pgoutput|\ncommit 1 2 3",
};

static void malformed_lines_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        struct rig_certificate certificate;
        const char *text = malformed[i][0] == '\0' ? "\n" : malformed[i];
        if (take(text, &certificate) != RIG_CERTIFICATE_DAMAGED)
            fail_msg("`%s` was taken", malformed[i]);
        rig_certificate_done(&certificate);
    }
}

/* The same lines in a whole history: the error has the file, the line of the certificate and its beginning. */
static void histories_with_malformed_lines_are_refused(void **state)
{
    (void)state;
    static const char *const heads[] = {
        "{\"index\":0,\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[[\"append\",0,1]]}\n"
        "{\"index\":1,\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"append\",0,1]]}\n",
        "{:index 0, :type :invoke, :process 0, :f :txn, :value [[:append 0 1]]}\n"
        "{:index 1, :type :ok, :process 0, :f :txn, :value [[:append 0 1]]}\n"};
    static const enum rig_form forms[] = {RIG_FORM_JSON_LINES, RIG_FORM_EDN};
    for (size_t i = 0; i < 2 * (sizeof malformed / sizeof malformed[0]); i++) {
        const unsigned form = i % 2;
        struct rig_buf text;
        struct rig_err err = {0};
        struct rig_history *history = NULL;
        unsigned index = 2;
        rig_buf_init(&text, 0);
        rig_buf_add_text(&text, heads[form]);
        for (const char *at = malformed[i / 2]; index == 2 || *at != '\0'; index++) {
            const size_t length = strcspn(at, "\n");
            if (form == 0)
                rig_buf_printf(&text,
                               "{\"index\":%u,\"type\":\"info\",\"process\":\"rig-certificate\",\"f\":\"certificate\","
                               "\"value\":\"%.*s\"}\n",
                               index, (int)length, at);
            else
                rig_buf_printf(
                    &text, "{:index %u, :type :info, :process :rig-certificate, :f :certificate, :value \"%.*s\"}\n",
                    index, (int)length, at);
            at += length + (at[length] == '\n');
        }
        const struct rig_load_options options = {.form = forms[form]};
        const enum rig_rc rc = rig_history_parse("given", text.data, text.size, &options, &history, &err);
        if (rc != RIG_E_INPUT || strncmp(err.text, "given: line ", 12) != 0)
            fail_msg("`%s`: %d: %s", malformed[i / 2], (int)rc, err.text);
        rig_buf_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_written_as_they_were_read),
        cmocka_unit_test(malformed_lines_are_refused),
        cmocka_unit_test(histories_with_malformed_lines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
