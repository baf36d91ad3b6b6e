/*
 * The reader of proofs, and the replays behind it: no bytes make rig-verify prove of a small history what is false of it. The
 * head of the file is given, so that the bytes are claims.
 */
#include "tests/fuzz/fuzz_target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "history/fingerprint.h"
#include "history/load.h"
#include "verify/proof_claims.h"
#include "verify/proved_levels.h"

/* Write skew: snapshot isolated and not serializable. T4 is of unknown fate, and T5 failed. */
static const char write_skew[] =
    "{\"index\":0,\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",1,null],[\"append\",2,1]]}\n"
    "{\"index\":1,\"type\":\"invoke\",\"process\":1,\"f\":\"txn\",\"value\":[[\"r\",2,null],[\"append\",1,1]]}\n"
    "{\"index\":2,\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",1,[]],[\"append\",2,1]]}\n"
    "{\"index\":3,\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":[[\"r\",2,[]],[\"append\",1,1]]}\n"
    "{\"index\":4,\"type\":\"invoke\",\"process\":2,\"f\":\"txn\",\"value\":[[\"append\",1,2]]}\n"
    "{\"index\":5,\"type\":\"info\",\"process\":2,\"f\":\"txn\",\"value\":[[\"append\",1,2]]}\n"
    "{\"index\":6,\"type\":\"invoke\",\"process\":3,\"f\":\"txn\",\"value\":[[\"append\",1,3]]}\n"
    "{\"index\":7,\"type\":\"fail\",\"process\":3,\"f\":\"txn\",\"value\":[[\"append\",1,3]]}\n"
    "{\"index\":8,\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",1,null],[\"r\",2,null]]}\n"
    "{\"index\":9,\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",1,[1]],[\"r\",2,[1]]]}\n";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char skewed[] = "snapshot-isolation", broken[] = "serializable";
    struct rig_err err = {0};
    struct rig_history *history = NULL;
    struct rig_facts facts = {0};
    struct rig_proved proved = {0};
    struct rig_buf text;
    uint64_t fingerprint = 0;
    const struct rig_load_options options = {.form = RIG_FORM_JSON_LINES};
    enum rig_rc rc = rig_history_parse("skew", write_skew, sizeof write_skew - 1, &options, &history, &err);
    RIG_REQUIRE(rc == RIG_OK);
    RIG_REQUIRE(rig_history_fingerprint(history, &fingerprint, &err) == RIG_OK);
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "rig-proof 1\nhistory %016" PRIx64 "\n", fingerprint);
    rig_buf_add(&text, bytes, size);
    RIG_REQUIRE(rig_facts_init(&facts, history, &err) == RIG_OK);
    rc = rig_claims_prove(&facts, text.data, text.size, &proved, &err);
    RIG_REQUIRE((rc == RIG_OK) == (err.rc == RIG_OK));
    const uint32_t weak = UINT32_C(1) << rig_proved_level_find(skewed, sizeof skewed - 1),
                   strong = UINT32_C(1) << rig_proved_level_find(broken, sizeof broken - 1);
    RIG_REQUIRE((proved.refuted & rig_proved_levels_below(weak)) == 0);
    RIG_REQUIRE((proved.held & rig_proved_levels_above(strong)) == 0);
    rig_facts_done(&facts);
    rig_history_free(history);
    rig_buf_done(&text);
    return 0;
}
