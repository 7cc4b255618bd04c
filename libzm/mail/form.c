/* form.c - the words of delivery reports in one language
 *
 * In     a form file
 * Out    its texts; English where it has none
 * Holds  nothing
 * Trusts nothing in the file: keys, places and lengths are checked
 * Spec   zmailer-forms(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mail/form.h"

#include "base/banned.h"

const struct form_row form_rows[FORM_KEYS] = {
	[FORM_NAME] = { "name", "", "English" },
	[FORM_FROM] = { "from", "", "Mail Delivery System" },
	[FORM_SUBJECT_FAILED] = { "subject-failed", "", "Undelivered mail" },
	[FORM_SUBJECT_DELAYED] = { "subject-delayed", "",
	    "Mail is delayed" },
	[FORM_SUBJECT_DELIVERED] = { "subject-delivered", "",
	    "Delivered mail" },
	[FORM_SUBJECT_MORE] = { "subject-more", "n", "and {n} more" },
	[FORM_OPENING] = { "opening", "host",
	    "This is the mail system of {host}." },
	[FORM_FAILED] = { "failed", "", "Your message could not be delivered "
	    "to everybody. It will not be tried again for:" },
	[FORM_DELAYED] = { "delayed", "", "Your message is not delivered "
	    "yet. You need not send it again. It waits for:" },
	[FORM_DELIVERED] = { "delivered", "", "You asked to be told: your "
	    "message was delivered to:" },
	[FORM_ALSO_FAILED] = { "also-failed", "",
	    "It could not be delivered to:" },
	[FORM_ALSO_DELAYED] = { "also-delayed", "", "It still waits for:" },
	[FORM_ALSO_DELIVERED] = { "also-delivered", "",
	    "It was delivered to:" },
	[FORM_UNREACHED] = { "unreached", "", "was not reached yet." },
	[FORM_SAID] = { "said", "who", "{who} said:" },
	[FORM_RELAYED] = { "relayed", "", "You will not hear more: that host "
	    "sends no reports." },
	[FORM_EXPANDED] = { "expanded", "", "It goes on to the members of "
	    "that list; you will not hear of each." },
	[FORM_UNTIL] = { "until", "date", "It is tried again until {date}." },
	[FORM_BY] = { "by", "date", "You wished it to be delivered by "
	    "{date}." },
	[FORM_CLOSING] = { "closing", "id", "To ask your postmaster about "
	    "it, name this number: {id}" },
};

static const struct form_advice english_advice[] = {
	{ ".1.8", "Your own address was not accepted as a sender. Write to "
	    "the postmaster." },
	{ ".1.", "Check the address for typing errors, or ask the person "
	    "for the present one." },
	{ ".2.2", "The mailbox is full. Try again later, or reach the person "
	    "another way." },
	{ ".2.3", "The message is too big. Send less, or pass the files on "
	    "another way." },
	{ ".2.", "The mailbox does not take mail. Reach the person another "
	    "way." },
	{ ".3.4", "The message is too big. Send less, or pass the files on "
	    "another way." },
	{ ".4.4", "Check what stands after the @ for typing errors." },
	{ ".4.7", "It could not be delivered in time. Try again later, or "
	    "reach the person another way." },
	{ ".7.", "The other side refuses this message by its rules. Its "
	    "words above say why; its postmaster can help." },
	{ "", "If the words above do not explain it, send this report to "
	    "your postmaster." },
};
enum { ENGLISH_ADVICE = sizeof(english_advice) / sizeof(english_advice[0]) };

static void
fill_english(struct report_form *form)
{
	for (int i = 0; i < FORM_KEYS; i++)
		if (form->texts[i] == NULL)
			form->texts[i] = form_rows[i].english;
	if (form->advice_count > 0)
		return;
	memcpy(form->advice, english_advice, sizeof(english_advice));
	form->advice_count = ENGLISH_ADVICE;
}

const struct report_form *
form_english(void)
{
	static struct report_form english;

	if (english.language == NULL) {
		fill_english(&english);
		english.language = "en";
	}
	return &english;
}

/* ---- reading ----------------------------------------------------- */

static bool
is_utf8(struct slice text)
{
	while (text.n > 0) {
		unsigned char c = (unsigned char)text.p[0];
		size_t n = c < 0x80 ? 1 : slice_utf8(text);

		if (n == 0 || c == 0x7f || (c < ' ' && c != '\t'))
			return false;
		text = slice_from(text, n);
	}
	return true;
}

static bool
is_place(const char *places, struct slice name)
{
	struct slice rest = slice_of(places), word;

	while (slice_word(&rest, &word))
		if (slice_equal(word, name))
			return true;
	return false;
}

/* Every brace holds a place that this key knows. */
static int
places_check(const struct form_row *row, struct slice text, struct err *err)
{
	while (slice_find(text, '{') < text.n) {
		size_t end;

		text = slice_from(text, slice_find(text, '{') + 1);
		end = slice_find(text, '}');
		if (end == text.n || !is_place(row->places,
		    slice_first(text, end)))
			return err_set(err, "'%s' has no place {" SLICE_FMT
			    "}", row->key, SLICE_ARG(slice_first(text,
			    end < 20 ? end : 20)));
	}
	return 0;
}

static bool
form_is_status(struct slice text)
{
	if (text.n == 0)
		return true;
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '.' && (text.p[i] < '0' || text.p[i] > '9'))
			return false;
	return text.p[0] == '.' && text.n <= 8;
}

static int
advice_take(struct arena *arena, struct report_form *form, struct slice status,
    struct slice text, struct err *err)
{
	if (!form_is_status(status))
		return err_set(err, "'" SLICE_FMT "' is not the end of a "
		    "status, like .1.1", SLICE_ARG(status));
	if (form->advice_count == FORM_ADVICE_MAX)
		return err_set(err, "more than %d advices", FORM_ADVICE_MAX);
	form->advice[form->advice_count++] = (struct form_advice){
		slice_dup(arena, status), slice_dup(arena, text)
	};
	return 0;
}

static int
text_take(struct arena *arena, struct report_form *form, struct slice line,
    struct err *err)
{
	size_t colon = slice_find(line, ':');
	struct slice key = slice_trim(slice_first(line, colon));
	struct slice text = slice_trim(slice_from(line, colon + 1));
	int i = 0;

	if (colon == line.n || text.n == 0)
		return err_set(err, "not a line 'key: words'");
	if (text.n > FORM_TEXT_BYTES_MAX)
		return err_set(err, "more than %d bytes",
		    FORM_TEXT_BYTES_MAX);
	if (!is_utf8(text))
		return err_set(err, "not text in UTF-8");
	if (slice_starts(key, "advice"))
		return advice_take(arena, form,
		    slice_trim(slice_from(key, 6)), text, err);
	while (i < FORM_KEYS && !slice_is(key, form_rows[i].key))
		i++;
	if (i == FORM_KEYS)
		return err_set(err, "unknown key '" SLICE_FMT "'",
		    SLICE_ARG(slice_first(key, 40)));
	if (form->texts[i] != NULL)
		return err_set(err, "'%s' stands here twice",
		    form_rows[i].key);
	form->texts[i] = slice_dup(arena, text);
	return places_check(&form_rows[i], text, err);
}

static bool
goes_on(struct slice rest)
{
	return rest.n > 0 && (rest.p[0] == ' ' || rest.p[0] == '\t');
}

/* The next line with those that go on with it. */
static bool
line_take(struct slice *rest, struct str *out, unsigned *number)
{
	struct slice line;

	str_reset(out);
	if (rest->n == 0 || !slice_cut(rest, '\n', &line))
		return false;
	(*number)++;
	str_add_slice(out, slice_trim(line));
	while (goes_on(*rest) && slice_cut(rest, '\n', &line)) {
		(*number)++;
		str_addc(out, ' ');
		str_add_slice(out, slice_trim(line));
	}
	return true;
}

int
form_parse(struct arena *arena, const char *language, struct slice text,
    struct report_form *out, struct err *err)
{
	struct str line = STR_INIT;
	unsigned number = 0;
	int result = 0;

	memset(out, 0, sizeof(*out));
	out->language = arena_dup(arena, language, strlen(language));
	while (result == 0 && line_take(&text, &line, &number)) {
		if (line.len == 0 || line.buf[0] == '#')
			continue;
		result = text_take(arena, out, str_slice(&line), err);
		if (result < 0)
			(void)err_prefix(err, "line %u", number);
	}
	str_release(&line);
	fill_english(out);
	return result;
}

static bool
is_language(const char *language)
{
	size_t n = strlen(language);

	return n > 0 && n <= 35 && strspn(language, "abcdefghijklmnopqrstuvwx"
	    "yzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == n;
}

int
form_load(struct arena *arena, const char *dir, const char *language,
    struct report_form *out, struct err *err)
{
	char path[4096], *text;
	ssize_t n;
	int fd;

	if (!is_language(language))
		return err_set(err, "'%s' is not a language tag, like de or "
		    "pt-BR", language);
	snprintf(path, sizeof(path), "%s/%s", dir, language);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "%s", path);
	text = arena_alloc(arena, FORM_FILE_BYTES_MAX + 1);
	do {
		n = read(fd, text, FORM_FILE_BYTES_MAX + 1);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		err_sys(err, "%s", path);
	close(fd);
	if (n < 0)
		return -1;
	if (n > FORM_FILE_BYTES_MAX)
		return err_set(err, "%s: more than %d bytes", path,
		    FORM_FILE_BYTES_MAX);
	if (form_parse(arena, language, (struct slice){ text, (size_t)n },
	    out, err) < 0)
		return err_prefix(err, "%s", path);
	return 0;
}

/* ---- using ------------------------------------------------------- */

void
form_add(struct str *out, const struct report_form *form, enum form_key key,
    const char *name, const char *value)
{
	struct slice text = slice_of(form->texts[key]);
	size_t at;

	while ((at = slice_find(text, '{')) < text.n) {
		struct slice place = slice_from(text, at + 1);
		size_t end = slice_find(place, '}');

		str_add_slice(out, slice_first(text, at));
		if (name != NULL && slice_is(slice_first(place, end), name))
			str_adds(out, value);
		text = slice_from(place, end + 1);
	}
	str_add_slice(out, text);
}

const char *
form_advice(const struct report_form *form, const char *status)
{
	struct slice rest = slice_from(slice_of(status), 1);

	for (size_t i = 0; i < form->advice_count; i++)
		if (slice_starts(rest, form->advice[i].status))
			return form->advice[i].text;
	return english_advice[ENGLISH_ADVICE - 1].text;
}
