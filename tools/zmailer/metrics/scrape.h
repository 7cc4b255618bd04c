/* scrape.h - parse the request of a scraper, by HTTP
 *
 * One request of RFC 9112 without a body.  Pure.
 *
 *   request = method SP target SP "HTTP/1." DIGIT EOL *( field EOL ) EOL
 *   method  = 1*( ALPHA / "-" )         target = 1*VCHAR
 *   field   = name ":" *( VCHAR / SP / HTAB / %x80-FF )
 *   EOL     = [ CR ] LF
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_METRICS_SCRAPE_H
#define ZM_TOOLS_METRICS_SCRAPE_H

#include <stdbool.h>

#include "base/str.h"

enum { SCRAPE_BYTES_MAX = 8192 };

struct scrape {
	unsigned	 status;	/* 200; 400 404 405 431 505: why not */
	bool		 is_head;	/* without the text */
	bool		 is_open;	/* OpenMetrics, not the older text */
};

/* Read what came so far, at most SCRAPE_BYTES_MAX of it.
 * false: the request is not complete yet. */
bool scrape_read(struct slice bytes, struct scrape *out);

/* Append the whole answer: a status line, fields, and the text unless it is
 * for HEAD.  text: the metrics, if the status is 200; else it is ignored. */
void scrape_answer(const struct scrape *scrape, struct slice text,
    struct str *out);

#endif
