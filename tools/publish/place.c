/* place.c - where a published file may be written
 *
 * In     the directory of zmailer.conf, a name below it
 * Out    why root does not write there
 * Holds  nothing
 * Trusts no directory that another user may replace by a link between the look
 *        and the write
 * Spec   place.h; doc/protocol/nodes.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/publish/place.h"
#include "tools/publish/record.h"

#include "base/banned.h"

/* Below dir, as strict as dir itself: who may change dir may do all of it
 * anyway. */
static bool
folder_is_ours(const struct stat *folder, const struct stat *top)
{
	mode_t others = folder->st_mode & (S_IWGRP | S_IWOTH);

	if (folder->st_gid == top->st_gid)
		others &= ~top->st_mode;
	return others == 0 && (folder->st_uid == 0 || folder->st_uid ==
	    geteuid() || folder->st_uid == top->st_uid);
}

/* Each directory between dir and the last name of path. */
static bool
folders_are_ours(const char *dir, const char *path)
{
	char folder[RECORD_PATH_BYTES];
	struct stat st, top;
	const char *p = path + strlen(dir) + 1;

	if (stat(dir, &top) != 0)
		return false;
	for (; (p = strchr(p, '/')) != NULL; p++) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(p - path),
		    path);
		if (stat(folder, &st) != 0)
			return errno == ENOENT;	/* it will be ours */
		if (!folder_is_ours(&st, &top))
			return false;
	}
	return true;
}

/* Where path leads, or the first directory above it that is there.
 * returns false when that is not below dir */
static bool
place_follow(const char *dir, const char *path, char out[RECORD_PATH_BYTES])
{
	char *real = realpath(path, NULL), *slash;
	size_t n = strlen(dir);
	bool is_below;

	snprintf(out, RECORD_PATH_BYTES, "%s", path);
	while (real == NULL && (slash = strrchr(out, '/')) != NULL) {
		*slash = '\0';
		real = realpath(out, NULL);
	}
	is_below = real != NULL && strncmp(real, dir, n) == 0 &&
	    (real[n] == '/' || real[n] == '\0');
	snprintf(out, RECORD_PATH_BYTES, "%s", is_below ? real : "");
	free(real);	/* realpath made it */
	return is_below;
}

const char *
publish_place_leads_out(const char *dir, const char *path)
{
	char real[RECORD_PATH_BYTES];

	return place_follow(dir, path, real) ? NULL :
	    "a link leads out of the directory here";
}

const char *
publish_place_fault(const char *dir, const char *path)
{
	static const char fault[] = "another user may change its directory "
	    "here: make that root's alone";
	char real[RECORD_PATH_BYTES];
	struct stat st;

	if (!place_follow(dir, path, real))
		return publish_place_leads_out(dir, path);
	/* the last one counts too, if the file is not there */
	if (stat(real, &st) == 0 && S_ISDIR(st.st_mode))
		strlcat(real, "/", sizeof(real));
	return folders_are_ours(dir, path) && (strlen(real) <= strlen(dir) +
	    1 || folders_are_ours(dir, real)) ? NULL : fault;
}
