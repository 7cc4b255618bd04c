/* asker.c - a client of the operator's socket in a yard
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "scheduler/control/control.h"
#include "tests/unit/scheduler/asker.h"

void
asker_serve(struct yard *yard)
{
	struct err err;
	char run[256];
	int fd;

	snprintf(run, sizeof(run), "%s/run", yard->dir);
	fd = control_bind(run, &(struct given){ NULL, 0 }, &err);
	cr_assert_geq(fd, 0, "%s", err.text);
	yard->scheduler.control = control_new(&yard->scheduler.agents, fd);
}

void
asker_open(struct asker *asker, struct yard *yard)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*asker = (struct asker){ .yard = yard, .text = STR_INIT,
	    .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0) };
	snprintf(address.sun_path, sizeof(address.sun_path),
	    "%s/run/scheduler.sock", yard->dir);
	cr_assert_eq(connect(asker->fd, (struct sockaddr *)&address,
	    sizeof(address)), 0);
}

void
asker_close(struct asker *asker)
{
	close(asker->fd);
	str_release(&asker->text);
}

void
asker_yard_open(struct asker *asker, struct yard *yard, const char *conf)
{
	yard_open(yard, conf);
	asker_serve(yard);
	asker_open(asker, yard);
}

void
asker_yard_close(struct asker *asker)
{
	struct yard *yard = asker->yard;

	asker_close(asker);
	control_free(&yard->scheduler.control);
	yard_close(yard);
}

void
asker_yard_restart(struct asker *asker)
{
	struct yard *yard = asker->yard;

	asker_close(asker);
	control_free(&yard->scheduler.control);
	yard_stop(yard);
	yard_start(yard);
	asker_serve(yard);
	asker_open(asker, yard);
}

static bool
read_on(struct yard *yard, void *arg)
{
	struct asker *asker = arg;
	char buffer[4096];
	ssize_t n = read(asker->fd, buffer, sizeof(buffer));

	cr_assert(n > 0 || (n < 0 && errno == EAGAIN), "hung up");
	if (n > 0)
		str_add(&asker->text, buffer, (size_t)n);
	return slice_is(str_slice(&asker->text), "\n") ||
	    slice_ends(str_slice(&asker->text), "\n\n");
}

void
asker_ask(struct asker *asker, const char *format, ...)
{
	char line[8192];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	cr_assert(n > 0 && (size_t)n < sizeof(line) - 1);
	line[n++] = '\n';
	str_reset(&asker->text);
	cr_assert_eq(write(asker->fd, line, (size_t)n), (ssize_t)n);
	cr_assert(yard_until(asker->yard, read_on, asker), "%s", line);
	asker->text.len--;
	asker->text.buf[asker->text.len] = '\0';
}

static bool
line_at(const struct asker *asker, size_t number, struct slice *out)
{
	struct slice rest = str_slice(&asker->text);

	for (size_t i = 0; i <= number; i++)
		if (rest.n == 0 || !slice_cut(&rest, '\n', out))
			return false;
	return true;
}

size_t
asker_lines(const struct asker *asker)
{
	struct slice line;
	size_t count = 0;

	while (line_at(asker, count, &line))
		count++;
	return count;
}

const char *
asker_text(const struct asker *asker, size_t number, const char *key)
{
	static struct str value = STR_INIT;
	struct slice line;

	str_reset(&value);
	if (line_at(asker, number, &line))
		(void)json_get(line, key, &value);
	return value.buf != NULL ? value.buf : "";
}

int64_t
asker_last(const struct asker *asker, const char *key)
{
	const char *text = asker_text(asker, asker_lines(asker) - 1, key);
	uint64_t value;

	return slice_number(slice_of(text), 0, INT64_MAX, &value) ?
	    (int64_t)value : -1;
}

struct act *
act_begun(struct yard *yard, const char *line)
{
	static const struct rights_peer peer = { .right = RIGHT_WRITE,
	    .name = "root" };
	struct arena *arena = arena_new();
	struct request request;
	const char *code;
	struct err err;

	cr_assert_eq(request_parse(arena, slice_of(line), clock_wall_s(),
	    &request, &code, &err), 0, "%s", err.text);
	return act_new(&yard->scheduler.agents, &peer, arena, &request);
}

enum act_step
act_stepped(struct yard *yard, struct act *act, struct str *out)
{
	enum act_step step = act_step(act, out);

	if (step != ACT_SYNC)
		return step;
	syncer_settle(yard->scheduler.group.syncer);
	return ACT_MORE;
}

void
answer_whole(struct yard *yard, const char *line, struct answer_sum *sum)
{
	struct act *act = act_begun(yard, line);
	enum act_step step = ACT_MORE;

	*sum = (struct answer_sum){ .text = STR_INIT };
	while (step != ACT_DONE) {
		struct str out = STR_INIT;

		step = act_stepped(yard, act, &out);
		cr_assert(step == ACT_MORE || step == ACT_DONE);
		sum->steps++;
		sum->bytes += out.len;
		sum->most = out.len > sum->most ? out.len : sum->most;
		for (size_t i = 0; i < out.len; i++)
			sum->lines += out.buf[i] == '\n';
		str_add_slice(&sum->text, str_slice(&out));
		str_release(&out);
	}
	act_free(&act);
}
