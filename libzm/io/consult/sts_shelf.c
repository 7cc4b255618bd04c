/* sts_shelf.c - an MTA-STS policy as it lies on the disk
 *
 * In     the directory of policies, a domain
 * Out    its policy
 * Holds  nothing
 * Trusts nothing it reads: a file that is not whole is none
 * Spec   sts_shelf.h; doc/INTERNALS.md section 2.1, row O9
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "io/consult/sts_shelf.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200 };

int
sts_shelf_parse(struct slice text, const char *domain, int64_t *out_fetched_s,
    struct sts_policy *out, struct err *err)
{
	struct slice head, line, end, word;
	uint64_t moment;

	if (!slice_cut(&text, '\n', &head) ||
	    !slice_is(head, STS_SHELF_HEAD) ||
	    !slice_cut(&text, '\n', &line) || !slice_cut(&text, '\n', &end) ||
	    !slice_is(end, "end") || text.p == NULL || text.n > 0)
		return err_set(err, "the file is not whole, or of another "
		    "version");
	if (!slice_word(&line, &word) || !slice_is(word, domain) ||
	    !slice_word(&line, &word) ||
	    !slice_number(word, 0, INT64_MAX / 2, &moment))
		return err_set(err, "the file is another domain's");
	*out_fetched_s = (int64_t)moment;
	return sts_policy_read_words(line, out, err);
}

enum sts_shelf
sts_shelf_read(int shelf, const char *name, int64_t *out_fetched_s,
    struct sts_policy *out, struct err *err)
{
	char text[STS_SHELF_BYTES_MAX], domain[STS_DOMAIN_BYTES];
	ssize_t n;
	int fd;

	if (!sts_domain(slice_of(name), domain) || strcmp(domain, name) != 0) {
		err_set(err, "the name is no domain's");
		return STS_SHELF_DAMAGED;
	}
	fd = openat(shelf, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		err_set(err, "no policy is kept");
		return STS_SHELF_NONE;
	}
	if (fd < 0 && errno == ELOOP) {
		err_set(err, "it is a symbolic link");
		return STS_SHELF_DAMAGED;
	}
	n = fd < 0 ? -1 : fd_read_at(fd, text, sizeof(text), 0);
	if (n < 0)
		err_sys(err, "cannot be read");
	if (fd >= 0)
		close(fd);
	return n < 0 ? STS_SHELF_TROUBLE : sts_shelf_parse((struct slice){
	    text, (size_t)n }, domain, out_fetched_s, out, err) < 0 ?
	    STS_SHELF_DAMAGED : STS_SHELF_POLICY;
}

enum sts_answer
sts_shelf_ask(const char *spool_dir, const char *domain, int64_t now_s,
    struct sts_policy *out, struct err *err)
{
	char path[PATH_BYTES], name[STS_DOMAIN_BYTES];
	enum sts_shelf found;
	int64_t fetched_s;
	bool is_none;
	int shelf;

	if (!sts_domain(slice_of(domain), name))
		return STS_ANSWER_NONE;
	snprintf(path, sizeof(path), "%s/" STS_DIR, spool_dir);
	shelf = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (shelf < 0) {
		is_none = errno == ENOENT;
		err_sys(err, "cannot open %s", path);
		return is_none ? STS_ANSWER_NONE : STS_ANSWER_NOBODY;
	}
	found = sts_shelf_read(shelf, name, &fetched_s, out, err);
	close(shelf);
	if (found != STS_SHELF_POLICY)
		return found == STS_SHELF_NONE ? STS_ANSWER_NONE :
		    STS_ANSWER_NOBODY;
	out->max_age_s -= now_s - fetched_s;
	return out->max_age_s > 0 ? STS_ANSWER_POLICY : STS_ANSWER_NONE;
}
