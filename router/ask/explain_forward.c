/* explain_forward.c - what a user's forward file makes of a local place
 *
 * In     a recipient of channel local; the file that `forward` names
 * Out    what it leads to
 * Holds  the file while it is read
 * Trusts nothing in it: who asks may be root, and its owner anybody; a file
 *        that the transport would not believe is not shown
 * Spec   zmailer-route(8); zmailer-mailbox(8), Forward files
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/ask/explain_forward.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "grammar/message/alias.h"
#include "mail/forward_file.h"

#include "base/banned.h"

struct forward_place {
	struct slice	user, detail, domain;
	const struct passwd *account;
	struct str	path;
	struct str	leads, remark;
};

/* user[+detail][@domain], as the transport cuts it. */
static void
forward_place_cut(const struct conf *conf, struct slice rcpt,
    struct forward_place *out)
{
	size_t at = rcpt.n, plus;

	while (at > 0 && rcpt.p[at - 1] != '@')
		at--;
	out->user = rcpt;
	if (!conf->mailbox_is_addressed || at == 0)
		return;
	out->user.n = at - 1;
	out->domain = slice_from(rcpt, at);
	plus = slice_find(out->user, '+');
	if (plus == 0 || plus == out->user.n)
		return;
	out->detail = slice_from(out->user, plus + 1);
	out->user.n = plus;
}

/* False: a brace that only the transport fills. */
static bool
forward_path_fill(const char *template, struct forward_place *place)
{
	const struct { const char *brace; struct slice value; } rows[] = {
		{ "{user}", place->user },
		{ "{home}", slice_of(place->account == NULL ? "" :
		    place->account->pw_dir) },
		{ "{domain}", place->domain },
		{ "{detail}", place->detail },
	};
	struct slice rest = slice_of(template);
	size_t n;

	while (rest.n > 0) {
		n = 0;
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (slice_starts(rest, rows[i].brace)) {
				n = strlen(rows[i].brace);
				str_add_slice(&place->path, rows[i].value);
			}
		if (n == 0 && rest.p[0] == '{')
			return false;
		if (n == 0)
			str_addc(&place->path, rest.p[0]);
		rest = slice_from(rest, n > 0 ? n : 1);
	}
	return true;
}

/* The owner of the file, as far as an account tells; false: nobody has one
 * there. */
static bool
forward_place_find(const struct conf *conf, const struct draft_rcpt *rcpt,
    struct forward_place *place)
{
	const char *template = conf->forward_path;
	bool is_own = strstr(template, "{home}") != NULL;
	struct str name = STR_INIT;

	if (template[0] == '\0')
		return false;
	forward_place_cut(conf, rcpt->user, place);
	if (slice_find(place->user, '/') < place->user.n ||
	    place->user.n == 0 || place->user.p[0] == '.')
		return false;
	str_add_slice(&name, place->user);
	place->account = getpwnam(name.buf);
	str_release(&name);
	if (is_own && (place->account == NULL || place->account->pw_uid == 0 ||
	    conf->mailbox_account != NULL || place->account->pw_dir[0] == '\0'))
		return false;
	return forward_path_fill(template, place);
}

/* ---- the file ----------------------------------------------------------- */

static void
forward_take_items(struct forward_place *place, struct slice text)
{
	struct arena *arena = arena_new();
	struct alias_item item;
	struct err err;
	int got;

	while ((got = alias_next(arena, &text, ALIAS_COMMENTS, &item,
	    &err)) != ALIAS_END) {
		if (got < 0) {
			str_reset(&place->remark);
			str_adds(&place->remark, err.text);
			continue;
		}
		if (place->leads.len > 0)
			str_adds(&place->leads, ", ");
		alias_add(&place->leads, &item);
	}
	arena_free(&arena);
}

static void
forward_take_file(struct forward_place *place, int fd)
{
	uid_t owner = place->account == NULL ? 0 : place->account->pw_uid;
	const char *distrust;
	struct stat st;
	ssize_t got = -1;
	char *bytes;

	if (fstat(fd, &st) != 0) {
		str_adds(&place->remark, strerror(errno));
		return;
	}
	if (place->account == NULL)	/* whose it is only the agent knows */
		owner = st.st_uid;
	distrust = forward_file_distrust(&st, owner);
	if (distrust == NULL)
		distrust = forward_directory_distrust(place->path.buf);
	if (distrust != NULL) {
		str_addf(&place->remark, "it is ignored: %s", distrust);
		return;
	}
	bytes = mem_alloc((size_t)st.st_size + 1, 1);
	got = fd_read_at(fd, bytes, (size_t)st.st_size, 0);
	if (got < 0)
		str_adds(&place->remark, strerror(errno));
	else
		forward_take_items(place, (struct slice){ bytes,
		    (size_t)got });
	mem_free(&bytes);
}

/* A link is followed when it is the user's own, or root's. */
static int
forward_open(const struct forward_place *place)
{
	int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = open(place->path.buf, flags | O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 || errno != ELOOP)
		return fd;
	if (lstat(place->path.buf, &st) != 0)
		return -1;
	if (st.st_uid != 0 && (place->account == NULL ||
	    st.st_uid != place->account->pw_uid)) {
		errno = ELOOP;
		return -1;
	}
	return open(place->path.buf, flags);
}

/* False: there is none. */
static bool
forward_look(struct forward_place *place)
{
	int fd = forward_open(place);

	if (fd >= 0) {
		forward_take_file(place, fd);
		close(fd);
		return true;
	}
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
		return false;
	case EACCES:
	case EPERM:
		str_adds(&place->remark, "it cannot be looked at by you: as "
		    "root, zmailer route tells whether it is there, and what "
		    "it leads to");
		return true;
	case ELOOP:
		str_adds(&place->remark, "it is ignored: it is a symbolic "
		    "link of somebody else");
		return true;
	default:
		str_adds(&place->remark, strerror(errno));
		return true;
	}
}

void
explain_forward(const struct conf *conf, const struct draft_rcpt *rcpt,
    bool is_json, struct str *out)
{
	struct forward_place place = { .path = STR_INIT, .leads = STR_INIT,
	    .remark = STR_INIT };

	if (!forward_place_find(conf, rcpt, &place) || !forward_look(&place))
		goto done;
	if (is_json) {
		json_text(out, "forward", str_slice(&place.path));
		json_text(out, "forward_to", str_slice(&place.leads));
		json_text(out, "forward_trouble", str_slice(&place.remark));
		goto done;
	}
	str_adds(out, "     forward ");
	str_add_escaped(out, str_slice(&place.path));
	if (place.leads.len > 0) {
		str_adds(out, " leads it to ");
		str_add_escaped(out, str_slice(&place.leads));
	}
	if (place.remark.len > 0) {
		str_adds(out, place.leads.len > 0 ? "; " : ": ");
		str_add_escaped(out, str_slice(&place.remark));
	} else if (place.leads.len == 0) {
		str_adds(out, " is empty");
	}
	str_addc(out, '\n');
done:
	str_release(&place.path);
	str_release(&place.leads);
	str_release(&place.remark);
}
