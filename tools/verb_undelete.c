/* verb_undelete.c - zmailer undelete: back from trash/
 *
 * In     a selector
 * Out    each message of trash/ that is meant, where it was
 * Spec   zmailer-delete(8); doc/INTERNALS.md row D5
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/event.h"
#include "tools/desk/desk.h"
#include "tools/verb.h"

#include "base/banned.h"

static int
undelete_one(struct desk_choice *choice, const struct desk_item *item,
    const struct desk_options *options, struct err *err)
{
	char name[SPOOL_NAME_BYTES], file[SPOOL_NAME_BYTES * 2], by[64];
	enum spool_area area;

	if (spool_untrash(choice->spool, item->name, &area, name, err) != 0)
		return -1;
	desk_who(by, sizeof(by));
	snprintf(file, sizeof(file), "%s/%s", spool_area_names[area], name);
	event(EV_MESSAGE_UNDELETED, item->id, "file", slice_of(file), "why",
	    slice_of(item->why), "by", slice_of(by), "reason",
	    slice_of(options->reason), NULL);
	return 1;
}

int
verb_undelete(int argc, char **argv, const char *conf_path)
{
	return desk_move(argc, argv, conf_path, 1u << AREA_TRASH,
	    "undeleted", undelete_one);
}
