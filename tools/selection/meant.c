/* meant.c - is a recipient meant by a selector: every key, from the files
 *
 * In     a selector; a message as view.h has it; the configuration
 * Out    yes or no
 * Holds  nothing
 * Trusts nothing in the files
 * Spec   grammar/selector.h; zmailer-selector(7)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "mail/classify.h"
#include "tools/selection/selection.h"

#include "base/banned.h"

/* The bit of selector_keys_used for a key. */
static uint32_t
key_bit(const char *name)
{
	for (uint32_t i = 0; selector_keys[i].name != NULL; i++)
		if (strcmp(selector_keys[i].name, name) == 0)
			return UINT32_C(1) << i;
	return 0;
}

/* Does a test for the area fit trash/ alone?  Who does not ask for it does not
 * see it. */
static bool
selector_asks_for_trash(const struct selector *selector)
{
	const char *others[AREA_COUNT];
	size_t count = 0;

	for (enum spool_area area = 0; area < AREA_COUNT; area++)
		if (area != AREA_TRASH)
			others[count++] = spool_area_names[area];
	return selector_misfit(selector, SELECTOR_KEY_AREA, others, count).n >
	    0;
}

void
selection_test_init(struct selection_test *test,
    const struct selector *selector,
    const struct conf *conf, int64_t now_s)
{
	*test = (struct selection_test){ .selector = selector, .conf = conf,
	    .now_s = now_s };
	if (selector == NULL)
		return;
	test->keys = selector_keys_used(selector);
	if ((test->keys & key_bit("msgid")) != 0)
		test->flags = VIEW_MSGID;
	if (selector_asks_for_trash(selector))
		test->flags |= VIEW_TRASH;
}

bool
selection_is_shared(const struct selector *selector)
{
	return (selector_keys_used(selector) & (key_bit("state") |
	    key_bit("dest-state") |
	    key_bit("area") | key_bit("why"))) == 0;
}

/* "smtp/host", or nothing while no route is known. */
static struct slice
meant_dest_of(const struct view_rcpt *rcpt, char *out, size_t size)
{
	size_t n = rcpt->channel.n + 1 + rcpt->host.n;

	if (rcpt->channel.n == 0 || n > size)
		return (struct slice){ NULL, 0 };
	memcpy(out, rcpt->channel.p, rcpt->channel.n);
	out[rcpt->channel.n] = '/';
	if (rcpt->host.n > 0)
		memcpy(out + rcpt->channel.n + 1, rcpt->host.p,
		    rcpt->host.n);
	return (struct slice){ out, n };
}

/* The zone it takes, as the scheduler finds it; before a route is known the
 * one that the envelope asks for. */
static struct slice
meant_zone_of(const struct selection_test *test, const struct view *view,
    const struct view_rcpt *rcpt)
{
	const struct conf_zone *zone;

	if (rcpt->channel.n == 0)
		return view->zone;
	zone = conf_zone_for(test->conf, view->zone.n > 0 ? view->zone :
	    rcpt->zone, rcpt->channel, view->sender, rcpt->host);
	return slice_of(zone != NULL ? zone->name : "");
}

/* What the last outcome is taken for; nothing when it was good. */
static struct slice
meant_class_of(const struct view_rcpt *rcpt)
{
	struct mail_finding finding;

	if (rcpt->trouble == NULL)
		return (struct slice){ NULL, 0 };
	classify_verdict(rcpt->trouble, &finding);
	return slice_of(mail_class_name(finding.class));
}

bool
selection_is_meant(const struct selection_test *test, const struct view *view,
    const struct view_rcpt *rcpt)
{
	char dest[512];
	struct selector_subject subject = {
		.id = slice_of(view->id),
		.from = view->sender.p == NULL ? SLICE("") : view->sender,
		.state = slice_of(rcpt != NULL ? rcpt->state : view->state),
		.area = slice_of(view->area == AREA_TRANSPORT ? "queue" :
		    spool_area_names[view->area]),
		.why = slice_of(rcpt != NULL && *rcpt->words != '\0' ?
		    rcpt->words : view->why),
		.user = view->user, .source = view->source,
		.msgid = view->msgid, .zone = view->zone,
		.priority = view->asked,
		.age_s = test->now_s > view->time_s ? test->now_s -
		    view->time_s : 0,
		.size_bytes = (int64_t)view->size_bytes,
		.tries = rcpt != NULL ? (int64_t)rcpt->tries : -1,
	};

	if (test->selector == NULL)
		return true;
	if (rcpt != NULL) {
		subject.to = rcpt->user;
		subject.host = slice_of(test->conf->host);
		subject.orcpt = rcpt->orcpt;
		subject.given = rcpt->given;
		subject.dest = meant_dest_of(rcpt, dest, sizeof(dest));
		subject.dest_state = slice_of(rcpt->dest_state);
		if ((test->keys & key_bit("zone")) != 0)
			subject.zone = meant_zone_of(test, view, rcpt);
		if ((test->keys & key_bit("class")) != 0)
			subject.class = meant_class_of(rcpt);
	}
	return selector_match(test->selector, &subject);
}
