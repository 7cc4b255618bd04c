/* counters.c - what the processes count, in memory that they share
 *
 * In     events and their pairs
 * Out    numbers in LOGDIR/counters-LAYOUT; OpenMetrics text
 * Holds  the mapping
 * Trusts the file's size alone: any process of ours may have written any
 *        number there, and numbers only go into text
 * Spec   metrics.h; OpenMetrics 1.0
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

#include "base/counters.h"
#include "base/crc32c.h"

#include "base/banned.h"

static const char *const channels[] = { "smtp", "lmtp", "local", "pipe",
	"error", "hold", "discard", "http", "other" };
enum { CHANNEL_COUNT = sizeof(channels) / sizeof(channels[0]) };

static const int64_t bounds_s[] = { 1, 5, 30, 60, 300, 3600, 21600, 86400 };
enum { BOUND_COUNT = sizeof(bounds_s) / sizeof(bounds_s[0]) };

enum row_type { ROW_COUNTER, ROW_BY_CHANNEL, ROW_SUM, ROW_HISTOGRAM,
	ROW_MATCH, ROW_TALLY };

static const unsigned row_slots[] = {
	[ROW_COUNTER] = 1, [ROW_BY_CHANNEL] = CHANNEL_COUNT, [ROW_SUM] = 1,
	[ROW_HISTOGRAM] = BOUND_COUNT + 2,	/* beyond; their sum */
	[ROW_MATCH] = 1, [ROW_TALLY] = 1
};

static const struct row {
	enum row_type	 type;
	const char	*metric, *labels, *key, *text;
	unsigned	 event;		/* or EV_COUNT + tally */
	const char	*front;
} rows[] = {
#define COUNTER(metric, labels, event, text) \
	{ ROW_COUNTER, metric, labels, "", text, EV_##event, "" },
#define BY_CHANNEL(metric, labels, event, text) \
	{ ROW_BY_CHANNEL, metric, labels, "channel", text, EV_##event, "" \
	},
#define SUM(metric, event, key, text) \
	{ ROW_SUM, metric, "", key, text, EV_##event, "" },
#define HISTOGRAM(metric, event, key, text) \
	{ ROW_HISTOGRAM, metric, "", key, text, EV_##event, "" },
#define MATCH(metric, labels, event, key, front, text) \
	{ ROW_MATCH, metric, labels, key, text, EV_##event, front },
#define TALLY(metric, labels, tally, text) \
	{ ROW_TALLY, metric, labels, "", text, EV_COUNT + TALLY_##tally, "" },
#include "base/metrics.h"
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

static uint64_t *slots;		/* the mapping, or NULL */
static size_t slot_count;
static unsigned first_slot[ROW_COUNT];
/* The rows of each kind of event or tally, in a list: index + 1; 0 ends it. */
static uint8_t first_row[EV_COUNT + TALLY_COUNT], next_row[ROW_COUNT];

static void
lay_out(void)
{
	if (slot_count > 0)
		return;
	for (unsigned i = 0; i < ROW_COUNT; i++) {
		first_slot[i] = (unsigned)slot_count;
		slot_count += row_slots[rows[i].type];
		next_row[i] = first_row[rows[i].event];
		first_row[rows[i].event] = (uint8_t)(i + 1);
	}
}

static void
file_name(char *out, size_t size)
{
	uint32_t crc = 0;

	for (unsigned i = 0; i < ROW_COUNT; i++) {
		crc = crc32c(crc, rows[i].metric, strlen(rows[i].metric));
		crc = crc32c(crc, rows[i].labels, strlen(rows[i].labels));
		crc = crc32c(crc, &rows[i].type, sizeof(rows[i].type));
	}
	snprintf(out, size, "counters-%08" PRIx32, crc);
}

static void
unmap(void)
{
	if (slots != NULL)
		munmap(slots, slot_count * sizeof(*slots));
	slots = NULL;
}

static int
map(int log_dir_fd, bool is_writer)
{
	size_t bytes;
	char name[32];
	struct stat st;
	void *map;
	int fd;

	lay_out();
	unmap();
	if (log_dir_fd < 0)
		return -1;
	file_name(name, sizeof(name));
	bytes = slot_count * sizeof(*slots);
	fd = openat(log_dir_fd, name, (is_writer ? O_RDWR | O_CREAT :
	    O_RDONLY) | O_NOFOLLOW | O_CLOEXEC, 0660);
	if (fd < 0)
		return -1;
	if (is_writer && fstat(fd, &st) == 0 && st.st_size == 0)
		(void)fchmod(fd, 0660);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    ((size_t)st.st_size < bytes && (!is_writer ||
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
	return 0;
}

void
counters_open(int log_dir_fd)
{
	(void)map(log_dir_fd, true);	/* no counting is no trouble */
}

int
counters_read(int log_dir_fd)
{
	return map(log_dir_fd, false);
}

/* ---- counting -------------------------------------------------------- */

static void
add(unsigned slot, uint64_t number)
{
	__atomic_fetch_add(&slots[slot], number, __ATOMIC_RELAXED);
}

void
counters_event(enum event_kind kind)
{
	if (slots == NULL)
		return;
	for (unsigned i = first_row[kind]; i > 0; i = next_row[i - 1])
		if (rows[i - 1].type == ROW_COUNTER)
			add(first_slot[i - 1], 1);
}

void
counters_tally(enum counters_tally tally)
{
	if (slots == NULL)
		return;
	for (unsigned i = first_row[EV_COUNT + tally]; i > 0;
	    i = next_row[i - 1])
		add(first_slot[i - 1], 1);
}

static unsigned
channel_of(struct slice value)
{
	unsigned i = 0;

	while (i < CHANNEL_COUNT - 1 && !slice_is(value, channels[i]))
		i++;
	return i;
}

static void
count_pair(unsigned row, struct slice value)
{
	unsigned slot = first_slot[row], i = 0;
	uint64_t number;

	if (rows[row].type == ROW_BY_CHANNEL) {
		add(slot + channel_of(value), 1);
		return;
	}
	if (rows[row].type == ROW_MATCH) {
		if (slice_starts(value, rows[row].front))
			add(slot, 1);
		return;
	}
	if (!slice_number(value, 0, INT64_MAX, &number))
		return;
	if (rows[row].type == ROW_SUM) {
		add(slot, number);
		return;
	}
	while (i < BOUND_COUNT && number > (uint64_t)bounds_s[i])
		i++;
	add(slot + i, 1);
	add(slot + BOUND_COUNT + 1, number);
}

void
counters_pair(enum event_kind kind, const char *key, struct slice value)
{
	if (slots == NULL)
		return;
	for (unsigned i = first_row[kind]; i > 0; i = next_row[i - 1])
		if (rows[i - 1].type != ROW_COUNTER &&
		    strcmp(rows[i - 1].key, key) == 0)
			count_pair(i - 1, value);
}

/* ---- printing ---------------------------------------------------------- */

static uint64_t
get(unsigned slot)
{
	return slots == NULL ? 0 :
	    __atomic_load_n(&slots[slot], __ATOMIC_RELAXED);
}

uint64_t
counters_sum(const char *metric, const char *labels)
{
	uint64_t sum = 0;

	lay_out();
	for (unsigned i = 0; i < ROW_COUNT; i++) {
		if (strcmp(rows[i].metric, metric) != 0 ||
		    strcmp(rows[i].labels, labels) != 0)
			continue;
		for (unsigned k = 0; k < row_slots[rows[i].type]; k++)
			sum += get(first_slot[i] + k);
	}
	return sum;
}

static void
print_sample(struct str *out, const struct row *row, const char *suffix,
    const char *label, const char *value, uint64_t number)
{
	const char *comma = row->labels[0] && label[0] ? "," : "";

	str_addf(out, "zmailer_%s%s", row->metric, suffix);
	if (row->labels[0] != '\0' || label[0] != '\0')
		str_addf(out, "{%s%s%s%s%s%s}", row->labels, comma, label,
		    label[0] ? "=\"" : "", value, label[0] ? "\"" : "");
	str_addf(out, " %" PRIu64 "\n", number);
}

static void
print_histogram(struct str *out, unsigned i)
{
	uint64_t count = 0;
	char bound[24];

	for (unsigned k = 0; k <= BOUND_COUNT; k++) {
		count += get(first_slot[i] + k);
		if (k < BOUND_COUNT)
			snprintf(bound, sizeof(bound), "%" PRId64 ".0",
			    bounds_s[k]);
		else
			snprintf(bound, sizeof(bound), "+Inf");
		print_sample(out, &rows[i], "_bucket", "le", bound, count);
	}
	print_sample(out, &rows[i], "_count", "", "", count);
	print_sample(out, &rows[i], "_sum", "", "",
	    get(first_slot[i] + BOUND_COUNT + 1));
}

static void
print_row(struct str *out, unsigned i)
{
	switch (rows[i].type) {
	case ROW_COUNTER:
	case ROW_SUM:
	case ROW_MATCH:
	case ROW_TALLY:
		print_sample(out, &rows[i], "_total", "", "",
		    get(first_slot[i]));
		break;
	case ROW_BY_CHANNEL:
		for (unsigned k = 0; k < CHANNEL_COUNT; k++)
			print_sample(out, &rows[i], "_total", "channel",
			    channels[k], get(first_slot[i] + k));
		break;
	case ROW_HISTOGRAM:
		print_histogram(out, i);
		break;
	}
}

void
counters_print(struct str *out)
{
	lay_out();
	for (unsigned i = 0; i < ROW_COUNT; i++) {
		if (i == 0 || strcmp(rows[i].metric, rows[i - 1].metric) != 0)
			str_addf(out, "# TYPE zmailer_%s %s\n# HELP "
			    "zmailer_%s %s\n", rows[i].metric,
			    rows[i].type == ROW_HISTOGRAM ? "histogram" :
			    "counter", rows[i].metric, rows[i].text);
		print_row(out, i);
	}
}
