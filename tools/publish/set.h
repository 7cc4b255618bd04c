/* set.h - the files that `zmailer config publish` sends
 *
 * zmailer.conf, what it includes, and the plain files of its tables, by their
 * names below its directory.  A secret is never one of them: a file that others
 * may not read, or a table of passwords.  Names and texts that come from
 * another node are foreign bytes until publish_set_parse has read them.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_SET_H
#define ZM_TOOLS_PUBLISH_SET_H

#include "conf/conf.h"

enum {
	PUBLISH_FILES_MAX = 512,
	PUBLISH_BYTES_MAX = 16 << 20,	/* of a set, as it is sent */
	PUBLISH_NAME_BYTES_MAX = 255,	/* of a file */
	PUBLISH_SUM_BYTES = 65		/* SHA-256, as digits, and NUL */
};

struct publish_file {
	const char	*name;		/* below the directory */
	struct slice	 text;
};

struct publish_left {			/* stays on this machine */
	const char	*path, *why;
	bool		 is_outside;	/* no secret, but elsewhere */
};

struct publish_set {
	const char	*dir;		/* of zmailer.conf, without links */
	const char	*main;		/* its own name */
	struct publish_file *files;	/* sorted by name */
	size_t		 count;
	struct publish_left *left;
	size_t		 left_count;
};

/* The set of a configuration, in the arena: the texts that it was read from,
 * and its tables as they are now.  0; -1: it cannot be sent (err). */
int publish_set_take(const struct conf *conf, struct arena *arena,
    struct publish_set *out, struct err *err);
/* Is the file of that name in it? */
const struct publish_file *publish_set_find(const struct publish_set *set,
    const char *name);
/* Why this file is a secret of this machine; NULL: it is none, or is not
 * there. */
const char *publish_secret(const struct conf *conf, const char *path);

/* Append it as it is sent. */
void publish_set_add(struct str *out, const struct publish_set *set);
/* Read what was sent: at most PUBLISH_FILES_MAX files, each once, with names
 * that lead nowhere else.  files are in the arena and have copies of the texts;
 * dir, main and left are not set.  0; -1: err says what is wrong with it. */
int publish_set_parse(struct slice bytes, struct arena *arena,
    struct publish_set *out, struct err *err);
/* The sum over names and texts. */
void publish_set_sum(const struct publish_file *files, size_t count,
    char out[PUBLISH_SUM_BYTES]);

#endif
