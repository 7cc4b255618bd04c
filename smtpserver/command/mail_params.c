/* mail_params.c - what MAIL says beside its address, one row each
 *
 *	SIZE=1*20DIGIT                         RFC 1870 section 3
 *	BODY=7BIT / 8BITMIME / BINARYMIME      RFC 6152 section 2, RFC 3030
 *	SMTPUTF8                               RFC 6531 section 3.4
 *	RET=FULL / HDRS                        RFC 3461 section 4.3
 *	ENVID=xtext                            RFC 3461 section 4.4
 *	BY=["-" / "+"]1*9DIGIT;R / N["T"]      RFC 2852 section 4
 *	HOLDFOR=1*9DIGIT, HOLDUNTIL=date-time  RFC 4865 section 3
 *	MT-PRIORITY=["-"]DIGIT                 RFC 6710 section 4
 *	REQUIRETLS                             RFC 8689 section 2
 *	AUTH=<> / xtext                        RFC 4954 section 5
 *
 * Which of them may stand is keywords.c's to say.  What is not obeyed here
 * goes into the terms of the envelope.
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/clock.h"
#include "journal/counters.h"
#include "grammar/message/date.h"
#include "grammar/smtp/xtext.h"
#include "smtpserver/command/mail_params.h"

#include "base/banned.h"

enum { SIZE_DIGITS_MAX = 20, SPAN_DIGITS_MAX = 9 };

static bool
mail_param_refuse(struct session_answer *out, const char *text)
{
	answer_set(out, 501, "5.5.4", "%s", text);
	return false;
}

/* What no counter holds is larger than any limit. */
static bool
mail_param_size(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct mail_params *params = target;

	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] < '0' || value.p[i] > '9')
			value.n = 0;
	if (value.n == 0 || value.n > SIZE_DIGITS_MAX)
		return mail_param_refuse(out, "SIZE takes a number of bytes");
	if (!slice_number(value, 0, UINT64_MAX, &params->size_bytes))
		params->size_bytes = UINT64_MAX;
	return true;
}

static bool
mail_param_body(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct mail_params *params = target;

	if (slice_is_nocase(value, "7BIT"))
		params->bodytype = SLICE("7BIT");
	else if (slice_is_nocase(value, "8BITMIME"))
		params->bodytype = SLICE("8BITMIME");
	else if (!keyword_is_on(session, EHLO_BINARYMIME))
		return mail_param_refuse(out, "BODY is 7BIT or 8BITMIME");
	else if (slice_is_nocase(value, "BINARYMIME"))
		params->bodytype = SLICE("BINARYMIME");
	else
		return mail_param_refuse(out,
		    "BODY is 7BIT, 8BITMIME or BINARYMIME");
	return true;
}

static bool
mail_param_utf8(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	((struct mail_params *)target)->terms.is_utf8 = true;
	return true;
}

static bool
mail_param_ret(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct mail_params *params = target;
	struct err err;

	return dsn_ret_parse(value, &params->ret, &err) == 0 ||
	    mail_param_refuse(out, err.text);
}

static bool
mail_param_envid(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct err err;

	((struct mail_params *)target)->envid = value;
	return dsn_envid_check(value, &err) == 0 ||
	    mail_param_refuse(out, err.text);
}

/* Would it be late before it is let go?  In either order of the two. */
static bool
mail_is_in_time(const struct terms *terms, struct session_answer *out)
{
	return terms->by_s == 0 || !terms->by_returns ||
	    terms->by_s > terms->hold_until_s ||
	    mail_param_refuse(out, "it would be held longer than it may take");
}

static bool
mail_param_by(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct terms *terms = &((struct mail_params *)target)->terms;
	bool is_past = slice_starts(value, "-"), has_sign = is_past ||
	    slice_starts(value, "+");
	struct slice digits;
	uint64_t span_s;
	int64_t now_s = clock_wall_s();

	value = slice_from(value, has_sign);
	if (!slice_cut(&value, ';', &digits) || digits.n > SPAN_DIGITS_MAX ||
	    !slice_number(digits, 0, 999999999, &span_s))
		return mail_param_refuse(out,
		    "BY takes SECONDS;R or SECONDS;N");
	terms->by_traces = value.n == 2 && (value.p[1] | 32) == 't';
	terms->by_returns = value.n > 0 && (value.p[0] | 32) == 'r';
	if ((!terms->by_returns && (value.n == 0 ||
	    (value.p[0] | 32) != 'n')) || value.n != 1u + terms->by_traces)
		return mail_param_refuse(out,
		    "the mode of BY is R, N, RT or NT");
	if (terms->by_returns && (is_past || span_s == 0))
		return mail_param_refuse(out,
		    "with mode R the time of BY must lie ahead");
	terms->by_s = is_past ? now_s - (int64_t)span_s :
	    now_s + (int64_t)span_s;
	if (terms->by_s < 1)
		terms->by_s = 1;
	return mail_is_in_time(terms, out);
}

static bool
mail_hold_until(struct session *session, int64_t until_s, struct terms *terms,
    struct session_answer *out)
{
	int64_t now_s = clock_wall_s();
	int64_t max_s = session->settings->conf->limits.hold_ms / 1000;

	if (terms->hold_until_s != 0)
		return mail_param_refuse(out, "HOLDFOR or HOLDUNTIL, not both");
	if (until_s - now_s > max_s) {
		counters_limit("hold");
		answer_set(out, 501, "5.5.4", "mail is held for at most %"
		    PRId64 " seconds", max_s);
		return false;
	}
	terms->hold_until_s = until_s > 0 ? until_s : 1;
	return mail_is_in_time(terms, out);
}

static bool
mail_param_hold_for(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct terms *terms = &((struct mail_params *)target)->terms;
	uint64_t span_s;

	if (value.n > SPAN_DIGITS_MAX ||
	    !slice_number(value, 1, 999999999, &span_s))
		return mail_param_refuse(out,
		    "HOLDFOR takes a number of seconds");
	return mail_hold_until(session, clock_wall_s() + (int64_t)span_s, terms,
	    out);
}

static bool
mail_param_hold_until(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct terms *terms = &((struct mail_params *)target)->terms;
	int64_t until_s;
	struct err err;

	if (date_parse(value, &until_s, &err) != 0)
		return mail_param_refuse(out, err.text);
	return mail_hold_until(session, until_s, terms, out);
}

/* RFC 6710 section 5.1: whoever is not trusted gets no more than 0; the
 * reply to the message will say so. */
static bool
mail_param_priority(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct mail_params *params = target;
	bool is_low = slice_starts(value, "-");
	uint64_t number;

	value = slice_from(value, is_low);
	if (value.n != 1 || !slice_number(value, is_low, TERMS_PRIORITY_MAX,
	    &number))
		return mail_param_refuse(out,
		    "MT-PRIORITY is a number from -9 to 9");
	params->priority_asked = is_low ? -(int)number : (int)number;
	params->terms.priority = params->priority_asked;
	if (number > 0 && !is_low &&
	    (session->trust & 1u << TRUST_PRIORITY) == 0)
		params->terms.priority = 0;
	return true;
}

static bool
mail_param_requiretls(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	((struct mail_params *)target)->terms.needs_tls = true;
	return true;
}

/* RFC 4954 section 5: from a client that is not trusted with it the value
 * counts as <>. */
static bool
mail_param_auth(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct terms *terms = &((struct mail_params *)target)->terms;
	struct str mailbox = STR_INIT;
	struct slice rest;
	struct path path;
	struct err err;
	bool is_good = slice_is(value, "<>") ||
	    (value.n <= TERMS_WORD_BYTES_MAX &&
	    xtext_decode(value, &mailbox, &err) == 0 &&
	    path_parse(str_slice(&mailbox), PATH_BARE_OK | PATH_UTF8, &path,
	    &rest, &err) == 0 && rest.n == 0);

	str_release(&mailbox);
	terms->auth = session->user.len > 0 ||
	    (session->trust & 1u << TRUST_AUTH) != 0 ? value : SLICE("<>");
	return is_good || mail_param_refuse(out,
	    "AUTH takes an address, encoded as xtext, or <>");
}

static const struct argument_row rows[] = {
	{ "SIZE", EHLO_SIZE, true, mail_param_size },
	{ "BODY", EHLO_8BITMIME, true, mail_param_body },
	{ "SMTPUTF8", EHLO_SMTPUTF8, false, mail_param_utf8 },
	{ "RET", EHLO_DSN, true, mail_param_ret },
	{ "ENVID", EHLO_DSN, true, mail_param_envid },
	{ "BY", EHLO_DELIVERBY, true, mail_param_by },
	{ "HOLDFOR", EHLO_FUTURERELEASE, true, mail_param_hold_for },
	{ "HOLDUNTIL", EHLO_FUTURERELEASE, true, mail_param_hold_until },
	{ "MT-PRIORITY", EHLO_MT_PRIORITY, true, mail_param_priority },
	{ "REQUIRETLS", EHLO_REQUIRETLS, false, mail_param_requiretls },
	{ "AUTH", EHLO_AUTH, true, mail_param_auth },
	{ NULL, EHLO_COUNT, false, NULL }
};

bool
mail_params_take(struct session *session, struct slice rest,
    struct mail_params *params, struct session_answer *out)
{
	return params_take(session, rest, rows, params, out);
}

bool
mail_params_utf8(struct slice args)
{
	struct slice word;

	while (slice_word(&args, &word))
		if (slice_is_nocase(word, "SMTPUTF8"))
			return true;
	return false;
}
