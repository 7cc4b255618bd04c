/* mail.c - a message while filters look at it and change it
 *
 * In     a draft; changes that milters ask for
 * Out    fields and body for them; the changed message
 * Holds  a mapping of the draft, an arena
 * Trusts nothing: names, values and addresses of changes are checked, so no
 *        value becomes a second field, no header ends early
 * Spec   mail.h; RFC 5322 section 2.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "grammar/message/header.h"
#include "smtpserver/milter/mail.h"

#include "base/banned.h"

/* ---- reading ---------------------------------------------------------- */

static void
field_push(struct filter_mail *mail, size_t at, struct filter_field field)
{
	if (mail->field_count == mail->field_capacity) {
		mail->field_capacity = mail->field_capacity ?
		    mail->field_capacity * 2 :
		    32;
		mail->fields = mem_grow(mail->fields, mail->field_capacity,
		    sizeof(*mail->fields));
	}
	memmove(mail->fields + at + 1, mail->fields + at,
	    (mail->field_count - at) * sizeof(*mail->fields));
	mail->fields[at] = field;
	mail->field_count++;
}

/* Cut "Name: value LF *(WSP ... LF)" into fields.  A line without a colon is
 * kept as a field without a name, and written back as it is. */
static void
mail_read_fields(struct filter_mail *mail, struct slice header)
{
	while (header.n > 0 && mail->field_count < FILTER_FIELDS_MAX) {
		size_t end = slice_find(header, '\n') + 1, colon;
		struct filter_field field;

		while (end < header.n && (header.p[end] == ' ' ||
		    header.p[end] == '\t'))
			end += slice_find(slice_from(header, end), '\n') + 1;
		if (end > header.n)
			end = header.n;
		field.value = slice_first(header, end);
		if (field.value.p[end - 1] == '\n')
			field.value.n--;
		colon = slice_find(field.value, ':');
		if (colon < slice_find(field.value, '\n') &&
		    colon < field.value.n) {
			field.name = slice_first(field.value, colon);
			field.value = slice_from(field.value, colon + 1);
		} else {
			field.name = slice_first(field.value, 0);
		}
		field_push(mail, mail->field_count, field);
		header = slice_from(header, end);
	}
	if (header.n > 0)	/* the rest is one field without a name */
		field_push(mail, mail->field_count, (struct filter_field){
		    .name = slice_first(header, 0),
		    .value = slice_first(header, header.n - 1) });
}

int
filter_mail_open(struct filter_mail *mail, int fd, struct err *err)
{
	struct slice text;
	struct stat st;
	size_t header;
	void *map;

	memset(mail, 0, sizeof(*mail));
	if (fstat(fd, &st) != 0)
		return err_sys(err, "stat draft");
	if (!S_ISREG(st.st_mode) || st.st_size <= DRAFT_FIRST_LINE_BYTES)
		return err_set(err, "the draft is no message");
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "map draft");
	mail->file = (struct slice){ map, (size_t)st.st_size };
	mail->arena = arena_new();
	text = slice_from(mail->file, DRAFT_FIRST_LINE_BYTES);
	if (envelope_parse(mail->arena, text, &mail->envelope, err) < 0)
		return -1;
	mail->is_binary = slice_is(mail->envelope.bodytype, "BINARYMIME");
	text = slice_from(text, mail->envelope.header_offset);
	header = header_bytes(text);
	mail->body = slice_from(text, header);
	if (header > 0 && text.p[header - 1] == '\n' &&
	    (header == 1 || text.p[header - 2] == '\n'))
		header--;		/* the blank line is no field */
	mail_read_fields(mail, slice_first(text, header));
	return 0;
}

void
filter_mail_close(struct filter_mail *mail)
{
	if (mail->file.n > 0)
		munmap((void *)(uintptr_t)mail->file.p, mail->file.n);
	mem_free(&mail->fields);
	if (mail->arena != NULL)
		arena_free(&mail->arena);
	mail->file.n = 0;
}

/* ---- header ----------------------------------------------------------- */

/* RFC 5322 section 3.6.8: printable but colon and blank. */
static bool
mail_is_name(struct slice name)
{
	if (name.n == 0 || name.n > 200)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] == ':' || name.p[i] > '~')
			return false;
	return true;
}

/* In the arena: a blank in front, CR LF as LF, nothing that ends it. */
static struct slice
mail_clean_value(struct filter_mail *mail, struct slice value)
{
	char *text = arena_alloc(mail->arena, value.n + 2);
	size_t n = 0;

	if (value.n == 0 || (value.p[0] != ' ' && value.p[0] != '\t'))
		text[n++] = ' ';
	for (size_t i = 0; i < value.n; i++) {
		char c = value.p[i];

		if (c == '\0' || (c == '\r' && i + 1 < value.n &&
		    value.p[i + 1] == '\n'))
			continue;
		if (c == '\r')
			c = ' ';
		if (c == '\n' && (i + 1 == value.n ||
		    (value.p[i + 1] != ' ' && value.p[i + 1] != '\t')))
			break;
		text[n++] = c;
	}
	return (struct slice){ text, n };
}

void
filter_mail_insert(struct filter_mail *mail, size_t index,
    struct slice name, struct slice value)
{
	if (!mail_is_name(name) || mail->field_count >= FILTER_FIELDS_MAX)
		return;
	if (index > mail->field_count)
		index = mail->field_count;
	field_push(mail, index, (struct filter_field){
	    .name = slice_copy(mail->arena, name),
	    .value = mail_clean_value(mail, value) });
	mail->is_changed = true;
}

void
filter_mail_add(struct filter_mail *mail, struct slice name,
    struct slice value)
{
	filter_mail_insert(mail, mail->field_count, name, value);
}

void
filter_mail_change(struct filter_mail *mail, size_t index,
    struct slice name, struct slice value)
{
	size_t seen = 0;

	for (size_t i = 0; i < mail->field_count; i++) {
		if (!slice_equal_nocase(mail->fields[i].name, name) ||
		    ++seen < (index > 0 ? index : 1))
			continue;
		mail->is_changed = true;
		if (value.n > 0) {
			mail->fields[i].value = mail_clean_value(mail, value);
			return;
		}
		mail->field_count--;
		memmove(mail->fields + i, mail->fields + i + 1,
		    (mail->field_count - i) * sizeof(*mail->fields));
		return;
	}
	if (value.n > 0)
		filter_mail_add(mail, name, value);
}

/* ---- envelope --------------------------------------------------------- */

static int
mail_read_address(struct filter_mail *mail, struct slice text, struct path *out,
    struct err *err)
{
	struct slice rest = { NULL, 0 };

	text = slice_copy(mail->arena, slice_trim(text));
	if (path_parse(text, PATH_NULL_OK | PATH_BARE_OK | PATH_LOCAL_OK |
		PATH_POSTMASTER_OK | PATH_UTF8, out, &rest, err) != 0)
		return -1;
	if (rest.n > 0)
		return err_set(err, "text after the address");
	return 0;
}

static bool
mail_is_same(const struct path *a, const struct path *b)
{
	return slice_equal(a->local, b->local) &&
	    slice_equal_nocase(a->domain, b->domain);
}

int
filter_mail_add_rcpt(struct filter_mail *mail, struct slice address,
    struct err *err)
{
	struct envelope *envelope = &mail->envelope;
	struct envelope_rcpt *rcpts, one = { .notify = DSN_NOTIFY_DEFAULT };

	if (mail_read_address(mail, address, &one.path, err) < 0)
		return -1;
	if (path_is_null(&one.path) ||
	    envelope->rcpt_count >= ENVELOPE_RCPTS_MAX)
		return err_set(err, "a recipient too many");
	for (size_t i = 0; i < envelope->rcpt_count; i++)
		if (mail_is_same(&envelope->rcpts[i].path, &one.path))
			return 0;
	rcpts = arena_alloc(mail->arena,
	    (envelope->rcpt_count + 1) * sizeof(*rcpts));
	if (envelope->rcpt_count > 0)
		memcpy(rcpts, envelope->rcpts,
		    envelope->rcpt_count * sizeof(*rcpts));
	rcpts[envelope->rcpt_count++] = one;
	envelope->rcpts = rcpts;
	mail->is_changed = true;
	return 0;
}

void
filter_mail_delete_rcpt(struct filter_mail *mail, struct slice address)
{
	struct envelope *envelope = &mail->envelope;
	struct path path;
	size_t kept = 0;

	if (mail_read_address(mail, address, &path, NULL) < 0)
		return;
	for (size_t i = 0; i < envelope->rcpt_count; i++)
		if (!mail_is_same(&envelope->rcpts[i].path, &path))
			envelope->rcpts[kept++] = envelope->rcpts[i];
	mail->is_changed |= kept < envelope->rcpt_count;
	envelope->rcpt_count = kept;
}

int
filter_mail_set_from(struct filter_mail *mail, struct slice address,
    struct err *err)
{
	struct path path;

	if (mail_read_address(mail, address, &path, err) < 0)
		return -1;
	mail->envelope.from = path;
	mail->envelope.is_error = path_is_null(&path);
	mail->is_changed = true;
	return 0;
}

/* ---- body and all of it ----------------------------------------------- */

void
filter_mail_set_body(struct filter_mail *mail, struct slice body)
{
	char *text = arena_alloc(mail->arena, body.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < body.n; i++)
		if (mail->is_binary || body.p[i] != '\r' || i + 1 == body.n ||
		    body.p[i + 1] != '\n')
			text[n++] = body.p[i];
	mail->body = (struct slice){ text, n };
	mail->is_changed = true;
}

int
filter_mail_write(const struct filter_mail *mail, struct draft *draft,
    struct err *err)
{
	struct str text = STR_INIT;
	int result = -1;

	if (envelope_add(&text, &mail->envelope, err) < 0)
		goto out;
	for (size_t i = 0; i < mail->field_count; i++) {
		const struct filter_field *field = &mail->fields[i];

		str_add_slice(&text, field->name);
		if (field->name.n > 0)
			str_addc(&text, ':');
		str_add_slice(&text, field->value);
		str_addc(&text, '\n');
	}
	str_addc(&text, '\n');
	if (draft_write(draft, text.buf, text.len, err) == 0 &&
	    (mail->body.n == 0 ||
	    draft_write(draft, mail->body.p, mail->body.n, err) == 0))
		result = 0;
out:
	str_release(&text);
	return result;
}
