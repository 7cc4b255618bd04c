/* whynot.c - zmailer why-not: what would have had to be otherwise
 *
 * In     an id, or a sender, a recipient and a client
 * Out    what is said of that mail and by which rule; changes that help
 * Holds  the configuration in force
 * Spec   zmailer-whynot(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "tools/zmailer/verbs/verb.h"
#include "tools/zmailer/whynot/whynot.h"

#include "base/banned.h"

/* From options: as if it came now. */
static void
mail_suppose(struct whynot *whynot, const struct arguments *arguments)
{
	const char *client = arguments_text(arguments, OPT_CLIENT),
	    *login = arguments_text(arguments, OPT_LOGIN),
	    *helo = arguments_text(arguments, OPT_TEST_HELO);
	char now_text[CLOCK_TEXT_BYTES];

	if (client == NULL)
		client = "192.0.2.1";
	clock_rfc3339(clock_wall_us(), now_text);
	whynot->mail = (struct whynot_mail){
		.t = slice_dup(whynot->arena, slice_of(now_text)),
		.client = arena_printf(whynot->arena, strchr(client, ':') !=
		    NULL ? "[%s]:25" : "%s:25", client),
		.helo = helo != NULL ? helo : "client.invalid",
		.from = arguments_text(arguments, OPT_FROM),
		.to = arguments_text(arguments, OPT_TO),
		.user = login, .mech = login != NULL ? "PLAIN" : NULL,
		.is_esmtp = true,
	};
}

static void
whynot_say_now(const struct whynot *whynot)
{
	const struct said *said = &whynot->said;
	struct str out = STR_INIT;

	if (whynot->is_json) {
		json_open_answer(&out);
		json_text(&out, "kind", SLICE("now"));
		json_text(&out, "answer", slice_of(said->words));
		json_text(&out, "by", slice_of(said->by));
		json_text(&out, "rule", slice_of(said->rule));
		json_text(&out, "says", slice_of(said->says));
		json_close(&out);
	} else {
		str_add_escaped(&out, slice_of(said->words));
		str_adds(&out, "\n  by ");
		str_add_escaped(&out, slice_of(*said->rule != '\0' ?
		    said->rule : said->by));
		if (*said->says != '\0') {
			str_adds(&out, " (");
			str_add_escaped(&out, slice_of(said->says));
			str_addc(&out, ')');
		}
		str_addc(&out, '\n');
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static int
whynot_answer(struct whynot *whynot)
{
	struct err err;

	if (whynot_decide(whynot, whynot->files, &whynot->mail, &whynot->said,
	    NULL, NULL, &err) < 0)
		return verb_failed("whynot", &err, EX_DATAERR);
	if (*whynot->said.need != '\0') {
		fprintf(stderr, "zmailer: whynot: a rule asks: %s; --ask-dns "
		    "asks the DNS\n", whynot->said.need);
		return 1;
	}
	if (whynot->said.is_good) {
		fputs("as the configuration is now, this mail is accepted and "
		    "goes on; `zmailer why` says what keeps it\n", stderr);
		return 1;
	}
	whynot_say_now(whynot);
	whynot_try(whynot);
	if (whynot->told > 0)
		return EX_OK;
	fputs("no change of one statement that would help was found\n",
	    stderr);
	return 1;
}

/* It waits, or it was refused or set aside. */
static int
whynot_of_id(struct whynot *whynot, const char *id)
{
	int status = whynot_delay(whynot, id);
	struct err err;

	if (status >= 0)
		return status;
	if (whynot_find(whynot, id, &err) < 0)
		return verb_failed("whynot", &err, EX_NOINPUT);
	return whynot_answer(whynot);
}

/* With no file of its own there is nothing to be edited but a first line. */
static void
whynot_take_files(struct whynot *whynot)
{
	whynot->file_count = conf_texts(whynot->conf, whynot->files,
	    WHYNOT_FILES_MAX);
	if (whynot->file_count > WHYNOT_FILES_MAX)
		whynot->file_count = 0;
}

int
verb_whynot(struct arguments *arguments)
{
	struct whynot whynot = { .arena = arena_new(),
	    .is_json = arguments_has(arguments, OPT_JSON),
	    .asks_dns = arguments_has(arguments, OPT_ASK_DNS) };
	const char *id = arguments_word(arguments, 0);
	struct conf *conf;
	int status;

	if ((id == NULL) == !arguments_has(arguments, OPT_TO)) {
		arena_free(&whynot.arena);
		return arguments_refuse(arguments, "say an id, or --from, --to "
		    "and --client");
	}
	conf = verb_conf(arguments->conf_path);
	whynot.conf = conf;
	whynot_take_files(&whynot);
	if (id == NULL) {
		mail_suppose(&whynot, arguments);
		status = whynot_answer(&whynot);
	} else {
		status = whynot_of_id(&whynot, id);
	}
	conf_free(&conf);
	arena_free(&whynot.arena);
	return status;
}
