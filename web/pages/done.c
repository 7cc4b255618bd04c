/* done.c - what was said of an order, and the way back
 *
 * In     the words of the last order, the form that takes it back
 * Out    both
 * Spec   pages.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "web/pages/pages.h"
#include "web/page/html.h"

#include "base/banned.h"

static int
done_begin(struct visit *visit)
{
	return 0;
}

/* It is a form as the one before: what it would touch is shown first. */
static void
done_add_way_back(struct visit *visit)
{
	struct form form;
	struct str *out = &visit->out;

	if (!visit->may_order || visit->way_back.n == 0 ||
	    form_read_fields(visit->way_back, visit->arena, &form) < 0)
		return;
	str_adds(out, "<form method=\"post\"");
	html_attribute(out, "action", form_get(&form, "to"));
	str_adds(out, ">");
	html_hidden(out, "csrf", slice_of(visit->csrf));
	for (size_t i = 0; i < form.count; i++)
		if (!slice_is(form.fields[i].key, "to") &&
		    !slice_is(form.fields[i].key, "button"))
			html_hidden(out, slice_dup(visit->arena,
			    form.fields[i].key), form.fields[i].value);
	str_adds(out, "<p>It can be taken back: <button>");
	html_text(out, form_get(&form, "button"));
	str_adds(out, "</button></p></form>\n");
}

static void
done_show(struct visit *visit)
{
	if (visit->said.n > 0) {
		str_adds(&visit->out, "<div role=\"status\">");
		html_block(&visit->out, slice_trim(visit->said));
		str_adds(&visit->out, "</div>\n");
	}
	done_add_way_back(visit);
	str_adds(&visit->out, "<p><a href=\"/queue\">To the queue</a>, "
	    "<a href=\"/orders\">who did what</a></p>\n");
}

const struct page_row page_done = {
	.path = "/done", .title = "What was done",
	.begin = done_begin, .show = done_show,
};
