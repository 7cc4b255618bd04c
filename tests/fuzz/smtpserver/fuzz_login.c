/* fuzz_login.c - exchanges of AUTH: any responses, any answers of helpers
 *
 * The first line names the mechanism; the others are responses, or, when a
 * question is out, its answer.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "daemon/auth/dovecot_lines.h"
#include "smtpserver/auth/login.h"

#define OFFERS "SCRAM-SHA-256-PLUS SCRAM-SHA-256 PLAIN LOGIN"

static void
check_user(const struct login *login)
{
	MUST(login->user.len > 0 &&
	    login->user.len <= LOGIN_USER_BYTES_MAX);
	MUST(!fuzz_has_control(str_slice(&login->user)));
	MUST(slice_find(str_slice(&login->user), ' ') == login->user.len);
}

static void
exchange(struct slice in, bool is_relay)
{
	const struct login_place place = { .server = "127.0.0.1:587",
	    .client = "192.0.2.1:4711", .is_encrypted = true,
	    .offers_binding = true, .exporter = SLICE("channel"),
	    .end_point = { NULL, 0 } };
	struct str out = STR_INIT;
	enum login_next next = LOGIN_CHALLENGE;
	struct slice line;
	struct login *login;
	int rounds = 0;

	if (!slice_cut(&in, '\n', &line))
		return;
	login = login_new(line, SLICE(OFFERS), is_relay, &place);
	if (login == NULL)
		return;
	while (slice_cut(&in, '\n', &line)) {
		if (next == LOGIN_CHALLENGE)
			next = login_take(login, line, &out);
		else if (next == LOGIN_ASK)
			next = login_answered(login, ASK_ANSWERED, line,
			    &out);
		else
			break;
		if (next == LOGIN_ASK) {
			MUST(slice_find(str_slice(&out), '\n') == out.len);
			MUST(++rounds <= LOGIN_ROUNDS_MAX);
		}
	}
	if (next == LOGIN_GOOD)
		check_user(login);
	str_release(&out);
	login_free(&login);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct dovecot_reply reply;
	struct str out = STR_INIT;

	exchange(in, false);
	exchange(in, true);
	(void)dovecot_reply_parse(in, &reply);
	if (dovecot_add_auth(&out, 1, in))
		MUST(slice_find(str_slice(&out), '\n') == out.len - 1);
	str_release(&out);
	return 0;
}
