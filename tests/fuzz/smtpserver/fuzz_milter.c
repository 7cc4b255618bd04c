/* fuzz_milter.c - what a hostile milter sends: packets, replies, changes
 *
 * The input is a stream of packets; each is taken as a change to a message.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/fuzz/fuzz.h"
#include "smtpserver/milter/filter.h"
#include "smtpserver/session/filter/said.h"
#include "smtpserver/milter/hungry.h"
#include "smtpserver/milter/packet.h"

static int
message_fd(void)
{
	FILE *file = tmpfile();
	int fd;

	MUST(file != NULL);
	fd = dup(fileno(file));
	fclose(file);
	dprintf(fd, "%30s\nid 361g9eyp5bafph4\nfrom <a@b.test>\n"
	    "to <c@d.test>\nenv-end\nA: 1\nB: 2\n\nbody\n", "");
	return fd;
}

static void
change(struct filter_mail *mail, const struct packet *packet)
{
	struct slice data = packet->data, name, value;
	struct str words = STR_INIT;
	struct slice status;
	uint32_t index = 0;
	unsigned code;
	struct err err;

	if (packet->letter == MILTER_REPLYCODE &&
	    packet_reply(data, &code, &status, &words))
		MUST(code >= 400 && code < 600);
	str_release(&words);
	if (packet_number(&data, &index) && packet_text(&data, &name) &&
	    packet_text(&data, &value)) {
		filter_mail_change(mail, index, name, value);
		filter_mail_insert(mail, index, name, value);
	}
	if (packet_text(&data, &name)) {
		(void)filter_mail_add_rcpt(mail, name, &err);
		filter_mail_delete_rcpt(mail, name);
		(void)filter_mail_set_from(mail, name, &err);
	}
	filter_mail_set_body(mail, packet->data);
}

/* No change can end the header early or make a second field of one. */
static void
check(const struct filter_mail *mail)
{
	for (size_t i = 0; i < mail->field_count; i++) {
		struct slice value = mail->fields[i].value;
		const char *lf = value.n == 0 ? NULL :
		    memchr(value.p, '\n', value.n);

		if (lf != NULL)
			MUST(lf + 1 < value.p + value.n &&
			    (lf[1] == ' ' || lf[1] == '\t'));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct filter_verdict verdict;
	struct str said = STR_INIT;
	struct filter_mail mail;
	struct packet packet;
	struct err err;
	size_t used;
	int fd = message_fd();

	if (filter_answer_parse(in, &verdict) == 0) {
		said_take(&said, "milter", verdict.said);
		MUST(said.len == 0 || slice_ends(str_slice(&said), "\n"));
		(void)said_find(in, "milter", SLICE("unix:/a"));
		str_reset(&said);
	}
	if (hungry_verdict(in, &said) == 0)
		MUST(filter_answer_parse(str_slice(&said), &verdict) == 0);
	str_release(&said);
	MUST(filter_mail_open(&mail, fd, &err) == 0);
	while (packet_read(in, &packet, &used, &err) == PACKET_WHOLE) {
		MUST(used > 4 && used <= in.n);
		change(&mail, &packet);
		in = slice_from(in, used);
	}
	check(&mail);
	filter_mail_close(&mail);
	close(fd);
	return 0;
}
