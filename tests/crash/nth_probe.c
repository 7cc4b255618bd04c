/* nth_probe.c - a fixed series of calls that change the disk, for test_nth
 *
 * In     argv[1] a directory
 * Out    a line for each call: its name, "ok" or errno; the series goes on
 *        after an error
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void
say(const char *call, long result)
{
	if (result < 0)
		printf("%s %d\n", call, errno);
	else
		printf("%s ok\n", call);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	char vector[] = "vector\n";
	struct iovec part = { vector, 7 };
	int fd, dir;

	if (argc != 2 || chdir(argv[1]) != 0)
		return 64;
	dir = open(".", O_RDONLY | O_DIRECTORY);
	fd = openat(dir, "draft", O_WRONLY | O_CREAT | O_EXCL, 0600);
	say("create", fd);
	say("write", write(fd, "first\n", 6));
	say("writev", writev(fd, &part, 1));
	say("pwrite", pwrite(fd, "F", 1, 0));
	say("fsync", fsync(fd));
	say("renameat2", renameat2(dir, "draft", dir, "named",
	    RENAME_NOREPLACE));
	say("rename", rename("named", "moved"));
	say("link", link("moved", "second"));
	say("ftruncate", ftruncate(fd, 5));
	say("fdatasync", fdatasync(fd));
	say("unlinkat", unlinkat(dir, "second", 0));
	say("mkdir", mkdir("below", 0700));
	say("syncfs", syncfs(dir));
	say("unlink", unlink("moved"));
	/* none of these counts */
	close(open("moved", O_RDONLY));
	if (access("below", F_OK) == 0)
		rmdir("below");
	return 0;
}
