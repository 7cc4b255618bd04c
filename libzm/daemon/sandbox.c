/* sandbox.c - a process locks itself in: the files
 *
 * In     the few directories that are still needed
 * Out    a process for which nothing else of the file system exists
 * Holds  nothing
 * Trusts the kernel's word about what it can do: older ones handle less
 * Spec   landlock(7); doc/man/zmailer-smtp.8, SECURITY
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "daemon/sandbox.h"

#ifdef HAVE_LINUX_LANDLOCK_H
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include "base/banned.h"

#if defined(HAVE_LINUX_LANDLOCK_H) && defined(SYS_landlock_create_ruleset)

/* The kernel's struct as of version 6; a header of an older system may lack
 * what a newer kernel can. */
struct ruleset {
	uint64_t	files, net, scoped;
};
struct path_rule {		/* packed, as the kernel wants it */
	uint64_t	allowed;
	int32_t		fd;
} __attribute__((packed));
struct port_rule {
	uint64_t	allowed, port;
};

enum {
	RULE_PATH = 1, RULE_PORT = 2,
	ASK_VERSION = 1,		/* flag: which version is this? */
	NET_BIND_TCP = 1,
	SCOPE_ALL = 3,			/* abstract sockets, signals */
	/* given only where the system call filter refuses every program; it
	 * tells directories apart: the kernel refuses a link by which a file
	 * gains a right */
	FILE_EXECUTE = 1 << 0,
	FILE_WRITE = 1 << 1, FILE_READ = 1 << 2, FILE_LIST = 1 << 3,
	FILE_REMOVE = 1 << 5, FILE_MAKE = 1 << 8,
	FILE_REFER = 1 << 13,		/* version 2: to another directory */
	FILE_TRUNCATE = 1 << 14		/* version 3 */
};

/* Everything that a version knows to forbid. */
static uint64_t
files_of(int version)
{
	static const unsigned bits[] = { 13, 14, 15, 15, 16 };
	size_t i = (size_t)version - 1;

	if (i >= sizeof(bits) / sizeof(bits[0]))
		i = sizeof(bits) / sizeof(bits[0]) - 1;
	return (UINT64_C(1) << bits[i]) - 1;
}

static size_t
ruleset_bytes(int version)
{
	return version >= 6 ? 24 : version >= 4 ? 16 : 8;
}

static int
path_allow(int ruleset, const char *path, uint64_t allowed, struct err *err)
{
	struct path_rule rule = { .allowed = allowed };
	int result;

	rule.fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.fd < 0)		/* not there: nothing to allow */
		return errno == ENOENT || errno == EACCES ? 0 :
		    err_sys(err, "sandbox: %s", path);
	result = (int)syscall(SYS_landlock_add_rule, ruleset, RULE_PATH,
	    &rule, 0);
	if (result != 0)
		err_sys(err, "sandbox: %s", path);
	close(rule.fd);
	return result == 0 ? 0 : -1;
}

/* No port of our own: an outgoing connection may say where it comes from,
 * nothing more. */
static int
ports_allow(int ruleset, struct err *err)
{
	struct port_rule rule = { .allowed = NET_BIND_TCP, .port = 0 };

	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PORT, &rule, 0) != 0)
		return err_sys(err, "sandbox: ports");
	return 0;
}

static int
rules_add(int ruleset, int version, const struct sandbox *rules,
    struct err *err)
{
	uint64_t open = 0;

#ifdef HAVE_SECCOMP
	if (rules->may_link)
		open = FILE_EXECUTE;
#endif
	for (size_t i = 0; i < rules->appended_count; i++)
		if (path_allow(ruleset, rules->appended[i],
		    FILE_WRITE | FILE_MAKE, err) < 0)
			return -1;
	for (size_t i = 0; i < rules->readable_count; i++)
		if (path_allow(ruleset, rules->readable[i], FILE_READ |
		    (rules->may_list ? FILE_LIST : 0), err) < 0)
			return -1;
	for (size_t i = 0; i < rules->worked_count; i++)
		if (path_allow(ruleset, rules->worked[i], (FILE_WRITE |
		    FILE_READ | FILE_REMOVE | FILE_MAKE | FILE_REFER |
		    FILE_TRUNCATE) & files_of(version), err) < 0)
			return -1;
	for (size_t i = 0; i < rules->written_count; i++)
		if (path_allow(ruleset, rules->written[i], (open | FILE_WRITE |
		    FILE_REMOVE | FILE_MAKE | FILE_REFER | FILE_TRUNCATE) &
		    files_of(version), err) < 0)
			return -1;
	for (size_t i = 0; i < rules->filed_count; i++)
		if (path_allow(ruleset, rules->filed[i], open | FILE_MAKE |
		    FILE_REFER, err) < 0)
			return -1;
	for (size_t i = 0; i < rules->shut_count; i++)
		if (path_allow(ruleset, rules->shut[i], FILE_MAKE |
		    FILE_REFER, err) < 0)
			return -1;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	/* which read their own maps */
	if (path_allow(ruleset, "/proc", FILE_READ | FILE_LIST, err) < 0)
		return -1;
#endif
	return version >= 4 ? ports_allow(ruleset, err) : 0;
}

/* 1; 0 this kernel has none; -1. */
static int
files_close(const struct sandbox *rules, struct err *err)
{
	int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
	    ASK_VERSION);
	struct ruleset ruleset = { 0, NET_BIND_TCP, SCOPE_ALL };
	int fd, result = -1;

	if (version < 1 || (version < 2 && rules->filed_count > 0))
		return 0;	/* it cannot allow what is needed */
	ruleset.files = files_of(version);
	fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset,
	    ruleset_bytes(version), 0);
	if (fd < 0)
		return err_sys(err, "sandbox: landlock");
	if (rules_add(fd, version, rules, err) == 0) {
		result = (int)syscall(SYS_landlock_restrict_self, fd, 0);
		if (result != 0)
			err_sys(err, "sandbox: landlock");
	}
	close(fd);
	return result == 0 ? 1 : -1;
}

static int
privileges_close(struct err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return err_sys(err, "sandbox: no_new_privs");
	return 0;
}

#else

static int
files_close(const struct sandbox *rules, struct err *err)
{
	return 0;
}

static int
privileges_close(struct err *err)
{
	return 0;
}

#endif

int
sandbox_enter(const struct sandbox *rules, struct err *err)
{
	int walls = 0, result;
	bool has_filter;

	if (privileges_close(err) < 0)
		return -1;
	result = files_close(rules, err);
	if (result < 0)
		return -1;
	if (result > 0)
		walls |= SANDBOX_FILES;
	if (sandbox_calls(rules, &has_filter, err) < 0)
		return -1;
	if (has_filter)
		walls |= SANDBOX_CALLS;
	return walls;
}
