/* order.c - one message for one program: input, environment, verdict
 *
 * In     a command, whose it is, the message
 * Out    the program run to its end; a verdict
 * Holds  the message in an unlinked file until then
 * Trusts its caller to have found out whose command it is
 * Spec   zmailer-pipe(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grammar/smtp/xtext.h"
#include "transports/pipe/command.h"
#include "transports/pipe/order.h"

#include "base/banned.h"

enum { MEMORY_BYTES_MAX = 4 << 20, VARIABLES_MAX = 16 };

/* ---- the message ------------------------------------------------------- */

/* A file without a name: in memory when the message is small. */
int
order_file(uint64_t size_bytes, struct err *err)
{
	FILE *file;
	int fd = -1;

#ifdef MFD_CLOEXEC
	if (size_bytes <= MEMORY_BYTES_MAX)
		fd = memfd_create("message", MFD_CLOEXEC);
	if (fd >= 0)
		return fd;
#endif
	file = tmpfile();
	if (file != NULL) {
		fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
		fclose(file);
	}
	return fd >= 0 ? fd : err_sys(err, "a file for the message");
}

/* The message as this recipient's program reads it: From_ line,
 * Return-Path, Delivered-To, header, body. */
static int
order_make_message(const struct job_content *content, uint64_t size_bytes,
    const char *recipient, struct err *err)
{
	struct str trace = STR_INIT;
	uint64_t bytes;
	int fd = order_file(size_bytes, err);

	if (fd < 0)
		return -1;
	str_addf(&trace, "Delivered-To: %s\n", recipient);
	if (content_write(content, fd, str_slice(&trace), &bytes, err) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		fd = -1;
	}
	str_release(&trace);
	return fd;
}

/* ---- environment ------------------------------------------------------- */

struct environment {
	struct arena	*arena;
	char		**variables;
	size_t		 count;
};

static void
order_variable(struct environment *environment, const char *name,
    struct slice value)
{
	struct str text = STR_INIT;

	if (environment->count == VARIABLES_MAX)
		return;
	str_addf(&text, "%s=", name);
	command_add_value(&text, value);
	environment->variables[environment->count++] =
	    arena_dup(environment->arena, text.buf, text.len);
	str_release(&text);
}

/* Nothing of our own environment but the time zone. */
char **
order_environment(struct arena *arena, const struct control_job *job,
    const struct account *owner, const char *recipient)
{
	struct environment environment = { .arena = arena,
	    .variables = arena_alloc(arena,
	    (VARIABLES_MAX + 1) * sizeof(char *)) };
	struct slice name = slice_of(owner->name);

	order_variable(&environment, "PATH",
	    SLICE("/usr/local/bin:/usr/bin:/bin"));
	order_variable(&environment, "SHELL", SLICE("/bin/sh"));
	order_variable(&environment, "HOME", slice_of(owner->home));
	order_variable(&environment, "USER", name);
	order_variable(&environment, "LOGNAME", name);
	order_variable(&environment, "SENDER",
	    job->sender.n > 0 ? job->sender : SLICE("MAILER-DAEMON"));
	order_variable(&environment, "RECIPIENT", slice_of(recipient));
	order_variable(&environment, "ZMAILER_ID", slice_of(job->id));
	if (getenv("TZ") != NULL)
		order_variable(&environment, "TZ", slice_of(getenv("TZ")));
	return environment.variables;
}

/* ---- the order --------------------------------------------------------- */

/* The address it was sent to, if the envelope tells (RFC 3461 section 4.2),
 * else the owner's. */
static const char *
order_recipient(struct arena *arena, const struct conf *conf,
    const struct control_rcpt *rcpt, const struct account *owner)
{
	struct slice rest = rcpt->orcpt, type;
	struct str text = STR_INIT, plain = STR_INIT;
	const char *result;

	if (slice_cut(&rest, ';', &type) && rest.p != NULL &&
	    xtext_decode(rest, &plain, NULL) == 0 && plain.len > 0)
		command_add_value(&text, str_slice(&plain));
	else
		str_addf(&text, "%s@%s", owner->name, conf->host);
	result = arena_dup(arena, text.buf, text.len);
	str_release(&plain);
	str_release(&text);
	return result;
}

/* What a shell would understand, and we do not. */
static bool
order_needs_shell(struct slice command)
{
	static const char meta[] = "|&;<>()$`*?[]{}~#=\n";

	for (size_t i = 0; i < command.n; i++)
		if (command.p[i] != '\0' &&
		    strchr(meta, command.p[i]) != NULL)
			return true;
	return slice_starts(command, "exec ");
}

static int
order_make_words(const struct pipe_order *order, char ***out, struct err *err)
{
	struct slice command = slice_trim(order->command);

	if (!order->shell_ok || !order_needs_shell(command) ||
	    command.n > COMMAND_BYTES_MAX)
		return command_split(order->arena, command, out, err);
	*out = arena_alloc(order->arena, 4 * sizeof(char *));
	(*out)[0] = slice_dup(order->arena, SLICE("/bin/sh"));
	(*out)[1] = slice_dup(order->arena, SLICE("-c"));
	(*out)[2] = slice_dup(order->arena, command);
	return 1;
}

void
order_run(const struct pipe_order *order, struct verdict *verdict)
{
	const struct account *owner = order->owner;
	const struct conf *conf = order->conf;
	struct pipe_program program = {
		.owner = owner, .timeout_ms = conf->timeouts.job_ms,
		.memory_bytes = conf->limits.program_memory_bytes,
		.output_bytes = conf->limits.program_output_bytes,
		.directory = owner->home[0] != '\0' ? owner->home : "/" };
	struct program_end end;
	const char *recipient;
	struct err err;

	if (order_make_words(order, &program.argv, &err) < 0) {
		verdict_set(verdict, VERDICT_FAILED, "5.3.5", "pipe", "%s",
		    err.text);
		return;
	}
	recipient = order->recipient != NULL ? order->recipient :
	    order_recipient(order->arena, conf, order->rcpt, owner);
	program.message_fd = order_make_message(order->content,
	    order->job->size_bytes, recipient, &err);
	if (program.message_fd < 0) {
		verdict_set(verdict, VERDICT_DEFERRED, "4.3.0", "pipe", "%s",
		    err.text);
		return;
	}
	program.environment = order_environment(order->arena, order->job,
	    owner, recipient);
	program_run(&program, &end);
	close(program.message_fd);
	program_verdict(&end, verdict);
}
