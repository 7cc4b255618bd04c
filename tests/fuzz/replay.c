/* replay.c - run a fuzz target without a fuzzer: a corpus, and beyond it
 *
 *	fuzz-NAME                 its seeds, then what mutate.c makes of them
 *	fuzz-NAME PATH...         these files and directories, and nothing more
 *	fuzz-NAME --again S N     input N of seed S alone
 *
 * ZM_FUZZ_MS: for how long inputs are made (BEYOND_MS unless said; 0: none);
 * ZM_FUZZ_SEED: of what.  An input that stops the target, or takes HANG_S, is
 * kept in tests/fuzz/found/, and how to make it again is printed.
 *
 * In     files
 * Out    one line: how many inputs were run; exit 1 when there were none
 * Holds  the corpus
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mutate.h"

enum { BEYOND_MS = 400, HANG_S = 20, PATH_BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sanitizer that has something to tell aborts: on_end keeps the input. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *
__asan_default_options(void)
{
	return "abort_on_error=1";
}

const char *
__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

static struct {
	struct mutate_input	*all;
	size_t			 count;
} corpus;

static struct {		/* what runs now, for the handler of signals */
	const uint8_t	*data;
	size_t		 size;
	uint64_t	 seed, number;	/* 0, 0: a file */
	char		 name[256];
} now;

/* ---- one input -------------------------------------------------------- */

/* async-signal-safe but for snprintf, which allocates nothing for these. */
static void
on_end(int signal_number)
{
	char path[PATH_BYTES], text[PATH_BYTES + 256];
	int fd, n;

	snprintf(path, sizeof(path), "tests/fuzz/found/%s.%" PRIu64 ".%" PRIu64,
	    now.name, now.seed, now.number);
	(void)mkdir("tests/fuzz/found", 0777);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd >= 0 && write(fd, now.data, now.size) == (ssize_t)now.size)
		close(fd);
	n = snprintf(text, sizeof(text), "\n%s: FAILED by signal %d%s; the "
	    "input is in %s; again: fuzz-%s --again %" PRIu64 " %" PRIu64 "\n",
	    now.name, signal_number, signal_number == SIGALRM ? " (it hangs)" :
	    "", path, now.name, now.seed, now.number);
	if (write(STDERR_FILENO, text, (size_t)n) != n)
		_exit(1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void
run_input(const uint8_t *data, size_t size)
{
	/* an exact-size copy, so that a read after the end is seen */
	uint8_t *exact = malloc(size ? size : 1);

	if (exact == NULL)
		exit(1);
	memcpy(exact, data, size);
	now.data = exact;
	now.size = size;
	alarm(HANG_S);
	LLVMFuzzerTestOneInput(exact, size);
	alarm(0);
	free(exact);
}

/* ---- files ------------------------------------------------------------ */

static void
take_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct mutate_input *input;
	size_t got;

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	corpus.all = realloc(corpus.all,
	    (corpus.count + 1) * sizeof(*corpus.all));
	if (corpus.all == NULL)
		exit(1);
	input = &corpus.all[corpus.count++];
	*input = (struct mutate_input){ NULL, 0 };
	do {
		input->data = realloc(input->data, input->size + 65536);
		if (input->data == NULL)
			exit(1);
		got = fread(input->data + input->size, 1, 65536, file);
		input->size += got;
	} while (got > 0);
	fclose(file);
}

/* In the order of their names: a seed means the same everywhere. */
static void
take_path(const char *path)
{
	struct dirent **names;
	struct stat st;
	int count;

	if (stat(path, &st) != 0) {
		perror(path);
		exit(1);
	}
	if (!S_ISDIR(st.st_mode)) {
		take_file(path);
		return;
	}
	count = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char name[PATH_BYTES];

		if (names[i]->d_name[0] != '.') {
			snprintf(name, sizeof(name), "%s/%s", path,
			    names[i]->d_name);
			take_path(name);
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

static void
take_seeds(void)
{
	const char *src = getenv("ZMAILER_SRC");
	char path[PATH_BYTES];

	if (src == NULL) {
		fprintf(stderr, "fuzz-%s: ZMAILER_SRC must name the source "
		    "tree\n", now.name);
		exit(1);
	}
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", src, now.name);
	take_path(path);
}

/* ---- beyond them ------------------------------------------------------ */

static uint64_t
number_of(const char *name, uint64_t preset)
{
	const char *text = getenv(name);

	return text == NULL ? preset : strtoull(text, NULL, 10);
}

static int64_t
clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void
run_made(uint64_t seed, uint64_t number)
{
	static uint8_t data[MUTATE_BYTES_MAX];

	now.seed = seed;
	now.number = number;
	run_input(data, mutate(corpus.all, corpus.count, seed, number, data));
}

/* returns how many. */
static uint64_t
run_beyond(uint64_t seed, int64_t for_ms)
{
	int64_t end_ms = clock_ms() + for_ms;
	uint64_t number = 0;

	while (clock_ms() < end_ms)
		run_made(seed, ++number);
	return number;
}

int
main(int argc, char **argv)
{
	/* a sanitizer tells of the others, and then it aborts */
	static const int ends[] = { SIGABRT, SIGALRM,
#ifndef __SANITIZE_ADDRESS__
	    SIGSEGV, SIGBUS, SIGFPE, SIGILL
#endif
	};
	const char *name = strrchr(argv[0], '/');
	uint64_t seed = number_of("ZM_FUZZ_SEED", (uint64_t)time(NULL) * 65536 +
	    (uint64_t)getpid()), made = 0;

	name = name ? name + 1 : argv[0];
	snprintf(now.name, sizeof(now.name), "%s",
	    strncmp(name, "fuzz-", 5) == 0 ? name + 5 : name);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], on_end);
	if (argc == 4 && strcmp(argv[1], "--again") == 0) {
		take_seeds();
		run_made(strtoull(argv[2], NULL, 10),
		    strtoull(argv[3], NULL, 10));
		return 0;
	}
	for (int i = 1; i < argc; i++)
		take_path(argv[i]);
	if (argc == 1)
		take_seeds();
	for (size_t i = 0; i < corpus.count; i++)
		run_input(corpus.all[i].data, corpus.all[i].size);
	if (argc == 1 && corpus.count > 0)
		made = run_beyond(seed,
		    (int64_t)number_of("ZM_FUZZ_MS", BEYOND_MS));
	printf("%s: %zu inputs, %" PRIu64 " made of them by seed %" PRIu64 "\n",
	    now.name, corpus.count, made, seed);
	return corpus.count == 0;
}
