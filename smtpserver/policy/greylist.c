/* greylist.c - who was seen before
 *
 * In     networks and pairs of addresses; a file of lines
 * Out    how long to wait; lines "SUM FIRST LAST UNTIL PASSED"
 * Holds  an entry for each triplet and each network that passed
 * Trusts no line of the file: one that cannot be read is none
 * Spec   RFC 6647
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "tls/digest.h"
#include "smtpserver/policy/greylist.h"

#include "base/banned.h"

enum {
	SUM_BYTES = 16,
	FILE_BYTES_MAX = 256 << 20,
	ANEW_FROM_LINES = 10000,
	ANEW_FACTOR = 4			/* lines an entry */
};

struct entry {
	struct entry	*next;		/* of its chain */
	unsigned char	 sum[SUM_BYTES];
	int64_t		 first_s, last_s, until_s;
	uint32_t	 passed;	/* a network: pairs; else 0 or 1 */
};

struct greylist {
	struct entry	**chains;
	size_t		 chain_count;	/* a power of two */
	size_t		 count, lines;
	size_t		 hand;		/* of the sweep */
	char		*path;		/* NULL: none */
	int		 fd;
	struct str	 unwritten;
};

/* ---- entries ---------------------------------------------------------- */

static struct entry **
greylist_chain(struct greylist *greylist, const unsigned char sum[SUM_BYTES])
{
	uint32_t hash;

	memcpy(&hash, sum, sizeof(hash));
	return &greylist->chains[hash & (greylist->chain_count - 1)];
}

static void
greylist_chain_sweep(struct greylist *greylist, struct entry **at,
    int64_t now_s)
{
	while (*at != NULL) {
		struct entry *entry = *at;

		if (now_s < entry->until_s) {
			at = &entry->next;
			continue;
		}
		*at = entry->next;
		greylist->count--;
		mem_free(&entry);
	}
}

static void
chains_grow(struct greylist *greylist)
{
	struct entry **old = greylist->chains;
	size_t old_count = greylist->chain_count;

	greylist->chain_count = old_count > 0 ? old_count * 2 : 1024;
	greylist->chains = mem_alloc(greylist->chain_count,
	    sizeof(*greylist->chains));
	for (size_t i = 0; i < old_count; i++)
		while (old[i] != NULL) {
			struct entry *entry = old[i], **chain;

			old[i] = entry->next;
			chain = greylist_chain(greylist, entry->sum);
			entry->next = *chain;
			*chain = entry;
		}
	mem_free(&old);
}

static struct entry *
entry_find(struct greylist *greylist, const unsigned char sum[SUM_BYTES])
{
	struct entry *entry = *greylist_chain(greylist, sum);

	while (entry != NULL && memcmp(entry->sum, sum, SUM_BYTES) != 0)
		entry = entry->next;
	return entry;
}

/* Of the past, or at the bound: whatever lies in the sweep's way goes. */
static void
greylist_make_room(struct greylist *greylist, int64_t now_s)
{
	for (int i = 0; i < 2; i++) {
		greylist_chain_sweep(greylist,
		    &greylist->chains[greylist->hand],
		    now_s);
		greylist->hand = (greylist->hand + 1) &
		    (greylist->chain_count - 1);
	}
	while (greylist->count >= GREYLIST_ENTRIES_MAX) {
		greylist_chain_sweep(greylist,
		    &greylist->chains[greylist->hand],
		    INT64_MAX);
		greylist->hand = (greylist->hand + 1) &
		    (greylist->chain_count - 1);
	}
}

static struct entry *
greylist_entry_add(struct greylist *greylist,
    const unsigned char sum[SUM_BYTES],
    int64_t now_s)
{
	struct entry *entry, **chain;

	if (greylist->count >= greylist->chain_count)
		chains_grow(greylist);
	greylist_make_room(greylist, now_s);
	chain = greylist_chain(greylist, sum);
	entry = mem_alloc(1, sizeof(*entry));
	memcpy(entry->sum, sum, SUM_BYTES);
	entry->next = *chain;
	*chain = entry;
	greylist->count++;
	return entry;
}

/* ---- the file --------------------------------------------------------- */

static void
greylist_line_add(struct str *out, const struct entry *entry)
{
	for (int i = 0; i < SUM_BYTES; i++)
		str_addf(out, "%02x", entry->sum[i]);
	str_addf(out, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu32 "\n",
	    entry->first_s, entry->last_s, entry->until_s, entry->passed);
}

static bool
sum_parse(struct slice text, unsigned char sum[SUM_BYTES])
{
	if (text.n != 2 * SUM_BYTES)
		return false;
	for (size_t i = 0; i < SUM_BYTES; i++) {
		int high = ascii_hex_small(text.p[2 * i]),
		    low = ascii_hex_small(text.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		sum[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

static void
greylist_line_take(struct greylist *greylist, struct slice line, int64_t now_s)
{
	unsigned char sum[SUM_BYTES];
	struct slice word = { NULL, 0 };
	uint64_t numbers[4];
	struct entry *entry;

	(void)slice_word(&line, &word);
	if (!sum_parse(word, sum))
		return;
	for (int i = 0; i < 4; i++)
		if (!slice_word(&line, &word) ||
		    !slice_number(word, 0, UINT32_MAX, &numbers[i]))
			return;
	if ((int64_t)numbers[2] <= now_s)
		return;
	entry = entry_find(greylist, sum);
	if (entry == NULL)
		entry = greylist_entry_add(greylist, sum, now_s);
	entry->first_s = (int64_t)numbers[0];
	entry->last_s = (int64_t)numbers[1];
	entry->until_s = (int64_t)numbers[2];
	entry->passed = (uint32_t)numbers[3];
}

static void
greylist_lines_take(struct greylist *greylist, struct str *text, int64_t now_s)
{
	size_t used = 0;

	for (;;) {
		struct slice rest = slice_from(str_slice(text), used), line;
		size_t end = slice_find(rest, '\n');

		if (end == rest.n)
			break;
		line = slice_first(rest, end);
		greylist_line_take(greylist, line, now_s);
		greylist->lines++;
		used += end + 1;
	}
	str_consume(text, used);
}

static int
greylist_file_read(struct greylist *greylist, int64_t now_s, struct err *err)
{
	struct str text = STR_INIT;
	uint64_t total = 0;
	ssize_t n = 0;

	while (total < FILE_BYTES_MAX && (n = read(greylist->fd,
	    str_room(&text, 65536), 65536)) > 0) {
		text.len += (size_t)n;
		total += (uint64_t)n;
		greylist_lines_take(greylist, &text, now_s);
		if (text.len > 4096)	/* that is no line */
			str_reset(&text);
	}
	/* a line that was cut off must not grow into the next one */
	if (text.len > 0)
		str_addc(&greylist->unwritten, '\n');
	str_release(&text);
	return n < 0 ? err_sys(err, "read %s", greylist->path) : 0;
}

/* All entries into a new file that takes the place of the old one.  It need
 * not be durable: after a power cut senders try again. */
static int
greylist_file_anew(struct greylist *greylist, struct err *err)
{
	struct str text = STR_INIT, name = STR_INIT;
	size_t lines = 0;
	int fd, result = 0;

	str_addf(&name, "%s.new", greylist->path);
	fd = open(name.buf, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		result = err_sys(err, "cannot write %s", name.buf);
	for (size_t i = 0; i < greylist->chain_count && result == 0; i++) {
		for (const struct entry *entry = greylist->chains[i];
		    entry != NULL; entry = entry->next, lines++)
			greylist_line_add(&text, entry);
		if (text.len < 65536 && i + 1 < greylist->chain_count)
			continue;
		if (write(fd, text.buf, text.len) != (ssize_t)text.len)
			result = err_sys(err, "cannot write %s", name.buf);
		str_reset(&text);
	}
	if (result == 0 && rename(name.buf, greylist->path) != 0)
		result = err_sys(err, "rename %s", name.buf);
	if (result == 0) {
		close(greylist->fd);
		greylist->fd = fd;
		greylist->lines = lines;
		str_reset(&greylist->unwritten);
	} else if (fd >= 0) {
		close(fd);
	}
	str_release(&text);
	str_release(&name);
	return result;
}

int
greylist_flush(struct greylist *greylist, struct err *err)
{
	struct str *text = &greylist->unwritten;
	int result = 0;

	if (greylist->fd < 0) {
		str_reset(text);
		return 0;
	}
	if (text->len > 0 &&
	    write(greylist->fd, text->buf, text->len) != (ssize_t)text->len)
		result = err_sys(err, "cannot write %s", greylist->path);
	str_reset(text);
	if (greylist->lines > ANEW_FROM_LINES &&
	    greylist->lines / ANEW_FACTOR > greylist->count)
		result = greylist_file_anew(greylist, err);
	return result;
}

struct greylist *
greylist_open(const char *path, int64_t now_s, struct err *err)
{
	struct greylist *greylist = mem_alloc(1, sizeof(*greylist));

	greylist->fd = -1;
	str_init(&greylist->unwritten);
	chains_grow(greylist);
	err->text[0] = '\0';
	if (path == NULL)
		return greylist;
	greylist->path = mem_strdup(path);
	greylist->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	if (greylist->fd < 0)
		err_sys(err, "cannot open %s", path);
	else
		(void)greylist_file_read(greylist, now_s, err);
	return greylist;
}

void
greylist_close(struct greylist **pgreylist)
{
	struct greylist *greylist = *pgreylist;
	struct err err;

	if (greylist == NULL)
		return;
	(void)greylist_flush(greylist, &err);
	if (greylist->fd >= 0)
		close(greylist->fd);
	for (size_t i = 0; i < greylist->chain_count; i++)
		greylist_chain_sweep(greylist, &greylist->chains[i], INT64_MAX);
	mem_free(&greylist->chains);
	mem_free(&greylist->path);
	str_release(&greylist->unwritten);
	mem_free(pgreylist);
}

size_t
greylist_count(const struct greylist *greylist)
{
	return greylist->count;
}

size_t
greylist_lines(const struct greylist *greylist)
{
	return greylist->lines;
}

/* ---- asking ----------------------------------------------------------- */

static void
entry_write(struct greylist *greylist, const struct entry *entry)
{
	greylist_line_add(&greylist->unwritten, entry);
	greylist->lines++;
}

static bool
greylist_sum(struct slice net, struct slice pair, unsigned char sum[SUM_BYTES])
{
	unsigned char whole[DIGEST_SHA256_BYTES];
	struct str text = STR_INIT;
	int result;

	str_add_slice(&text, net);
	str_addc(&text, ' ');
	str_add_slice(&text, pair);
	result = digest(DIGEST_SHA256, str_slice(&text), whole);
	memcpy(sum, whole, SUM_BYTES);
	str_release(&text);
	return result == 0;
}

/* One more pair of this network has passed. */
static void
network_note(struct greylist *greylist, struct slice net,
    const struct greylist_terms *terms, int64_t now_s)
{
	unsigned char sum[SUM_BYTES];
	struct entry *entry;

	if (!greylist_sum(net, SLICE(""), sum))
		return;
	entry = entry_find(greylist, sum);
	if (entry == NULL) {
		entry = greylist_entry_add(greylist, sum, now_s);
		entry->first_s = now_s;
	}
	entry->passed++;
	entry->last_s = now_s;
	entry->until_s = now_s + terms->keep_s;
	entry_write(greylist, entry);
}

static bool
network_is_trusted(struct greylist *greylist, struct slice net,
    int64_t now_s)
{
	unsigned char sum[SUM_BYTES];
	const struct entry *entry = greylist_sum(net, SLICE(""), sum) ?
	    entry_find(greylist, sum) : NULL;

	return entry != NULL && now_s < entry->until_s &&
	    entry->passed >= GREYLIST_TRUSTED_FROM;
}

static int64_t
greylist_first_seen(struct greylist *greylist, struct entry *entry,
    const struct greylist_terms *terms, int64_t now_s)
{
	entry->first_s = entry->last_s = now_s;
	entry->until_s = now_s + terms->within_s;
	entry->passed = 0;
	entry_write(greylist, entry);
	return terms->after_s;
}

/* It has passed: kept from now on; written again when a tenth of it has
 * gone. */
static void
greylist_pass(struct greylist *greylist, struct entry *entry, struct slice net,
    const struct greylist_terms *terms, int64_t now_s)
{
	if (!entry->passed)
		network_note(greylist, net, terms, now_s);
	if (entry->passed && entry->until_s - now_s >=
	    terms->keep_s - terms->keep_s / 10)
		return;
	entry->passed = 1;
	entry->last_s = now_s;
	entry->until_s = now_s + terms->keep_s;
	entry_write(greylist, entry);
}

void
greylist_learn(struct greylist *greylist, struct slice net, struct slice pair,
    const struct greylist_terms *terms, int64_t now_s)
{
	unsigned char sum[SUM_BYTES];
	struct entry *entry;

	if (!greylist_sum(net, pair, sum))
		return;
	entry = entry_find(greylist, sum);
	if (entry == NULL)
		entry = greylist_entry_add(greylist, sum, now_s);
	if (now_s >= entry->until_s) {
		entry->first_s = now_s;
		entry->passed = 0;
	}
	greylist_pass(greylist, entry, net, terms, now_s);
}

int64_t
greylist_ask(struct greylist *greylist, struct slice net, struct slice pair,
    const struct greylist_terms *terms, int64_t now_s)
{
	unsigned char sum[SUM_BYTES];
	struct entry *entry;

	if (network_is_trusted(greylist, net, now_s) ||
	    !greylist_sum(net, pair, sum))
		return 0;
	entry = entry_find(greylist, sum);
	/* the clock may have been set back: it begins anew */
	if (entry == NULL || now_s >= entry->until_s ||
	    (!entry->passed && now_s < entry->first_s))
		return greylist_first_seen(greylist, entry != NULL ? entry :
		    greylist_entry_add(greylist, sum, now_s), terms, now_s);
	if (!entry->passed && now_s < entry->first_s + terms->after_s)
		return entry->first_s + terms->after_s - now_s;
	greylist_pass(greylist, entry, net, terms, now_s);
	return 0;
}
