/* test_scan.c - the names of an area, at once and in pieces
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "fixture.h"

enum { FILES = 3000 };

struct met {
	unsigned	of[FILES];
	unsigned	others, most;	/* most: stop then; 0: do not */
};

static bool
meet(void *context, const char *name)
{
	struct met *met = context;
	const char *slash = strrchr(name, '/');
	unsigned long n = strtoul(slash ? slash + 1 : name, NULL, 10);

	if (n >= 1 && n <= FILES)
		met->of[n - 1]++;
	else
		met->others++;
	return met->most == 0 || --met->most > 0;
}

static const char *
path_of(struct fixture *f, unsigned n)
{
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(f->spool, n + 1, name);
	return at("transport/%s", name);
}

static void
fill(struct fixture *f, unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		put_file(f, path_of(f, n), "", 0);
}

/* While the walk goes on, files of the second half come and go; those of the
 * first are met once each, whatever the pieces are. */
Test(scan, a_walk_in_pieces_meets_each_once)
{
	static const size_t pieces[] = { 1, 7, 256, 100000 };
	char path[512];

	for (unsigned levels = 0; levels < 3; levels++)
		for (size_t i = 0; i < 4; i++) {
			struct met met = { { 0 }, 0, 0 };
			struct spool_walk *walk;
			unsigned turn = 0;
			struct fixture f;
			int got;

			fixture_open(&f, levels);
			fill(&f, FILES / 2);
			cr_assert_eq(spool_walk_new(f.spool, AREA_TRANSPORT,
			    &walk, &f.err), 0);
			while ((got = spool_walk_step(walk, pieces[i], meet,
			    &met, &f.err)) == SPOOL_WALK_MORE) {
				unsigned n = FILES / 2 + turn++ % (FILES / 2);

				put_file(&f, path_of(&f, n), "", 0);
				if (turn % 2 == 0) {
					snprintf(path, sizeof(path), "%s/%s",
					    f.dir, path_of(&f, n));
					cr_assert_eq(unlink(path), 0);
				}
			}
			cr_expect_eq(got, 0);
			spool_walk_free(&walk);
			for (unsigned n = 0; n < FILES / 2; n++)
				cr_assert_eq(met.of[n], 1, "%u, %u levels, "
				    "pieces of %zu", n + 1, levels,
				    pieces[i]);
			cr_expect_eq(met.others, 0);
			fixture_close(&f);
		}
}

Test(scan, whoever_has_enough_stops)
{
	struct met met = { .most = 10 };
	struct spool_walk *walk;
	struct fixture f;

	fixture_open(&f, 1);
	fill(&f, 100);
	cr_assert_eq(spool_walk_new(f.spool, AREA_TRANSPORT, &walk, &f.err),
	    0);
	cr_expect_eq(spool_walk_step(walk, 100, meet, &met, &f.err),
	    SPOOL_WALK_OVER);
	cr_expect_eq(met.most, 0);
	spool_walk_free(&walk);
	cr_expect_null(walk);
	spool_walk_free(&walk);
	met.most = 10;
	cr_expect_eq(spool_scan(f.spool, AREA_TRANSPORT, 0, meet, &met,
	    &f.err), 0);
	cr_expect_eq(met.most, 0);
	fixture_close(&f);
}
