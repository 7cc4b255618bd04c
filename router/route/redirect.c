/* redirect.c - the sender of what is sent on, and the way back
 *
 * In     a recipient that an alias sends to another system
 * Out    the sender it gets; the recipient that such a sender stands for
 * Holds  nothing; the keys are a table that follows its file
 * Trusts an address only when srs.c made it
 * Spec   router/route/srs.h; zmailer.conf(5), srs
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/mem.h"
#include "router/route/routing.h"
#include "router/route/srs.h"

#include "base/banned.h"

enum { DAY_S = 24 * 3600 };

struct keys {
	struct srs	*srs;
	struct err	*err;
	unsigned	 line;		/* of a bad one */
};

static bool
redirect_take_key(void *context, struct slice key, struct slice value,
    unsigned line)
{
	struct keys *keys = context;

	if (srs_key_add(keys->srs, value, keys->err) == 0)
		return true;
	keys->line = line;
	return false;
}

static int
redirect_read_keys(struct routing *routing, struct srs *out, struct err *err)
{
	const struct conf_srs *conf = &routing->router->conf->srs;
	struct keys keys = { .srs = out, .err = err };
	struct err what;

	*out = (struct srs){ .day = clock_wall_s() / DAY_S,
	    .days_good = conf->expire_s / DAY_S };
	switch (table_each(routing->router->srs_keys, redirect_take_key, &keys,
	    err)) {
	case TABLE_NONE:
		err_set(err, "there is no key in %s", conf->key);
		break;
	case TABLE_FOUND:
		if (keys.line == 0)
			return 0;
		what = *err;
		err_set(err, "%s:%u: %s", conf->key, keys.line, what.text);
		break;
	case TABLE_TROUBLE:
		break;
	}
	return routing_trouble(routing, "srs", "");
}

/* The domain of the sender, when it is somebody else's. */
static enum route_answer
redirect_is_foreign(struct routing *routing, struct slice sender,
    struct slice *out_local, struct slice *out_domain, struct err *err)
{
	const struct conf_domain *ours;
	size_t at = sender.n;
	enum route_answer is_ours;
	struct slice name;
	struct err bad;

	while (at > 0 && sender.p[at - 1] != '@')
		at--;
	if (at < 2)
		return ROUTE_NO;
	*out_local = slice_first(sender, at - 1);
	*out_domain = slice_from(sender, at);
	if (out_local->p[0] == '"' || router_domain(routing->rcpts->arena,
	    *out_domain, &name, &bad) < 0 || name.p[0] == '[')
		return ROUTE_NO;
	is_ours = routing_domain(routing, name, &ours, err);
	return is_ours == ROUTE_TROUBLE ? ROUTE_TROUBLE :
	    is_ours == ROUTE_YES ? ROUTE_NO : ROUTE_YES;
}

static int
redirect_make_sender(struct routing *routing, struct slice came,
    struct slice local,
    struct slice domain, struct err *err)
{
	const char *ours = routing->router->conf->srs.domain;
	struct rcpt_sender sender = { .errors_to = came };
	struct str text = STR_INIT;
	struct srs srs;

	if (redirect_read_keys(routing, &srs, err) < 0)
		return -1;
	if (srs_make(&srs, local, domain, &text)) {
		str_addf(&text, "@%s", ours);
		sender.address = slice_copy(routing->rcpts->arena,
		    str_slice(&text));
		routing->rcpts->redirect = rcpts_sender(routing->rcpts,
		    &sender);
	}
	str_release(&text);
	return 0;
}

int
routing_redirect(struct routing *routing, unsigned *out_sender,
    struct err *err)
{
	struct rcpts *rcpts = routing->rcpts;
	struct slice came = rcpts->senders[0]->address, local, domain;
	enum route_answer is_foreign;

	*out_sender = 0;
	if (routing->router->srs_keys == NULL || routing->sender != 0 ||
	    routing->rule.kind == NULL || came.n == 0)
		return 0;
	if (!rcpts->was_redirected) {
		is_foreign = redirect_is_foreign(routing, came, &local,
		    &domain, err);
		if (is_foreign == ROUTE_TROUBLE ||
		    (is_foreign == ROUTE_YES && redirect_make_sender(routing,
		    came, local, domain, err) < 0))
			return -1;
		rcpts->was_redirected = true;
	}
	*out_sender = rcpts->redirect;
	return 0;
}

int
redirect_open(struct routing *routing, struct slice local, struct path *out,
    struct err *err)
{
	struct str text = STR_INIT;
	struct slice original, rest;
	struct err why;
	struct srs srs;
	int result;

	out->local.n = 0;
	if (redirect_read_keys(routing, &srs, err) < 0)
		return -1;
	result = srs_open(&srs, local, &text, &why);
	original = slice_copy(routing->rcpts->arena, str_slice(&text));
	str_release(&text);
	if (result < 0 || path_parse(original, PATH_BARE_OK | PATH_UTF8,
	    out, &rest, &why) != 0 || rest.n > 0)
		out->local.n = 0;
	return 0;
}
