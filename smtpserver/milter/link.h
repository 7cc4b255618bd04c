/* link.h - one milter: its conversation and the connection under it
 *
 * Never blocks.  A link is told to go to a goal; when its talk is TALK_DONE,
 * the owner's stir function is called (but not within link_go).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_LINK_H
#define ZM_SMTPSERVER_MILTER_LINK_H

#include "conf/conf.h"
#include "io/loop.h"
#include "smtpserver/milter/talk.h"

struct link {
	struct talk			 talk;
	const struct conf_milter	*conf;
	struct loop			*loop;
	int				 fd;	/* -1: none */
	bool				 is_connecting;
	struct watch			*watch;
	struct timer			 timer;
	int64_t				 until_ms;	/* for its answer */
	loop_fn				*stir;
	void				*context;
};

/* A link that is not connected yet.  conf and facts are borrowed; stir is
 * called with context when its result is there. */
void link_init(struct link *link, struct loop *loop,
    const struct conf_milter *conf, const struct filter_facts *facts,
    loop_fn *stir, void *context);
/* Send QUIT as far as the socket takes it, and close. */
void milter_link_release(struct link *link);

/* talk_begin, with a connection. */
void link_go(struct link *link, enum talk_step goal,
    struct filter_mail *mail, struct filter_result *result);
/* talk_abort. */
void link_abort(struct link *link);

#endif
