#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/clock.h"
#include "run/load/run_measures.h"

static const int64_t start_ns = 5 * RIG_NS_PER_S;
static const int64_t look_ns = 50 * RIG_NS_PER_MS;

/* A load in words, a letter a second:
 *   a answered all the time    - nothing wanted      w waiting for an answer    r refused, sessions kept
 *   x refused connections      F a fault in effect, and no answer               f a fault in effect, and answers
 *   q reads answered, writes refused      p reads answered, writes fail with their sessions      v reads only, answered
 *   c as v, with one write refused at the beginning
 *   A one answer at the end, to the transaction that began with the w before it  o the load is over, nothing answers
 */
static double share_of(const char *seconds)
{
    struct rig_run_answers answers;
    rig_run_answers_begin(&answers, start_ns);
    const int looks = (int)(RIG_NS_PER_S / look_ns);
    int64_t began_ns = start_ns;
    bool faulted = false;
    for (size_t second = 0; seconds[second] != '\0'; second++) {
        const char kind = seconds[second];
        if (kind == 'w' && (second == 0 || seconds[second - 1] != 'w'))
            began_ns = start_ns + (int64_t)second * RIG_NS_PER_S;
        for (int i = 1; i <= looks; i++) {
            const int64_t at_ns = start_ns + (int64_t)second * RIG_NS_PER_S + i * look_ns;
            const bool fault = kind == 'F' || kind == 'f';
            const bool refused = kind == 'r' || kind == 'q' || (kind == 'c' && i == 1);
            const bool unanswered = kind == 'x' || kind == 'F' || kind == 'p';
            struct rig_run_look look = {.at_ns = at_ns,
                                        .refused = refused,
                                        .unanswered = unanswered,
                                        .write_failed = refused || unanswered,
                                        .waiting = kind != '-' && kind != 'a',
                                        .under_fault = fault || faulted,
                                        .over = kind == 'o'};
            faulted = fault;
            if (strchr("afqpvc", kind) != NULL)
                look.answered_from_ns = at_ns - look_ns;
            if (kind == 'A')
                look.answered_from_ns = i == 1 ? began_ns : at_ns - look_ns;
            if (strchr("afA", kind) != NULL)
                look.written_from_ns = look.answered_from_ns;
            rig_run_answers_look(&answers, &look);
        }
    }
    return rig_run_answers_share(&answers);
}

static void assert_share(const char *seconds, double expected)
{
    const double got = share_of(seconds);
    if (got < expected - 0.011 || got > expected + 0.011)
        fail_msg("%s: %.3f, expected %.3f", seconds, got, expected);
}

static void answers_all_along_are_a_whole(void **state)
{
    (void)state;
    assert_share("", 1);
    assert_share("aaaaaaaaaa", 1);
    assert_share("--aa--aa--", 1); /* slow clients are no outage */
}

static void a_server_that_dies_is_silent_from_then_on(void **state)
{
    (void)state;
    assert_share("aaaxxxxxxxxx", 0.25);
    assert_share("aaaxxxxxxxxxo", 0.25);
    assert_share("aaxxxxaaaa", 0.6);
    assert_share("aax---aaaa", 0.6); /* without requests after an error there are no answers */
    assert_share("xxxx", 0);
}

static void slow_transactions_are_answers(void **state)
{
    (void)state;
    assert_share("wwwwAwwwwAwwwwA", 1);
    assert_share("aawwwwwwww", 0.2); /* without an end they are not */
}

static void conflicts_are_answers_and_refusing_everything_is_not(void **state)
{
    (void)state;
    assert_share("arrarrarra", 1);
    assert_share("aarrrrrrrr", 0.2);
    assert_share("aarrrrrraa", 0.4);
}

static void a_server_that_fails_every_write_is_silent(void **state)
{
    (void)state;
    assert_share("aaqqqqqqqq", 0.21);
    assert_share("aapppppppp", 0.21);
    assert_share("qqqqqqqqqq", 0.01);
    assert_share("aaqqqqqaaa", 0.51);
    assert_share("aaqqqqqqqqvv", 2.1 / 12); /* no writes any more: answered reads do not end the silence */
    assert_share("aaFqqqqaaa", 1);          /* a recovery */
    assert_share("aqqaqqaqqa", 1);          /* conflicts */
    assert_share("vvvvvvvvvv", 1);          /* a load without writes */
    assert_share("vcvvvvcvvv", 1);          /* one with few, two of which are refused */
}

static void faults_and_recoveries_are_left_out(void **state)
{
    (void)state;
    assert_share("aaFFFaaa", 1);
    assert_share("aaFFFxxaaa", 1);
    assert_share("aafffaaaxa", 1 - 1.0 / 7);           /* answers under a fault; then an outage by itself */
    assert_share("aaFFxxxxxxxx", 0.2);                 /* it never came back */
    assert_share("aaFxxxxFxxxxFxxxx", 2.0 / 14);       /* further faults do not excuse it */
    assert_share("aaFFxxxxxxxxxxxxxxxxxxxxaa", 0.286); /* a recovery of 20 s: 10 of them are excused */
}

static void no_silence_is_lost_when_there_is_much_of_it(void **state)
{
    (void)state;
    char seconds[4 * RIG_ANSWERS_PENDING_MOST + 1] = "";
    for (size_t i = 0; i + 2 < sizeof seconds; i += 2)
        (void)memcpy(seconds + i, "xF", 3);
    const double share = share_of(seconds);
    assert_true(share < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_all_along_are_a_whole),
        cmocka_unit_test(a_server_that_dies_is_silent_from_then_on),
        cmocka_unit_test(slow_transactions_are_answers),
        cmocka_unit_test(conflicts_are_answers_and_refusing_everything_is_not),
        cmocka_unit_test(a_server_that_fails_every_write_is_silent),
        cmocka_unit_test(faults_and_recoveries_are_left_out),
        cmocka_unit_test(no_silence_is_lost_when_there_is_much_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
