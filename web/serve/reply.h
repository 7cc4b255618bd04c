/* reply.h - what a browser gets, with the fields that every reply has
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_REPLY_H
#define ZM_WEB_REPLY_H

#include "base/str.h"

struct evhttp_request;

/* Send text of a type; the connection ends after it. */
void reply_send(struct evhttp_request *http, int status, const char *type,
    struct slice text);
/* Begin a reply whose body comes in pieces (evhttp_send_reply_chunk, then
 * evhttp_send_reply_end). */
void reply_begin(struct evhttp_request *http, const char *type);
/* reply_send of bytes of others, to be kept as a file of this name (letters,
 * digits, dots) and never shown. */
void reply_send_file(struct evhttp_request *http, const char *name,
    struct slice bytes);
/* The same of a sentence: a page, or an object for who wants JSON. */
void reply_error(struct evhttp_request *http, int status, const char *words,
    bool wants_json, bool is_known);
/* Go there; cookie (may be NULL) is set first. */
void reply_go(struct evhttp_request *http, const char *where,
    const char *cookie);

#endif
