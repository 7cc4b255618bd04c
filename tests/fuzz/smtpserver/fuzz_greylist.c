/* fuzz_greylist.c - any bytes as the file of who was seen before
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "smtpserver/policy/greylist.h"
#include "tests/fuzz/fuzz.h"

enum { NOW_S = 1700000000 };

static void
fuzz_put(const char *path, struct slice text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	MUST(fd >= 0 && fd_write_all(fd, text.p, text.n) == 0);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct greylist_terms terms = { 60, 3600, 86400 };
	char path[] = "/tmp/zm-fuzz-greylist.XXXXXX";
	struct greylist *greylist;
	struct err err = { .text = "" };
	int64_t wait_s;
	int fd = mkstemp(path);

	MUST(fd >= 0);
	close(fd);
	fuzz_put(path, fuzz_slice(data, size));
	greylist = greylist_open(path, NOW_S, &err);
	MUST(greylist != NULL);
	wait_s = greylist_ask(greylist, SLICE("192.0.2.0/24"),
	    SLICE("a@b.test c@d.test"), &terms, NOW_S);
	MUST(wait_s >= 0);
	MUST(greylist_flush(greylist, &err) == 0);
	greylist_close(&greylist);
	/* what is there now can be read, and does not grow by that */
	greylist = greylist_open(path, NOW_S, &err);
	MUST(greylist != NULL && greylist_count(greylist) <= size + 1);
	greylist_close(&greylist);
	unlink(path);
	return 0;
}
