/* wait.c - follow a message until its first attempt is over
 *
 * In     a spool id, the scheduler's socket
 * Out    lines for people
 * Trusts the scheduler to tell a user of no mail but the user's own
 * Spec   sendmail(1), -v and -odi; doc/protocol/control.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/queue/control.h"
#include "tools/sendmail/wait.h"

#include "base/banned.h"

enum { LOOK_EVERY_MS = 50, ROUTING_MS = 5000 };

struct watch_mail {
	bool		 is_verbose;
	bool		 was_seen;	/* the scheduler has, or had it */
	unsigned	 lines, untried;
	struct str	 last, now;
};

static bool
rcpt_seen(void *context, struct slice line)
{
	struct watch_mail *mail = context;
	struct str to = STR_INIT, state = STR_INIT, text = STR_INIT;

	if (json_get(line, "to", &to) && json_get(line, "state", &state)) {
		mail->lines++;
		/* the agent's record comes before its verdict: while it has
		 * the recipient the attempt is not over */
		mail->untried += json_get_number(line, "tries") == 0 ||
		    slice_is(str_slice(&state), "active");
		(void)json_get(line, "text", &text);
		str_add_escaped(&mail->now, str_slice(&to));
		str_adds(&mail->now, ": ");
		str_add_escaped(&mail->now, str_slice(&state));
		if (text.len > 0)
			str_adds(&mail->now, ", ");
		str_add_escaped(&mail->now, str_slice(&text));
		str_addc(&mail->now, '\n');
	}
	str_release(&to);
	str_release(&state);
	str_release(&text);
	return true;
}

/* True: there is more to wait for. */
static bool
sendmail_wait_look(struct control *control, struct watch_mail *mail,
    const char *id,
    int64_t waited_ms)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct err err;
	int result;

	mail->lines = mail->untried = 0;
	str_reset(&mail->now);
	control_begin(&request, "list");
	json_text(&request, "id", slice_of(id));
	result = control_ask(control, &request, rcpt_seen, mail, &last, &err);
	str_release(&request);
	str_release(&last);
	if (mail->is_verbose && mail->now.len > 0 &&
	    strcmp(mail->now.buf, mail->last.len ? mail->last.buf : "") != 0) {
		fputs(mail->now.buf, stdout);
		fflush(stdout);
		str_reset(&mail->last);
		str_add_slice(&mail->last, str_slice(&mail->now));
	}
	mail->was_seen |= mail->lines > 0;
	if (result < 0 || mail->lines == 0)
		return !mail->was_seen && waited_ms < ROUTING_MS;
	return mail->untried > 0;
}

void
sendmail_wait(const struct conf_brief *conf, const char *id,
    bool is_verbose)
{
	const struct timespec nap = { .tv_nsec = LOOK_EVERY_MS * 1000000L };
	struct watch_mail mail = { .is_verbose = is_verbose,
	    .last = STR_INIT, .now = STR_INIT };
	int64_t begun_ms = clock_steady_ms(), waited_ms = 0;
	struct control control;
	struct err err;

	if (is_verbose) {
		printf("%s: on disk\n", id);
		fflush(stdout);
	}
	if (control_connect(conf->run_dir, &control, &err) !=
	    CONTROL_REACHED) {
		if (is_verbose)
			printf("%s: waits for the mail system to run\n", id);
		return;
	}
	while (waited_ms < WAIT_MS && sendmail_wait_look(&control, &mail, id,
	    waited_ms)) {
		(void)nanosleep(&nap, NULL);
		waited_ms = clock_steady_ms() - begun_ms;
	}
	if (is_verbose && mail.lines == 0)
		printf("%s: %s\n", id, mail.was_seen || waited_ms >=
		    ROUTING_MS ? "done" : "gone");
	control_hang_up(&control);
	str_release(&mail.last);
	str_release(&mail.now);
}
