/* session.h - who may use the desk: a link that is used once, then a cookie
 *
 * The process that orders has all sessions; the one that serves has copies of
 * those that it was told of, to know whose request it gets.
 *
 * All secrets are SESSION_BYTES of the system's random numbers in hex, and are
 * compared in a time that does not reveal where they differ.  A desk on
 * loopback has one link and the one session that it opened; one on a network
 * has a session for each login, and no link.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_SESSION_H
#define ZM_WEB_SESSION_H

#include "base/str.h"
#include "web/session/role.h"

enum {
	SESSION_BYTES = 16, SESSION_SECRET_BYTES = 2 * SESSION_BYTES + 1,
	SESSION_LINK_MS = 10 * 60 * 1000,
	SESSION_IDLE_MS = 60 * 60 * 1000,	/* without a request */
	SESSION_MS = 12 * 60 * 60 * 1000,	/* at the most */
	SESSION_ACT_MS = 15 * 60 * 1000,	/* after a password */
	SESSIONS_MAX = 32
};

struct web_session {
	char		user[64];	/* "": the one who started the desk */
	enum role	role;
	int64_t		act_until_ms;	/* may order without password */
	unsigned	serial;		/* how many had this place before */
	char		link[SESSION_SECRET_BYTES];	/* "": it was used */
	char		cookie[SESSION_SECRET_BYTES];	/* "": none */
	char		csrf[SESSION_SECRET_BYTES];
	int64_t		link_until_ms, until_ms, idle_until_ms;
	struct str	said, back;	/* of the last order; the form that
					 * reverts it */
};

/* Make a link, valid from now on. */
void session_init(struct web_session *session, int64_t now_ms);
void session_release(struct web_session *session);
/* Is this the link?  Then it is used up, and cookie and csrf are new. */
bool session_open(struct web_session *session, struct slice token,
    int64_t now_ms);
/* A user gave the password: make a new session, which may order at once. */
void session_begin(struct web_session *session, struct slice user,
    enum role role, int64_t now_ms);
/* A place for a new session: one that has ended, or the one that was idle for
 * longest. */
struct web_session *session_place(struct web_session all[SESSIONS_MAX],
    int64_t now_ms);
/* Copy a session of the process that orders, which made its secret; csrf, which
 * proves that a form is ours, is made here. */
void session_copy(struct web_session *session, struct slice secret,
    struct slice user, enum role role, int64_t now_ms);
/* The session with this secret; NULL: there is none.  keeps: this keeps it
 * alive. */
struct web_session *session_of(struct web_session all[SESSIONS_MAX],
    struct slice secret, bool keeps, int64_t now_ms);
/* The session that these cookies belong to; NULL: there is none. */
struct web_session *session_whose(struct web_session all[SESSIONS_MAX],
    const char *name, struct slice cookies, int64_t now_ms);
/* Was it ended, or is its time over? */
bool session_is_over(const struct web_session *session, int64_t now_ms);
/* May it order, or must it give the password again? */
bool session_may_act(const struct web_session *session, int64_t now_ms);
/* Does the value of the Cookie field have our cookie, named name?  Then the
 * session is kept alive. */
bool session_is_known(struct web_session *session, const char *name,
    struct slice cookies, int64_t now_ms);
/* Does the form come from a page of this session? */
bool session_is_ours(const struct web_session *session, struct slice csrf);
/* End the session. */
void session_leave(struct web_session *session);

#endif
