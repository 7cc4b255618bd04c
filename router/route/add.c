/* add.c - the recipients that an address becomes
 *
 * In     channel, host, user; the form of a refusal
 * Out    recipients in a struct rcpts, with what all get: notify, sender,
 *        ORCPT, the rewriting of `generic`
 * Holds  nothing
 * Trusts nothing of an address
 * Spec   RFC 3461 sections 5.2.1, 5.2.7
 *
 * SPDX-License-Identifier: ISC
 */
#include "journal/counters.h"
#include "base/mem.h"
#include "grammar/smtp/dsn.h"
#include "grammar/smtp/xtext.h"
#include "router/route/rewrite.h"

#include "base/banned.h"

/* The address as it came, for the next hop and for reports, when the one in
 * hand is another (RFC 3461 section 5.2.1 item d allows to add it).  A list
 * with an owner is the end of the road for both (section 5.2.7.1). */
static struct slice
routing_orcpt(const struct routing *routing, struct slice user)
{
	struct str text = STR_INIT;
	struct slice copy;

	if (routing->sender != 0)
		return (struct slice){ NULL, 0 };
	if (routing->given->orcpt.n > 0)
		return routing->given->orcpt;
	if (slice_equal_nocase(user, routing->to))
		return (struct slice){ NULL, 0 };
	str_adds(&text, "rfc822;");
	xtext_encode(&text, routing->to);
	copy = text.len <= DSN_ORCPT_BYTES_MAX ?
	    slice_copy(routing->rcpts->arena, str_slice(&text)) :
	    (struct slice){ NULL, 0 };
	str_release(&text);
	return copy;
}

/* The address as it came where ORCPT is another's, or none: for those who look
 * for the message by it (grammar/selector.h). */
static struct slice
routing_given(const struct routing *routing, struct slice user)
{
	bool is_told = routing->sender == 0 && routing->given->orcpt.n == 0;
	struct str text = STR_INIT;
	struct slice copy;

	if (is_told || slice_equal_nocase(user, routing->to))
		return (struct slice){ NULL, 0 };
	xtext_encode(&text, routing->to);
	copy = slice_copy(routing->rcpts->arena, str_slice(&text));
	str_release(&text);
	return copy;
}

void
routing_done(const struct routing *routing, struct slice address,
    enum rcpt_done done, const struct rcpt_rule *rule)
{
	struct draft_rcpt rcpt = {
		.channel = SLICE("expand"), .host = SLICE("-"),
		.user = address, .uid = RCPT_UID_NOBODY,
		.notify = routing->notify, .sender = routing->sender,
		.done = done, .to = routing->to, .rule = *rule,
	};

	rcpt.orcpt = routing_orcpt(routing, address);
	rcpt.given = routing_given(routing, address);
	rcpts_add(routing->rcpts, &rcpt);
}

int
routing_add_rcpt(struct routing *routing, const struct draft_rcpt *found,
    struct err *err)
{
	const struct conf_limits *limits = &routing->router->conf->limits;
	struct draft_rcpt rcpt = *found;

	rcpt.notify = routing->notify;
	rcpt.sender = routing->sender;
	rcpt.to = routing->to;
	rcpt.zone = slice_of(routing->zone);
	if (rcpt.host.n == 0)
		rcpt.host = SLICE("-");
	if (routing->rule.kind != NULL)
		rcpt.rule = routing->rule;
	routing->counts->hits++;
	if (slice_starts(rcpt.channel, "smtp") && rcpt.sender == 0 &&
	    routing_redirect(routing, &rcpt.sender, err) < 0)
		return -1;
	if (routing->router->conf->generic_count > 0 &&
	    rewrite_rcpt(routing, &rcpt, err) < 0)
		return -1;
	rcpt.orcpt = routing_orcpt(routing, rcpt.user);
	rcpt.given = routing_given(routing, rcpt.user);
	if (rcpts_add(routing->rcpts, &rcpt) &&
	    ++routing->counts->added > limits->expansion) {
		counters_limit("expansion");
		routing->counts->is_over = true;
	}
	return 0;
}

int
routing_add(struct routing *routing, const char *channel, struct slice host,
    struct slice user, int64_t uid, const struct rcpt_rule *rule,
    struct err *err)
{
	struct draft_rcpt rcpt = { .channel = slice_of(channel), .host = host,
	    .user = user, .uid = uid, .rule = *rule };

	return routing_add_rcpt(routing, &rcpt, err);
}

int
routing_refuse(struct routing *routing, const char *form,
    const struct path *path, const struct rcpt_rule *rule)
{
	return routing_add(routing, "error", slice_of(form),
	    routing_join(routing, path->local, path->domain),
	    RCPT_UID_NOBODY, rule, NULL);
}
