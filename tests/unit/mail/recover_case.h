/* recover_case.h - a spool built by hand, row by row of the truth table
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_MAIL_RECOVER_CASE_H
#define ZM_TESTS_MAIL_RECOVER_CASE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "mail/recover/recover.h"
#include "tests/unit/mail/fixture.h"

/* A message under construction: temporary name public/t<n>. */
struct built {
	ino_t	inode;
	char	id[SPOOL_ID_BYTES];
	char	n[32];			/* inode as text */
	char	path[SPOOL_NAME_BYTES];	/* hashed */
	struct slice control;
};

static inline struct built
build(struct fixture *f)
{
	struct str control = STR_INIT;
	struct built b;

	b.inode = put_message(f, "public/t", b.id, "body");
	snprintf(b.n, sizeof(b.n), "%ju", (uintmax_t)b.inode);
	spool_hashed_name(f->spool, b.inode, b.path);
	control_bytes(&control, b.id, b.inode);
	b.control = slice_copy(f->arena, str_slice(&control));
	str_release(&control);
	return b;
}

/* A spool, and a message in public/. */
static inline struct built
build_first(struct fixture *f, unsigned hash_levels)
{
	fixture_open(f, hash_levels);
	return build(f);
}

/* Its whole control file, where the router puts it. */
static inline void
put_control(struct fixture *f, const struct built *b)
{
	put_file(f, at("transport/%s", b->path), b->control.p, b->control.n);
}

static inline void
listing_of(struct fixture *f, const char *path, struct str *out)
{
	char command[512];
	char line[512];
	FILE *pipe;

	snprintf(command, sizeof(command),
	    "cd %s && find . -type f -printf '%%p %%i %%n %%s\\n' | sort",
	    path);
	pipe = popen(command, "r");
	cr_assert_not_null(pipe);
	while (fgets(line, sizeof(line), pipe) != NULL)
		str_adds(out, line);
	pclose(pipe);
}

static inline struct recovery
recover(struct fixture *f, enum recovery_mode mode)
{
	struct str before = STR_INIT, after = STR_INIT;
	struct recovery report, done, again;

	/* REPORT changes nothing, and counts what will be done */
	listing_of(f, f->dir, &before);
	cr_assert_eq(spool_recover(f->spool, RECOVERY_REPORT | mode, NULL,
	    NULL, &report, &f->err), 0, "%s", f->err.text);
	listing_of(f, f->dir, &after);
	cr_expect_str_eq(before.buf, after.buf);
	cr_assert_eq(spool_recover(f->spool, mode, NULL, NULL, &done,
	    &f->err), 0, "%s", f->err.text);
	cr_assert_eq(spool_recover(f->spool, mode, NULL, NULL, &again,
	    &f->err), 0, "%s", f->err.text);
	cr_expect_eq(again.adopted + again.swept + again.copied_in +
	    again.unclaimed + again.plans_dropped + again.finished +
	    again.rerouted + again.completed + again.refiled, 0,
	    "a second run found more to do");
	str_release(&before);
	str_release(&after);
	return done;
}

#define START(f) recover(f, RECOVERY_START)
#define ROUTED_AGAIN(f, b) \
	cr_expect_eq(file_inode(f, at("router/%s", (b).n)), (b).inode)
#define TOTAL(r) \
	((r).adopted + (r).swept + (r).copied_in + (r).unclaimed + \
	    (r).plans_dropped + (r).finished + (r).rerouted + (r).completed + \
	    (r).refiled + (r).troubles)

#endif
