/* forward_file.c - which forward files of users are believed
 *
 * In     what stat(2) says of a file, of its directory
 * Out    words for people, or nothing
 * Holds  nothing
 * Spec   zmailer-mailbox(8), Forward files
 *
 * SPDX-License-Identifier: ISC
 */
#include <limits.h>
#include <string.h>

#include "mail/forward_file.h"

#include "base/banned.h"

const char *
forward_file_distrust(const struct stat *st, uid_t owner)
{
	if (!S_ISREG(st->st_mode))
		return "it is no regular file";
	if (st->st_uid != owner && st->st_uid != 0)
		return "it belongs to somebody else";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "others than its owner can write it: chmod go-w";
	if (st->st_nlink != 1)
		return "it has more than one name";
	if (st->st_size > FORWARD_BYTES_MAX)
		return "it is too large";
	return NULL;
}

const char *
forward_directory_distrust(const char *path)
{
	char name[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t n = slash != NULL && slash != path ? (size_t)(slash - path) : 1;
	struct stat st;

	if (n >= sizeof(name))
		return "its path is too long";
	memcpy(name, path, n);
	name[n] = '\0';
	if (stat(name, &st) != 0)
		return "its directory cannot be looked at";
	if ((st.st_mode & S_IWOTH) != 0 && (st.st_mode & S_ISVTX) == 0)
		return "everybody can write its directory";
	return NULL;
}
