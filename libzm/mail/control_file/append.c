/* append.c - outcomes appended to a control file
 *
 * In     records, a descriptor opened with O_APPEND
 * Out    one write; a record never lies across a 4096-byte boundary of the
 *        file, because a write that is cut short (kill -9, full disk) is
 *        cut there
 * Holds  nothing
 * Spec   doc/INTERNALS.md section 1.2; not synced here (rows F0, P4)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "mail/control_file/internal.h"

#include "base/banned.h"

enum {
	WRITE_BYTES_MAX = 65536,	/* more records: more writes */
	TRIES_MAX = 3			/* of a write that comes up short */
};

/* Collect records from *next on into one write's worth; ends[] has where
 * each of them ends in out.  end: length of the file now. */
static size_t
append_collect(struct str *out, uint32_t id_crc,
    const struct control_record *records, size_t count, uint64_t end)
{
	size_t taken = 0;

	str_reset(out);
	while (taken < count && out->len < WRITE_BYTES_MAX) {
		size_t start = out->len, used, room;

		control_record_add(out, id_crc, &records[taken]);
		used = out->len - start;
		room = CONTROL_PAGE_BYTES - (end + start) % CONTROL_PAGE_BYTES;
		if (used > room) {
			/* newlines up to the boundary, then the record */
			out->len = start;
			memset(str_room(out, room), '\n', room);
			out->len += room;
			out->buf[out->len] = '\0';
			control_record_add(out, id_crc, &records[taken]);
		}
		taken++;
	}
	return taken;
}

/* How many records of text lie whole in its first n bytes.  Records are the
 * lines that are not empty. */
static size_t
count_whole(struct slice text, size_t n)
{
	struct slice head = slice_first(text, n), line;
	size_t count = 0, end;

	while (head.n > 0 && (end = slice_find(head, '\n')) < head.n) {
		line = slice_first(head, end);
		count += line.n > 0;
		head = slice_from(head, end + 1);
	}
	return count;
}

int
control_file_append(int control_fd, const char *id,
    const struct control_record *records, size_t count, struct err *err)
{
	uint32_t id_crc = crc32c(0, id, strlen(id));
	struct str text = STR_INIT;
	unsigned shorts = 0;
	struct stat st;
	int result = 0;

	while (count > 0) {
		size_t taken;
		ssize_t n;

		if (fstat(control_fd, &st) != 0) {
			result = err_sys(err, "stat control file");
			break;
		}
		taken = append_collect(&text, id_crc, records, count,
		    (uint64_t)st.st_size);
		n = write(control_fd, text.buf, text.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			result = err_sys(err, "append to control file");
			break;
		}
		if ((size_t)n < text.len) {
			/* what was cut is written again, whole: its leading
			 * newline ends the torn piece */
			taken = count_whole(str_slice(&text), (size_t)n);
			if (taken == 0 && ++shorts == TRIES_MAX) {
				errno = ENOSPC;
				result = err_sys(err, "append to control "
				    "file: short write");
				break;
			}
		}
		records += taken;
		count -= taken;
	}
	str_release(&text);
	return result;
}
