/* follow.c - routed messages that were being moved when a process died
 *
 * In     the name of a control file without its body
 * Out    the control file moved or unlinked as its body was
 * Holds  nothing
 * Trusts a pair only when the control file names the body's spool id
 * Spec   doc/INTERNALS.md rows D4, D7, D8
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/recover/internal.h"

#include "base/banned.h"

struct search {
	struct recover	*r;
	const char	*control_name;
	unsigned	 priority;
	ino_t		 inode;
	bool		 is_found;
};

static bool
search_one(void *context, const char *name, ino_t inode)
{
	struct search *search = context;
	char id[SPOOL_ID_BYTES], control_id[SPOOL_ID_BYTES];
	const struct place body = { AREA_ROUTER, search->priority, name };
	const struct place control = { AREA_TRANSPORT, 0,
	    search->control_name };
	struct spool_name parts;

	if (!spool_name_parse(slice_of(name), &parts) || parts.is_plan ||
	    parts.inode != search->inode ||
	    !recover_message_id(search->r, body, id) ||
	    !recover_control_id(search->r, control, control_id))
		return true;
	search->is_found = strcmp(id, control_id) == 0;
	return !search->is_found;
}

/* The body is back in router/, its old control file still here.  While the
 * daemons run that is the middle of D8 and nothing else (P5 comes from power
 * cuts, and recovery sees to it before they start). */
static bool
reroute_end(struct recover *r, const char *control_name)
{
	struct search search = { .r = r, .control_name = control_name,
	    .inode = spool_name_inode(control_name) };
	struct err err;

	for (; search.priority < SPOOL_PRIORITIES && !search.is_found;
	    search.priority++)
		if (spool_scan_entries(r->spool, AREA_ROUTER,
		    search.priority, search_one, &search, &err) != 0)
			return false;
	/* D8: as spool_reroute_queued would have */
	return search.is_found && unlinkat(
	    r->spool->area_fd[AREA_TRANSPORT], control_name, 0) == 0;
}

enum spool_followed
spool_follow_queued(struct spool *spool, const char *name)
{
	static const enum spool_area areas[] = { AREA_TRASH, AREA_POSTMAN };
	struct recovery found = { 0 };
	struct recover r = { .spool = spool, .out = &found };
	struct err err;
	enum spool_followed result = SPOOL_FOLLOW_NONE;

	r.arena = arena_new();
	for (size_t i = 0; i < 2 && result == SPOOL_FOLLOW_NONE; i++) {
		struct name_list list = { .arena = r.arena };

		if (recover_list(&r, areas[i], 0, NULL, &list, &err) != 0)
			result = SPOOL_FOLLOW_TROUBLE;
		else
			result = recover_follow(&r, name, areas[i], &list);
		mem_free(&list.names);
	}
	if (result == SPOOL_FOLLOW_NONE && reroute_end(&r, name))
		result = SPOOL_FOLLOW_DONE;
	arena_free(&r.arena);
	return result;
}

/* ---- a number that came again ------------------------------------ */

struct comer {
	struct recover	*r;
	unsigned	 priority;
	ino_t		 inode;
	const char	*control_id;
	enum { NOBODY, ITSELF, ANOTHER } who;
};

/* Who has the number?  False: there is no such name. */
static bool
comer_look(struct comer *comer, const char *name)
{
	const struct place body = { AREA_ROUTER, comer->priority, name };
	int dir_fd = spool_dir_fd(comer->r->spool, AREA_ROUTER,
	    comer->priority);
	char id[SPOOL_ID_BYTES];
	struct stat st;

	if (dir_fd < 0 || fstatat(dir_fd, name, &st,
	    AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	comer->who = st.st_ino == comer->inode &&
	    recover_message_id(comer->r, body, id) &&
	    strcmp(id, comer->control_id) != 0 ? ANOTHER : ITSELF;
	return true;
}

static bool
comer_claimed(void *context, const char *name, ino_t hint)
{
	struct comer *comer = context;
	struct spool_name parts;

	return !spool_name_parse(slice_of(name), &parts) || parts.is_plan ||
	    parts.inode != comer->inode || !comer_look(comer, name);
}

enum spool_body
spool_body_may_come(struct spool *spool, const char *name)
{
	struct recovery found = { 0 };
	struct recover r = { .spool = spool, .out = &found };
	struct comer comer = { .r = &r, .inode = spool_name_inode(name) };
	char id[SPOOL_ID_BYTES], plain[SPOOL_NAME_BYTES];
	bool is_known = true;
	struct err err;

	if (!recover_control_id(&r, (struct place){ AREA_TRANSPORT, 0, name },
	    id))
		id[0] = '\0';		/* damaged: nobody's */
	comer.control_id = id;
	snprintf(plain, sizeof(plain), "%ju", (uintmax_t)comer.inode);
	for (; comer.priority < SPOOL_PRIORITIES; comer.priority++) {
		if (comer_look(&comer, plain))
			return comer.who == ITSELF;
		/* its directory may not be ours to list */
		if (spool_scan_entries(spool, AREA_ROUTER, comer.priority,
		    comer_claimed, &comer, &err) != 0)
			is_known = false;
		if (comer.who != NOBODY)
			return comer.who == ITSELF;
	}
	return is_known ? SPOOL_BODY_GONE : SPOOL_BODY_UNKNOWN;
}
