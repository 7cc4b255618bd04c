/* fuzz_archive.c - an archive with hostile members, and where it is cut off
 *
 * Each line of the input is a member: a name, a tab, and its bytes.  The
 * first byte of the input says how much of the end is missing; 0: nothing.
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "grammar/tar.h"
#include "tools/zmailer/backup/backup.h"

static void
member_add(struct str *out, struct slice name, struct slice bytes)
{
	struct tar_head head = { .size_bytes = bytes.n, .mode = 0600 };
	char block[TAR_BLOCK_BYTES];

	snprintf(head.name, sizeof(head.name), SLICE_FMT, SLICE_ARG(name));
	if (tar_head_format(&head, block) != 0)
		return;
	str_add(out, block, sizeof(block));
	str_add_slice(out, bytes);
	for (size_t n = tar_padding(bytes.n); n > 0; n--)
		str_addc(out, '\0');
}

static void
archive_make(struct slice rest, struct str *out)
{
	struct slice line, name;
	unsigned cut = rest.n > 0 ? (unsigned char)rest.p[0] : 0;

	rest = slice_from(rest, 1);
	while (rest.n > 0) {
		if (!slice_cut(&rest, '\n', &line)) {
			line = rest;
			rest.n = 0;
		}
		if (!slice_cut(&line, '\t', &name)) {
			name = line;
			line.n = 0;
		}
		member_add(out, name, line);
	}
	for (size_t i = 0; i < 2 * (size_t)TAR_BLOCK_BYTES; i++)
		str_addc(out, '\0');
	out->len -= cut * 8 < out->len ? cut * 8 : out->len;
}

static void
look(const struct backup_index *index, size_t size)
{
	for (size_t i = 0; i < index->count; i++) {
		const struct backup_item *item = &index->items[i];

		MUST(item->key[0] != '\0');
		MUST(strchr(item->key, '/') == NULL);
		MUST(strchr(item->why, '/') == NULL);
		if (item->has_body)
			MUST(item->body_at <= size);
		if (item->control_at > 0)
			MUST(item->has_body && item->control_at <= size);
	}
	for (size_t i = 0; i < index->file_count; i++)
		MUST(index->files[i].at <= size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str archive = STR_INIT;
	struct backup_index index;
	struct err err;
	int fd = memfd_create("archive", MFD_CLOEXEC);

	archive_make(fuzz_slice(data, size), &archive);
	MUST(fd >= 0);
	MUST(write(fd, archive.buf, archive.len) == (ssize_t)archive.len);
	if (backup_index_read(fd, &index, &err) == 0)
		look(&index, archive.len);
	backup_index_release(&index);
	close(fd);
	str_release(&archive);
	return 0;
}
