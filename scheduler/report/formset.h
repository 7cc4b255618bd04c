/* formset.h - the languages that reports are written in
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_FORMSET_H
#define ZM_SCHEDULER_FORMSET_H

#include "conf/conf.h"
#include "mail/form.h"

enum { FORMSET_MAX = 8 };

struct formset {
	struct arena	*arena;
	const struct report_form *all[FORMSET_MAX];
	size_t		 count;		/* 0: English, as built in */
};

/* Read the forms that `report languages` names.  One that cannot be read causes
 * an event and is left out; en needs no file. */
void formset_load(struct formset *set, const struct conf *conf);
void formset_release(struct formset *set);

#endif
