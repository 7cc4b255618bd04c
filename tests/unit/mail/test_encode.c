/* test_encode.c - a claimed message that becomes 7-bit text: rows C2, C3
 *
 * SPDX-License-Identifier: ISC
 */
#include "fixture.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "mail/recover/recover.h"
#include "mail/spool/encode.h"

#include "recover_case.h"

#define ENVELOPE "bodytype 8BITMIME\nfrom <a@example.org>\n" \
	"to <b@example.net>\nenv-end\n"
#define TEXT "Content-Type: text/plain; charset=utf-8\n"
#define SIGNED_PART "Content-Type: multipart/signed; boundary=b\n\n--b\n" \
	TEXT "\nGr\xc3\xbcn\n--b\n\nsignature\n--b--\n"

/* header and body -> what the file has after env-end; NULL: it stays. */
static const struct {
	const char	*envelope, *in, *out;
} rows[] = {
	{ ENVELOPE, TEXT "\nGr\xc3\xbcn\n",
	    TEXT "MIME-Version: 1.0\n"
	    "Content-Transfer-Encoding: quoted-printable\n\nGr=C3=BCn\n" },
	{ ENVELOPE, "Subject: \xc3\xb6\n\nhello\n",
	    "Subject: =?utf-8?q?=C3=B6?=\n\nhello\n" },
	{ ENVELOPE, TEXT "\nhello\n", NULL },
	/* signed, encrypted, at the top or deeper */
	{ ENVELOPE, SIGNED_PART, NULL },
	{ ENVELOPE, "Content-Type: multipart/mixed; boundary=a\n\n--a\n"
	    SIGNED_PART "--a--\n", NULL },
	{ ENVELOPE, "Content-Type: multipart/encrypted; boundary=b\n\n--b\n"
	    TEXT "\nGr\xc3\xbcn\n--b--\n", NULL },
	{ ENVELOPE, "DKIM-Signature: v=1\n" TEXT "\nGr\xc3\xbcn\n", NULL },
	{ ENVELOPE, "no field\nDKIM-Signature: v=1\n" TEXT "\nGr\xc3\xbcn\n",
	    NULL },
	{ ENVELOPE, "ARC-Message-Signature: i=1\n\nGr\xc3\xbcn\n", NULL },
	/* no place for an encoding */
	{ ENVELOPE, "Content-Type: multipart/mixed; boundary=b\n\nGr\xc3\xbcn"
	    "\n--b\n\nx\n--b--\n", NULL },
	{ ENVELOPE, "Content-Type: multipart/mixed\n\n--b\n\nGr\xc3\xbcn\n"
	    "--b--\n", NULL },
	{ ENVELOPE, "Content-Type: message/partial; id=x; number=1\n"
	    "Content-Transfer-Encoding: base64\n\nGr\xc3\xbcn\n", NULL },
	/* addresses in UTF-8 have no other form */
	{ "terms utf8\n" ENVELOPE, TEXT "To: \xc3\xb6@x.test\n\nx\n", NULL },
	{ ENVELOPE, "Subject: \xc3\xb6\n", NULL },
	{ ENVELOPE, "", NULL },
};

static ino_t
encode_case_put(struct fixture *f, const char *id, const char *envelope,
    const char *in)
{
	struct str text = STR_INIT, bytes = STR_INIT;
	ino_t inode;

	if (id != NULL)
		str_addf(&text, "id %s\n", id);
	str_addf(&text, "%s%s", envelope, in);
	str_addf(&bytes, "complete %012zu %08x\n", text.len,
	    crc32c(0, text.buf, text.len));
	str_add_slice(&bytes, str_slice(&text));
	inode = put_file(f, "router/t", bytes.buf, bytes.len);
	move_file(f, "router/t", at("router/%ju", (uintmax_t)inode));
	str_release(&text);
	str_release(&bytes);
	return inode;
}

static struct str
encode_case_read(struct fixture *f, ino_t inode)
{
	char path[300], bytes[4096];
	struct str text = STR_INIT;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/router/%ju", f->dir,
	    (uintmax_t)inode);
	fd = open(path, O_RDONLY);
	cr_assert_geq(fd, 0, "%s", path);
	n = read(fd, bytes, sizeof(bytes));
	cr_assert_gt(n, 0);
	close(fd);
	str_add(&text, bytes, (size_t)n);
	return text;
}

/* Claim it and encode it. */
static enum spool_encoded
encode_case(struct fixture *f, ino_t inode, struct claim *claim)
{
	struct str file = encode_case_read(f, inode);
	enum spool_encoded result;
	char name[SPOOL_NAME_BYTES];

	snprintf(name, sizeof(name), "%ju", (uintmax_t)inode);
	cr_assert_eq(spool_claim(f->spool, 0, name, claim, &f->err),
	    SPOOL_CLAIMED, "%s", f->err.text);
	result = spool_encode(f->spool, claim, str_slice(&file), &f->err);
	str_release(&file);
	return result;
}

Test(encode, what_becomes_7bit_and_what_stays)
{
	static const char id[] = "362fm91hbf3sg11";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;
		struct claim claim;
		struct str text;
		ino_t inode;

		fixture_open(&f, 0);
		inode = encode_case_put(&f, id, rows[i].envelope, rows[i].in);
		cr_expect_eq(encode_case(&f, inode, &claim), rows[i].out !=
		    NULL ? SPOOL_ENCODED : SPOOL_ENCODED_NOT, "row %zu: %s", i,
		    f.err.text);
		cr_expect_eq(count_files(&f, "public"), 0);
		cr_expect_eq(count_files(&f, "router"), 1);
		if (rows[i].out != NULL) {
			cr_expect_eq(claim.fd, -1);
			cr_expect_neq(claim.inode, inode);
			text = encode_case_read(&f, claim.inode);
			cr_expect(strstr(text.buf, id) != NULL);
			cr_expect(strstr(text.buf, "bodytype 7BIT\n") !=
			    NULL);
			cr_expect_str_eq(strstr(text.buf, "env-end\n") + 8,
			    rows[i].out, "row %zu", i);
			str_release(&text);
		} else {
			cr_expect_eq(claim.inode, inode);
			cr_expect_eq(spool_unclaim(f.spool, &claim, &f.err),
			    0);
		}
		fixture_close(&f);
	}
}

/* Without an id nobody could tell whose draft it is. */
Test(encode, what_has_no_id_stays)
{
	struct fixture f;
	struct claim claim;

	fixture_open(&f, 0);
	cr_expect_eq(encode_case(&f, encode_case_put(&f, NULL, ENVELOPE,
	    TEXT "\nGr\xc3\xbcn\n"), &claim), SPOOL_ENCODED_NOT);
	fixture_close(&f);
}

/* A draft that a crash left beside the first one, wherever that is by now. */
static void
encode_left_case(const char *place, unsigned mode, bool is_adopted)
{
	struct str bytes = STR_INIT;
	struct fixture f;
	struct recovery r;
	struct built b = build_first(&f, 0);
	ino_t draft;

	message_bytes(&bytes, b.id, "encoded");
	draft = put_file(&f, at("public/7bit-%s-%s", b.n, b.id), bytes.buf,
	    bytes.len);
	if (place != NULL)
		move_file(&f, "public/t", at("%s%s", place, b.n));
	else
		cr_assert_eq(unlink(at("%s/public/t", f.dir)), 0);
	r = recover(&f, mode);
	cr_expect_eq(r.adopted, is_adopted, "%s", place);
	cr_expect_eq(file_inode(&f, at("router/%ju", (uintmax_t)draft)),
	    is_adopted ? draft : 0, "%s", place != NULL ? place : "nowhere");
	if ((mode & RECOVERY_START) != 0)
		cr_expect_eq(count_files(&f, "public"), 0, "%s", place);
	str_release(&bytes);
	fixture_close(&f);
}

Test(encode, c2_the_draft_goes_while_the_first_is_there)
{
	encode_left_case("router/", RECOVERY_START, false);
	encode_left_case("router.3/", RECOVERY_START, false);
	encode_left_case("queue/", RECOVERY_START, false);
	/* the live one touches nothing that is young */
	encode_left_case("router/", 0, false);
}

Test(encode, c2_after_a_power_cut_it_may_be_the_only_one)
{
	encode_left_case(NULL, RECOVERY_START, true);
	encode_left_case(NULL, 0, false);
}
