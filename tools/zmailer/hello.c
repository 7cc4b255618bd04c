/* hello.c - zmailer hello: one message, followed to its end
 *
 * In     an address; the journal as it grows
 * Out    a line for each stage; exit status 0 delivered, 75 it waits,
 *        69 it failed or nothing runs
 * Holds  today's journal, open from before the message was handed in
 * Trusts nothing in events: what is printed is escaped
 * Spec   zmailer-hello(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "journal/event.h"
#include "base/json.h"
#include "grammar/smtp/path.h"
#include "grammar/units.h"
#include "mail/spool/spool.h"
#include "tools/journal/journal.h"
#include "tools/submit/submit.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum {
	HELLO_MS = 60000,		/* followed so long, unless said */
	LOOK_EVERY_MS = 20,
	READ_BYTES = 65536
};

struct hello {
	const struct conf *conf;
	const char	*to, *from;
	int64_t		 wait_ms;
	bool		 is_json;
	char		 id[SPOOL_ID_BYTES];
	int		 fd;		/* of the journal; -1 none yet */
	char		 day[16];
	struct str	 pending;	/* read, no whole line yet */
	int64_t		 begin_ms;	/* wall */
	bool		 is_over;
	int		 status;
};

/* ---- the message -------------------------------------------------------- */

static int
text_write(const struct hello *hello, int fd)
{
	char date[CLOCK_TEXT_BYTES];
	struct str text = STR_INIT;
	int result;

	clock_rfc5322(clock_wall_s(), date);
	str_addf(&text, "From: %s\nTo: %s\nSubject: hello from %s\nDate: %s\n"
	    "Auto-Submitted: auto-generated\n\n"
	    "This message was sent by `zmailer hello` on %s, to see how mail "
	    "travels.\n", hello->from, hello->to, hello->conf->host, date,
	    hello->conf->host);
	result = write(fd, text.buf, text.len) == (ssize_t)text.len ? 0 : -1;
	str_release(&text);
	return result;
}

static int
hello_hand_in(struct hello *hello)
{
	const char *rcpts[] = { hello->to };
	struct submission what = { .sender = hello->from, .rcpts = rcpts,
		.rcpt_count = 1, .out_id = hello->id };
	struct conf_brief brief;
	int ends[2], status;

	conf_brief_of(hello->conf, &brief);
	/* far smaller than a pipe holds */
	if (pipe2(ends, O_CLOEXEC) < 0)
		return EX_OSERR;
	status = text_write(hello, ends[1]) == 0 ? EX_OK : EX_OSERR;
	close(ends[1]);
	if (status == EX_OK)
		status = submit_message(&brief, &what, ends[0]);
	close(ends[0]);
	return status;
}

/* ---- its life ----------------------------------------------------------- */

static void
journal_reach(struct hello *hello, bool at_end)
{
	char now[CLOCK_TEXT_BYTES], path[4200];

	clock_rfc3339(clock_wall_us(), now);
	if (hello->fd >= 0 && strncmp(now, hello->day, 10) == 0)
		return;
	if (hello->fd >= 0)
		close(hello->fd);
	str_reset(&hello->pending);
	snprintf(hello->day, sizeof(hello->day), "%.10s", now);
	snprintf(path, sizeof(path), "%s/events-%s.jsonl",
	    hello->conf->log_dir, hello->day);
	hello->fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (hello->fd >= 0 && at_end)
		(void)lseek(hello->fd, 0, SEEK_END);
}

/* What an event means for this check: -1: continue; else the result. */
static const struct stage {
	const char	*event;
	bool		 is_told;	/* by us already */
	int		 status;
} stages[] = {
	{ "message.accepted", true, -1 },
	{ "rcpt.defer", false, EX_TEMPFAIL },
	{ "rcpt.fail", false, EX_UNAVAILABLE },
	{ "message.deferred", false, EX_TEMPFAIL },
	{ "message.frozen", false, EX_TEMPFAIL },
	{ "message.postman", false, EX_TEMPFAIL },
	{ "message.discarded", false, EX_UNAVAILABLE },
	{ "message.done", false, EX_OK },
};

static void
put_line(const struct hello *hello, struct slice line)
{
	int64_t ms = journal_line_ms(line) - hello->begin_ms;
	struct str text = STR_INIT, sentence = STR_INIT;

	if (hello->is_json) {
		json_add_answer(&text, line);
	} else {
		str_addf(&text, "%6lld ms  ", (long long)(ms < 0 ? 0 : ms));
		journal_tell(line, &sentence);
		journal_wrap(str_slice(&sentence), (unsigned)text.len, &text);
	}
	fputs(text.buf, stdout);
	fflush(stdout);
	str_release(&text);
	str_release(&sentence);
}

static void
hello_take_line(struct hello *hello, struct slice line)
{
	struct str event = STR_INIT;
	const struct stage *stage = NULL;

	if (!slice_is(journal_line_id(line), hello->id) ||
	    !json_get(line, "ev", &event)) {
		str_release(&event);
		return;
	}
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		if (strcmp(stages[i].event, event.buf) == 0)
			stage = &stages[i];
	if (hello->is_json || stage == NULL || !stage->is_told)
		put_line(hello, line);
	if (stage != NULL && stage->status > EX_OK &&
	    hello->status != EX_UNAVAILABLE)
		hello->status = stage->status;
	/* what waits is the end of this look; a failure is followed until
	 * all is done */
	if (stage != NULL && (stage->status == EX_OK ||
	    stage->status == EX_TEMPFAIL))
		hello->is_over = true;
	str_release(&event);
}

static bool
hello_look(struct hello *hello)
{
	struct slice rest;
	ssize_t n;
	size_t end;

	journal_reach(hello, false);
	n = hello->fd < 0 ? 0 : read(hello->fd,
	    str_room(&hello->pending, READ_BYTES), READ_BYTES);
	if (n <= 0)
		return false;
	hello->pending.len += (size_t)n;
	hello->pending.buf[hello->pending.len] = '\0';
	rest = str_slice(&hello->pending);
	while (!hello->is_over && (end = slice_find(rest, '\n')) != rest.n) {
		hello_take_line(hello, slice_first(rest, end));
		rest = slice_from(rest, end + 1);
	}
	str_consume(&hello->pending, hello->pending.len - rest.n);
	return true;
}

static int
hello_follow(struct hello *hello)
{
	const struct timespec nap = { .tv_nsec = LOOK_EVERY_MS * 1000000L };
	int64_t end_ms = clock_steady_ms() + hello->wait_ms;

	while (!hello->is_over) {
		if (hello_look(hello))
			continue;
		if (clock_steady_ms() > end_ms) {
			fprintf(stderr, "zmailer: hello: not at its end yet: "
			    "zmailer trace %s, zmailer why %s\n", hello->id,
			    hello->id);
			return EX_TEMPFAIL;
		}
		(void)nanosleep(&nap, NULL);
	}
	if (hello->is_json)
		return hello->status;
	if (hello->status == EX_OK)
		printf("hello: delivered\n");
	else if (hello->status == EX_TEMPFAIL)
		printf("hello: it waits and is tried again: zmailer why %s\n",
		    hello->id);
	else
		printf("hello: it failed; its sender gets a report\n");
	return hello->status;
}

/* ---- the command line --------------------------------------------------- */

static bool
hello_is_address(const char *text)
{
	struct slice rest = slice_of(text);

	if (rest.n == 0 || rest.n > 320 || rest.p[0] == '-')
		return false;
	for (size_t i = 0; i < rest.n; i++)
		if ((unsigned char)rest.p[i] <= 32 || rest.p[i] == 127 ||
		    ascii_is_among(rest.p[i], "<>,;:()\\\""))
			return false;
	return true;
}

/* When the message got its id: the router may have it before the call that
 * handed it in returns. */
static int64_t
hello_accepted_ms(const struct hello *hello)
{
	int64_t ms = spool_id_time_us(slice_of(hello->id)) / 1000 -
	    hello->begin_ms;

	return ms > 0 ? ms : 0;
}

static int
say_hello(struct hello *hello)
{
	char text[256];
	pid_t pid;
	int status;

	if (spool_lock_holder(hello->conf->spool_dir, text, sizeof(text),
	    &pid) != SPOOL_LOCK_HELD) {
		fprintf(stderr, "zmailer: hello: zmailer does not run, "
		    "nothing was sent: nobody has the lock of %s; `zmailer "
		    "start` starts it\n", hello->conf->spool_dir);
		return EX_UNAVAILABLE;
	}
	if (hello->to == NULL)
		hello->to = hello->conf->postmaster;
	if (hello->from == NULL)
		hello->from = hello->conf->postmaster;
	event_open(hello->conf->log_dir);
	hello->begin_ms = clock_wall_us() / 1000;
	journal_reach(hello, true);
	status = hello_hand_in(hello);
	if (status != EX_OK)
		return status;
	if (!hello->is_json)
		printf("to %s\n%6lld ms  accepted   id %s\n", hello->to,
		    (long long)hello_accepted_ms(hello),
		    hello->id);
	return hello_follow(hello);
}

int
verb_hello(struct arguments *arguments)
{
	struct hello hello = { .fd = -1, .pending = STR_INIT,
	    .to = arguments_word(arguments, 0),
	    .from = arguments_text(arguments, OPT_FROM),
	    .wait_ms = arguments_number(arguments, OPT_TIMEOUT, HELLO_MS),
	    .is_json = arguments_has(arguments, OPT_JSON) };
	int status;
	struct conf *conf;

	if ((hello.to != NULL && !hello_is_address(hello.to)) ||
	    (hello.from != NULL && !hello_is_address(hello.from)))
		return arguments_refuse(arguments, "one address is wanted, "
		    "like alice@example.org");
	conf = verb_conf(arguments->conf_path);
	hello.conf = conf;
	status = say_hello(&hello);
	if (hello.fd >= 0)
		close(hello.fd);
	str_release(&hello.pending);
	conf_free(&conf);
	return status;
}
