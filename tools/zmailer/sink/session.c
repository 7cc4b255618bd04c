/* session.c - one client of the sink
 *
 * In     commands and messages
 * Out    replies; a file, a line of JSON, counts
 * Holds  the transaction; one open file while a message comes in
 * Trusts nobody: lines, recipients and unsent replies are bounded
 * Spec   RFC 5321 section 4.1, RFC 2920, RFC 2033
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/smtp/command.h"
#include "grammar/smtp/dot.h"
#include "grammar/smtp/path.h"
#include "io/stream.h"
#include "tools/zmailer/sink/sink.h"

#include "base/banned.h"

enum fault {
	FAULT_NONE, FAULT_SILENCE, FAULT_DROP, FAULT_SLOW, FAULT_GREY,
	FAULT_CODE, FAULT_DATA_DROP, FAULT_DATA_CODE
};

static const struct {
	const char	*name;
	enum fault	 fault;
} fault_rows[] = {
#define FAULT(name, fault, text) { name, fault },
#include "tools/zmailer/sink/faults.h"
#undef FAULT
};

struct session {
	struct sink	*sink;
	struct session	*next, **place;	/* in the sink's list */
	struct stream	*stream;
	struct arena	*arena;		/* of the transaction */
	struct timer	 slow;
	bool		 is_silent, is_over, is_waiting, is_data, has_mail;
	struct slice	 sender;	/* address without brackets */
	struct slice	*rcpts;
	unsigned	*end_codes;	/* of each recipient, LMTP; 0: 250 */
	size_t		 rcpt_count, rcpt_room;
	unsigned	 end_code;	/* SMTP: reply to the dot; 0: 250 */
	bool		 is_end_drop;
	struct dot_reader reader;
	uint64_t	 bytes;
	int		 file_fd;
	char		 file_name[512];
};

static void session_go(struct session *session);

static void
sink_say(struct session *session, const char *line)
{
	stream_say(session->stream, slice_of(line));
	stream_say(session->stream, SLICE("\r\n"));
}

static void
say_code(struct session *session, unsigned code, const char *text)
{
	char line[200];

	snprintf(line, sizeof(line), "%u %u.0.0 %s", code, code / 100, text);
	sink_say(session, line);
}

static void
sink_file_close(struct session *session)
{
	if (session->file_fd >= 0) {
		close(session->file_fd);
		(void)unlink(session->file_name);
	}
	session->file_fd = -1;
}

static void
transaction_reset(struct session *session)
{
	sink_file_close(session);
	arena_reset(session->arena);
	session->has_mail = session->is_data = session->is_end_drop = false;
	session->sender = SLICE("");
	session->rcpts = NULL;
	session->end_codes = NULL;
	session->rcpt_count = session->rcpt_room = 0;
	session->end_code = 0;
	session->bytes = 0;
}

static void
sink_session_free(struct session *session)
{
	*session->place = session->next;
	if (session->next != NULL)
		session->next->place = session->place;
	timer_clear(&session->slow);
	sink_file_close(session);
	stream_free(&session->stream);
	arena_free(&session->arena);
	mem_release(session);
}

/* ---- faults --------------------------------------------------------- */

static bool
sink_code_of(struct slice digits, unsigned *out_code)
{
	uint64_t number;

	if (digits.n != 3 || !slice_number(digits, 400, 599, &number))
		return false;
	*out_code = (unsigned)number;
	return true;
}

static enum fault
sink_fault_of(struct slice local, unsigned *out_code)
{
	if (sink_code_of(local, out_code))
		return FAULT_CODE;
	if (slice_starts(local, "data-") &&
	    sink_code_of(slice_from(local, 5), out_code))
		return FAULT_DATA_CODE;
	for (size_t i = 0; i < sizeof(fault_rows) / sizeof(fault_rows[0]);
	    i++)
		if (slice_is_nocase(local, fault_rows[i].name))
			return fault_rows[i].fault;
	return FAULT_NONE;
}

/* ---- commands ------------------------------------------------------- */

static void
cmd_hello(struct session *session, struct slice args)
{
	transaction_reset(session);
	sink_say(session, "250-sink");
	sink_say(session, "250-PIPELINING");
	sink_say(session, "250-8BITMIME");
	sink_say(session, "250-SMTPUTF8");
	sink_say(session, "250-DSN");
	sink_say(session, "250-ENHANCEDSTATUSCODES");
	sink_say(session, "250 SIZE 0");
}

static void
sink_cmd_helo(struct session *session, struct slice args)
{
	transaction_reset(session);
	sink_say(session, "250 sink");
}

/* "FROM:<a@b>" or "TO:<a@b>": the address, in the arena. */
static bool
sink_address_take(struct session *session, struct slice args,
    const char *keyword, struct slice *out, struct path *out_path)
{
	struct str text = STR_INIT;
	struct slice rest;

	if (!command_keyword(&args, keyword) || path_parse(args,
	    PATH_NULL_OK | PATH_POSTMASTER_OK | PATH_UTF8, out_path, &rest,
	    NULL) != 0) {
		sink_say(session, "501 5.1.3 that is no address");
		return false;
	}
	path_add(&text, out_path);
	*out = slice_copy(session->arena, str_slice(&text));
	str_release(&text);
	return true;
}

static void
sink_cmd_mail(struct session *session, struct slice args)
{
	struct path path;

	if (session->has_mail) {
		sink_say(session, "503 5.5.1 there is a sender already");
		return;
	}
	if (!sink_address_take(session, args, "FROM", &session->sender, &path))
		return;
	session->has_mail = true;
	sink_say(session, "250 2.1.0 ok");
}

static void
rcpt_keep(struct session *session, struct slice rcpt, unsigned end_code)
{
	struct arena *arena = session->arena;

	if (session->rcpt_count == session->rcpt_room) {
		size_t room = session->rcpt_room ? session->rcpt_room * 2 : 8;
		struct slice *rcpts = arena_alloc(arena,
		    room * sizeof(*rcpts));
		unsigned *codes = arena_alloc(arena, room * sizeof(*codes));

		if (session->rcpt_count > 0) {
			memcpy(rcpts, session->rcpts,
			    session->rcpt_count * sizeof(*rcpts));
			memcpy(codes, session->end_codes,
			    session->rcpt_count * sizeof(*codes));
		}
		session->rcpts = rcpts;
		session->end_codes = codes;
		session->rcpt_room = room;
	}
	session->end_codes[session->rcpt_count] = end_code;
	session->rcpts[session->rcpt_count++] = rcpt;
}

static void
slow_over(void *context)
{
	struct session *session = context;

	session->is_waiting = false;
	sink_say(session, "250 2.1.5 ok, at last");
	session_go(session);
}

static void
rcpt_take(struct session *session, struct slice rcpt, struct slice local)
{
	unsigned code = 0;
	enum fault fault = sink_fault_of(local, &code);

	if (fault == FAULT_SILENCE || fault == FAULT_DROP) {
		session->is_silent = true;
		session->is_over = fault == FAULT_DROP;
	} else if (fault == FAULT_CODE) {
		say_code(session, code, code == 421 ?
		    "the sink closes, as asked" : "refused, as asked");
		session->is_over = code == 421;
	} else if (fault == FAULT_GREY &&
	    !sink_grey_seen(session->sink, session->sender, rcpt)) {
		sink_say(session, "450 4.7.1 greylisted, come again");
	} else {
		rcpt_keep(session, rcpt, fault == FAULT_DATA_CODE ? code : 0);
		if (fault == FAULT_DATA_CODE)
			session->end_code = code;
		session->is_end_drop |= fault == FAULT_DATA_DROP;
		session->is_waiting = fault == FAULT_SLOW;
		if (!session->is_waiting)
			sink_say(session, "250 2.1.5 ok");
		else
			timer_set(session->sink->loop, &session->slow,
			    clock_steady_ms() + SINK_SLOW_MS, slow_over,
			    session);
	}
}

static void
sink_cmd_rcpt(struct session *session, struct slice args)
{
	struct slice rcpt;
	struct path path;

	if (!session->has_mail)
		sink_say(session, "503 5.5.1 MAIL comes first");
	else if (session->rcpt_count >= SINK_RCPTS_MAX)
		sink_say(session, "452 4.5.3 too many recipients");
	else if (sink_address_take(session, args, "TO", &rcpt, &path))
		rcpt_take(session, rcpt, path.local);
}

static void
sink_file_open(struct session *session)
{
	static unsigned count;

	if (session->sink->dir == NULL)
		return;
	snprintf(session->file_name, sizeof(session->file_name),
	    "%s/.%lld-%ld-%u", session->sink->dir,
	    (long long)clock_wall_us(), (long)getpid(), ++count);
	session->file_fd = open(session->file_name, O_WRONLY | O_CREAT |
	    O_EXCL | O_CLOEXEC, 0600);
	if (session->file_fd < 0)
		warning("%s: %s", session->file_name, strerror(errno));
}

static void
sink_cmd_data(struct session *session, struct slice args)
{
	if (session->rcpt_count == 0) {
		sink_say(session, "554 5.5.1 no valid recipients");
		return;
	}
	dot_reader_init(&session->reader, false);
	session->is_data = true;
	sink_file_open(session);
	sink_say(session, "354 end with a dot");
}

static void
sink_cmd_rset(struct session *session, struct slice args)
{
	transaction_reset(session);
	sink_say(session, "250 2.0.0 ok");
}

static void
sink_cmd_noop(struct session *session, struct slice args)
{
	sink_say(session, "250 2.0.0 ok");
}

static void
sink_cmd_quit(struct session *session, struct slice args)
{
	sink_say(session, "221 2.0.0 bye");
	session->is_over = true;
}

static const struct {
	const char	*verb;
	void		(*run)(struct session *session, struct slice args);
} command_rows[] = {
	{ "MAIL", sink_cmd_mail }, { "RCPT", sink_cmd_rcpt }, { "DATA",
	    sink_cmd_data },
	{ "EHLO", cmd_hello }, { "LHLO", cmd_hello }, { "HELO", sink_cmd_helo },
	{ "RSET", sink_cmd_rset }, { "NOOP", sink_cmd_noop }, { "VRFY",
	    sink_cmd_noop },
	{ "QUIT", sink_cmd_quit },
};

static void
sink_command(struct session *session, struct slice line)
{
	struct command parsed;

	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	if (command_parse(line, &parsed, NULL) != 0) {
		sink_say(session, "500 5.5.2 that is no command");
		return;
	}
	for (size_t i = 0; i < sizeof(command_rows) /
	    sizeof(command_rows[0]); i++)
		if (slice_is_nocase(parsed.verb, command_rows[i].verb)) {
			command_rows[i].run(session, parsed.args);
			return;
		}
	sink_say(session, "500 5.5.1 the sink does not know this");
}

/* ---- messages ------------------------------------------------------- */

static void
message_print(const struct session *session, const char *file)
{
	struct str line = STR_INIT;

	json_open(&line);
	json_text(&line, "from", session->sender);
	json_list(&line, "to", session->rcpts, session->rcpt_count);
	json_number(&line, "size", (int64_t)session->bytes);
	if (file[0] != '\0')
		json_text(&line, "file", slice_of(file));
	json_close(&line);
	fputs(line.buf, stdout);
	fflush(stdout);
	str_release(&line);
}

/* The saved message gets its name when it is whole. */
static void
file_keep(struct session *session, char *out_name, size_t size)
{
	out_name[0] = '\0';
	if (session->file_fd < 0)
		return;
	snprintf(out_name, size, "%s/%06llu.eml", session->sink->dir,
	    (unsigned long long)session->sink->messages);
	close(session->file_fd);
	session->file_fd = -1;
	if (rename(session->file_name, out_name) != 0)
		warning("%s: %s", out_name, strerror(errno));
}

static void
end_answer(struct session *session, unsigned code)
{
	char line[80];

	if (code != 0) {
		say_code(session, code, "refused after all, as asked");
		return;
	}
	snprintf(line, sizeof(line), "250 2.0.0 sink took it as %llu",
	    (unsigned long long)session->sink->messages);
	sink_say(session, line);
}

static void
sink_message_end(struct session *session)
{
	struct sink *sink = session->sink;
	char name[512];

	session->is_data = false;
	if (session->end_code == 0 || sink->is_lmtp) {
		sink->messages++;
		sink->recipients += session->rcpt_count;
		sink->bytes += session->bytes;
		file_keep(session, name, sizeof(name));
		if (sink->is_json)
			message_print(session, name);
	}
	if (session->is_end_drop)
		session->is_over = session->is_silent = true;
	else if (!sink->is_lmtp)
		end_answer(session, session->end_code);
	for (size_t i = 0; sink->is_lmtp && !session->is_end_drop &&
	    i < session->rcpt_count; i++)
		end_answer(session, session->end_codes[i]);
	transaction_reset(session);
	if (sink->expect > 0 && sink->messages >= sink->expect)
		loop_stop(sink->loop);
}

/* returns false when more bytes are needed. */
static bool
data_take(struct session *session, struct slice in)
{
	static char out[STREAM_INPUT_BYTES_MAX + 2];
	size_t used, n;
	bool is_end = dot_read(&session->reader, in, &used, out, &n);

	session->bytes += n;
	if (session->file_fd >= 0 && n > 0 &&
	    write(session->file_fd, out, n) != (ssize_t)n) {
		warning("%s: %s", session->file_name, strerror(errno));
		sink_file_close(session);
	}
	stream_consume(session->stream, used);
	if (is_end)
		sink_message_end(session);
	return is_end || used > 0;
}

static bool
sink_line_take(struct session *session, struct slice in)
{
	size_t n = slice_find(in, '\n');

	if (n == in.n) {
		if (n > SINK_LINE_BYTES_MAX) {
			sink_say(session, "500 5.5.2 the line is too long");
			session->is_over = true;
		}
		return false;
	}
	sink_command(session, slice_first(in, n));
	stream_consume(session->stream, n + 1);
	return true;
}

/* Everything that has come, as far as it goes. */
static void
input_take(struct session *session)
{
	bool is_more = true;

	while (is_more && !session->is_over && !session->is_waiting) {
		struct slice in = stream_input(session->stream);

		if (session->is_silent) {
			stream_consume(session->stream, in.n);
			return;
		}
		is_more = in.n > 0 && (session->is_data ?
		    data_take(session, in) : sink_line_take(session, in));
	}
}

/* Work, answer, wait; frees the session when it is over. */
static void
session_go(struct session *session)
{
	int sent;

	input_take(session);
	sent = stream_flush(session->stream);
	if (session->is_over || sent < 0 || stream_unsent_bytes(
	    session->stream) > SINK_UNSENT_BYTES_MAX) {
		sink_session_free(session);
		return;
	}
	stream_await(session->stream, !session->is_waiting);
}

static void
session_ready(void *context)
{
	struct session *session = context;
	enum stream_got got = stream_fill(session->stream);

	if (got == STREAM_EOF || got == STREAM_BROKEN) {
		sink_session_free(session);
		return;
	}
	session_go(session);
}

void
sink_drop_all(struct sink *sink)
{
	while (sink->sessions != NULL)
		sink_session_free(sink->sessions);
}

static void
sink_session_new(struct sink *sink, int fd)
{
	struct session *session = mem_alloc(1, sizeof(*session));

	session->sink = sink;
	session->next = sink->sessions;
	session->place = &sink->sessions;
	if (session->next != NULL)
		session->next->place = &session->next;
	sink->sessions = session;
	session->file_fd = -1;
	session->arena = arena_new();
	session->stream = stream_new(sink->loop, fd, session_ready, session);
	transaction_reset(session);
	sink_say(session, "220 sink ESMTP, takes everything");
	session_go(session);
}

void
sink_accept(struct sink *sink, int listener)
{
	for (int i = 0; i < 64; i++) {
		int fd = accept4(listener, NULL, NULL,
		    SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;

		if (fd < 0)
			return;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		sink->connections++;
		sink_session_new(sink, fd);
	}
}
