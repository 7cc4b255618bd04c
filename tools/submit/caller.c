/* caller.c - who calls us
 *
 * In     the uid; /etc/nsswitch.conf and /etc/passwd, else getpwuid(3)
 * Out    a login name, and what the account says of itself
 * Holds  the answer, for the process's life
 * Trusts the system's account database
 * Spec   sendmail(1), "-f"; nsswitch.conf(5), passwd(5)
 *
 * getpwuid costs a seventh of the whole submission: it looks for a cache
 * daemon twice and sets the name service up, to read the same two files.
 * Where nsswitch.conf has "files" as the first word for accounts, the first
 * line of /etc/passwd with our uid is its answer; whatever is not as simple
 * as that is left to it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "tools/submit/submit.h"

#include "base/banned.h"

enum { FILE_BYTES_MAX = 16000, FIELDS = 7 };

struct caller {
	char	login[256], gecos[256];
};

/* The whole file, whose last line has ended; empty: none such, too long. */
static struct slice
file_read_short(const char *path, char bytes[FILE_BYTES_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : fd_read_at(fd, bytes, FILE_BYTES_MAX, 0);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || n == FILE_BYTES_MAX || bytes[n - 1] != '\n')
		n = 0;
	return (struct slice){ bytes, (size_t)n };
}

bool
submit_files_are_first(struct slice nsswitch)
{
	struct slice line, word;

	while (slice_cut(&nsswitch, '\n', &line)) {
		if (!slice_word(&line, &word) ||
		    !slice_starts(word, "passwd"))
			continue;
		if (!slice_is(word, "passwd:") ||
		    !slice_word(&line, &word) || !slice_is(word, "files"))
			return false;
		/* "[...]" after it may make another answer of one */
		return !slice_word(&line, &word) || word.p[0] != '[';
	}
	return false;
}

bool
submit_line_of_uid(struct slice passwd, uid_t uid, struct slice *out_login,
    struct slice *out_gecos)
{
	struct slice line, fields[FIELDS];
	uint64_t number;

	while (slice_cut(&passwd, '\n', &line)) {
		size_t count = 0;

		while (count < FIELDS && slice_cut(&line, ':',
		    &fields[count]))
			count++;
		if (count != FIELDS || line.p != NULL || fields[0].n == 0 ||
		    fields[0].p[0] == '+' || fields[0].p[0] == '-' ||
		    fields[0].p[0] == '#' ||
		    !slice_number(fields[2], 0, UINT32_MAX, &number))
			return false;
		if ((uid_t)number != uid)
			continue;
		*out_login = fields[0];
		*out_gecos = fields[4];
		return true;
	}
	return false;
}

static bool
caller_read_files(struct caller *out)
{
	char bytes[FILE_BYTES_MAX];
	struct slice login, gecos;

	if (!submit_files_are_first(file_read_short("/etc/nsswitch.conf",
	    bytes)) || !submit_line_of_uid(file_read_short("/etc/passwd",
	    bytes), getuid(), &login, &gecos) ||
	    login.n >= sizeof(out->login))
		return false;
	snprintf(out->login, sizeof(out->login), SLICE_FMT, SLICE_ARG(login));
	snprintf(out->gecos, sizeof(out->gecos), SLICE_FMT, SLICE_ARG(gecos));
	return true;
}

/* Looked up once. */
static const struct caller *
submit_caller_find(void)
{
	static struct caller found;
	const struct passwd *account;

	if (found.login[0] != '\0' || caller_read_files(&found))
		return &found;
	account = getpwuid(getuid());
	if (account == NULL) {
		snprintf(found.login, sizeof(found.login), "uid-%ld",
		    (long)getuid());
		return &found;
	}
	strlcpy(found.login, account->pw_name, sizeof(found.login));
	if (account->pw_gecos != NULL)
		strlcpy(found.gecos, account->pw_gecos, sizeof(found.gecos));
	return &found;
}

const char *
submit_caller(void)
{
	return submit_caller_find()->login;
}

const char *
submit_caller_gecos(void)
{
	return submit_caller_find()->gecos;
}
