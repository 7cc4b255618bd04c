/* verb_delete.c - zmailer delete: into trash/, where it can be brought back
 *
 * In     a selector
 * Out    each message that was set aside and is meant, in trash/
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
delete_one(struct desk_choice *choice, const struct desk_item *item,
    const struct desk_options *options, struct err *err)
{
	char name[SPOOL_NAME_BYTES], file[SPOOL_NAME_BYTES * 2], by[64];

	if (spool_trash(choice->spool, item->area, item->name, name,
		err) != 0)
		return -1;
	desk_who(by, sizeof(by));
	snprintf(file, sizeof(file), "%s/%s", spool_area_names[item->area],
	    item->name);
	event(EV_MESSAGE_DELETED, item->id, "file", slice_of(file), "why",
	    slice_of(item->why), "by", slice_of(by), "reason",
	    slice_of(options->reason), NULL);
	return 1;
}

int
verb_delete(int argc, char **argv, const char *conf_path)
{
	return desk_move(argc, argv, conf_path, 1u << AREA_DEFERRED |
	    1u << AREA_FREEZER | 1u << AREA_POSTMAN, "deleted", delete_one);
}
