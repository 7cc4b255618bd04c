/* conversation.h - one session and all its milters
 *
 * Questions of the session are taken one after the other, each past all
 * milters in the order of the file until one refuses.  A message that has
 * come whole goes past each with the changes of those before it.
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

/* One that has said nothing yet.  home is borrowed, key copied. */
struct conversation *conversation_new(const struct conversation_home *home,
    const char *key);
/* It is about a message of sendmail(1), whose file is fd (borrowed): for the
 * milters that see such mail.  Before it is asked anything. */
void conversation_of_local(struct conversation *conversation, int fd);
/* Questions that it has are answered with trouble. */
void conversation_free(struct conversation **conversation);

/* "STAGE {facts}" (filter.h).  The answer comes later, or in this call. */
void conversation_ask(struct conversation *conversation, struct slice token,
    struct slice question);

#endif
