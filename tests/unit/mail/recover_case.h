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

#include "base/clock.h"
#include "base/crc32c.h"
#include "mail/recover/recover.h"
#include "mail/spool/internal.h"
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

/* Whoever comes now is another instance than those who did what was done. */
static inline void
settle(struct fixture *f)
{
	struct timespec was;

	clock_file_now(NULL, &was);
	do
		clock_file_now(&f->spool->opened, NULL);
	while (f->spool->opened.tv_sec < was.tv_sec ||
	    (f->spool->opened.tv_sec == was.tv_sec &&
	    f->spool->opened.tv_nsec <= was.tv_nsec));
}

/* As the router does at its start: what is not routed; then, beside its
 * workers, what is. */
static inline struct recovery
recover_halves(struct fixture *f)
{
	struct recovery first, second;

	settle(f);
	first = recover(f, (enum recovery_mode)(RECOVERY_START |
	    RECOVERY_UNROUTED));
	second = recover(f, RECOVERY_ROUTED);
	return (struct recovery){
		.adopted = first.adopted + second.adopted,
		.swept = first.swept + second.swept,
		.copied_in = first.copied_in + second.copied_in,
		.unclaimed = first.unclaimed + second.unclaimed,
		.plans_dropped = first.plans_dropped + second.plans_dropped,
		.finished = first.finished + second.finished,
		.rerouted = first.rerouted + second.rerouted,
		.completed = first.completed + second.completed,
		.refiled = first.refiled + second.refiled,
		.troubles = first.troubles + second.troubles
	};
}

#define START(f) recover(f, RECOVERY_START)
#define ROUTED_AGAIN(f, b) \
	cr_expect_eq(file_inode(f, at("router/%s", (b).n)), (b).inode)
#define TOTAL(r) \
	((r).adopted + (r).swept + (r).copied_in + (r).unclaimed + \
	    (r).plans_dropped + (r).finished + (r).rerouted + (r).completed + \
	    (r).refiled + (r).troubles)

#endif
