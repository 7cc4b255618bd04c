/* reply.h - replies to a browser, with the fields that all of them have
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
/* Send untrusted bytes, which the browser is to save as a file of this name
 * (letters, digits, dots) and never to show. */
void reply_send_file(struct evhttp_request *http, const char *name,
    struct slice bytes);
/* Send a sentence: as a page, or as an object if wants_json. */
void reply_error(struct evhttp_request *http, int status, const char *words,
    bool wants_json, bool is_known);
/* Redirect to where; cookie (may be NULL) is set. */
void reply_go(struct evhttp_request *http, const char *where,
    const char *cookie);

#endif
