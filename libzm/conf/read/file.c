/* file.c - the bytes of a file that is part of a configuration
 *
 * In     a path
 * Out    its bytes, or why not
 * Holds  one fd while it reads
 * Trusts no file: only regular ones are read, up to a bound
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/read/read.h"

#include "base/banned.h"

const char *
conf_default_path(void)
{
	const char *path = getenv("ZMAILER_CONF");

	return path != NULL && path[0] != '\0' ? path :
	    ZM_SYSCONFDIR "/zmailer/zmailer.conf";
}

int
conf_read_fd(int fd, size_t max, struct str *out, struct err *err)
{
	struct stat st;
	ssize_t n = 1;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return err_set(err, "it is no regular file");
	while (n > 0 && out->len <= max) {
		n = read(fd, str_room(out, 16384), 16384);
		if (n > 0)
			out->len += (size_t)n;
	}
	out->buf[out->len] = '\0';
	if (n < 0)
		return err_set(err, "%s", strerror(errno));
	if (out->len > max)
		return err_set(err, "it is longer than %zu bytes", max);
	return 0;
}

int
conf_read_file(const char *path, struct str *out, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int result;

	if (fd < 0)
		return err_set(err, "%s", strerror(errno));
	result = conf_read_fd(fd, CONF_FILE_BYTES_MAX, out, err);
	close(fd);
	return result;
}
