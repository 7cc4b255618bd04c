/* choose.c - which messages are meant, fixed before anything is done
 *
 * In     a selector; the spool; what a running scheduler knows
 * Out    the messages, sorted by id, with the recipients that are meant
 * Holds  an arena until the choice is released
 * Trusts nothing in the files
 * Spec   selection.h; grammar/selector.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tools/selection/selection.h"

#include "base/banned.h"

struct chooser {
	struct selection_test	 test;
	unsigned		 areas;
	struct selection_choice	*choice;
	size_t			 room;
	bool			*meant;		/* a flag a recipient */
	size_t			 meant_room;
};

static size_t
mark_meant(struct chooser *c, const struct view *view)
{
	size_t count = 0;

	if (view->rcpt_count > c->meant_room) {
		c->meant_room = view->rcpt_count;
		c->meant = mem_grow(c->meant, c->meant_room,
		    sizeof(*c->meant));
	}
	for (size_t i = 0; i < view->rcpt_count; i++) {
		c->meant[i] = selection_is_meant(&c->test, view,
		    &view->rcpts[i]);
		count += c->meant[i];
	}
	return count;
}

static const char *
choice_keep(struct chooser *c, const char *text)
{
	return arena_dup(c->choice->arena, text, strlen(text));
}

static void
take_rcpts(struct chooser *c, const struct view *view, size_t count,
    struct selection_item *item)
{
	size_t taken = 0;

	item->rcpt_count = count;
	item->rcpt_total = view->rcpt_count;
	if (count == 0)
		return;
	item->offsets = arena_alloc(c->choice->arena,
	    count * sizeof(*item->offsets));
	for (size_t i = 0; i < view->rcpt_count && taken < count; i++) {
		if (!c->meant[i])
			continue;
		if (taken == 0)
			item->first_rcpt = slice_copy(c->choice->arena,
			    view->rcpts[i].user);
		item->offsets[taken++] = view->rcpts[i].offset;
	}
}

static bool
choose_one(void *context, const struct view *view)
{
	struct chooser *c = context;
	struct selection_choice *choice = c->choice;
	struct selection_item *item;
	size_t count;

	if ((c->areas & 1u << view->area) == 0)
		return true;
	count = mark_meant(c, view);
	if (count == 0 && (view->rcpt_count > 0 ||
	    !selection_is_meant(&c->test, view, NULL)))
		return true;
	if (choice->count == c->room) {
		c->room = c->room ? c->room * 2 : 64;
		choice->items = mem_grow(choice->items, c->room,
		    sizeof(*choice->items));
	}
	item = &choice->items[choice->count++];
	*item = (struct selection_item){ .area = view->area,
	    .name = choice_keep(c, view->name), .id = choice_keep(c, view->id),
	    .why = choice_keep(c, view->why), .state = choice_keep(c,
	    view->state),
	    .reason = slice_copy(choice->arena, view->reason),
	    .sender = slice_copy(choice->arena, view->sender),
	    .size_bytes = view->size_bytes, .time_s = view->time_s,
	    .tls = view->tls,
	    .trouble = view->trouble != NULL ? choice_keep(c, view->trouble) :
	    NULL,
	    .is_copy = view->area == AREA_POSTMAN && view->why[0] == '_' };
	take_rcpts(c, view, count, item);
	choice->rcpts += count;
	return true;
}

static int
choice_item_compare(const void *a, const void *b)
{
	return strcmp(((const struct selection_item *)a)->id,
	    ((const struct selection_item *)b)->id);
}

static int
choice_end(struct chooser *c, int result)
{
	mem_free(&c->meant);
	if (c->choice->count > 1)
		qsort(c->choice->items, c->choice->count,
		    sizeof(*c->choice->items), choice_item_compare);
	return result;
}

int
selection_choose(const struct conf *conf, unsigned areas,
    const struct selector *selector, struct selection_choice *out,
    struct err *err)
{
	struct chooser c = { .areas = areas, .choice = out };
	int result = -1;

	*out = (struct selection_choice){ .arena = arena_new(),
	    .now_s = clock_wall_s() };
	selection_test_init(&c.test, selector, conf, out->now_s);
	if (view_is_forbidden(conf) && (areas & 1u << AREA_TRANSPORT) == 0) {
		view_refuse(conf, AREA_FREEZER, err);
		return choice_end(&c, -1);
	}
	if (view_is_forbidden(conf)) {	/* what was set aside is not his */
		selection_test_init(&c.test, NULL, conf, out->now_s);
		result = view_each_asked(conf->run_dir, selector, choose_one,
		    &c, NULL, err);
		return choice_end(&c, result == 0 ? 0 : -1);
	}
	live_ask(conf->run_dir, out->arena, &out->live);
	if (conf_spool_open(conf, 0, &out->spool,
		err) == 0 && view_each(out->spool, &out->live,
		c.test.flags | ((areas & 1u << AREA_TRASH) != 0 ?
		VIEW_TRASH : 0), choose_one, &c, err) == 0)
		result = 0;
	return choice_end(&c, result);
}

void
selection_choice_release(struct selection_choice *choice)
{
	spool_close(&choice->spool);
	mem_free(&choice->items);
	arena_free(&choice->arena);
}
