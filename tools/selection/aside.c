/* aside.c - why mail lies in another directory than the scheduler's
 *
 * In     a selector; the files of router/, deferred/, freezer/, postman/
 * Out    for each message: which place that is, the cause, what would help
 * Holds  nothing
 * Trusts nothing in the files
 * Spec   zmailer-queue(8), why; needs no daemon
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "tools/queue/words.h"
#include "tools/selection/selection.h"

#include "base/banned.h"

static const struct place {
	enum spool_area	 area;
	const char	*code, *text, *help;
} places[] = {
	{ AREA_ROUTER, "routing", "the router has not come to it yet",
	    "zmailer status" },
	{ AREA_DEFERRED, "deferred", "routing it had trouble; it comes back "
	    "by itself, later each time", "zmailer resubmit" },
	{ AREA_FREEZER, "freezer", "a rule, a filter or a script put it aside "
	    "for a person", "zmailer review, zmailer release" },
	{ AREA_POSTMAN, "postman", "it could not go on, or a copy was kept",
	    "zmailer review, zmailer resubmit" },
	{ AREA_TRASH, "trash", "deleted", "zmailer undelete" },
};
enum {
	PLACES = sizeof(places) / sizeof(places[0]),
	PLACES_WAITING = PLACES - 1	/* trash/ is the end, no delay */
};

/* When the router takes a message of deferred/ again; 0: it is elsewhere, or
 * waits for a filter's answer. */
static int64_t
aside_next_s(const struct selection_choice *choice,
    const struct selection_item *item)
{
	struct stat st;
	int64_t next_s;

	if (item->area != AREA_DEFERRED || item->trouble != NULL ||
	    strncmp(item->why, "milter", strlen("milter")) == 0 ||
	    fstatat(spool_dir_fd(choice->spool, AREA_DEFERRED, 0), item->name,
	    &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	next_s = spool_deferred_next_s(st.st_mtime, st.st_ctime);
	return next_s > choice->now_s ? next_s : choice->now_s;
}

static void
aside_add_line(struct str *out, const struct selection_choice *choice,
    const struct selection_item *item, const struct place *place)
{
	int64_t next_s = aside_next_s(choice, item);

	json_open_answer(out);
	json_text(out, "id", slice_of(item->id));
	json_text(out, "to", item->first_rcpt);
	json_number(out, "rcpts", (int64_t)item->rcpt_count);
	json_text(out, "state", slice_of(item->state));
	json_text(out, "code", slice_of(place->code));
	json_text(out, "reason", slice_of(item->why));
	json_text(out, "reason", item->reason);
	json_text(out, "file", slice_of(item->name));
	if (next_s > 0)
		json_number(out, "next", next_s);
	if (item->tls != NULL)
		json_text(out, "tls", slice_of(item->tls));
	json_close(out);
}

static void
aside_add_words(struct str *out, const struct selection_choice *choice,
    const struct selection_item *item, const struct place *place)
{
	int64_t next_s = aside_next_s(choice, item);

	selection_add_item(out, item, choice->now_s);
	str_addf(out, "     cause   %s", place->text);
	if (*item->why != '\0') {
		str_adds(out, ": ");
		view_add_why(out, item->reason, item->why);
	}
	if (item->trouble != NULL) {
		str_adds(out, "\n     damaged ");
		str_add_escaped(out, slice_of(item->trouble));
	}
	if (item->is_copy)
		str_adds(out, "; the message itself went on");
	if (next_s > 0) {
		str_adds(out, "\n     next    ");
		words_add_moment(out, next_s, choice->now_s);
	}
	if (item->tls != NULL)
		str_addf(out, "\n     tls     %s", terms_tls_text(slice_of(
		    item->tls)));
	if (item->trouble != NULL)	/* it has no id, and no verb can send
					 * it */
		str_addf(out, "\n     try     zmailer show %s/%s\n",
		    spool_area_names[item->area], item->name);
	else
		str_addf(out, "\n     try     %s %s\n", place->help,
		    item->id);
}

int
selection_why_aside(const struct conf *conf, const struct selector *selector,
    bool is_json, size_t *out_count, struct err *err)
{
	struct str text = STR_INIT;
	struct selection_choice choice;
	unsigned areas = 0;
	int result;

	for (size_t i = 0; i < PLACES_WAITING; i++)
		areas |= 1u << places[i].area;
	result = selection_choose(conf, areas, selector, &choice, err);
	*out_count = result == 0 ? choice.count : 0;
	for (size_t i = 0; i < *out_count; i++) {
		const struct selection_item *item = &choice.items[i];
		size_t k = 0;

		while (places[k].area != item->area)
			k++;
		if (is_json)
			aside_add_line(&text, &choice, item, &places[k]);
		else
			aside_add_words(&text, &choice, item, &places[k]);
	}
	fputs(text.buf, stdout);
	str_release(&text);
	selection_choice_release(&choice);
	return result;
}

/* ---- for verbs that do not work there ------------------------------------ */

/* "zmailer hold: 361g... is in freezer/ (why it is there): zmailer release". */
static void
aside_say_place(const char *verb, const struct place *place,
    const struct selection_choice *choice)
{
	const char *id = NULL;
	size_t count = 0;

	for (size_t i = 0; i < choice->count; i++)
		if (choice->items[i].area == place->area) {
			id = choice->items[i].id;
			count++;
		}
	if (count == 1)
		fprintf(stderr, "zmailer: %s: %s is not in the queue but in "
		    "%s/ (%s): %s %s\n", verb, id,
		    spool_area_names[place->area], place->text, place->help,
		    id);
	else if (count > 1)
		fprintf(stderr, "zmailer: %s: %zu messages are not in the "
		    "queue but in %s/ (%s): %s\n", verb, count,
		    spool_area_names[place->area], place->text, place->help);
}

bool
selection_say_aside(const char *verb, const struct conf *conf,
    unsigned areas, const struct selector *selector)
{
	struct selection_choice choice;
	unsigned others = 0;
	struct err err;
	bool is_there;

	for (size_t i = 0; i < PLACES; i++)
		if ((areas & 1u << places[i].area) == 0)
			others |= 1u << places[i].area;
	if (selection_choose(conf, others, selector, &choice, &err) < 0)
		choice.count = 0;	/* which the caller may not see */
	is_there = choice.count > 0;
	for (size_t i = 0; i < PLACES && is_there; i++)
		aside_say_place(verb, &places[i], &choice);
	selection_choice_release(&choice);
	return is_there;
}
