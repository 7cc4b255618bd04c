/* counters.c - what the processes count, in memory that they share
 *
 * In     events and their pairs
 * Out    numbers in LOGDIR/counters-LAYOUT
 * Holds  the mapping; sums of this turn
 * Trusts the file's size alone: any process of ours may have written any
 *        number and any name there, and they only go into text
 * Spec   metrics.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "journal/counters.h"
#include "journal/counters_table.h"

#include "base/banned.h"

enum { ROWS_MAX = 200, SUMS_MAX = 16 };

struct learned {		/* one name; claimed by its hash */
	uint64_t	 hash;		/* 0: free */
	char		 text[LEARNED_BYTES];
};

static uint64_t *slots;		/* the mapping, or NULL */
static struct learned *names;	/* after the slots */
static size_t slot_count;
static unsigned first_slot[ROWS_MAX];
/* The rows of each kind of event or tally, in a list: index + 1; 0 ends it. */
static uint8_t first_row[EV_COUNT + TALLY_COUNT + 1], next_row[ROWS_MAX];

static struct { unsigned slot; uint64_t number; } sums[SUMS_MAX];
static unsigned sum_count;

/* ---- the layout -------------------------------------------------------- */

unsigned
counters_row_ways(const struct counters_row *row)
{
	unsigned ways = 1;

	for (int i = 0; i < COUNTERS_BY_MAX; i++)
		ways *= counters_sets[row->by[i].set].count;
	return ways;
}

unsigned
counters_row_width(const struct counters_row *row)
{
	switch (row->type) {
	case ROW_HISTOGRAM:	/* beyond; their sum */
		return counters_bounds[row->bounds].count + 2;
	case ROW_LOOKED:
		return 0;
	default:
		return 1;
	}
}

/* Several events may set one gauge. */
static bool
is_shared(unsigned i)
{
	return i > 0 && counters_rows[i].type == ROW_GAUGE &&
	    strcmp(counters_rows[i].metric, counters_rows[i - 1].metric) == 0;
}

static void
lay_out(void)
{
	if (slot_count > 0)
		return;
	for (unsigned i = 0; i < counters_row_count && i < ROWS_MAX; i++) {
		const struct counters_row *row = &counters_rows[i];

		first_slot[i] = is_shared(i) ? first_slot[i - 1] :
		    (unsigned)slot_count;
		if (!is_shared(i))
			slot_count += counters_row_width(row) *
			    counters_row_ways(row);
		next_row[i] = first_row[row->event];
		first_row[row->event] = (uint8_t)(i + 1);
	}
}

unsigned
counters_row_slot(unsigned row)
{
	lay_out();
	return first_slot[row];
}

static uint32_t
crc_text(uint32_t crc, const char *text)
{
	return crc32c(crc, text, strlen(text));
}

static void
file_name(char *out, size_t size)
{
	uint32_t crc = 0;

	for (unsigned i = 0; i < counters_row_count; i++) {
		const struct counters_row *row = &counters_rows[i];

		crc = crc_text(crc, row->metric);
		crc = crc_text(crc, row->labels);
		crc = crc32c(crc, &row->type, sizeof(row->type));
		for (int k = 0; k < COUNTERS_BY_MAX; k++)
			crc = crc_text(crc, row->by[k].label);
	}
	for (int i = 0; i < SET_COUNT; i++)
		for (unsigned k = 0; counters_sets[i].values != NULL &&
		    k < counters_sets[i].count; k++)
			crc = crc_text(crc, counters_sets[i].values[k].name);
	crc = crc32c(crc, counters_bounds, sizeof(counters_bounds));
	snprintf(out, size, "counters-%08" PRIx32, crc);
}

static size_t
map_bytes(void)
{
	return slot_count * sizeof(*slots) +
	    LEARNED_SETS * SET_LEARNED * sizeof(*names) +
	    COUNTERS_BESIDE_BYTES;
}

void *
counters_beside(void)
{
	return slots == NULL ? NULL : names + LEARNED_SETS * SET_LEARNED;
}

static void
counters_unmap(void)
{
	if (slots != NULL)
		munmap(slots, map_bytes());
	slots = NULL;
	sum_count = 0;
}

static int
counters_map(int log_dir_fd, bool is_writer)
{
	size_t bytes;
	char name[32];
	struct stat st;
	bool is_good;
	void *map;
	int fd;

	lay_out();
	counters_unmap();
	if (log_dir_fd < 0)
		return -1;
	file_name(name, sizeof(name));
	bytes = map_bytes();
	fd = openat(log_dir_fd, name, (is_writer ? O_RDWR | O_CREAT :
	    O_RDONLY) | O_NOFOLLOW | O_CLOEXEC, 0660);
	if (fd < 0)
		return -1;
	is_good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	if (is_good && is_writer && st.st_size == 0)
		(void)fchmod(fd, 0660);
	if (!is_good || ((size_t)st.st_size < bytes && (!is_writer ||
	    ftruncate(fd, (off_t)bytes) != 0))) {
		close(fd);
		return -1;
	}
	map = mmap(NULL, bytes, PROT_READ | (is_writer ? PROT_WRITE : 0),
	    MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return -1;
	slots = map;
	names = (struct learned *)(void *)(slots + slot_count);
	return 0;
}

void
counters_open(int log_dir_fd)
{
	counters_flush();
	(void)counters_map(log_dir_fd, true);	/* no counting is no trouble */
}

int
counters_read(int log_dir_fd)
{
	return counters_map(log_dir_fd, false);
}

/* ---- labels ------------------------------------------------------------ */

static bool
looks_like(struct slice value, struct slice looks)
{
	for (size_t i = 0; i < looks.n; i++) {
		if (looks.p[i] == '*' && i + 1 == looks.n)
			return true;
		if (i >= value.n || (looks.p[i] != '?' &&
		    ascii_lower(looks.p[i]) !=
		    ascii_lower(value.p[i])))
			return false;
	}
	return value.n == looks.n;
}

static bool
is_value(struct slice value, const char *looks)
{
	struct slice rest = slice_of(looks), word;

	while (slice_word(&rest, &word))
		if (looks_like(value, word))
			return true;
	return false;
}

static struct learned *
learned_of(enum counters_set set)
{
	return names + (set == SET_LISTENER ? 0 : SET_LEARNED);
}

/* Whoever wins a free place writes its name there; two names of one hash
 * would share a number, no more. */
static unsigned
counters_learn(enum counters_set set, struct slice value)
{
	struct learned *all = learned_of(set);
	uint64_t hash = UINT64_C(1) << 32 | crc32c(0, value.p, value.n);

	if (value.n == 0)
		return 0;
	for (unsigned i = 1; i < SET_LEARNED - 1; i++) {
		uint64_t there = __atomic_load_n(&all[i].hash,
		    __ATOMIC_RELAXED);

		if (there == 0 && __atomic_compare_exchange_n(&all[i].hash,
		    &there, hash, false, __ATOMIC_RELAXED,
		    __ATOMIC_RELAXED)) {
			value = slice_first(value, LEARNED_BYTES - 1);
			memcpy(all[i].text, value.p, value.n);
			return i;
		}
		if (there == hash)
			return i;
	}
	return SET_LEARNED - 1;
}

static unsigned
value_index(enum counters_set set, struct slice value)
{
	const struct counters_set_row *row = &counters_sets[set];
	unsigned i = 0;

	if (set == SET_NONE)
		return 0;
	if (row->values == NULL)
		return counters_learn(set, value);
	while (i < row->count - 1 && !is_value(value, row->values[i].looks))
		i++;
	return i;
}

const char *
counters_value_name(enum counters_set set, unsigned i)
{
	const struct counters_set_row *row = &counters_sets[set];

	if (row->values != NULL)
		return row->values[i].name;
	if (i == 0 || set == SET_NONE)
		return row->none;
	if (i == SET_LEARNED - 1)
		return "other";
	if (slots == NULL || learned_of(set)[i].hash == 0 ||
	    learned_of(set)[i].text[LEARNED_BYTES - 1] != '\0')
		return NULL;
	return learned_of(set)[i].text;
}

const char *
counters_channel(struct slice channel)
{
	return counters_value_name(SET_CHANNEL, value_index(SET_CHANNEL,
	    channel));
}

const char *
counters_channel_name(unsigned i)
{
	return i < counters_sets[SET_CHANNEL].count ?
	    counters_value_name(SET_CHANNEL, i) : NULL;
}

/* ---- counting ---------------------------------------------------------- */

static void
counters_cell_add(unsigned slot, uint64_t number)
{
	__atomic_fetch_add(&slots[slot], number, __ATOMIC_RELAXED);
}

void
counters_flush(void)
{
	for (unsigned i = 0; slots != NULL && i < sum_count; i++)
		counters_cell_add(sums[i].slot, sums[i].number);
	sum_count = 0;
}

/* A histogram costs one atomic addition: its sum waits for the turn's end. */
static void
sum_later(unsigned slot, uint64_t number)
{
	unsigned i = 0;

	while (i < sum_count && sums[i].slot != slot)
		i++;
	if (i == SUMS_MAX) {
		counters_flush();
		i = 0;
	}
	if (i == sum_count) {
		sums[sum_count].slot = slot;
		sums[sum_count++].number = 0;
	}
	sums[i].number += number;
}

struct source {			/* what happened */
	const struct counters_pair *pairs;
	size_t		 count;
};

static struct slice
source_value(const struct source *source, const char *key)
{
	for (size_t i = 0; i < source->count; i++)
		if (strcmp(source->pairs[i].key, key) == 0)
			return source->pairs[i].value;
	return (struct slice){ NULL, 0 };
}

/* Is it one that the row counts? */
static bool
is_counted(const struct counters_row *row, const struct source *source)
{
	struct slice value;

	if (row->front == NULL || row->front[0] == '\0')
		return true;
	value = source_value(source, row->key);
	return row->front[0] == '!' ? !slice_starts(value, row->front + 1) :
	    slice_starts(value, row->front);
}

/* Which of the row's numbers. */
static unsigned
counters_way(const struct counters_row *row, const struct source *source)
{
	unsigned way = 0;

	for (int i = 0; i < COUNTERS_BY_MAX; i++)
		if (row->by[i].set != SET_NONE)
			way = way * counters_sets[row->by[i].set].count +
			    value_index(row->by[i].set,
			    source_value(source, row->by[i].key));
	return way;
}

static void
count_in_histogram(const struct counters_row *row, unsigned slot,
    uint64_t number)
{
	const struct counters_bounds_row *bounds =
	    &counters_bounds[row->bounds];
	uint64_t us = number < UINT64_MAX / row->unit_us ?
	    number * row->unit_us : UINT64_MAX;
	unsigned i = 0;

	while (i < bounds->count && us > (uint64_t)bounds->us[i])
		i++;
	counters_cell_add(slot + i, 1);
	sum_later(slot + bounds->count + 1, us);
}

static void
count_row(unsigned i, const struct source *source, int64_t number)
{
	const struct counters_row *row = &counters_rows[i];
	unsigned slot = first_slot[i] +
	    counters_way(row, source) * counters_row_width(row);
	uint64_t value = (uint64_t)number;

	if (row->type == ROW_COUNTER) {
		counters_cell_add(slot, 1);
		return;
	}
	if (row->type == ROW_GAUGE) {
		if (row->event < EV_COUNT)
			value = row->number == COUNTERS_NOW ?
			    (uint64_t)clock_wall_s() : (uint64_t)row->number;
		__atomic_store_n(&slots[slot], value, __ATOMIC_RELAXED);
		return;
	}
	if (row->event < EV_COUNT && !slice_number(source_value(source,
	    row->key), 0, INT64_MAX, &value))
		return;
	if (row->type == ROW_SUM)
		counters_cell_add(slot, value);
	else
		count_in_histogram(row, slot, value);
}

static void
counters_count(unsigned event, const struct source *source, int64_t number)
{
	if (slots == NULL)
		return;
	for (unsigned i = first_row[event]; i > 0; i = next_row[i - 1])
		if (is_counted(&counters_rows[i - 1], source))
			count_row(i - 1, source, number);
}

void
counters_event(enum event_kind kind, const struct counters_pair *pairs,
    size_t pair_count)
{
	const struct source source = { pairs, pair_count };

	counters_count((unsigned)kind, &source, 0);
}

void
counters_tally(enum counters_tally tally)
{
	const struct source source = { NULL, 0 };

	counters_count(EV_COUNT + (unsigned)tally, &source, 0);
}

void
counters_tell(enum counters_tally tally, struct slice label, int64_t number)
{
	const struct counters_pair pair = { "label", label };
	const struct source source = { &pair, 1 };

	counters_count(EV_COUNT + (unsigned)tally, &source,
	    number > 0 ? number : 0);
}

void
counters_limit(const char *name)
{
	counters_tell(TALLY_LIMIT_HIT, slice_of(name), 0);
}

uint64_t
counters_slot(unsigned slot)
{
	return slots == NULL ? 0 :
	    __atomic_load_n(&slots[slot], __ATOMIC_RELAXED);
}
