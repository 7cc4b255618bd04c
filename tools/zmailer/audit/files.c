/* files.c - what became of every recipient: the files in the spool
 *
 * In     every message of the spool, as the other verbs see it
 * Out    for each: whose outcome is known, and what the others wait for
 * Trusts nothing it reads: tools/queue/view.h says what cannot be read
 * Spec   books.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "mail/state.h"
#include "tools/queue/view.h"
#include "tools/zmailer/audit/books.h"

#include "base/banned.h"

static enum audit_fate
area_fate(enum spool_area area)
{
	switch (area) {
	case AREA_FREEZER:
	case AREA_POSTMAN:
		return AUDIT_ASIDE;
	case AREA_TRASH:
		return AUDIT_DELETED;
	default:
		return AUDIT_WAITING;
	}
}

/* It is here, but does not say which message it is: its name has the inode,
 * which the journal knows. */
static void
see_damaged(struct books *books, const struct view *view)
{
	const char *last = strrchr(view->name, '/');
	struct spool_name name;

	if (spool_name_parse(slice_of(last != NULL ? last + 1 : view->name),
	    &name))
		books_see_damaged(books, name.inode, area_fate(view->area));
}

static bool
see_one(void *context, const struct view *view)
{
	struct audit_file file = { .fate = area_fate(view->area) };

	if (view->trouble != NULL) {
		see_damaged(context, view);
		return true;
	}
	for (size_t i = 0; i < view->rcpt_count; i++) {
		int kind = verdict_kind_parse(slice_of(view->rcpts[i].state));

		if (kind == VERDICT_FAILED)
			file.failed++;
		else if (kind == VERDICT_EXPANDED)
			file.expanded++;
		else if (kind >= 0 && verdict_is_final(kind))
			file.delivered++;
		else
			file.open++;
	}
	books_see_file(context, view->id, &file);
	return true;
}

int
books_see_spool(struct books *books, const struct conf *conf, struct err *err)
{
	const struct live nobody = { .is_up = false };
	struct spool *spool;
	int result;

	if (conf_spool_open(conf, 0, &spool, err) < 0)
		return -1;
	result = view_each(spool, &nobody, VIEW_TRASH, see_one, books, err);
	spool_close(&spool);
	return result;
}
