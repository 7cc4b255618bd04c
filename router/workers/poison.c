/* poison.c - messages in whose company workers died
 *
 * In     the pid of a worker that died
 * Out    its claim renamed back, or the message in postman/N.poison
 * Holds  the last suspects; forgotten when the router starts again
 * Trusts the claim's name and lock, not what the worker said last
 * Spec   doc/INTERNALS rows C1, P1, D1
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/workers/poison.h"

#include <string.h>
#include <unistd.h>

#include "journal/event.h"

#include "base/banned.h"

unsigned
poison_count(struct poison *poison, ino_t inode, const char *id)
{
	struct poison_row *row;

	for (size_t i = 0; i < POISON_KNOWN_MAX; i++) {
		row = &poison->rows[i];
		if (row->deaths > 0 && row->inode == inode &&
		    strcmp(row->id, id) == 0)
			return ++row->deaths;
	}
	row = &poison->rows[poison->next++ % POISON_KNOWN_MAX];
	*row = (struct poison_row){ .inode = inode, .deaths = 1 };
	strlcpy(row->id, id, sizeof(row->id));
	return 1;
}

/* The spool id, read without trust in the rest of the file: this is the
 * message that may have killed its reader. */
static void
poison_read_id(int fd, char out_id[SPOOL_ID_BYTES])
{
	char front[128];
	ssize_t got = pread(fd, front, sizeof(front), 0);
	struct slice rest = { front, got > 0 ? (size_t)got : 0 }, line;

	out_id[0] = 0;
	for (int i = 0; i < 2 && slice_cut(&rest, '\n', &line); i++)
		if (slice_starts(line, "id ") &&
		    spool_id_is(slice_from(line, 3)))
			strlcpy(out_id, line.p + 3,
			    line.n - 2 < SPOOL_ID_BYTES ? line.n - 2 :
			    SPOOL_ID_BYTES);
}

#define POISON_REASON "three router workers died with it in hand"

struct dead {
	struct poison	*poison;
	struct spool	*spool;
	pid_t		 pid;
	unsigned	 priority, claims;
};

static void
poison_report(const char *id, const char *file, const char *call,
    const struct err *err)
{
	event(EV_SPOOL_TROUBLE, *id ? id : NULL, "file", slice_of(file),
	    "call", slice_of(call), "reason", slice_of(err->text), NULL);
}

static void
poison_judge(struct dead *dead, struct claim *claim)
{
	char id[SPOOL_ID_BYTES], file[SPOOL_NAME_BYTES];
	struct err err;

	poison_read_id(claim->fd, id);
	strlcpy(file, claim->name, sizeof(file));
	if (poison_count(dead->poison, claim->inode, id) < POISON_DEATHS) {
		if (spool_unclaim(dead->spool, claim, &err) != 0)
			poison_report(id, file, "unclaim", &err);
		return;
	}
	(void)spool_reason_write(claim->fd, POISON_REASON);
	if (spool_set_aside(dead->spool, claim, AREA_POSTMAN, "poison", file,
	    &err) != 0) {
		poison_report(id, file, "set aside", &err);
		return;
	}
	event(EV_MESSAGE_POSTMAN, *id ? id : NULL, "file", slice_of(file),
	    "keyword", SLICE("poison"), "reason",
	    SLICE(POISON_REASON), NULL);
}

static bool
poison_on_name(void *context, const char *name)
{
	struct dead *dead = context;
	struct spool_name parsed;
	struct claim claim = { .fd = -1 };
	struct err err;

	if (!spool_name_parse(slice_of(name), &parsed) || parsed.is_plan ||
	    parsed.pid != dead->pid)
		return true;
	dead->claims++;
	switch (spool_claim(dead->spool, dead->priority, name, &claim, &err)) {
	case SPOOL_CLAIMED:
		poison_judge(dead, &claim);
		break;
	case SPOOL_CLAIM_NONE:
		break;
	case SPOOL_CLAIM_TROUBLE:
		poison_report("", name, "claim", &err);
		break;
	}
	return true;
}

unsigned
poison_take_over(struct poison *poison, struct spool *spool, pid_t pid)
{
	struct dead dead = { poison, spool, pid, 0, 0 };
	struct err err;

	for (; dead.priority < SPOOL_PRIORITIES; dead.priority++)
		if (spool_scan(spool, AREA_ROUTER, dead.priority,
		    poison_on_name, &dead, &err) != 0)
			poison_report("", "router", "scan", &err);
	return dead.claims;
}
