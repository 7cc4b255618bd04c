/* quota.c - how full a mailbox is
 *
 * In     maildirsize files, names and sizes of messages
 * Out    whether one more message fits
 * Holds  nothing
 * Trusts maildirsize as far as its owner does: a wrong one is counted anew
 *        before a message is turned away
 * Spec   quota.h; Maildir++
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "transports/mailbox/quota.h"

#include "base/banned.h"

#define SIZE_PATH "../maildirsize"

/* ---- the file ---------------------------------------------------------- */

static bool
quota_number(struct slice word, int64_t *out)
{
	bool is_negative = slice_starts(word, "-");
	uint64_t value;

	if (!slice_number(slice_from(word, is_negative), 0, INT64_MAX / 4,
	    &value))
		return false;
	*out = is_negative ? -(int64_t)value : (int64_t)value;
	return true;
}

/* "1000000S,100C"; letters that are not known are other people's. */
static int
quota_parse_definition(struct slice line, struct maildirsize *out)
{
	struct slice word;
	uint64_t value;

	while (slice_cut(&line, ',', &word)) {
		word = slice_trim(word);
		if (word.n < 2 || !slice_number(slice_first(word, word.n - 1),
		    0, INT64_MAX / 4, &value))
			return -1;
		if (word.p[word.n - 1] == 'S')
			out->bytes_max = value;
		else if (word.p[word.n - 1] == 'C')
			out->count_max = value;
	}
	return 0;
}

int
maildirsize_parse(struct slice text, struct maildirsize *out)
{
	struct slice line, bytes, count;
	int64_t more_bytes, more_count;

	memset(out, 0, sizeof(*out));
	if (text.n == 0 || text.p[text.n - 1] != '\n' ||
	    !slice_cut(&text, '\n', &line) || quota_parse_definition(line,
	    out) < 0)
		return -1;
	while (slice_cut(&text, '\n', &line)) {
		if (text.p == NULL && line.n == 0)
			break;			/* after the last LF */
		if (!slice_word(&line, &bytes) || !slice_word(&line, &count) ||
		    slice_trim(line).n > 0 || !quota_number(bytes,
		    &more_bytes) ||
		    !quota_number(count, &more_count))
			return -1;
		out->bytes += more_bytes;
		out->count += more_count;
		out->lines++;
	}
	return out->lines > 0 && out->bytes >= 0 && out->count >= 0 ? 0 : -1;
}

static int
quota_open_size(int new_fd)
{
	return openat(new_fd, SIZE_PATH, O_RDWR | O_APPEND | O_NOFOLLOW |
	    O_NONBLOCK | O_CLOEXEC);
}

/* 1 read; 0 it must be counted again; -1 errno. */
static int
quota_read_size(int fd, struct maildirsize *out)
{
	char text[MAILDIRSIZE_BYTES_MAX];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	bool is_long;

	if (n < 0)
		return -1;
	is_long = n == (ssize_t)sizeof(text);
	while (is_long && n > 0 && text[n - 1] != '\n')
		n--;			/* the definition is still good */
	return maildirsize_parse((struct slice){ text, (size_t)n }, out) ==
	    0 && !is_long;
}

/* ---- counting ---------------------------------------------------------- */

/* ",S=123" of a message's name; else ask the file. */
static uint64_t
quota_message_bytes(int dir_fd, const char *name)
{
	const char *at = strstr(name, ",S=");
	struct stat st;
	uint64_t value;

	if (at != NULL && slice_number(slice_first(slice_of(at + 3),
	    strspn(at + 3, "0123456789")), 0, INT64_MAX / 4, &value))
		return value;
	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* A message marked as trashed (":2,...T") does not count. */
static bool
quota_is_trashed(const char *name)
{
	const char *flags = strstr(name, ":2,");

	return flags != NULL && strchr(flags, 'T') != NULL;
}

static void
quota_count_messages(int folder_fd, const char *name, struct maildirsize *out)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (dir == NULL && fd >= 0)
		close(fd);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || quota_is_trashed(entry->d_name))
			continue;
		out->bytes += (int64_t)quota_message_bytes(fd, entry->d_name);
		out->count++;
	}
	if (dir != NULL)
		closedir(dir);
}

static void
quota_count_folder(int top_fd, const char *name, struct maildirsize *out)
{
	int fd = openat(top_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);

	if (fd < 0)
		return;
	quota_count_messages(fd, "new", out);
	quota_count_messages(fd, "cur", out);
	close(fd);
}

/* The Maildir and its folders, but Trash. */
static int
quota_count_all(int new_fd, struct maildirsize *out, struct err *err)
{
	int fd = openat(new_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	out->bytes = out->count = 0;
	if (dir == NULL) {
		err_sys(err, "count a Maildir");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	quota_count_folder(fd, ".", out);
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] == '.' && entry->d_name[1] != '\0' &&
		    strcmp(entry->d_name, "..") != 0 &&
		    strcmp(entry->d_name, ".Trash") != 0)
			quota_count_folder(fd, entry->d_name, out);
	closedir(dir);
	return 0;
}

/* A new file takes the place of the old one whole (as Maildir++ wants). */
static int
quota_write_size(int new_fd, const struct maildirsize *size, struct err *err)
{
	char text[200], name[100];
	int n = 0, fd;

	snprintf(name, sizeof(name), "../tmp/maildirsize.%ld",
	    (long)getpid());
	if (size->bytes_max > 0)
		n = snprintf(text, sizeof(text), "%" PRIu64 "S%s",
		    size->bytes_max, size->count_max > 0 ? "," : "");
	if (size->count_max > 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
		    "%" PRIu64 "C", size->count_max);
	n += snprintf(text + n, sizeof(text) - (size_t)n, "\n%" PRId64 " %"
	    PRId64 "\n", size->bytes, size->count);
	(void)unlinkat(new_fd, name, 0);	/* of a crash, or a trap */
	fd = openat(new_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, (size_t)n) != n) {
		err_sys(err, "write maildirsize");
		if (fd >= 0)
			close(fd);
		(void)unlinkat(new_fd, name, 0);
		return -1;
	}
	close(fd);
	/* mailboxes: lost by a crash, it is counted again */
	if (renameat(new_fd, name, new_fd, SIZE_PATH) != 0)
		return err_sys(err, "rename maildirsize");
	return 0;
}

/* ---- the question ------------------------------------------------------ */

static bool
quota_fits(const struct maildirsize *size, uint64_t bytes, uint64_t more_bytes,
    unsigned more_count)
{
	return (size->bytes_max == 0 || (uint64_t)size->bytes + more_bytes +
	    bytes <= size->bytes_max) && (size->count_max == 0 ||
	    (uint64_t)size->count + more_count + 1 <= size->count_max);
}

static void
quota_turn_away(const struct conf_quota *quota, uint64_t have, uint64_t limit,
    uint64_t bytes, struct verdict *verdict)
{
	bool is_final = quota != NULL && quota->fails;

	if (limit > 0 && bytes > limit)
		verdict_set(verdict, VERDICT_FAILED, "5.2.3", "mailbox",
		    "%" PRIu64 " bytes are more than this mailbox may ever "
		    "have (%" PRIu64 ")", bytes, limit);
	else
		verdict_set(verdict, is_final ? VERDICT_FAILED :
		    VERDICT_DEFERRED, is_final ? "5.2.2" : "4.2.2", "mailbox",
		    "the mailbox is full: it has %" PRIu64 " of %" PRIu64
		    " bytes", have, limit);
}

static bool
quota_has_limits(const struct conf_quota *quota)
{
	return quota != NULL && (quota->bytes > 0 || quota->messages > 0);
}

/* Ours is another than what the file says? */
static bool
quota_is_redefined(const struct conf_quota *quota,
    const struct maildirsize *size)
{
	return quota_has_limits(quota) && (quota->bytes != size->bytes_max ||
	    quota->messages != size->count_max);
}

static int
quota_count_again(int new_fd, const struct conf_quota *quota,
    struct maildirsize *size, struct err *err)
{
	if (quota_has_limits(quota)) {
		size->bytes_max = quota->bytes;
		size->count_max = quota->messages;
	}
	if (quota_count_all(new_fd, size, err) < 0)
		return -1;
	return quota_write_size(new_fd, size, err);
}

/* The sums as they are now.  fd may be replaced by that of a new file. */
static int
quota_get_size(int new_fd, int *fd, const struct conf_quota *quota,
    bool must_count, struct maildirsize *out, struct err *err)
{
	int got = *fd >= 0 ? quota_read_size(*fd, out) : 0;

	if (got < 0)
		return err_sys(err, "read maildirsize");
	if (got > 0 && !must_count && !quota_is_redefined(quota, out))
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	if (quota_count_again(new_fd, quota, out, err) < 0)
		return -1;
	*fd = quota_open_size(new_fd);
	return *fd >= 0 ? 0 : err_sys(err, "open maildirsize");
}

static bool
quota_is_stale(int fd, const struct maildirsize *size)
{
	struct stat st;

	return size->lines > 1 || fstat(fd, &st) != 0 ||
	    clock_since_s(st.st_mtime) > MAILDIRSIZE_OLD_S;
}

enum quota_answer
quota_of_maildir(int new_fd, const struct conf_quota *quota, uint64_t bytes,
    uint64_t more_bytes, unsigned more_count, int *out_fd,
    struct verdict *verdict, struct err *err)
{
	struct maildirsize size;
	int fd = quota_open_size(new_fd), kept;

	*out_fd = -1;
	if (fd < 0 && errno != ENOENT) {
		err_sys(err, "open maildirsize");
		return QUOTA_TROUBLE;
	}
	if (fd < 0 && !quota_has_limits(quota))
		return QUOTA_FITS;
	memset(&size, 0, sizeof(size));
	if (quota_get_size(new_fd, &fd, quota, false, &size, err) < 0 ||
	    (!quota_fits(&size, bytes, more_bytes, more_count) &&
	    quota_is_stale(fd, &size) && quota_get_size(new_fd, &fd, quota,
	    true, &size,
	    err) < 0)) {
		kept = errno;
		if (fd >= 0)
			close(fd);
		errno = kept;
		return QUOTA_TROUBLE;
	}
	*out_fd = fd;
	if (quota_fits(&size, bytes, more_bytes, more_count))
		return QUOTA_FITS;
	close(fd);
	*out_fd = -1;
	quota_turn_away(quota, (uint64_t)size.bytes + more_bytes,
	    size.bytes_max, bytes, verdict);
	return QUOTA_EXCEEDED;
}

void
quota_tell(int new_fd, int fd, uint64_t bytes)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%" PRIu64 " 1\n", bytes);

	/* a file that lies is removed: the next who looks counts */
	if (write(fd, line, (size_t)n) != n)
		(void)unlinkat(new_fd, SIZE_PATH, 0);
	close(fd);
}

bool
quota_of_file(const struct conf_quota *quota, uint64_t file_bytes,
    uint64_t bytes, struct verdict *verdict)
{
	if (quota == NULL || quota->bytes == 0 ||
	    file_bytes + bytes <= quota->bytes)
		return true;
	quota_turn_away(quota, file_bytes, quota->bytes, bytes, verdict);
	return false;
}
