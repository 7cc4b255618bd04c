/* fuzz_letter.c - any bytes as what a program wants sent, JSON or a message
 *
 * Whatever came in: an envelope of addresses, and a message in which no value
 * began a line.
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/message/header.h"
#include "grammar/smtp/path.h"
#include "tests/fuzz/fuzz.h"
#include "web/send/letter.h"

static void
letter_must(const struct letter *letter, bool is_json)
{
	struct slice rest = str_slice(&letter->message), path_rest;
	struct header_field field;
	bool is_broken = false;
	struct path path;

	MUST(letter->rcpt_count > 0 && letter->rcpt_count <=
	    LETTER_RCPTS_MAX);
	for (size_t i = 0; i < letter->rcpt_count; i++) {
		MUST(!fuzz_has_control(letter->rcpts[i]));
		MUST(path_parse(letter->rcpts[i], PATH_BARE_OK | PATH_UTF8,
		    &path, &path_rest, NULL) == 0 && path_rest.n == 0);
	}
	MUST(!fuzz_has_control(letter->from));
	for (size_t i = 0; i < letter->message.len; i++)
		MUST(letter->message.buf[i] != '\r' && letter->message.buf[i] !=
		    '\0');
	while (header_next(&rest, &field, &is_broken)) {
		MUST(!header_is(&field, "Bcc"));
		MUST(!is_json || !header_is(&field, "Received"));
		MUST(!is_json || !header_is(&field, "DKIM-Signature"));
	}
	MUST(!is_broken);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice body = fuzz_slice(data, size);
	struct letter letter;
	struct err err = { "" };

	for (int is_json = 0; is_json < 2; is_json++) {
		letter_init(&letter);
		if ((is_json ? letter_read_json(&letter, body, &err) :
		    letter_read_message(&letter, body, SLICE(""), &err)) ==
		    0) {
			letter_finish(&letter, NULL, 1);
			letter_must(&letter, is_json);
		} else {
			MUST(err.text[0] != '\0');
		}
		letter_release(&letter);
	}
	return 0;
}
