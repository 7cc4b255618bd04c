/* authres.c - the field Authentication-Results
 *
 * In     judgements
 * Out    a field; whether a field claims to be ours
 * Trusts nobody: what strangers wrote is a token, or stands in quotes
 * Spec   RFC 8601 section 2.2, RFC 6008
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "origin/authres/authres.h"
#include "origin/authres_read.h"

#include "base/banned.h"

enum {
	VALUE_BYTES_MAX = 320,
	LINE_BYTES_MAX = 900	/* 998 are allowed (RFC 5322 section 2.1.1) */
};

/* RFC 2045 token, and what RFC 8601 allows beside it: an address. */
static bool
authres_is_plain(struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c <= ' ' || c >= 127 || c == '(' || c == ')' || c == '<' ||
		    c == '>' || c == ',' || c == ';' || c == ':' ||
		    c == '\\' || c == '"' || c == '/' || c == '[' ||
		    c == ']' || c == '?' || c == '=')
			return false;
	}
	return text.n > 0;
}

static void
authres_add_value(struct str *out, struct slice text)
{
	text = slice_first(text, VALUE_BYTES_MAX);
	if (authres_is_plain(text)) {
		str_add_slice(out, text);
		return;
	}
	str_addc(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		/* without it, another name might stand there */
		if (c < ' ' || c >= 127)
			c = '?';
		if (c == '"' || c == '\\')
			str_addc(out, '\\');
		str_addc(out, (char)c);
	}
	str_addc(out, '"');
}

static void
authres_add_pair(struct str *out, const char *name, struct slice value)
{
	struct str pair = STR_INIT;
	size_t line = out->len;

	if (value.n == 0)
		return;
	while (line > 0 && out->buf[line - 1] != '\n')
		line--;
	str_addf(&pair, "%s=", name);
	authres_add_value(&pair, value);
	str_adds(out, out->len - line + pair.len < LINE_BYTES_MAX ? " " :
	    "\n\t");
	str_add_slice(out, str_slice(&pair));
	str_release(&pair);
}

static void
authres_add_method(struct str *out, const char *method, enum origin origin,
    const char *reason)
{
	str_addf(out, ";\n\t%s=%s", method, origin_standard_text(origin));
	if (origin != ORIGIN_PASS && origin != ORIGIN_NONE && reason != NULL)
		authres_add_pair(out, "reason", slice_of(reason));
}

static void
authres_add_dkim(struct str *out, const struct dkim *dkim)
{
	authres_add_method(out, "dkim", dkim->origin, dkim->reason);
	authres_add_pair(out, "header.d", dkim->domain);
	authres_add_pair(out, "header.i", dkim->identity);
	authres_add_pair(out, "header.s", dkim->selector);
	authres_add_pair(out, "header.a", dkim->algorithm);
	authres_add_pair(out, "header.b", dkim->signature);
}

static void
authres_add_dmarc(struct str *out, const struct dmarc *dmarc)
{
	authres_add_method(out, "dmarc", dmarc->origin, dmarc->reason);
	authres_add_pair(out, "header.from", dmarc->domain);
	if (dmarc->record.n == 0)
		return;
	authres_add_pair(out, "policy.dmarc",
	    slice_of(dmarc_policy_text(dmarc->policy)));
}

/* The seal that is believed is one of dmarc's reasons, too: what was done
 * about it was not what the domain asks (RFC 8617 section 7.2). */
static void
authres_add_arc(struct str *out, const struct origins *origins)
{
	struct str reason = STR_INIT;

	str_adds(&reason, origins->arc->reason);
	if (origins->sealer.n > 0)
		str_addf(&reason, "; %.*s, who is trusted here, saw DMARC "
		    "pass", SLICE_ARG(origins->sealer));
	str_addf(out, ";\n\tarc=%s", origin_text(origins->arc->origin));
	authres_add_pair(out, "reason", str_slice(&reason));
	str_release(&reason);
}

/* The last who signed, as of dkim. */
static void
authres_add_dkim2(struct str *out, const struct dkim2 *dkim2)
{
	const struct dkim2_hop *last = dkim2->hops != NULL ?
	    &dkim2->hops[dkim2->count - 1] : NULL;

	authres_add_method(out, "dkim2", dkim2->origin, dkim2->reason);
	if (last == NULL)
		return;
	authres_add_pair(out, "header.d", last->domain);
	authres_add_pair(out, "header.s", last->selector);
}

void
authres_add(struct str *out, const char *host, const struct origins *origins)
{
	size_t values;

	str_adds(out, "Authentication-Results: ");
	authres_add_value(out, slice_of(host));
	values = out->len;
	if (origins->helo_spf != NULL) {
		authres_add_method(out, "spf", origins->helo_spf->origin,
		    origins->helo_spf->reason);
		authres_add_pair(out, "smtp.helo", origins->helo);
	}
	if (origins->spf != NULL) {
		authres_add_method(out, "spf", origins->spf->origin,
		    origins->spf->reason);
		if (origins->sender.n > 0)
			authres_add_pair(out, "smtp.mailfrom",
			    origins->sender);
		else
			authres_add_pair(out, "smtp.helo", origins->helo);
	}
	for (size_t i = 0; i < origins->dkim_count; i++)
		authres_add_dkim(out, &origins->dkims[i]);
	if (origins->dmarc != NULL)
		authres_add_dmarc(out, origins->dmarc);
	if (origins->arc != NULL)
		authres_add_arc(out, origins);
	if (origins->dkim2 != NULL)
		authres_add_dkim2(out, origins->dkim2);
	if (out->len == values)
		str_adds(out, "; none");
}

/* ---- fields of others --------------------------------------------------- */

/* No token has them, nor controls (RFC 2045 section 5.1): what a reader who is
 * not strict takes for the name, before or after, is not known.  "=" is let
 * be: where others leave the name out, the field begins with "spf=pass". */
static bool
authres_is_special(char c)
{
	return (c >= 0 && c < ' ') || c == 0x7f ||
	    strchr("()<>@,;:\\\"/[]?", c) != NULL;
}

/* After the authserv-id: blanks, a comment, a version after them, or ";". */
static bool
authres_id_ends(char c)
{
	return c == ';' || c == '(' || ascii_is_space(c);
}

/* Is the authserv-id at the front, quotes taken off, this host in any case,
 * with a last dot or without? */
static bool
authres_id_is(struct slice rest, const char *host, bool *out_is_readable)
{
	bool is_quoted = rest.n > 0 && rest.p[0] == '"', is_same = true;
	size_t at = 0, n = strlen(host), i = is_quoted ? 1 : 0;
	bool has_dot = false;

	*out_is_readable = false;
	for (; i < rest.n; i++) {
		char c = rest.p[i];

		if (is_quoted && c == '"') {
			*out_is_readable = i + 1 == rest.n ||
			    authres_id_ends(rest.p[i + 1]);
			break;
		}
		if (!is_quoted && authres_id_ends(c))
			break;
		if (!is_quoted && authres_is_special(c))
			return false;
		if (is_quoted && c == '\\' && i + 1 < rest.n)
			c = rest.p[++i];
		if (is_same && at == n && c == '.')
			has_dot = is_same = !has_dot;
		else
			is_same = is_same && !has_dot && at < n &&
			    ascii_lower(host[at++]) == ascii_lower(c);
	}
	if (!is_quoted)
		*out_is_readable = i > 0;
	return is_same && at == n;
}

bool
authres_is_ours(struct slice value, const char *host)
{
	bool is_readable, is_same;

	if (!authres_skip(&value))
		return true;
	is_same = authres_id_is(value, host, &is_readable);
	return is_same || !is_readable;
}
