/* account.c - whose delivery this is
 *
 * In     names and uids of recipients
 * Out    accounts; the effective ids of this process
 * Holds  accounts looked up lately, for half a minute
 * Trusts the user database; no recipient
 * Spec   doc/INTERNALS.md section 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "mail/users.h"
#include "transports/frame/account.h"

#include "base/banned.h"

enum {
	PASSWD_BYTES = 16 * 1024,
	PASSWD_BYTES_MAX = 1 << 20,
	ABSENT_FOR_MS = 2000		/* a new account is seen soon */
};

struct entry {
	struct account	account;
	int64_t		until_ms;
	char		key[ACCOUNT_NAME_BYTES];	/* name or "#uid" */
	bool		is_absent;	/* there was no such account */
};

static struct entry cache[ACCOUNT_CACHE];
/* Whose groups the process has, when has_groups; whose effective uid, when
 * is_somebody as well. */
static struct {
	uid_t	uid;
	gid_t	gid;
	gid_t	groups[ACCOUNT_GROUPS_MAX];
	int	group_count;
} present;
static bool has_groups;
static bool is_somebody;

bool
account_is_root(void)
{
	static int known = -1;

	if (known < 0)
		known = geteuid() == 0;
	return known == 1;
}

bool
account_name_is_safe(struct slice name)
{
	if (name.n == 0 || name.n >= ACCOUNT_NAME_BYTES || name.p[0] == '.')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (c <= ' ' || c == 127 || c == '/')
			return false;
	}
	return true;
}

static struct entry *
account_entry(const char *key)
{
	return &cache[crc32c(0, key, strlen(key)) % ACCOUNT_CACHE];
}

/* The groups of a user are asked once with the account, not a delivery. */
static int
account_fill_entry(struct entry *entry, const char *key,
    const struct passwd *found,
    struct err *err)
{
	struct account *account = &entry->account;

	memset(entry, 0, sizeof(*entry));
	if (strlcpy(account->name, found->pw_name, sizeof(account->name)) >=
	    sizeof(account->name) || strlcpy(account->home, found->pw_dir,
	    sizeof(account->home)) >= sizeof(account->home))
		return err_set(err, "the account %.80s has too long a name or "
		    "home", key);
	if (strlcpy(account->shell, found->pw_shell[0] != '\0' ?
	    found->pw_shell : "/bin/sh", sizeof(account->shell)) >=
	    sizeof(account->shell))
		account->shell[0] = '\0';
	account->uid = found->pw_uid;
	account->gid = found->pw_gid;
	account->group_count = ACCOUNT_GROUPS_MAX;
	if (!account_is_root() || getgrouplist(found->pw_name, found->pw_gid,
	    account->groups, &account->group_count) < 0) {
		account->group_count = 1;
		account->groups[0] = found->pw_gid;
	}
	strlcpy(entry->key, key, sizeof(entry->key));
	entry->until_ms = clock_steady_ms() + ACCOUNT_CACHE_FOR_MS;
	return 0;
}

static void
account_no_entry(struct entry *entry, const char *key)
{
	memset(entry, 0, sizeof(*entry));
	strlcpy(entry->key, key, sizeof(entry->key));
	entry->is_absent = true;
	entry->until_ms = clock_steady_ms() + ABSENT_FOR_MS;
}

/* One look into the user database: by name, or by uid when name is NULL. */
static int
account_ask_database(const char *name, uid_t uid, struct passwd *out,
    char *buffer,
    size_t size, struct passwd **found)
{
	return name != NULL ? getpwnam_r(name, out, buffer, size, found) :
	    getpwuid_r(uid, out, buffer, size, found);
}

static enum account_found
account_lookup(const char *key, const char *name, uid_t uid,
    const struct account **out, struct err *err)
{
	struct entry *entry = account_entry(key);
	struct passwd passwd, *found = NULL;
	size_t size = PASSWD_BYTES;
	char *buffer = NULL;
	enum account_found result = ACCOUNT_NONE;
	int trouble;

	*out = &entry->account;
	if (strcmp(entry->key, key) == 0 && entry->key[0] != '\0' &&
	    clock_steady_ms() < entry->until_ms)
		return entry->is_absent ? ACCOUNT_NONE : ACCOUNT_FOUND;
	account_back();
	do {
		buffer = mem_grow(buffer, size, 1);
		trouble = account_ask_database(name, uid, &passwd, buffer, size,
		    &found);
		size *= 2;
	} while (trouble == ERANGE && size <= PASSWD_BYTES_MAX);
	if (found != NULL)
		result = account_fill_entry(entry, key, found, err) < 0 ?
		    ACCOUNT_TROUBLE : ACCOUNT_FOUND;
	else if ((trouble = users_why_unknown(trouble, buffer, size / 2)) !=
	    0) {
		errno = trouble;
		err_sys(err, "the user database");
		result = ACCOUNT_TROUBLE;
	} else {
		account_no_entry(entry, key);
	}
	mem_free(&buffer);
	return result;
}

enum account_found
account_by_name(struct slice name, const struct account **out,
    struct err *err)
{
	char key[ACCOUNT_NAME_BYTES];

	if (!account_name_is_safe(name) || name.p[0] == '#')
		return ACCOUNT_NONE;
	memcpy(key, name.p, name.n);
	key[name.n] = '\0';
	return account_lookup(key, key, 0, out, err);
}

enum account_found
account_by_uid(int64_t uid, const struct account **out, struct err *err)
{
	char key[ACCOUNT_NAME_BYTES];

	if (uid <= 0 || uid > UINT32_MAX - 1)
		return account_by_name(SLICE("nobody"), out, err);
	snprintf(key, sizeof(key), "#%lld", (long long)uid);
	return account_lookup(key, NULL, (uid_t)uid, out, err);
}

void
account_of_ids(uid_t uid, gid_t gid, struct account *out)
{
	memset(out, 0, sizeof(*out));
	out->uid = uid;
	out->gid = gid;
	out->groups[0] = gid;
	out->group_count = 1;
}

bool
account_may_run(const struct account *account)
{
	const char *shell;
	bool is_listed = false;

	setusershell();
	while (!is_listed && (shell = getusershell()) != NULL)
		is_listed = strcmp(shell, account->shell) == 0;
	endusershell();
	return is_listed;
}

/* ---- becoming ---------------------------------------------------------- */

void
account_rest(void)
{
	if (is_somebody && seteuid(0) != 0)
		panic("cannot become root again");
	is_somebody = false;
}

void
account_back(void)
{
	gid_t none = 0;

	account_rest();
	if (!has_groups)
		return;
	if (setegid(0) != 0 || setgroups(1, &none) != 0)
		panic("cannot become root again");
	has_groups = false;
}

/* An account that was looked up again may have other groups. */
static bool
account_has_present_groups(const struct account *account)
{
	return has_groups && present.uid == account->uid &&
	    present.gid == account->gid &&
	    present.group_count == account->group_count &&
	    memcmp(present.groups, account->groups,
	    (size_t)account->group_count * sizeof(gid_t)) == 0;
}

static int
account_take_groups(const struct account *account)
{
	size_t bytes = (size_t)account->group_count * sizeof(gid_t);

	has_groups = true;		/* or half of them */
	present.uid = account->uid;
	present.gid = account->gid;
	present.group_count = account->group_count;
	memcpy(present.groups, account->groups, bytes);
	if (setgroups((size_t)account->group_count, account->groups) != 0)
		return -1;
	return setegid(account->gid);
}

int
account_become(const struct account *account, struct err *err)
{
	bool is_same = account_has_present_groups(account);

	if (!account_is_root() || (is_somebody && is_same))
		return 0;
	if (account->uid == 0) {
		account_back();
		return 0;
	}
	/* from one to the next only the uid must be root's in between */
	account_rest();
	if (is_same || account_take_groups(account) == 0) {
		is_somebody = true;
		if (seteuid(account->uid) == 0)
			return 0;
		is_somebody = false;
	}
	err_sys(err, "cannot become uid %ld", (long)account->uid);
	account_back();				/* half of it: undo */
	return -1;
}

int
account_become_for_good(const struct account *account, struct err *err)
{
	if (!account_is_root())
		return 0;
	account_back();
	if (setgroups((size_t)account->group_count, account->groups) != 0 ||
	    setresgid(account->gid, account->gid, account->gid) != 0 ||
	    setresuid(account->uid, account->uid, account->uid) != 0)
		return err_sys(err, "cannot become uid %ld",
		    (long)account->uid);
	if (account->uid != 0 && (setuid(0) == 0 || geteuid() == 0))
		return err_set(err, "root's rights did not go away");
	return 0;
}
