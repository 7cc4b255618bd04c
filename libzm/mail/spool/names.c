/* names.c - file names in a spool
 *
 * In     inode; or text
 * Out    names; or what they mean
 * Spec   doc/INTERNALS.md section 1
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/pid.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

const char *const spool_area_names[AREA_COUNT] = {
	[AREA_PUBLIC] = "public",
	[AREA_ROUTER] = "router",
	[AREA_QUEUE] = "queue",
	[AREA_TRANSPORT] = "transport",
	[AREA_DEFERRED] = "deferred",
	[AREA_FREEZER] = "freezer",
	[AREA_POSTMAN] = "postman",
	[AREA_TRASH] = "trash",
};

void
spool_dsn_name(const char *id, size_t report_records,
    char out_name[SPOOL_NAME_BYTES])
{
	snprintf(out_name, SPOOL_NAME_BYTES, "dsn-%s-%zu", id, report_records);
}

/* Decimal digits without a leading zero; what follows moves into rest. */
static bool
name_take_number(struct slice *rest, uint64_t max, uint64_t *out)
{
	size_t n = 0;

	while (n < rest->n && ascii_is_digit(rest->p[n]))
		n++;
	if (n == 0 || rest->p[0] == '0' ||
	    !slice_number(slice_first(*rest, n), 1, max, out))
		return false;
	*rest = slice_from(*rest, n);
	return true;
}

static bool
is_why(struct slice why)
{
	if (why.n == 0 || why.n > SPOOL_NAME_BYTES / 2)
		return false;
	for (size_t i = 0; i < why.n; i++) {
		char c = why.p[i];

		if (!(ascii_is_alnum(c) || c == '-' || c == '_' ||
		    c == '.'))
			return false;
	}
	return true;
}

/* Where drafts and plans are made: "new/k/", "plans/k/". */
static struct slice
without_spread(struct slice text)
{
	for (int area = AREA_PUBLIC; area <= AREA_ROUTER; area++) {
		struct slice dir = slice_of(spool_spread_dir(
		    (enum spool_area)area));

		if (text.n > dir.n + 3 && memcmp(text.p, dir.p, dir.n) == 0 &&
		    text.p[dir.n] == '/' && ascii_is_alpha(text.p[dir.n + 1]) &&
		    text.p[dir.n + 2] == '/')
			return slice_from(text, dir.n + 3);
	}
	return text;
}

/* Hash directories in front: "D/", "D/J/". */
static struct slice
without_hash(struct slice text)
{
	for (int i = 0; i < 2; i++)
		if (text.n > 2 && ascii_is_upper(text.p[0]) &&
		    text.p[1] == '/')
			text = slice_from(text, 2);
	return text;
}

const char *
spool_name_base(const char *name)
{
	return without_spread(without_hash(slice_of(name))).p;
}

bool
spool_name_parse(struct slice text, struct spool_name *out)
{
	struct slice rest = without_spread(without_hash(text));
	uint64_t inode, pid = 0;

	memset(out, 0, sizeof(*out));
	if (slice_starts(rest, "..")) {
		out->is_plan = true;
		rest = slice_from(rest, 2);
	}
	if (!name_take_number(&rest, UINT64_MAX, &inode))
		return false;
	if (slice_starts(rest, "-")) {
		rest = slice_from(rest, 1);
		if (!name_take_number(&rest, INT32_MAX, &pid))
			return false;
	} else if (slice_starts(rest, ".") && !out->is_plan) {
		out->why = slice_from(rest, 1);
		if (!is_why(out->why))
			return false;
		rest = slice_first(rest, 0);
	}
	if (rest.n > 0 || (out->is_plan && pid == 0))
		return false;
	out->inode = (ino_t)inode;
	out->pid = (pid_t)pid;
	return true;
}

ino_t
spool_name_inode(const char *name)
{
	struct spool_name parts;

	return spool_name_parse(slice_of(name), &parts) ? parts.inode : 0;
}

static char *
name_put_number(char *at, uint64_t number)
{
	char room[DECIMAL_BYTES];
	struct slice digits = slice_decimal(number, room);

	memcpy(at, digits.p, digits.n);
	return at + digits.n;
}

void
spool_inode_name(ino_t inode, char *out_name)
{
	*name_put_number(out_name, inode) = '\0';
}

void
spool_own_name(const char *front, ino_t inode, char out_name[SPOOL_NAME_BYTES])
{
	char *at = out_name;

	while (*front != '\0')
		*at++ = *front++;
	at = name_put_number(at, inode);
	*at = '-';
	*name_put_number(at + 1, (uint64_t)pid_own()) = '\0';
}

void
spool_hashed_name(const struct spool *spool, ino_t inode,
    char out_name[SPOOL_NAME_BYTES])
{
	char *at = out_name;

	if (spool->hash_levels > 1) {
		*at++ = (char)('A' + inode / 26 % 26);
		*at++ = '/';
	}
	if (spool->hash_levels > 0) {
		*at++ = (char)('A' + inode % 26);
		*at++ = '/';
	}
	spool_inode_name(inode, at);
}

bool
spool_why_is(const char *why, bool underscore_ok)
{
	const char *p = why;

	if (underscore_ok && *p == '_')
		p++;
	if (*p == '\0' || strlen(p) > SPOOL_WHY_BYTES_MAX)
		return false;
	return strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
	    strlen(p);
}

const char *
spool_label(enum spool_area area, unsigned priority, const char *name)
{
	static char labels[4][SPOOL_NAME_BYTES * 4];
	static unsigned turn;
	char *label = labels[turn++ % 4];

	if (area == AREA_ROUTER && priority > 0)
		snprintf(label, sizeof(labels[0]), "router.%u/%s", priority,
		    name);
	else
		snprintf(label, sizeof(labels[0]), "%s/%s",
		    spool_area_names[area], name);
	return label;
}
