/* state.c - RUN/zmailer.state: one JSON line a process
 *
 * In     what the supervisor knows; a file of ours
 * Out    the file, whole or not at all; what tools show
 * Trusts nothing it reads back: numbers and lengths are checked
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

enum { STATE_BYTES_MAX = 64 * 1024, PATH_BYTES = 4200 };

static void
state_add_program(struct str *out, const struct program *program)
{
	json_text(out, "program", slice_of(program->path));
	json_number(out, "program_made", program->made_s);
	json_number(out, "program_bytes", program->bytes);
}

static void
state_format(const struct state *state, struct str *out)
{
	json_open(out);
	json_text(out, "name", SLICE("supervisor"));
	json_number(out, "pid", state->pid);
	json_number(out, "since", state->since_s);
	json_number(out, "reloads", state->reloads);
	json_number(out, "conf", state->conf);
	json_text(out, "refused", slice_of(state->refused));
	json_number(out, "partial", state->is_partial);
	json_number(out, "handover", state->handover);
	json_number(out, "upgrades", state->upgrades);
	json_number(out, "upgrading", state->is_upgrading);
	json_text(out, "not_upgraded", slice_of(state->not_upgraded));
	json_text(out, "unused", slice_of(state->unused));
	json_text(out, "listeners", slice_of(state->listeners));
	json_text(out, "version", slice_of(state->version));
	state_add_program(out, &state->program);
	json_close(out);
	for (size_t i = 0; i < state->child_count; i++) {
		const struct state_child *child = &state->children[i];

		json_open(out);
		json_text(out, "name", slice_of(child->name));
		json_text(out, "state", slice_of(child->state));
		json_number(out, "pid", child->pid);
		json_number(out, "since", child->since_s);
		json_number(out, "restarts", child->restarts);
		json_number(out, "conf", child->conf);
		json_number(out, "before", child->before);
		state_add_program(out, &child->program);
		json_close(out);
	}
}

int
state_write(const char *run_dir, const struct state *state, struct err *err)
{
	char path[PATH_BYTES], fresh[PATH_BYTES];
	struct str text = STR_INIT;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/zmailer.state", run_dir);
	snprintf(fresh, sizeof(fresh), "%s/.zmailer.state", run_dir);
	(void)unlink(fresh);	/* of a supervisor that was killed */
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0644);
	if (fd < 0)
		return err_sys(err, "cannot write %s", fresh);
	state_format(state, &text);
	(void)fchmod(fd, 0644);
	n = write(fd, text.buf, text.len);
	close(fd);
	if (n == (ssize_t)text.len && rename(fresh, path) == 0) {
		str_release(&text);
		return 0;
	}
	err_sys(err, "cannot write %s", path);
	str_release(&text);
	return -1;
}

static uint64_t
state_number_of(struct slice line, const char *key, uint64_t max)
{
	struct str text = STR_INIT;
	uint64_t number = 0;

	if (json_get(line, key, &text))
		(void)slice_number(str_slice(&text), 0, max, &number);
	str_release(&text);
	return number;
}

static void
state_text_of(struct slice line, const char *key, char *out, size_t size)
{
	struct str text = STR_INIT;

	out[0] = '\0';
	if (json_get(line, key, &text))
		snprintf(out, size, "%s", text.buf);
	str_release(&text);
}

static void
state_program_of(struct slice line, struct program *out)
{
	state_text_of(line, "program", out->path, sizeof(out->path));
	out->made_s = (int64_t)state_number_of(line, "program_made",
	    INT64_MAX);
	out->bytes = (int64_t)state_number_of(line, "program_bytes",
	    INT64_MAX);
}

static void
state_line_take(struct slice line, struct state *out)
{
	struct state_child *child = &out->children[out->child_count];
	char name[32];

	state_text_of(line, "name", name, sizeof(name));
	if (strcmp(name, "supervisor") == 0) {
		out->pid = (pid_t)state_number_of(line, "pid", INT32_MAX);
		out->since_s = (int64_t)state_number_of(line, "since",
		    INT64_MAX);
		out->reloads = (unsigned)state_number_of(line, "reloads",
		    UINT32_MAX);
		out->conf = (unsigned)state_number_of(line, "conf",
		    UINT32_MAX);
		state_text_of(line, "refused", out->refused,
		    sizeof(out->refused));
		out->is_partial = state_number_of(line, "partial", 1) == 1;
		out->handover = (unsigned)state_number_of(line, "handover",
		    UINT32_MAX);
		out->upgrades = (unsigned)state_number_of(line, "upgrades",
		    UINT32_MAX);
		out->is_upgrading = state_number_of(line, "upgrading", 1) == 1;
		state_text_of(line, "not_upgraded", out->not_upgraded,
		    sizeof(out->not_upgraded));
		state_text_of(line, "unused", out->unused,
		    sizeof(out->unused));
		state_text_of(line, "listeners", out->listeners,
		    sizeof(out->listeners));
		state_text_of(line, "version", out->version,
		    sizeof(out->version));
		state_program_of(line, &out->program);
		return;
	}
	if (name[0] == '\0' || out->child_count == STATE_CHILDREN_MAX)
		return;
	snprintf(child->name, sizeof(child->name), "%s", name);
	state_text_of(line, "state", child->state, sizeof(child->state));
	child->pid = (pid_t)state_number_of(line, "pid", INT32_MAX);
	child->since_s = (int64_t)state_number_of(line, "since", INT64_MAX);
	child->restarts = (unsigned)state_number_of(line, "restarts",
	    UINT32_MAX);
	child->conf = (unsigned)state_number_of(line, "conf", UINT32_MAX);
	child->before = (unsigned)state_number_of(line, "before",
	    UINT32_MAX);
	state_program_of(line, &child->program);
	out->child_count++;
}

enum state_found
state_read(const char *run_dir, struct state *out, struct err *err)
{
	char path[PATH_BYTES], text[STATE_BYTES_MAX];
	struct slice rest, line;
	ssize_t n;
	int fd;

	memset(out, 0, sizeof(*out));
	snprintf(path, sizeof(path), "%s/zmailer.state", run_dir);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return STATE_NONE;
	if (fd < 0)
		return err_sys(err, "cannot read %s", path);
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n < 0)
		return err_sys(err, "cannot read %s", path);
	rest = (struct slice){ text, (size_t)n };
	while (slice_cut(&rest, '\n', &line))
		state_line_take(line, out);
	if (out->pid == 0)
		return err_set(err, "%s is not a state file", path);
	return STATE_READ;
}

void
state_remove(const char *run_dir)
{
	static const char *const names[] = {
		"zmailer.state", ".zmailer.state", "zmailer.pid",
	};
	char path[PATH_BYTES];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", run_dir, names[i]);
		(void)unlink(path);
	}
}

int
state_write_pid(const char *run_dir, struct err *err)
{
	char path[4200], text[32];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	int fd;

	snprintf(path, sizeof(path), "%s/zmailer.pid", run_dir);
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0644);
	if (fd < 0 || write(fd, text, (size_t)n) != n) {
		err_sys(err, "cannot write %s", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	(void)fchmod(fd, 0644);
	close(fd);
	return 0;
}
