/* terms.c - what a sender asked for beside the addresses: the words
 *
 * In     a struct terms; or the words of a line
 * Out    the words; or the struct
 * Trusts nothing: each word is known, bounded and comes once
 * Spec   terms.h; doc/man/zmailer-message.5, doc/man/zmailer-control.5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "mail/terms.h"

#include "base/banned.h"

bool
terms_any(const struct terms *terms)
{
	return terms->is_utf8 || terms->needs_tls ||
	    terms->is_tls_optional || terms->is_rerouted ||
	    terms->is_queue_only || terms->is_verp ||
	    terms->is_never_reported ||
	    terms->steered != 0 || terms->tried != 0 ||
	    terms->priority != 0 ||
	    terms->hold_until_s != 0 || terms->by_s != 0 ||
	    terms->auth.n > 0 || terms->zone.n > 0;
}

static const struct {
	const char	*tls, *text;
} terms_tls_rows[] = {
	{ "required", "the sender asked that it leaves only over verified TLS "
	    "(REQUIRETLS)" },
	{ "optional", "the sender asked that TLS policies do not hold it back "
	    "(TLS-Required: No)" },
};

const char *
terms_tls(const struct terms *terms)
{
	if (terms->needs_tls)
		return terms_tls_rows[0].tls;
	return terms->is_tls_optional ? terms_tls_rows[1].tls : NULL;
}

const char *
terms_tls_text(struct slice tls)
{
	for (size_t i = 0; i < sizeof(terms_tls_rows) /
	    sizeof(terms_tls_rows[0]); i++)
		if (slice_is(tls, terms_tls_rows[i].tls))
			return terms_tls_rows[i].text;
	return NULL;
}

static bool
terms_is_print(struct slice value)
{
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		if (c <= ' ' || c == 0x7f)
			return false;
	}
	return true;
}

static bool
terms_is_word(struct slice value)
{
	return value.n > 0 && value.n <= TERMS_WORD_BYTES_MAX &&
	    terms_is_print(value);
}

static int
add_word(struct str *out, const char *key, struct slice value,
    struct err *err)
{
	if (value.n == 0)
		return 1;
	if (!terms_is_word(value))
		return err_set(err, "the value of %s cannot stand in a line",
		    key);
	str_addf(out, " %s=" SLICE_FMT, key, SLICE_ARG(value));
	return 1;
}

/* Commas are xtext's, too: the first two cut. */
static bool
steered_is_fit(const struct terms *terms)
{
	return terms->steered <= TERMS_STEERED_MAX &&
	    terms->via.n + terms->via_words.n <= TERMS_STEERED_BYTES_MAX &&
	    terms_is_print(terms->via) && terms_is_print(terms->via_words) &&
	    slice_find(terms->via, ',') == terms->via.n;
}

static int
add_steered(struct str *out, const struct terms *terms, struct err *err)
{
	if (terms->steered == 0)
		return 1;
	if (!steered_is_fit(terms))
		return err_set(err, "the value of steered cannot stand in a "
		    "line");
	str_addf(out, " steered=%u," SLICE_FMT "," SLICE_FMT, terms->steered,
	    SLICE_ARG(terms->via), SLICE_ARG(terms->via_words));
	return 1;
}

int
terms_add(struct str *out, const struct terms *terms, struct err *err)
{
	size_t start = out->len;

	if (terms->is_utf8)
		str_adds(out, " utf8");
	if (terms->needs_tls)
		str_adds(out, " requiretls");
	if (terms->is_tls_optional)
		str_adds(out, " tls-optional");
	if (terms->is_rerouted)
		str_adds(out, " rerouted");
	if (terms->is_queue_only)
		str_adds(out, " queue-only");
	if (terms->is_verp)
		str_adds(out, " verp");
	if (terms->is_never_reported)
		str_adds(out, " never-report");
	if (terms->priority != 0)
		str_addf(out, " priority=%d", terms->priority);
	if (terms->hold_until_s != 0)
		str_addf(out, " hold-until=%" PRId64, terms->hold_until_s);
	if (terms->by_s != 0)
		str_addf(out, " by=%" PRId64 ",%s%s", terms->by_s,
		    terms->by_returns ? "R" : "N",
		    terms->by_traces ? ",T" : "");
	if (terms->tried != 0)
		str_addf(out, " tried=%u", terms->tried);
	if (add_word(out, "auth", terms->auth, err) < 0 ||
	    add_word(out, "zone", terms->zone, err) < 0 ||
	    add_steered(out, terms, err) < 0) {
		out->len = start;
		return -1;
	}
	if (out->len > start) {		/* the blank in front */
		memmove(out->buf + start, out->buf + start + 1,
		    out->len - start - 1);
		out->len--;
		out->buf[out->len] = '\0';
	}
	return 0;
}

/* ---- the reader ---------------------------------------------------- */

static bool
read_utf8(struct slice value, struct terms *out)
{
	out->is_utf8 = true;
	return value.n == 0;
}

static bool
read_requiretls(struct slice value, struct terms *out)
{
	out->needs_tls = true;
	return value.n == 0;
}

static bool
read_tls_optional(struct slice value, struct terms *out)
{
	out->is_tls_optional = true;
	return value.n == 0;
}

static bool
read_rerouted(struct slice value, struct terms *out)
{
	out->is_rerouted = true;
	return value.n == 0;
}

static bool
read_queue_only(struct slice value, struct terms *out)
{
	out->is_queue_only = true;
	return value.n == 0;
}

static bool
read_verp(struct slice value, struct terms *out)
{
	out->is_verp = true;
	return value.n == 0;
}

static bool
read_never_report(struct slice value, struct terms *out)
{
	out->is_never_reported = true;
	return value.n == 0;
}

static bool
read_priority(struct slice value, struct terms *out)
{
	bool is_negative = slice_starts(value, "-");
	uint64_t number;

	if (!slice_number(slice_from(value, is_negative), 1,
		TERMS_PRIORITY_MAX, &number))
		return false;
	out->priority = is_negative ? -(int)number : (int)number;
	return true;
}

static bool
read_moment(struct slice value, int64_t *out_s)
{
	uint64_t number;

	if (!slice_number(value, 1, INT64_MAX, &number))
		return false;
	*out_s = (int64_t)number;
	return true;
}

static bool
read_hold_until(struct slice value, struct terms *out)
{
	return read_moment(value, &out->hold_until_s);
}

static bool
read_by(struct slice value, struct terms *out)
{
	struct slice moment;

	if (!slice_cut(&value, ',', &moment) ||
	    !read_moment(moment, &out->by_s))
		return false;
	out->by_traces = slice_is(slice_from(value, 1), ",T");
	out->by_returns = slice_starts(value, "R");
	return (out->by_returns || slice_starts(value, "N")) &&
	    (value.n == 1 || out->by_traces);
}

static bool
read_tried(struct slice value, struct terms *out)
{
	uint64_t number;

	if (!slice_number(value, 1, TERMS_TRIED_MAX, &number))
		return false;
	out->tried = (unsigned)number;
	return true;
}

static bool
read_auth(struct slice value, struct terms *out)
{
	out->auth = value;
	return terms_is_word(value);
}

static bool
read_zone(struct slice value, struct terms *out)
{
	out->zone = value;
	return terms_is_word(value);
}

static bool
read_steered(struct slice value, struct terms *out)
{
	struct slice count;
	uint64_t number;

	if (!slice_cut(&value, ',', &count) ||
	    !slice_number(count, 1, TERMS_STEERED_MAX, &number) ||
	    slice_find(value, ',') == value.n ||
	    !slice_cut(&value, ',', &out->via))
		return false;
	out->steered = (unsigned)number;
	out->via_words = value;
	return steered_is_fit(out);
}

static const struct word {
	const char	*name;
	bool		(*read)(struct slice value, struct terms *out);
} words[] = {
	{ "utf8", read_utf8 },
	{ "requiretls", read_requiretls },
	{ "tls-optional", read_tls_optional },
	{ "rerouted", read_rerouted },
	{ "queue-only", read_queue_only },
	{ "verp", read_verp },
	{ "never-report", read_never_report },
	{ "priority", read_priority },
	{ "hold-until", read_hold_until },
	{ "by", read_by },
	{ "tried", read_tried },
	{ "auth", read_auth },
	{ "zone", read_zone },
	{ "steered", read_steered },
};

static int
read_word(struct slice word, unsigned *seen, struct terms *out,
    struct err *err)
{
	struct slice name = slice_first(word, slice_find(word, '='));

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!slice_is(name, words[i].name))
			continue;
		if ((*seen & 1u << i) != 0)
			return err_set(err, "'%s' a second time",
			    words[i].name);
		*seen |= 1u << i;
		if (!words[i].read(slice_from(word, name.n + 1), out))
			return err_set(err, "bad value in '" SLICE_FMT "'",
			    SLICE_ARG(slice_first(word, 60)));
		return 0;
	}
	return err_set(err, "unknown word '" SLICE_FMT "'",
	    SLICE_ARG(slice_first(word, 60)));
}

int
terms_parse(struct slice text, struct terms *out, struct err *err)
{
	unsigned seen = 0;
	struct slice word;

	memset(out, 0, sizeof(*out));
	while (slice_word(&text, &word))
		if (read_word(word, &seen, out, err) < 0)
			return -1;
	return 0;
}
