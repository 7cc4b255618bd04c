/* drop.c - from root to the account of a role, with no way back
 *
 * In     a role, the accounts of the configuration
 * Out    a process that is that account and cannot be anybody else
 * Trusts the user database; not the kernel's word without asking again
 * Spec   doc/INTERNALS.md section 6; setresuid(2)
 *
 * SPDX-License-Identifier: ISC
 */
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "daemon/skeleton.h"

#include "base/banned.h"

/* Whose groups a role has besides its own: doc/INTERNALS section 6. */
static const bool has_group_of[ROLE_COUNT][ROLE_COUNT] = {
	[ROLE_SMTPSERVER] = { [ROLE_AGENT] = true },
	[ROLE_ROUTER] = { [ROLE_SMTPSERVER] = true, [ROLE_AGENT] = true },
	[ROLE_SCHEDULER] = { [ROLE_SMTPSERVER] = true, [ROLE_ROUTER] = true,
	    [ROLE_AGENT] = true },
	[ROLE_TABLES] = { [ROLE_AGENT] = true },
	[ROLE_STS] = { [ROLE_AGENT] = true },
	[ROLE_SHARE] = { [ROLE_AGENT] = true },
	[ROLE_RESOLVER] = { [ROLE_AGENT] = true },
	[ROLE_NOTIFY] = { [ROLE_AGENT] = true },
	[ROLE_NODES] = { [ROLE_AGENT] = true },
};

/* Where all others are one user, who asks others is, too. */
static const char *
account_name(const struct conf *conf, enum conf_role role)
{
	return conf_role_is_extra((int)role) && daemon_is_private(conf) ? "-" :
	    conf->accounts[role];
}

int
daemon_account(const struct conf *conf, enum conf_role role, uid_t *out_uid,
    gid_t *out_gid, struct err *err)
{
	const char *name = account_name(conf, role);
	struct passwd *user;
	uint64_t number;

	if (strcmp(name, "-") == 0) {
		*out_uid = geteuid();
		*out_gid = getegid();
		return 0;
	}
	if (slice_number(slice_of(name), 0, UINT32_MAX - 1, &number))
		user = getpwuid((uid_t)number);
	else
		user = getpwnam(name);
	if (user == NULL)
		return err_set(err, "the account '%s' of %s does not exist; "
		    "make it (systemd-sysusers zmailer.conf) or name another",
		    name, conf_role_names[role]);
	*out_uid = user->pw_uid;
	*out_gid = user->pw_gid;
	return 0;
}

void
daemon_share_socket(const struct process *process, const char *path)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	if (!process->was_root)
		return;
	if (daemon_account(process->conf, ROLE_SMTPSERVER, &uid, &gid,
	    &err) != 0 || chown(path, (uid_t)-1, gid) != 0)
		warning("smtpserver may not be able to connect to %s", path);
}

bool
daemon_is_private(const struct conf *conf)
{
	if (geteuid() != 0)
		return true;
	for (int role = 0; role < ROLE_COUNT; role++)
		if (!conf_role_is_extra(role) &&
		    strcmp(conf->accounts[role], "-") != 0)
			return false;
	return true;
}

static int
groups_set(const struct conf *conf, enum conf_role role, gid_t own,
    struct err *err)
{
	gid_t groups[ROLE_COUNT + 1];
	size_t count = 0;
	uid_t uid;

	groups[count++] = own;
	for (enum conf_role other = 0; other < ROLE_COUNT; other++) {
		if (!has_group_of[role][other])
			continue;
		if (daemon_account(conf, other, &uid, &groups[count], err) < 0)
			return -1;
		count++;
	}
	if (setgroups(count, groups) < 0)
		return err_sys(err, "cannot set the groups of %s",
		    conf_role_names[role]);
	return 0;
}

/* Ask again: is this process uid and gid, and nothing else? */
static int
drop_check(uid_t uid, gid_t gid, struct err *err)
{
	uid_t ruid, euid, suid;
	gid_t rgid, egid, sgid;

	if (getresuid(&ruid, &euid, &suid) < 0 ||
	    getresgid(&rgid, &egid, &sgid) < 0)
		return err_sys(err, "cannot ask for my own ids");
	if (ruid != uid || euid != uid || suid != uid || rgid != gid ||
	    egid != gid || sgid != gid)
		return err_set(err, "the system did not drop privileges");
	if (setuid(0) == 0 || seteuid(0) == 0 || setgid(0) == 0)
		return err_set(err, "root could be had back after the drop");
	return 0;
}

int
daemon_drop(const struct conf *conf, enum conf_role role, struct err *err)
{
	uid_t uid;
	gid_t gid;

	if (geteuid() != 0 || strcmp(account_name(conf, role), "-") == 0)
		return 0;
	if (daemon_account(conf, role, &uid, &gid, err) < 0)
		return -1;
	if (uid == 0 || gid == 0)
		return err_set(err, "the account '%s' of %s is root's; name "
		    "one without privileges", conf->accounts[role],
		    conf_role_names[role]);
	if (groups_set(conf, role, gid, err) < 0)
		return -1;
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return err_sys(err, "cannot become %s", conf->accounts[role]);
#ifdef PR_SET_NO_NEW_PRIVS
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "cannot give up privileges by exec");
#endif
	return drop_check(uid, gid, err);
}
