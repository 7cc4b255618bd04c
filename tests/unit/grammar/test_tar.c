/* test_tar.c - heads of tar members
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "grammar/tar.h"

static struct tar_head
head_of(const char *name, uint64_t size)
{
	struct tar_head head = { .size_bytes = size, .mode = 0640,
	    .mtime_s = 1763600000 };

	snprintf(head.name, sizeof(head.name), "%s", name);
	return head;
}

/* So many bytes of name, a slash after each `every` of them. */
static void
long_name(char out[TAR_NAME_BYTES], size_t n, size_t every)
{
	for (size_t i = 0; i < n; i++)
		out[i] = every > 0 && i % every == every - 1 ? '/' : 'a';
	out[n] = '\0';
}

Test(tar, what_is_written_is_read)
{
	static const struct {
		const char	*name;
		uint64_t	 size;
	} rows[] = {
		{ "a", 0 },
		{ "spool/queue/01jd3x8k2mc4n7", 4711 },
		{ "config/etc/zmailer/zmailer.conf", 511 },
		{ "large", TAR_MEMBER_BYTES_MAX }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tar_head in = head_of(rows[i].name, rows[i].size), out;
		char block[TAR_BLOCK_BYTES];
		struct err err;

		cr_assert_eq(tar_head_format(&in, block), 0);
		cr_assert_eq(tar_head_parse(block, &out, &err), TAR_HEAD);
		cr_expect_str_eq(out.name, in.name);
		cr_expect_eq(out.size_bytes, in.size_bytes);
		cr_expect_eq(out.mode, 0640);
		cr_expect_eq(out.mtime_s, 1763600000);
		cr_expect(out.is_file);
	}
}

Test(tar, long_names_are_cut_at_a_slash)
{
	static const struct {
		size_t	n, every;
		int	want;
	} rows[] = {
		{ 100, 0, 0 }, { 101, 0, -1 }, { 200, 50, 0 },
		{ 249, 50, 0 }, { 256, 100, -1 }, { 220, 10, 0 },
		{ 150, 120, 0 }, { 170, 160, -1 }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tar_head in = head_of("", 1), out;
		char block[TAR_BLOCK_BYTES];
		struct err err;

		long_name(in.name, rows[i].n, rows[i].every);
		cr_expect_eq(tar_head_format(&in, block), rows[i].want,
		    "row %zu", i);
		if (rows[i].want != 0)
			continue;
		cr_assert_eq(tar_head_parse(block, &out, &err), TAR_HEAD);
		cr_expect_str_eq(out.name, in.name);
	}
}

Test(tar, what_is_none)
{
	struct tar_head in = head_of("", 1), out;
	char block[TAR_BLOCK_BYTES];
	struct err err;

	cr_expect_eq(tar_head_format(&in, block), -1);
	in = head_of("a", TAR_MEMBER_BYTES_MAX + 1);
	cr_expect_eq(tar_head_format(&in, block), -1);
	memset(block, 0, sizeof(block));
	cr_expect_eq(tar_head_parse(block, &out, &err), TAR_HEAD_END);
	block[511] = 'x';
	cr_expect_eq(tar_head_parse(block, &out, &err), TAR_HEAD_BAD);
	in = head_of("a", 1);
	cr_assert_eq(tar_head_format(&in, block), 0);
	for (size_t i = 0; i < sizeof(block); i++) {
		char changed[TAR_BLOCK_BYTES];

		memcpy(changed, block, sizeof(changed));
		changed[i] = (char)(changed[i] + 1);
		/* after the checksum's digits stands a byte of no meaning */
		if (i != 155)
			cr_expect_eq(tar_head_parse(changed, &out, &err),
			    TAR_HEAD_BAD,
			    "byte %zu", i);
	}
}

/* Heads of other writers: a directory, a link, "./" in front. */
Test(tar, heads_of_others)
{
	static const struct {
		char		 type;
		const char	*name, *want;
		bool		 is_file;
	} rows[] = {
		{ '0', "./spool/queue/x", "spool/queue/x", true },
		{ '\0', "old", "old", true },
		{ '5', "spool/", "spool/", false },
		{ '2', "link", "link", false },
		{ 'x', "comment", "comment", false },
		{ '0', "./", "", false }
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tar_head in = head_of(rows[i].name, 0), out;
		char block[TAR_BLOCK_BYTES];
		unsigned sum = 0;
		struct err err;

		cr_assert_eq(tar_head_format(&in, block), 0);
		block[156] = rows[i].type;
		memset(block + 148, ' ', 8);
		for (size_t k = 0; k < sizeof(block); k++)
			sum += (unsigned char)block[k];
		snprintf(block + 148, 8, "%06o", sum);
		cr_assert_eq(tar_head_parse(block, &out, &err), TAR_HEAD,
		    "row %zu",
		    i);
		cr_expect_str_eq(out.name, rows[i].want);
		cr_expect_eq(out.is_file, rows[i].is_file, "row %zu", i);
	}
}

Test(tar, padding)
{
	cr_expect_eq(tar_padding(0), 0);
	cr_expect_eq(tar_padding(1), 511);
	cr_expect_eq(tar_padding(512), 0);
	cr_expect_eq(tar_padding(513), 511);
}
