/* calls.h - what the files of the process that orders share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_CALLS_H
#define ZM_WEB_CALLS_H

#include "web/ask/wire.h"
#include "web/orders/orders.h"
#include "web/session/attempts.h"
#include "web/session/people.h"
#include "web/session/session.h"

enum {
	CALLS_MAX = 64,		/* without an answer; each may be a child */
	LOGINS_MAX = 8		/* passwords being checked */
};

struct bufferevent;
struct order_desk {
	const struct orders_site *site;
	struct asker	 asker;
	struct bufferevent *bev;	/* to the process that serves */
	bool		 is_ready;	/* the link was printed */
	unsigned	 calls;		/* without an answer */
	struct web_session all[SESSIONS_MAX];
	/* of each: the domains of its role help */
	char		 domains[SESSIONS_MAX][PEOPLE_DOMAINS_BYTES];
	struct people	 people;
	struct attempts	 attempts;
	unsigned	 logins;	/* as LOGINS_MAX */
};

/* Answer a call. */
void orders_answer(struct order_desk *orders, unsigned serial,
    const struct question_answer *answer);
/* The same with these texts. */
void orders_say(struct order_desk *orders, unsigned serial,
    enum question_answer_kind kind, const char *text, const char *trouble);
/* Answer open or login: with the session, or a status of HTTP and words. */
void orders_let_in(struct order_desk *orders, unsigned serial,
    const struct web_session *session);
void orders_refuse(struct order_desk *orders, unsigned serial, int status,
    const char *words);
/* Is the role still the one in the table?  If not, the session is ended. */
bool orders_role_holds(struct order_desk *orders, struct web_session *session);
/* The domains of a session; "": all. */
char *orders_domains(struct order_desk *orders,
    const struct web_session *session);
/* End a session, and tell the process that serves. */
void orders_end_session(struct order_desk *orders, struct web_session *session);

/* questions.c: call ask: SECRET page|live verb|socket WORD... */
void questions_carry(struct order_desk *orders, unsigned serial,
    const char *const *words);
/* passwords.c: calls login and unlock. */
void passwords_login(struct order_desk *orders, unsigned serial,
    const char *const *words);
void passwords_unlock(struct order_desk *orders, unsigned serial,
    const char *const *words);

#endif
