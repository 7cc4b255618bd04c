/* queued.c - recovery of routed messages: rows P4-P6, F1, D4, D7
 *
 * In     the files of queue/ and transport/
 * Out    each body with its control file, or routed again; control files of
 *        finished messages gone; names that are inodes
 * Holds  24 bytes a file while it runs; some pairs open, so that a cold disk
 *        reads many at a time
 * Trusts a pair only when the control file is complete and both carry the
 *        same spool id: inode numbers come again
 * Spec   doc/INTERNALS.md section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mail/recover/internal.h"
#include "mail/spool/keep.h"

#include "base/banned.h"

struct entry {			/* a file below queue/ or transport/ */
	ino_t		number;	/* in its name */
	ino_t		inode;	/* as readdir says */
	char		hash[4];	/* "DJ": its directories */
	bool		is_done;
};

struct entries {
	struct recover	*r;
	enum spool_area	 area;
	struct entry	*all;
	size_t		 count, room;
};

struct lone {			/* bodies or control files without the other */
	struct entry	**all;
	size_t		 count, room;
};

enum { PAIRS_AHEAD = 64 };	/* open at a time */

enum {
	ASIDE_POSTMAN, ASIDE_TRASH, ASIDE_DEFERRED, ASIDE_FREEZER,
	ASIDE_COUNT
};
static const enum spool_area aside_areas[ASIDE_COUNT] = {
	[ASIDE_POSTMAN] = AREA_POSTMAN, [ASIDE_TRASH] = AREA_TRASH,
	[ASIDE_DEFERRED] = AREA_DEFERRED, [ASIDE_FREEZER] = AREA_FREEZER
};

struct pair {
	const struct entry *body, *control;
	int		 control_fd, body_fd;	/* -1: gone */
};

struct pairs {			/* opened, not looked at: a ring */
	struct pair	 ring[PAIRS_AHEAD];
	size_t		 first, count;
};

static bool
recover_take_entry(void *context, const char *name, ino_t inode)
{
	struct entries *entries = context;
	struct spool_name parts;
	struct entry *entry;
	size_t n = 0;

	if (entries->area == AREA_TRANSPORT &&
	    slice_starts(slice_of(name), SPOOL_ORDERS))
		return true;		/* what operators ordered */
	if (!spool_name_parse(slice_of(name), &parts) || parts.is_plan ||
	    parts.pid != 0 || parts.why.n > 0) {
		recover_trouble(entries->r, spool_label(entries->area, 0,
		    name), "", "not a name of ours");
		return true;
	}
	if (entries->count == entries->room) {
		entries->room = entries->room ? entries->room * 2 : 1024;
		entries->all = mem_grow(entries->all, entries->room,
		    sizeof(*entries->all));
	}
	entry = &entries->all[entries->count++];
	memset(entry, 0, sizeof(*entry));
	entry->number = parts.inode;
	entry->inode = inode;
	for (; name[1] == '/'; name += 2)
		entry->hash[n++] = name[0];
	return true;
}

static int
by_number(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	return left->number < right->number ? -1 :
	    left->number > right->number;
}

static int
read_entries(struct recover *r, enum spool_area area, struct entries *out,
    struct err *err)
{
	memset(out, 0, sizeof(*out));
	out->r = r;
	out->area = area;
	if (spool_scan_entries(r->spool, area, 0, recover_take_entry, out,
	    err) != 0)
		return -1;
	if (out->count > 1)
		qsort(out->all, out->count, sizeof(*out->all), by_number);
	return 0;
}

static void
entry_name(const struct entry *entry, char out_name[SPOOL_NAME_BYTES])
{
	if (entry->hash[0] == '\0')
		snprintf(out_name, SPOOL_NAME_BYTES, "%ju",
		    (uintmax_t)entry->number);
	else if (entry->hash[1] == '\0')
		snprintf(out_name, SPOOL_NAME_BYTES, "%c/%ju", entry->hash[0],
		    (uintmax_t)entry->number);
	else
		snprintf(out_name, SPOOL_NAME_BYTES, "%c/%c/%ju",
		    entry->hash[0], entry->hash[1], (uintmax_t)entry->number);
}

static void
lone_add(struct lone *lone, struct entry *entry)
{
	if (lone->count == lone->room) {
		lone->room = lone->room ? lone->room * 2 : 64;
		lone->all = mem_grow(lone->all, lone->room,
		    sizeof(*lone->all));
	}
	lone->all[lone->count++] = entry;
}

/* A pair belongs under the inode of the body, on the configured level. */
static void
queued_refile(struct recover *r, const char *body, const char *control,
    ino_t inode, const char *id)
{
	char target[SPOOL_NAME_BYTES];
	unsigned ignored = 0;

	spool_hashed_name(r->spool, inode, target);
	if (strcmp(control, target) != 0 && !recover_move(r,
		strcmp(body, target) != 0 ? &ignored : &r->out->refiled, id,
		(struct place){ AREA_TRANSPORT, 0, control },
		(struct place){ AREA_TRANSPORT, 0, target },
		"its name was not its inode"))
		return;
	if (strcmp(body, target) != 0)
		recover_move(r, &r->out->refiled, id,
		    (struct place){ AREA_QUEUE, 0, body },
		    (struct place){ AREA_QUEUE, 0, target },
		    "its name was not its inode");
}

/* P4 as it should be, or: the control file is damaged (P6), or it is of
 * another, finished message (F1).  Closes both. */
static void
check_pair(struct recover *r, const struct pair *pair)
{
	char body_name[SPOOL_NAME_BYTES], control_name[SPOOL_NAME_BYTES];
	char id[SPOOL_ID_BYTES] = "", control_id[SPOOL_ID_BYTES] = "";
	bool is_good = false, has_id;
	struct stat st = { .st_ino = 0 };

	entry_name(pair->body, body_name);
	entry_name(pair->control, control_name);
	if (pair->control_fd >= 0)
		is_good = recover_control_is_good(pair->control_fd,
		    control_id);
	has_id = pair->body_fd >= 0 && spool_read_id(pair->body_fd, id);
	if (pair->body_fd >= 0 && fstat(pair->body_fd, &st) == 0 &&
	    spool_links(&st) > 1)
		recover_twin(r, (struct place){ AREA_QUEUE, 0, body_name },
		    &st);
	if (pair->control_fd >= 0)
		close(pair->control_fd);
	if (pair->body_fd >= 0)
		close(pair->body_fd);
	if (pair->control_fd < 0 || pair->body_fd < 0)
		return;			/* gone while we looked */
	if (is_good && (!has_id || strcmp(id, control_id) == 0))
		queued_refile(r, body_name, control_name, st.st_ino,
		    control_id);
	else
		recover_mend_pair(r, body_name, control_name,
		    has_id ? id : NULL, is_good);
}

static int
entry_open(const struct recover *r, enum spool_area area,
    const struct entry *entry)
{
	char name[SPOOL_NAME_BYTES];
	int fd;

	entry_name(entry, name);
	fd = spool_open_file(r->spool->area_fd[area], name, O_RDONLY);
	if (fd >= 0)
		spool_read_soon(fd);
	return fd;
}

static void
pairs_end(struct recover *r, struct pairs *pairs, size_t most)
{
	for (; pairs->count > most; pairs->count--)
		check_pair(r, &pairs->ring[pairs->first++ % PAIRS_AHEAD]);
}

/* Both are named by the body's inode, where they belong. */
static bool
pair_fits(const struct recover *r, const struct entry *body,
    const struct entry *control)
{
	char name[SPOOL_NAME_BYTES], target[SPOOL_NAME_BYTES];

	if (body->number != body->inode ||
	    memcmp(body->hash, control->hash, sizeof(body->hash)) != 0)
		return false;
	entry_name(body, name);
	spool_hashed_name(r->spool, body->number, target);
	return strcmp(name, target) == 0;
}

/* Its bytes are on the way from the disk while others are looked at. */
static void
pair_add(struct recover *r, struct pairs *pairs, const struct entry *body,
    const struct entry *control)
{
	pairs_end(r, pairs, PAIRS_AHEAD - 1);
	pairs->ring[(pairs->first + pairs->count++) % PAIRS_AHEAD] =
	    (struct pair){ body, control,
	    entry_open(r, AREA_TRANSPORT, control),
	    entry_open(r, AREA_QUEUE, body) };
}

/* Bodies and control files that lost each other in a move to other names:
 * their ids say that they belong together. */
static void
pair_by_id(struct recover *r, struct lone *bodies, struct lone *controls)
{
	char body_name[SPOOL_NAME_BYTES], control_name[SPOOL_NAME_BYTES];
	char body_id[SPOOL_ID_BYTES], control_id[SPOOL_ID_BYTES];
	struct stat st;

	for (size_t i = 0; i < controls->count; i++) {
		entry_name(controls->all[i], control_name);
		if (bodies->count == 0 || !recover_control_id(r,
			(struct place){ AREA_TRANSPORT, 0, control_name },
			control_id))
			continue;
		for (size_t j = 0; j < bodies->count; j++) {
			entry_name(bodies->all[j], body_name);
			if (bodies->all[j]->is_done || !recover_message_id(r,
				(struct place){ AREA_QUEUE, 0, body_name },
				body_id) || strcmp(body_id, control_id) != 0 ||
			    fstatat(r->spool->area_fd[AREA_QUEUE], body_name,
				&st, AT_SYMLINK_NOFOLLOW) != 0)
				continue;
			queued_refile(r, body_name, control_name, st.st_ino,
			    body_id);
			bodies->all[j]->is_done = true;
			controls->all[i]->is_done = true;
			break;
		}
	}
}

/* P5: renames were kept in the other order: the body still is in router/.
 * true: seen to. */
static bool
body_in_router(struct recover *r, const char *control_name, ino_t number)
{
	const struct place control = { AREA_TRANSPORT, 0, control_name };
	char name[SPOOL_NAME_BYTES], id[SPOOL_ID_BYTES] = "";
	char control_id[SPOOL_ID_BYTES], target[SPOOL_NAME_BYTES];
	struct stat st;

	snprintf(name, sizeof(name), "%ju", (uintmax_t)number);
	for (unsigned i = 0; i < SPOOL_PRIORITIES; i++) {
		const struct place body = { AREA_ROUTER, i, name };
		int dir_fd = spool_dir_fd(r->spool, AREA_ROUTER, i), fd;

		if (dir_fd < 0 || fstatat(dir_fd, name, &st,
			AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (!recover_control_id(r, control, control_id)) {
			recover_remove(r, &r->out->plans_dropped, NULL,
			    control, "damaged (P5)");
			return true;
		}
		if (!recover_message_id(r, body, id) ||
		    strcmp(id, control_id) != 0)
			return false;	/* of an older message: F1 */
		fd = recover_open(r, body, &st);
		if (fd < 0)
			return true;
		spool_hashed_name(r->spool, st.st_ino, target);
		recover_move(r, &r->out->finished, id, body,
		    (struct place){ AREA_QUEUE, 0, target },
		    "half published (P5)");
		close(fd);
		return true;
	}
	return false;
}

enum spool_followed
recover_follow(struct recover *r, const char *control_name,
    enum spool_area area, const struct name_list *list)
{
	const struct place control = { AREA_TRANSPORT, 0, control_name };
	ino_t number = spool_name_inode(control_name);
	char id[SPOOL_ID_BYTES], control_id[SPOOL_ID_BYTES];
	char target[SPOOL_NAME_BYTES];
	struct spool_name parts;

	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->names[i];

		if (!spool_name_parse(slice_of(name), &parts) ||
		    parts.inode != number || slice_starts(parts.why, "_") ||
		    slice_ends(parts.why, ".control") ||
		    !recover_control_id(r, control, control_id) ||
		    !recover_message_id(r, (struct place){ area, 0,
			name }, id) || strcmp(id, control_id) != 0 ||
		    (size_t)snprintf(target, sizeof(target), "%s.control",
			name) >= sizeof(target))
			continue;
		if (recover_acts(r))
			spool_sync_name(r->spool, area, name);
		/* a move that fails is told; F1 it is not */
		return recover_move(r, &r->out->finished, id, control,
		    (struct place){ area, 0, target },
		    area == AREA_TRASH ? "half deleted (D7)" :
		    "half shelved (D4)") ? SPOOL_FOLLOW_DONE :
		    SPOOL_FOLLOW_TROUBLE;
	}
	return SPOOL_FOLLOW_NONE;
}

/* D7: the disk kept the move of the control file and forgot the body's.
 * true: it is back. */
static bool
control_in_trash(struct recover *r, const char *body_name, ino_t number,
    const char *id, const struct name_list *trash)
{
	static const char end[] = ".control";
	char control_id[SPOOL_ID_BYTES];
	struct spool_name parts;

	for (size_t i = 0; i < trash->count; i++) {
		const struct place control = { AREA_TRASH, 0,
		    trash->names[i] };
		char body[SPOOL_NAME_BYTES];

		if (!spool_name_parse(slice_of(control.name), &parts) ||
		    parts.inode != number || !slice_ends(parts.why, end))
			continue;
		snprintf(body, sizeof(body), "%.*s", (int)(strlen(
		    control.name) - strlen(end)), control.name);
		if (recover_exists(r, AREA_TRASH, body) ||
		    !recover_control_id(r, control, control_id) ||
		    strcmp(id, control_id) != 0)
			continue;
		return recover_move(r, &r->out->finished, id, control,
		    (struct place){ AREA_TRANSPORT, 0, body_name },
		    "its body was not deleted (D7)");
	}
	return false;
}

/* A body without a control file. */
static void
body_alone(struct recover *r, const struct entry *entry,
    const struct name_list *trash)
{
	char name[SPOOL_NAME_BYTES], id[SPOOL_ID_BYTES];
	const struct place place = { AREA_QUEUE, 0, name };
	bool has_id;

	entry_name(entry, name);
	if (recover_exists(r, AREA_TRANSPORT, name))
		return;
	has_id = recover_message_id(r, place, id);
	if (!has_id || !control_in_trash(r, name, entry->number, id, trash))
		recover_route_again(r, name, has_id ? id : NULL,
		    "body without a control file (P6)");
}

/* P5 of a message that had been set aside before it was routed: the disk
 * forgot all its renames since. */
static bool
body_aside(struct recover *r, const char *control_name, ino_t number,
    enum spool_area area, const struct name_list *list)
{
	const struct place control = { AREA_TRANSPORT, 0, control_name };
	char id[SPOOL_ID_BYTES], control_id[SPOOL_ID_BYTES];
	char target[SPOOL_NAME_BYTES];
	struct spool_name parts;

	for (size_t i = 0; i < list->count; i++) {
		const struct place body = { area, 0, list->names[i] };

		if (!spool_name_parse(slice_of(body.name), &parts) ||
		    parts.inode != number ||
		    !recover_control_id(r, control, control_id) ||
		    !recover_message_id(r, body, id) ||
		    strcmp(id, control_id) != 0)
			continue;
		spool_hashed_name(r->spool, number, target);
		/* a move that fails is told; F1 it is not */
		(void)recover_move(r, &r->out->finished, id, body,
		    (struct place){ AREA_QUEUE, 0, target },
		    "half published (P5)");
		return true;
	}
	return false;
}

/* F1, F2: a body is unlinked only after every recipient was final, so its
 * absence says that all is done. */
static void
control_alone(struct recover *r, const struct entry *entry,
    const struct name_list *aside)
{
	char name[SPOOL_NAME_BYTES];
	struct stat st;
	int fd;

	entry_name(entry, name);
	if (recover_exists(r, AREA_QUEUE, name) ||
	    body_in_router(r, name, entry->number) ||
	    recover_follow(r, name, AREA_POSTMAN, &aside[ASIDE_POSTMAN]) !=
	    SPOOL_FOLLOW_NONE ||
	    recover_follow(r, name, AREA_TRASH, &aside[ASIDE_TRASH]) !=
	    SPOOL_FOLLOW_NONE ||
	    body_aside(r, name, entry->number, AREA_DEFERRED,
	    &aside[ASIDE_DEFERRED]) || body_aside(r, name, entry->number,
	    AREA_FREEZER, &aside[ASIDE_FREEZER]))
		return;
	fd = recover_open(r, (struct place){ AREA_TRANSPORT, 0, name }, &st);
	if (fd < 0)
		return;			/* an agent still holds it */
	recover_remove(r, &r->out->completed, NULL,
	    (struct place){ AREA_TRANSPORT, 0, name },
	    "its message is finished (F1)");
	close(fd);
}

static void
mend_lone(struct recover *r, struct lone *bodies, struct lone *controls,
    const struct name_list *aside)
{
	pair_by_id(r, bodies, controls);
	for (size_t i = 0; i < bodies->count; i++)
		if (!bodies->all[i]->is_done)
			body_alone(r, bodies->all[i], &aside[ASIDE_TRASH]);
	/* F1 -> F2: who unlinked the bodies died, perhaps before the barrier */
	if (controls->count > 0)
		recover_make_durable(r);
	for (size_t i = 0; i < controls->count; i++)
		if (!controls->all[i]->is_done)
			control_alone(r, controls->all[i], aside);
}

/* Walk both sorted lists side by side. */
static void
queued_match(struct recover *r, struct entries *bodies,
    struct entries *controls, struct lone *lone_bodies,
    struct lone *lone_controls)
{
	struct pairs pairs = { .first = 0 };
	size_t i = 0, j = 0;

	while (i < bodies->count || j < controls->count) {
		struct entry *body = i < bodies->count ? &bodies->all[i] :
		    NULL;
		struct entry *control = j < controls->count ?
		    &controls->all[j] : NULL;

		if (control == NULL || (body != NULL &&
		    body->number < control->number)) {
			lone_add(lone_bodies, body);
			i++;
		} else if (body == NULL || body->number > control->number) {
			lone_add(lone_controls, control);
			j++;
		} else {
			if ((r->mode & RECOVERY_NAMES) == 0 ||
			    !pair_fits(r, body, control))
				pair_add(r, &pairs, body, control);
			i++;
			j++;
		}
	}
	pairs_end(r, &pairs, 0);
}

struct twins {
	struct recover	*r;
	const struct entries *bodies;
};

static bool
twin_look(void *context, const char *name, ino_t inode)
{
	const struct twins *twins = context;
	const struct entries *bodies = twins->bodies;
	struct entry key = { .number = 0 }, *body;
	char body_name[SPOOL_NAME_BYTES];
	struct spool_name parts;
	struct stat st;

	if (!spool_name_parse(slice_of(name), &parts) || parts.is_plan)
		return true;
	key.number = parts.inode;
	body = bsearch(&key, bodies->all, bodies->count, sizeof(key),
	    by_number);
	if (body == NULL)
		return true;
	entry_name(body, body_name);
	if (fstatat(twins->r->spool->area_fd[AREA_QUEUE], body_name, &st,
	    AT_SYMLINK_NOFOLLOW) == 0 && spool_links(&st) > 1)
		recover_twin(twins->r, (struct place){ AREA_QUEUE, 0,
		    body_name }, &st);
	return true;
}

/* T1 in router/, before a worker claims the name. */
static int
mend_twins(struct recover *r, const struct entries *bodies, struct err *err)
{
	struct twins twins = { r, bodies };

	for (unsigned i = 0; i < SPOOL_PRIORITIES && bodies->count > 0; i++)
		if (spool_scan_entries(r->spool, AREA_ROUTER, i, twin_look,
		    &twins, err) != 0)
			return -1;
	return 0;
}

int
recover_queued(struct recover *r, struct err *err)
{
	struct entries bodies = { 0 }, controls = { 0 };
	struct lone lone_bodies = { 0 }, lone_controls = { 0 };
	struct name_list aside[ASIDE_COUNT] = { 0 };
	int result = -1;

	if (read_entries(r, AREA_QUEUE, &bodies, err) != 0 ||
	    read_entries(r, AREA_TRANSPORT, &controls, err) != 0 ||
	    ((r->mode & RECOVERY_NAMES) != 0 &&
	    mend_twins(r, &bodies, err) != 0))
		goto done;
	queued_match(r, &bodies, &controls, &lone_bodies, &lone_controls);
	for (size_t i = 0; lone_controls.count + lone_bodies.count > 0 &&
	    i < ASIDE_COUNT; i++)
		if (recover_list(r, aside_areas[i], 0, NULL, &aside[i],
			err) != 0)
			goto done;
	mend_lone(r, &lone_bodies, &lone_controls, aside);
	result = 0;
done:
	mem_free(&bodies.all);
	mem_free(&controls.all);
	mem_free(&lone_bodies.all);
	mem_free(&lone_controls.all);
	for (size_t i = 0; i < ASIDE_COUNT; i++)
		mem_free(&aside[i].names);
	return result;
}
