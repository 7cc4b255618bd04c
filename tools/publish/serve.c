/* serve.c - requests of the process nodes, one process each
 *
 * In     connections; the clock
 * Out    work (install.h) that outlives its connection; its answer
 * Holds  the listening socket; the pids of those at work
 * Trusts the kernel about who asks: root, who runs this, the process nodes;
 *        of the latter nothing: lines and lengths are bounded before memory is
 *        taken
 * Spec   serve.h; doc/protocol/nodes.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "base/fd.h"
#include "base/title.h"
#include "daemon/rights.h"
#include "tools/publish/drift.h"
#include "tools/publish/install.h"
#include "tools/publish/order.h"
#include "tools/publish/serve.h"
#include "tools/versions/versions.h"

#include "base/banned.h"

struct serve {
	const struct conf	*conf;
	int			 socket, lifeline;
	struct peer_rules	 rules;
	pid_t			 at_work[SERVE_AT_ONCE];
	pid_t			 settling, comparing;	/* 0: none */
	int64_t			 settle_at_ms, compare_at_ms;
};

struct request {
	const struct conf	*conf;
	int			 fd;
	struct publish_order	 order;
	struct publish_job	 job;
	char			 who[ORDER_LINE_BYTES_MAX],
				 node[ORDER_LINE_BYTES_MAX];
	struct str		 bytes;		/* of an offer */
};

/* ---- one request -------------------------------------------------------- */

/* Byte by byte: what comes after the line is counted. */
static int
request_line(int fd, char out[ORDER_LINE_BYTES_MAX + 1])
{
	size_t n = 0;

	while (n < ORDER_LINE_BYTES_MAX && read(fd, out + n, 1) == 1) {
		if (out[n] == '\n') {
			out[n] = '\0';
			return 0;
		}
		n++;
	}
	return -1;
}

static int
request_read_order(struct request *request)
{
	char line[ORDER_LINE_BYTES_MAX + 1];
	struct slice who, node;

	if (request_line(request->fd, line) < 0 ||
	    publish_for_parse(slice_of(line), &who, &node) < 0)
		return -1;
	snprintf(request->who, sizeof(request->who), SLICE_FMT,
	    SLICE_ARG(who));
	snprintf(request->node, sizeof(request->node), SLICE_FMT,
	    SLICE_ARG(node));
	if (request_line(request->fd, line) < 0 ||
	    publish_order_parse(slice_of(line), &request->order) < 0)
		return -1;
	if (request->order.verb != PUBLISH_OFFER)
		return 0;
	return fd_read_all(request->fd, request->order.number,
	    &request->bytes) < 0 || request->bytes.len !=
	    request->order.number ? -1 : 0;
}

/* What it has of this publish, as a word. */
static const char *
request_look(const struct request *request)
{
	static const struct { const char *name, *word; } rows[] = {
		{ RECORD_TAKEN, "taken" }, { RECORD_PENDING, "busy" },
		{ RECORD_LAST, "kept" }, { RECORD_OFFERED, "offered" } };
	struct arena *arena = arena_new();
	const char *word = "none";
	struct publish_record record;
	struct err err;

	for (size_t i = sizeof(rows) / sizeof(rows[0]); i-- > 0;)
		if (record_read(request->conf->spool_dir, rows[i].name, arena,
		    &record, &err) == RECORD_READ &&
		    strcmp(record.id, request->order.id) == 0)
			word = rows[i].word;
	arena_free(&arena);
	return word;
}

/* The newest that is kept. */
static unsigned
request_version(const struct request *request)
{
	unsigned numbers[VERSIONS_MAX + 2];
	size_t count = versions_list(request->conf->spool_dir, numbers);

	return count == 0 ? 0 : numbers[count - 1];
}

static int
request_do(const struct request *request)
{
	const struct publish_job *job = &request->job;

	switch (request->order.verb) {
	case PUBLISH_OFFER:
		return publish_offer(job, str_slice(&request->bytes),
		    (int64_t)request->order.hold_s);
	case PUBLISH_TAKE:
		return publish_take(job, (int64_t)request->order.number);
	case PUBLISH_KEEP:
		return publish_keep(job);
	case PUBLISH_BACK:
		return publish_back(job, "who published it says so");
	case PUBLISH_UNDO:
		return publish_undo_kept(job);
	case PUBLISH_LOOK:
	case PUBLISH_VERBS:
		break;
	}
	return EX_USAGE;
}

/* The work does not end with who waits for it, nor with its connection. */
static void __attribute__((noreturn))
request_work(const struct request *request, int words)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), status;

	(void)setsid();
	(void)alarm(0);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0 || dup2(words, STDERR_FILENO) < 0)
		_exit(EX_OSERR);
	closefrom(STDERR_FILENO + 1);
	err_program("publish");
	status = request_do(request);
	fflush(stderr);
	_exit(status);
}

static void
request_answer(const struct request *request, int status,
    const struct str *words)
{
	struct slice said = slice_first(str_slice(words), words->len <
	    ORDER_WORDS_BYTES_MAX ? words->len : ORDER_WORDS_BYTES_MAX);
	struct str text = STR_INIT;

	if (status == EX_OK) {
		str_adds(&text, "ok\n");
	} else {
		if (said.n == 0)
			said = SLICE("it was not done: the process ended\n");
		str_addf(&text, "no %zu\n", said.n);
		str_add_slice(&text, said);
	}
	(void)fd_write_all(request->fd, text.buf, text.len);
	str_release(&text);
}

static void
request_run(const struct request *request)
{
	struct str words = STR_INIT;
	int ends[2], status = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		_exit(EX_OSERR);
	pid = fork();
	if (pid == 0)
		request_work(request, ends[1]);
	close(ends[1]);
	(void)fd_read_all(ends[0], ORDER_WORDS_BYTES_MAX, &words);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	request_answer(request, pid > 0 && WIFEXITED(status) ?
	    WEXITSTATUS(status) : EX_OSERR, &words);
	str_release(&words);
}

static void __attribute__((noreturn))
serve_request(const struct serve *serve, int fd)
{
	struct request request = { .conf = serve->conf, .fd = fd,
	    .bytes = STR_INIT };
	struct str text = STR_INIT;

	(void)alarm(SERVE_REQUEST_FOR_S);
	if (request_read_order(&request) < 0) {
		str_adds(&text, "this is no order to a taker\n");
		request_answer(&request, EX_USAGE, &text);
		_exit(EX_USAGE);
	}
	(void)alarm(SERVE_FOR_S);
	request.job = (struct publish_job){ .conf_path = serve->conf->path,
	    .id = request.order.id, .from = request.node,
	    .who = request.who };
	if (request.order.verb == PUBLISH_LOOK) {
		str_addf(&text, "ok %s %u\n", request_look(&request),
		    request_version(&request));
		(void)fd_write_all(fd, text.buf, text.len);
	} else {
		request_run(&request);
	}
	_exit(EX_OK);
}

/* ---- all of them -------------------------------------------------------- */

static bool
serve_reap_workers(struct serve *serve)
{
	bool is_busy = serve->settling > 0;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		for (int i = 0; i < SERVE_AT_ONCE; i++)
			if (serve->at_work[i] == pid)
				serve->at_work[i] = 0;
		if (serve->settling == pid)
			serve->settling = 0;
		if (serve->comparing == pid)
			serve->comparing = 0;
	}
	for (int i = 0; i < SERVE_AT_ONCE; i++)
		is_busy = is_busy || serve->at_work[i] > 0;
	return is_busy;
}

static void
serve_accept(struct serve *serve)
{
	int fd = accept4(serve->socket, NULL, NULL, SOCK_CLOEXEC), place = 0;
	struct rights_peer peer;

	if (fd < 0)
		return;
	while (place < SERVE_AT_ONCE && serve->at_work[place] > 0)
		place++;
	if (place < SERVE_AT_ONCE && peer_ask(fd, &serve->rules, &peer) ==
	    0 && (peer.is_nodes || peer.uid == serve->rules.writers[0] ||
	    peer.uid == serve->rules.writers[1])) {
		pid_t pid = fork();

		if (pid == 0)
			serve_request(serve, fd);
		serve->at_work[place] = pid > 0 ? pid : 0;
	}
	close(fd);
}

static pid_t
serve_fork(const struct serve *serve, void (*work)(const struct conf *))
{
	pid_t pid = fork();

	if (pid != 0)
		return pid > 0 ? pid : 0;
	close(serve->socket);
	close(serve->lifeline);
	work(serve->conf);
	_exit(EX_OK);
}

static void
serve_settle_work(const struct conf *conf)
{
	(void)setsid();
	err_program("publish");
	(void)publish_settle(conf->path, 0);
}

/* E5, E6: what is over time, or was left half done. */
static void
serve_on_time(struct serve *serve)
{
	int64_t now_ms = clock_steady_ms();

	if (serve->settling == 0 && now_ms >= serve->settle_at_ms) {
		serve->settle_at_ms = now_ms + SERVE_SETTLE_MS;
		if (publish_is_due(serve->conf->spool_dir))
			serve->settling = serve_fork(serve,
			    serve_settle_work);
	}
	if (serve->comparing == 0 && now_ms >= serve->compare_at_ms) {
		serve->compare_at_ms = now_ms + SERVE_DRIFT_MS;
		if (serve->conf->cluster.publisher_count > 0)
			serve->comparing = serve_fork(serve,
			    publish_drift_note);
	}
}

void
publish_serve(const struct conf *conf, int socket, int lifeline)
{
	struct serve serve = { .conf = conf, .socket = socket,
	    .lifeline = lifeline };
	struct pollfd fds[] = { { .fd = socket, .events = POLLIN },
	    { .fd = lifeline, .events = POLLIN } };

	err_program("taker");
	title_set("taker");
#ifdef HAVE_SYS_PRCTL_H
	(void)prctl(PR_SET_NAME, "zmailer-taker", 0, 0, 0);
#endif
	(void)signal(SIGPIPE, SIG_IGN);
	peer_rules_read(conf, &serve.rules);
	serve.compare_at_ms = clock_steady_ms() + SERVE_SETTLE_MS;
	while (fds[1].revents == 0) {
		if (poll(fds, 2, SERVE_SETTLE_MS) < 0 && errno != EINTR)
			break;
		(void)serve_reap_workers(&serve);
		if (fds[0].revents != 0)
			serve_accept(&serve);
		serve_on_time(&serve);
	}
	close(socket);
	while (serve_reap_workers(&serve))
		(void)poll(NULL, 0, SERVE_SETTLE_MS / 10);
}
