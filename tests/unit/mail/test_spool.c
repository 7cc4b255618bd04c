/* test_spool.c - drafts, claims, routing, completion: there and back
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/spool/moves.h"
#include "spool_case.h"

Test(spool, a_message_goes_through)
{
	for (unsigned levels = 0; levels <= 2; levels++) {
		struct fixture f;
		char id[SPOOL_ID_BYTES], name[SPOOL_NAME_BYTES];
		struct claim held;
		struct err err;
		int control, body;
		ino_t inode;

		fixture_open(&f, levels);
		inode = submit(&f, id, "hello");
		cr_expect_eq(file_inode(&f, at("router/%ju",
		    (uintmax_t)inode)), inode);
		cr_expect_eq(count_files(&f, "public"), 0);
		held = claim(&f, inode);
		cr_expect_eq(spool_is_complete(held.fd, &err),
		    SPOOL_FILE_WHOLE);
		cr_expect(file_exists(&f, at("router/%ju-%d", (uintmax_t)inode,
		    (int)getpid())));
		route(&f, &held, id);
		cr_expect_eq(count_files(&f, "router"), 0);
		spool_hashed_name(f.spool, inode, name);
		cr_assert_eq(spool_open_queued(f.spool, name, &control, &body,
		    &err), SPOOL_OPEN_DONE, "%s", err.text);
		close(control);
		close(body);
		finish(&f, inode);
		cr_expect_eq(count_files(&f, "."), 0);
		fixture_close(&f);
	}
}

Test(spool, draft_first_line_fits_all_sizes)
{
	static const size_t sizes[] = { 0, 1, 65504, 65505, 65506, 65535,
	    65536, 65537, 200000, 1 << 20 };
	struct fixture f;

	fixture_open(&f, 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t piece = 1000; piece <= 100000; piece *= 10) {
			struct draft draft, *one = &draft;
			char *bytes = malloc(sizes[i] + 1);
			struct stat st;

			memset(bytes, (int)i, sizes[i]);
			cr_assert_eq(draft_open(f.spool, NULL, &draft,
			    &f.err), 0);
			for (size_t at = 0; at < sizes[i]; at += piece)
				cr_assert_eq(draft_write(&draft, bytes + at,
				    sizes[i] - at < piece ? sizes[i] - at :
				    piece, &f.err), 0);
			cr_assert_eq(draft_sync(&one, 1, &f.err), 1);
			cr_assert_eq(draft_publish(&draft, AREA_ROUTER, 3,
			    NULL, &f.err), 0);
			int fd = open(at("%s/router.3/%ju", f.dir,
			    (uintmax_t)draft.inode), O_RDONLY);

			cr_assert_eq(spool_is_complete(fd, &f.err),
			    SPOOL_FILE_WHOLE,
			    "%zu bytes by %zu", sizes[i], piece);
			fstat(fd, &st);
			cr_assert_eq((size_t)st.st_size, sizes[i] +
			    DRAFT_FIRST_LINE_BYTES);
			close(fd);
			unlink(at("%s/router.3/%ju", f.dir,
			    (uintmax_t)draft.inode));
			free(bytes);
		}
	fixture_close(&f);
}

Test(spool, a_strict_spool_names_a_message_with_its_lock_free)
{
	struct fixture f;
	char id[SPOOL_ID_BYTES];

	fixture_open(&f, 0);	/* whose rename looks at the lock */
	spool_close(&f.spool);
	cr_assert_eq(spool_open(f.dir, SPOOL_STRICT, 0, &f.spool, &f.err), 0,
	    "%s", f.err.text);
	faults.renames = 0;
	close(claim(&f, submit(&f, id, "x")).fd);
	cr_expect_eq(faults.renames, 2);
	fixture_close(&f);
}

Test(spool, what_is_not_whole_is_not_complete)
{
	struct fixture f;
	struct str bytes = STR_INIT;
	int fd;

	fixture_open(&f, 0);
	message_bytes(&bytes, "0123456789abc", "body");
	for (size_t n = 0; n <= bytes.len + 1; n++) {
		size_t cut = n > bytes.len ? bytes.len + 1 : n;

		put_file(&f, "public/x", bytes.buf, cut);
		fd = open(at("%s/public/x", f.dir), O_RDONLY);
		cr_assert_eq(spool_is_complete(fd, &f.err),
		    n == bytes.len ? 1 : 0, "%zu", n);
		close(fd);
	}
	for (size_t i = 0; i < bytes.len; i++) {
		bytes.buf[i] ^= 1;
		put_file(&f, "public/x", bytes.buf, bytes.len);
		fd = open(at("%s/public/x", f.dir), O_RDONLY);
		cr_assert_eq(spool_is_complete(fd, &f.err), SPOOL_FILE_PART,
		    "bit at %zu",
		    i);
		close(fd);
		bytes.buf[i] ^= 1;
	}
	str_release(&bytes);
	fixture_close(&f);
}

Test(spool, drafts_are_durable_together)
{
	enum { COUNT = 20 };
	struct draft drafts[COUNT], *all[COUNT];
	struct fixture f;

	fixture_open(&f, 0);
	for (int i = 0; i < COUNT; i++) {
		all[i] = &drafts[i];
		cr_assert_eq(draft_open(f.spool, NULL, &drafts[i], &f.err),
		    0);
		draft_write(&drafts[i], "x\n", 2, &f.err);
	}
	drafts[7].is_bad = true;
	cr_expect_eq(draft_sync(all, COUNT, &f.err), COUNT - 1);
	for (int i = 0; i < COUNT; i++) {
		int result = draft_publish(&drafts[i], AREA_ROUTER, 0, NULL,
		    &f.err);

		cr_expect_eq(result, i == 7 ? -1 : 0);
		draft_abort(&drafts[i]);
		draft_abort(&drafts[i]);	/* harmless */
	}
	cr_expect_eq(count_files(&f, "router"), COUNT - 1);
	cr_expect_eq(count_files(&f, "public"), 0);
	fixture_close(&f);
}

Test(spool, a_zeroed_draft_can_be_aborted)
{
	struct draft draft;

	memset(&draft, 0, sizeof(draft));
	draft_abort(&draft);
	cr_expect_neq(fcntl(0, F_GETFD), -1, "stdin was closed");
}

Test(spool, a_full_disk_spoils_the_draft_only)
{
	struct draft draft, *one = &draft;
	struct rlimit limit = { 100000, RLIM_INFINITY };
	char block[50000];
	struct fixture f;

	fixture_open(&f, 0);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	memset(block, 'x', sizeof(block));
	cr_assert_eq(draft_open(f.spool, NULL, &draft, &f.err), 0);
	cr_expect_eq(draft_write(&draft, block, sizeof(block), &f.err), 0);
	cr_expect_eq(draft_write(&draft, block, sizeof(block), &f.err), 0);
	draft_write(&draft, block, sizeof(block), &f.err);
	cr_expect_eq(draft_sync(&one, 1, &f.err), 0);
	cr_expect(draft.is_bad);
	cr_expect_eq(draft_publish(&draft, AREA_ROUTER, 0, NULL, &f.err), -1);
	draft_abort(&draft);
	cr_expect_eq(count_files(&f, "."), 0);
	fixture_close(&f);
}

Test(spool, a_stem_is_taken_once)
{
	struct draft one, two;
	char name[SPOOL_NAME_BYTES];
	struct fixture f;

	fixture_open(&f, 0);
	spool_dsn_name("0123456789abc", 3, name);
	cr_expect_str_eq(name, "dsn-0123456789abc-3");
	cr_assert_eq(draft_open(f.spool, name, &one, &f.err), 0);
	cr_expect_eq(draft_open(f.spool, name, &two, &f.err), -1);
	cr_expect_eq(errno, EEXIST);
	draft_abort(&one);
	fixture_close(&f);
}

/* A name that says of what can be guessed, and anybody may make files in
 * public/: what a stranger put there keeps nothing from being written. */
Test(spool, a_name_that_a_stranger_took_stops_no_draft)
{
	static const char *const commands[] = {
		"touch '%s' && chown 54321 '%s'",
		"touch '%s' && chmod 0 '%s' && chown -h 54321 '%s'",
		"mkdir '%s' && touch '%s'/x", "ln -s /nowhere '%s'",
		"mkfifo '%s'"
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char name[SPOOL_NAME_BYTES], command[3000], path[600];
		struct draft draft;
		struct fixture f;

		if (geteuid() != 0 && i < 2)
			continue;
		fixture_open(&f, 0);
		spool_dsn_name("0123456789abc", 3, name);
		snprintf(path, sizeof(path), "%s/public/%s", f.dir, name);
		snprintf(command, sizeof(command), commands[i], path, path,
		    path);
		cr_assert_eq(system(command), 0);
		cr_assert_eq(draft_open_again(f.spool, name, &draft, &f.err),
		    0, "row %zu: %s", i, f.err.text);
		cr_expect(slice_starts(slice_of(draft.name), name) &&
		    strlen(draft.name) == strlen(name) + 17, "row %zu: %s", i,
		    draft.name);
		draft_abort(&draft);
		fixture_close(&f);
	}
}

/* One of ours is what a crash left. */
Test(spool, a_name_that_a_crash_left_is_used_again)
{
	struct draft one, two;
	struct fixture f;

	fixture_open(&f, 0);
	cr_assert_eq(draft_open(f.spool, "dsn-x-0", &one, &f.err), 0);
	cr_assert_eq(draft_open_again(f.spool, "dsn-x-0", &two, &f.err), 0);
	cr_expect_str_eq(two.name, "dsn-x-0");
	cr_expect_neq(two.inode, one.inode);
	draft_abort(&two);
	close(one.fd);
	fixture_close(&f);
}

Test(spool, a_draft_can_go_to_the_freezer_or_stay)
{
	struct draft draft, *one = &draft;
	struct fixture f;

	fixture_open(&f, 0);
	draft_open(f.spool, NULL, &draft, &f.err);
	draft_sync(&one, 1, &f.err);
	cr_expect_eq(draft_publish(&draft, AREA_FREEZER, 0, "../x", &f.err),
	    -1);
	cr_expect_eq(draft_publish(&draft, AREA_FREEZER, 0, "policy", &f.err),
	    0, "%s", f.err.text);
	cr_expect(file_exists(&f, at("freezer/%ju.policy",
	    (uintmax_t)draft.inode)));
	draft_open(f.spool, NULL, &draft, &f.err);
	draft_sync(&one, 1, &f.err);
	cr_expect_eq(draft_publish(&draft, AREA_PUBLIC, 0, NULL, &f.err), 0);
	cr_expect_eq(count_files(&f, "public"), 1);
	/* swept under the writer's feet: it is told */
	draft_open(f.spool, NULL, &draft, &f.err);
	draft_sync(&one, 1, &f.err);
	unlink(at("%s/public/%s", f.dir, draft.name));
	cr_expect_eq(draft_publish(&draft, AREA_PUBLIC, 0, NULL, &f.err), -1);
	cr_expect_eq(draft_publish(&draft, AREA_ROUTER, 0, NULL, &f.err), -1);
	draft_abort(&draft);
	fixture_close(&f);
}

Test(spool, claims_refuse_what_is_no_message)
{
	struct fixture f;
	struct claim held;
	char id[SPOOL_ID_BYTES];
	ino_t inode;

	fixture_open(&f, 0);
	cr_assert_eq(symlink("/etc/passwd", at("%s/router/1", f.dir)), 0);
	cr_expect_eq(spool_claim(f.spool, 0, "1", &held, &f.err), -1);
	mkfifo(at("%s/router/2", f.dir), 0600);
	cr_expect_eq(spool_claim(f.spool, 0, "2", &held, &f.err), -1);
	mkdir(at("%s/router/3", f.dir), 0700);
	cr_expect_eq(spool_claim(f.spool, 0, "3", &held, &f.err), -1);
	inode = put_message(&f, "public/x", id, "b");
	cr_assert_eq(link(at("%s/public/x", f.dir), at("%s/router/%ju", f.dir,
	    (uintmax_t)inode)), 0);
	cr_expect_eq(spool_claim(f.spool, 0, at("%ju", (uintmax_t)inode),
	    &held, &f.err), -1);
	cr_expect_not_null(strstr(f.err.text, "links"));
	cr_expect_eq(spool_claim(f.spool, 0, "4711", &held, &f.err), 0);
	cr_expect_eq(held.fd, -1);
	unlink(at("%s/router/1", f.dir));
	fixture_close(&f);
}

Test(spool, a_claim_is_by_lock_not_by_name)
{
	struct fixture f;
	struct claim held, again;
	char id[SPOOL_ID_BYTES];
	ino_t inode;

	fixture_open(&f, 0);
	inode = submit(&f, id, "x");
	held = claim(&f, inode);
	cr_expect_eq(spool_claim(f.spool, 0, held.name, &again, &f.err), 0);
	cr_expect_eq(errno, EWOULDBLOCK);
	cr_expect_eq(spool_claim(f.spool, 0, "1", &again, &f.err), 0);
	cr_expect_eq(errno, ENOENT);
	close(held.fd);		/* as when the claimant dies */
	cr_expect_eq(spool_claim(f.spool, 0, held.name, &again, &f.err), 1);
	cr_expect_eq(spool_unclaim(f.spool, &again, &f.err), 0);
	/* a claim of a pid that is alive but does not hold the lock */
	move_file(&f, at("router/%ju", (uintmax_t)inode),
	    at("router/%ju-1", (uintmax_t)inode));
	cr_expect_eq(spool_claim(f.spool, 0, at("%ju-1", (uintmax_t)inode),
	    &again, &f.err), 1);
	/* a file that came under a wrong name gets its own */
	spool_unclaim(f.spool, &again, &f.err);
	move_file(&f, at("router/%ju", (uintmax_t)inode), "router/12345.why");
	cr_expect_eq(spool_claim(f.spool, 0, "12345.why", &again, &f.err), 1);
	cr_expect_eq(again.inode, inode);
	cr_expect_eq(spool_unclaim(f.spool, &again, &f.err), 0);
	cr_expect(file_exists(&f, at("router/%ju", (uintmax_t)inode)));
	fixture_close(&f);
}

Test(spool, a_failed_second_rename_brings_the_body_back)
{
	struct fixture f;
	struct claim held;
	char id[SPOOL_ID_BYTES];
	struct str plan = STR_INIT;
	ino_t inode;

	fixture_open(&f, 0);
	inode = submit(&f, id, "x");
	held = claim(&f, inode);
	control_bytes(&plan, id, inode);
	/* the control file of a finished message still has the name */
	put_file(&f, at("transport/%ju", (uintmax_t)inode), "old", 3);
	cr_expect_eq(spool_route(f.spool, &held, str_slice(&plan), &f.err),
	    -1);
	cr_expect_eq(errno, EEXIST);
	cr_expect_geq(held.fd, 0);
	cr_expect(file_exists(&f, at("router/%s", held.name)));
	cr_expect_eq(count_files(&f, "router"), 1);
	cr_expect_eq(count_files(&f, "queue"), 0);
	/* something lies in queue/ */
	unlink(at("%s/transport/%ju", f.dir, (uintmax_t)inode));
	put_file(&f, at("queue/%ju", (uintmax_t)inode), "old", 3);
	cr_expect_eq(spool_route(f.spool, &held, str_slice(&plan), &f.err),
	    -1);
	cr_expect_geq(held.fd, 0);
	cr_expect(file_exists(&f, at("router/%s", held.name)));
	cr_expect_eq(count_files(&f, "router"), 1);
	unlink(at("%s/queue/%ju", f.dir, (uintmax_t)inode));
	cr_expect_eq(spool_route(f.spool, &held, str_slice(&plan), &f.err),
	    0);
	str_release(&plan);
	fixture_close(&f);
}

Test(spool, set_aside_and_resubmit)
{
	static const enum spool_area areas[] =
	    { AREA_DEFERRED, AREA_FREEZER, AREA_POSTMAN };
	struct fixture f;
	char id[SPOOL_ID_BYTES], name[SPOOL_NAME_BYTES];
	struct claim held;
	ino_t inode;

	fixture_open(&f, 0);
	inode = submit(&f, id, "x");
	for (int i = 0; i < 3; i++) {
		held = claim(&f, inode);
		cr_expect_eq(spool_set_aside(f.spool, &held, areas[i],
		    "_x", name, &f.err), -1);
		cr_expect_eq(spool_set_aside(f.spool, &held, areas[i],
		    "a/b", name, &f.err), -1);
		cr_expect_eq(spool_copy_aside(f.spool, &held, "badheader",
		    "a colon is missing", NULL, &f.err), 0, "%s", f.err.text);
		put_file(&f, at("%s/%ju.no-dns", spool_area_names[areas[i]],
		    (uintmax_t)inode), "x", 1);
		cr_assert_eq(spool_set_aside(f.spool, &held, areas[i],
		    "no-dns", name, &f.err), 0, "%s", f.err.text);
		cr_expect_str_eq(name, at("%ju.no-dns-2", (uintmax_t)inode));
		cr_expect_eq(spool_resubmit(f.spool, areas[i], name, &f.err),
		    0, "%s", f.err.text);
		cr_expect_eq(spool_resubmit(f.spool, areas[i], name, &f.err),
		    -1);
		cr_expect_eq(errno, ENOENT);
	}
	cr_expect_eq(spool_resubmit(f.spool, AREA_POSTMAN,
	    at("%ju._badheader", (uintmax_t)inode), &f.err), -1);
	cr_expect_eq(spool_resubmit(f.spool, AREA_POSTMAN, "../router/1",
	    &f.err), -1);
	cr_expect_eq(spool_resubmit(f.spool, AREA_QUEUE, "1", &f.err), -1);
	cr_expect_eq(spool_sync_moves(f.spool, &f.err), 0, "%s", f.err.text);
	/* three copies, whole */
	cr_expect(file_exists(&f, at("postman/%ju._badheader",
	    (uintmax_t)inode)));
	cr_expect(file_exists(&f, at("postman/%ju._badheader-3",
	    (uintmax_t)inode)));
	cr_expect_eq(file_inode(&f, at("router/%ju", (uintmax_t)inode)),
	    inode);
	fixture_close(&f);
}

Test(spool, shelved_work_takes_its_control_file_along)
{
	struct fixture f;
	char id[SPOOL_ID_BYTES], name[SPOOL_NAME_BYTES];
	struct claim held;
	ino_t inode;

	fixture_open(&f, 2);
	inode = submit(&f, id, "x");
	held = claim(&f, inode);
	route(&f, &held, id);
	spool_hashed_name(f.spool, inode, name);
	cr_assert_eq(spool_shelve_queued(f.spool, name, "no-report",
	    "nobody to tell", &f.err), 0,
	    "%s", f.err.text);
	cr_expect_eq(file_inode(&f, at("postman/%ju.no-report",
	    (uintmax_t)inode)), inode);
	cr_expect(file_exists(&f, at("postman/%ju.no-report.control",
	    (uintmax_t)inode)));
	cr_expect_eq(spool_resubmit(f.spool, AREA_POSTMAN,
	    at("%ju.no-report.control", (uintmax_t)inode), &f.err), -1);
	cr_expect_eq(spool_resubmit(f.spool, AREA_POSTMAN,
	    at("%ju.no-report", (uintmax_t)inode), &f.err), 0);
	cr_expect_eq(count_files(&f, "postman"), 0);
	cr_expect_eq(count_files(&f, "trash"), 1);
	fixture_close(&f);
}

Test(spool, an_agent_that_lives_on_is_seen)
{
	struct fixture f;
	char id[SPOOL_ID_BYTES], name[SPOOL_NAME_BYTES];
	struct claim held;
	int control, body, fd, agent, thread;
	ino_t inode;

	fixture_open(&f, 0);
	inode = submit(&f, id, "x");
	held = claim(&f, inode);
	spool_hashed_name(f.spool, inode, name);
	cr_expect_eq(spool_open_queued(f.spool, name, &control, &body, &f.err),
	    SPOOL_OPEN_ABSENT);
	route(&f, &held, id);
	cr_assert_eq(spool_open_queued(f.spool, name, &control, &body, &f.err),
	    SPOOL_OPEN_DONE);
	agent = dup(control);		/* as SCM_RIGHTS does */
	close(control);
	fd = open(at("%s/transport/%s", f.dir, name), O_RDWR | O_APPEND);
	cr_expect_not(spool_control_hold(fd));
	close(agent);
	cr_expect(spool_control_hold(fd));
	/* until it is let go */
	cr_expect_eq(spool_open_queued(f.spool, name, &control, &body, &f.err),
	    SPOOL_OPEN_ABSENT);
	spool_control_unlock(fd);
	close(body);
	/* a thread that syncs has a copy when ours is closed */
	cr_assert_eq(spool_open_queued(f.spool, name, &control, &body, &f.err),
	    SPOOL_OPEN_DONE);
	thread = dup(control);
	spool_control_unlock(control);
	close(control);
	cr_expect(spool_control_hold(fd));
	close(thread);
	close(fd);
	close(body);
	fixture_close(&f);
}

/* The heart of the matter on file systems that give an inode number out
 * again at once. */
Test(spool, a_finished_body_keeps_its_number_until_the_control_file_is_gone)
{
	enum { ROUNDS = 200 };
	struct fixture f;
	char id[SPOOL_ID_BYTES];
	struct spool_ending endings[ROUNDS];
	ino_t inodes[ROUNDS];

	fixture_open(&f, 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct claim held;

		inodes[i] = submit(&f, id, "x");
		for (int j = 0; j < i; j++)
			cr_assert_neq(inodes[i], inodes[j]);
		held = claim(&f, inodes[i]);
		route(&f, &held, id);
		endings[i] = (struct spool_ending){ inodes[i], -1, -1, 0 };
		spool_ending_body(f.spool, &endings[i]);
		cr_assert_eq(endings[i].error, 0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		spool_ending_control(f.spool, &endings[(i * 7) % ROUNDS]);
		cr_assert_eq(endings[(i * 7) % ROUNDS].error, 0);
		spool_ending_release(&endings[(i * 7) % ROUNDS]);
	}
	cr_expect_eq(count_files(&f, "."), 0);
	cr_expect_lt(open("/dev/null", O_RDONLY), 64, "descriptors leak");
	fixture_close(&f);
}
