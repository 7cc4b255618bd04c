/* suppose.h - would waiting mail go under another configuration?
 *
 * `scheduler suppose`, under the configuration that ZMAILER_CONF names: reads
 * lines of the operation `why` (doc/protocol/control.md), which have what the
 * planner knows of the destination, and answers each with what the planner
 * says under this configuration:
 *
 * 	{"code":"timer","at":1764115200,"class":"greylist","by":"rule"}
 * 	{"code":"line","at":0,"by":"list","after":"success"}
 *
 * code is that of `why`; "line" with at 0: it goes now.  by is what its time
 * comes from: "list" of its clause, "rule" (retry on), "wish" of the next
 * hop.  after: from the next message on that the destination takes.  Code
 * "none": no planner can say, it lies with others.
 *
 * It has a plan of its own with only this message: no spool, no socket; the
 * running scheduler is not involved.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SUPPOSE_H
#define ZM_SCHEDULER_SUPPOSE_H

#include "base/str.h"
#include "conf/conf.h"
#include "mail/cause.h"
#include "scheduler/agents/agents.h"

struct supposed {		/* a recipient that waits */
	struct str	channel, host, zone, provider, words, status;
	enum cause	cause;		/* in the scheduler that runs */
	int64_t		born_s, last_s;	/* 0: never tried */
	int64_t		wish_s;		/* of the next hop; 0: none */
	unsigned	tries;
	unsigned	sessions, allowed;	/* of the destination */
	unsigned	agents_clause, agents_channel, agents_zone, agents_all;
	unsigned	provider_sessions, provider_learned;
	int64_t		taken_ms, free_ms;	/* since the last; to the next
						 * that fits the rate */
	int64_t		slow_us;
	bool		is_learned;	/* allowed is what its host made it */
	bool		is_queue_only;	/* its sender wants it so */
};

struct supposition {
	enum cause	 cause;
	bool		 is_known;	/* false: nobody can say */
	int64_t		 at_s;		/* of the try; 0: now */
	const char	*class, *by;	/* static; "" */
	bool		 is_after_success;
};

/* Append what the planner knows about a destination to the open JSON object of
 * `why`; thread NULL: nothing. */
void suppose_add_facts(const struct agents *agents,
    const struct thread *thread, struct str *out);

/* Read a line of `why`.  0; -1 with err: malformed.  Release supposed in either
 * case. */
int supposed_read(struct slice line, struct supposed *out, struct err *err);
void supposed_release(struct supposed *supposed);

/* When it would be tried under conf, as seen at now_s (wall). */
void suppose_judge(const struct conf *conf, const struct supposed *supposed,
    int64_t now_s, struct supposition *out);

/* Do these arguments ask for it? */
bool suppose_is_meant(int argc, char **argv);
/* Read lines, answer them.
 * returns an exit status */
int suppose_run(void);

#endif
