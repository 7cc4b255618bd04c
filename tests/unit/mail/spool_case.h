/* spool_case.h - messages and claims for the tests of the spool
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_MAIL_SPOOL_CASE_H
#define ZM_TESTS_MAIL_SPOOL_CASE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "tests/unit/mail/fixture.h"

static inline ino_t
submit(struct fixture *f, char out_id[SPOOL_ID_BYTES], const char *body)
{
	struct draft draft, *one = &draft;
	struct str text = STR_INIT;

	cr_assert_eq(draft_open(f->spool, NULL, &draft, &f->err), 0, "%s",
	    f->err.text);
	str_addf(&text, "id %s\nfrom <a@example.org>\nto <b@example.net>\n"
	    "env-end\n\n%s\n", draft.id, body);
	cr_assert_eq(draft_write(&draft, text.buf, text.len, &f->err), 0);
	cr_assert_eq(draft_sync(&one, 1, &f->err), 1, "%s", f->err.text);
	cr_assert_eq(draft_publish(&draft, AREA_ROUTER, 0, NULL, &f->err), 0,
	    "%s", f->err.text);
	memcpy(out_id, draft.id, SPOOL_ID_BYTES);
	str_release(&text);
	return draft.inode;
}

static inline struct claim
claim(struct fixture *f, ino_t inode)
{
	struct claim claim;

	cr_assert_eq(spool_claim(f->spool, 0, at("%ju", (uintmax_t)inode),
	    &claim, &f->err), 1, "%s", f->err.text);
	return claim;
}

static inline void
route(struct fixture *f, struct claim *claim, const char *id)
{
	struct str plan = STR_INIT;

	control_bytes(&plan, id, claim->inode);
	cr_assert_eq(spool_route(f->spool, claim, str_slice(&plan), &f->err),
	    0, "%s", f->err.text);
	str_release(&plan);
}

/* Rows F0 to F3 of one message; every part of its barrier is carried out. */
static inline void
finish(struct fixture *f, ino_t inode)
{
	struct spool_ending ending = { inode, -1, -1, 0 };
	struct spool_barrier barrier;

	spool_ending_body(f->spool, &ending);
	cr_expect_eq(ending.error, 0);
	cr_expect_geq(ending.pin_fd, 0, "the body stays open");
	spool_barrier_init(&barrier);
	spool_barrier_add(f->spool, &barrier, inode);
	cr_expect_eq(spool_barrier_parts(&barrier), 1);
	cr_expect_eq(spool_barrier_part(f->spool, &barrier, 0), 0);
	spool_barrier_release(&barrier);
	spool_ending_control(f->spool, &ending);
	cr_expect_eq(ending.error, 0);
	spool_ending_release(&ending);
}

#endif
