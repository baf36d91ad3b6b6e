#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/password.h"
#include "base/secret.h"
#include "tests/unit/forget_secrets.h"

static int forget(void **state)
{
    (void)state;
    forget_secrets();
    return 0;
}

/* -- passwords ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *text, *masked;
} passwords[] = {
    {"host=db1 dbname=test", "host=db1 dbname=test"},
    {"host=db1 password=hunter2 user=joe", "host=db1 password=*** user=joe"},
    {"password=hunter2", "password=***"},
    {"PASSWORD = hunter2 x=1", "PASSWORD = *** x=1"},
    {"password='it\\'s mine' x=1", "password=*** x=1"},
    {"password=\"two words\" x=1", "password=*** x=1"},
    {"password='never closed", "password=***"},
    {"sslpassword=hunter2 sslmode=require", "sslpassword=*** sslmode=require"},
    {"password=one password=two", "password=*** password=***"},
    {"password=", "password="},
    {"password is a word", "password is a word"},
    {"passfile=/etc/pass sslmode=disable", "passfile=/etc/pass sslmode=disable"},
    {"token=abcdef", "token=***"},
    {"Server=db;Pwd=hunter2;Port=1", "Server=db;Pwd=***"},
    {"postgres://joe:hunter2@db1:5432/test", "postgres://joe:***@db1:5432/test"},
    {"postgres://joe@db1:5432/test", "postgres://joe@db1:5432/test"},
    {"postgres://db1:5432/test", "postgres://db1:5432/test"},
    {"postgres://db1:5432,db2:5433/test?x=a@b", "postgres://db1:5432,db2:5433/test?x=a@b"},
    {"postgres://joe:p@ss@db1/test", "postgres://joe:***@db1/test"},
    {"postgres://joe:pa/ss@db1/test", "postgres://joe:***@db1/test"},
    {"postgres://joe:@db1/test", "postgres://joe:@db1/test"},
    {"postgres://db1/test?user=joe&password=hunter2", "postgres://db1/test?user=joe&password=***"},
    {"http://a:b@c http://d:e@f", "http://a:***@c http://d:***@f"},
    {"a://u:pw@h password=x y", "a://u:***@h password=*** y"},
    {"{\"user\":\"joe\",\"password\": \"hunter2\",\"n\":1}", "{\"user\":\"joe\",\"password\": ***,\"n\":1}"},
    {"Authorization: Bearer abcdef", "Authorization: Bearer ***"},
    {"curl -H 'Authorization: Basic Ym9iOnB3' x", "curl -H 'Authorization: Basic ***' x"},
    {"AWS_SECRET_ACCESS_KEY=abc x", "AWS_SECRET_ACCESS_KEY=*** x"},
    {"compass=north tokens=5 author: joe", "compass=north tokens=5 author: joe"},
    {"token://host", "token://host"},
    {"", ""},
    {"://", "://"},
    {"=", "="},
};

static void passwords_are_masked(void **state)
{
    (void)state;
    struct rig_buf out;
    rig_buf_init(&out, 0);
    for (size_t i = 0; i < sizeof passwords / sizeof passwords[0]; i++) {
        rig_buf_clear(&out);
        rig_password_mask(NULL, passwords[i].text, &out);
        assert_string_equal(rig_buf_text(&out), passwords[i].masked);
        /* Masking twice changes nothing: the second pass finds the mask in the password's place. */
        char *once = strdup(rig_buf_text(&out));
        assert_non_null(once);
        rig_buf_clear(&out);
        rig_password_mask(NULL, once, &out);
        assert_string_equal(rig_buf_text(&out), once);
        free(once);
    }
    rig_buf_done(&out);
}

/* Other programs show a password decoded, not as it was written. */
static void passwords_are_known_in_every_notation(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown, *redacted;
    } cases[] = {
        {"password=hunter2", "wrong: hunter2", "wrong: ***"},
        {"password='it\\'s mine'", "wrong: it's mine", "wrong: ***"},
        {"postgres://joe:hunter%32%21@db1", "wrong: hunter2!", "wrong: ***"},
        {"postgres://joe:hunter%32%21@db1", "in postgres://joe:hunter%32%21@db1", "in postgres://joe:***@db1"},
        {"postgres://db1/x?password=hunter2&user=joe", "wrong: hunter2", "wrong: ***"},
        {"Server=db;Pwd=hunter2;Port=1", "wrong: hunter2", "wrong: ***"},
        {"password=one-word and password=another", "one-word another", "*** ***"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        forget_secrets();
        assert_true(rig_password_register(NULL, cases[i].text));
        char shown[128];
        (void)snprintf(shown, sizeof shown, "%s", cases[i].shown);
        rig_secret_redact(shown, sizeof shown);
        assert_string_equal(shown, cases[i].redacted);
    }
}

static void too_many_passwords_are_reported(void **state)
{
    (void)state;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (int i = 0; i < 300; i++)
        rig_buf_printf(&text, "password=secret-%03d ", i);
    assert_false(rig_password_register(NULL, rig_buf_text(&text)));
    rig_buf_done(&text);
}

static void keys_of_secrets(void **state)
{
    (void)state;
    assert_true(rig_password_is_key("API_KEY"));
    assert_true(rig_password_is_key("DB_PW"));
    assert_false(rig_password_is_key("COMPASS"));
    assert_false(rig_password_is_key("KEYSPACE"));
    assert_true(rig_password_is_key("password"));
    assert_true(rig_password_is_key("ssl-Password"));
    assert_true(rig_password_is_key("api-token"));
    assert_false(rig_password_is_key("passfile"));
    assert_false(rig_password_is_key("count"));
    assert_false(rig_password_is_key(""));
}

/* -- headers and commands ------------------------------------------------------------------------------------------ */

static void headers_are_secret_but_for_some(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"Authorization: Bearer abc", "Authorization: Bearer ***"},
        {"authorization:abc", "authorization:***"},
        {"Proxy-Authorization: Digest a=\"b\", c=d", "Proxy-Authorization: Digest ***"},
        {"X-Api-Key: abc", "X-Api-Key: ***"},
        {"X-Whatever: abc def", "X-Whatever: ***"},
        {"Cookie: a=b; c=d", "Cookie: a=***; c=***"},
        {"Cookie: bare", "Cookie: ***"},
        {"Content-Type: application/json", "Content-Type: application/json"},
        {"User-Agent: rig", "User-Agent: rig"},
        {"X-Empty:", "X-Empty:"},
        {"no header", "no header"},
    };
    const struct rig_password_context header = {.place = RIG_PASSWORD_HEADER};
    struct rig_buf out;
    rig_buf_init(&out, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig_buf_clear(&out);
        rig_password_mask(&header, cases[i][0], &out);
        assert_string_equal(rig_buf_text(&out), cases[i][1]);
    }
    rig_buf_done(&out);
}

/* Arguments are separated by `|`, as shown ones are. */
static void arguments_of_commands(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"curl|-u|bob:pw|http://h/", "curl|-u|bob:***|http://h/"},
        {"curl|-ubob:pw", "curl|-ubob:***"},
        {"curl|--user=bob:pw", "curl|--user=bob:***"},
        {"curl|--user|bob", "curl|--user|bob"},
        {"curl|-x|h|--proxy-user|bob:pw", "curl|-x|h|--proxy-user|bob:***"},
        {"curl|-H|X-Api-Key: abc|-H|Accept: b", "curl|-H|X-Api-Key: ***|-H|Accept: b"},
        {"curl|-HX-Api-Key: abc", "curl|-HX-Api-Key: ***"},
        {"curl|-b|a=b; c=d", "curl|-b|a=***"},
        {"curl|-b|cookies.txt", "curl|-b|cookies.txt"},
        {"tool|--api-token|abc|--verbose", "tool|--api-token|***|--verbose"},
        {"tool|--password|--verbose", "tool|--password|--verbose"},
        {"etcdctl|--user|root:pw|put|k", "etcdctl|--user|root:***|put|k"},
        {"psql|-U|joe|-p|5432", "psql|-U|joe|-p|5432"},
        {"/usr/bin/mysql|-phunter2|-u|root", "/usr/bin/mysql|-p***|-u|root"},
        {"sshpass|-p|hunter2|ssh|-p|2222", "sshpass|-p|***|ssh|-p|***"},
        {"redis-cli|-a|hunter2", "redis-cli|-a|***"},
        {"redis-cli|-p|{port:2}|-a|{x", "redis-cli|-p|{port:2}|-a|***"},
        {"env|PGPASSWORD=hunter2|psql", "env|PGPASSWORD=***|psql"},
        {"sh|-c|curl -su 'bob:p w' -H \"X-K: v\" http://a:b@c; echo",
         "sh|-c|curl -su 'bob:***' -H \"X-K: ***\" http://a:***@c; echo"},
        {"sh|-c|cd /x && mysql -phunter2", "sh|-c|cd /x && mysql -p***"},
    };
    struct rig_buf out;
    rig_buf_init(&out, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *arguments[16];
        size_t count = 0;
        char *copy = strdup(cases[i][0]), *rest = copy;
        assert_non_null(copy);
        rig_buf_clear(&out);
        for (char *one = strsep(&rest, "|"); one != NULL; one = strsep(&rest, "|")) {
            const struct rig_password_context argument = {RIG_PASSWORD_ARGUMENT, arguments, count};
            if (count > 0)
                rig_buf_add_char(&out, '|');
            rig_password_mask(&argument, one, &out);
            arguments[count++] = one;
        }
        assert_string_equal(rig_buf_text(&out), cases[i][1]);
        free(copy);
    }
    rig_buf_done(&out);
}

/* A server may show a header's value decoded, and a pair as Basic authentication encodes it. */
static void pairs_are_hidden_whole(void **state)
{
    (void)state;
    const struct rig_password_context header = {.place = RIG_PASSWORD_HEADER};
    const char *const before[] = {"curl", "-u"};
    const struct rig_password_context argument = {RIG_PASSWORD_ARGUMENT, before, 2};
    assert_true(rig_password_register(&header, "Authorization: Basic YW5uOnN3b3JkZmlzaA=="));
    assert_true(rig_password_register(&argument, "bob:pw"));
    char text[] = "user ann password swordfish; bob:pw, Ym9iOnB3";
    rig_secret_redact(text, sizeof text);
    assert_string_equal(text, "user ann password ***; ***, ***");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passwords_are_masked),
        cmocka_unit_test_teardown(passwords_are_known_in_every_notation, forget),
        cmocka_unit_test_teardown(too_many_passwords_are_reported, forget),
        cmocka_unit_test(keys_of_secrets),
        cmocka_unit_test(headers_are_secret_but_for_some),
        cmocka_unit_test(arguments_of_commands),
        cmocka_unit_test_teardown(pairs_are_hidden_whole, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
