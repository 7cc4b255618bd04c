/* readers.c - who may read all files of a configuration
 *
 * In     the files, and the directories above them
 * Out    owner, group and mode for one file that holds their texts
 * Holds  nothing
 * Trusts the kernel's answers; what is odd takes rights away
 * Spec   snapshot.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/snapshot/snapshot.h"

#include "base/banned.h"

/* What has been looked at. */
struct readers_look {
	struct conf_readers	*readers;
	bool			 has_group;	/* something lets only this
						 * group pass, not others */
};

/* One file or directory.  Others pass when all let them; a group passes when
 * each lets it, or others and it. */
static void
readers_note(struct readers_look *look, const struct stat *st, mode_t need)
{
	struct conf_readers *readers = look->readers;
	bool group_may = (st->st_mode & (need << 3)) != 0;

	if ((st->st_mode & need) != 0) {
		/* a group that is kept out where others pass is odd */
		if (!group_may)
			readers->mode &= ~(mode_t)044;
		return;
	}
	readers->mode &= ~(mode_t)04;
	if (!group_may || (look->has_group && readers->gid != st->st_gid))
		readers->mode &= ~(mode_t)040;
	else
		readers->gid = st->st_gid;
	look->has_group = true;
}

/* The file, and each directory above it. */
static int
readers_note_path(struct readers_look *look, char *path, struct err *err)
{
	struct stat st;
	char *slash;

	if (stat(path, &st) != 0)
		return err_sys(err, "%s", path);
	look->readers->mode &= st.st_mode | 0600;
	readers_note(look, &st, 04);
	while ((slash = strrchr(path, '/')) != NULL) {
		slash[slash == path ? 1 : 0] = '\0';
		if (stat(path, &st) != 0)
			return err_sys(err, "%s", path);
		readers_note(look, &st, 01);
		if (slash == path)
			break;
	}
	return 0;
}

int
conf_readers_find(const char *const *paths, size_t count,
    struct conf_readers *out, struct err *err)
{
	struct readers_look look = { .readers = out };
	struct stat st;

	*out = (struct conf_readers){ .mode = 0644 };
	for (size_t i = 0; i < count; i++) {
		char *real = realpath(paths[i], NULL);
		int result;

		if (real == NULL || stat(real, &st) != 0) {
			err_sys(err, "%s", paths[i]);
			free(real);	/* realpath made it */
			return -1;
		}
		if (i == 0) {
			out->uid = st.st_uid;
			out->gid = st.st_gid;
		}
		result = readers_note_path(&look, real, err);
		free(real);	/* realpath made it */
		if (result < 0)
			return -1;
	}
	return 0;
}
