/* session.c - who may come in: a link that is used once, then a cookie
 *
 * In     tokens, cookies, fields of forms: from anybody
 * Out    yes or no
 * Holds  three secrets
 * Spec   session.h; RFC 6265 section 4.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "web/session/session.h"

#include "base/banned.h"

static void
session_make(char out[SESSION_SECRET_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[SESSION_BYTES];

	arc4random_buf(bytes, sizeof(bytes));
	for (size_t i = 0; i < SESSION_BYTES; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[SESSION_SECRET_BYTES - 1] = '\0';
	explicit_bzero(bytes, sizeof(bytes));
}

/* In the same time, whatever is given; an empty secret is nobody's. */
static bool
session_is_same(const char *secret, struct slice given)
{
	unsigned char differs = 0;

	if (given.n != SESSION_SECRET_BYTES - 1 || secret[0] == '\0')
		return false;
	for (size_t i = 0; i < given.n; i++)
		differs |= (unsigned char)(secret[i] ^ given.p[i]);
	return differs == 0;
}

void
session_init(struct web_session *session, int64_t now_ms)
{
	*session = (struct web_session){ .link_until_ms = now_ms +
	    SESSION_LINK_MS, .said = STR_INIT, .back = STR_INIT };
	session_make(session->link);
}

void
session_release(struct web_session *session)
{
	str_release(&session->said);
	str_release(&session->back);
	explicit_bzero(session, sizeof(*session));
	str_init(&session->said);
	str_init(&session->back);
}

static void
session_start(struct web_session *session, int64_t now_ms)
{
	session_make(session->cookie);
	session_make(session->csrf);
	session->until_ms = now_ms + SESSION_MS;
	session->idle_until_ms = now_ms + SESSION_IDLE_MS;
}

void
session_begin(struct web_session *session, struct slice user, enum role role,
    int64_t now_ms)
{
	session_leave(session);
	session->serial++;
	snprintf(session->user, sizeof(session->user), SLICE_FMT,
	    SLICE_ARG(user));
	session->role = role;
	session->act_until_ms = now_ms + SESSION_ACT_MS;
	session_start(session, now_ms);
}

void
session_copy(struct web_session *session, struct slice secret,
    struct slice user, enum role role, int64_t now_ms)
{
	session_begin(session, user, role, now_ms);
	snprintf(session->cookie, sizeof(session->cookie), SLICE_FMT,
	    SLICE_ARG(secret));
}

struct web_session *
session_of(struct web_session all[SESSIONS_MAX], struct slice secret,
    bool keeps, int64_t now_ms)
{
	struct web_session *found = NULL;

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (session_is_same(all[i].cookie, secret))
			found = &all[i];
	if (found == NULL || session_is_over(found, now_ms))
		return NULL;
	if (keeps)
		found->idle_until_ms = now_ms + SESSION_IDLE_MS;
	return found;
}

bool
session_is_over(const struct web_session *session, int64_t now_ms)
{
	return session->cookie[0] == '\0' || now_ms >= session->until_ms ||
	    now_ms >= session->idle_until_ms;
}

struct web_session *
session_place(struct web_session all[SESSIONS_MAX], int64_t now_ms)
{
	struct web_session *best = &all[0];

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		if (session_is_over(&all[i], now_ms))
			return &all[i];
		if (all[i].idle_until_ms < best->idle_until_ms)
			best = &all[i];
	}
	return best;
}

struct web_session *
session_whose(struct web_session all[SESSIONS_MAX], const char *name,
    struct slice cookies, int64_t now_ms)
{
	struct web_session *found = NULL;

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (session_is_known(&all[i], name, cookies, now_ms))
			found = &all[i];
	return found;
}

bool
session_may_act(const struct web_session *session, int64_t now_ms)
{
	return session->user[0] == '\0' || now_ms < session->act_until_ms;
}

bool
session_open(struct web_session *session, struct slice token, int64_t now_ms)
{
	if (now_ms >= session->link_until_ms ||
	    !session_is_same(session->link, token))
		return false;
	explicit_bzero(session->link, sizeof(session->link));
	session->role = ROLE_ADMINISTER;
	session_start(session, now_ms);
	return true;
}

bool
session_is_known(struct web_session *session, const char *name,
    struct slice cookies, int64_t now_ms)
{
	struct slice one;
	bool is_known = false;

	if (session->cookie[0] == '\0')
		return false;
	if (session_is_over(session, now_ms))
		session_leave(session);
	while (slice_cut(&cookies, ';', &one)) {
		struct slice pair = slice_trim(one);
		size_t equals = slice_find(pair, '=');

		if (slice_is(slice_first(pair, equals), name) &&
		    session_is_same(session->cookie,
		    slice_from(pair, equals + 1)))
			is_known = true;
	}
	if (is_known)
		session->idle_until_ms = now_ms + SESSION_IDLE_MS;
	return is_known;
}

bool
session_is_ours(const struct web_session *session, struct slice csrf)
{
	return session_is_same(session->csrf, csrf);
}

void
session_leave(struct web_session *session)
{
	explicit_bzero(session->cookie, sizeof(session->cookie));
	explicit_bzero(session->csrf, sizeof(session->csrf));
	str_reset(&session->said);
	str_reset(&session->back);
}
