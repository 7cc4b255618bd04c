/* sandbox_try.c - from inside, what must not work
 *
 * In     a process that locked itself in
 * Out    a line for each way out that is open
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/sandbox.h"

#include "base/banned.h"

static bool
try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool
read_passwd(void)
{
	return try_open("/etc/passwd", O_RDONLY);
}

static bool
read_resolver(void)
{
	return try_open("/etc/resolv.conf", O_RDONLY) ||
	    try_open("/etc/hosts", O_RDONLY);
}

static bool
read_above(void)
{
	return try_open("../../../../../../../../../etc/passwd", O_RDONLY);
}

static bool
read_memory(void)
{
	return try_open("/proc/self/mem", O_RDWR) ||
	    try_open("/proc/1/environ", O_RDONLY);
}

static bool
list_root(void)
{
	DIR *dir = opendir("/");

	if (dir == NULL)
		return false;
	closedir(dir);
	return true;
}

static bool
make_file(void)
{
	static const char path[] = "/tmp/zmailer-escape";
	bool is_made = try_open(path, O_WRONLY | O_CREAT);

	if (is_made)
		unlink(path);
	return is_made;
}

static bool
make_directory(void)
{
	static const char path[] = "/tmp/zmailer-escape.d";
	bool is_made = mkdir(path, 0700) == 0;

	if (is_made)
		rmdir(path);
	return is_made;
}

static bool
run_program(void)
{
	static char name[] = "true";
	static char *const arguments[] = { name, NULL };
	static char *const environment[] = { NULL };

	execve("/bin/true", arguments, environment);
	execve("/usr/bin/true", arguments, environment);
	return false;		/* else this process is no more: exit 0 */
}

static bool
signal_parent(void)
{
	return kill(getppid(), 0) == 0;
}

static bool
serve_others(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_open = fd >= 0 &&
	    bind(fd, (struct sockaddr *)&any, sizeof(any)) == 0 &&
	    listen(fd, 1) == 0;

	if (fd >= 0)
		close(fd);
	return is_open;
}

static bool
change_root(void)
{
	return chroot("/") == 0;
}

static bool
change_mode(void)
{
	return chmod("/tmp", 01777) == 0;
}

static const struct {
	const char	*what;
	bool		(*succeeds)(void);
} tries[] = {
	{ "read /etc/passwd", read_passwd },
	{ "read the resolver's files", read_resolver },
	{ "read by a way around", read_above },
	{ "open the memory of a process", read_memory },
	{ "list /", list_root },
	{ "make a file in /tmp", make_file },
	{ "make a directory in /tmp", make_directory },
	{ "signal the parent", signal_parent },
	{ "listen", serve_others },
	{ "change the root", change_root },
	{ "change a mode", change_mode },
	{ "run a program", run_program },
};

unsigned
sandbox_try_escape(void)
{
	unsigned open_ways = 0;

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		if (!tries[i].succeeds())
			continue;
		printf("open: %s\n", tries[i].what);
		open_ways++;
	}
	printf("%zu tried, %u open\n", sizeof(tries) / sizeof(tries[0]),
	    open_ways);
	fflush(stdout);
	return open_ways;
}
