/* brief.c - what one message needs of the configuration in force
 *
 * In     the path of a configuration
 * Out    directories, our name and three limits; nothing is parsed but the
 *        first line of a snapshot
 * Holds  one fd while it reads
 * Trusts a snapshot as in_force.c does.  A word of the file about `run` only
 *        says where to look for one
 * Spec   conf.h, snapshot/snapshot.h; doc/INTERNALS.md row O6
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "conf/conf.h"
#include "conf/load.h"
#include "conf/read/read.h"
#include "conf/snapshot/snapshot.h"

#include "base/banned.h"

enum { BRIEF_READ_BYTES = 16000 };

void
conf_brief_of(const struct conf *conf, struct conf_brief *out)
{
	*out = (struct conf_brief){
		.path = conf->path, .host = conf->host,
		.spool_dir = conf->spool_dir, .run_dir = conf->run_dir,
		.log_dir = conf->log_dir, .hash_levels = conf->hash_levels,
		.sync = conf->sync, .size_bytes = conf->limits.size_bytes,
		.header_bytes = conf->limits.header_bytes,
		.received = conf->limits.received,
		.node = conf->cluster.node_digits,
	};
}

/* The front of a file, which is closed. */
static struct slice
front_take(int fd, char bytes[BRIEF_READ_BYTES])
{
	ssize_t n = fd < 0 ? 0 : fd_read_at(fd, bytes, BRIEF_READ_BYTES, 0);

	if (fd >= 0)
		close(fd);
	return (struct slice){ bytes, n > 0 ? (size_t)n : 0 };
}

/* The snapshot of RUN, when it is of this path and in force. */
static bool
brief_try(const char *path, const char *run_dir, struct arena *arena,
    struct conf_brief *out)
{
	char bytes[BRIEF_READ_BYTES];
	struct conf_snapshot snapshot;
	struct err err;
	int fd = conf_snapshot_open_trusted(path != NULL ? path :
	    conf_default_path(), run_dir);

	if (fd < 0 || conf_snapshot_parse_front(front_take(fd, bytes), arena,
	    &snapshot, &err) != 0 || !snapshot.has_brief ||
	    !conf_snapshot_is_of(&snapshot, path) ||
	    !conf_snapshot_is_live(&snapshot))
		return false;
	*out = snapshot.brief;
	return true;
}

/* What stands after `run` at the begin of a line. */
static const char *
run_dir_guess(struct slice text, struct arena *arena)
{
	struct slice line, word, dir;

	while (slice_cut(&text, '\n', &line))
		if (slice_word(&line, &word) && slice_is(word, "run") &&
		    slice_word(&line, &dir) && dir.p[0] == '/')
			return slice_dup(arena, dir);
	return NULL;
}

bool
conf_brief_in_force(const char *path, struct arena *arena,
    struct conf_brief *out)
{
	char bytes[BRIEF_READ_BYTES];
	struct conf_snapshot snapshot;
	const char *run_dir;
	struct slice text;
	struct err err;

	/* where most are: then the file need not be read */
	if (brief_try(path, ZM_RUNDIR, arena, out))
		return true;
	text = front_take(open(path != NULL ? path : conf_default_path(),
	    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), bytes);
	if (conf_snapshot_is(text)) {
		if (conf_snapshot_parse_front(text, arena, &snapshot,
		    &err) != 0 || !snapshot.has_brief)
			return false;
		*out = snapshot.brief;
		return true;
	}
	run_dir = run_dir_guess(text, arena);
	return run_dir != NULL && brief_try(path, run_dir, arena, out);
}
