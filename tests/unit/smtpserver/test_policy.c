/* test_policy.c - rules and relaying, by rows
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "house.h"

#include "base/banned.h"

enum { BUILT_IN = 1000 };	/* a rule that stands in no file */

struct row {
	const char	*rules, *client, *sender, *rcpt;
	enum policy_result want;
	unsigned	 rule;		/* line in rules, 0: none */
	unsigned	 freeze;
};

static const struct row rows[] = {
	/* nothing said: ours yes, others no */
	{ "", "203.0.113.9", "<a@src.test>", "<bob@example.org>",
	    POLICY_ACCEPT, 0, 0 },
	{ "", "203.0.113.9", "<a@src.test>", "<bob@EXAMPLE.org>",
	    POLICY_ACCEPT, 0, 0 },
	{ "", "203.0.113.9", "<a@src.test>", "<x@else.test>",
	    POLICY_NO_RELAY, 0, 0 },
	{ "", "203.0.113.9", "<a@src.test>", "<x@sub.example.org>",
	    POLICY_NO_RELAY, 0, 0 },
	{ "", "203.0.113.9", "<bob@example.org>", "<x@else.test>",
	    POLICY_NO_RELAY, 0, 0 },
	/* the machine itself may relay, unless a rule says no */
	{ "", "127.0.0.1", "<a@src.test>", "<x@else.test>",
	    POLICY_ACCEPT, BUILT_IN, 0 },
	{ "reject from 127.0.0.1", "127.0.0.1", "<a@src.test>",
	    "<x@else.test>", POLICY_REJECT, 1, 0 },
	{ "", "203.0.113.9", "<>", "<postmaster>", POLICY_ACCEPT, 0, 0 },
	/* relaying for networks */
	{ "accept from 192.0.2.0/24 for any", "192.0.2.7", "<a@src.test>",
	    "<x@else.test>", POLICY_ACCEPT, 1, 0 },
	{ "accept from 192.0.2.0/24 for any", "192.0.3.7", "<a@src.test>",
	    "<x@else.test>", POLICY_NO_RELAY, 0, 0 },
	{ "accept from 2001:db8::/32 for any", "[2001:db8::1]",
	    "<a@src.test>", "<x@else.test>", POLICY_ACCEPT, 1, 0 },
	{ "accept from 192.0.2.0/24", "192.0.2.7", "<a@src.test>",
	    "<x@else.test>", POLICY_NO_RELAY, 0, 0 },
	{ "accept from 192.0.2.0/24", "192.0.2.7", "<a@src.test>",
	    "<bob@example.org>", POLICY_ACCEPT, 1, 0 },
	/* relaying for a domain */
	{ "accept to @backup.test for any", "203.0.113.9", "<a@src.test>",
	    "<x@Backup.TEST>", POLICY_ACCEPT, 1, 0 },
	{ "accept to @backup.test", "203.0.113.9", "<a@src.test>",
	    "<x@backup.test>", POLICY_NO_RELAY, 0, 0 },
	{ "accept to @backup.test for any", "203.0.113.9", "<a@src.test>",
	    "<x@sub.backup.test>", POLICY_NO_RELAY, 0, 0 },
	{ "accept to @backup.test for any", "203.0.113.9", "<a@src.test>",
	    "<\"x@backup.test\"@else.test>", POLICY_NO_RELAY, 0, 0 },
	{ "accept to @backup.test for any", "203.0.113.9", "<a@src.test>",
	    "<@backup.test:x@else.test>", POLICY_NO_RELAY, 0, 0 },
	/* refusing */
	{ "reject sender @spam.test", "203.0.113.9", "<x@SPAM.test>",
	    "<bob@example.org>", POLICY_REJECT, 1, 0 },
	{ "reject sender @spam.test", "203.0.113.9", "<x@ham.test>",
	    "<bob@example.org>", POLICY_ACCEPT, 0, 0 },
	{ "reject sender @spam.test", "203.0.113.9", "<x@spam.test>",
	    "<postmaster@example.org>", POLICY_ACCEPT, 0, 0 },
	{ "reject sender @spam.test", "203.0.113.9", "<x@spam.test>",
	    "<Postmaster>", POLICY_ACCEPT, 0, 0 },
	{ "reject sender @spam.test", "203.0.113.9", "<>",
	    "<bob@example.org>", POLICY_ACCEPT, 0, 0 },
	{ "reject sender <>", "203.0.113.9", "<>", "<bob@example.org>",
	    POLICY_REJECT, 1, 0 },
	{ "reject sender <>", "203.0.113.9", "<a@src.test>",
	    "<bob@example.org>", POLICY_ACCEPT, 0, 0 },
	{ "reject to bob@example.org", "203.0.113.9", "<a@src.test>",
	    "<\"bob\"@example.org>", POLICY_REJECT, 1, 0 },
	{ "reject from 203.0.113.9", "203.0.113.9", "<a@src.test>",
	    "<bob@example.org>", POLICY_REJECT, 1, 0 },
	{ "reject from 203.0.113.9", "203.0.113.8", "<a@src.test>",
	    "<bob@example.org>", POLICY_ACCEPT, 0, 0 },
	{ "reject sender *@*.spam.test", "203.0.113.9", "<x@a.spam.test>",
	    "<bob@example.org>", POLICY_REJECT, 1, 0 },
	/* the first that fits */
	{ "accept sender good@spam.test\nreject sender @spam.test",
	    "203.0.113.9", "<good@spam.test>", "<bob@example.org>",
	    POLICY_ACCEPT, 1, 0 },
	{ "accept sender good@spam.test\nreject sender @spam.test",
	    "203.0.113.9", "<bad@spam.test>", "<bob@example.org>",
	    POLICY_REJECT, 2, 0 },
	{ "reject sender @spam.test\naccept for any", "203.0.113.9",
	    "<x@spam.test>", "<x@else.test>", POLICY_REJECT, 1, 0 },
	/* freezing does not open the door */
	{ "freeze sender @odd.test", "203.0.113.9", "<x@odd.test>",
	    "<bob@example.org>", POLICY_ACCEPT, 1, 1 },
	{ "freeze sender @odd.test", "203.0.113.9", "<x@odd.test>",
	    "<x@else.test>", POLICY_NO_RELAY, 0, 1 },
	{ "freeze sender @odd.test\nreject sender *", "203.0.113.9",
	    "<x@odd.test>", "<bob@example.org>", POLICY_ACCEPT, 1, 1 },
	{ "freeze sender @odd.test\nreject sender *", "203.0.113.9",
	    "<x@odd.test>", "<x@else.test>", POLICY_REJECT, 2, 1 },
	{ "reject sender *\nfreeze sender @odd.test", "203.0.113.9",
	    "<x@odd.test>", "<bob@example.org>", POLICY_REJECT, 1, 0 },
	{ "freeze sender @odd.test\naccept from 203.0.113.9 for any",
	    "203.0.113.9", "<x@odd.test>", "<x@else.test>",
	    POLICY_ACCEPT, 2, 1 },
	{ "freeze sender @odd.test", "203.0.113.9", "<x@odd.test>",
	    "<postmaster>", POLICY_ACCEPT, 0, 0 },
};

/* What the other conditions look at.  known: "KIND QUESTION = ANSWER" lines,
 * an ANSWER "!" is trouble; need: what is asked when that is missing. */
struct condition_row {
	const char	*rules, *client, *helo, *user, *sender;
	bool		 is_encrypted;
	uint64_t	 size_bytes;
	const char	*known, *need;
	enum policy_result want;
	unsigned	 rule, shadow;
};

#define NAME_IS(name) "dns name 203.0.113.9 = " name
#define LISTS "dnsbl bl.test weight 2\ndnsbl multi.test answer " \
	"127.0.0.10/31\ndnswl wl.test weight 3\n"
#define CLUSTER "cluster mx { node a b; self a; redis 192.0.2.1 }\n"
#define LISTED(hits) "dns listed 203.0.113.9 bl.test multi.test wl.test = " hits

#define SERVICE "policy-service unix:/p"
#define ASKED(name) "unix:/p request=smtpd_access_policy\t" \
	"protocol_state=RCPT\tprotocol_name=SMTP\tclient_address=" \
	"203.0.113.9\tclient_name=" name "\treverse_client_name=" name \
	"\tclient_port=0\thelo_name=mail.src.test\tsasl_username=\t" \
	"sasl_method=\tsasl_sender=\tencryption_protocol=\tccert_subject=\t" \
	"ccert_issuer=\tccert_fingerprint=\tqueue_id=\t" \
	"instance=\tsender=a@src.test\trecipient=bob@example.org\t" \
	"recipient_count=0\tsize=0\tserver_address=192.0.2.1:25\t"
#define SAYS(name, action) "policy " ASKED(name) " = " action

static const struct condition_row condition_rows[] = {
	{ .rules = "defer helo mail.src.test",
	    .want = POLICY_DEFER, .rule = 1 },
	{ .rules = "reject helo MAIL.SRC.TEST",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .rules = "reject helo .src.test",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .rules = "reject helo src.test" },
	{ .rules = "reject helo *.test",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .rules = "reject helo ours\nreject helo literal\n"
	    "reject helo unqualified" },
	{ .helo = "MX.example.org", .rules = "reject helo ours",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .helo = "example.org", .rules = "reject helo ours",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .helo = "[192.0.2.1]", .rules = "reject helo unqualified\n"
	    "reject helo literal", .want = POLICY_REJECT, .rule = 2 },
	{ .helo = "[IPv6:2001:db8::1]", .rules = "reject helo unqualified\n"
	    "reject helo literal", .want = POLICY_REJECT, .rule = 2 },
	{ .helo = "pc", .rules = "reject helo unqualified",
	    .want = POLICY_REJECT, .rule = 1 },
	/* listener */
	{ .rules = "reject listener :25", .want = POLICY_REJECT,
	    .rule = 1 },
	{ .rules = "reject listener 192.0.2.1:25",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .rules = "reject listener :5\nreject listener :225\n"
	    "reject listener 192.0.2.1:250\nreject listener submission" },
	/* tls, size */
	{ .rules = "reject tls yes\nreject tls no",
	    .want = POLICY_REJECT, .rule = 2 },
	{ .is_encrypted = true, .rules = "reject tls no\n"
	    "reject tls yes", .want = POLICY_REJECT, .rule = 2 },
	{ .size_bytes = 10241, .rules = "reject size 10K",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .size_bytes = 10240, .rules = "reject size 10K" },
	{ .rules = "reject size 1B" },
	/* user */
	{ .rules = "reject user any\nreject auth\n"
	    "reject user none", .want = POLICY_REJECT, .rule = 3 },
	{ .user = "eve", .rules = "reject user none\n"
	    "reject user bob\nreject user e*", .want = POLICY_REJECT,
	    .rule = 3 },
	{ .user = "eve", .rules = "reject auth",
	    .want = POLICY_REJECT, .rule = 1 },
	/* tables: <t> has bad@src.test, @w.test, .x.test, z@, h.test, eve */
	{ .sender = "<Bad@SRC.test>", .rules = "reject sender <t>",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .rules = "reject sender <t>" },
	{ .sender = "<any@w.test>", .rules = "reject sender <t>",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .sender = "<any@h.test>", .rules = "reject sender <t>",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .sender = "<any@a.b.x.test>", .rules = "reject sender <t>",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .sender = "<any@x.test>", .rules = "reject sender <t>" },
	{ .sender = "<z@anything.test>",
	    .rules = "reject sender <t>", .want = POLICY_REJECT, .rule = 1 },
	{ .sender = "<>", .rules = "reject sender <t>" },
	{ .helo = "h.test", .rules = "reject helo <t>",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .helo = "q.x.test", .rules = "reject helo <t>",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .user = "eve", .rules = "reject user <t>",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .user = "bob", .rules = "reject user <t>",
	    .rule = BUILT_IN },
	/* the client's name */
	{ .rules = "reject name none", .need = "name 203.0.113.9",
	    .want = POLICY_NEED, .rule = 1 },
	{ .rules = "reject name none", .known = NAME_IS("-"),
	    .want = POLICY_REJECT, .rule = 1 },
	{ .rules = "reject name none\nreject name .dyn.test",
	    .known = NAME_IS("a.DYN.test"), .want = POLICY_REJECT,
	    .rule = 2 },
	{ .rules = "reject name *", .known = NAME_IS("-") },
	{ .rules = "reject name none", .known = NAME_IS("!"),
	    .want = POLICY_TROUBLE, .rule = 1 },
	{ .rules = "reject shadow name none",
	    .known = NAME_IS("!") },
	{ .client = "2001:db8::7", .rules = "reject name *",
	    .need = "name 2001:db8::7", .want = POLICY_NEED, .rule = 1 },
	/* nothing is asked in vain */
	{ .rules = "reject name none sender @else.test" },
	{ .rules = "reject sender @src.test\nreject name none",
	    .want = POLICY_REJECT, .rule = 1 },
	/* the sender's domain */
	{ .rules = "reject sender-unknown", .need = "mail src.test",
	    .want = POLICY_NEED, .rule = 1 },
	{ .rules = "reject sender-unknown",
	    .known = "dns mail src.test = no", .want = POLICY_REJECT,
	    .rule = 1 },
	{ .rules = "reject sender-unknown",
	    .known = "dns mail src.test = yes" },
	{ .rules = "defer sender-unknown",
	    .known = "dns mail src.test = !", .want = POLICY_TROUBLE,
	    .rule = 1 },
	{ .sender = "<>", .rules = "reject sender-unknown" },
	{ .sender = "<a@[192.0.2.1]>",
	    .rules = "reject sender-unknown" },
	{ .sender = "<a@example.org>",
	    .rules = "reject sender-unknown" },
	/* lists */
	{ .rules = LISTS "reject listed 2", .want = POLICY_NEED,
	    .need = "listed 203.0.113.9 bl.test multi.test wl.test",
	    .rule = 4 },
	{ .rules = LISTS "reject listed 1", .known = LISTED("") },
	{ .rules = LISTS "reject listed 1", .known = LISTED("!") },
	{ .rules = LISTS "reject listed 3\nreject listed 2",
	    .known = LISTED("bl.test=127.0.0.2"), .want = POLICY_REJECT,
	    .rule = 5 },
	{ .rules = LISTS "reject listed 1",
	    .known = LISTED("multi.test=127.0.0.12") },
	{ .rules = LISTS "reject listed 3",
	    .known = LISTED("bl.test=127.0.0.2 multi.test=127.0.0.9,"
	    "127.0.0.11"), .want = POLICY_REJECT, .rule = 4 },
	{ .rules = LISTS "reject listed 1",
	    .known = LISTED("bl.test=127.0.0.2 wl.test=127.0.5.1") },
	{ .rules = LISTS "reject listed multi.test\n"
	    "accept listed wl.test",
	    .known = LISTED("bl.test=127.0.0.2 wl.test=127.0.5.1"),
	    .want = POLICY_ACCEPT, .rule = 5 },
	/* counters */
	{ .rules = "limit rate 5/1m", .want = POLICY_NEED,
	    .need = "take 5 60000 3 203.0.113.9", .rule = 1 },
	{ .client = "2001:db8:1:2:3:4:5:6", .rules = "limit rate 5/1m",
	    .want = POLICY_NEED, .need = "take 5 60000 3 2001:db8:1:2::",
	    .rule = 1 },
	{ .rules = "limit parallel 5 per net", .want = POLICY_NEED,
	    .need = "hold 5 3 203.0.113.0", .rule = 1 },
	{ .rules = "limit rate 5/1h per user\nlimit rate 5/1h per "
	    "sender-domain", .want = POLICY_NEED,
	    .need = "take 5 3600000 4 src.test", .rule = 2 },
	{ .rules = "limit rate 5/1h per to", .want = POLICY_NEED,
	    .need = "take 5 3600000 3 bob@example.org", .rule = 1 },
	{ .user = "Eve", .rules = "limit rate 5/1h per user auth else "
	    "freeze", .known = "rate take 5 3600000 3 eve = over 12",
	    .want = POLICY_ACCEPT, .rule = 1 },
	{ .rules = "limit rate 5/1h per all",
	    .known = "rate take 5 3600000 3 all = over 12",
	    .want = POLICY_DEFER, .rule = 1 },
	{ .rules = "limit rate 5/1h per all else reject",
	    .known = "rate take 5 3600000 3 all = over 12",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .rules = "limit rate 5/1h per all",
	    .known = "rate take 5 3600000 3 all = ok" },
	{ .rules = "limit rate 5/1h per all",
	    .known = "rate take 5 3600000 3 all = !" },
	{ .rules = "limit rate 5/1h sender @else.test" },
	/* each its own counter, also on one line */
	{ .rules = "limit rate 5/1h per all; limit rate 9/1m per all",
	    .known = "rate take 5 3600000 3 all = ok", .want = POLICY_NEED,
	    .need = "take 9 60000 3.1 all", .rule = 1 },
	/* counted with other machines; without them by each its part */
	{ .rules = CLUSTER "limit rate 5/1m shared", .want = POLICY_NEED,
	    .need = "take 5 60000 9b738ce8 203.0.113.9", .rule = 2 },
	{ .rules = CLUSTER "limit rate 5/1m shared",
	    .known = "share take 5 60000 9b738ce8 203.0.113.9 = over 12",
	    .want = POLICY_DEFER, .rule = 2 },
	{ .rules = CLUSTER "limit rate 5/1m shared",
	    .known = "share take 5 60000 9b738ce8 203.0.113.9 = ok" },
	{ .rules = CLUSTER "limit rate 5/1m shared",
	    .known = "share take 5 60000 9b738ce8 203.0.113.9 = !",
	    .want = POLICY_NEED, .need = "take 2 60000 4 203.0.113.9",
	    .rule = 2 },
	{ .rules = CLUSTER "limit rate 5/1m shared",
	    .known = "share take 5 60000 9b738ce8 203.0.113.9 = !\n"
	    "rate take 2 60000 4 203.0.113.9 = over 9",
	    .want = POLICY_DEFER, .rule = 2 },
	{ .rules = CLUSTER "limit rate 1/1m shared",
	    .known = "share take 1 60000 886304f4 203.0.113.9 = !",
	    .want = POLICY_NEED, .need = "take 1 60000 4 203.0.113.9",
	    .rule = 2 },
	/* greylisting */
	{ .rules = "greylist", .want = POLICY_NEED, .rule = 1,
	    .need = "300 172800 3024000 203.0.113.0 a@src.test "
	    "bob@example.org" },
	{ .rules = "greylist after 1m within 2h keep 3h",
	    .known = "greylist 60 7200 10800 203.0.113.0 a@src.test "
	    "bob@example.org = wait 17", .want = POLICY_DEFER, .rule = 1 },
	{ .rules = "greylist after 1m within 2h keep 3h\nreject sender *",
	    .known = "greylist 60 7200 10800 203.0.113.0 a@src.test "
	    "bob@example.org = pass", .want = POLICY_REJECT, .rule = 2 },
	/* services */
	{ .rules = SERVICE, .want = POLICY_NEED, .rule = 1,
	    .need = "name 203.0.113.9" },
	{ .rules = SERVICE, .known = NAME_IS("-"), .want = POLICY_NEED,
	    .rule = 1, .need = ASKED("unknown") },
	{ .rules = SERVICE, .known = NAME_IS("!") "\n" SAYS("unknown",
	    "DUNNO") },
	{ .rules = SERVICE, .known = NAME_IS("a.b") "\n" SAYS("a.b",
	    "REJECT no"), .want = POLICY_REJECT, .rule = 1 },
	{ .rules = SERVICE, .known = NAME_IS("a.b") "\n" SAYS("a.b",
	    "450 later"), .want = POLICY_DEFER, .rule = 1 },
	{ .rules = SERVICE "\nreject sender *", .known = NAME_IS("a.b") "\n"
	    SAYS("a.b", "OK"), .want = POLICY_ACCEPT, .rule = 1 },
	{ .rules = SERVICE "\nreject sender *", .known = NAME_IS("a.b") "\n"
	    SAYS("a.b", "HOLD"), .want = POLICY_ACCEPT, .rule = 1 },
	{ .rules = SERVICE "\nreject sender *", .known = NAME_IS("a.b") "\n"
	    SAYS("a.b", "PREPEND X-A: b"), .want = POLICY_REJECT,
	    .rule = 2 },
	{ .rules = SERVICE, .known = NAME_IS("a.b") "\n" SAYS("a.b",
	    "DEFER_IF_PERMIT"), .want = POLICY_DEFER, .rule = 1 },
	{ .rules = SERVICE "\nreject sender *", .known = NAME_IS("a.b") "\n"
	    SAYS("a.b", "DEFER_IF_PERMIT"), .want = POLICY_REJECT,
	    .rule = 2 },
	{ .rules = SERVICE, .known = NAME_IS("a.b") "\n" SAYS("a.b", "!"),
	    .want = POLICY_TROUBLE, .rule = 1 },
	{ .rules = SERVICE, .known = NAME_IS("a.b") "\n" SAYS("a.b",
	    "REDIRECT x"), .want = POLICY_TROUBLE, .rule = 1 },
	{ .rules = SERVICE " else accept", .known = NAME_IS("a.b") "\n"
	    SAYS("a.b", "!") },
	{ .rules = "policy-service unix:/p shadow",
	    .known = NAME_IS("a.b") "\n" SAYS("a.b", "REJECT"),
	    .shadow = 1 },
	{ .rules = SERVICE " sender @else.test" },
	/* shadows */
	{ .rules = "reject shadow helo .src.test", .shadow = 1 },
	{ .rules = "reject shadow helo .src.test\n"
	    "defer sender @src.test", .want = POLICY_DEFER, .rule = 2,
	    .shadow = 1 },
	/* whom rules against strangers spare, and how they are asked for */
	{ .user = "eve", .rules = "greylist",
	    .rule = BUILT_IN },
	{ .client = "127.0.0.1", .rules = "greylist", .want = POLICY_ACCEPT,
	    .rule = BUILT_IN },
	{ .client = "::1", .rules = "greylist", .rule = BUILT_IN },
	{ .rules = "greylist\naccept from 203.0.113.0/24 for any",
	    .rule = 2 },
	{ .rules = "greylist\naccept from 203.0.113.0/24",
	    .want = POLICY_NEED, .rule = 1,
	    .need = "300 172800 3024000 203.0.113.0 a@src.test "
	    "bob@example.org" },
	{ .rules = "reject helo mail.src.test\n"
	    "accept name mx.src.test for any", .want = POLICY_NEED, .rule = 1,
	    .need = "name 203.0.113.9" },
	{ .rules = "reject helo mail.src.test\n"
	    "accept name mx.src.test for any",
	    .known = NAME_IS("mx.src.test"), .rule = 2 },
	{ .rules = "reject helo mail.src.test\n"
	    "accept name mx.src.test for any", .known = NAME_IS("!"),
	    .want = POLICY_REJECT, .rule = 1 },
	{ .user = "eve", .rules = "reject helo mail.src.test everybody",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .user = "eve", .rules = "reject helo mail.src.test",
	    .rule = BUILT_IN },
	{ .user = "eve", .rules = "reject helo mail.src.test user eve",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .user = "eve", .rules = "reject name none\nreject listed bl.test\n"
	    "dnsbl bl.test\ndefer sender-unknown\nlimit rate 5/1m\n"
	    "limit parallel 5\n" SERVICE, .rule = BUILT_IN },
	{ .client = "127.0.0.1", .rules = "reject name localhost\n"
	    "reject listed bl.test\ndnsbl bl.test\ndefer sender-unknown\n"
	    "limit rate 5/1m\nlimit parallel 5\n" SERVICE, .rule = BUILT_IN },
	{ .client = "127.0.0.1", .rules = "reject helo mail.src.test "
	    "from 127.0.0.0/8", .want = POLICY_REJECT, .rule = 1 },
	{ .client = "127.0.0.1", .rules = "reject helo mail.src.test "
	    "from 0.0.0.0/0", .rule = BUILT_IN },
	{ .user = "eve", .rules = "reject helo mail.src.test "
	    "from 203.0.113.0/24", .rule = BUILT_IN },
	{ .user = "eve", .client = "127.0.0.1", .rules = "limit rate 5/1h "
	    "per user", .want = POLICY_NEED, .rule = 1,
	    .need = "take 5 3600000 3 eve" },
	{ .user = "eve", .rules = "reject sender @src.test",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .user = "eve", .rules = "reject sender @src.test strangers",
	    .rule = BUILT_IN },
	{ .client = "127.0.0.1", .rules = "reject sender @src.test strangers",
	    .rule = BUILT_IN },
	{ .rules = "reject sender @src.test strangers",
	    .want = POLICY_REJECT, .rule = 1 },
	{ .rules = "accept shadow for any\n"
	    "freeze shadow sender @src.test\nreject sender @src.test",
	    .want = POLICY_REJECT, .rule = 3, .shadow = 2 },
};

/* The line of a rule in the row's own text. */
static unsigned
line_of(const struct conf_rule *rule)
{
	if (rule == NULL)
		return 0;
	return rule->at.file == NULL ? BUILT_IN : rule->at.line - 2;
}

static void
check_row(const struct row *row, size_t number)
{
	struct policy_question question = { .helo = { NULL, 0 } };
	struct policy_verdict verdict;
	struct house house;
	struct slice rest;
	struct err err;

	house_open(&house, row->rules);
	cr_assert_eq(net_parse(slice_of(row->client), &question.client, &err),
	    0);
	cr_assert_eq(path_parse(slice_of(row->sender), PATH_NULL_OK,
	    &question.sender, &rest, &err), 0);
	cr_assert_eq(path_parse(slice_of(row->rcpt), PATH_POSTMASTER_OK,
	    &question.rcpt, &rest, &err), 0);
	struct policy *policy = policy_new(house.conf);

	policy_ask(policy, &question, &verdict);
	cr_expect_eq(verdict.result, row->want, "row %zu: %d", number,
	    (int)verdict.result);
	cr_expect_eq(line_of(verdict.rule), row->rule, "row %zu: rule", number);
	cr_expect_eq(line_of(verdict.freeze), row->freeze, "row %zu: freeze",
	    number);
	policy_free(&policy);
	house_close(&house);
}

/* "KIND QUESTION = ANSWER" lines. */
static void
learn(struct facts *facts, const char *known)
{
	struct slice rest = slice_of(known), line, kind, answer;
	const char *name;
	size_t cut;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		(void)slice_word(&line, &kind);
		name = slice_is(kind, "rate") ? "rate" :
		    slice_is(kind, "share") ? "share" :
		    slice_is(kind, "policy") ? "policy" :
		    slice_is(kind, "greylist") ? "greylist" : "dns";
		for (cut = 0; !slice_starts(slice_from(line, cut), " =");
		    cut++)
			cr_assert_lt(cut, line.n);
		answer = slice_trim(slice_from(line, cut + 2));
		line = slice_first(slice_from(line, 1), cut - 1);
		facts_add(facts, name, line, slice_is(answer, "!") ?
		    ASK_TROUBLE : ASK_ANSWERED, answer);
	}
}

static const char * or (const char *text, const char *preset)
{
	return text != NULL ? text : preset;
}

static void
question_of_row(const struct condition_row *row, const struct facts *facts,
    struct policy_question *out)
{
	struct slice rest;
	struct err err;

	*out = (struct policy_question){ .facts = facts,
	    .listener = SLICE("192.0.2.1:25"),
	    .helo = slice_of(or (row->helo, "mail.src.test")),
	    .user = slice_of(row->user), .is_encrypted = row->is_encrypted,
	    .size_bytes = row->size_bytes };
	cr_assert_eq(net_parse(slice_of(or (row->client, "203.0.113.9")),
	    &out->client, &err), 0);
	cr_assert_eq(path_parse(slice_of(or (row->sender, "<a@src.test>")),
	    PATH_NULL_OK, &out->sender, &rest, &err), 0);
	cr_assert_eq(path_parse(SLICE("<bob@example.org>"), 0, &out->rcpt,
	    &rest, &err), 0);
}

static void
check_condition(const struct condition_row *row, size_t number)
{
	struct str rules = STR_INIT;
	struct facts facts[FACT_SCOPES] = { { .first = NULL } };
	struct policy_question question;
	struct policy_verdict verdict;
	struct policy *policy;
	struct house house;

	str_addf(&rules, "%s\ntable t { bad@src.test -; @w.test -; "
	    ".x.test -; z@ -; h.test -; eve - }", row->rules);
	house_open(&house, rules.buf);
	policy = policy_new(house.conf);
	for (int i = 0; i < FACT_SCOPES; i++)
		learn(&facts[i], row->known);
	question_of_row(row, facts, &question);
	policy_ask(policy, &question, &verdict);
	cr_expect_eq(verdict.result, row->want, "row %zu (%s): %d", number,
	    row->rules, (int)verdict.result);
	cr_expect_eq(line_of(verdict.rule), row->rule, "row %zu (%s): rule %u",
	    number, row->rules, line_of(verdict.rule));
	cr_expect_eq(verdict.shadow_count, row->shadow, "row %zu (%s): %u "
	    "shadows", number, row->rules, verdict.shadow_count);
	if (verdict.result == POLICY_NEED)
		cr_expect(slice_is(verdict.need.question, row->need),
		    "row %zu (%s): needs " SLICE_FMT, number, row->rules,
		    SLICE_ARG(verdict.need.question));
	for (int i = 0; i < FACT_SCOPES; i++)
		facts_release(&facts[i]);
	policy_free(&policy);
	house_close(&house);
	str_release(&rules);
}

Test(policy, conditions)
{
	for (size_t i = 0; i < sizeof(condition_rows) /
	    sizeof(condition_rows[0]); i++)
		check_condition(&condition_rows[i], i);
}

Test(policy, rows)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i], i);
}

/* `from <table>`: networks in a file, and a file that is not there. */
Test(policy, tables)
{
	struct policy_question question = { .sender = { SLICE("a"),
	    SLICE("src.test") }, .rcpt = { SLICE("x"), SLICE("else.test") } };
	struct policy_verdict verdict;
	char conf[600], path[160];
	struct policy *policy;
	struct house outer, house;
	struct err err;
	FILE *file;

	house_open(&outer, "");
	snprintf(path, sizeof(path), "%s/nets", outer.dir);
	file = fopen(path, "w");
	cr_assert(file != NULL);
	fputs("192.0.2.0/24\n", file);
	fclose(file);
	snprintf(conf, sizeof(conf), "table nets file:%s\n"
	    "table gone file:%s.gone\naccept from <nets> for any\n"
	    "reject sender @b.test\naccept from <gone> for any", path, path);
	house_open(&house, conf);
	policy = policy_new(house.conf);
	net_parse(SLICE("192.0.2.9"), &question.client, &err);
	policy_ask(policy, &question, &verdict);
	cr_expect_eq(verdict.result, POLICY_ACCEPT);
	net_parse(SLICE("192.0.3.9"), &question.client, &err);
	policy_ask(policy, &question, &verdict);
	cr_expect_eq(verdict.result, POLICY_TROUBLE);
	cr_expect(verdict.err.text[0] != '\0');
	question.sender.domain = SLICE("b.test");
	policy_ask(policy, &question, &verdict);
	cr_expect_eq(verdict.result, POLICY_REJECT);
	policy_free(&policy);
	house_close(&house);
	house_close(&outer);
}
