/* fuzz_policyd.c - what a policy service answers, any bytes
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "smtpserver/policy/policyd.h"

#include "base/banned.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = { (const char *)data, size }, action;
	struct policyd_answer answer;
	struct str question = STR_INIT, request = STR_INIT;
	struct err err = { "" };
	int n;

	while ((n = policyd_answer_find(rest, &action, &err)) > 0) {
		MUST((size_t)n <= rest.n && slice_find(action, '\n') ==
		    action.n);
		err.text[0] = '\0';
		if (policyd_action_parse(action, &answer, &err) == 0) {
			MUST(!fuzz_has_control(answer.text));
			MUST(answer.text.n <= POLICYD_TEXT_BYTES_MAX);
			MUST(answer.code == 0 || (answer.code >= 400 &&
			    answer.code <= 599));
		} else {
			MUST(err.text[0] != '\0');
		}
		rest = slice_from(rest, (size_t)n);
	}
	/* whatever a client says, it is one attribute */
	policyd_add(&question, "helo_name", (struct slice){
	    (const char *)data, size });
	policyd_request(&request, str_slice(&question));
	for (size_t i = 0; i + 2 < request.len; i++)
		MUST(request.buf[i] != '\n' && request.buf[i] != '\0');
	str_release(&question);
	str_release(&request);
	return 0;
}
