/* sweep.c - copies whose messages are no longer in this spool
 *
 * In     ids of this node in the cluster's database; all files of the spool
 * Out    `done` for those that two looks did not find
 * Holds  the ids
 * Trusts the files: a message has a name at any time; one that moves while a
 *        directory is read may be missed once; a spool that is younger than
 *        a message says nothing about it
 * Spec   sweep.h; doc/protocol/share.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "io/consult/share_order.h"
#include "mail/spool/spool.h"
#include "tools/copies/sweep.h"

#include "base/banned.h"

enum { SWEEP_IDS_A_LINE = 100 };

struct sweep_row {
	char		 id[SPOOL_ID_BYTES];
	bool		 is_here;
};

struct sweep {
	const struct conf *conf;
	struct share_order *order;
	struct sweep_row *rows;		/* by id */
	size_t		 count, room;
	int64_t		 made_us;	/* this spool, wall */
};

/* ---- the database -------------------------------------------------------- */

static bool
sweep_add(struct sweep *sweep, struct slice id)
{
	struct sweep_row *row;

	if (!spool_id_is(id))
		return false;
	if (sweep->count == sweep->room) {
		sweep->room = sweep->room * 2 + 256;
		sweep->rows = mem_grow(sweep->rows, sweep->room,
		    sizeof(*sweep->rows));
	}
	row = &sweep->rows[sweep->count++];
	memset(row, 0, sizeof(*row));
	memcpy(row->id, id.p, id.n);
	return true;
}

static int
sweep_row_compare(const void *a, const void *b)
{
	const struct sweep_row *one = a, *two = b;

	return strcmp(one->id, two->id);
}

/* "rows ID ID ...", in their order, after the last one that we have.
 * 1; 0: those were all; -1: err. */
static int
sweep_ask_rows(struct sweep *sweep, struct err *err)
{
	size_t before = sweep->count;
	struct slice answer, word;
	char question[80];

	snprintf(question, sizeof(question), "rows %s", before > 0 ?
	    sweep->rows[before - 1].id : "-");
	if (share_order_ask(sweep->order, question, -1, &answer, err) != 0)
		return -1;
	if (!slice_word(&answer, &word) || !slice_is(word, "rows"))
		return err_set(err, "PostgreSQL: " SLICE_FMT " " SLICE_FMT,
		    SLICE_ARG(word), SLICE_ARG(answer));
	while (slice_word(&answer, &word))
		if (!sweep_add(sweep, word))
			return err_set(err, "the database has a row that is "
			    "none of ours: '" SLICE_FMT "'", SLICE_ARG(word));
	return sweep->count > before;
}

static int
sweep_tell(struct sweep *sweep, const struct str *ids, struct err *err)
{
	struct slice answer;

	if (share_order_ask(sweep->order, ids->buf, -1, &answer, err) != 0)
		return -1;
	return slice_is(answer, "ok") ? 0 : err_set(err, "PostgreSQL: "
	    SLICE_FMT, SLICE_ARG(answer));
}

/* Not here, and it could have been. */
static bool
sweep_row_is_gone(const struct sweep *sweep, const struct sweep_row *row)
{
	return !row->is_here && spool_id_time_us(slice_of(row->id)) >=
	    sweep->made_us;
}

static int
sweep_tell_all(struct sweep *sweep, struct err *err)
{
	struct str ids = STR_INIT;
	size_t in_line = 0;
	int result = 0;

	for (size_t i = 0; i < sweep->count && result == 0; i++) {
		if (!sweep_row_is_gone(sweep, &sweep->rows[i]))
			continue;
		if (in_line++ == 0)
			str_adds(&ids, "done");
		str_addf(&ids, " %s", sweep->rows[i].id);
		if (in_line < SWEEP_IDS_A_LINE)
			continue;
		result = sweep_tell(sweep, &ids, err);
		str_reset(&ids);
		in_line = 0;
	}
	if (result == 0 && in_line > 0)
		result = sweep_tell(sweep, &ids, err);
	str_release(&ids);
	return result;
}

/* ---- the spool ---------------------------------------------------------- */

/* spool_file_fn */
static bool
sweep_note_file(void *context, const char *name, int fd)
{
	struct sweep *sweep = context;
	struct sweep_row key = { .is_here = false }, *row;

	if (!spool_read_id(fd, key.id))
		return true;		/* a control file, a draft */
	row = bsearch(&key, sweep->rows, sweep->count, sizeof(*sweep->rows),
	    sweep_row_compare);
	if (row != NULL)
		row->is_here = true;
	return true;
}

/* In the order in which mail moves. */
static int
sweep_look(struct sweep *sweep, const struct spool *spool, struct err *err)
{
	static const enum spool_area areas[] = { AREA_PUBLIC, AREA_ROUTER,
	    AREA_QUEUE, AREA_DEFERRED, AREA_FREEZER, AREA_POSTMAN,
	    AREA_TRASH };

	for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
		unsigned count = areas[i] == AREA_ROUTER ? SPOOL_PRIORITIES :
		    1;

		for (unsigned k = 0; k < count; k++)
			if (spool_scan_files(spool, areas[i], k,
			    sweep_note_file, sweep, err) != 0)
				return -1;
	}
	return 0;
}

/* When its directory was made.  0; -1: the file system does not tell. */
static int
sweep_date(struct sweep *sweep, const struct spool *spool, struct err *err)
{
	struct statx st;

	if (statx(spool_dir_fd(spool, AREA_QUEUE, 0), "", AT_EMPTY_PATH,
	    STATX_BTIME, &st) != 0)
		return err_sys(err, "statx queue/");
	if ((st.stx_mask & STATX_BTIME) == 0)
		return err_set(err, "this file system does not say when the "
		    "spool was made: copies of messages that are gone stay");
	sweep->made_us = (int64_t)st.stx_btime.tv_sec * 1000000 +
	    st.stx_btime.tv_nsec / 1000;
	return 0;
}

static void
sweep_count(const struct sweep *sweep, struct copies_swept *out)
{
	out->rows = sweep->count;
	for (size_t i = 0; i < sweep->count; i++) {
		out->gone += !sweep->rows[i].is_here;
		out->older += !sweep->rows[i].is_here &&
		    !sweep_row_is_gone(sweep, &sweep->rows[i]);
	}
}

static bool
sweep_misses_some(const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->count; i++)
		if (!sweep->rows[i].is_here)
			return true;
	return false;
}

static int
sweep_compare(struct sweep *sweep, struct err *err)
{
	struct spool *spool;
	int result;

	if (conf_spool_open(sweep->conf, 0, &spool, err) != 0)
		return -1;
	result = sweep_date(sweep, spool, err);
	if (result == 0)
		result = sweep_look(sweep, spool, err);
	if (result == 0 && sweep_misses_some(sweep)) {
		sleep(SWEEP_BETWEEN_S);
		result = sweep_look(sweep, spool, err);
	}
	spool_close(&spool);
	return result;
}

int
copies_sweep(const struct conf *conf, bool is_dry, struct copies_swept *out,
    struct err *err)
{
	struct sweep sweep = { .conf = conf };
	int got;

	memset(out, 0, sizeof(*out));
	sweep.order = share_order_open(conf->run_dir, err);
	if (sweep.order == NULL)
		return -1;
	while ((got = sweep_ask_rows(&sweep, err)) == 1)
		;
	/* the order of the database may be another */
	if (got == 0 && sweep.count > 0) {
		qsort(sweep.rows, sweep.count, sizeof(*sweep.rows),
		    sweep_row_compare);
		got = sweep_compare(&sweep, err);
	}
	sweep_count(&sweep, out);
	if (got == 0 && !is_dry)
		got = sweep_tell_all(&sweep, err);
	mem_free(&sweep.rows);
	share_order_close(&sweep.order);
	return got;
}
