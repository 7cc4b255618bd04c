/* copying.c - what share is asked about copies: its words
 *
 * In     lines of our own daemons and tools
 * Out    questions
 * Holds  nothing
 * Trusts nothing: each word is of its letters and of its length
 * Spec   copying.h; doc/protocol/share.md section 4
 *
 *	question = token " copy " ID SP area / token " kept " ID /
 *		   token " done" 1*100( SP ID ) / token " lease" /
 *		   token " taken " EPOCH [ SP SERIAL ] /
 *		   token " left" 1*100( SP ID ) /
 *		   token " offer " SERIAL SP NODE 1*100( SP ID ) /
 *		   token " withdraw" 1*100( SP ID ) /
 *		   token " takeover " NODE [ SP EPOCH SP SECONDS ] /
 *		   token " overdue " SECONDS /
 *		   token " rows " ( ID / "-" ) / token " offers" /
 *		   token " take " NODE / token " arriving " ( ID / "-" ) /
 *		   token " arrived" 1*100( SP ID ) /
 *		   token " held " NODE SP ( ID / "-" )
 *	area     = "router" / "freezer/" CAUSE
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "conf/settings/cluster.h"
#include "share/copies/copying.h"

#include "base/banned.h"

static bool
copying_letters(struct slice word, const char *others)
{
	for (size_t i = 0; i < word.n; i++)
		if (!ascii_is_lower(word.p[i]) &&
		    !ascii_is_digit(word.p[i]) &&
		    !ascii_is_among(word.p[i], others))
			return false;
	return word.n > 0;
}

static bool
copying_is_id(struct slice word)
{
	return word.n <= COPYING_ID_BYTES_MAX && copying_letters(word, "");
}

static bool
copying_id(struct slice *rest, struct slice *out)
{
	return slice_word(rest, out) && copying_is_id(*out);
}

/* As the configuration has them. */
static bool
copying_node(struct slice *rest, struct slice *out)
{
	return slice_word(rest, out) && out->n <= CLUSTER_NAME_BYTES_MAX &&
	    !ascii_is_among(out->p[0], "-_.") && copying_letters(*out, "-_.");
}

static bool
copying_area(struct slice *rest, struct slice *out)
{
	static const char freezer[] = "freezer/";
	struct slice cause;

	if (!slice_word(rest, out))
		return false;
	if (slice_is(*out, "router"))
		return true;
	if (!slice_starts(*out, freezer))
		return false;
	cause = slice_from(*out, sizeof(freezer) - 1);
	return cause.n <= COPYING_CAUSE_BYTES_MAX &&
	    copying_letters(cause, "-_.");
}

static bool
copying_ids(struct slice *rest, struct copying *out)
{
	struct slice word;

	*rest = slice_trim(*rest);
	out->ids = *rest;
	while (rest->n > 0)
		if (!copying_id(rest, &word) ||
		    ++out->id_count > COPYING_IDS_MAX)
			return false;
	return out->id_count > 0;
}

static bool
copying_after(struct slice *rest, struct slice *out)
{
	if (!slice_word(rest, out))
		return false;
	if (!slice_is(*out, "-"))
		return copying_is_id(*out);
	out->n = 0;
	return true;
}

static bool
copying_number(struct slice *rest, struct slice *out)
{
	uint64_t number;

	return slice_word(rest, out) &&
	    slice_number(*out, 0, INT64_MAX, &number);
}

/* EPOCH, and perhaps SERIAL. */
static bool
copying_taken(struct slice *rest, struct copying *out)
{
	struct slice epoch;

	return copying_number(rest, &epoch) && (slice_trim(*rest).n == 0 ||
	    copying_number(rest, &out->serial));
}

static bool
copying_seconds(struct slice *rest, struct copying *out)
{
	struct slice word;

	return slice_word(rest, &word) &&
	    slice_number(word, 1, COPYING_AFTER_S_MAX, &out->after_s);
}

/* NODE, and perhaps EPOCH SECONDS. */
static bool
copying_takeover(struct slice *rest, struct copying *out)
{
	return copying_node(rest, &out->node) && (slice_trim(*rest).n == 0 ||
	    (copying_number(rest, &out->epoch) &&
	    copying_seconds(rest, out)));
}

/* What follows the verb. */
static bool
copying_rest(struct slice *rest, struct copying *out)
{
	switch (out->verb) {
	case COPYING_COPY:
		return copying_id(rest, &out->id) &&
		    copying_area(rest, &out->area);
	case COPYING_KEPT:
		return copying_id(rest, &out->id);
	case COPYING_DONE:
	case COPYING_LEFT:
	case COPYING_WITHDRAW:
	case COPYING_ARRIVED:
		return copying_ids(rest, out);
	case COPYING_TAKEN:
		return copying_taken(rest, out);
	case COPYING_OFFER:
		return copying_number(rest, &out->serial) &&
		    copying_node(rest, &out->node) && copying_ids(rest, out);
	case COPYING_TAKEOVER:
		return copying_takeover(rest, out);
	case COPYING_OVERDUE:
		return copying_seconds(rest, out);
	case COPYING_TAKE:
		return copying_node(rest, &out->node);
	case COPYING_ROWS:
	case COPYING_ARRIVING:
		return copying_after(rest, &out->id);
	case COPYING_HELD:
		return copying_node(rest, &out->node) &&
		    copying_after(rest, &out->id);
	case COPYING_LEASE:
	case COPYING_OFFERS:
	case COPYING_VERBS:
		break;
	}
	return true;
}

bool
copying_read(struct slice line, struct copying *out)
{
	static const char *const verbs[COPYING_VERBS] = {
		[COPYING_COPY] = "copy", [COPYING_KEPT] = "kept",
		[COPYING_DONE] = "done", [COPYING_LEASE] = "lease",
		[COPYING_TAKEN] = "taken", [COPYING_TAKEOVER] = "takeover",
		[COPYING_ROWS] = "rows", [COPYING_LEFT] = "left",
		[COPYING_OFFER] = "offer", [COPYING_WITHDRAW] = "withdraw",
		[COPYING_OFFERS] = "offers", [COPYING_TAKE] = "take",
		[COPYING_ARRIVING] = "arriving",
		[COPYING_ARRIVED] = "arrived", [COPYING_HELD] = "held",
		[COPYING_OVERDUE] = "overdue"
	};
	struct slice verb;
	int i;

	*out = (struct copying){ .line = line };
	if (!slice_word(&line, &out->token) ||
	    out->token.n >= COPYING_TOKEN_BYTES || !slice_word(&line, &verb))
		return false;
	for (i = 0; i < COPYING_VERBS && !slice_is(verb, verbs[i]); i++)
		;
	if (i == COPYING_VERBS)
		return false;
	out->verb = (enum copying_verb)i;
	return copying_rest(&line, out) && slice_trim(line).n == 0;
}

size_t
copying_descriptors(enum copying_verb verb)
{
	return verb == COPYING_KEPT ? 2 :
	    verb == COPYING_COPY || verb == COPYING_ARRIVING ||
	    verb == COPYING_HELD ? 1 : 0;
}

bool
copying_is_of_root(enum copying_verb verb)
{
	return verb >= COPYING_TAKEOVER && verb < COPYING_VERBS;
}

bool
copying_is_of_scheduler(const struct copying *question)
{
	return question->verb == COPYING_KEPT ||
	    question->verb == COPYING_OFFER ||
	    question->verb == COPYING_WITHDRAW ||
	    (question->verb == COPYING_TAKEN && question->serial.n > 0);
}

void
copying_add_array(struct str *out, struct slice ids)
{
	struct slice word;
	char before = '{';

	while (slice_word(&ids, &word)) {
		str_addc(out, before);
		str_add_slice(out, word);
		before = ',';
	}
	str_adds(out, before == '{' ? "{}" : "}");
}
