/* queued.c - recovery of routed messages: rows P4, P6, T1
 *
 * In     the files of queue/ and transport/
 * Out    pairs of one message, under names that are inodes; what is alone
 *        to lone.c
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

#include "mail/recover/queued.h"
#include "mail/spool/keep.h"

#include "base/banned.h"

struct entries {
	struct recover	*r;
	enum spool_area	 area;
	struct entry	*all;
	size_t		 count, room;
};

enum { PAIRS_AHEAD = 64 };	/* open at a time */

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

void
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

void
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
	    spool_links(&st) > 1 && recover_is_settled(r, &st))
		recover_twin(r, (struct place){ AREA_QUEUE, 0, body_name },
		    &st);
	if (pair->control_fd >= 0)
		close(pair->control_fd);
	if (pair->body_fd >= 0)
		close(pair->body_fd);
	if (pair->control_fd < 0 || pair->body_fd < 0 ||
	    !recover_is_settled(r, &st))
		return;			/* gone or come while we looked */
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
			if ((r->mode & RECOVERY_ROUTED) == 0 ||
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
	    AT_SYMLINK_NOFOLLOW) == 0 && spool_links(&st) > 1 &&
	    recover_is_settled(twins->r, &st))
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
	int result = -1;

	if (read_entries(r, AREA_QUEUE, &bodies, err) != 0 ||
	    read_entries(r, AREA_TRANSPORT, &controls, err) != 0 ||
	    ((r->mode & RECOVERY_ROUTED) != 0 &&
	    mend_twins(r, &bodies, err) != 0))
		goto done;
	queued_match(r, &bodies, &controls, &lone_bodies, &lone_controls);
	result = lone_mend(r, &lone_bodies, &lone_controls, err);
done:
	mem_free(&bodies.all);
	mem_free(&controls.all);
	mem_free(&lone_bodies.all);
	mem_free(&lone_controls.all);
	return result;
}
