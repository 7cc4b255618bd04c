/* test_session.c - a link once, a cookie for a while, a token for forms
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "web/session/session.h"

enum { NOW_MS = 5000 };

/* "a=1; zm=COOKIE; b" as a browser sends it. */
static bool
session_knows(struct web_session *session, const char *before, const char *name,
    const char *cookie, int64_t now_ms)
{
	struct str field = STR_INIT;
	bool is_known;

	str_addf(&field, "%s%s=%s; b=2", before, name, cookie);
	is_known = session_is_known(session, "zm", str_slice(&field),
	    now_ms);
	str_release(&field);
	return is_known;
}

Test(session, the_link_opens_once)
{
	struct web_session session;
	char link[SESSION_SECRET_BYTES];

	session_init(&session, NOW_MS);
	memcpy(link, session.link, sizeof(link));
	cr_expect_eq(strlen(link), 32);
	cr_expect(!session_open(&session, SLICE(""), NOW_MS));
	cr_expect(!session_open(&session, slice_first(slice_of(link), 31),
	    NOW_MS));
	cr_expect_str_eq(session.cookie, "");
	cr_expect(session_open(&session, slice_of(link), NOW_MS));
	cr_expect(!session_open(&session, slice_of(link), NOW_MS));
	cr_expect(!session_open(&session, SLICE(""), NOW_MS));
	cr_expect_str_neq(session.cookie, session.csrf);
	cr_expect_str_neq(session.cookie, link);
	session_release(&session);
}

Test(session, the_link_is_for_minutes)
{
	struct web_session session;

	session_init(&session, NOW_MS);
	cr_expect(!session_open(&session, slice_of(session.link), NOW_MS +
	    SESSION_LINK_MS));
	cr_expect(session_open(&session, slice_of(session.link), NOW_MS +
	    SESSION_LINK_MS - 1));
	session_release(&session);
}

Test(session, only_its_cookie_is_known)
{
	static const char wrong[] = "00000000000000000000000000000000";
	struct web_session session;

	session_init(&session, NOW_MS);
	cr_expect(!session_knows(&session, "", "zm", "", NOW_MS));
	session_open(&session, slice_of(session.link), NOW_MS);
	cr_expect(session_knows(&session, "", "zm", session.cookie, NOW_MS));
	cr_expect(session_knows(&session, "a=1;  ", "zm", session.cookie,
	    NOW_MS));
	cr_expect(!session_knows(&session, "", "zm", wrong, NOW_MS));
	cr_expect(!session_knows(&session, "", "zm", "", NOW_MS));
	cr_expect(!session_knows(&session, "", "xzm", session.cookie,
	    NOW_MS));
	cr_expect(!session_knows(&session, "", "zm", session.csrf, NOW_MS));
	session_leave(&session);
	cr_expect(!session_knows(&session, "", "zm", "", NOW_MS));
	session_release(&session);
}

Test(session, it_ends_when_idle_and_at_last)
{
	struct web_session session;
	int64_t now_ms = NOW_MS;

	session_init(&session, NOW_MS);
	session_open(&session, slice_of(session.link), NOW_MS);
	while (now_ms < NOW_MS + SESSION_MS) {
		cr_expect(session_knows(&session, "", "zm", session.cookie,
		    now_ms));
		now_ms += SESSION_IDLE_MS - 1;
	}
	cr_expect(!session_knows(&session, "", "zm", session.cookie,
	    now_ms));
	cr_expect_str_eq(session.csrf, "");
	session_release(&session);

	session_init(&session, NOW_MS);
	session_open(&session, slice_of(session.link), NOW_MS);
	cr_expect(!session_knows(&session, "", "zm", session.cookie,
	    NOW_MS + SESSION_IDLE_MS));
	session_release(&session);
}

Test(session, a_form_has_the_token)
{
	struct web_session session;

	session_init(&session, NOW_MS);
	cr_expect(!session_is_ours(&session, SLICE("")));
	session_open(&session, slice_of(session.link), NOW_MS);
	cr_expect(session_is_ours(&session, slice_of(session.csrf)));
	cr_expect(!session_is_ours(&session, slice_of(session.cookie)));
	cr_expect(!session_is_ours(&session, SLICE("")));
	session_release(&session);
}

Test(session, each_login_has_its_own)
{
	static struct web_session all[SESSIONS_MAX];
	struct web_session *one, *two;
	struct str field = STR_INIT;
	unsigned serial;

	for (size_t i = 0; i < SESSIONS_MAX; i++)
		session_init(&all[i], NOW_MS);
	one = session_place(all, NOW_MS);
	session_begin(one, SLICE("lena"), ROLE_LOOK, NOW_MS);
	two = session_place(all, NOW_MS);
	cr_assert_neq(one, two);
	session_begin(two, SLICE("adam"), ROLE_ACT, NOW_MS);
	cr_expect_str_neq(one->cookie, two->cookie);
	cr_expect_str_neq(one->csrf, two->csrf);
	str_addf(&field, "zm=%s", two->cookie);
	cr_expect_eq(session_whose(all, "zm", str_slice(&field), NOW_MS), two);
	session_leave(two);
	cr_expect_null(session_whose(all, "zm", str_slice(&field), NOW_MS));
	cr_expect_null(session_whose(all, "zm", SLICE("zm="), NOW_MS));
	cr_expect_null(session_whose(all, "zm", SLICE(""), NOW_MS));
	cr_expect_eq(session_place(all, NOW_MS), two, "its place is free");
	serial = two->serial;
	session_begin(two, SLICE("anna"), ROLE_ADMINISTER, NOW_MS);
	cr_expect_neq(two->serial, serial);
	/* all are taken: who is idle for longest gives way */
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		session_begin(&all[i], SLICE("x"), ROLE_LOOK, NOW_MS +
		    (i == 7 ? 0 : 1));
	cr_expect_eq(session_place(all, NOW_MS + 2), &all[7]);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		session_release(&all[i]);
	str_release(&field);
}

Test(session, orders_want_a_password_of_late)
{
	struct web_session session;

	session_init(&session, NOW_MS);
	cr_expect(session_may_act(&session, NOW_MS + SESSION_MS),
	    "who started the desk has none");
	session_begin(&session, SLICE("adam"), ROLE_ACT, NOW_MS);
	cr_expect(session_may_act(&session, NOW_MS + SESSION_ACT_MS - 1));
	cr_expect(!session_may_act(&session, NOW_MS + SESSION_ACT_MS));
	session_release(&session);
}

Test(session, roles_are_three_words)
{
	cr_expect_eq(role_parse(SLICE("look")), ROLE_LOOK);
	cr_expect_eq(role_parse(SLICE("act")), ROLE_ACT);
	cr_expect_eq(role_parse(SLICE("administer")), ROLE_ADMINISTER);
	cr_expect_eq(role_parse(SLICE("none")), ROLE_NONE);
	cr_expect_eq(role_parse(SLICE("Act")), ROLE_NONE);
	cr_expect_eq(role_parse(SLICE("act look")), ROLE_NONE);
	cr_expect_eq(role_parse(SLICE("")), ROLE_NONE);
}
