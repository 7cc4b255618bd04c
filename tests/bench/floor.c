/* floor.c - what the file system alone costs a message
 *
 *   floor [--count N] [--processes N] relay|local|drain|sendmail DIR
 *
 * N processes make the steps that a message makes on disk (doc/INTERNALS.md
 * sections 1 to 4), and nothing else: no SMTP, no routing, no records of what
 * happened, nobody to be asked.  relay: written, synced, renamed, claimed,
 * planned, filed, read, its outcome appended, unlinked.  local: the same, and
 * a file in a Maildir with a sync of its own.  drain: from the filing on.
 * sendmail: a program for each, which stores it and ends.  One line of JSON:
 * messages a second and processor time a message.
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <getopt.h>
#include <linux/fs.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"

enum { BODY_BYTES = 4096, PLAN_BYTES = 400, NAME_BYTES = 64 };

extern char **environ;

static char bytes[BODY_BYTES];

static void
must(bool is_good, const char *what)
{
	if (!is_good)
		die(what);
}

/* A new file with so many bytes; its inode. */
static ino_t
file_put(const char *name, size_t n, bool is_synced)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct stat st;

	must(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    fstat(fd, &st) == 0 && write(fd, bytes, n) == (ssize_t)n, name);
	must(!is_synced || fsync(fd) == 0, name);
	close(fd);
	return st.st_ino;
}

/* Into router/. */
static ino_t
message_accept(void)
{
	char to[NAME_BYTES];
	ino_t inode = file_put("new/draft", BODY_BYTES, true);

	snprintf(to, sizeof(to), "router/%ju", (uintmax_t)inode);
	must(rename("new/draft", to) == 0, to);
	return inode;
}

/* Claimed and planned, into queue/ and transport/. */
static void
message_plan(ino_t inode)
{
	char from[NAME_BYTES], claim[NAME_BYTES], to[NAME_BYTES];

	snprintf(from, sizeof(from), "router/%ju", (uintmax_t)inode);
	snprintf(claim, sizeof(claim), "router/%ju-1", (uintmax_t)inode);
	must(rename(from, claim) == 0, claim);
	(void)file_put("plans/plan", PLAN_BYTES, false);
	snprintf(to, sizeof(to), "transport/%ju", (uintmax_t)inode);
	must(rename("plans/plan", to) == 0, to);
	snprintf(to, sizeof(to), "queue/%ju", (uintmax_t)inode);
	must(rename(claim, to) == 0, to);
}

static void
message_keep(void)
{
	static unsigned long count;
	char name[NAME_BYTES];
	int fd = open("box/tmp/one", O_WRONLY | O_CREAT | O_EXCL, 0600);

	snprintf(name, sizeof(name), "box/new/%lu", count++);
	must(fd >= 0 && write(fd, bytes, BODY_BYTES) == BODY_BYTES &&
	    rename("box/tmp/one", name) == 0 && fsync(fd) == 0, name);
	close(fd);
}

/* Read, marked and unlinked. */
static void
message_end(ino_t inode, bool is_local)
{
	char body[NAME_BYTES], control[NAME_BYTES], text[BODY_BYTES];
	int body_fd, control_fd;

	snprintf(body, sizeof(body), "queue/%ju", (uintmax_t)inode);
	snprintf(control, sizeof(control), "transport/%ju", (uintmax_t)inode);
	body_fd = open(body, O_RDONLY);
	control_fd = open(control, O_RDWR | O_APPEND);
	must(body_fd >= 0 && control_fd >= 0 &&
	    pread(control_fd, text, sizeof(text), 0) > 0 &&
	    pread(body_fd, text, sizeof(text), 0) > 0, body);
	if (is_local)
		message_keep();
	must(write(control_fd, bytes, 100) == 100 && unlink(body) == 0 &&
	    unlink(control) == 0, control);
	close(body_fd);
	close(control_fd);
}

/* Those of each process lie apart, as the spool's do (chattr +T): a file
 * system that does not know it refuses. */
static void
directory_spread(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY), flags = 0;

	if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= 0x00020000;	/* FS_TOPDIR_FL */
		(void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
	close(fd);
}

static void
directories_make(const char *dir, unsigned number)
{
	static const char *const names[] = { "new", "router", "plans", "queue",
	    "transport", "box", "box/tmp", "box/new" };
	char own[4096];

	snprintf(own, sizeof(own), "%s/%u", dir, number);
	must(mkdir(own, 0700) == 0 && chdir(own) == 0, own);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		must(mkdir(names[i], 0700) == 0, names[i]);
}

static double
spent_s(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* A process's share.  A byte on ready, then it waits for the end of go.
 * Returns the processor time of the steps. */
static double
share_run(const char *what, unsigned long count, int ready, int go)
{
	bool is_drain = strcmp(what, "drain") == 0;
	bool is_local = strcmp(what, "local") == 0;
	ino_t *inodes = calloc(count, sizeof(*inodes));
	char byte = 0;
	double spent;

	must(inodes != NULL, "calloc");
	for (unsigned long i = 0; is_drain && i < count; i++) {
		inodes[i] = message_accept();
		message_plan(inodes[i]);
	}
	must(write(ready, &byte, 1) == 1 && read(go, &byte, 1) == 0, "pipe");
	spent = spent_s(RUSAGE_SELF);
	for (unsigned long i = 0; i < count; i++) {
		if (!is_drain) {
			inodes[i] = message_accept();
			message_plan(inodes[i]);
		}
		message_end(inodes[i], is_local);
	}
	free(inodes);
	return spent_s(RUSAGE_SELF) - spent;
}

static void
program_run(char *self)
{
	char one[] = "--one", *words[] = { self, one, NULL };
	int status;
	pid_t pid;

	must(posix_spawn(&pid, self, NULL, NULL, words, environ) == 0 &&
	    wait(&status) == pid && status == 0, self);
}

/* The least that stores a message and ends. */
static int
program_main(void)
{
	char to[NAME_BYTES];
	ino_t inode = file_put("new/one", BODY_BYTES, true);

	snprintf(to, sizeof(to), "router/%ju", (uintmax_t)inode);
	return rename("new/one", to) == 0 ? 0 : 1;
}

/* Processes make their directories first, and begin together. */
static double
shares_run(const char *what, const char *dir, unsigned processes,
    unsigned long count, double *out_spent)
{
	int ready[2], go[2];
	double began, spent;
	char byte;

	must(pipe(ready) == 0 && pipe(go) == 0, "pipe");
	for (unsigned i = 0; i < processes; i++) {
		pid_t pid = fork();

		must(pid >= 0, "fork");
		if (pid > 0)
			continue;
		close(go[1]);
		directories_make(dir, i);
		spent = share_run(what, count / processes, ready[1], go[0]);
		_exit(write(ready[1], &spent, sizeof(spent)) ==
		    sizeof(spent) ? 0 : 1);
	}
	for (unsigned i = 0; i < processes; i++)
		must(read(ready[0], &byte, 1) == 1, "a process ended");
	began = now_s();
	close(go[1]);
	for (unsigned i = 0; i < processes; i++) {
		int status;

		must(wait(&status) > 0 && status == 0 && read(ready[0],
		    &spent, sizeof(spent)) == sizeof(spent), "a process");
		*out_spent += spent;
	}
	return now_s() - began;
}

int
main(int argc, char **argv)
{
	static const struct option rows[] = {
		{ "count", 1, NULL, 'n' }, { "processes", 1, NULL, 'p' },
		{ "one", 0, NULL, '1' }, { NULL, 0, NULL, 0 },
	};
	unsigned long count = 4000;
	unsigned processes = 20;	/* as bench.py has sessions */
	char self[4096];
	double took, spent = 0;
	int letter;

	while ((letter = getopt_long(argc, argv, "", rows, NULL)) != -1) {
		if (letter == '1')
			return program_main();
		if (letter == 'n')
			count = strtoul(optarg, NULL, 10);
		else if (letter == 'p')
			processes = (unsigned)strtoul(optarg, NULL, 10);
		else
			return 64;
	}
	if (optind + 2 != argc || processes == 0 || count < processes)
		return 64;
	directory_spread(argv[optind + 1]);
	if (strcmp(argv[optind], "sendmail") == 0) {
		must(realpath(argv[0], self) != NULL, argv[0]);
		directories_make(argv[optind + 1], 0);
		took = now_s();
		for (unsigned long i = 0; i < count; i++)
			program_run(self);
		took = now_s() - took;
		spent = spent_s(RUSAGE_CHILDREN);
	} else {
		took = shares_run(argv[optind], argv[optind + 1], processes,
		    count, &spent);
	}
	printf("{\"per_s\":%.1f,\"cpu_ms\":%.3f}\n", (double)count / took,
	    spent * 1000 / (double)count);
	return 0;
}
