/* serving.h - what the parts of the server share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_SERVING_H
#define ZM_WEB_SERVING_H

#include "web/ask/ask.h"
#include "web/serve/request.h"
#include "web/session/session.h"

enum { SERVING_NAME_BYTES = 96, SERVING_COOKIE_BYTES = 200 };

struct serving {
	struct event_base *base;
	struct web_session	 all[SESSIONS_MAX];	/* copies of those
							 * we know of */
	char		 host[SERVING_NAME_BYTES];	/* "127.0.0.1:PORT" */
	char		 cookie[SERVING_NAME_BYTES];	/* its name */
	bool		 is_network;	/* TLS, and users log in */
	const struct web_door	*door;		/* its files, for words; NULL */
};

typedef void serve_fn(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest);

/* The value of Set-Cookie for this session. */
void serving_cookie(const struct serving *serving,
    const struct web_session *session, char out[SERVING_COOKIE_BYTES]);

/* login.c: the link; the form; a name and a password; a password again; the
 * end. */
serve_fn login_open, login_form, login_enter, login_unlock_form, login_unlock,
    login_leave;
/* A user with a session who gave no password recently wants to give an order:
 * ask for the password. */
void login_want_again(const struct web_request *request,
    const struct web_session *session);

#endif
