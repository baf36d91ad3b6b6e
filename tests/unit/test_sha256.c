#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

static void assert_digest(const void *bytes, size_t count, const char *wanted)
{
    unsigned char digest[RIG_SHA256_BYTES];
    char text[RIG_SHA256_HEX];
    rig_sha256_of(bytes, count, digest);
    rig_sha256_hex(digest, text);
    assert_string_equal(text, wanted);
}

/* The examples of FIPS 180-4 and its secure hash standard validation system. */
static void published_examples(void **state)
{
    (void)state;
    assert_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *many = malloc(1000000);
    assert_non_null(many);
    memset(many, 'a', 1000000);
    assert_digest(many, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(many);
}

/* The sum does not depend on the pieces in which the bytes come. */
static void pieces_are_one_sum(void **state)
{
    (void)state;
    unsigned char bytes[300], whole[RIG_SHA256_BYTES], parts[RIG_SHA256_BYTES];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        struct rig_sha256 sum;
        rig_sha256_of(bytes, size, whole);
        rig_sha256_init(&sum);
        for (size_t at = 0; at < size; at += 13)
            rig_sha256_add(&sum, bytes + at, size - at < 13 ? size - at : 13);
        rig_sha256_end(&sum, parts);
        assert_memory_equal(whole, parts, sizeof whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_examples),
        cmocka_unit_test(pieces_are_one_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
