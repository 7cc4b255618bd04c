/* meaning.c - what the reply to a POST comes to
 *
 * In     a status code, the reply's words
 * Out    a verdict
 * Holds  nothing
 * Trusts the words only as far as they are escaped
 * Spec   RFC 9110 section 15; RFC 3463; zmailer-http(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/http/http.h"

#include "base/banned.h"

/* The first row that fits: exactly, or the hundred. */
static const struct {
	unsigned	 code, codes;	/* to and with */
	enum verdict_kind kind;
	const char	*status;
	bool		 is_host;	/* whoever is addressed */
} rows[] = {
	{ 200, 299, VERDICT_DELIVERED, "2.0.0", false },
	/* not followed: where mail goes is the site's to say */
	{ 300, 399, VERDICT_DEFERRED, "4.3.5", true },
	{ 400, 400, VERDICT_FAILED, "5.6.0", false },
	/* our credentials or the host's rules: the site can mend either, and
	 * a token that expired must not cost mail */
	{ 401, 401, VERDICT_DEFERRED, "4.7.8", true },
	{ 403, 403, VERDICT_DEFERRED, "4.7.1", false },
	{ 404, 404, VERDICT_FAILED, "5.1.1", false },
	{ 405, 405, VERDICT_FAILED, "5.5.1", false },
	{ 407, 407, VERDICT_DEFERRED, "4.7.8", true },
	{ 408, 408, VERDICT_DEFERRED, "4.4.2", false },
	{ 410, 410, VERDICT_FAILED, "5.1.6", false },
	{ 413, 413, VERDICT_FAILED, "5.3.4", false },
	{ 415, 415, VERDICT_FAILED, "5.6.1", false },
	{ 422, 422, VERDICT_FAILED, "5.6.0", false },
	{ 425, 425, VERDICT_DEFERRED, "4.4.5", false },
	{ 429, 429, VERDICT_DEFERRED, "4.4.5", true },
	{ 451, 451, VERDICT_FAILED, "5.7.1", false },
	{ 400, 499, VERDICT_FAILED, "5.0.0", false },
	{ 503, 503, VERDICT_DEFERRED, "4.3.2", true },
	{ 507, 507, VERDICT_DEFERRED, "4.2.2", false },
	{ 500, 599, VERDICT_DEFERRED, "4.3.0", false },
	{ 0, ~0u, VERDICT_DEFERRED, "4.5.0", false },
};

void
http_meaning(const struct http_answer *answer, const char *who,
    struct verdict *out)
{
	size_t i = 0;

	while (answer->code < rows[i].code || answer->code > rows[i].codes)
		i++;
	verdict_set(out, rows[i].kind, rows[i].status, who, "%s",
	    answer->words.buf);
	out->host_trouble = rows[i].is_host;
}

/* Text for people, not for browsers. */
static bool
meaning_is_words(struct slice type)
{
	struct slice kind = slice_trim(slice_first(type,
	    slice_find(type, ';')));

	return slice_is_nocase(kind, "text/plain") ||
	    slice_is_nocase(kind, "application/json") ||
	    slice_is_nocase(kind, "application/problem+json");
}

void
http_words(struct str *out, const struct http_head *head, struct slice text)
{
	struct slice line;

	str_addf(out, "HTTP %u", head->code);
	if (head->reason.n > 0) {
		str_addc(out, ' ');
		str_add_escaped(out, slice_first(head->reason,
		    HTTP_WORDS_BYTES_MAX));
	}
	text = slice_trim(text);
	if (!meaning_is_words(head->type) || text.n == 0)
		return;
	line = slice_trim(slice_first(text, slice_find(text, '\n')));
	str_adds(out, ": ");
	str_add_escaped(out, slice_first(line, HTTP_WORDS_BYTES_MAX));
}
