/* request.h - a browser's request, checked before anything is done
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_REQUEST_H
#define ZM_WEB_REQUEST_H

#include "base/str.h"

struct evhttp_request;

enum { REQUEST_BODY_BYTES_MAX = 64 << 10, REQUEST_HEADER_BYTES_MAX = 8 << 10 };

struct web_request {
	struct evhttp_request *http;
	const char	*method;	/* "GET", "POST"; NULL: another */
	struct slice	 path, query, body, cookies;
	bool		 wants_json;
};

/* Read it.  host is our name, which the request must have; NULL: any, because
 * TLS proves who we are.
 * returns 0; else the status of the refusal; *out_words says why */
int request_read(struct evhttp_request *http, const char *host,
    struct web_request *out, const char **out_words);

#endif
