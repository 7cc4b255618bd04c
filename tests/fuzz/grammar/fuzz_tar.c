/* fuzz_tar.c - any bytes as heads of tar members
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "grammar/tar.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char block[TAR_BLOCK_BYTES] = "", again[TAR_BLOCK_BYTES];
	struct tar_head head, other;
	struct err err;

	memcpy(block, data, size < sizeof(block) ? size : sizeof(block));
	if (tar_head_parse(block, &head, &err) != TAR_HEAD)
		return 0;
	MUST(head.size_bytes <= TAR_MEMBER_BYTES_MAX);
	MUST(head.mode <= 07777);
	MUST(strlen(head.name) < sizeof(head.name));
	if (tar_head_format(&head, again) != 0)
		return 0;
	MUST(tar_head_parse(again, &other, &err) == TAR_HEAD);
	MUST(other.is_file);
	MUST(strcmp(head.name, other.name) == 0);
	MUST(head.size_bytes == other.size_bytes);
	return 0;
}
