#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <string.h>

#include "base/secret.h"
#include "tests/unit/forget_secrets.h"

static void assert_redacted(const char *before, const char *after)
{
    char text[256];
    (void)snprintf(text, sizeof text, "%s", before);
    rig_secret_redact(text, sizeof text);
    assert_string_equal(text, after);
}

static int forget(void **state)
{
    (void)state;
    forget_secrets();
    return 0;
}

static void every_occurrence_is_masked(void **state)
{
    (void)state;
    rig_secret_register("hunter2");
    assert_redacted("hunter2", "***");
    assert_redacted("password=hunter2 again hunter2hunter2.", "password=*** again ******.");
    assert_redacted("hunter", "hunter");
    assert_redacted("", "");
}

static void short_texts_are_not_secrets(void **state)
{
    (void)state;
    rig_secret_register(NULL);
    rig_secret_register("");
    rig_secret_register("abc");
    assert_redacted("abcabc", "abcabc");
    rig_secret_register("abcd");
    assert_redacted("abcabcd", "abc***");
}

/* In any order of registration, a part of a secret must not leave the rest of it readable. */
static void secret_inside_another(void **state)
{
    (void)state;
    rig_secret_register("pass");
    rig_secret_register("passphrase");
    rig_secret_register("hras");
    assert_redacted("passphrase pass", "*** ***");
}

/* Programs echo a header, a password or a connection string in the notation of their output. */
static void encodings_are_masked(void **state)
{
    (void)state;
    rig_secret_register("it's \"50%\" \xC3\xA4/b&c");
    rig_secret_register("Bearer tok+en/42");
    static const char *const cases[][2] = {
        {"it's \"50%\" \xC3\xA4/b&c", "***"},
        {"x=it%27s%20%2250%25%22%20%c3%A4%2Fb%26c&y", "x=***&y"},
        {"x=it%27s+%2250%25%22+%C3%A4%2Fb%26c&y", "x=***&y"},
        {"{\"p\":\"it's \\\"50%\\\" \\u00e4/b\\u0026c\"}", "{\"p\":\"***\"}"},
        {"{\"p\":\"it's \\\"50%\\\" \\u00E4\\/b&c\"}", "{\"p\":\"***\"}"},
        {"PASSWORD 'it''s \"50%\" \xC3\xA4/b&c'", "PASSWORD '***'"},
        {"<p>it&apos;s &quot;50%&quot; &#228;/b&amp;c</p>", "<p>***</p>"},
        {"<p>it&#39;s &#x22;50%&#34; &#xe4;/b&amp;c</p>", "<p>***</p>"},
        {"69742773202235302522 20", "69742773202235302522 20"},
        {"\\x6974277320223530252220C3A42f622663", "\\x***"},
        {"6974277320223530252220c3a42f622663 and", "*** and"},
        {"QmVhcmVyIHRvaytlbi80Mg==", "***=="},
        {"QmVhcmVyIHRvaytlbi80Mg", "***"},
        {"QmVhcmVyIHRvaytlbi80Mg%3D%3D", "***%3D%3D"},
        /* Within an encoded text: behind one, two and three other bytes, with bytes following. */
        {"YUJlYXJlciB0b2srZW4vNDJ6", "Y***6"},
        {"YWJCZWFyZXIgdG9rK2VuLzQyenp6", "YW***enp6"},
        {"YWFhQmVhcmVyIHRvaytlbi80Mno=", "YWFh***o="},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_redacted(cases[i][0], cases[i][1]);
}

/* Both alphabets of base64; user and password as Basic authentication sends them. */
static void alphabets_of_base64(void **state)
{
    (void)state;
    rig_secret_register("?\?>>~~");
    assert_redacted("a Pz8+Pn5+ b Pz8-Pn5- c", "a *** b *** c");
    rig_secret_register("bob:pw");
    assert_redacted("Authorization: Basic Ym9iOnB3", "Authorization: Basic ***");
}

/* No character of the remaining base64 holds a bit of the secret. */
static void nothing_of_base64_is_left(void **state)
{
    (void)state;
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char left[2][64];
    for (size_t before = 0; before < 3; before++) {
        for (int which = 0; which < 2; which++) {
            static const char *const secrets[] = {"hunter2", "\xFFz/0&q~"};
            char plain[32] = "", coded[64];
            forget_secrets();
            rig_secret_register(secrets[which]);
            size_t length = (size_t)snprintf(plain, sizeof plain, "%.*s%szz", (int)before, "aaa", secrets[which]);
            size_t size = 0;
            for (size_t at = 0; at < length; at += 3) {
                unsigned group = 0;
                for (size_t i = 0; i < 3; i++)
                    group = group << 8 | (at + i < length ? (unsigned char)plain[at + i] : 0);
                for (int shift = 18; shift >= 0; shift -= 6)
                    coded[size++] = alphabet[group >> shift & 63];
            }
            coded[size] = '\0';
            rig_secret_redact(coded, sizeof coded);
            (void)snprintf(left[which], sizeof left[which], "%s", coded);
        }
        assert_string_equal(left[0], left[1]);
    }
}

static void a_cut_leaves_no_half(void **state)
{
    (void)state;
    char text[160];
    memset(text, '.', sizeof text);
    memcpy(text + sizeof text - 8, "hunter2", 8);
    rig_secret_register("hunter2-and-more");
    rig_secret_redact(text, sizeof text);
    assert_string_equal(text + sizeof text - 11, "...***");
    /* A text that ends before its buffer does keeps its end. */
    assert_redacted("hunter2", "hunter2");
}

static void registering_twice_takes_one_place(void **state)
{
    (void)state;
    char name[32];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < RIG_SECRET_MAX; i++) {
            (void)snprintf(name, sizeof name, "secret-%02d", i);
            rig_secret_register(name);
        }
    }
    assert_redacted("secret-00, secret-63", "***, ***");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_occurrence_is_masked, forget),
        cmocka_unit_test_teardown(short_texts_are_not_secrets, forget),
        cmocka_unit_test_teardown(secret_inside_another, forget),
        cmocka_unit_test_teardown(encodings_are_masked, forget),
        cmocka_unit_test_teardown(alphabets_of_base64, forget),
        cmocka_unit_test_teardown(nothing_of_base64_is_left, forget),
        cmocka_unit_test_teardown(a_cut_leaves_no_half, forget),
        cmocka_unit_test_teardown(registering_twice_takes_one_place, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
