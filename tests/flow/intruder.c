/* intruder.c - makes another process call the system, as if it were taken
 *
 * Usage: intruder PID [fsync]
 *
 * Stops the process PID where it waits (with fsync: after its next fsync),
 * and then lets it do, inside itself, what is read from stdin, a line a call:
 *
 *	CALL ARGUMENT...	an argument: a number, "a string", or x and
 *				bytes in hex; strings and bytes are put on
 *				its stack and their address is given
 *
 * Each is answered by a line with the result, -errno as the kernel has it.
 * First comes the line "in".  At the end of stdin it goes on as if nothing
 * had been.  Exit 77: not possible here.
 *
 * In     lines
 * Out    results
 * Holds  the process stopped between two lines
 * Trusts the test
 * Spec   ptrace(2); tests/flow/breakout.py
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IMPOSSIBLE = 77 };

#if defined(__x86_64__) && defined(__linux__)

enum { ARGUMENTS_MAX = 6, BELOW_STACK = 16384, LINE_BYTES = 4096,
	SYSCALL_BYTES = 2 };

static const struct {
	const char	*name;
	long		 number;
} calls[] = {
#define CALL(name) { #name, SYS_##name }
	CALL(getpid), CALL(close), CALL(openat), CALL(write), CALL(read),
	CALL(renameat), CALL(unlinkat), CALL(linkat), CALL(symlinkat),
	CALL(mkdirat), CALL(mknodat), CALL(truncate), CALL(fchmodat),
	CALL(fchownat), CALL(utimensat), CALL(setxattr), CALL(execve),
	CALL(execveat), CALL(fork), CALL(vfork), CALL(kill), CALL(tkill),
	CALL(ptrace), CALL(process_vm_readv), CALL(process_vm_writev),
	CALL(pidfd_open), CALL(kcmp), CALL(prlimit64), CALL(setpriority),
	CALL(socket), CALL(bind), CALL(connect), CALL(listen),
	CALL(accept4), CALL(setuid), CALL(setgid), CALL(setgroups),
	CALL(setresuid), CALL(capset), CALL(chroot), CALL(unshare),
	CALL(setns), CALL(mount), CALL(umount2), CALL(pivot_root),
	CALL(open_by_handle_at), CALL(name_to_handle_at), CALL(keyctl),
	CALL(bpf), CALL(perf_event_open), CALL(userfaultfd),
	CALL(io_uring_setup), CALL(init_module), CALL(reboot),
	CALL(personality), CALL(modify_ldt), CALL(syslog), CALL(quotactl),
	CALL(swapon), CALL(acct), CALL(chdir), CALL(getdents64),
#undef CALL
};

static pid_t pid;
static int memory;			/* of the process */

static void
die(const char *what)
{
	fprintf(stderr, "intruder: %s: %s\n", what, strerror(errno));
	exit(errno == EPERM || errno == ENOSYS ? IMPOSSIBLE : 1);
}

/* Until it stops again.  Its end is ours. */
static int
wait_stop(void)
{
	int status;

	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			die("waitpid");
	if (!WIFSTOPPED(status)) {
		fprintf(stderr, "intruder: it has ended\n");
		exit(1);
	}
	return status;
}

/* To the next begin or end of a system call; 1: it became another program.
 * Signals that come meanwhile are let through. */
static int
go_to_call(void)
{
	int signal_number = 0;

	for (;;) {
		int status;

		if (ptrace(PTRACE_SYSCALL, pid, NULL,
		    (void *)(long)signal_number) != 0)
			die("PTRACE_SYSCALL");
		status = wait_stop();
		signal_number = 0;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			return 0;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			return 1;
		if (status >> 16 == 0)
			signal_number = WSTOPSIG(status);
	}
}

static void
registers_get(struct user_regs_struct *out)
{
	if (ptrace(PTRACE_GETREGS, pid, NULL, out) != 0)
		die("PTRACE_GETREGS");
}

static void
registers_set(const struct user_regs_struct *in)
{
	if (ptrace(PTRACE_SETREGS, pid, NULL, in) != 0)
		die("PTRACE_SETREGS");
}

static int
is_behind_call(const struct user_regs_struct *at)
{
	unsigned char code[SYSCALL_BYTES];

	return pread(memory, code, sizeof(code), (off_t)at->rip -
	    SYSCALL_BYTES) == SYSCALL_BYTES &&
	    code[0] == 0x0f && code[1] == 0x05;
}

/* Where it is after the end of a call: of any, or of fsync. */
static void
stop(int at_fsync, struct user_regs_struct *out)
{
	int begins = 1;

	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(PTRACE_O_TRACESYSGOOD |
	    PTRACE_O_TRACEEXEC)) != 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0)
		die("cannot stop it");
	(void)wait_stop();
	registers_get(out);
	if (!at_fsync && is_behind_call(out))
		return;
	if (at_fsync) {			/* whoever waits may go on now */
		printf("in\n");
		fflush(stdout);
	}
	for (;; begins = !begins) {
		(void)go_to_call();
		registers_get(out);
		if (!begins && (!at_fsync || out->orig_rax == SYS_fsync))
			return;
	}
}

/* ---- a line ------------------------------------------------------------- */

static int
hex(int c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ?
	    c - 'a' + 10 : -1;
}

/* The bytes of "x00ff" or "\"text\"" into out; returns how many, and moves
 * *at after them. */
static size_t
bytes_parse(char **at, unsigned char *out)
{
	char *in = *at;
	size_t n = 0;

	if (*in++ == '"') {
		while (*in != '\0' && *in != '"')
			out[n++] = (unsigned char)*in++;
		out[n++] = '\0';
		*at = in + (*in == '"');
		return n;
	}
	while (hex(in[0]) >= 0 && hex(in[1]) >= 0) {
		out[n++] = (unsigned char)(hex(in[0]) << 4 | hex(in[1]));
		in += 2;
	}
	*at = in;
	return n;
}

/* Arguments of a call; what they point to goes to `free` on its stack. */
static void
arguments_parse(char *at, unsigned long long free, unsigned long long *out)
{
	unsigned char bytes[LINE_BYTES];

	for (int i = 0; i < ARGUMENTS_MAX; i++) {
		at += strspn(at, " \n");
		if (*at != '"' && *at != 'x') {
			out[i] = (unsigned long long)strtoll(at, &at, 0);
			continue;
		}
		size_t n = bytes_parse(&at, bytes);

		if (pwrite(memory, bytes, n, (off_t)free) != (ssize_t)n)
			die("its memory");
		out[i] = free;
		free += (n + 15) & ~(size_t)15;
	}
}

/* returns 1 when it became another program */
static int
call(const struct user_regs_struct *at, long number, char *rest,
    long long *out)
{
	struct user_regs_struct fresh = *at;
	unsigned long long words[ARGUMENTS_MAX];

	arguments_parse(rest, (at->rsp - BELOW_STACK) & ~15ULL, words);
	fresh.rip -= SYSCALL_BYTES;
	fresh.orig_rax = (unsigned long long)-1;	/* nothing to begin
							 * anew */
	fresh.rax = (unsigned long long)number;
	fresh.rdi = words[0];
	fresh.rsi = words[1];
	fresh.rdx = words[2];
	fresh.r10 = words[3];
	fresh.r8 = words[4];
	fresh.r9 = words[5];
	registers_set(&fresh);
	if (go_to_call() != 0 || go_to_call() != 0)
		return 1;
	registers_get(&fresh);
	*out = (long long)fresh.rax;
	return 0;
}

static long
number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	fprintf(stderr, "intruder: %s is not in the list\n", name);
	exit(1);
}

static void
obey(const struct user_regs_struct *at)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		size_t n = strcspn(line, " \n");
		long long result = 0;
		int is_other;

		line[n] = '\0';
		is_other = call(at, number_of(line), line + n + 1, &result);
		printf("%lld\n", result);
		fflush(stdout);
		if (is_other) {
			(void)kill(pid, SIGKILL);
			exit(1);
		}
	}
}

int
main(int argc, char **argv)
{
	struct user_regs_struct at;
	char path[64];
	int at_fsync;

	if (argc < 2)
		return 2;
	pid = (pid_t)strtol(argv[1], NULL, 10);
	at_fsync = argc > 2 && strcmp(argv[2], "fsync") == 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	memory = open(path, O_RDWR | O_CLOEXEC);
	if (memory < 0) {
		errno = errno == EACCES ? EPERM : errno;
		die(path);
	}
	stop(at_fsync, &at);
	printf("in\n");
	fflush(stdout);
	obey(&at);
	/* a call that was cut short by our coming begins again */
	if ((long long)at.rax <= -512 && (long long)at.rax >= -516) {
		at.rip -= SYSCALL_BYTES;
		at.rax = at.orig_rax;
	}
	registers_set(&at);
	if (ptrace(PTRACE_DETACH, pid, NULL, NULL) != 0)
		die("PTRACE_DETACH");
	return 0;
}

#else

int
main(void)
{
	fprintf(stderr, "intruder: not written for this machine\n");
	return IMPOSSIBLE;
}

#endif
