/* received.c - the trace field that the router puts in front
 *
 * In     the envelope: client, protocol, id, recipient if only one
 * Out    a Received field
 * Holds  nothing
 * Trusts nothing: name and HELO are the client's words
 * Spec   RFC 5321 section 4.4; RFC 5322 section 3.2.2 for comments
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "base/clock.h"
#include "router/header/headers.h"

#include "base/banned.h"

enum { RECEIVED_COMMENT_BYTES_MAX = 400, RECEIVED_WORD_BYTES_MAX = 20 };

static bool
received_is_domain_byte(char c)
{
	return ascii_is_alnum(c) || c == '-' || c == '.' || c == '_' ||
	    c == '[' || c == ']' || c == ':';
}

static bool
received_is_domain(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!received_is_domain_byte(text.p[i]))
			return false;
	return text.n > 0 && text.n <= DOMAIN_MAX_BYTES;
}

static void
received_add_comment(struct str *out, struct slice text)
{
	str_addc(out, '(');
	text = slice_first(text, RECEIVED_COMMENT_BYTES_MAX);
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '(' || c == ')' || c == '\\')
			str_addc(out, '\\');
		str_addc(out, c >= ' ' && c <= '~' ? c : '?');
	}
	str_addc(out, ')');
}

/* rcvdfrom is "name (comment)"; a name that is no domain goes into the
 * comment, too. */
static void
received_add_from(struct str *out, struct slice rcvdfrom)
{
	struct slice name, rest = slice_trim(rcvdfrom);
	size_t blank = slice_find(rest, ' ');

	name = slice_first(rest, blank);
	str_adds(out, "from ");
	if (received_is_domain(name)) {
		str_add_slice(out, name);
		rest = slice_trim(slice_from(rest, blank));
	} else
		str_adds(out, "unknown");
	if (rest.n >= 2 && rest.p[0] == '(' && rest.p[rest.n - 1] == ')')
		rest = (struct slice){ rest.p + 1, rest.n - 2 };
	if (rest.n > 0) {
		str_addc(out, ' ');
		received_add_comment(out, rest);
	}
	str_adds(out, "\n\t");
}

static bool
received_is_protocol(struct slice word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!received_is_domain_byte(word.p[i]) || word.p[i] == ':')
			return false;
	return word.n > 0 && word.n <= RECEIVED_WORD_BYTES_MAX;
}

/* Only one recipient may be named: others must not learn of each other
 * (RFC 5321 section 7.6). */
static void
received_add_for(struct str *out, const struct envelope *envelope)
{
	const struct path *path;

	if (envelope->rcpt_count != 1 || envelope->header_rcpts)
		return;
	path = &envelope->rcpts[0].path;
	if (path->domain.n == 0)
		return;
	for (size_t i = 0; i < path->local.n; i++)
		if ((unsigned char)path->local.p[i] < ' ')
			return;
	str_adds(out, "\n\tfor <");
	path_add(out, path);
	str_addc(out, '>');
}

void
received_add(struct str *out, const struct envelope *envelope,
    const char *host)
{
	char date[CLOCK_TEXT_BYTES];

	clock_rfc5322(spool_id_time_us(slice_of(envelope->id)) / 1000000,
	    date);
	str_adds(out, "Received: ");
	if (envelope->rcvdfrom.n > 0)
		received_add_from(out, envelope->rcvdfrom);
	str_addf(out, "by %s (zmailer)", host);
	if (received_is_protocol(envelope->with))
		str_addf(out, " with " SLICE_FMT, SLICE_ARG(envelope->with));
	str_addf(out, " id %s", envelope->id);
	received_add_for(out, envelope);
	str_addf(out, "; %s\n", date);
}
