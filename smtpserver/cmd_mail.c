/* cmd_mail.c - MAIL
 *
 *	mail = "MAIL FROM:" Reverse-path [ SP Mail-parameters ] CRLF
 *	SIZE=1*20DIGIT              RFC 1870 section 3
 *	BODY=7BIT / BODY=8BITMIME   RFC 6152 section 2
 *	RET=FULL / RET=HDRS         RFC 3461 section 4.3
 *	ENVID=xtext                 RFC 3461 section 4.4
 *
 * RFC 5321 section 4.1.1.2.  A blank behind the colon is tolerated.  A
 * parameter may stand once.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/argument.h"
#include "smtpserver/commands.h"

#include "base/banned.h"

enum { SIZE, BODY, RET, ENVID };

static const char *const known[] = { "SIZE", "BODY", "RET", "ENVID", NULL };

struct mail_params {
	uint64_t	 size_bytes;
	struct slice	 bodytype, envid;
	enum dsn_ret	 ret;
};

enum { SIZE_DIGITS_MAX = 20 };

static int
size_parse(struct slice value, uint64_t *out, struct err *err)
{
	if (value.n > 0 && value.n <= SIZE_DIGITS_MAX &&
	    slice_number(value, 0, UINT64_MAX, out))
		return 1;
	return err_set(err, "SIZE takes a number of bytes");
}

static int
body_parse(struct slice value, struct slice *out, struct err *err)
{
	if (slice_is_nocase(value, "7BIT"))
		*out = SLICE("7BIT");
	else if (slice_is_nocase(value, "8BITMIME"))
		*out = SLICE("8BITMIME");
	else
		return err_set(err, "BODY is 7BIT or 8BITMIME");
	return 1;
}

static int
param_take(struct mail_params *params, int which, struct slice value,
    struct err *err)
{
	switch (which) {
	case SIZE:
		return size_parse(value, &params->size_bytes, err);
	case BODY:
		return body_parse(value, &params->bodytype, err);
	case RET:
		return dsn_ret_parse(value, &params->ret, err);
	default:
		params->envid = value;
		return dsn_envid_check(value, err);
	}
}

static bool
params_take(struct session *session, struct slice rest,
    struct mail_params *params, struct answer *out)
{
	struct slice value;
	unsigned seen = 0;
	struct err err;
	int which;

	while ((which = argument_param(session, &rest, known, &seen, &value,
	    out)) >= 0)
		if (param_take(params, which, value, &err) != 1) {
			answer_set(out, 501, "5.5.4", "%s", err.text);
			return false;
		}
	return which == ARGUMENT_END;
}

static bool
is_room(struct session *session, const struct mail_params *params,
    struct answer *out)
{
	const struct conf_limits *limits = &session->settings->conf->limits;

	if (limits->session_messages > 0 &&
	    session->messages >= limits->session_messages)
		answer_set(out, 421, "4.7.0",
		    "that is enough for one session, please connect again");
	else if (limits->size_bytes > 0 &&
	    params->size_bytes > limits->size_bytes)
		answer_set(out, 552, "5.3.4",
		    "a message may have at most %llu bytes",
		    (unsigned long long)limits->size_bytes);
	else if (!service_has_space(session->service, params->size_bytes,
	    false))
		answer_set(out, 452, "4.3.1",
		    "no space to store it now, try later");
	else
		return true;
	return false;
}

void
cmd_mail(struct session *session, struct slice args, struct answer *out)
{
	struct mail_params params = { 0 };
	struct transaction *t;
	struct path sender;
	struct slice rest;

	if (!argument_path(args, "FROM:", PATH_NULL_OK, "5.1.7", &sender,
	    &rest, out) ||
	    !params_take(session, rest, &params, out) ||
	    !is_room(session, &params, out))
		return;
	t = session->transaction = transaction_new(&sender);
	t->envelope.bodytype = params.bodytype;
	t->envelope.ret = params.ret;
	t->envelope.envid = slice_copy(t->arena, params.envid);
	answer_set(out, 250, "2.1.0", "sender ok");
}
