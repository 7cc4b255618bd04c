/* held.c - what the cluster's database has of another node
 *
 * In     pages of rows, through the process share
 * Out    a row at a time
 * Holds  a page
 * Trusts nothing: each length is checked against what is there
 * Spec   held.h; doc/protocol/share.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "io/consult/share_order.h"
#include "tools/copies/held.h"

#include "base/banned.h"

enum { HELD_PAGE_BYTES_MAX = 8 << 20 };
/* Of one message: more is no message, and sums of as many as there can be stay
 * numbers. */
static const uint64_t held_body_bytes_max = (uint64_t)1 << 40;

/* "ID AREA BODY_BYTES SINCE CONTROL_BYTES FRONT_BYTES" LF, then the bytes. */
bool
held_row_read(struct slice *rest, struct held_row *out)
{
	struct slice line, id, body, since, control, front;
	size_t end = slice_find(*rest, '\n');
	uint64_t seconds, control_bytes, front_bytes;

	memset(out, 0, sizeof(*out));
	if (end == rest->n)
		return false;
	line = slice_first(*rest, end);
	if (!slice_word(&line, &id) || !slice_word(&line, &out->area) ||
	    !slice_word(&line, &body) || !slice_word(&line, &since) ||
	    !slice_word(&line, &control) || !slice_word(&line, &front) ||
	    slice_trim(line).n > 0 || id.n >= sizeof(out->id) ||
	    !slice_number(body, 0, held_body_bytes_max, &out->body_bytes) ||
	    !slice_number(since, 0, INT64_MAX, &seconds) ||
	    !slice_number(control, 0, HELD_PAGE_BYTES_MAX, &control_bytes) ||
	    !slice_number(front, 0, HELD_PAGE_BYTES_MAX, &front_bytes) ||
	    control_bytes + front_bytes > rest->n - end - 1)
		return false;
	memcpy(out->id, id.p, id.n);
	out->since_s = (int64_t)seconds;
	*rest = slice_from(*rest, end + 1);
	out->control = slice_first(*rest, control_bytes);
	*rest = slice_from(*rest, control_bytes);
	out->front = slice_first(*rest, front_bytes);
	*rest = slice_from(*rest, front_bytes);
	return true;
}

struct held_pages {
	struct share_order *order;
	int		 memory;
	struct str	 page;
	char		 after[SPOOL_ID_BYTES];
};

/* The rows of the next page into page.  0; -1: err. */
static int
held_page_ask(struct held_pages *pages, const char *node, struct err *err)
{
	struct slice answer, word;
	char question[128];

	snprintf(question, sizeof(question), "held %s %s", node,
	    pages->after[0] != '\0' ? pages->after : "-");
	str_reset(&pages->page);
	if (ftruncate(pages->memory, 0) != 0)
		return err_sys(err, "empty a file in memory");
	if (share_order_ask(pages->order, question, pages->memory, &answer,
	    err) != 0)
		return -1;
	if (!slice_word(&answer, &word) || !slice_is(word, "held"))
		return err_set(err, "PostgreSQL: " SLICE_FMT,
		    SLICE_ARG(slice_trim(answer)));
	if (lseek(pages->memory, 0, SEEK_SET) != 0 || fd_read_all(
	    pages->memory, HELD_PAGE_BYTES_MAX, &pages->page) != 0)
		return err_sys(err, "read a page of copies");
	return 0;
}

/* returns how many rows it had; -1: err. */
static int
held_page_read(struct held_pages *pages, held_fn *fn, void *context,
    struct err *err)
{
	struct slice rest = str_slice(&pages->page);
	struct held_row row;
	int count = 0;

	while (held_row_read(&rest, &row)) {
		if (strcmp(row.id, pages->after) <= 0)
			break;		/* it would never end */
		memcpy(pages->after, row.id, sizeof(pages->after));
		if (spool_id_is(slice_of(row.id)))
			fn(context, &row);
		count++;
	}
	return rest.n == 0 ? count : err_set(err, "the process share told a "
	    "row of copies that is damaged");
}

static int
held_pages_read(struct held_pages *pages, const char *node, held_fn *fn,
    void *context, bool *out_is_cut, struct err *err)
{
	int64_t until_ms = clock_steady_ms() + HELD_FOR_MS;
	int count;

	do {
		*out_is_cut = clock_steady_ms() >= until_ms;
		if (*out_is_cut)
			return 0;
		if (held_page_ask(pages, node, err) != 0)
			return -1;
		count = held_page_read(pages, fn, context, err);
	} while (count > 0);
	return count;
}

int
held_each(const char *run_dir, const char *node, held_fn *fn, void *context,
    bool *out_is_cut, struct err *err)
{
	struct held_pages pages = { .page = STR_INIT };
	int result;

	*out_is_cut = false;
	pages.order = share_order_open(run_dir, err);
	if (pages.order == NULL)
		return -1;
	pages.memory = memfd_create("held", MFD_CLOEXEC);
	result = pages.memory < 0 ? err_sys(err, "make a file in memory") :
	    held_pages_read(&pages, node, fn, context, out_is_cut, err);
	if (pages.memory >= 0)
		close(pages.memory);
	str_release(&pages.page);
	share_order_close(&pages.order);
	return result;
}
