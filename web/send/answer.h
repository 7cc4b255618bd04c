/* answer.h - the answer to a program's request
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ANSWER_H
#define ZM_WEB_ANSWER_H

#include "web/send/dialogue.h"

struct evhttp_request;

struct answer_extra {
	int	retry_after_s;		/* 0: no such field */
	bool	is_replayed, wants_login;
};

/* Send a JSON answer with its fields; the connection ends after it.  extra may
 * be NULL.  http NULL: the client is gone. */
void answer_send(struct evhttp_request *http, int status,
    struct slice text, const struct answer_extra *extra);
/* {"v":1,"error":"..."} */
void answer_error(struct evhttp_request *http, int status, const char *words,
    const struct answer_extra *extra);

/* Append the outcome of each recipient, as an object: id (NULL: none), words
 * (empty: none), accepted, refused. */
void answer_outcomes(struct str *out, const struct letter *letter,
    const struct rcpt_outcome *outcomes, const char *id, struct slice words);
/* returns the status of HTTP for a reply code of SMTP and its words: 422, 429
 * or 503 */
int answer_status(int code, struct slice text);

/* Refused recipients as one word without blanks ("-": none), and back; a word
 * that is malformed leaves all of them accepted. */
void answer_pack(struct str *out, const struct rcpt_outcome *outcomes,
    size_t count);
void answer_unpack(struct slice packed, struct arena *arena,
    struct rcpt_outcome *outcomes, size_t count);

#endif
