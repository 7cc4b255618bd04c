/* units.c - runs the tests of a suite, each in a process of its own
 *
 * In     the rows that criterion.h hangs up; --filter 'suite/name', a pattern
 * Out    what failed and what was skipped, by name; 1 if any test failed
 * Holds  a page that a test and its parent share
 *
 * Where Criterion is there, it is used: this one is for a C library or a
 * processor that it does not run on.
 *
 * SPDX-License-Identifier: ISC
 */
#include "criterion/criterion.h"

#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAULTS_SHOWN 20
#define PATIENCE_S 300		/* an emulated processor is slow */

/* What a test leaves behind, whatever becomes of its process. */
struct outcome {
	int faults;
	bool is_skipped, is_done;
};

static struct unit_row *rows, **rows_end = &rows;
static struct outcome *outcome;
static volatile sig_atomic_t running;

void
unit_hang(struct unit_row *row)
{
	*rows_end = row;
	rows_end = &row->next;
}

void
unit_fault(const char *file, int line, const char *check,
    const char *format, ...)
{
	va_list words;

	if (outcome->faults++ >= FAULTS_SHOWN)
		return;
	printf("%s:%d: not so: %s", file, line, check);
	va_start(words, format);
	vprintf(format, words);
	va_end(words);
	putchar('\n');
}

/* As a test's function ends that returns: what it hung up to be done at the
 * end of a process is the process's, not the test's. */
void
unit_leave(void)
{
	outcome->is_done = true;
	fflush(NULL);
	_exit(0);
}

void
unit_skip(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	printf("skipped:");
	vprintf(format, words);
	va_end(words);
	putchar('\n');
	outcome->is_skipped = true;
	unit_leave();
}

void
unit_tell(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vprintf(format, words);
	va_end(words);
	putchar('\n');
}

/* What the suite has, where the test says nothing. */
static struct unit_words
row_words(const struct unit_row *row)
{
	struct unit_words words = row->words;
	const struct unit_row *suite;

	for (suite = rows; suite != NULL; suite = suite->next)
		if (suite->name == NULL &&
		    strcmp(suite->suite, row->suite) == 0)
			break;
	if (suite == NULL)
		return words;
	if (words.init == NULL)
		words.init = suite->words.init;
	if (words.fini == NULL)
		words.fini = suite->words.fini;
	return words;
}

static void
kill_the_slow(int signal)
{
	if (running > 0)
		kill((pid_t)running, SIGKILL);
}

static void
row_run(const struct unit_row *row, const struct unit_words *words)
{
	signal(SIGALRM, SIG_DFL);
	if (words->init != NULL)
		words->init();
	row->run();
	if (words->fini != NULL)
		words->fini();
	unit_leave();
}

/* Is it as the row wants it? */
static bool
ended_well(const struct unit_words *words, int status)
{
	if (outcome->faults > 0)
		return false;
	if (words->signal != 0)
		return WIFSIGNALED(status) &&
		    WTERMSIG(status) == words->signal;
	if (words->exit_code != 0)
		return WIFEXITED(status) &&
		    WEXITSTATUS(status) == words->exit_code;
	return outcome->is_done && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0;
}

static bool
row_passes(const struct unit_row *row)
{
	struct unit_words words = row_words(row);
	int status = 0;
	pid_t pid;

	*outcome = (struct outcome){ 0 };
	fflush(NULL);
	if ((pid = fork()) == 0)
		row_run(row, &words);
	if (pid == -1)
		return false;
	running = pid;
	alarm(PATIENCE_S);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	alarm(0);
	running = 0;
	if (ended_well(&words, status))
		return true;
	printf("FAIL %s/%s: status 0x%x, %d faults\n", row->suite, row->name,
	    (unsigned)status, outcome->faults);
	return false;
}

int
main(int argc, char **argv)
{
	const char *filter = argc == 3 && strcmp(argv[1], "--filter") == 0 ?
	    argv[2] : "*";
	int passed = 0, failed = 0, skipped = 0;
	char name[256];

	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outcome == MAP_FAILED)
		return 1;
	signal(SIGALRM, kill_the_slow);
	for (struct unit_row *row = rows; row != NULL; row = row->next) {
		snprintf(name, sizeof(name), "%s/%s", row->suite,
		    row->name != NULL ? row->name : "");
		if (row->name == NULL || fnmatch(filter, name, 0) != 0)
			continue;
		if (!row_passes(row))
			failed++;
		else if (outcome->is_skipped)
			skipped++;
		else
			passed++;
	}
	printf("%s: %d passed, %d failed, %d skipped\n", argv[0], passed,
	    failed, skipped);
	return failed > 0 || passed + skipped == 0;
}
