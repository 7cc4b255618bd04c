/* notify_key.c - the key that signs what notify posts
 *
 * In     a file
 * Out    its first line
 * Holds  nothing
 * Trusts no file that others can read
 * Spec   notify_key.h; zmailer.conf(5), notify
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "conf/conf.h"
#include "daemon/machine/notify_key.h"

#include "base/banned.h"

enum { KEY_OTHERS = S_IRWXG | S_IRWXO };

static int
key_judge(const char *path, int fd, const char **out_hint, struct err *err)
{
	struct stat st;

	*out_hint = "name another file";
	if (fstat(fd, &st) != 0)
		return err_sys(err, "the key of notify, %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, "the key of notify, %s, is no regular "
		    "file", path);
	*out_hint = "chmod 600 it";
	if ((st.st_mode & KEY_OTHERS) != 0)
		return err_set(err, "the key of notify, %s, is not its "
		    "owner's alone", path);
	return 0;
}

static int
key_take(const char *path, int fd, struct str *out, const char **out_hint,
    struct err *err)
{
	char text[NOTIFY_KEY_BYTES_MAX + 2];
	ssize_t n = fd_read_at(fd, text, sizeof(text), 0);
	struct slice line;
	int result = 0;

	if (n < 0)
		return err_sys(err, "the key of notify, %s", path);
	line = slice_trim(slice_first((struct slice){ text, (size_t)n },
	    slice_find((struct slice){ text, (size_t)n }, '\n')));
	*out_hint = "make it: openssl rand -hex 32 >FILE";
	if (line.n < NOTIFY_KEY_BYTES_MIN)
		result = err_set(err, "the first line of the key of notify, "
		    "%s, has less than %d bytes", path, NOTIFY_KEY_BYTES_MIN);
	else if (line.n > NOTIFY_KEY_BYTES_MAX)
		result = err_set(err, "the first line of the key of notify, "
		    "%s, has more than %d bytes", path, NOTIFY_KEY_BYTES_MAX);
	else
		str_add_slice(out, line);
	explicit_bzero(text, sizeof(text));
	return result;
}

int
notify_key_read(const char *path, struct str *out, const char **out_hint,
    struct err *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int result;

	*out_hint = "make it: openssl rand -hex 32 >FILE; chmod 600 FILE";
	if (fd < 0)
		return err_sys(err, "the key of notify, %s", path);
	result = key_judge(path, fd, out_hint, err);
	if (result == 0)
		result = key_take(path, fd, out, out_hint, err);
	close(fd);
	return result;
}
