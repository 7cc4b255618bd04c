/* said.c - what filters said of a message, for the record
 *
 * In     answers of the helpers; a session
 * Out    a line for each filter
 * Holds  nothing
 * Trusts the helpers, which run under our own account
 * Spec   said.h; zmailer-replay(8), THE RECORD
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/smtp/xtext.h"
#include "smtpserver/session/filter/said.h"

#include "base/banned.h"

static const char *const said_hows[] = { "pass", "fail", "freeze", "refuse",
	"discard" };

void
said_add(struct str *out, const char *kind, struct slice socket,
    const char *how)
{
	str_addf(out, "%s\x1f" SLICE_FMT "\x1f%s\n", kind, SLICE_ARG(socket),
	    how);
}

/* "refuse:unix:/run/x" */
static void
said_take_word(struct str *out, const char *kind, struct slice word)
{
	struct str socket = STR_INIT;
	struct slice how;
	struct err err;

	if (slice_cut(&word, ':', &how) && word.n > 0 &&
	    xtext_decode(word, &socket, &err) == 0)
		for (size_t i = 0; i < sizeof(said_hows) /
		    sizeof(said_hows[0]); i++)
			if (slice_is(how, said_hows[i]))
				said_add(out, kind, str_slice(&socket),
				    said_hows[i]);
	str_release(&socket);
}

void
said_take(struct str *out, const char *kind, struct slice words)
{
	struct slice word;

	while (slice_word(&words, &word))
		if (slice_starts(word, "said="))
			said_take_word(out, kind, slice_from(word, 5));
}

struct slice
said_find(struct slice said, const char *kind, struct slice socket)
{
	struct slice line, one, found = { NULL, 0 };

	while (said.n > 0 && slice_cut(&said, '\n', &line))
		if (slice_cut(&line, '\x1f', &one) && slice_is(one, kind) &&
		    slice_cut(&line, '\x1f', &one) &&
		    slice_equal(one, socket))
			found = line;
	return found;
}

/* Did it keep those after it from being asked? */
static bool
said_is_end(struct slice how, enum conf_milter_fail fail)
{
	return slice_is(how, "refuse") || slice_is(how, "discard") ||
	    (slice_is(how, "fail") && (fail == MILTER_FAIL_REJECT ||
	    fail == MILTER_FAIL_TEMPFAIL));
}

void
said_of_message(const struct session *session, bool was_shown,
    struct str *out)
{
	const struct conf *conf = session->settings->conf;
	struct slice said = str_slice(&session->transaction->said);

	str_add_slice(out, said);
	for (size_t i = 0; was_shown && session->filter != NULL &&
	    i < conf->milter_count; i++) {
		const struct conf_milter *milter = &conf->milters[i];
		struct slice how = said_find(said, "milter",
		    slice_of(milter->socket));

		if (milter->has_except && net_contains(&milter->except,
		    &session->client.net))
			continue;
		if (said_is_end(how, milter->fail))
			break;
		if (how.n == 0)
			said_add(out, "milter", slice_of(milter->socket),
			    "pass");
	}
}
