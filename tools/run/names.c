/* names.c - the names of routed messages, which the scheduler waits for
 *
 * In     what router and scheduler know; the sizes of their directories
 * Out    word to the scheduler; how long a start waits
 * Holds  a timer of the supervisor's
 * Spec   names.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "tools/run/names.h"

#include "base/banned.h"

enum {
	NAMES_LEVELS = 2,	/* hash 2 */
	NAMES_BLOCK = 4096	/* a directory of ext4 has it, however empty */
};

/* Of a directory and those of letters in it: what there is to read. */
static off_t
names_bytes(const char *path, int levels)
{
	char below[4200];
	struct stat st;
	off_t bytes;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	bytes = st.st_size <= NAMES_BLOCK ? 0 : st.st_size;
	for (char letter = 'A'; levels > 0 && letter <= 'Z'; letter++) {
		snprintf(below, sizeof(below), "%s/%c", path, letter);
		bytes += names_bytes(below, levels - 1);
	}
	return bytes;
}

static bool
names_are_few(const struct conf *conf)
{
	static const char *const areas[] = { "queue", "transport" };
	char path[4200];
	off_t bytes = 0;

	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", conf->spool_dir,
		    areas[i]);
		bytes += names_bytes(path, NAMES_LEVELS);
	}
	return bytes < NAMES_FEW_BYTES;
}

bool
names_are_awaited(struct supervisor *boss, loop_fn *late)
{
	if (boss->are_names_late || boss->children[CHILD_ROUTER].knows_names) {
		timer_clear(&boss->names_timer);
		return false;
	}
	if (boss->names_timer.at_ms == 0)
		timer_set(boss->loop, &boss->names_timer, clock_steady_ms() +
		    (names_are_few(boss->conf) ? NAMES_FEW_FOR_MS :
		    NAMES_MANY_FOR_MS), late, boss);
	return true;
}

void
names_hand_on(struct supervisor *boss)
{
	if (boss->children[CHILD_ROUTER].knows_names)
		supervised_tell_names(&boss->children[CHILD_SCHEDULER]);
}

bool
names_are_known(const struct supervisor *boss)
{
	return boss->children[CHILD_ROUTER].knows_names &&
	    boss->children[CHILD_SCHEDULER].knows_names;
}
