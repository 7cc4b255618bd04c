/* vet.c - who is delivered as whom is said by this node alone
 *
 * In     a control file of another node; what our router says of an address
 * Out    the same, or with recipients that are routed again
 * Holds  a process `router --ask`, and its last answer
 * Trusts no line of the control file: what the router does not say, or has no
 *        answer to, is in doubt
 * Spec   vet.h; router/ask/ask.h; doc/SECURITY.md, share
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "conf/route_value.h"
#include "daemon/skeleton.h"
#include "grammar/smtp/path.h"
#include "grammar/smtp/xtext.h"
#include "io/ipc.h"
#include "journal/event.h"
#include "mail/control_file/control_file.h"
#include "mail/envelope.h"
#include "tools/copies/vet.h"

#include "base/banned.h"

enum {
	VET_PATIENCE_S = 30,		/* for a line of the router */
	VET_ROWS_MAX = 1 << 20		/* of an answer */
};

struct vet {
	const struct conf *conf;
	struct arena	*arena;		/* of a control file */
	/* the router; -1: it does not run, and is_dead: it will not */
	int		 router;
	pid_t		 pid;
	bool		 is_dead;
	struct ipc_inbox inbox;
	size_t		 cursor;	/* lines of it that were read */
	/* its last answer: "channel host user uid", sorted */
	struct str	 question;
	struct arena	*answer;
	char		**rows;
	size_t		 count, room;
	/* what is looked at */
	const char	*id, *node;
	struct str	 text;
};

/* ---- the router ---------------------------------------------------------- */

static void vet_become_router(const struct vet *vet, const char *path, int fd)
	__attribute__((noreturn));
static void
vet_become_router(const struct vet *vet, const char *path, int fd)
{
	(void)signal(SIGPIPE, SIG_DFL);
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	closefrom(STDERR_FILENO + 1);
	conf_hand_on(vet->conf);
	execl(path, "router", "--ask", (char *)NULL);
	_exit(127);
}

static void
vet_end_router(struct vet *vet)
{
	int status;

	if (vet->router >= 0)
		close(vet->router);
	vet->router = -1;
	if (vet->pid <= 0)
		return;
	(void)kill(vet->pid, SIGTERM);
	while (waitpid(vet->pid, &status, 0) < 0 && errno == EINTR)
		;
	vet->pid = 0;
}

static void
vet_start_router(struct vet *vet)
{
	const struct timeval most = { VET_PATIENCE_S, 0 };
	char path[PATH_MAX];
	int pair[2];

	daemon_libexec("router", path, sizeof(path));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		vet->is_dead = true;
		return;
	}
	(void)setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &most,
	    sizeof(most));
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &most,
	    sizeof(most));
	fflush(stdout);
	vet->pid = fork();
	if (vet->pid == 0)
		vet_become_router(vet, path, pair[1]);
	close(pair[1]);
	vet->router = pair[0];
	vet->is_dead = vet->pid < 0;
}

/* false: it does not run, or said nothing in time; it is not asked again. */
static bool
vet_say(struct vet *vet)
{
	if (vet->router < 0 && !vet->is_dead)
		vet_start_router(vet);
	vet->is_dead = vet->is_dead || ipc_send(vet->router,
	    str_slice(&vet->question), NULL, 0) !=
	    (ssize_t)vet->question.len;
	return !vet->is_dead;
}

static bool
vet_hear(struct vet *vet, struct slice *out)
{
	enum ipc_line_answer got;

	while ((got = ipc_line(&vet->inbox, &vet->cursor, out)) ==
	    IPC_LINE_NONE && !vet->is_dead) {
		ipc_inbox_consume(&vet->inbox, vet->cursor);
		vet->cursor = 0;
		vet->is_dead = ipc_receive(vet->router, &vet->inbox) !=
		    IPC_GOT;
	}
	vet->is_dead = vet->is_dead || got != IPC_LINE;
	if (!vet->is_dead)
		*out = slice_trim(*out);
	return !vet->is_dead;
}

/* ---- what it says -------------------------------------------------------- */

/* One row, as the answer and the control file have it; an empty host and "-"
 * are the same. */
static void
vet_add_row(struct str *out, struct slice channel, struct slice host,
    struct slice user, struct slice uid)
{
	str_reset(out);
	str_addf(out, SLICE_FMT " " SLICE_FMT " " SLICE_FMT " " SLICE_FMT,
	    SLICE_ARG(channel), SLICE_ARG(host.n == 0 ? SLICE("-") : host),
	    SLICE_ARG(user), SLICE_ARG(uid));
}

static void
vet_take_row(struct vet *vet, struct slice line)
{
	struct str channel = STR_INIT, host = STR_INIT, user = STR_INIT;
	struct str uid = STR_INIT;

	if (vet->count < VET_ROWS_MAX && json_get(line, "channel", &channel) &&
	    json_get(line, "host", &host) && json_get(line, "user", &user) &&
	    json_get(line, "uid", &uid)) {
		if (vet->count == vet->room) {
			vet->room = vet->room * 2 + 16;
			vet->rows = mem_grow(vet->rows, vet->room,
			    sizeof(*vet->rows));
		}
		vet_add_row(&vet->text, str_slice(&channel), str_slice(&host),
		    str_slice(&user), str_slice(&uid));
		vet->rows[vet->count++] = arena_dup(vet->answer,
		    vet->text.buf, vet->text.len);
	}
	str_release(&channel);
	str_release(&host);
	str_release(&user);
	str_release(&uid);
}

static int
vet_row_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Ask about the address, of a message from that sender. */
static void
vet_ask(struct vet *vet, const struct control_file *control,
    struct slice sender, struct slice address)
{
	bool is_user = control->user.n > 0;
	struct str question = STR_INIT;
	struct slice line;

	str_addf(&question, "way " SLICE_FMT "\t" SLICE_FMT "\t" SLICE_FMT
	    "\t" SLICE_FMT "\n", SLICE_ARG(address), SLICE_ARG(sender),
	    SLICE_ARG(is_user ? SLICE("") : control->source),
	    SLICE_ARG(control->user));
	if (slice_equal(str_slice(&question), str_slice(&vet->question))) {
		str_release(&question);
		return;			/* of a list: its answer is here */
	}
	str_release(&vet->question);
	vet->question = question;
	arena_reset(vet->answer);
	vet->count = 0;
	if (!vet_say(vet))
		return;
	while (vet_hear(vet, &line) && line.n > 0)
		vet_take_row(vet, line);
	if (vet->count > 1)
		qsort(vet->rows, vet->count, sizeof(*vet->rows),
		    vet_row_compare);
}

static bool
vet_answer_has(struct vet *vet, const struct control_rcpt *rcpt)
{
	char *row;

	/* what follows a NUL would not be compared */
	if (memchr(rcpt->user.p, '\0', rcpt->user.n) != NULL ||
	    memchr(rcpt->host.p, '\0', rcpt->host.n) != NULL ||
	    memchr(rcpt->channel.p, '\0', rcpt->channel.n) != NULL)
		return false;
	vet_add_row(&vet->text, rcpt->channel, rcpt->host, rcpt->user,
	    event_number(rcpt->uid));
	row = vet->text.buf;
	return vet->count > 0 && bsearch(&row, vet->rows, vet->count,
	    sizeof(*vet->rows), vet_row_compare) != NULL;
}

/* ---- a recipient --------------------------------------------------------- */

/* It goes to another machine, or nowhere; nothing here is done for it. */
static bool
vet_is_plain(struct slice channel, int64_t uid)
{
	static const char *const plain[] = { "smtp", "error", "hold",
	    "discard", "reroute", "expirer", "expand" };

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (slice_is(channel, plain[i]))
			return uid == CONTROL_UID_NOBODY;
	return false;
}

static bool
vet_rcpt_is_plain(const struct control_rcpt *rcpt)
{
	bool is_plain = vet_is_plain(rcpt->channel, rcpt->uid);

	for (size_t i = 0; i < rcpt->way_count; i++)
		is_plain = is_plain && vet_is_plain(rcpt->ways[i].channel,
		    rcpt->ways[i].uid);
	return is_plain;
}

/* An address that can be routed, with no byte that would end a question. */
static bool
vet_is_address(struct slice text)
{
	struct path path;
	struct slice rest;
	struct err err;

	if (text.n == 0 || strchr("|/:\"", text.p[0]) != NULL)
		return false;
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ')
			return false;
	return path_parse(text, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8,
	    &path, &rest, &err) == 0 && rest.n == 0;
}

/* The addresses that may have become it: the one that was routed, the one that
 * the sender named, itself.  returns how many */
enum { VET_ADDRESSES = 3 };
static size_t
vet_addresses(struct vet *vet, const struct control_rcpt *rcpt,
    struct slice out[VET_ADDRESSES])
{
	struct slice words[] = { rcpt->given, rcpt->orcpt };
	struct str text = STR_INIT;
	size_t count = 0;
	struct err err;

	if (slice_is_nocase(slice_first(words[1], 7), "rfc822;"))
		words[1] = slice_from(words[1], 7);
	for (size_t i = 0; i < 2; i++) {
		str_reset(&text);
		if (xtext_decode(words[i], &text, &err) == 0 &&
		    vet_is_address(str_slice(&text)))
			out[count++] = slice_copy(vet->arena,
			    str_slice(&text));
	}
	if (vet_is_address(rcpt->user))
		out[count++] = rcpt->user;
	str_release(&text);
	return count;
}

/* The answer has no ways after the first: one that has some which are not plain
 * is routed again, and then has those of this node. */
static bool
vet_rcpt_is_ours(struct vet *vet, const struct control_file *control,
    const struct control_rcpt *rcpt, const struct slice *addresses,
    size_t count)
{
	if (rcpt->way_count > 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		vet_ask(vet, control, control->errors_to, addresses[i]);
		if (vet_answer_has(vet, rcpt))
			return true;
	}
	return false;
}

/* By its own address, if it has one: what else the first one became has its
 * own line.  A program or a file has none. */
static void
vet_doubt(struct vet *vet, struct control_rcpt *rcpt,
    const struct slice *addresses, size_t count)
{
	struct slice again = count > 0 ? addresses[0] : SLICE("postmaster");

	if (vet_is_address(rcpt->user) && !slice_is(rcpt->channel, "pipe") &&
	    !slice_is(rcpt->host, "file"))
		again = rcpt->user;
	event(EV_RCPT_DOUBTED, vet->id, "to", rcpt->user, "channel",
	    rcpt->channel, "host", rcpt->host, "uid", event_number(rcpt->uid),
	    "node", slice_of(vet->node), "again", again, NULL);
	rcpt->channel = SLICE("reroute");
	rcpt->host = SLICE("-");
	rcpt->user = again;
	rcpt->uid = CONTROL_UID_NOBODY;
	rcpt->way_count = 0;
}

/* ---- a way that was chosen ----------------------------------------------- */

static bool
vet_via_is_plain(struct arena *arena, struct slice via)
{
	struct str text = STR_INIT;
	struct route_target target;
	struct err err;
	bool is_plain = false;

	if (xtext_decode(via, &text, &err) == 0 && route_value_parse(arena,
	    slice_copy(arena, str_slice(&text)), SLICE("x.invalid"), &target,
	    &err) == ROUTE_VALUE_TARGET) {
		is_plain = slice_is(target.channel, "smtp");
		for (size_t i = 0; i < target.way_count; i++)
			is_plain = is_plain && slice_is(
			    target.ways[i].channel, "smtp");
	}
	str_release(&text);
	return is_plain;
}

bool
vet_front_is_odd(struct slice front)
{
	struct arena *arena = arena_new();
	struct envelope envelope;
	struct err err;
	bool is_odd = envelope_peek(front, &envelope, &err) == 0 &&
	    envelope.terms.via.n > 0 &&
	    !vet_via_is_plain(arena, envelope.terms.via);

	arena_free(&arena);
	return is_odd;
}

/* ---- a control file ------------------------------------------------------ */

/* control_change_fn */
static bool
vet_change(void *context, struct control_file *control,
    struct control_group *group, struct control_rcpt *rcpt)
{
	struct slice addresses[VET_ADDRESSES];
	struct vet *vet = context;
	size_t count;

	if (rcpt == NULL) {
		if (control->terms.via.n == 0 || vet_via_is_plain(vet->arena,
		    control->terms.via))
			return false;
		control->terms.via = control->terms.via_words = SLICE("");
		return true;
	}
	if (vet_rcpt_is_plain(rcpt))
		return false;
	count = vet_addresses(vet, rcpt, addresses);
	if (vet_rcpt_is_ours(vet, control, rcpt, addresses, count))
		return false;
	vet_doubt(vet, rcpt, addresses, count);
	return true;
}

int
vet_control(struct vet *vet, const char *id, const char *node,
    struct str *control)
{
	struct str fresh = STR_INIT;
	struct err err;
	int result;

	vet->id = id;
	vet->node = node;
	result = control_file_rewrite(vet->arena, str_slice(control),
	    vet_change, vet, &fresh, &err);
	if (result == 0 && fresh.len > 0) {
		str_release(control);
		*control = fresh;
		str_init(&fresh);
	}
	str_release(&fresh);
	arena_reset(vet->arena);
	return result;
}

struct vet *
vet_new(const struct conf *conf)
{
	struct vet *vet = mem_alloc(1, sizeof(*vet));

	vet->conf = conf;
	vet->router = -1;
	ipc_inbox_init(&vet->inbox);
	vet->arena = arena_new();
	vet->answer = arena_new();
	str_init(&vet->question);
	str_init(&vet->text);
	return vet;
}

void
vet_free(struct vet **pvet)
{
	struct vet *vet = *pvet;

	if (vet == NULL)
		return;
	vet_end_router(vet);
	ipc_inbox_release(&vet->inbox);
	mem_free(&vet->rows);
	str_release(&vet->question);
	str_release(&vet->text);
	arena_free(&vet->arena);
	arena_free(&vet->answer);
	mem_free(pvet);
}
