/* program.c - a message on the standard input of the site's program
 *
 * In     a command and its account, the bytes of a message
 * Out    how it ended, what it said
 * Holds  one process of a group of its own, until it ends or its time is over
 * Trusts the program with the message, and with nothing else: it has no
 *        descriptor, no right and no variable of ours
 * Spec   program.h; zmailer.conf(5), learn
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tools/zmailer/learn/program.h"

#include "base/banned.h"

enum { WORDS_MAX = 32, GROUPS_MAX = 64, EXIT_NOT_RUN = 127,
	PAUSE_NS = 5000000 };

struct learner {
	struct arena	*arena;
	char		*words[WORDS_MAX + 1];
	uid_t		 uid;
	gid_t		 gid, groups[GROUPS_MAX];
	int		 group_count;
	pid_t		 pid;
	int		 in, out;	/* our ends; -1: closed */
};

/* ---- who it is, and what it is told ------------------------------------- */

static int
learner_take_account(struct learner *learner, const char *name,
    struct err *err)
{
	const struct passwd *user = getpwnam(name);

	if (user == NULL)
		return err_set(err, "there is no account '%s'", name);
	if (user->pw_uid == 0)
		return err_set(err, "'%s' is root: name another account",
		    name);
	if (geteuid() != 0 && user->pw_uid != geteuid())
		return err_set(err, "only root can run it as '%s'", name);
	learner->uid = user->pw_uid;
	learner->gid = user->pw_gid;
	learner->group_count = GROUPS_MAX;
	if (getgrouplist(name, user->pw_gid, learner->groups,
	    &learner->group_count) < 0)
		learner->group_count = GROUPS_MAX;
	return 0;
}

static int
learner_take_words(struct learner *learner, const char *command,
    struct err *err)
{
	struct slice rest = slice_of(command), word;
	size_t count = 0;

	while (slice_word(&rest, &word)) {
		if (count == WORDS_MAX)
			return err_set(err, "the command has more than %d "
			    "words", WORDS_MAX);
		learner->words[count++] = slice_dup(learner->arena, word);
	}
	learner->words[count] = NULL;
	return count > 0 ? 0 : err_set(err, "the command is empty");
}

/* ---- the process -------------------------------------------------------- */

static void learner_become(const struct learner *learner, int in, int out)
    __attribute__((noreturn));
static void
learner_become(const struct learner *learner, int in, int out)
{
	static const char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	char *environment[] = { (char *)(uintptr_t)path, NULL };
	bool is_root = geteuid() == 0;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)setpgid(0, 0);
	if (chdir("/") < 0 || dup2(in, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(EXIT_NOT_RUN);
	closefrom(STDERR_FILENO + 1);
	if (is_root && (setgroups((size_t)learner->group_count,
	    learner->groups) < 0 || setresgid(learner->gid, learner->gid,
	    learner->gid) < 0 || setresuid(learner->uid, learner->uid,
	    learner->uid) < 0 || setuid(0) == 0))
		_exit(EXIT_NOT_RUN);
	(void)execve(learner->words[0], learner->words, environment);
	dprintf(STDERR_FILENO, "cannot be run: %s", strerror(errno));
	_exit(EXIT_NOT_RUN);
}

static int
learner_start(struct learner *learner, struct err *err)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };

	if (pipe2(in, O_CLOEXEC) < 0)
		return err_sys(err, "pipe");
	if (pipe2(out, O_CLOEXEC) < 0) {
		(void)err_sys(err, "pipe");
		close(in[0]);
		close(in[1]);
		return -1;
	}
	learner->pid = fork();
	if (learner->pid == 0)
		learner_become(learner, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	learner->in = in[1];
	learner->out = out[0];
	if (learner->pid < 0)
		return err_sys(err, "fork");
	(void)setpgid(learner->pid, learner->pid);
	(void)fcntl(learner->in, F_SETFL, O_NONBLOCK);
	(void)fcntl(learner->out, F_SETFL, O_NONBLOCK);
	return 0;
}

static void
end_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A program may read as much of it as it wants. */
static void
learner_feed(struct learner *learner, struct slice *text)
{
	ssize_t n = write(learner->in, text->p, text->n);

	if (n > 0)
		*text = slice_from(*text, (size_t)n);
	if (text->n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		end_close(&learner->in);
}

static void
learner_hear(struct learner *learner, struct str *said)
{
	char piece[1024];
	ssize_t n = read(learner->out, piece, sizeof(piece));
	size_t room = LEARN_OUTPUT_BYTES_MAX - said->len;

	if (n > 0)
		str_add(said, piece, (size_t)n < room ? (size_t)n : room);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		end_close(&learner->out);
}

/* False: its time is over. */
static bool
learner_talk(struct learner *learner, struct slice text, int64_t end_ms,
    struct str *said)
{
	if (text.n == 0)
		end_close(&learner->in);
	while (learner->in >= 0 || learner->out >= 0) {
		struct pollfd fds[] = {
			{ learner->in, POLLOUT, 0 },
			{ learner->out, POLLIN, 0 },
		};
		int64_t left_ms = end_ms - clock_steady_ms();

		if (left_ms <= 0 || poll(fds, 2, (int)left_ms) == 0)
			return false;
		if (fds[0].revents != 0)
			learner_feed(learner, &text);
		if (fds[1].revents != 0)
			learner_hear(learner, said);
	}
	return true;
}

/* False: it does not end in time.  It is not waited for yet, so that its number
 * stays its own until what it left behind is killed. */
static bool
learner_ends(const struct learner *learner, int64_t end_ms)
{
	const struct timespec pause = { 0, PAUSE_NS };
	siginfo_t info = { 0 };

	while (waitid(P_PID, (id_t)learner->pid, &info, WEXITED | WNOHANG |
	    WNOWAIT) < 0 ? errno == EINTR : info.si_pid == 0) {
		if (clock_steady_ms() >= end_ms)
			return false;
		(void)nanosleep(&pause, NULL);
	}
	return info.si_pid == learner->pid;
}

static int
learner_judge(const struct conf_learn *learn, int status, struct err *err)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status))
		return err_set(err, "%s: exit status %d", learn->program,
		    WEXITSTATUS(status));
	return err_set(err, "%s: ended by signal %d", learn->program,
	    WTERMSIG(status));
}

static int
learner_run(struct learner *learner, const struct conf_learn *learn,
    struct slice text, struct str *out_said, struct err *err)
{
	int64_t end_ms = clock_steady_ms() + learn->timeout_ms;
	int status = 0;
	bool is_over;

	if (learner_start(learner, err) < 0)
		return -1;
	is_over = learner_talk(learner, text, end_ms, out_said) &&
	    learner_ends(learner, end_ms);
	(void)kill(-learner->pid, SIGKILL);
	while (waitpid(learner->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (is_over)
		return learner_judge(learn, status, err);
	return err_set(err, "%s: did not end within %jd s", learn->program,
	    (intmax_t)(learn->timeout_ms / 1000));
}

int
learn_program_run(const struct conf_learn *learn, struct slice text,
    struct str *out_said, struct err *err)
{
	struct learner learner = { .arena = arena_new(), .in = -1, .out = -1 };
	int result = -1;

	(void)signal(SIGPIPE, SIG_IGN);
	if (learner_take_words(&learner, learn->program, err) == 0 &&
	    learner_take_account(&learner, learn->account, err) == 0)
		result = learner_run(&learner, learn, text, out_said, err);
	end_close(&learner.in);
	end_close(&learner.out);
	arena_free(&learner.arena);
	return result;
}
