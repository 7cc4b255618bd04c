/* act.c - what a person does with a message that was set aside
 *
 * In     one message of deferred/, freezer/, postman/ or trash/
 * Out    its file elsewhere; an event that says who
 * Trusts the person at the keyboard, once the choice was confirmed
 * Spec   selection.h; doc/INTERNALS.md rows D3 and D5
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "journal/event.h"
#include "tools/selection/selection.h"

#include "base/banned.h"

void
selection_tell(enum event_kind kind, const struct selection_item *item,
    enum spool_area area, const char *name,
    const struct selection_options *options)
{
	char file[SPOOL_NAME_BYTES * 2], by[VERB_BY_BYTES];

	verb_by(by);
	snprintf(file, sizeof(file), "%s/%s", spool_area_names[area], name);
	event(kind, item->id[0] == '-' ? NULL : item->id,
	    "file", slice_of(file), "why", slice_of(item->why),
	    "by", slice_of(by), "reason", slice_of(options->reason), NULL);
}

int
selection_act_delete(struct selection_choice *choice,
    const struct selection_item *item,
    const struct selection_options *options, struct err *err)
{
	char name[SPOOL_NAME_BYTES];

	if (spool_trash(choice->spool, item->area, item->name, name,
		err) != 0)
		return -1;
	selection_tell(EV_MESSAGE_DELETED, item, item->area, item->name,
	    options);
	return 1;
}

int
selection_act_undelete(struct selection_choice *choice,
    const struct selection_item *item,
    const struct selection_options *options, struct err *err)
{
	char name[SPOOL_NAME_BYTES];
	enum spool_area area;

	if (spool_untrash(choice->spool, item->name, &area, name, err) != 0)
		return -1;
	selection_tell(EV_MESSAGE_UNDELETED, item, area, name, options);
	return 1;
}

/* Back to the router: rules of smtpserver do not see it again. */
int
selection_act_release(struct selection_choice *choice,
    const struct selection_item *item,
    const struct selection_options *options, struct err *err)
{
	if (item->trouble != NULL)
		return err_set(err, "%s/%s is damaged (%s): nobody could route "
		    "it; zmailer show %s/%s has what is in it",
		    spool_area_names[item->area], item->name, item->trouble,
		    spool_area_names[item->area], item->name);
	if (spool_resubmit(choice->spool, item->area, item->name, err) != 0)
		return -1;
	selection_tell(EV_MESSAGE_RESUBMITTED, item, item->area, item->name,
	    options);
	return 1;
}
