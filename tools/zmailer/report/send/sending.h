/* sending.h - a run of zmailer report send
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_SENDING_H
#define ZM_TOOLS_REPORT_SENDING_H

#include "base/clock.h"
#include "conf/conf.h"
#include "tools/zmailer/report/send/authors.h"
#include "tools/zmailer/report/send/elsewhere.h"
#include "tools/zmailer/report/send/sessions.h"

struct sending {
	const struct conf *conf;
	struct sessions	 sessions;
	struct authors	 authors;
	char		 day[CLOCK_TEXT_BYTES];
	int64_t		 begin_s;
	struct str	 from;		/* of TLS reports; "": none are sent */
	struct str	 dmarc_from;	/* of DMARC reports; the same */
	int64_t		 looks_until_ms;	/* after that the DNS is not
						 * asked about DMARC */
	struct elsewhere elsewhere;	/* copies of TLS reports */
	bool		 is_dry, is_json, is_own;
	unsigned	 sent, failed;
};

enum { SENDING_DAY_S = 86400 };

/* Report to each domain that asks for it about connections to its hosts. */
void sending_tls(struct sending *sending);
/* The same about mail that claimed to be the domain's. */
void sending_dmarc(struct sending *sending);

#endif
