/* confirm.c - what was chosen, shown; and the question
 *
 * In     a choice; an answer on the terminal
 * Out    samples and count; yes or no
 * Trusts nothing in messages: what is shown has its controls escaped
 * Spec   selection.h; zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/json.h"
#include "tools/selection/selection.h"
#include "tools/screen/question.h"

#include "base/banned.h"

/* ---- what was chosen ------------------------------------------------ */

static void
add_age(struct str *out, int64_t age_s)
{
	static const struct { int64_t s; char unit; } units[] =
	    { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	size_t i = 0;

	if (age_s < 0)
		age_s = 0;
	while (i < 3 && age_s < units[i].s)
		i++;
	str_addf(out, "%lld%c", (long long)(age_s / units[i].s),
	    units[i].unit);
}

static void
confirm_add_address(struct str *out, struct slice address)
{
	if (address.n == 0)
		str_adds(out, "<>");
	else
		str_add_escaped(out, address);
}

void
selection_add_item(struct str *out, const struct selection_item *item,
    int64_t now_s)
{
	struct str age = STR_INIT;

	add_age(&age, now_s - item->time_s);
	str_addf(out, "%-16s %-9s %4s  ", item->id,
	    item->area == AREA_TRANSPORT ? "queue" :
	    spool_area_names[item->area], age.buf);
	confirm_add_address(out, item->sender);
	str_adds(out, " -> ");
	if (item->rcpt_total == 0)
		str_adds(out, "?");
	else
		confirm_add_address(out, item->first_rcpt);
	if (item->rcpt_count > 1)
		str_addf(out, " +%zu", item->rcpt_count - 1);
	if (*item->why != '\0') {
		str_adds(out, "  ");
		view_add_why(out, item->reason, item->why);
	}
	if (item->area == AREA_POSTMAN)
		str_adds(out, item->is_copy ? " (copy)" : " (ONLY COPY)");
	str_addc(out, '\n');
	str_release(&age);
}

void
selection_add_json(struct str *out, const struct selection_item *item,
    const char *done, const char *trouble)
{
	json_open_answer(out);
	json_text(out, "id", slice_of(item->id));
	json_text(out, "area", slice_of(item->area == AREA_TRANSPORT ?
	    "queue" : spool_area_names[item->area]));
	json_text(out, "file", slice_of(item->name));
	json_text(out, "why", slice_of(item->why));
	json_text(out, "reason", item->reason);
	json_text(out, "from", item->sender);
	json_text(out, "to", item->first_rcpt);
	json_number(out, "rcpts", (int64_t)item->rcpt_count);
	json_number(out, "size", (int64_t)item->size_bytes);
	json_number(out, "time", item->time_s);
	if (done != NULL)
		json_text(out, "done", slice_of(done));
	if (trouble != NULL)
		json_text(out, "trouble", slice_of(trouble));
	json_close(out);
}

static void
confirm_show(const struct selection_options *options,
    const struct selection_choice *choice)
{
	struct str text = STR_INIT;
	size_t count = choice->count;

	if (!options->is_dry && count > SELECTION_SAMPLES)
		count = SELECTION_SAMPLES;
	for (size_t i = 0; i < count; i++) {
		if (options->is_json)
			selection_add_json(&text, &choice->items[i], NULL,
			    NULL);
		else
			selection_add_item(&text, &choice->items[i],
			    choice->now_s);
	}
	if (count < choice->count)
		str_addf(&text, "... and %zu more\n", choice->count - count);
	if (!options->is_json)
		str_addf(&text, "%zu message%s, %zu recipient%s\n",
		    choice->count, choice->count == 1 ? "" : "s",
		    choice->rcpts, choice->rcpts == 1 ? "" : "s");
	fputs(text.buf, stdout);
	str_release(&text);
}

int
selection_none(const struct selection_options *options)
{
	if (options->is_quiet)
		return EX_OK;
	fprintf(stderr, "zmailer: %s: no message matches\n", options->verb);
	return 1;
}

bool
selection_confirm(const struct selection_options *options,
    const struct selection_choice *choice, int *out_status)
{
	*out_status = EX_OK;
	if (choice->count == 0) {
		*out_status = selection_none(options);
		return false;
	}
	if (options->is_dry) {
		confirm_show(options, choice);
		return false;
	}
	if (options->is_yes)
		return true;
	if (!question_can_be_asked()) {
		fprintf(stderr, "zmailer: %s: %zu message%s would be "
		    "touched; say --yes, or --dry-run to see them\n",
		    options->verb, choice->count,
		    choice->count == 1 ? "" : "s");
		*out_status = EX_USAGE;
		return false;
	}
	confirm_show(options, choice);
	if (question_is_yes("%s %s", options->verb,
	    choice->count == 1 ? "it" : "them"))
		return true;
	*out_status = 1;
	return false;
}
