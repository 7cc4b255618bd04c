/* dovecot_lines.c - the lines of Dovecot's auth-client protocol
 *
 * In     words of a question; lines of Dovecot
 * Out    the other of the two
 * Trusts nothing: a tab or line end in what is sent would be another field
 * Spec   Dovecot's auth-protocol.txt, client protocol 1.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>

#include "daemon/auth/dovecot_lines.h"

#include "base/banned.h"

static bool
field_is_clean(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] <= ' ' || text.p[i] > '~')
			return false;
	return text.n > 0;
}

/* "[::1]:587": address and port as fields of their own. */
static void
dovecot_add_endpoint(struct str *out, char side, struct slice endpoint)
{
	size_t colon = endpoint.n;
	struct slice host;

	while (colon > 0 && endpoint.p[colon - 1] != ':')
		colon--;
	if (colon == 0)
		return;
	host = slice_first(endpoint, colon - 1);
	if (host.n > 1 && host.p[0] == '[')
		host = (struct slice){ host.p + 1, host.n - 2 };
	str_addf(out, "\t%cip=" SLICE_FMT "\t%cport=" SLICE_FMT, side,
	    SLICE_ARG(host), side, SLICE_ARG(slice_from(endpoint, colon)));
}

void
dovecot_add_greeting(struct str *out)
{
	str_addf(out, "VERSION\t1\t1\nCPID\t%ld\n", (long)getpid());
}

bool
dovecot_add_auth(struct str *out, unsigned id, struct slice args)
{
	struct slice mechanism, server, client, security, response;

	if (!slice_word(&args, &mechanism) || !slice_word(&args, &server) ||
	    !slice_word(&args, &client) || !slice_word(&args, &security) ||
	    !slice_word(&args, &response) || !field_is_clean(mechanism) ||
	    !field_is_clean(server) || !field_is_clean(client) ||
	    !field_is_clean(response))
		return false;
	str_addf(out, "AUTH\t%u\t" SLICE_FMT "\tservice=smtp", id,
	    SLICE_ARG(mechanism));
	if (slice_is(security, "tls"))
		str_adds(out, "\tsecured");
	dovecot_add_endpoint(out, 'l', server);
	dovecot_add_endpoint(out, 'r', client);
	if (slice_is(response, "="))
		str_adds(out, "\tresp=");
	else if (!slice_is(response, "-"))
		str_addf(out, "\tresp=" SLICE_FMT, SLICE_ARG(response));
	str_addc(out, '\n');
	return true;
}

static enum dovecot_verb
dovecot_verb(struct slice word)
{
	return slice_is(word, "CONT") ? DOVECOT_CONT :
	    slice_is(word, "OK") ? DOVECOT_OK :
	    slice_is(word, "FAIL") ? DOVECOT_FAIL : DOVECOT_OTHER;
}

bool
dovecot_reply_parse(struct slice line, struct dovecot_reply *out)
{
	struct slice word, id, field;
	uint64_t number;

	memset(out, 0, sizeof(*out));
	if (!slice_cut(&line, '\t', &word))
		return true;
	out->verb = dovecot_verb(word);
	if (out->verb == DOVECOT_OTHER)
		return true;
	if (!slice_cut(&line, '\t', &id) ||
	    !slice_number(id, 1, UINT32_MAX, &number))
		return false;
	out->id = (unsigned)number;
	if (out->verb == DOVECOT_CONT)
		(void)slice_cut(&line, '\t', &out->data);
	else
		while (slice_cut(&line, '\t', &field)) {
			if (slice_starts(field, "user="))
				out->user = slice_from(field, 5);
			else if (slice_is(field, "temp") || slice_is(field,
			    "code=temp_fail"))
				out->is_temporary = true;
		}
	return true;
}
