/* sending.h - a run of zmailer report send
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_SENDING_H
#define ZM_TOOLS_REPORT_SENDING_H

#include "base/clock.h"
#include "conf/conf.h"
#include "tools/zmailer/report/send/authors.h"
#include "tools/zmailer/report/send/sessions.h"

struct sending {
	const struct conf *conf;
	struct sessions	 sessions;
	struct authors	 authors;
	char		 day[CLOCK_TEXT_BYTES];
	int64_t		 begin_s;
	struct str	 from;		/* of TLS reports; "": none are sent */
	struct str	 dmarc_from;	/* of DMARC reports; the same */
	int64_t		 looks_until_ms;	/* then the DNS is asked no
						 * more about DMARC */
	bool		 is_dry, is_json, is_own;
	unsigned	 sent, failed;
};

enum { SENDING_DAY_S = 86400 };

/* Tell each domain that asks for it how connections to its hosts went. */
void sending_tls(struct sending *sending);
/* The same of mail that said it was its own. */
void sending_dmarc(struct sending *sending);

#endif
