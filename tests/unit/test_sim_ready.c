#include "tests/unit/cmocka_first.h"

#include "base/rng.h"
#include "drivers/sim/sim_choice.h"

/* Against a plain array of flags. */
static void ranks_are_those_of_the_sessions(void **state)
{
    (void)state;
    enum { MOST = 5000 };
    static bool in[MOST];
    static const uint32_t counts[] = {1, 20, 64, 65, 1024, 1025, MOST};
    const uint64_t seed = 9;
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 0);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct rig_sim_ready ready;
        assert_true(rig_sim_ready_init(&ready, counts[c]));
        for (uint32_t i = 0; i < MOST; i++)
            in[i] = false;
        for (uint32_t round = 0; round < 3 * counts[c]; round++) {
            uint32_t session = (uint32_t)rig_rng_below(&rng, counts[c]);
            if (in[session])
                rig_sim_ready_remove(&ready, session);
            else
                rig_sim_ready_add(&ready, session);
            in[session] = !in[session];
        }
        uint32_t rank = 0;
        for (uint32_t i = 0; i < counts[c]; i++) {
            if (!in[i])
                continue;
            assert_int_equal(rig_sim_ready_at(&ready, rank), i);
            struct rig_sim_ready plain = ready; /* as on a processor that cannot find bits */
            plain.has_bits = false;
            assert_int_equal(rig_sim_ready_at(&plain, rank++), i);
        }
        assert_int_equal(ready.count, rank);
        rig_sim_ready_done(&ready);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_those_of_the_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
