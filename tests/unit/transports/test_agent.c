/* test_agent.c - the frame: records before lines, descriptors, nonsense
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "io/ipc.h"
#include "transports/frame/agent.h"

enum { RCPTS = 3 };

static int ends[2];			/* ours, the agent's */
static pthread_t thread;
static int served;
static struct err serve_err;
static struct control_file control;
static struct control_rcpt rcpts[RCPTS];
static struct control_group group;
static int control_fd, body_fd;
static unsigned jobs, settles, idles, finishes;
static char spool_id[SPOOL_ID_BYTES];

/* ---- an agent that does as the user's name says ------------------------ */

static int
job(struct agent_run *run, struct control_job *control_job, int fd,
    struct verdict verdicts[])
{
	char body[16] = "";

	jobs++;
	cr_expect_eq(pread(fd, body, 5, 0), 5);
	cr_expect_str_eq(body, "hello");
	for (size_t i = 0; i < control_job->rcpt_count; i++) {
		struct slice user = control_job->rcpts[i].user;

		if (slice_is(user, "good"))
			verdict_set(&verdicts[i], VERDICT_DELIVERED, NULL,
			    "test", "done");
		else if (slice_is(user, "bad"))
			verdict_set(&verdicts[i], VERDICT_FAILED, "5.1.1",
			    "test", "no\tsuch\nuser");
		else if (slice_is(user, "down")) {
			verdict_set(&verdicts[i], VERDICT_DEFERRED, "4.4.1",
			    "test", "down");
			verdicts[i].host_trouble = true;
		}
	}
	return 300;
}

static void
settle(struct agent_run *run)
{
	settles++;
}

static void
idle(struct agent_run *run)
{
	idles++;
}

static void
finish(struct agent_run *run)
{
	finishes++;
}

static const struct agent_kind plain = { .name = "test", .channel = "test",
	.job = job, .idle = idle, .finish = finish };
static const struct agent_kind settling = { .name = "test", .channel = "test",
	.job = job, .settle = settle, .finish = finish };

static void *
serve(void *context)
{
	static struct conf conf;
	struct agent_run run = { .agent = context, .conf = &conf,
	    .arena = arena_new() };

	served = agent_serve(&run, ends[1], ends[1], &serve_err);
	arena_free(&run.arena);
	shutdown(ends[1], SHUT_RDWR);
	return NULL;
}

/* ---- a control file ---------------------------------------------------- */

static int
file_make(void)
{
	char path[] = "/tmp/zm-agent-XXXXXX";
	int fd = mkstemp(path), append;

	cr_assert_geq(fd, 0);
	append = open(path, O_RDWR | O_APPEND);
	close(fd);
	unlink(path);
	return append;
}

static void
control_make(void)
{
	static const char *const users[RCPTS] = { "good", "bad", "down" };
	struct str text = STR_INIT;
	struct err err;

	spool_id_make(1763600000000000, 4711, spool_id);
	memset(&control, 0, sizeof(control));
	strcpy(control.id, spool_id);
	control.inode = 4711;
	control.groups = &group;
	control.group_count = 1;
	group.sender = SLICE("a@src.test");
	group.header = SLICE("Subject: s\n");
	group.rcpts = rcpts;
	group.rcpt_count = RCPTS;
	for (int i = 0; i < RCPTS; i++)
		rcpts[i] = (struct control_rcpt){ .channel = SLICE("test"),
		    .host = SLICE("h"), .user = slice_of(users[i]) };
	cr_assert_eq(control_file_format(&control, &text, &err), 0, "%s",
	    err.text);
	control_fd = file_make();
	cr_assert_eq(write(control_fd, text.buf, text.len),
	    (ssize_t)text.len);
	body_fd = file_make();
	cr_assert_eq(write(body_fd, "hello", 5), 5);
	str_release(&text);
}

static void
job_add(struct str *lines, size_t first, size_t count)
{
	uint32_t offsets[RCPTS];

	for (size_t i = 0; i < count; i++)
		offsets[i] = rcpts[first + i].offset;
	control_job_add(lines, "A/4711", spool_id, SLICE("h"),
	    group.sender_offset, group.header_offset, 2, offsets, count);
	if (lines->buf[lines->len - 1] != '\n')
		str_addc(lines, '\n');
}

/* ---- the scheduler's side ---------------------------------------------- */

static struct str heard = STR_INIT;

static void
begin(const struct agent_kind *agent)
{
	struct timeval patience = { 10, 0 };
	struct err err;

	cr_assert_eq(ipc_pair(ends, &err), 0);
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience,
	    sizeof(patience));
	control_make();
	cr_assert_eq(pthread_create(&thread, NULL, serve,
	    (void *)(uintptr_t)agent), 0);
}

/* Read until text was heard. */
static void
hear(const char *text)
{
	while (strstr(heard.buf, text) == NULL) {
		ssize_t n = recv(ends[0], str_room(&heard, 4096), 4096, 0);

		cr_assert_gt(n, 0, "waited in vain for '%s', heard '%s'",
		    text, heard.buf);
		heard.len += (size_t)n;
		heard.buf[heard.len] = '\0';
	}
}

static void
send_jobs(const struct str *lines, unsigned count)
{
	int fds[2 * 8];

	for (unsigned i = 0; i < count; i++) {
		fds[2 * i] = body_fd;
		fds[2 * i + 1] = control_fd;
	}
	cr_assert_eq(ipc_send(ends[0], str_slice(lines), fds, 2 * count),
	    (ssize_t)lines->len);
}

static void
end(void)
{
	shutdown(ends[0], SHUT_WR);
	pthread_join(thread, NULL);
}

static unsigned
hungry(void)
{
	struct slice rest = str_slice(&heard), line;
	unsigned count = 0;

	while (slice_cut(&rest, '\n', &line))
		count += slice_is(line, "#hungry");
	return count;
}

/* How many records the control file has by now. */
static size_t
records(struct arena *arena, struct control_file *out)
{
	struct str file = STR_INIT;
	struct slice kept;
	struct err err;
	size_t count = 0;

	cr_assert_eq(control_file_read(control_fd, 1 << 20, &file, &err), 0);
	kept = slice_copy(arena, str_slice(&file));
	cr_assert_eq(control_file_parse(arena, kept, out, &err), 0, "%s",
	    err.text);
	for (size_t i = 0; i < out->groups[0].rcpt_count; i++)
		count += out->groups[0].rcpts[i].last != NULL;
	str_release(&file);
	return count;
}

static int
open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	if (dir == NULL)
		return -1;
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

Test(agent, a_verdict_is_on_disk_before_it_is_said)
{
	struct arena *arena = arena_new();
	static struct str lines = STR_INIT;
	struct control_file got;
	char want[200];

	begin(&plain);
	hear("#hungry\n");
	job_add(&lines, 0, RCPTS);
	send_jobs(&lines, 1);
	snprintf(want, sizeof(want), "A/4711/%u\t-\tdelivered 2.0.0\ttest\t"
	    "done\n", rcpts[0].offset);
	hear(want);
	/* the line is here: so must the records be */
	cr_expect_eq(records(arena, &got), RCPTS);
	cr_expect_eq(got.groups[0].rcpts[0].tries, 3);
	cr_expect(got.groups[0].rcpts[0].is_final);
	cr_expect(got.groups[0].rcpts[1].is_final);
	cr_expect_not(got.groups[0].rcpts[2].is_final);
	snprintf(want, sizeof(want), "A/4711/%u\t-\tfailed 5.1.1\ttest\t"
	    "no\\x09such\\x0auser\n", rcpts[1].offset);
	hear(want);
	snprintf(want, sizeof(want), "A/4711/%u\t+300\tdeferall 4.4.1\ttest\t"
	    "down\n#hungry\n", rcpts[2].offset);
	hear(want);
	cr_expect_eq(hungry(), 2);
	end();
	cr_expect_eq(served, 0);
	cr_expect_eq(finishes, 1);
	arena_free(&arena);
}

Test(agent, several_jobs_of_one_message_settle_together)
{
	static struct str lines = STR_INIT;
	int before;

	begin(&settling);
	hear("#hungry\n");
	before = open_fds();
	for (size_t i = 0; i < 3; i++)
		job_add(&lines, i, 1);
	send_jobs(&lines, 3);
	while (hungry() < 4)
		hear("\tdown\n#hungry\n");
	cr_expect_eq(jobs, 3);
	cr_expect_eq(settles, 1);
	cr_expect_eq(open_fds(), before, "descriptors leak");
	end();
}

Test(agent, a_job_line_cut_anywhere)
{
	static struct str lines = STR_INIT;
	int fds[2];

	begin(&plain);
	hear("#hungry\n");
	job_add(&lines, 0, 1);
	fds[0] = body_fd;
	fds[1] = control_fd;
	for (size_t i = 0; i < lines.len; i++)
		cr_assert_eq(ipc_send(ends[0], (struct slice){
		    lines.buf + i, 1 }, fds, i == 0 ? 2 : 0), 1);
	hear("done\n#hungry\n");
	end();
	cr_expect_eq(jobs, 1);
}

static const char *const nonsense_rows[] = {
	"\t\t\t\n", "x\n", "A/4711/zzz\th\t1,1,1\t1\n",
	"A/4711/0000000000aaa\th\t1,1,1\t1\n",
	"A/4711/0000000000aaa\th\t99999999,1,1\t1\n",
	"../../etc/passwd\th\t1,1,1\t1,,,,,\n",
};

Test(agent, nonsense_is_answered_with_resync)
{
	int before;

	begin(&plain);
	hear("#hungry\n");
	before = open_fds();
	for (size_t i = 0; i < sizeof(nonsense_rows) /
	    sizeof(nonsense_rows[0]); i++) {
		struct str lines = STR_INIT;

		str_adds(&lines, nonsense_rows[i]);
		str_reset(&heard);
		/* once with its descriptors, once without */
		send_jobs(&lines, 1);
		hear("#resync");
		hear("#hungry\n");
		str_reset(&heard);
		cr_assert_eq(ipc_send(ends[0], str_slice(&lines), NULL, 0),
		    (ssize_t)lines.len);
		hear("#resync");
		hear("#hungry\n");
		str_release(&lines);
	}
	cr_expect_eq(jobs, 0);
	cr_expect_eq(open_fds(), before, "descriptors leak");
	end();
	cr_expect_eq(served, 0);
}

Test(agent, idle_and_the_empty_line)
{
	begin(&plain);
	hear("#hungry\n");
	cr_assert_eq(ipc_send(ends[0], SLICE("#idle\n#unknown\n#idle\n\n"),
	    NULL, 0), 22);
	pthread_join(thread, NULL);
	cr_expect_eq(served, 0);
	cr_expect_geq(idles, 2);
	cr_expect_eq(finishes, 1);
}

/* The peer's name is a stranger's, and so is what its certificate says. */
static void
connect_when_idle(struct agent_run *run)
{
	char peer[VERDICT_WHO_BYTES], tls[VERDICT_TEXT_BYTES];

	memset(peer, '\t', sizeof(peer) - 1);
	memset(tls, '\n', sizeof(tls) - 1);
	peer[sizeof(peer) - 1] = tls[sizeof(tls) - 1] = '\0';
	if (idles++ == 0)
		agent_connected(run, peer, slice_of(tls));
	else
		run->is_connected = false;
}

Test(agent, a_connection_is_told_in_words_that_fit)
{
	static const struct agent_kind connecting = { .name = "test",
	    .channel = "test", .job = job, .idle = connect_when_idle,
	    .finish = finish };
	struct slice rest, line = SLICE(""), peer;

	begin(&connecting);
	hear("#hungry\n");
	cr_assert_eq(ipc_send(ends[0], SLICE("#idle\n#idle\n"), NULL, 0), 12);
	hear("#closed\n");
	end();
	rest = str_slice(&heard);
	while (slice_cut(&rest, '\n', &line) &&
	    !slice_starts(line, "#connected "))
		;
	cr_assert(slice_starts(line, "#connected "));
	line = slice_from(line, 11);
	cr_assert(slice_cut(&line, '\t', &peer));
	cr_expect_eq(peer.n, VERDICT_WHO_BYTES - 1);
	cr_expect_eq(line.n, VERDICT_TEXT_BYTES - 1);
}
