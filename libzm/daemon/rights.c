/* rights.c - who is at the other end of a socket, and what may it
 *
 * In     a connected socket; the configuration's groups and accounts
 * Out    a right and a name
 * Holds  nothing
 * Trusts the kernel's credentials (SO_PEERCRED, SO_PEERGROUPS), taken when
 *        the peer connected
 * Spec   doc/protocol/control.md section 2; unix(7)
 *
 * SPDX-License-Identifier: ISC
 */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/skeleton.h"
#include "daemon/rights.h"

#include "base/banned.h"

#define NOBODY ((uid_t)-1)
#define NO_GROUP ((gid_t)-1)

static gid_t
peer_group(const char *name)
{
	struct group *group;

	if (name == NULL || strcmp(name, "-") == 0)
		return NO_GROUP;
	group = getgrnam(name);
	if (group == NULL) {
		warning("control: there is no group '%s'; nobody is of it",
		    name);
		return NO_GROUP;
	}
	return group->gr_gid;
}

static uid_t
peer_account(const struct conf *conf, enum conf_role role)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	return daemon_account(conf, role, &uid, &gid, &err) < 0 ? NOBODY :
	    uid;
}

/* Where all are one user, that one.  The scheduler, which is not root any more
 * when it asks, is known by its own account. */
static uid_t
peer_nodes(const struct conf *conf)
{
	struct passwd *user;
	uint64_t number;

	if (daemon_is_private(conf) &&
	    (strcmp(conf->accounts[ROLE_SCHEDULER], "-") == 0 ||
	    peer_account(conf, ROLE_SCHEDULER) != geteuid()))
		return geteuid();
	if (slice_number(slice_of(conf->accounts[ROLE_NODES]), 0,
	    UINT32_MAX - 1, &number))
		return (uid_t)number;
	user = getpwnam(conf->accounts[ROLE_NODES]);
	return user != NULL ? user->pw_uid : NOBODY;
}

void
peer_rules_read(const struct conf *conf, struct peer_rules *out)
{
	*out = (struct peer_rules){ .writers = { 0, geteuid() },
	    .readers = { peer_account(conf, ROLE_ROUTER),
	    peer_account(conf, ROLE_AGENT) },
	    .etrn = peer_account(conf, ROLE_SMTPSERVER),
	    .nodes = conf_asks_nodes(conf) ? peer_nodes(conf) : NOBODY,
	    .admins = peer_group(conf->control_admins),
	    .operators = peer_group(conf->control_operators) };
}

static bool
peer_has_group(const gid_t *groups, size_t count, gid_t wanted)
{
	if (wanted == NO_GROUP)
		return false;
	for (size_t i = 0; i < count; i++)
		if (groups[i] == wanted)
			return true;
	return false;
}

enum right
peer_right(const struct peer_rules *rules, uid_t uid, const gid_t *groups,
    size_t group_count)
{
	if (uid == NOBODY)
		return RIGHT_OWN;
	if (uid == rules->writers[0] || uid == rules->writers[1] ||
	    peer_has_group(groups, group_count, rules->admins))
		return RIGHT_WRITE;
	/* who faces the net gets no more by any group */
	if (uid == rules->etrn)
		return RIGHT_ETRN;
	if (uid == rules->nodes)
		return RIGHT_OWN;
	if (uid == rules->readers[0] || uid == rules->readers[1] ||
	    peer_has_group(groups, group_count, rules->operators))
		return RIGHT_READ;
	return RIGHT_OWN;
}

static size_t
peer_ask_groups(int socket, gid_t own, gid_t groups[PEER_GROUPS_MAX + 1])
{
	size_t count = 0;
#ifdef SO_PEERGROUPS
	socklen_t n = PEER_GROUPS_MAX * sizeof(groups[0]);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &n) == 0)
		count = n / sizeof(groups[0]);
#endif
	groups[count++] = own;
	return count;
}

int
peer_ask(int socket, const struct peer_rules *rules, struct rights_peer *out)
{
	gid_t groups[PEER_GROUPS_MAX + 1], gid;
	struct passwd *user;
#ifdef SO_PEERCRED
	struct ucred who;
	socklen_t n = sizeof(who);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0)
		return -1;
	out->uid = who.uid;
	gid = who.gid;
#else
	if (getpeereid(socket, &out->uid, &gid) != 0)
		return -1;
#endif
	out->is_mailq = false;
	out->is_nodes = out->uid == rules->nodes;
	out->right = peer_right(rules, out->uid, groups,
	    peer_ask_groups(socket, gid, groups));
	user = getpwuid(out->uid);
	if (user != NULL)
		strlcpy(out->name, user->pw_name, sizeof(out->name));
	else
		snprintf(out->name, sizeof(out->name), "%ju",
		    (uintmax_t)out->uid);
	return 0;
}
