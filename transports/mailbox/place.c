/* place.c - whose mail this is, and where it goes
 *
 * In     the user of a recipient: a name, or a whole address when templates
 *        speak of domain or detail
 * Out    an owner, a path
 * Holds  nothing
 * Trusts the configuration's templates; names only after a check
 * Spec   zmailer-mailbox(8); zmailer.conf(5), mailbox
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/crc32c.h"
#include "transports/mailbox/roots.h"

#include "base/banned.h"

void
place_setup(struct mailbox *mailbox)
{
	const char *path = mailbox->conf->mailbox_path;
	size_t n = strcspn(path, "{");

	mailbox->needs_home = strstr(path, "{home}") != NULL;
	while (n > 1 && path[n - 1] != '/')
		n--;
	if (n > 1)
		n--;				/* the slash itself */
	if (n >= sizeof(mailbox->base))
		n = 0;
	memcpy(mailbox->base, path, n);
	mailbox->base[n] = '\0';
}

/* ---- owners ------------------------------------------------------------ */

/* A user without an account: its mailbox belongs to who owns the directory
 * of mailboxes.  A directory of root's that others can write is none. */
static enum account_found
place_base_owner(const struct mailbox *mailbox, struct account *out,
    struct err *err)
{
	struct stat st;

	if (lstat(mailbox->base, &st) != 0) {
		account_back();		/* who we are cannot look there */
		if (lstat(mailbox->base, &st) != 0)
			return err_sys(err, "%s", mailbox->base);
	}
	if (!S_ISDIR(st.st_mode) ||
	    (st.st_uid == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) != 0))
		return ACCOUNT_NONE;
	account_of_ids(st.st_uid, st.st_gid, out);
	return ACCOUNT_FOUND;
}

/* `mailbox ... as ACCOUNT`. */
static enum account_found
place_common_owner(const struct mailbox *mailbox, struct account *out,
    struct err *err)
{
	const char *name = mailbox->conf->mailbox_account;
	const struct account *found;
	enum account_found got = account_by_name(slice_of(name), &found, err);

	if (got == ACCOUNT_FOUND)
		*out = *found;
	errno = ENOENT;
	if (got != ACCOUNT_NONE)
		return got;
	err_set(err, "there is no account %s", name);
	return ACCOUNT_TROUBLE;
}

/* Who the delivery belongs to. */
static enum account_found
place_find_owner(const struct mailbox *mailbox, struct slice user,
    struct mailbox_place *out, struct err *err)
{
	const char *forward = mailbox->conf->forward_path;
	const struct account *found;
	enum account_found got;

	out->is_virtual = mailbox->conf->mailbox_account != NULL;
	if (out->is_virtual && account_is_root())
		return place_common_owner(mailbox, &out->owner, err);
	if (!account_is_root() && (out->is_virtual || (!mailbox->needs_home &&
	    strstr(forward, "{home}") == NULL))) {
		account_of_ids(geteuid(), getegid(), &out->owner);
		out->is_virtual = true;
		return ACCOUNT_FOUND;
	}
	got = account_by_name(user, &found, err);
	if (got == ACCOUNT_FOUND)
		out->owner = *found;
	if (got == ACCOUNT_FOUND && !account_is_root()) {
		out->is_virtual = found->uid != geteuid();
		out->owner.uid = geteuid();
	}
	if (got != ACCOUNT_NONE || mailbox->needs_home)
		return got;
	out->is_virtual = true;
	if (account_is_root())
		return place_base_owner(mailbox, &out->owner, err);
	account_of_ids(geteuid(), getegid(), &out->owner);
	return ACCOUNT_FOUND;
}

/* user[+detail][@domain]; without a domain all of it is the user. */
static void
place_cut_rcpt(const struct conf *conf, struct slice rcpt,
    struct mailbox_place *out)
{
	const char *at = conf->mailbox_is_addressed && rcpt.n > 0 ?
	    memrchr(rcpt.p, '@', rcpt.n) : NULL;
	size_t plus;

	out->user = rcpt;
	if (at == NULL)
		return;
	out->user.n = (size_t)(at - rcpt.p);
	out->domain = slice_from(rcpt, out->user.n + 1);
	plus = slice_find(out->user, '+');
	if (plus == 0 || plus == out->user.n)
		return;
	out->detail = slice_from(out->user, plus + 1);
	out->user.n = plus;
}

static void
place_make_address(const struct conf *conf, struct slice rcpt,
    struct mailbox_place *out)
{
	struct str text = STR_INIT;

	str_add_escaped(&text, rcpt);
	if (slice_find(rcpt, '@') == rcpt.n)
		str_addf(&text, "@%s", conf->host);
	strlcpy(out->address, text.buf, sizeof(out->address));
	str_release(&text);
}

enum account_found
place_find(const struct mailbox *mailbox, struct slice rcpt,
    struct mailbox_place *out, struct err *err)
{
	memset(out, 0, sizeof(*out));
	place_cut_rcpt(mailbox->conf, rcpt, out);
	place_make_address(mailbox->conf, rcpt, out);
	if (!account_name_is_safe(out->user) ||
	    (out->domain.n > 0 && !account_name_is_safe(out->domain)) ||
	    (out->detail.n > 0 && !account_name_is_safe(out->detail))) {
		errno = EINVAL;
		return ACCOUNT_TROUBLE;
	}
	return place_find_owner(mailbox, out->user, out, err);
}

/* ---- paths ------------------------------------------------------------- */

static char
place_letter(struct slice user, size_t index)
{
	char c = index < user.n ? user.p[index] : '_';

	if (ascii_is_upper(c))
		return (char)(c + 32);
	return ascii_is_lower(c) || ascii_is_digit(c) ? c : '_';
}

/* What stands for the brace at the front of text.  returns its bytes there,
 * 0 when it is none. */
static size_t
place_fill_brace(struct slice text, const struct mailbox_place *place,
    struct str *out)
{
	const struct { const char *brace; struct slice value; } rows[] = {
		{ "{user}", place->user },
		{ "{home}", slice_of(place->owner.home) },
		{ "{domain}", place->domain },
		{ "{detail}", place->detail },
	};
	uint32_t crc;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_starts(text, rows[i].brace)) {
			str_add_slice(out, rows[i].value);
			return strlen(rows[i].brace);
		}
	if (slice_starts(text, "{first}")) {
		str_addc(out, place_letter(place->user, 0));
		return 7;
	}
	if (slice_starts(text, "{second}")) {
		str_addc(out, place_letter(place->user, 1));
		return 8;
	}
	crc = crc32c(0, place->user.p, place->user.n);
	if (slice_starts(text, "{hash}")) {
		str_addf(out, "%02x", (unsigned)(crc & 0xff));
		return 6;
	}
	if (slice_starts(text, "{hash2}")) {
		str_addf(out, "%02x", (unsigned)(crc >> 8 & 0xff));
		return 7;
	}
	return 0;
}

int
place_path(const char *template, const struct mailbox_place *place,
    char out[MAILBOX_PATH_BYTES], struct err *err)
{
	struct slice rest = slice_of(template);
	struct str path = STR_INIT;
	bool fits;

	while (rest.n > 0) {
		size_t n = rest.p[0] == '{' ?
		    place_fill_brace(rest, place, &path) : 0;

		if (n == 0)
			str_addc(&path, rest.p[0]);
		rest = slice_from(rest, n > 0 ? n : 1);
	}
	fits = strlcpy(out, path.buf, MAILBOX_PATH_BYTES) <
	    MAILBOX_PATH_BYTES;
	str_release(&path);
	errno = ENAMETOOLONG;
	return fits ? 0 : err_set(err, "the path of the mailbox is too long");
}

/* ---- directories ------------------------------------------------------- */

/* One directory of a hashed path: the owner's where the owner may make it,
 * else root's own, as its parent is. */
static int
place_make_directory(const char *path, const char *base,
    const struct account *owner, struct err *err)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != EACCES || !account_is_root())
		return err_sys(err, "make %s", path);
	return roots_make_directory(path, base, 0755, owner, err) == 0 ||
	    errno == EEXIST ? 0 : -1;
}

int
parents_make(const char *path, const char *base,
    const struct account *owner, struct err *err)
{
	char name[MAILBOX_PATH_BYTES];
	size_t n = strlen(base), end = strlen(path);

	while (end > n && path[end] != '/')
		end--;
	if (end <= n + 1 || end >= sizeof(name))
		return 0;		/* right below base */
	memcpy(name, path, end);
	name[end] = '\0';
	if (access(name, F_OK) == 0)
		return 0;
	for (n++; n <= end; n++) {
		if (path[n] != '/')
			continue;
		name[n] = '\0';
		if (place_make_directory(name, base, owner, err) < 0)
			return -1;
		name[n] = '/';
	}
	return 0;
}
