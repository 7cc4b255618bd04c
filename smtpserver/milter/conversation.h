/* conversation.h - one session and all its milters
 *
 * Questions of the session are answered one after the other; each goes to all
 * milters in the order of the file until one refuses.  A complete message goes
 * to each with the changes of those before it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_CONVERSATION_H
#define ZM_SMTPSERVER_MILTER_CONVERSATION_H

#include "daemon/skeleton.h"
#include "smtpserver/milter/filter.h"

struct conversation;

/* It has an answer to the question with this token. */
typedef void conversation_answer_fn(void *context, struct slice token,
    bool is_ok, struct slice text);

struct conversation_home {	/* what all conversations of a process share */
	struct loop			*loop;
	const struct conf		*conf;
	struct spool			*spool;
	conversation_answer_fn		*answer_fn;
	void				*context;
};

/* A conversation that has not begun; freed by conversation_free.  home is
 * borrowed, key copied. */
struct conversation *conversation_new(const struct conversation_home *home,
    const char *key);
/* The conversation is about a message of sendmail(1), whose file is fd
 * (borrowed), with the milters that see such mail.  Call it before the first
 * question. */
void conversation_of_local(struct conversation *conversation, int fd);
/* Free it; open questions are answered with trouble. */
void conversation_free(struct conversation **conversation);

/* "STAGE {facts}" (filter.h).  The answer comes later, or in this call. */
void conversation_ask(struct conversation *conversation, struct slice token,
    struct slice question);

#endif
