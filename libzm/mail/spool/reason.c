/* reason.c - why a message was set aside, kept with its file
 *
 * In     a message file, words
 * Out    an attribute of the file, which goes where the file goes
 * Trusts no attribute: a reader escapes what it shows
 * Spec   doc/INTERNALS.md section 1.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#ifdef HAVE_FSETXATTR
#include <sys/xattr.h>
#elif defined(HAVE_EXTATTR_SET_FD)
#include <sys/extattr.h>
#endif

#include "mail/spool/spool.h"

#include "base/banned.h"

/* Of the user's namespace, as every system calls it. */
static bool
attribute_write(int fd, const char *name, const char *value, size_t n)
{
#ifdef HAVE_FSETXATTR
	char full[64];

	snprintf(full, sizeof(full), "user.%s", name);
	return fsetxattr(fd, full, value, n, 0) == 0;
#elif defined(HAVE_EXTATTR_SET_FD)
	return extattr_set_fd(fd, EXTATTR_NAMESPACE_USER, name, value, n) ==
	    (ssize_t)n;
#else
	(void)fd, (void)name, (void)value, (void)n;
	return false;
#endif
}

static ssize_t
attribute_read(int fd, const char *name, char *out, size_t size)
{
#ifdef HAVE_FSETXATTR
	char full[64];

	snprintf(full, sizeof(full), "user.%s", name);
	return fgetxattr(fd, full, out, size);
#elif defined(HAVE_EXTATTR_SET_FD)
	return extattr_get_fd(fd, EXTATTR_NAMESPACE_USER, name, out, size);
#else
	(void)fd, (void)name, (void)out, (void)size;
	return -1;
#endif
}

bool
spool_reason_write(int fd, const char *text)
{
	return attribute_write(fd, "zmailer.reason", text,
	    strnlen(text, SPOOL_REASON_BYTES - 1));
}

bool
spool_reason_read(int fd, char out_text[SPOOL_REASON_BYTES])
{
	ssize_t n = attribute_read(fd, "zmailer.reason", out_text,
	    SPOOL_REASON_BYTES - 1);

	out_text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Where there are no attributes: the bit x of its owner. */
bool
spool_frozen_write(int fd)
{
	struct stat st;

	return attribute_write(fd, "zmailer.frozen", "1", 1) ||
	    (fstat(fd, &st) == 0 &&
	    fchmod(fd, (st.st_mode & 0777) | S_IXUSR) == 0);
}

bool
spool_was_frozen(int fd)
{
	struct stat st;
	char one[2];

	return attribute_read(fd, "zmailer.frozen", one, sizeof(one)) > 0 ||
	    (fstat(fd, &st) == 0 && (st.st_mode & S_IXUSR) != 0);
}
