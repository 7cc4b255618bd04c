/* figures.h - does a node refuse, or fail, more than before?
 *
 * From the counters of its metrics: refused is a RCPT, or a message, that got
 * 4yz or 5yz; failed is a try that was deferred or bounced.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_FIGURES_H
#define ZM_TOOLS_PUBLISH_FIGURES_H

#include "conf/conf.h"

enum { FIGURES_LEAST = 10 };		/* more of them say something */

struct figures {
	uint64_t	accepted, refused;	/* messages; RCPT and those */
	uint64_t	delivered, failed;	/* tries */
};

/* Those in the text that `zmailer metrics` prints. */
void figures_read(struct slice metrics, struct figures *out);
/* Ask a node.  0; -1: err says why it does not tell */
int figures_ask(const struct conf *conf, const char *node,
    struct figures *out, struct err *err);
/* What happened from one moment to another; a counter that began anew in
 * between counts from 0. */
struct figures figures_between(const struct figures *from,
    const struct figures *to);
/* At least FIGURES_LEAST refused or failed, and a share at least twice that of
 * before; or so many more than the share of before would be, while what goes
 * well has at most half its share: of 60 in 100, nothing is twice as large. */
bool figures_are_worse(const struct figures *before,
    const struct figures *now);
/* Append "refused 12 of 40 (before: 3 of 900), failed ..." */
void figures_add(struct str *out, const struct figures *before,
    const struct figures *now);

#endif
