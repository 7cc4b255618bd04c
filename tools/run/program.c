/* program.c - are the daemons older than what is installed?
 *
 * In     what the supervisor noted of each file when it started it; the
 *        files as they are
 * Out    a sentence
 * Trusts the notes as it does RUN/zmailer.state
 * Spec   program.h; zmailer(8)
 *
 * A file is the same one when its time and its size are: a package that is
 * installed once more changes neither.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/run/handover/handover.h"
#include "tools/run/program.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

void
program_look(const char *path, struct program *out)
{
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (strlen(path) >= sizeof(out->path) || stat(path, &st) != 0)
		return;
	snprintf(out->path, sizeof(out->path), "%s", path);
	out->made_s = st.st_mtime;
	out->bytes = st.st_size;
}

void
program_look_self(struct program *out)
{
	char path[sizeof(out->path)];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	memset(out, 0, sizeof(*out));
	if (n <= 0 || (size_t)n >= sizeof(path))
		return;
	path[n] = '\0';
	program_look(path, out);
}

struct older {
	struct str	names;
	const struct program *first;	/* of those names */
	struct program	installed;	/* in its place */
};

static void
older_look(struct older *older, const char *name,
    const struct program *started)
{
	struct program now;

	if (started->path[0] == '\0')
		return;
	program_look(started->path, &now);
	if ((now.path[0] == '\0' && errno != ENOENT) ||
	    (now.path[0] != '\0' && now.made_s == started->made_s &&
	    now.bytes == started->bytes))
		return;
	str_addf(&older->names, "%s%s", older->names.len > 0 ? ", " : "",
	    name);
	if (older->first == NULL) {
		older->first = started;
		older->installed = now;
	}
}

const char *
program_older_next(const struct state *state)
{
	return state->handover == HANDOVER_VERSION ? "zmailer upgrade" :
	    "zmailer restart";
}

bool
program_add_older(struct str *out, const struct state *state)
{
	struct older older = { .names = STR_INIT };
	char was[CLOCK_TEXT_BYTES], is[CLOCK_TEXT_BYTES];

	older_look(&older, "supervisor", &state->program);
	for (size_t i = 0; i < state->child_count; i++)
		older_look(&older, state->children[i].name,
		    &state->children[i].program);
	if (older.first != NULL && older.installed.path[0] == '\0') {
		str_addf(out, "the program of %s is gone: %s; what ends "
		    "cannot be started again", older.names.buf,
		    older.first->path);
	} else if (older.first != NULL) {
		clock_local(older.first->made_s, was);
		clock_local(older.installed.made_s, is);
		str_addf(out, "%s: what runs is version %s, made %s; "
		    "installed is version %s, made %s", older.names.buf,
		    state->version, was, PACKAGE_VERSION, is);
	}
	str_release(&older.names);
	return older.first != NULL;
}
