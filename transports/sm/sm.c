/* sm.c - the agent of programs named in sm.conf: uux, procmail, batch SMTP
 *
 * In     jobs; the mailer is the agent's argument, or what stands in the
 *        host in front of the first slash
 * Out    programs run, with the message as their flags want it; verdicts
 * Holds  the text of sm.conf
 * Trusts sm.conf, when it is root's or our own
 * Spec   zmailer-sm(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transports/pipe/order.h"
#include "transports/sm/batch.h"

#include "transports/frame/agent.h"

#include "base/banned.h"

struct sm {
	const char	*path;		/* of sm.conf */
	struct slice	 mailer;	/* empty: the host names it */
	struct str	 text;
};

/* ---- start ------------------------------------------------------------- */

static int
sm_take_arguments(struct agent_run *run, struct sm *sm, struct err *err)
{
	for (int i = 0; i < run->word_count; i++) {
		const char *word = run->words[i];
		bool has_value = i + 1 < run->word_count;

		if (strcmp(word, "-f") == 0 && has_value)
			sm->path = run->words[++i];
		else if ((strcmp(word, "-c") == 0 ||
		    strcmp(word, "-h") == 0) && has_value)
			i++;		/* the scheduler says it in each job */
		else if (strcmp(word, "-8") == 0)
			continue;
		else if (word[0] == '-')
			return err_set(err, "sm: option %.20s is not known: "
			    "-f FILE, -8, -c and -h are", word);
		else
			sm->mailer = slice_of(word);
	}
	return 0;
}

static int
sm_read_file(struct sm *sm, struct err *err)
{
	int fd = open(sm->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return err_sys(err, "%s", sm->path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (st.st_uid != 0 && st.st_uid != geteuid()) ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		close(fd);
		return err_set(err, "%s must be a file that only root or we "
		    "can write", sm->path);
	}
	str_reset(&sm->text);
	n = read(fd, str_room(&sm->text, MAILER_FILE_BYTES_MAX),
	    MAILER_FILE_BYTES_MAX);
	close(fd);
	if (n < 0)
		return err_sys(err, "read %s", sm->path);
	sm->text.len = (size_t)n;
	sm->text.buf[n] = '\0';
	return 0;
}

static void
sm_finish(struct agent_run *run)
{
	struct sm *sm = run->state;

	str_release(&sm->text);
	mem_free(&sm);
	run->state = NULL;
}

static int
sm_start(struct agent_run *run, struct err *err)
{
	struct sm *sm = mem_alloc(1, sizeof(*sm));

	sm->path = ZM_SYSCONFDIR "/zmailer/sm.conf";
	str_init(&sm->text);
	run->state = sm;
	if (sm_take_arguments(run, sm, err) == 0 && sm_read_file(sm, err) == 0)
		return 0;
	sm_finish(run);
	return -1;
}

/* ---- a run ------------------------------------------------------------- */

struct sm_run {
	struct agent_run	*run;
	const struct mailer	*mailer;
	struct slice		 host;
	const struct control_job	*job;
	int			 body_fd;
	const struct control_rcpt	**rcpts;
	size_t			 rcpt_count;
};

static int
sm_add_word(const struct sm_run *sm, struct slice word,
    const struct control_rcpt *rcpt, char **argv, size_t *count,
    struct err *err)
{
	struct str text = STR_INIT;
	struct slice sender = sm->job->sender.n > 0 ? sm->job->sender :
	    SLICE("MAILER-DAEMON");
	int got = mailer_word(word, sender, sm->host, rcpt->user, &text, err);

	argv[(*count)++] = arena_dup(sm->run->arena, text.buf, text.len);
	str_release(&text);
	return got;
}

static int
sm_make_argv(const struct sm_run *sm, char ***out, struct err *err)
{
	const struct mailer *mailer = sm->mailer;
	size_t count = 0, capacity = mailer->word_count *
	    (sm->rcpt_count + 1) + 4;
	char **argv = arena_alloc(sm->run->arena, capacity * sizeof(char *));

	for (size_t i = 0; i < mailer->word_count; i++) {
		bool repeats = mailer_word_is_rcpt(mailer->words[i]);

		for (size_t k = 0; k < (repeats ? sm->rcpt_count : 1); k++)
			if (sm_add_word(sm, mailer->words[i], sm->rcpts[k],
			    argv, &count, err) < 0)
				return -1;
		if (i > 0 || (!mailer_has(mailer, 'f') &&
		    !mailer_has(mailer, 'r')))
			continue;
		argv[count++] = slice_dup(sm->run->arena,
		    mailer_has(mailer, 'f') ? SLICE("-f") : SLICE("-r"));
		if (sm_add_word(sm, SLICE("$g"), sm->rcpts[0], argv, &count,
		    err) < 0)
			return -1;
	}
	*out = argv;
	return 0;
}

/* Flag S: the agent's own account; else the recipient's, or nobody. */
static int
sm_find_owner(const struct sm_run *sm, struct account *out, struct err *err)
{
	const struct account *found = NULL;
	const char *name = sm->run->conf->accounts[ROLE_AGENT];
	enum account_found got;

	if (!account_is_root()) {
		account_of_ids(geteuid(), getegid(), out);
		return 0;
	}
	got = mailer_has(sm->mailer, 'S') ?
	    account_by_name(slice_of(name), &found, err) :
	    account_by_uid(sm->rcpts[0]->uid, &found, err);
	if (got == ACCOUNT_FOUND)
		*out = *found;
	if (got == ACCOUNT_NONE)
		err_set(err, "there is no account to run it as");
	return got == ACCOUNT_FOUND ? 0 : -1;
}

static void
sm_execute(const struct sm_run *sm, char **argv,
    const struct account *owner, struct verdict *out)
{
	const struct conf *conf = sm->run->conf;
	const struct batch batch = { sm->mailer, conf->host, sm->job,
	    sm->body_fd, sm->rcpts, sm->rcpt_count };
	struct pipe_program program = {
		.path = slice_dup(sm->run->arena, sm->mailer->program),
		.argv = argv, .owner = owner, .directory = "/",
		.timeout_ms = conf->timeouts.job_ms,
		.memory_bytes = conf->limits.program_memory_bytes,
		.output_bytes = conf->limits.program_output_bytes };
	struct program_end end;
	struct err err;

	program.message_fd = order_file(sm->job->size_bytes, &err);
	if (program.message_fd < 0 ||
	    batch_write(&batch, program.message_fd, &err) < 0 ||
	    lseek(program.message_fd, 0, SEEK_SET) < 0) {
		verdict_set(out, VERDICT_DEFERRED, "4.3.0", "sm", "%s",
		    err.text);
	} else {
		program.environment = order_environment(sm->run->arena,
		    sm->job, owner, slice_dup(sm->run->arena,
		    sm->rcpts[0]->user));
		program_run(&program, &end);
		program_verdict(&end, out);
	}
	if (program.message_fd >= 0)
		close(program.message_fd);
}

static void
sm_serve(const struct sm_run *sm, struct verdict *out)
{
	struct account owner;
	struct err err = { "" };
	char **argv;

	if (sm_make_argv(sm, &argv, &err) < 0)
		verdict_set(out, VERDICT_FAILED, "5.1.3", "sm", "%s",
		    err.text);
	else if (sm_find_owner(sm, &owner, &err) < 0)
		verdict_set(out, VERDICT_DEFERRED, "4.3.0", "sm", "%s",
		    err.text);
	else
		sm_execute(sm, argv, &owner, out);
}

/* ---- a job ------------------------------------------------------------- */

/* "uucp/hub": mailer and $h; with a mailer of the agent's own all of it is
 * $h. */
static struct slice
sm_mailer_name(const struct sm *sm, struct slice *host)
{
	size_t slash = slice_find(*host, '/');
	struct slice name = slice_first(*host, slash);

	if (sm->mailer.n > 0)
		return sm->mailer;
	*host = slice_from(*host, slash + 1);
	return name;
}

static void
sm_defer_all(struct control_job *job, const char *text,
    struct verdict verdicts[])
{
	for (size_t i = 0; i < job->rcpt_count; i++)
		verdict_set(&verdicts[i], VERDICT_DEFERRED, "4.3.5", "sm",
		    "%s", text);
}

/* Recipients of one uid may share a run. */
static size_t
sm_neighbours(const struct mailer *mailer, const struct control_job *job,
    size_t first)
{
	size_t count = 1;

	while (mailer_has(mailer, 'm') && first + count < job->rcpt_count &&
	    job->rcpts[first + count].uid == job->rcpts[first].uid)
		count++;
	return count;
}

static int
sm_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct sm *sm = run->state;
	struct sm_run one = { .run = run, .host = job->host, .job = job,
	    .body_fd = body_fd };
	struct mailer mailer;
	struct err err = { "" };
	struct slice name = sm_mailer_name(sm, &one.host);
	enum mailer_found got = mailer_find(str_slice(&sm->text), name, &mailer,
	    &err);

	if (got == MAILER_NONE)
		err_set(&err, "%s has no mailer " SLICE_FMT, sm->path,
		    SLICE_ARG(slice_first(name, 40)));
	if (got != MAILER_FOUND) {
		sm_defer_all(job, err.text, verdicts);
		return 0;
	}
	one.mailer = &mailer;
	one.rcpts = arena_alloc(run->arena,
	    job->rcpt_count * sizeof(struct control_rcpt *));
	for (size_t i = 0; i < job->rcpt_count; i += one.rcpt_count) {
		one.rcpt_count = sm_neighbours(&mailer, job, i);
		for (size_t k = 0; k < one.rcpt_count; k++)
			one.rcpts[k] = &job->rcpts[i + k];
		sm_serve(&one, &verdicts[i]);
		for (size_t k = 1; k < one.rcpt_count; k++)
			verdicts[i + k] = verdicts[i];
	}
	return 0;
}

static const struct agent_kind sm = {
	.name = "sm",
	.purpose = "gives mail to the programs of sm.conf",
	.channel = "sm",
	.takes = "[-f FILE] [-8] [MAILER]",
	.start = sm_start,
	.job = sm_job,
	.finish = sm_finish,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &sm);
}
