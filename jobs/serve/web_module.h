/*
 * The module rig-web.so, which alone is linked against libmicrohttpd: it turns requests into calls of one function,
 * and answers into responses. rig loads it for `rig serve` (web_server.h).
 */
#ifndef RIG_JOBS_SERVE_WEB_MODULE_H
#define RIG_JOBS_SERVE_WEB_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define RIG_WEB_MODULE "rig-web.so"
#define RIG_WEB_SYMBOL "rig_web_module"

/* Texts are borrowed for the call. `path` is as it was sent, with its escapes. */
struct rig_web_request {
    const char *method, *path;
    const char *with, *a, *b;         /* parameters after `?`, with their escapes; NULL: not given */
    const char *host, *if_none_match; /* headers; NULL: not given */
};

enum { RIG_WEB_TAG_BYTES = 48, RIG_WEB_LOCATION_BYTES = 3 * 4096 };

/* Given to the function zeroed, with an empty `text` and -1 as `fd`. */
struct rig_web_answer {
    unsigned status;
    const char *type;                      /* Content-Type; static; NULL: there is no body */
    const char *policy;                    /* Content-Security-Policy; static; NULL: that of the file */
    const char *allow;                     /* of 405; static */
    char location[RIG_WEB_LOCATION_BYTES]; /* of a redirection; empty: none */
    char tag[RIG_WEB_TAG_BYTES];           /* ETag with its quotes; empty: none */
    bool is_stored; /* browsers may keep it, and ask whether it is still the same; else they keep nothing */
    struct rig_buf text;
    int fd;              /* the body in place of `text`; -1: none */
    uint64_t size_bytes; /* of the file */
};

/* Any thread, several at a time. */
typedef void rig_web_answer_fn(void *context, const struct rig_web_request *request, struct rig_web_answer *answer);

struct rig_web_module {
    unsigned struct_size;
    /* Serves the listening `socket`, which it takes, from threads of its own. NULL: it could not start. */
    void *(*start)(int socket, rig_web_answer_fn *answer, void *context);
    /* Ends the connections and the threads. */
    void (*stop)(void *daemon);
};

#endif
