/* sandbox_calls.c - a process locks itself in: the system calls
 *
 * What is listed fails with EPERM; all else goes on.  A list of what is
 * allowed would break with the next C library; this one takes away what an
 * intruder wants and Landlock does not cover, each line for a reason.
 *
 * Spec   seccomp(2), seccomp_rule_add(3)
 *
 * SPDX-License-Identifier: ISC
 */
#include "daemon/sandbox.h"

#ifdef HAVE_SECCOMP
#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#endif

#include "base/banned.h"

#ifdef HAVE_SECCOMP

static const char *const refused[] = {
	/* other programs */
	"execve", "execveat", "fork", "vfork", "uselib",
	/* other processes */
	"ptrace", "process_vm_readv", "process_vm_writev", "kcmp",
	"pidfd_open", "pidfd_getfd", "pidfd_send_signal", "tkill",
	"process_madvise", "prlimit64", "setpriority",
	/* serving others */
	"listen",
	/* other identities and worlds */
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
	"setfsuid", "setfsgid", "setgroups", "capset", "chroot",
	"pivot_root", "unshare", "setns", "personality", "keyctl", "add_key",
	"request_key",
	/* names, modes and times of files, mounts */
	"mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount",
	"mount_setattr", "name_to_handle_at", "open_by_handle_at", "symlink",
	"symlinkat", "mkdir", "mkdirat", "rmdir", "mknod",
	"mknodat", "truncate", "chmod", "fchmodat", "fchmodat2",
	"chown", "fchown", "lchown", "fchownat", "setxattr", "lsetxattr",
	"removexattr", "lremovexattr", "fremovexattr", "utime",
	"utimes", "utimensat", "futimesat",
	/* large surfaces of the kernel */
	"bpf", "perf_event_open", "userfaultfd", "io_uring_setup",
	"io_uring_enter", "io_uring_register", "init_module",
	"finit_module", "delete_module", "kexec_load", "kexec_file_load",
	"reboot", "swapon", "swapoff", "acct", "quotactl", "syslog",
	"modify_ldt", "iopl", "ioperm", "vmsplice", "fanotify_init",
};

/* What who serves others needs, and who does by processes of its own. */
static const char *const of_servers[] = { "accept", "accept4" };
static const char *const of_parents[] = { "kill" };

static const char *const names_of_files[] = {
	"rename", "renameat", "renameat2", "unlink", "unlinkat", "fchmod",
	"fsetxattr",
};

static const char *const second_names[] = { "link", "linkat" };

/* LeakSanitizer looks at the process by ptrace when it ends. */
static bool
is_needed(const char *call)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return strcmp(call, "ptrace") == 0 || strcmp(call, "prlimit64") == 0;
#else
	return false;
#endif
}

static int
calls_add(scmp_filter_ctx filter, const char *const calls[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int call = seccomp_syscall_resolve_name(calls[i]);
		int result;

		if (call == __NR_SCMP_ERROR ||	/* older than the call */
		    is_needed(calls[i]))
			continue;
		result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call,
		    0);
		if (result < 0 && result != -EDOM && result != -EINVAL)
			return result;
	}
	return 0;
}

/* Where all that is about sockets is one call (socketcall) they cannot be
 * told apart. */
static int
sockets_add(scmp_filter_ctx filter, enum sandbox_sockets sockets)
{
	static const char *const all[] = { "socket", "connect", "bind" };
	int result;

	if (sockets == SOCKETS_ALL)
		return 0;
	if (sockets == SOCKETS_NONE)
		return calls_add(filter, all, sizeof(all) / sizeof(all[0]));
	result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM),
	    SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_NE, AF_UNIX, 0));
	return result == -EDOM || result == -EINVAL ? 0 : result;
}

/* What is typed at the terminal of who started us is not ours to say. */
static int
terminals_add(scmp_filter_ctx filter)
{
	int result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM),
	    SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX,
	    TIOCSTI));

	return result == -EDOM || result == -EINVAL ? 0 : result;
}

int
sandbox_calls(const struct sandbox *rules, bool *out_stands,
    struct err *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int result;

	if (filter == NULL)
		return err_set(err, "sandbox: the system call filter");
	result = calls_add(filter, refused,
	    sizeof(refused) / sizeof(refused[0]));
	if (result == 0)
		result = sockets_add(filter, rules->sockets);
	if (result == 0)
		result = terminals_add(filter);
	if (result == 0 && !rules->is_parent && !rules->may_accept)
		result = calls_add(filter, of_servers,
		    sizeof(of_servers) / sizeof(of_servers[0]));
	if (result == 0 && !rules->is_parent)
		result = calls_add(filter, of_parents,
		    sizeof(of_parents) / sizeof(of_parents[0]));
	if (result == 0 && !rules->may_link)
		result = calls_add(filter, second_names,
		    sizeof(second_names) / sizeof(second_names[0]));
	if (result == 0 && rules->worked_count == 0)
		result = calls_add(filter, names_of_files,
		    sizeof(names_of_files) / sizeof(names_of_files[0]));
	if (result == 0)
		result = seccomp_load(filter);
	seccomp_release(filter);
	*out_stands = result == 0;
	if (result == 0)
		return 0;
	/* a kernel without it, or a container that has its own */
	if (result == -EINVAL || result == -ENOSYS || result == -EPERM)
		return 0;
	errno = -result;
	return err_sys(err, "sandbox: the system call filter");
}

#else

int
sandbox_calls(const struct sandbox *rules, bool *out_stands,
    struct err *err)
{
	*out_stands = false;
	return 0;
}

#endif
