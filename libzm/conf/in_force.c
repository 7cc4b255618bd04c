/* in_force.c - what a running zmailer took over, found from the file
 *
 * In     the path of a configuration
 * Out    the configuration in force; or the file's; or a makeshift one
 * Holds  one fd while it reads
 * Trusts a snapshot only of root, of the file's owner or of RUN's owner: RUN
 *        is open to the router's group
 * Spec   conf.h, snapshot/snapshot.h; doc/INTERNALS.md row O6
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "conf/conf.h"
#include "conf/load.h"
#include "conf/read/read.h"
#include "conf/snapshot/snapshot.h"

#include "base/banned.h"

enum { IN_FORCE_PATH_BYTES = 4200 };

/* ---- whom to believe --------------------------------------------------- */

static bool
owner_is_trusted(const struct stat *st, const char *conf_path,
    const char *run_dir)
{
	struct stat other;

	if (st->st_uid == 0)
		return true;
	if (stat(conf_path, &other) == 0 && other.st_uid == st->st_uid)
		return true;
	/* an instance of somebody who does not own its configuration */
	return stat(run_dir, &other) == 0 && other.st_uid == st->st_uid &&
	    (other.st_mode & 022) == 0;
}

int
conf_snapshot_open_trusted(const char *conf_path, const char *run_dir)
{
	char path[IN_FORCE_PATH_BYTES];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/" SNAPSHOT_NAME, run_dir);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
	    O_NOCTTY);
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_nlink == 1 && (st.st_mode & 022) == 0 &&
	    owner_is_trusted(&st, conf_path, run_dir)))
		return fd;
	close(fd);
	return -1;
}

/* Read RUN's snapshot, if it is one to believe. */
static bool
snapshot_read_trusted(const char *conf_path, const char *run_dir,
    struct str *out)
{
	int fd = conf_snapshot_open_trusted(conf_path, run_dir);
	bool is_good;

	if (fd < 0)
		return false;
	str_reset(out);
	is_good = conf_read_fd(fd, SNAPSHOT_BYTES_MAX, out, NULL) == 0;
	close(fd);
	return is_good;
}

/* path NULL: nobody named a file, which is what a snapshot of the defaults
 * is of. */
bool
conf_snapshot_is_of(const struct conf_snapshot *snapshot, const char *path)
{
	const char *environment = getenv("ZMAILER_CONF");
	char real[PATH_MAX];

	if (snapshot->path[0] == '\0')
		return path == NULL &&
		    (environment == NULL || environment[0] == '\0');
	if (path == NULL)
		path = conf_default_path();
	return strcmp(path, snapshot->path) == 0 ||
	    strcmp(realpath(path, real) != NULL ? real : path,
	    snapshot->path) == 0;
}

/* ---- where it is ------------------------------------------------------- */

/* The snapshot of RUN, when it is of this path. */
static struct conf *
in_force_try(const char *path, const char *run_dir, bool must_live,
    struct arena *arena, struct conf_report *out_report)
{
	char from[IN_FORCE_PATH_BYTES];
	struct arena *own = arena_new();
	struct str text = STR_INIT;
	struct conf_snapshot snapshot;
	struct conf *conf = NULL;
	struct err err;

	snprintf(from, sizeof(from), "%s/" SNAPSHOT_NAME, run_dir);
	if (snapshot_read_trusted(path != NULL ? path : conf_default_path(),
	    run_dir, &text) &&
	    conf_snapshot_parse(str_slice(&text), own, &snapshot, &err) == 0 &&
	    conf_snapshot_is_of(&snapshot, path) &&
	    (!must_live || conf_snapshot_is_live(&snapshot)))
		conf = conf_load_snapshot(from, str_slice(&text), true, arena,
		    out_report);
	str_release(&text);
	arena_free(&own);
	return conf;
}

/* RUN as the file says it, else as it is without a word about it. */
static struct conf *
last_run_find(const char *path, const struct conf *places,
    struct arena *arena, struct conf_report *out_report)
{
	struct conf *conf = in_force_try(path, places->run_dir, false, arena,
	    out_report);

	if (conf == NULL && strcmp(places->run_dir, ZM_RUNDIR) != 0)
		conf = in_force_try(path, ZM_RUNDIR, false, arena,
		    out_report);
	return conf;
}

/* The file that path means, behind symbolic links: what it includes lies
 * there. */
static struct conf *
places_load(const char *path)
{
	char real[PATH_MAX];

	return conf_load_places(realpath(path, real) != NULL ? real : path);
}

struct conf *
conf_load_in_force(const char *path, struct arena *arena,
    struct conf_report *out_report)
{
	const char *name = path != NULL ? path : conf_default_path();
	struct str text = STR_INIT;
	struct conf *conf, *places;

	if (conf_read_snapshot(name, &text)) {
		conf = conf_load_snapshot(name, str_slice(&text), true, arena,
		    out_report);
		str_release(&text);
		return conf;
	}
	str_release(&text);
	/* where most are: then the file need not be read */
	conf = in_force_try(path, ZM_RUNDIR, true, arena, out_report);
	if (conf == NULL) {
		places = places_load(name);
		if (strcmp(places->run_dir, ZM_RUNDIR) != 0)
			conf = in_force_try(path, places->run_dir, true, arena,
			    out_report);
		conf_free(&places);
	}
	return conf != NULL ? conf : conf_load(path, arena, out_report);
}

/* ---- when nothing is in force ------------------------------------------ */

static struct conf *
conf_of_places(const struct conf *places, const char *path, bool has_host,
    struct arena *arena)
{
	struct str text = STR_INIT;
	struct conf_report report;
	struct conf *conf;

	str_addf(&text, "hash %u\n", places->hash_levels);
	str_adds(&text, "spool ");
	conf_add_word(&text, places->spool_dir);
	str_adds(&text, "\nrun ");
	conf_add_word(&text, places->run_dir);
	str_adds(&text, "\nlog ");
	conf_add_word(&text, places->log_dir);
	if (has_host) {
		str_adds(&text, "\nhost ");
		conf_add_word(&text, places->host);
	}
	str_addc(&text, '\n');
	conf = conf_parse(path, str_slice(&text), arena, &report);
	str_release(&text);
	return conf;
}

struct conf *
conf_load_makeshift(const char *path, struct arena *arena,
    struct conf_report *out_report, bool *out_is_makeshift)
{
	struct conf *conf = conf_load_in_force(path, arena, out_report);
	const char *name = path != NULL ? path : conf_default_path();
	struct conf_report ignored;
	struct conf *places;

	*out_is_makeshift = conf == NULL;
	if (conf != NULL || access(name, R_OK) != 0)
		return conf;
	places = places_load(name);
	conf = last_run_find(path, places, arena, &ignored);
	if (conf == NULL)
		conf = conf_of_places(places, name, true, arena);
	if (conf == NULL)
		conf = conf_of_places(places, name, false, arena);
	conf_free(&places);
	return conf;
}

/* ---- the files --------------------------------------------------------- */

enum conf_files
conf_files_look(const struct conf *conf)
{
	struct conf_draft texts[CONF_FILES_MAX + 1];
	size_t count = conf->path[0] == '\0' ? 0 :
	    conf_texts(conf, texts, CONF_FILES_MAX + 1);
	enum conf_files result = CONF_FILES_SAME;
	struct str text = STR_INIT;
	struct conf_report report;
	struct arena *arena;
	struct conf *fresh;

	for (size_t i = 0; i < count && result == CONF_FILES_SAME; i++) {
		str_reset(&text);
		if (conf_read_file(texts[i].path, &text, NULL) != 0 ||
		    !slice_equal(str_slice(&text), texts[i].text))
			result = CONF_FILES_CHANGED;
	}
	str_release(&text);
	if (result == CONF_FILES_SAME)
		return result;
	arena = arena_new();
	fresh = conf_load(conf->path, arena, &report);
	if (fresh == NULL)
		result = CONF_FILES_BROKEN;
	conf_free(&fresh);
	arena_free(&arena);
	return result;
}

const char *
conf_path_of(struct arena *arena, const char *path)
{
	struct str text = STR_INIT;
	struct conf_snapshot snapshot;
	struct err err;

	if (conf_read_snapshot(path, &text) &&
	    conf_snapshot_parse(str_slice(&text), arena, &snapshot,
	    &err) == 0 && snapshot.path[0] != '\0')
		path = snapshot.path;
	str_release(&text);
	return path;
}

void
conf_hand_on(const struct conf *conf)
{
	if (conf->read_from[0] != '\0')
		(void)setenv("ZMAILER_CONF", conf->read_from, 1);
}
