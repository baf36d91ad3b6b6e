/* Bytes by key, in pages of neighbours: compared with plain arrays, through random changes. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/rng.h"
#include "checker/judge/stream/key_pages.h"

enum { NAMES = 200, MOST_LENGTH = 300, CHANGES = 20000 };

struct model {
    bool held[NAMES];
    size_t length[NAMES];
    uint8_t bytes[NAMES][MOST_LENGTH];
};

/* Some are neighbours, some are far away. */
static uint64_t name_of(unsigned i)
{
    return i % 4 == 0 ? UINT64_MAX - i * UINT64_C(1000003) : i;
}

static void change(struct rig_key_pages *pages, struct model *model, struct rig_rng *rng)
{
    unsigned i = (unsigned)rig_rng_below(rng, NAMES);
    if (model->held[i]) {
        rig_key_pages_remove(pages, name_of(i));
    } else {
        model->length[i] = rig_rng_below(rng, 2) == 0 ? rig_rng_below(rng, 4) : rig_rng_below(rng, MOST_LENGTH);
        for (size_t k = 0; k < model->length[i]; k++)
            model->bytes[i][k] = (uint8_t)rig_rng_below(rng, 256);
        assert_true(rig_key_pages_put(pages, name_of(i), model->bytes[i], model->length[i], i));
    }
    model->held[i] = !model->held[i];
}

static void expect_same(const struct rig_key_pages *pages, const struct model *model)
{
    for (unsigned i = 0; i < NAMES; i++) {
        size_t length = 0;
        const uint8_t *bytes = rig_key_pages_get(pages, name_of(i), &length);
        assert_int_equal(bytes != NULL, model->held[i]);
        if (bytes == NULL)
            continue;
        assert_int_equal(length, model->length[i]);
        assert_memory_equal(bytes, model->bytes[i], length);
    }
}

static void stored_bytes_are_found(void **state)
{
    (void)state;
    static struct model model;
    struct rig_key_pages pages = {0};
    struct rig_rng rng;
    rig_rng_init(&rng, 7, 0);
    for (unsigned i = 0; i < CHANGES; i++) {
        change(&pages, &model, &rng);
        if (i % 500 == 0) {
            expect_same(&pages, &model);
            rig_key_pages_fit(&pages);
            expect_same(&pages, &model);
        }
    }
    expect_same(&pages, &model);
    rig_key_pages_done(&pages);
    assert_int_equal(rig_key_pages_bytes(&pages), 0);
}

static void pages_go_with_all_their_names(void **state)
{
    (void)state;
    struct rig_key_pages pages = {0};
    size_t length;
    for (uint64_t name = 0; name < 64; name++)
        assert_true(rig_key_pages_put(&pages, name, (const uint8_t *)"abc", 3, (uint32_t)name));
    assert_int_equal(pages.pages.count, 64 / RIG_PAGE_KEYS);
    assert_int_equal(pages.pages.at[0].last, RIG_PAGE_KEYS - 1);
    rig_key_pages_remove_page(&pages, 0);
    assert_null(rig_key_pages_get(&pages, 3, &length));
    for (uint64_t name = RIG_PAGE_KEYS; name < 64; name++)
        assert_non_null(rig_key_pages_get(&pages, name, &length));
    rig_key_pages_done(&pages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_bytes_are_found),
        cmocka_unit_test(pages_go_with_all_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
