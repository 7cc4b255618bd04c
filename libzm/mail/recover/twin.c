/* twin.c - one message under two names: row T1
 *
 * In     a file with more than one link
 * Out    the later state's name only
 * Trusts nothing: only names of the same inode in our own areas count
 * Spec   doc/INTERNALS.md row T1: btrfs after a power cut, or the link(2)
 *        that stands for a rename where there is no renameat2
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mail/recover/internal.h"
#include "mail/spool/keep.h"

#include "base/banned.h"

/* How far along a name is; a claim that was set aside is further than the
 * claim, a message that was resubmitted further than the aside. */
static int
twin_stage(struct place place)
{
	struct spool_name parts;

	switch (place.area) {
	case AREA_PUBLIC:
		return 0;
	case AREA_DEFERRED:
	case AREA_FREEZER:
	case AREA_POSTMAN:
	case AREA_TRASH:
		return 2;
	case AREA_ROUTER:
		return spool_name_parse(slice_of(place.name), &parts) &&
		    parts.pid != 0 ? 1 : 3;
	default:
		return 4;
	}
}

struct search {
	struct recover	*r;
	struct place	 here;	/* the name that was found first */
	struct place	 looking;	/* area that is read */
	ino_t		 inode;
	bool		 is_found;
	char		 name[SPOOL_NAME_BYTES];
};

static bool
is_it(void *context, const char *name, ino_t hint)
{
	struct search *search = context;
	struct stat st;

	if (search->looking.area == search->here.area &&
	    search->looking.priority == search->here.priority &&
	    strcmp(name, search->here.name) == 0)
		return true;
	if (strlen(name) >= sizeof(search->name) ||
	    fstatat(spool_dir_fd(search->r->spool, search->looking.area,
		search->looking.priority), name, &st,
		AT_SYMLINK_NOFOLLOW) != 0 || st.st_ino != search->inode)
		return true;
	snprintf(search->name, sizeof(search->name), "%s", name);
	search->is_found = true;
	return false;
}

static bool
find_other(struct search *search)
{
	for (int area = 0; area < AREA_COUNT; area++) {
		unsigned priorities = area == AREA_ROUTER ? SPOOL_PRIORITIES :
		    1;

		for (unsigned i = 0; i < priorities; i++) {
			search->looking = (struct place){
			    (enum spool_area)area, i, NULL };
			spool_scan_entries(search->r->spool,
			    (enum spool_area)area, i, is_it, search, NULL);
			if (!search->is_found)
				continue;
			search->looking.name = search->name;
			return true;
		}
	}
	return false;
}

bool
recover_twin(struct recover *r, struct place place, const struct stat *st)
{
	struct search search = { .r = r, .here = place,
	    .inode = st->st_ino };
	bool is_later;

	if (!find_other(&search)) {
		recover_trouble(r, spool_label(place.area, place.priority,
		    place.name), "link", "it has a second link, which is not "
		    "in the spool");
		return false;
	}
	is_later = twin_stage(search.looking) >= twin_stage(place);
	return recover_remove(r, &r->out->refiled, NULL,
	    is_later ? place : search.looking,
	    "the same file is in the next state (T1)") && is_later;
}

bool
spool_mend_twin(struct spool *spool, unsigned priority, const char *name)
{
	const struct place place = { AREA_ROUTER, priority, name };
	struct recovery found = { 0 };
	struct recover r = { .spool = spool, .out = &found };
	struct stat st;
	int fd = recover_open(&r, place, &st);

	if (fd < 0)
		return false;
	if (spool_links(&st) > 1)
		recover_twin(&r, place, &st);
	close(fd);
	return found.refiled > 0;
}
