/* route_value.c - what stands in a table of routes
 *
 * In     the value of an entry, the domain it is asked for
 * Out    channel, host, user; the ways after else
 * Holds  nothing
 * Trusts nothing in it: a bad value is a complaint
 * Spec   zmailer.conf(5), route; routes of ZMailer: channel!host!user
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/conf.h"
#include "conf/route_value.h"
#include "grammar/units.h"

#include "base/banned.h"

enum { CHANNEL_BYTES_MAX = 32, ERROR_WORDS_BYTES_MAX = 400 };

static bool
is_channel(struct slice word)
{
	if (word.n == 0 || word.n > CHANNEL_BYTES_MAX)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		char c = word.p[i];

		if (!ascii_is_lower(c) && !ascii_is_digit(c) &&
		    c != '-' && c != '_')
			return false;
	}
	return true;
}

/* No blanks and controls: it becomes a word of the control file. */
static bool
route_word_is(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 127)
			return false;
	return text.n > 0;
}

struct slice
route_error_host(struct arena *arena, struct slice words)
{
	char *word;

	if (words.n == 0)
		return SLICE("unresolvable");
	words = slice_first(words, ERROR_WORDS_BYTES_MAX);
	word = slice_dup(arena, words);
	for (size_t i = 0; i < words.n; i++)
		if (word[i] <= ' ' || word[i] > '~')
			word[i] = '_';
	return (struct slice){ word, words.n };
}

void
route_target_complete(struct arena *arena, const char *channel,
    const char *host, struct slice domain, struct route_target *out)
{
	*out = (struct route_target){ .channel = slice_of(channel),
	    .host = slice_of(host) };
	if (slice_is(out->channel, "error") ||
	    (slice_is(out->channel, "hold") && !slice_is(out->host, "-")))
		out->host = route_error_host(arena, out->host);
	else if (out->host.n == 0)
		out->host = slice_starts(out->channel, "smtp") ? domain :
		    SLICE("-");
	else if (slice_ends(out->host, "@"))	/* mx login NAME */
		out->host = slice_of(arena_printf(arena, SLICE_FMT SLICE_FMT,
		    SLICE_ARG(out->host), SLICE_ARG(domain)));
}

/* What stands after "channel!": "", "host" or "host!user". */
static int
parse_after_bang(struct arena *arena, struct slice after, struct slice domain,
    struct route_target *out, struct err *err)
{
	size_t bang = slice_find(after, '!');

	out->host = slice_first(after, bang);
	if (bang < after.n)
		out->user = slice_from(after, bang + 1);
	if (slice_is(out->channel, "error")) {
		out->host = route_error_host(arena, after);
		out->user = (struct slice){ NULL, 0 };
	} else if (after.n == 0)
		out->host = slice_starts(out->channel, "smtp") ? domain :
		    SLICE("-");
	if (!route_word_is(out->host) || (out->user.n > 0 &&
	    !route_word_is(out->user)))
		return err_set(err, "a host and a user have no blanks");
	return 1;
}

/* What the configuration says: words, not bangs. */
static int
parse_words(struct arena *arena, struct slice value, struct slice domain,
    struct route_target *out, struct err *err)
{
	const char *channel, *host;

	if (conf_target_parse(arena, value, &channel, &host, err) < 0)
		return -1;
	route_target_complete(arena, channel, host, domain, out);
	if (route_word_is(out->host))
		return 1;
	return err_set(err, "a host has no blanks");
}

static int
route_target_parse(struct arena *arena, struct slice value, struct slice domain,
    struct route_target *out, struct err *err)
{
	size_t bang;

	value = slice_trim(value);
	bang = slice_find(value, '!');
	out->channel = slice_lower(arena, slice_first(value, bang));
	out->user = (struct slice){ NULL, 0 };
	if (bang == value.n || !is_channel(out->channel))
		return parse_words(arena, value, domain, out, err);
	if (slice_is(out->channel, "ignore"))
		return 0;
	return parse_after_bang(arena, slice_from(value, bang + 1), domain, out,
	    err);
}

/* Up to the next " else ", which *rest stands after then; the words of an
 * error may be anything. */
static struct slice
cut_else(struct slice *rest)
{
	static const char word[] = " else ";
	struct slice value = slice_trim(*rest), part = value;
	const char *p = slice_starts(value, "error") || value.n == 0 ? NULL :
	    memmem(value.p, value.n, word, sizeof(word) - 1);

	if (p != NULL)
		part = slice_first(value, (size_t)(p - value.p));
	*rest = slice_from(value, p == NULL ? value.n : part.n +
	    sizeof(word) - 1);
	return part;
}

/* "after SPAN" in front of a target. */
static int
cut_after(struct slice *rest, int64_t *out_s, struct err *err)
{
	struct slice span, after = slice_trim(*rest);
	int64_t span_ms;

	*out_s = 0;
	if (!slice_starts(after, "after "))
		return 1;
	after = slice_from(after, 6);
	if (!slice_word(&after, &span) ||
	    units_span_ms(span, &span_ms, NULL) != 0 || span_ms < 1000)
		return err_set(err, "write else after SPAN TARGET");
	*out_s = span_ms / 1000;
	*rest = after;
	return 1;
}

/* One more way, after else. */
static int
parse_way(struct arena *arena, struct slice *rest, struct slice domain,
    struct route_target *out, struct err *err)
{
	struct route_target other;
	int64_t after_s;

	if (out->way_count + 1 == CONTROL_WAYS_MAX)
		return err_set(err, "a route has at most %d targets",
		    CONTROL_WAYS_MAX);
	if (cut_after(rest, &after_s, err) != 1)
		return -1;
	if (route_target_parse(arena, cut_else(rest), domain, &other, err) != 1)
		return err_prefix(err, "after else");
	if (out->ways == NULL)
		out->ways = arena_alloc(arena, CONTROL_WAYS_MAX *
		    sizeof(*out->ways));
	out->ways[out->way_count++] = (struct control_way){
		.channel = other.channel,
		.host = other.host,
		.user = other.user,
		.uid = CONTROL_UID_NOBODY,
		.after_s = after_s
	};
	return 1;
}

enum route_value
route_value_parse(struct arena *arena, struct slice value,
    struct slice domain, struct route_target *out, struct err *err)
{
	struct slice first = cut_else(&value);
	int found;

	out->ways = NULL;
	out->way_count = 0;
	found = route_target_parse(arena, first, domain, out, err);
	while (found == 1 && value.n > 0)
		found = parse_way(arena, &value, domain, out, err);
	return found;
}
