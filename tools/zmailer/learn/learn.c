/* learn.c - zmailer learn: tell the site's filter what is spam and what is not
 *
 * In     messages that a selector means, wherever they lie
 * Out    each on the standard input of the program of `learn`; an event with
 *        who and how it ended; the messages stay where they are
 * Trusts the person at the keyboard, once the choice was confirmed
 * Spec   zmailer-review(8); zmailer.conf(5), learn
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "journal/event.h"
#include "mail/envelope.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/learn/program.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { LEARN_AREAS = 1 << AREA_TRANSPORT | 1 << AREA_DEFERRED |
	1 << AREA_FREEZER | 1 << AREA_POSTMAN | 1 << AREA_TRASH };

struct learning {
	const struct conf_learn	*learn;
	const char		*as;	/* "spam" "ham" */
	struct selection_options options;
	struct selection_choice	 choice;
	uint64_t		 done, failed;
};

/* ---- one message -------------------------------------------------------- */

/* Header and text of the file: the envelope is not the program's. */
static int
message_learn(const struct learning *learning, struct slice file,
    struct str *out_said, struct err *err)
{
	struct arena *arena = arena_new();
	struct envelope envelope;
	struct err why;
	int result;

	if (envelope_parse(arena, file, &envelope, &why) == 0)
		result = learn_program_run(learning->learn, slice_from(file,
		    envelope.header_offset), out_said, err);
	else
		result = err_set(err, "its envelope cannot be read: %s",
		    why.text);
	arena_free(&arena);
	return result;
}

static int
file_learn(const struct learning *learning, int fd, struct str *out_said,
    struct err *err)
{
	struct stat st;
	size_t bytes;
	void *map;
	int result;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "it cannot be opened");
	if (!S_ISREG(st.st_mode))
		return err_set(err, "it is no file");
	bytes = (size_t)st.st_size + 1;
	map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "it cannot be read");
	result = message_learn(learning, (struct slice){ map, bytes - 1 },
	    out_said, err);
	munmap(map, bytes);
	return result;
}

static void
learning_tell(const struct learning *learning,
    const struct selection_item *item, bool is_good, struct slice said)
{
	char by[VERB_BY_BYTES];

	verb_by(by);
	event(EV_MESSAGE_LEARNED, item->id[0] == '-' ? NULL : item->id,
	    "as", slice_of(learning->as), "ok",
	    is_good ? SLICE("yes") : SLICE("no"), "text", said, "program",
	    slice_of(learning->learn->program), "by", slice_of(by), "reason",
	    slice_of(learning->options.reason), NULL);
}

static void
learning_say(struct learning *learning, const struct selection_item *item,
    bool is_good, const char *trouble)
{
	struct str line = STR_INIT;

	if (learning->options.is_json) {
		selection_add_json(&line, item, is_good ? "learned" : NULL,
		    is_good ? NULL : trouble);
	} else if (is_good) {
		str_addf(&line, "learned as %s ", learning->as);
		selection_add_item(&line, item, learning->choice.now_s);
	}
	if (!is_good) {
		fflush(stdout);
		fprintf(stderr, "zmailer: learn: %s: %s\n", item->id, trouble);
	}
	fputs(line.buf, stdout);
	str_release(&line);
}

/* What a control file is about lies in queue/ under the same name. */
static void
item_learn(struct learning *learning, const struct selection_item *item)
{
	struct spool *spool = learning->choice.spool;
	int fd = openat(spool_dir_fd(spool, item->area == AREA_TRANSPORT ?
	    AREA_QUEUE : item->area, 0), item->name, O_RDONLY | O_NOFOLLOW |
	    O_NONBLOCK | O_CLOEXEC);
	struct str said = STR_INIT, text = STR_INIT;
	struct err err;
	bool is_good = file_learn(learning, fd, &said, &err) == 0;

	if (fd >= 0)
		close(fd);
	if (!is_good)
		str_addf(&text, "%s%s", err.text, said.len > 0 ? ": " : "");
	str_add_escaped(&text, slice_trim(str_slice(&said)));
	learning_tell(learning, item, is_good, str_slice(&text));
	learning_say(learning, item, is_good, text.buf);
	learning->done += is_good;
	learning->failed += !is_good;
	str_release(&said);
	str_release(&text);
}

/* ---- all of them -------------------------------------------------------- */

static int
learning_carry_out(struct learning *learning, const struct conf *conf)
{
	int status;

	if (learning->choice.count == 0)
		return selection_none(&learning->options);
	if (!selection_confirm(&learning->options, &learning->choice, &status))
		return status;
	(void)event_open(conf->log_dir);
	for (size_t i = 0; i < learning->choice.count; i++)
		item_learn(learning, &learning->choice.items[i]);
	event_flush();
	if (!learning->options.is_json)
		printf("%" PRIu64 " message%s learned as %s\n",
		    learning->done, learning->done == 1 ? "" : "s",
		    learning->as);
	return learning->failed > 0 ? 1 : EX_OK;
}

static int
learning_choose(struct learning *learning, const struct conf *conf,
    struct arena *arena)
{
	struct selector *selector;
	struct err err;
	int status = selection_selector(&learning->options, arena, &selector);

	if (status != 0)
		return status;
	if (selector == NULL)
		return arguments_refuse(learning->options.arguments, "which "
		    "messages?  'all' means every one");
	if (learning->learn->program == NULL) {
		fprintf(stderr, "zmailer: learn: the configuration names no "
		    "program: learn %s \"/PROGRAM WORDS\" as ACCOUNT (zmailer "
		    "help learn)\n", learning->as);
		return EX_CONFIG;
	}
	if (view_is_forbidden(conf)) {	/* the files are not his to read */
		(void)view_refuse(conf, AREA_QUEUE, &err);
		return verb_failed("learn", &err, EX_NOPERM);
	}
	status = selection_choose(conf, LEARN_AREAS, selector,
	    &learning->choice, &err) == 0 ? learning_carry_out(learning,
	    conf) : verb_failed("learn", &err, 1);
	selection_choice_release(&learning->choice);
	return status;
}

int
verb_learn(struct arguments *arguments)
{
	struct conf *conf = verb_conf_spool(arguments->conf_path);
	bool is_spam = arguments_is(arguments, "spam");
	struct learning learning = { .as = is_spam ? "spam" : "ham",
	    .learn = &conf->learns[is_spam ? LEARN_SPAM : LEARN_HAM] };
	struct arena *arena = arena_new();
	int status = selection_options_take(arguments, &learning.options);

	if (status == 0)
		status = learning_choose(&learning, conf, arena);
	selection_options_release(&learning.options);
	arena_free(&arena);
	conf_free(&conf);
	return status;
}
