/* users.c - does this account exist, and what is its uid
 *
 * In     local parts, from anywhere
 * Out    uids
 * Holds  USERS_KNOWN_MAX answers, replaced in place
 * Trusts the system's account database
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "mail/users.h"

#include "base/banned.h"

enum {
	USERS_NAME_BYTES = 64,		/* longer names are no accounts */
	USERS_KNOWN_MAX = 4096,		/* a power of two */
	USERS_FOUND_MS = 60000,
	USERS_NONE_MS = 1000,
	USERS_RECORD_BYTES_MAX = 1 << 20
};

#define USERS_FILE "/etc/passwd"

struct user {
	char	name[USERS_NAME_BYTES];
	int64_t	uid;			/* -1: no such account */
	int64_t	until_ms;
};

struct users {
	struct user	*known;		/* by hash; the newer one stays */
	char		*record;	/* for getpwnam_r */
	size_t		 record_bytes;
};

struct users *
users_new(void)
{
	struct users *users = mem_alloc(1, sizeof(*users));

	users->known = mem_alloc(USERS_KNOWN_MAX, sizeof(*users->known));
	users->record_bytes = 1024;
	users->record = mem_alloc(users->record_bytes, 1);
	return users;
}

void
users_free(struct users **pusers)
{
	if (*pusers == NULL)
		return;
	mem_free(&(*pusers)->known);
	mem_free(&(*pusers)->record);
	mem_free(pusers);
}

/* Only what can be an account's name is asked for: no slashes (it may
 * become part of a path), nothing that begins with a dot or a dash. */
static bool
name_is_plausible(struct slice name)
{
	if (name.n == 0 || name.n >= USERS_NAME_BYTES ||
	    name.p[0] == '.' || name.p[0] == '-')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (c <= ' ' || c == 127 || c == '/' || c == ':')
			return false;
	}
	return true;
}

static struct user *
user_slot(struct users *users, struct slice name)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < name.n; i++)
		hash = (hash ^ (unsigned char)name.p[i]) * 16777619u;
	return &users->known[(hash ^ hash >> 16) & (USERS_KNOWN_MAX - 1)];
}

int
users_why_unknown(int error, char *record, size_t record_bytes)
{
	struct passwd entry, *found = NULL;
	int fd;

	if ((error == ENOENT || error == ESRCH) &&
	    (getpwuid_r(0, &entry, record, record_bytes, &found) != 0 ||
	    found == NULL))
		return error;
	if (error != 0 && error != ENOENT && error != ESRCH)
		return error;
	fd = open(USERS_FILE, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int
ask_system(struct users *users, const char *name, int64_t *out_uid,
    struct err *err)
{
	struct passwd entry, *found = NULL;
	int error;

	for (;;) {
		error = getpwnam_r(name, &entry, users->record,
		    users->record_bytes, &found);
		if (error != ERANGE ||
		    users->record_bytes >= USERS_RECORD_BYTES_MAX)
			break;
		users->record_bytes *= 2;
		users->record = mem_grow(users->record, users->record_bytes, 1);
	}
	if (found != NULL) {
		*out_uid = (int64_t)entry.pw_uid;
		return 1;
	}
	error = users_why_unknown(error, users->record, users->record_bytes);
	if (error == 0)
		return 0;
	errno = error;
	return err_sys(err, "cannot ask for the account '%s'", name);
}

enum users_answer
users_find(struct users *users, struct slice name, int64_t *out_uid,
    struct err *err)
{
	int64_t now = clock_steady_ms();
	struct user *user;
	int found;

	if (!name_is_plausible(name))
		return USER_NONE;
	user = user_slot(users, name);
	if (user->until_ms > now && slice_is(name, user->name)) {
		*out_uid = user->uid;
		return user->uid >= 0;
	}
	memcpy(user->name, name.p, name.n);
	user->name[name.n] = 0;
	user->until_ms = 0;
	user->uid = -1;
	found = ask_system(users, user->name, &user->uid, err);
	if (found >= 0)
		user->until_ms = now + (found ? USERS_FOUND_MS : USERS_NONE_MS);
	*out_uid = user->uid;
	return found;
}
