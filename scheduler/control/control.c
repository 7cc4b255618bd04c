/* control.c - the operator's socket: RUN/scheduler.sock
 *
 * In     lines of clients on the machine
 * Out    answers, made in steps and sent as the client reads them
 * Holds  a buffer each way and an act a client
 * Trusts nobody: lines, clients, their number and patience are bounded; who
 *        may what is the kernel's word (peer.c)
 * Spec   doc/protocol/control.md sections 1 and 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/json.h"
#include "io/unix_socket.h"
#include "scheduler/control/act/act.h"
#include "scheduler/control/control.h"

#include "base/banned.h"

enum { READ_BYTES = 4096 };

struct client {
	struct control	*control;
	int		 socket;
	struct watch	*watch;
	struct rights_peer	 peer;
	struct str	 in, out;
	struct act	*act;		/* at work, or NULL */
	struct timer	 end, step;
	bool		 is_last;	/* it sends no more */
	bool		 is_for;	/* nodes said for whom it is here */
	struct client	*next;
};

struct control {
	struct agents	*agents;
	int		 socket;
	struct watch	*watch;
	struct client	*clients;
	struct peer_rules rules;
	unsigned	 writers, others, acts;
};

static void client_go(struct client *client);

static void
client_step_due(void *context)
{
	client_go(context);
}

static bool
client_is_writer(const struct rights_peer *peer)
{
	return peer->right >= RIGHT_ETRN && peer->right != RIGHT_READ;
}

/* ---- the end of a client ----------------------------------------- */

static void
act_end(struct client *client)
{
	if (client->act == NULL)
		return;
	act_free(&client->act);
	client->control->acts--;
	timer_clear(&client->step);
}

static void
client_free(struct client *client)
{
	struct client **link = &client->control->clients;

	while (*link != client)
		link = &(*link)->next;
	*link = client->next;
	if (client_is_writer(&client->peer))
		client->control->writers--;
	else
		client->control->others--;
	act_end(client);
	timer_clear(&client->end);
	watch_free(&client->watch);
	close(client->socket);
	str_release(&client->in);
	str_release(&client->out);
	mem_free(&client);
}

static void
client_over(void *context)
{
	client_free(context);
}

static void
client_live(struct client *client)
{
	timer_set(client->control->agents->queue->loop, &client->end,
	    clock_steady_ms() + CONTROL_CLIENT_MS, client_over, client);
}

/* ---- one request ------------------------------------------------- */

static void
control_refused(const struct client *client, const struct request *request,
    const char *code)
{
	event(EV_ORDER_REFUSED, NULL, "op",
	    slice_of(request_rows[request->op].name), "by",
	    slice_of(client->peer.name), "uid",
	    event_number(client->peer.uid), "code", slice_of(code), NULL);
}

/* What the mailq protocol has verbs for (doc/protocol/mailq.md); which of
 * them its user may give is looked at there. */
static bool
client_mailq_may(enum request_op op)
{
	return op == OP_LIST || op == OP_COUNT || op == OP_QUEUE ||
	    op == OP_GROUPS || op == OP_ETRN ||
	    op == OP_RETRY || op == OP_DELETE || op == OP_REROUTE;
}

/* Etrn is a right of its own: who may look may not use it.  Nodes may do
 * nothing before it has said for whom, and says it once. */
static bool
client_may(const struct client *client, enum request_op op)
{
	const struct rights_peer *peer = &client->peer;
	enum right right = request_rows[op].right;

	if (op == OP_FOR)
		return peer->is_nodes && !client->is_for;
	if (peer->is_nodes && !client->is_for && peer->right < RIGHT_READ)
		return false;

	if (peer->is_mailq)
		return client_mailq_may(op);
	if (right == RIGHT_ETRN)
		return client_is_writer(peer);
	if (peer->right == RIGHT_ETRN)
		return false;
	return peer->right >= right;
}

/* It gave up while nobody read here, and was told that nothing is done. */
static bool
client_is_gone(const struct client *client)
{
	struct pollfd fd = { .fd = client->socket };

	return poll(&fd, 1, 0) > 0 && (fd.revents & POLLHUP) != 0;
}

/* Why it cannot be done; NULL: it can. */
static const char *
client_obstacle(const struct client *client, const struct request *request,
    const char **out_words)
{
	const struct control *control = client->control;

	if (!client_may(client, request->op)) {
		*out_words = "you may not do this";
		return "denied";
	}
	if (control->agents->is_stopping) {
		*out_words = "the scheduler is about to end";
		return "stopping";
	}
	if (request_rows[request->op].right >= RIGHT_WRITE &&
	    client_is_gone(client)) {
		*out_words = "you have gone";
		return "gone";
	}
	if (control->acts >= CONTROL_ACTS_MAX) {
		*out_words = "too many requests at work; try again";
		return "busy";
	}
	return NULL;
}

/* Other nodes, which may be in wrong hands, leave room for who is here. */
static bool
control_has_room_for(const struct control *control, bool is_new_writer)
{
	const struct client *client;
	unsigned same = 0;

	for (client = control->clients; client != NULL;
	    client = client->next)
		same += client->is_for;
	return same < CONTROL_NODES_MAX && (!is_new_writer ||
	    control->writers < CONTROL_WRITERS_MAX);
}

/* Whose connection it is from now on. */
static void
client_speak_for(struct client *client, const struct request *request)
{
	struct control *control = client->control;
	bool is_write = strcmp(request->right, "write") == 0;
	bool was_writer = client_is_writer(&client->peer);

	if (!control_has_room_for(control, is_write && !was_writer)) {
		act_refuse(&client->out, request->tag, "busy",
		    "too many clients; try again");
		str_addc(&client->out, '\n');
		return;
	}
	client->is_for = true;
	client->peer.right = is_write ? RIGHT_WRITE : RIGHT_READ;
	strlcpy(client->peer.name, request->who, sizeof(client->peer.name));
	if (is_write != was_writer) {
		control->writers += is_write ? 1 : (unsigned)-1;
		control->others += is_write ? (unsigned)-1 : 1;
	}
	str_adds(&client->out, "{\"done\":true,\"op\":\"for\"}\n\n");
}

static void
client_take_json(struct client *client, struct slice line)
{
	struct arena *arena = arena_new();
	struct request request;
	const char *code, *words;
	struct err err;

	if (request_parse(arena, line, clock_wall_s(), &request, &code,
	    &err) < 0) {
		act_refuse(&client->out, request.tag, code, err.text);
		str_addc(&client->out, '\n');
		arena_free(&arena);
		return;
	}
	code = client_obstacle(client, &request, &words);
	if (code != NULL) {
		if (request_rows[request.op].right >= RIGHT_WRITE)
			control_refused(client, &request, code);
		act_refuse(&client->out, request.tag, code, words);
		str_addc(&client->out, '\n');
		arena_free(&arena);
		return;
	}
	if (request.op == OP_FOR) {
		client_speak_for(client, &request);
		arena_free(&arena);
		return;
	}
	client->act = act_new(client->control->agents, &client->peer,
	    arena, &request);
	client->act->wake = client_step_due;
	client->act->wake_context = client;
	client->control->acts++;
	timer_clear(&client->end);
}

static void
control_take_line(struct client *client, struct slice line)
{
	struct str word = STR_INIT;

	line = slice_trim(line);
	client_live(client);
	if (control_word(&client->peer, line, &word))
		line = str_slice(&word);
	if (slice_starts(line, "{")) {
		client_take_json(client, line);
	} else {
		control_refuse_word(&client->peer, line, &client->out);
		str_addc(&client->out, '\n');
	}
	str_release(&word);
}

/* A step of what is at work. */
static void
act_go(struct client *client)
{
	enum act_step step = act_step(client->act, &client->out);
	int64_t at_ms = step == ACT_WAIT ? client->act->wake_ms :
	    clock_steady_ms();

	if (step == ACT_DONE) {
		str_addc(&client->out, '\n');
		act_end(client);
		client_live(client);
		return;
	}
	if (step != ACT_SYNC)		/* it calls when it is time */
		timer_set(client->control->agents->queue->loop, &client->step,
		    at_ms, client_step_due, client);
}

/* ---- reading and writing ----------------------------------------- */

/* False: it is gone. */
static bool
control_client_write(struct client *client)
{
	ssize_t n;

	if (client->out.len == 0)
		return true;
	event_flush();		/* who hears of it finds it in the journal */
	n = send(client->socket, client->out.buf, client->out.len,
	    MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return false;
	if (n > 0)
		str_consume(&client->out, (size_t)n);
	return true;
}

/* False: it is gone, or shown out. */
static bool
control_client_read(struct client *client)
{
	char buffer[READ_BYTES];
	ssize_t n = read(client->socket, buffer, sizeof(buffer));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0) {
		/* who waits for nothing has hung up */
		client->is_last = true;
		return true;
	}
	str_add(&client->in, buffer, (size_t)n);
	return slice_find(str_slice(&client->in), '\n') <
	    REQUEST_LINE_BYTES_MAX;
}

/* Start what was asked, as far as the answer before it is out: a client
 * that does not read costs one answer. */
static void
client_work(struct client *client)
{
	struct slice in = str_slice(&client->in);
	size_t at;

	if (client->act != NULL) {
		if (client->out.len < CONTROL_OUT_BYTES &&
		    client->step.at_ms == 0 && client->act->sync == NULL)
			act_go(client);
		return;
	}
	at = slice_find(in, '\n');
	if (client->out.len > 0 || at == in.n)
		return;
	control_take_line(client, slice_first(in, at));
	str_consume(&client->in, at + 1);
	if (client->act != NULL)
		act_go(client);
}

static void
client_go(struct client *client)
{
	bool is_idle;

	client_work(client);
	if (!control_client_write(client)) {
		client_free(client);
		return;
	}
	client_work(client);
	is_idle = client->out.len == 0 && client->act == NULL &&
	    slice_find(str_slice(&client->in), '\n') == client->in.len;
	if (is_idle && client->is_last)
		client_free(client);
	else if (client->out.len > 0)
		watch_set(client->watch, LOOP_WRITE);
	else if (client->is_last ||
	    client->in.len >= REQUEST_LINE_BYTES_MAX)
		watch_set(client->watch, 0);	/* but for its end */
	else
		watch_set(client->watch, LOOP_READ);
}

static void
client_ready(void *context, unsigned ready)
{
	struct client *client = context;
	bool is_gone = (ready & LOOP_HANGUP) != 0 &&
	    (ready & (LOOP_READ | LOOP_WRITE)) == 0;

	if (!is_gone && !client->is_last && client->out.len == 0 &&
	    client->in.len < REQUEST_LINE_BYTES_MAX)
		is_gone = !control_client_read(client);
	if (is_gone)
		client_free(client);
	else
		client_go(client);
}

/* ---- the beginning ----------------------------------------------- */

static bool
control_is_full(const struct control *control, const struct rights_peer *peer)
{
	const struct client *client;
	unsigned same = 0;

	if (client_is_writer(peer))
		return control->writers >= CONTROL_WRITERS_MAX;
	if (control->others >= CONTROL_CLIENTS_MAX)
		return true;
	for (client = control->clients; client != NULL;
	    client = client->next)
		same += client->peer.uid == peer->uid;
	return peer->right == RIGHT_OWN && !peer->is_nodes &&
	    same >= CONTROL_UID_MAX;
}

static void
control_turn_away(int socket)
{
	struct str out = STR_INIT;

	act_refuse(&out, "", "busy", "too many clients; try again");
	str_addc(&out, '\n');
	(void)!send(socket, out.buf, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	str_release(&out);
	close(socket);
}

static void
client_add(struct control *control, int socket, const struct rights_peer *peer)
{
	struct client *client = mem_alloc(1, sizeof(*client));

	client->control = control;
	client->socket = socket;
	client->peer = *peer;
	str_init(&client->in);
	str_init(&client->out);
	client->next = control->clients;
	control->clients = client;
	if (client_is_writer(peer))
		control->writers++;
	else
		control->others++;
	client->watch = loop_watch(control->agents->queue->loop, socket,
	    LOOP_READ, client_ready, client);
	client_live(client);
}

void
control_take(struct control *control, int socket,
    const struct rights_peer *peer)
{
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	client_add(control, socket, peer);
}

static void
client_new(void *context, unsigned ready)
{
	struct control *control = context;
	int socket = accept(control->socket, NULL, NULL);
	struct rights_peer peer;

	if (socket < 0)
		return;
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	(void)fcntl(socket, F_SETFD, FD_CLOEXEC);
	if (peer_ask(socket, &control->rules, &peer) < 0 ||
	    control_is_full(control, &peer))
		control_turn_away(socket);
	else
		client_add(control, socket, &peer);
}

/* ---- the socket -------------------------------------------------- */

int
control_bind(const char *run_dir, struct given *given, struct err *err)
{
	struct str path = STR_INIT;
	int fd;

	str_addf(&path, "%s/scheduler.sock", run_dir);
	/* the spool's lock says that we are the only one */
	fd = given_find_path(given, path.buf);
	if (fd < 0)
		fd = unix_socket_listen(path.buf, 0666, err);
	str_release(&path);
	return fd;
}

struct control *
control_new(struct agents *agents, int socket)
{
	struct control *control = mem_alloc(1, sizeof(*control));

	control->agents = agents;
	control->socket = socket;
	peer_rules_read(agents->queue->conf, &control->rules);
	control->watch = loop_watch(agents->queue->loop, socket, LOOP_READ,
	    client_new, control);
	return control;
}

void
control_free(struct control **pcontrol)
{
	struct control *control = *pcontrol;

	if (control == NULL)
		return;
	while (control->clients != NULL)
		client_free(control->clients);
	watch_free(&control->watch);
	close(control->socket);
	mem_free(pcontrol);
}

void
control_reload(struct control *control)
{
	peer_rules_read(control->agents->queue->conf, &control->rules);
}
