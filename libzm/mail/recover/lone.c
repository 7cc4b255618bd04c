/* lone.c - a body or a control file without the other: P5, P6, F1, D4, D7
 *
 * In     files of queue/ and transport/ whose names met no other
 * Out    each body with its control file, or routed again; control files of
 *        finished messages gone
 * Holds  the names of what was set aside, while it runs
 * Trusts names only for where to look: beside the router's workers each file
 *        is looked at again, under its lock, before it is moved
 * Spec   doc/INTERNALS.md sections 2 and 3
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mail/recover/queued.h"
#include "mail/spool/keep.h"

#include "base/banned.h"

enum {
	HAND_TRIES = 100,	/* a worker gives back what it cannot publish */
	HAND_NAP_MS = 10
};

enum {
	ASIDE_POSTMAN, ASIDE_TRASH, ASIDE_DEFERRED, ASIDE_FREEZER,
	ASIDE_COUNT
};
static const enum spool_area aside_areas[ASIDE_COUNT] = {
	[ASIDE_POSTMAN] = AREA_POSTMAN, [ASIDE_TRASH] = AREA_TRASH,
	[ASIDE_DEFERRED] = AREA_DEFERRED, [ASIDE_FREEZER] = AREA_FREEZER
};

void
lone_add(struct lone *lone, struct entry *entry)
{
	if (lone->count == lone->room) {
		lone->room = lone->room ? lone->room * 2 : 64;
		lone->all = mem_grow(lone->all, lone->room,
		    sizeof(*lone->all));
	}
	lone->all[lone->count++] = entry;
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

enum body_found { BODY_NONE, BODY_SEEN_TO, BODY_IN_HAND };

/* P5: renames were kept in the other order: the body still is in router/. */
static enum body_found
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
			return BODY_SEEN_TO;
		}
		if (!recover_message_id(r, body, id) ||
		    strcmp(id, control_id) != 0)
			return BODY_NONE;	/* of an older message: F1 */
		fd = recover_open(r, body, &st);
		if (fd < 0)
			return BODY_IN_HAND;
		spool_hashed_name(r->spool, st.st_ino, target);
		recover_move(r, &r->out->finished, id, body,
		    (struct place){ AREA_QUEUE, 0, target },
		    "half published (P5)");
		close(fd);
		return BODY_SEEN_TO;
	}
	return BODY_NONE;
}

/* The same.  Beside the router's workers one of them may have it: it finds the
 * control file's name taken, gives the body back, and naps. */
static bool
body_is_routed(struct recover *r, const char *control_name, ino_t number)
{
	bool are_beside = (r->mode & RECOVERY_ROUTED) != 0;
	enum body_found found = body_in_router(r, control_name, number);

	for (int i = 0; i < HAND_TRIES && are_beside &&
	    found != BODY_SEEN_TO; i++) {
		if (found == BODY_NONE && spool_body_may_come(r->spool,
		    control_name) == SPOOL_BODY_GONE)
			return false;
		poll(NULL, 0, HAND_NAP_MS);
		found = body_in_router(r, control_name, number);
	}
	return are_beside || found != BODY_NONE;
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

static bool
lone_lay_there(const struct recover *r, enum spool_area area,
    const char *name)
{
	struct stat st;

	return fstatat(r->spool->area_fd[area], name, &st,
	    AT_SYMLINK_NOFOLLOW) == 0 && recover_is_settled(r, &st);
}

/* Those whose bodies went on, or back, are done. */
static void
controls_seen_to(struct recover *r, struct lone *controls)
{
	char name[SPOOL_NAME_BYTES];

	for (size_t i = 0; i < controls->count; i++) {
		struct entry *entry = controls->all[i];

		entry_name(entry, name);
		entry->is_done = entry->is_done ||
		    !lone_lay_there(r, AREA_TRANSPORT, name) ||
		    recover_exists(r, AREA_QUEUE, name) ||
		    body_is_routed(r, name, entry->number);
	}
}

/* Is its body set aside? */
static bool
control_is_aside(struct recover *r, const struct entry *entry,
    const struct name_list *aside)
{
	char name[SPOOL_NAME_BYTES];

	entry_name(entry, name);
	return recover_follow(r, name, AREA_POSTMAN, &aside[ASIDE_POSTMAN]) !=
	    SPOOL_FOLLOW_NONE ||
	    recover_follow(r, name, AREA_TRASH, &aside[ASIDE_TRASH]) !=
	    SPOOL_FOLLOW_NONE ||
	    body_aside(r, name, entry->number, AREA_DEFERRED,
	    &aside[ASIDE_DEFERRED]) || body_aside(r, name, entry->number,
	    AREA_FREEZER, &aside[ASIDE_FREEZER]);
}

/* It may have gone from there to router/ while we looked. */
static bool
control_has_body(struct recover *r, const struct entry *entry,
    const struct name_list *aside)
{
	char name[SPOOL_NAME_BYTES];

	entry_name(entry, name);
	return control_is_aside(r, entry, aside) ||
	    body_is_routed(r, name, entry->number);
}

/* F1, F2: a body is unlinked only after every recipient was final, so its
 * absence says that all is done. */
static void
control_finish(struct recover *r, const struct entry *entry)
{
	char name[SPOOL_NAME_BYTES];
	struct stat st;
	int fd;

	entry_name(entry, name);
	fd = recover_open(r, (struct place){ AREA_TRANSPORT, 0, name }, &st);
	if (fd < 0)
		return;			/* an agent still holds it */
	if (recover_is_settled(r, &st))
		recover_remove(r, &r->out->completed, NULL,
		    (struct place){ AREA_TRANSPORT, 0, name },
		    "its message is finished (F1)");
	close(fd);
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
	if (!lone_lay_there(r, AREA_QUEUE, name) ||
	    recover_exists(r, AREA_TRANSPORT, name))
		return;
	has_id = recover_message_id(r, place, id);
	if (!has_id || !control_in_trash(r, name, entry->number, id, trash))
		recover_route_again(r, name, has_id ? id : NULL,
		    "body without a control file (P6)");
}

static void
asides_release(struct name_list aside[ASIDE_COUNT])
{
	for (size_t i = 0; i < ASIDE_COUNT; i++) {
		mem_free(&aside[i].names);
		aside[i].count = 0;
	}
}

/* What was set aside is read after the router's workers were asked: they set
 * aside, too. */
static int
lone_asides(struct recover *r, struct name_list aside[ASIDE_COUNT],
    struct err *err)
{
	asides_release(aside);
	for (size_t i = 0; i < ASIDE_COUNT; i++)
		if (recover_list(r, aside_areas[i], 0, NULL, &aside[i],
		    err) != 0)
			return -1;
	return 0;
}

/* Those that are left have no body in router/, nor had one aside before: one
 * that was in a worker's hand then may be aside again.  It comes back to
 * router/ a minute later at the earliest. */
static int
lone_controls(struct recover *r, struct lone *controls,
    struct name_list aside[ASIDE_COUNT], struct err *err)
{
	size_t left = 0;

	for (size_t i = 0; i < controls->count; i++) {
		struct entry *entry = controls->all[i];

		entry->is_done = entry->is_done ||
		    control_has_body(r, entry, aside);
		left += !entry->is_done;
	}
	if (left > 0 && lone_asides(r, aside, err) != 0)
		return -1;
	for (size_t i = 0; i < controls->count; i++)
		if (!controls->all[i]->is_done &&
		    !control_is_aside(r, controls->all[i], aside))
			control_finish(r, controls->all[i]);
	return 0;
}

int
lone_mend(struct recover *r, struct lone *bodies, struct lone *controls,
    struct err *err)
{
	struct name_list aside[ASIDE_COUNT] = { 0 };
	int result;

	if (bodies->count + controls->count == 0)
		return 0;
	pair_by_id(r, bodies, controls);
	controls_seen_to(r, controls);
	result = lone_asides(r, aside, err);
	for (size_t i = 0; result == 0 && i < bodies->count; i++)
		if (!bodies->all[i]->is_done)
			body_alone(r, bodies->all[i], &aside[ASIDE_TRASH]);
	/* F1 -> F2: who unlinked the bodies died, perhaps before the barrier */
	if (result == 0 && controls->count > 0) {
		recover_make_durable(r);
		result = lone_controls(r, controls, aside, err);
	}
	asides_release(aside);
	return result;
}
