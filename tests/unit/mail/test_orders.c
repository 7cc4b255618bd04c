/* test_orders.c - orders in control files; deleted, brought back, rerouted
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "mail/control_file/internal.h"
#include "mail/recover/recover.h"
#include "tests/unit/mail/fixture.h"

#define ID "0123456789abc"

/* One recipient, whose records are written down as a letter each. */
static struct control_rcpt
replayed(const char *records, struct control_file *out_control)
{
	static const char letters[] = "orRhHfFcCnxepb";
	static struct arena *arena;
	struct str file = STR_INIT;
	uint32_t id_crc = crc32c(0, ID, strlen(ID)), offset;
	struct err err;

	if (arena == NULL)
		arena = arena_new();
	control_bytes(&file, ID, 4711);
	offset = (uint32_t)(strstr(file.buf, "\nr ") + 1 - file.buf);
	for (size_t i = 0; records[i] != '\0'; i++) {
		struct control_record record = { .rcpt_offset = offset,
		    .time_s = 1000 + (int64_t)i, .tries = (unsigned)i + 1 };
		size_t kind = (size_t)(strchr(letters, records[i]) - letters);

		record.kind = kind < 2 || records[i] == 'b' ? RECORD_OUTCOME :
		    (enum control_record_kind)(kind - 1);
		if (record.kind == RECORD_HELD || record.kind >=
		    RECORD_RETRY_AT)
			record.next_s = 5000;
		verdict_set(&record.verdict, records[i] == 'o' ?
		    VERDICT_DELIVERED : records[i] == 'b' ? VERDICT_FAILED :
		    VERDICT_DEFERRED, NULL, "al", "%s",
		    "because");
		if (records[i] == 'r')
			record.next_s = 2000;
		control_record_add(&file, id_crc, &record);
	}
	cr_assert_eq(control_file_parse(arena, slice_copy(arena,
	    str_slice(&file)),
	    out_control, &err), 0, "%s", err.text);
	str_release(&file);
	return out_control->groups[0].rcpts[0];
}

/* o delivered, r deferred, R reported, h delay-notice, H held, f released,
 * F frozen, c thawed, C cancelled, n restored, x retry-at, e expire-at,
 * p reopened, b failed */
Test(control_orders, the_state_is_the_last_outcome_and_what_was_ordered_since)
{
	static const struct {
		const char	*records;
		bool		 is_final, is_cancelled, is_free;
		int64_t		 next_s;
	} rows[] = {
		{ "", false, false, true, 0 },
		{ "r", false, false, true, 2000 },
		{ "rH", false, false, false, 2000 },
		{ "Hr", false, false, false, 2000 },
		{ "rHf", false, false, true, 1002 },
		{ "rF", false, false, false, 2000 },
		{ "Fr", false, false, false, 2000 },
		{ "rFc", false, false, true, 1002 },
		{ "HFf", false, false, false, 1002 },
		{ "rC", true, true, true, 2000 },
		{ "Cr", true, true, true, 2000 },
		{ "rCn", false, false, true, 1002 },
		{ "Co", true, false, true, 0 },
		{ "oC", true, false, true, 0 },
		{ "Ho", true, false, true, 0 },
		{ "rx", false, false, true, 5000 },
		{ "xr", false, false, true, 2000 },
		{ "CnC", true, true, true, 1001 },
		{ "b", true, false, true, 0 },
		{ "bp", false, false, true, 1001 },
		{ "bpr", false, false, true, 2000 },
		{ "bpb", true, false, true, 0 },
		{ "bpbp", false, false, true, 1003 },
		{ "bpo", true, false, true, 0 },
		{ "bpC", true, true, true, 1001 },
		{ "bpCn", false, false, true, 1003 },
		{ "bpH", false, false, false, 1001 },
		{ "HFbp", false, false, true, 1003 },
		{ "Cbp", false, false, true, 1002 },
		{ "rp", false, false, true, 2000 },
		{ "op", true, false, true, 0 },
		{ "p", false, false, true, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct control_file control;
		struct control_rcpt rcpt = replayed(rows[i].records, &control);
		const char *name = rows[i].records;

		cr_expect_eq(rcpt.is_final, rows[i].is_final, "%s", name);
		cr_expect_eq(rcpt.is_cancelled, rows[i].is_cancelled, "%s",
		    name);
		cr_expect_eq(control_rcpt_is_free(&rcpt, 3000),
		    rows[i].is_free, "%s", name);
		cr_expect_eq(rcpt.next_s, rows[i].next_s, "%s: %ld", name,
		    (long)rcpt.next_s);
		cr_expect_eq(control.final_total, rows[i].is_final, "%s", name);
		cr_expect_eq(control.report_records, 0, "%s", name);
	}
}

Test(control_orders, a_thaw_begins_anew_and_a_hold_ends)
{
	struct control_file control;
	struct control_rcpt rcpt = replayed("rrhFc", &control);

	cr_expect_eq(rcpt.tries, 0);
	cr_expect_eq(rcpt.delay_notices, 0);
	cr_expect_eq(rcpt.thawed_s, 1004);
	cr_expect_eq(control.report_records, 1);
	rcpt = replayed("H", &control);
	cr_expect_not(control_rcpt_is_free(&rcpt, 4999));
	cr_expect(control_rcpt_is_free(&rcpt, 5000));
	cr_expect(slice_is(rcpt.ordered_by, "al"));
	cr_expect(slice_is(rcpt.order_reason, "because"));
}

Test(control_orders, what_failed_is_open_again_until_it_is_reported)
{
	struct control_file control;
	struct control_rcpt rcpt = replayed("rhebp", &control);

	cr_expect_eq(rcpt.tries, 0);
	cr_expect_eq(rcpt.delay_notices, 0);
	cr_expect_eq(rcpt.thawed_s, 1004);
	cr_expect_eq(rcpt.expire_s, 0);
	cr_expect_eq(rcpt.last->verdict.kind, VERDICT_DEFERRED);
	cr_expect_str_eq(rcpt.last->verdict.text, "because");
	cr_expect_neq(rcpt.last->verdict.status[0], '5');
	rcpt = replayed("bRp", &control);
	cr_expect(rcpt.is_final);
	cr_expect(rcpt.is_reported);
	cr_expect_eq(rcpt.last->verdict.kind, VERDICT_FAILED);
}

Test(control_orders, what_failed_is_kept_from_its_outcome_on)
{
	struct control_file control;
	struct control_rcpt rcpt = replayed("rb", &control);

	cr_expect(control_rcpt_is_failed(&rcpt));
	cr_expect_eq(control_rcpt_kept_until_s(&rcpt, 60, 1001), 1061);
	cr_expect_eq(control_rcpt_kept_until_s(&rcpt, 60, 1060), 1061);
	cr_expect_eq(control_rcpt_kept_until_s(&rcpt, 60, 1061), 0);
	cr_expect_eq(control_rcpt_kept_until_s(&rcpt, 0, 1001), 0);
	/* a clock that was wrong keeps nothing for ever */
	cr_expect_eq(control_rcpt_kept_until_s(&rcpt, 60, 900), 1061);
	cr_expect_eq(control_rcpt_kept_until_s(&rcpt, 60, 1001 - 3601), 0);
	rcpt = replayed("bR", &control);
	cr_expect_not(control_rcpt_is_failed(&rcpt));
	cr_expect_eq(control_rcpt_kept_until_s(&rcpt, 60, 1001), 0);
	rcpt = replayed("r", &control);
	cr_expect_not(control_rcpt_is_failed(&rcpt));
	rcpt = replayed("bp", &control);
	cr_expect_not(control_rcpt_is_failed(&rcpt));
	rcpt = replayed("bpC", &control);
	cr_expect_not(control_rcpt_is_failed(&rcpt));
}

/* Records come a second apart; holds end at 5000 unless released. */
Test(control_orders, the_life_stands_still_while_held)
{
	static const struct { const char *records; int64_t held_s; } rows[] = {
		{ "", 0 }, { "r", 0 }, { "H", 4000 }, { "rH", 3999 },
		{ "Hf", 1 }, { "HrHf", 3 }, { "HfH", 3999 },
		{ "HfHf", 2 }, { "HFc", 3998 }, { "HfFc", 0 }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct control_file control;
		struct control_rcpt rcpt = replayed(rows[i].records, &control);

		cr_expect_eq(control_rcpt_held_s(&rcpt), rows[i].held_s,
		    "%s: %ld", rows[i].records,
		    (long)control_rcpt_held_s(&rcpt));
	}
}

Test(control_orders, a_kind_of_a_later_version_hides_nothing)
{
	struct arena *arena = arena_new();
	struct str file = STR_INIT, line = STR_INIT;
	uint32_t id_crc = crc32c(0, ID, strlen(ID)), offset;
	struct control_record record = { .kind = RECORD_HELD, .time_s = 7 };
	struct control_file control;
	struct err err;

	control_bytes(&file, ID, 4711);
	offset = (uint32_t)(strstr(file.buf, "\nr ") + 1 - file.buf);
	record.rcpt_offset = offset;
	control_record_add(&file, id_crc, &record);
	str_addf(&line, "%u 8 pondered 0 0 al\tx", offset);
	str_addf(&file, "\nd %08x %s\n", crc32c(id_crc, line.buf, line.len),
	    line.buf);
	record = (struct control_record){ .kind = RECORD_FROZEN, .time_s = 9,
	    .rcpt_offset = offset };
	control_record_add(&file, id_crc, &record);
	cr_assert_eq(control_file_parse(arena, str_slice(&file), &control,
	    &err), 0);
	cr_expect(control.groups[0].rcpts[0].is_held);
	cr_expect(control.groups[0].rcpts[0].is_frozen);
	str_release(&file);
	str_release(&line);
	arena_free(&arena);
}

/* ---- the files --------------------------------------------------- */

struct placed {
	ino_t	inode;
	char	id[SPOOL_ID_BYTES], path[SPOOL_NAME_BYTES];
};

/* A routed message. */
static struct placed
place(struct fixture *f)
{
	struct str bytes = STR_INIT;
	struct placed p;

	p.inode = put_message(f, "public/t", p.id, "body");
	spool_hashed_name(f->spool, p.inode, p.path);
	control_bytes(&bytes, p.id, p.inode);
	move_file(f, "public/t", at("queue/%s", p.path));
	put_file(f, at("transport/%s", p.path), bytes.buf, bytes.len);
	str_release(&bytes);
	return p;
}

static const char *
trashed(const struct placed *p, const char *end)
{
	return at("trash/%ju.queue-deleted%s", (uintmax_t)p->inode, end);
}

Test(spool_delete, there_and_back)
{
	char name[SPOOL_NAME_BYTES];
	struct fixture f;
	struct placed p;

	fixture_open(&f, 2);
	p = place(&f);
	cr_assert_eq(spool_trash_queued(f.spool, p.path, &f.err), 0, "%s",
	    f.err.text);
	cr_expect_eq(file_inode(&f, trashed(&p, "")), p.inode);
	cr_expect(file_exists(&f, trashed(&p, ".control")));
	cr_expect_eq(count_files(&f, "queue") + count_files(&f, "transport"),
	    0);
	cr_assert_eq(spool_untrash_queued(f.spool, trashed(&p, "") +
	    strlen("trash/"), name, &f.err), 0, "%s", f.err.text);
	cr_expect_str_eq(name, p.path);
	cr_expect_eq(file_inode(&f, at("queue/%s", p.path)), p.inode);
	cr_expect(file_exists(&f, at("transport/%s", p.path)));
	cr_expect_eq(count_files(&f, "trash"), 0);
	fixture_close(&f);
}

Test(spool_delete, a_number_that_is_taken_leaves_both_in_trash)
{
	char name[SPOOL_NAME_BYTES];
	struct fixture f;
	struct placed p;

	fixture_open(&f, 0);
	p = place(&f);
	cr_assert_eq(spool_trash_queued(f.spool, p.path, &f.err), 0);
	put_file(&f, at("queue/%s", p.path), "x", 1);
	errno = 0;
	cr_expect_eq(spool_untrash_queued(f.spool, trashed(&p, "") +
	    strlen("trash/"), name, &f.err), -1);
	cr_expect(file_exists(&f, trashed(&p, "")));
	cr_expect(file_exists(&f, trashed(&p, ".control")));
	cr_expect_not(file_exists(&f, at("transport/%s", p.path)));
	fixture_close(&f);
}

Test(spool_delete, half_of_it_is_ended_by_who_finds_it)
{
	struct recovery found;
	struct fixture f;
	struct placed p, q;

	fixture_open(&f, 1);
	p = place(&f);
	move_file(&f, at("queue/%s", p.path), trashed(&p, ""));
	cr_expect_eq(spool_follow_queued(f.spool, p.path), SPOOL_FOLLOW_DONE);
	cr_expect(file_exists(&f, trashed(&p, ".control")));
	cr_expect_eq(spool_follow_queued(f.spool, p.path), SPOOL_FOLLOW_NONE);
	q = place(&f);
	move_file(&f, at("queue/%s", q.path), trashed(&q, ""));
	cr_assert_eq(spool_recover(f.spool, RECOVERY_START, NULL, NULL,
	    &found, &f.err), 0);
	cr_expect_eq(found.finished, 1);
	cr_expect_eq(found.completed, 0, "it is not for a finished one");
	cr_expect(file_exists(&f, trashed(&q, ".control")));
	fixture_close(&f);
}

/* Row D7: else an undelete that was cut in its middle would lose the message
 * when the next start meets one error. */
Test(spool_delete, a_move_that_fails_is_no_end)
{
	struct recovery found;
	struct fixture f;
	struct placed p;

	fixture_open(&f, 1);
	p = place(&f);
	move_file(&f, at("queue/%s", p.path), trashed(&p, ""));
	/* a file cannot take the name of a directory */
	cr_assert_eq(mkdirat(spool_dir_fd(f.spool, AREA_TRASH, 0),
	    trashed(&p, ".control") + strlen("trash/"), 0700), 0);
	cr_expect_eq(spool_follow_queued(f.spool, p.path),
	    SPOOL_FOLLOW_TROUBLE);
	cr_assert_eq(spool_recover(f.spool, RECOVERY_START, NULL, NULL,
	    &found, &f.err), 0);
	cr_expect_eq(found.completed, 0);
	cr_expect(file_exists(&f, at("transport/%s", p.path)));
	cr_expect(file_exists(&f, trashed(&p, "")));
	cr_assert_eq(unlinkat(spool_dir_fd(f.spool, AREA_TRASH, 0),
	    trashed(&p, ".control") + strlen("trash/"), AT_REMOVEDIR), 0);
	cr_assert_eq(spool_recover(f.spool, RECOVERY_START, NULL, NULL,
	    &found, &f.err), 0);
	cr_expect_eq(found.finished, 1);
	cr_expect(file_exists(&f, trashed(&p, ".control")));
	fixture_close(&f);
}

/* Row D7: a power cut kept the move of the control file alone: what was done
 * for its recipients is known in it, and it is in nobody's way. */
Test(spool_delete, a_power_cut_that_forgot_the_body_s_move)
{
	struct recovery found;
	struct fixture f;
	struct placed p;

	fixture_open(&f, 2);
	p = place(&f);
	move_file(&f, at("transport/%s", p.path), trashed(&p, ".control"));
	cr_assert_eq(spool_recover(f.spool, RECOVERY_START, NULL, NULL,
	    &found, &f.err), 0);
	cr_expect_eq(found.finished, 1);
	cr_expect_eq(found.rerouted, 0);
	cr_expect_eq(file_inode(&f, at("queue/%s", p.path)), p.inode);
	cr_expect(file_exists(&f, at("transport/%s", p.path)));
	cr_expect_eq(count_files(&f, "trash"), 0);
	fixture_close(&f);
}

/* One of another message, or of one whose body lies beside it, stays. */
Test(spool_delete, the_control_file_of_another_stays_in_trash)
{
	struct recovery found;
	struct fixture f;
	struct placed p;

	fixture_open(&f, 0);
	p = place(&f);
	cr_assert_eq(unlink(at("%s/transport/%s", f.dir, p.path)), 0);
	put_file(&f, trashed(&p, ".control"), "x", 1);
	cr_assert_eq(spool_recover(f.spool, RECOVERY_START, NULL, NULL,
	    &found, &f.err), 0);
	cr_expect_eq(found.rerouted, 1);
	cr_expect(file_exists(&f, trashed(&p, ".control")));
	p = place(&f);
	move_file(&f, at("transport/%s", p.path), trashed(&p, "-2.control"));
	put_file(&f, trashed(&p, "-2"), "x", 1);
	cr_assert_eq(spool_recover(f.spool, RECOVERY_START, NULL, NULL,
	    &found, &f.err), 0);
	cr_expect_eq(found.rerouted, 1);
	cr_expect(file_exists(&f, trashed(&p, "-2.control")));
	fixture_close(&f);
}

/* A control file that was left alone takes no other message's place. */
Test(spool_delete, beside_a_control_file_that_is_alone)
{
	struct fixture f;
	struct placed p;

	fixture_open(&f, 0);
	p = place(&f);
	put_file(&f, trashed(&p, ".control"), "x", 1);
	cr_assert_eq(spool_trash_queued(f.spool, p.path, &f.err), 0, "%s",
	    f.err.text);
	cr_expect_eq(file_inode(&f, trashed(&p, "-2")), p.inode);
	cr_expect(file_exists(&f, trashed(&p, "-2.control")));
	cr_expect_eq(count_files(&f, "queue") + count_files(&f, "transport"),
	    0);
	fixture_close(&f);
}

Test(spool_delete, reroute_and_half_of_it)
{
	struct recovery found;
	struct fixture f;
	struct placed p;

	fixture_open(&f, 0);
	p = place(&f);
	cr_assert_eq(spool_reroute_queued(f.spool, p.path, &f.err), 0, "%s",
	    f.err.text);
	cr_expect_eq(file_inode(&f, at("router/%ju", (uintmax_t)p.inode)),
	    p.inode);
	cr_expect_eq(count_files(&f, "transport"), 0);
	unlink(at("%s/router/%ju", f.dir, (uintmax_t)p.inode));
	p = place(&f);
	move_file(&f, at("queue/%s", p.path), at("router/%ju",
	    (uintmax_t)p.inode));
	/* a start takes it back; a scheduler that runs goes on with it */
	cr_assert_eq(spool_recover(f.spool, RECOVERY_START, NULL, NULL,
	    &found, &f.err), 0);
	cr_expect_eq(file_inode(&f, at("queue/%s", p.path)), p.inode);
	move_file(&f, at("queue/%s", p.path), at("router/%ju-7",
	    (uintmax_t)p.inode));
	cr_expect_eq(spool_follow_queued(f.spool, p.path), SPOOL_FOLLOW_DONE);
	cr_expect_eq(count_files(&f, "transport"), 0);
	cr_expect_eq(count_files(&f, "router"), 1);
	fixture_close(&f);
}

Test(spool_delete, orders_in_transport_are_no_mail)
{
	struct recovery found;
	struct fixture f;

	fixture_open(&f, 0);
	put_file(&f, "transport/" SPOOL_ORDERS, "{}\n", 3);
	put_file(&f, "transport/" SPOOL_ORDERS ".new", "{", 1);
	cr_assert_eq(spool_recover(f.spool, RECOVERY_START, NULL, NULL,
	    &found, &f.err), 0);
	cr_expect_eq(found.troubles, 0);
	cr_expect(file_exists(&f, "transport/" SPOOL_ORDERS));
	fixture_close(&f);
}
