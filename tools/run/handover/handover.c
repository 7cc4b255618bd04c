/* handover.c - the record that is handed over: written and read by one table
 *
 * In     a struct; a text of another version of this program
 * Out    a text; a struct
 * Holds  nothing
 * Trusts no text: each field has a bound, a list its length, a descriptor is
 *        looked at (fds.c)
 * Spec   handover.h; doc/INTERNALS section 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "tools/run/handover/table.h"

#include "base/banned.h"

#define TITLE "zmailer-handover"

#define NUMBER(type, member) \
	{ HANDOVER_NUMBER, offsetof(struct type, member), 0 }
#define FLAG(type, member) { HANDOVER_FLAG, offsetof(struct type, member), 0 }
#define DESCRIPTOR(type, member, what) \
	{ HANDOVER_FD, offsetof(struct type, member), what }
#define WORD(type, member) { HANDOVER_WORD, offsetof(struct type, member), \
		    sizeof(((struct type *)0)->member) \
	}
#define TEXT(type, member) { HANDOVER_TEXT, offsetof(struct type, member), \
		    sizeof(((struct type *)0)->member) \
	}
#define LINE(word, rows, count, type, ...) { word, \
	offsetof(struct handover, rows), sizeof(struct type), \
	sizeof(((struct handover *)0)->rows) / sizeof(struct type), \
	offsetof(struct handover, count), { __VA_ARGS__ } }

const struct handover_line handover_lines[] = {
	LINE("instance", instances, instance_count, handover_instance,
	    NUMBER(handover_instance, since_s),
	    NUMBER(handover_instance, conf_number),
	    NUMBER(handover_instance, reloads),
	    NUMBER(handover_instance, upgrades),
	    DESCRIPTOR(handover_instance, lock_fd, HANDOVER_FILE)),
	LINE("setting", settings, setting_count, handover_setting,
	    WORD(handover_setting, name),
	    TEXT(handover_setting, value)),
	LINE("room", rooms, room_count, handover_room,
	    NUMBER(handover_room, number),
	    DESCRIPTOR(handover_room, fd, HANDOVER_LOCK)),
	LINE("listener", listeners, listener_count, handover_listener,
	    WORD(handover_listener, whose),
	    DESCRIPTOR(handover_listener, fd, HANDOVER_LISTENING),
	    FLAG(handover_listener, is_given),
	    FLAG(handover_listener, is_submission),
	    FLAG(handover_listener, is_tls),
	    TEXT(handover_listener, text)),
	LINE("given", given, given_count, handover_given,
	    DESCRIPTOR(handover_given, fd, HANDOVER_LISTENING)),
	LINE("child", children, child_count, handover_child,
	    WORD(handover_child, name),
	    WORD(handover_child, state),
	    NUMBER(handover_child, pid),
	    DESCRIPTOR(handover_child, lifeline,
		HANDOVER_SOCKET | HANDOVER_MAYBE),
	    NUMBER(handover_child, since_s),
	    NUMBER(handover_child, started_at_ms),
	    NUMBER(handover_child, restarts),
	    NUMBER(handover_child, conf),
	    FLAG(handover_child, was_ready),
	    NUMBER(handover_child, made_s),
	    NUMBER(handover_child, bytes),
	    TEXT(handover_child, program)),
	LINE("before", before, before_count, handover_before,
	    WORD(handover_before, name),
	    NUMBER(handover_before, pid),
	    DESCRIPTOR(handover_before, lifeline, HANDOVER_SOCKET),
	    FLAG(handover_before, is_told),
	    FLAG(handover_before, has_left),
	    FLAG(handover_before, is_stopping)),
	LINE("beside", beside, beside_count, handover_beside,
	    WORD(handover_beside, name),
	    NUMBER(handover_beside, pid),
	    DESCRIPTOR(handover_beside, lifeline,
		HANDOVER_PIPE | HANDOVER_MAYBE),
	    DESCRIPTOR(handover_beside, socket,
		HANDOVER_LISTENING | HANDOVER_MAYBE),
	    DESCRIPTOR(handover_beside, place,
		HANDOVER_FILE | HANDOVER_MAYBE),
	    DESCRIPTOR(handover_beside, second,
		HANDOVER_SOCKET | HANDOVER_MAYBE)),
	{ NULL, 0, 0, 0, 0, { { HANDOVER_NONE, 0, 0 } } }
};

size_t
handover_rows(const struct handover_line *line,
    const struct handover *handover)
{
	return *(const size_t *)((const char *)handover + line->count_at);
}

const void *
handover_row(const struct handover_line *line,
    const struct handover *handover, size_t i)
{
	return (const char *)handover + line->at + i * line->bytes;
}

/* ---- writing ----------------------------------------------------------- */

static int
handover_field_add(struct str *out, const struct handover_field *field,
    const char *row, struct err *err)
{
	const void *at = row + field->at;
	struct slice text;

	str_addc(out, ' ');
	switch (field->kind) {
	case HANDOVER_NUMBER:
		str_addf(out, "%lld", (long long)*(const int64_t *)at);
		return 0;
	case HANDOVER_FLAG:
		str_addc(out, *(const bool *)at ? '1' : '0');
		return 0;
	case HANDOVER_FD:
		if (*(const int *)at < 0)
			str_addc(out, '-');
		else
			str_addf(out, "%d", *(const int *)at);
		return 0;
	default:
		text = slice_of(at);
		str_add_slice(out, text);
		return slice_find(text, '\n') == text.n ? 0 : err_set(err,
		    "a name with a line's end in it cannot be handed over");
	}
}

static int
handover_row_add(struct str *out, const struct handover_line *line,
    const void *row, struct err *err)
{
	str_adds(out, line->word);
	for (const struct handover_field *field = line->fields;
	    field->kind != HANDOVER_NONE; field++)
		if (handover_field_add(out, field, row, err) < 0)
			return -1;
	str_addc(out, '\n');
	return 0;
}

int
handover_add(struct str *out, const struct handover *handover,
    struct err *err)
{
	const struct handover_line *line;

	str_addf(out, TITLE " %d\n", HANDOVER_VERSION);
	for (line = handover_lines; line->word != NULL; line++)
		for (size_t i = 0; i < handover_rows(line, handover); i++)
			if (handover_row_add(out, line, handover_row(line,
			    handover, i), err) < 0)
				return -1;
	return 0;
}

/* ---- reading ----------------------------------------------------------- */

static bool
handover_number_take(struct slice word, int64_t *out)
{
	uint64_t number;

	if (!slice_number(word, 0, INT64_MAX, &number))
		return false;
	*out = (int64_t)number;
	return true;
}

static bool
handover_descriptor_take(struct slice word, unsigned what, int *out)
{
	uint64_t number;

	*out = -1;
	if (slice_is(word, "-"))
		return (what & HANDOVER_MAYBE) != 0;
	if (!slice_number(word, STDERR_FILENO + 1, INT32_MAX, &number))
		return false;
	*out = (int)number;
	return true;
}

static bool
handover_text_take(struct slice text, char *out, size_t size)
{
	if (text.n >= size || memchr(text.p, '\0', text.n) != NULL)
		return false;
	memcpy(out, text.p, text.n);
	out[text.n] = '\0';
	return true;
}

static bool
handover_field_take(const struct handover_field *field, struct slice *rest,
    char *row)
{
	void *at = row + field->at;
	struct slice word;

	if (field->kind == HANDOVER_TEXT) {
		word = slice_from(*rest, rest->n > 0);
		*rest = slice_from(*rest, rest->n);
		return handover_text_take(word, at, field->more);
	}
	if (!slice_word(rest, &word))
		return false;
	switch (field->kind) {
	case HANDOVER_NUMBER:
		return handover_number_take(word, at);
	case HANDOVER_FD:
		return handover_descriptor_take(word, field->more, at);
	case HANDOVER_FLAG:
		*(bool *)at = slice_is(word, "1");
		return *(bool *)at || slice_is(word, "0");
	default:
		return handover_text_take(word, at, field->more);
	}
}

static const struct handover_line *
handover_line_find(struct slice word)
{
	const struct handover_line *line;

	for (line = handover_lines; line->word != NULL; line++)
		if (slice_is(word, line->word))
			return line;
	return NULL;
}

static int
handover_row_take(struct slice text, struct handover *out, struct err *err)
{
	const struct handover_line *line;
	struct slice rest = text, word;
	size_t *count;
	char *row;

	if (!slice_word(&rest, &word) ||
	    (line = handover_line_find(word)) == NULL)
		return err_set(err, "it is not known");
	count = (size_t *)((char *)out + line->count_at);
	if (*count == line->max)
		return err_set(err, "more than %zu of them", line->max);
	row = (char *)out + line->at + *count * line->bytes;
	for (const struct handover_field *field = line->fields;
	    field->kind != HANDOVER_NONE; field++)
		if (!handover_field_take(field, &rest, row))
			return err_set(err, "its field %d cannot be",
			    (int)(field - line->fields) + 1);
	if (rest.n > 0)
		return err_set(err, "it has more fields than are known");
	++*count;
	return 0;
}

static int
handover_title_take(struct slice line, struct err *err)
{
	struct slice word;
	uint64_t version;

	if (!slice_word(&line, &word) || !slice_is(word, TITLE) ||
	    !slice_word(&line, &word) ||
	    !slice_number(word, 0, INT32_MAX, &version) || line.n > 0)
		return err_set(err, "this is no record of a zmailer that "
		    "hands over");
	if (version != HANDOVER_VERSION)
		return err_set(err, "the record has version %llu, this "
		    "program takes version %d", (unsigned long long)version,
		    HANDOVER_VERSION);
	return 0;
}

/* Signals go there: who has a lifeline has a pid, and none is 0 then. */
static int
handover_check_pids(const struct handover *handover, struct err *err)
{
	bool is_good = true;

	for (size_t i = 0; i < handover->child_count; i++)
		is_good &= handover->children[i].pid <= INT_MAX &&
		    (handover->children[i].pid > 0) ==
		    (handover->children[i].lifeline >= 0);
	for (size_t i = 0; i < handover->before_count; i++)
		is_good &= handover->before[i].pid > 0 &&
		    handover->before[i].pid <= INT_MAX;
	for (size_t i = 0; i < handover->beside_count; i++)
		is_good &= handover->beside[i].pid <= INT_MAX;
	return is_good ? 0 : err_set(err, "the record has a process whose "
	    "number cannot be");
}

int
handover_parse(struct slice text, struct handover *out, struct err *err)
{
	unsigned number = 1;
	struct slice line;

	memset(out, 0, sizeof(*out));
	if (text.n == 0 || text.p[text.n - 1] != '\n' ||
	    !slice_cut(&text, '\n', &line))
		return err_set(err, "the record is cut off");
	if (handover_title_take(line, err) < 0)
		return -1;
	while (text.n > 0 && slice_cut(&text, '\n', &line)) {
		number++;
		if (handover_row_take(line, out, err) < 0)
			return err_prefix(err, "line %u of the record",
			    number);
	}
	if (out->instance_count != 1)
		return err_set(err, "the record does not speak of an instance");
	return handover_check_pids(out, err);
}

const char *
handover_setting(const struct handover *handover, const char *name)
{
	for (size_t i = 0; i < handover->setting_count; i++)
		if (strcmp(handover->settings[i].name, name) == 0)
			return handover->settings[i].value;
	return "";
}

void
handover_set(struct handover *handover, const char *name, const char *value)
{
	struct handover_setting *row;

	if (handover->setting_count == HANDOVER_SETTINGS_MAX)
		panic("handover_set: %s", name);
	row = &handover->settings[handover->setting_count++];
	strlcpy(row->name, name, sizeof(row->name));
	strlcpy(row->value, value, sizeof(row->value));
}

/* ---- the memfd --------------------------------------------------------- */

int
handover_write(const struct handover *handover, struct err *err)
{
	struct str text = STR_INIT;
	int fd = -1;

	if (handover_add(&text, handover, err) == 0) {
		fd = memfd_create("zmailer-handover", MFD_CLOEXEC);
		if (fd < 0)
			err_sys(err, "cannot make a record");
	}
	if (fd >= 0 && fd_write_all(fd, text.buf, text.len) < 0) {
		err_sys(err, "cannot write a record");
		close(fd);
		fd = -1;
	}
	str_release(&text);
	return fd;
}

int
handover_read(int fd, struct handover *out, struct err *err)
{
	struct str text = STR_INIT;
	int result;

	if (lseek(fd, 0, SEEK_SET) != 0 ||
	    fd_read_all(fd, HANDOVER_BYTES_MAX, &text) < 0)
		result = err_sys(err, "cannot read the record");
	else
		result = handover_parse(str_slice(&text), out, err);
	str_release(&text);
	return result == 0 ? handover_check(out, err) : -1;
}
