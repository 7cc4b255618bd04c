/* tar.c - the head of a member of a tar archive (POSIX ustar)
 *
 * In     a block of 512 bytes, or a name, a size, a mode, a time
 * Out    the other
 * Holds  nothing
 * Trusts no field: numbers are octal digits, the checksum must fit
 * Spec   POSIX.1-2017, pax: ustar Interchange Format
 *
 *	archive  = *member 2*(512%x00)
 *	member   = head *OCTET *%x00	; to a multiple of 512
 *	head     = name 3number12 number12 number12 number type link
 *		   "ustar" %x00 "00" user group 2number prefix 12%x00
 *	number   = *SP 1*%x30-37 (SP / %x00)	; octal, 8 or 12 octets
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "grammar/tar.h"

#include "base/banned.h"

struct ustar {
	char	name[100], mode[8], uid[8], gid[8], size[12], mtime[12];
	char	checksum[8], type, link[100], magic[6], version[2];
	char	user[32], group[32], major[8], minor[8], prefix[155];
	char	fill[12];
};
_Static_assert(sizeof(struct ustar) == TAR_BLOCK_BYTES, "a tar head");

size_t
tar_padding(uint64_t size_bytes)
{
	return (size_t)(-size_bytes & (TAR_BLOCK_BYTES - 1));
}

/* All bytes added up, those of the checksum as blanks. */
static unsigned
sum_of(const struct ustar *block)
{
	const unsigned char *bytes = (const unsigned char *)block;
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof(*block); i++)
		sum += bytes[i];
	for (size_t i = 0; i < sizeof(block->checksum); i++)
		sum -= (unsigned char)block->checksum[i];
	return sum + ' ' * sizeof(block->checksum);
}

/* Octal digits and a NUL, filling the field. */
static void
octal_put(char *out, size_t size, uint64_t number)
{
	out[--size] = '\0';
	while (size > 0) {
		out[--size] = (char)('0' + (number & 7));
		number >>= 3;
	}
}

/* Blanks, octal digits, then a blank or a NUL or the field's end. */
static bool
octal_get(const char *in, size_t size, uint64_t *out)
{
	size_t i = 0, digits = 0;

	*out = 0;
	while (i < size && in[i] == ' ')
		i++;
	for (; i < size && in[i] >= '0' && in[i] <= '7'; i++, digits++)
		*out = *out << 3 | (uint64_t)(in[i] - '0');
	return digits > 0 && digits <= 12 &&
	    (i == size || in[i] == ' ' || in[i] == '\0');
}

/* Where a long name is cut: after so many bytes there is a slash that is
 * left out.  0: it need not be; -1: it cannot be. */
static int
cut_of(const struct ustar *block, const char *name)
{
	size_t n = strlen(name);

	if (n <= sizeof(block->name))
		return 0;
	for (size_t i = sizeof(block->prefix); i > 0; i--)
		if (i < n && name[i] == '/' &&
		    n - i - 1 <= sizeof(block->name) && i + 1 < n)
			return (int)i;
	return -1;
}

int
tar_head_format(const struct tar_head *head, char out[TAR_BLOCK_BYTES])
{
	struct ustar block;
	int cut = cut_of(&block, head->name);
	const char *rest = head->name + (cut > 0 ? cut + 1 : 0);

	if (cut < 0 || head->name[0] == '\0' ||
	    head->size_bytes > TAR_MEMBER_BYTES_MAX)
		return -1;
	memset(&block, 0, sizeof(block));
	memcpy(block.prefix, head->name, (size_t)cut);
	memcpy(block.name, rest, strlen(rest));
	octal_put(block.mode, sizeof(block.mode), head->mode & 07777);
	octal_put(block.uid, sizeof(block.uid), 0);
	octal_put(block.gid, sizeof(block.gid), 0);
	octal_put(block.size, sizeof(block.size), head->size_bytes);
	octal_put(block.mtime, sizeof(block.mtime), head->mtime_s < 0 ? 0 :
	    (uint64_t)head->mtime_s);
	block.type = '0';
	memcpy(block.magic, "ustar", sizeof(block.magic));
	memcpy(block.version, "00", sizeof(block.version));
	octal_put(block.checksum, sizeof(block.checksum) - 1, sum_of(&block));
	block.checksum[7] = ' ';
	memcpy(out, &block, sizeof(block));
	return 0;
}

static bool
is_zero(const char *block)
{
	for (size_t i = 0; i < TAR_BLOCK_BYTES; i++)
		if (block[i] != '\0')
			return false;
	return true;
}

static void
tar_name_take(const struct ustar *block, struct tar_head *out)
{
	char name[TAR_NAME_BYTES];
	const char *from = name;
	int prefix = (int)strnlen(block->prefix, sizeof(block->prefix));

	snprintf(name, sizeof(name), "%.*s%s%.*s", prefix, block->prefix,
	    prefix > 0 ? "/" : "", (int)sizeof(block->name), block->name);
	while (from[0] == '.' && from[1] == '/')
		from += 2;
	snprintf(out->name, sizeof(out->name), "%s", from);
}

enum tar_answer
tar_head_parse(const char in[TAR_BLOCK_BYTES], struct tar_head *out,
    struct err *err)
{
	uint64_t sum, mode, mtime;
	struct ustar block;

	memset(out, 0, sizeof(*out));
	if (is_zero(in))
		return TAR_HEAD_END;
	memcpy(&block, in, sizeof(block));
	if (!octal_get(block.checksum, sizeof(block.checksum), &sum) ||
	    sum != sum_of(&block))
		return err_set(err, "no head of a tar member stands there");
	if (!octal_get(block.size, sizeof(block.size), &out->size_bytes) ||
	    out->size_bytes > TAR_MEMBER_BYTES_MAX)
		return err_set(err, "a tar member has no length that can be");
	out->mode = octal_get(block.mode, sizeof(block.mode), &mode) ?
	    (unsigned)mode & 07777 : 0600;
	out->mtime_s = octal_get(block.mtime, sizeof(block.mtime), &mtime) ?
	    (int64_t)mtime : 0;
	tar_name_take(&block, out);
	out->is_file = (block.type == '0' || block.type == '\0') &&
	    out->name[0] != '\0';
	return TAR_HEAD;
}
