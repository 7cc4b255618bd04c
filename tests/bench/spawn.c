/* spawn.c - runs a program again and again and says what that costs
 *
 *   spawn [--root DIR] [--count N] [--at-once N] [--input FILE]
 *         PROGRAM [WORD...]
 *
 * Each run has FILE (else /dev/null) as its input; --root: chroot first.  One
 * line of JSON: runs a second, the programs' own processor time and page
 * faults a run.  Without a program: itself, which ends at once, dynamically
 * linked as any program is; what a run costs at least.
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <getopt.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"

extern char **environ;

static const char *input = "/dev/null";
static char nothing[] = "--nothing";

static double
seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static void
run_begin(char **words)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions) != 0 ||
	    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input,
	    O_RDONLY, 0) != 0 ||
	    posix_spawn(&pid, words[0], &actions, NULL, words, environ) != 0)
		die(words[0]);
	posix_spawn_file_actions_destroy(&actions);
}

static void
run_end(void)
{
	int status;

	if (wait(&status) < 0 || status != 0) {
		fprintf(stderr, "spawn: a run ended with status %d\n", status);
		exit(1);
	}
}

int
main(int argc, char **argv)
{
	static const struct option rows[] = {
		{ "root", 1, NULL, 'r' }, { "count", 1, NULL, 'n' },
		{ "at-once", 1, NULL, 'p' }, { "input", 1, NULL, 'i' },
		{ NULL, 0, NULL, 0 },
	};
	char *self[] = { argv[0], nothing, NULL }, **words;
	unsigned long count = 1000, at_once = 1;
	const char *root = NULL;
	struct rusage used;
	double began;
	int letter;

	if (argc == 2 && strcmp(argv[1], nothing) == 0)
		return 0;
	while ((letter = getopt_long(argc, argv, "+", rows, NULL)) != -1) {
		if (letter == 'r')
			root = optarg;
		else if (letter == 'n')
			count = strtoul(optarg, NULL, 10);
		else if (letter == 'p')
			at_once = strtoul(optarg, NULL, 10);
		else if (letter == 'i')
			input = optarg;
		else
			return 64;
	}
	words = optind < argc ? argv + optind : self;
	if (root != NULL && (chroot(root) < 0 || chdir("/") < 0))
		die(root);
	began = now_s();
	for (unsigned long i = 0; i < count + at_once; i++) {
		if (i >= at_once)
			run_end();
		if (i < count)
			run_begin(words);
	}
	getrusage(RUSAGE_CHILDREN, &used);
	printf("{\"per_s\":%.1f,\"user_ms\":%.3f,\"system_ms\":%.3f,"
	    "\"faults\":%.1f,\"began_s\":%.6f,\"last_s\":%.6f}\n",
	    (double)count / (now_s() - began),
	    seconds(used.ru_utime) * 1000 / (double)count,
	    seconds(used.ru_stime) * 1000 / (double)count,
	    (double)used.ru_minflt / (double)count, began, now_s());
	return 0;
}
