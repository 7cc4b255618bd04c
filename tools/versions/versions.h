/* versions.h - the last configurations, kept so that they can be restored
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_VERSIONS_H
#define ZM_TOOLS_VERSIONS_H

#include "conf/conf.h"
#include "grammar/bundle.h"

enum {
	VERSIONS_MAX = 20,		/* kept */
	VERSION_FILES_MAX = 200,	/* of one configuration */
	VERSION_BYTES_MAX = 16 << 20,	/* of one version */
	VERSION_TABLES_MAX = 512,	/* written by one verb */
	VERSION_TABLE_BYTES_MAX = 4 << 20	/* of them; more is not kept */
};

struct version_table {		/* a table or key that the verb also wrote */
	const char	*path;
	struct slice	 text;		/* empty: there was none */
	unsigned	 mode;		/* of a new one; 0600: a secret */
	const char	*account;	/* its owner; "-": ours */
};

struct version {
	unsigned	 number;	/* from 1 */
	unsigned	 was;		/* it is this one again; 0: new */
	int64_t		 time_s;
	const char	*by, *verb, *reason;
	struct bundle_file *files;
	size_t		 file_count;
	struct version_table *tables;
	size_t		 table_count;
};

/* Keep the present text of the configuration's files, unless the newest version
 * has it.  about has by, verb, reason, was and tables.  VERSION_KNOWN also if
 * there is no spool yet; VERSION_NOT_KEPT: err says why. */
enum version_kept { VERSION_NOT_KEPT = -1, VERSION_KNOWN, VERSION_KEPT };
enum version_kept versions_keep(const struct conf *conf,
    const struct version *about, struct err *err);
/* List the numbers of the versions, ascending; returns how many. */
size_t versions_list(const char *spool_dir, unsigned out[VERSIONS_MAX + 2]);
/* Read a version, with its texts in the arena.  VERSION_NONE: there is none
 * with that number; VERSION_BAD: err says why. */
enum version_found { VERSION_BAD = -1, VERSION_NONE, VERSION_READ };
enum version_found version_read(const char *spool_dir, unsigned number,
    struct arena *arena, struct version *out, struct err *err);
/* Lock the versions for writing.  returns a descriptor to be closed; -1 if
 * another process has it (errno EWOULDBLOCK), -2 if there is no spool. */
int versions_lock(const char *spool_dir);

#endif
