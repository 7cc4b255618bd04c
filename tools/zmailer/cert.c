/* cert.c - zmailer cert: certificates, how long, for which names
 *
 * In     zmailer cert list|check|install
 * Out    a table; monitors' exit status; a pair of files in place and in the
 *        configuration
 * Holds  a key while it is copied; wiped after it, never shown
 * Trusts nothing in a certificate: its words are escaped
 * Spec   zmailer-cert(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "grammar/smtp/path.h"
#include "tls/about.h"
#include "tls/pair.h"
#include "tools/change/change.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { NAME_BYTES = 256 };

enum { CERT_OK, CERT_WARN, CERT_BAD };

/* ---- list, check -------------------------------------------------------- */

struct look {
	struct tls_about about;
	int		 state;
	char		 words[ERR_TEXT_BYTES];
	int64_t		 days;		/* until it ends */
	bool		 is_over;
};

static void
look_at_names(struct look *look, const char *names)
{
	struct slice lacks = tls_about_lacks(&look->about, names);

	if (lacks.n == 0)
		return;
	look->state = CERT_WARN;
	snprintf(look->words, sizeof(look->words), "it is shown as " SLICE_FMT
	    ", which is none of its names: get one with that name",
	    SLICE_ARG(lacks));
}

/* names: under which it is shown; NULL: those that it has. */
static void
look_at(struct look *look, const struct conf_certificate *one,
    const char *names)
{
	int64_t now_s = clock_wall_s();
	struct tls_pair pair;
	struct err err = { "" };
	enum tls_term term;

	memset(look, 0, sizeof(*look));
	if (tls_about_load(&look->about, one->file, &err) != 0) {
		look->state = CERT_BAD;
		snprintf(look->words, sizeof(look->words), "%s", err.text);
		return;
	}
	look->days = (look->about.expires_s - now_s) / TLS_DAY_S;
	look->is_over = look->about.expires_s <= now_s;
	term = tls_term(look->about.begins_s, look->about.expires_s, now_s);
	snprintf(look->words, sizeof(look->words), "ok");
	if (term == TLS_TERM_EARLY || term == TLS_TERM_OVER) {
		look->state = CERT_BAD;
		snprintf(look->words, sizeof(look->words), "%s",
		    term == TLS_TERM_EARLY ? "not in force yet" :
		    "EXPIRED");
	} else if (access(one->key, R_OK) != 0 && errno == EACCES) {
		snprintf(look->words, sizeof(look->words),
		    "ok (the key was not looked at: ask as root)");
	} else if (tls_pair_load(&pair, one->file, one->key, &err) != 0) {
		look->state = CERT_BAD;
		snprintf(look->words, sizeof(look->words), "%s", err.text);
	} else {
		tls_pair_release(&pair);
	}
	if (look->state == CERT_OK && term == TLS_TERM_SOON) {
		look->state = CERT_WARN;
		snprintf(look->words, sizeof(look->words), "renew it");
	}
	if (look->state == CERT_OK && names != NULL)
		look_at_names(look, names);
}

static void
cert_put_json(const struct conf_certificate *one, const struct look *look)
{
	static const char *const states[] = { "ok", "warn", "bad" };
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "file", slice_of(one->file));
	json_text(&out, "key", slice_of(one->key));
	json_text(&out, "for", slice_of(one->name));
	json_text(&out, "state", slice_of(states[look->state]));
	json_text(&out, "words", slice_of(look->words));
	json_text(&out, "names", str_slice(&look->about.names));
	json_text(&out, "issuer", str_slice(&look->about.issuer));
	json_number(&out, "expires", look->about.expires_s);
	json_number(&out, "days", look->days);
	json_text(&out, "fingerprint", slice_of(look->about.fingerprint));
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
put_text(const struct conf_certificate *one, const struct look *look,
    bool is_first)
{
	struct str words = STR_INIT;
	char expires[CLOCK_TEXT_BYTES];

	clock_local(look->about.expires_s, expires);
	str_add_escaped(&words, slice_of(look->words));
	printf("%s%s%s%s\n", one->file, one->name != NULL ? "  for " : "",
	    one->name != NULL ? one->name : "",
	    is_first ? "  (shown when no other fits)" : "");
	if (look->about.expires_s != 0)
		printf("  names    %s\n  issuer   %s%s\n"
		    "  expires  %s, %s%lld days%s\n",
		    look->about.names.buf, look->about.issuer.buf,
		    look->about.is_own_issuer ? " (signed by itself)" : "",
		    expires, look->is_over ? "" : "in ",
		    llabs((long long)look->days),
		    look->is_over ? " ago" : "");
	printf("  state    %s\n", words.buf);
	str_release(&words);
}

static int
cert_list(const struct change *change, bool is_check)
{
	struct conf_certificate *rows;
	int worst = CERT_OK;
	struct err err;
	size_t count;

	if (conf_all_certificates(change->conf, change->arena, &rows, &count,
	    &err) < 0) {
		fprintf(stderr, "zmailer: cert: %s\n", err.text);
		worst = CERT_BAD;
	}
	for (size_t i = 0; i < count; i++) {
		const struct conf_certificate *one = &rows[i];
		struct look look;

		/* the first is the default, shown under our own name */
		look_at(&look, one, one->name != NULL ? one->name :
		    i == 0 ? change->conf->host : NULL);
		if (look.state > worst)
			worst = look.state;
		if (change->is_json)
			cert_put_json(one, &look);
		else if (!is_check || look.state != CERT_OK)
			put_text(one, &look, i == 0);
		tls_about_release(&look.about);
	}
	if (count == 0 && !change->is_json)
		printf("no certificate: zmailer cert install FILE KEY\n");
	return is_check ? worst : EX_OK;
}

/* ---- install ------------------------------------------------------------ */

/* "mx.example.org" -> a name for its files; "*" becomes "_". */
static bool
cert_file_name(const char *host, char out[NAME_BYTES])
{
	size_t n = strlen(host);

	if (n == 0 || n >= NAME_BYTES || host[0] == '.' || host[0] == '-')
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = host[i];

		if (!ascii_is_alnum(c) && c != '.' && c != '-' && c != '*')
			return false;
		out[i] = c == '*' ? '_' : ascii_lower(c);
	}
	out[n] = '\0';
	return true;
}

/* Where to write the pair: over the files that a statement names for this host,
 * else beside the configuration. */
static bool
cert_places(struct change *change, const char *host, const char **out_file,
    const char **out_key)
{
	const struct conf *conf = change->conf;
	const char *slash = strrchr(change->conf_path, '/');
	int n = slash == NULL ? 1 : (int)(slash - change->conf_path);
	const char *dir = arena_printf(change->arena, "%.*s", n,
	    slash == NULL ? "." : change->conf_path);
	char name[NAME_BYTES];

	if (!cert_file_name(host, name))
		return false;
	*out_file = arena_printf(change->arena, "%s/%s.pem", dir, name);
	*out_key = arena_printf(change->arena, "%s/%s.key", dir, name);
	for (size_t i = 0; i < conf->certificate_count; i++)
		if (conf->certificates[i].name != NULL &&
		    strcmp(conf->certificates[i].name, host) == 0) {
			*out_file = conf->certificates[i].file;
			*out_key = conf->certificates[i].key;
		}
	return true;
}

static bool
cert_is_named(const struct conf *conf, const char *file, const char *key)
{
	for (size_t i = 0; i < conf->certificate_count; i++)
		if (strcmp(conf->certificates[i].file, file) == 0 &&
		    strcmp(conf->certificates[i].key, key) == 0)
			return true;
	return false;
}

/* Has the new one all names of the one in a file?  Then that is of no use
 * any more, and the first of two is the one that is shown. */
static bool
cert_replaces(const struct tls_about *fresh, const char *file)
{
	struct tls_about old = { .begins_s = 0 };
	struct slice names, name;
	struct err err;
	bool is_all;

	if (tls_about_load(&old, file, &err) != 0)
		return false;
	names = str_slice(&old.names);
	is_all = names.n > 0;
	while (is_all && slice_word(&names, &name)) {
		struct str host = STR_INIT;

		str_add_slice(&host, name);
		is_all = tls_about_has(fresh, host.buf);
		str_release(&host);
	}
	tls_about_release(&old);
	return is_all;
}

/* In place of one that it replaces, else after the last such statement, else
 * at the end. */
static void
statement_write(struct change *change, struct str *text, const char *line,
    const struct tls_about *fresh)
{
	struct conf_piece *pieces, *last = NULL;
	size_t count = conf_pieces(change->arena, str_slice(text), &pieces);

	for (size_t i = 0; i < count; i++) {
		char file[4096];

		if (!conf_piece_is(&pieces[i], 0, "tls") ||
		    !conf_piece_is(&pieces[i], 1, "certificate") ||
		    pieces[i].word_count < 5)
			continue;
		last = &pieces[i];
		snprintf(file, sizeof(file), SLICE_FMT,
		    SLICE_ARG(last->words[2].text));
		if (fresh != NULL && last->word_count == 5 &&
		    cert_replaces(fresh, file)) {
			conf_put_after(text, last, line);
			conf_take_piece(text, last);
			return;
		}
	}
	if (last != NULL)
		conf_put_after(text, last, line);
	else
		conf_put_last(text, line);
}

static int
statement_put(struct change *change, const char *file, const char *key,
    const char *host, const struct tls_about *fresh)
{
	struct str *text = change_main(change);
	struct str line = STR_INIT;

	if (text == NULL)
		return EX_NOINPUT;
	str_addf(&line, "tls certificate \"%s\" key \"%s\"%s%s\n", file, key,
	    host != NULL ? " for " : "", host != NULL ? host : "");
	statement_write(change, text, line.buf, host == NULL ? fresh : NULL);
	str_release(&line);
	return EX_OK;
}

/* What people are shown in place of a page of letters. */
static const char *
cert_summary(struct change *change, const struct tls_about *about)
{
	char expires[CLOCK_TEXT_BYTES];
	struct str text = STR_INIT;
	const char *result;

	clock_local(about->expires_s, expires);
	str_adds(&text, "a certificate of ");
	str_add_escaped(&text, str_slice(&about->subject));
	str_adds(&text, ", names ");
	str_add_escaped(&text, str_slice(&about->names));
	str_addf(&text, ", expires %s, SHA-256 %s", expires,
	    about->fingerprint);
	result = slice_dup(change->arena, str_slice(&text));
	str_release(&text);
	return result;
}

/* about NULL: it is a key. */
static int
cert_copy(struct change *change, const char *from, const char *to,
    const struct tls_about *about)
{
	bool is_key = about == NULL;
	struct str *text = change_file(change, to, true, is_key ? 0600 :
	    0644);
	struct err err;

	if (text == NULL)
		return EX_NOINPUT;
	change->files[change->file_count - 1].is_secret = is_key;
	if (!is_key)
		change->files[change->file_count - 1].about =
		    cert_summary(change, about);
	str_reset(text);
	if (tls_file_read(from, text, &err) == 0)
		return EX_OK;
	fprintf(stderr, "zmailer: cert: %s\n", err.text);
	return EX_NOINPUT;
}

/* A pair that fits and is in force, or words and -1. */
static int
pair_check(const char *file, const char *key, struct tls_about *about)
{
	struct tls_pair pair;
	struct err err = { "" };
	int64_t now_s = clock_wall_s();
	const char *why = NULL;

	if (tls_pair_load(&pair, file, key, &err) != 0 ||
	    tls_about_load(about, file, &err) != 0) {
		fprintf(stderr, "zmailer: cert: %s\n", err.text);
		return -1;
	}
	tls_pair_release(&pair);
	if (about->expires_s < now_s)
		why = "it has expired";
	else if (about->begins_s > now_s)
		why = "it is not in force yet";
	if (why == NULL)
		return 0;
	fprintf(stderr, "zmailer: cert: %s: %s\n", file, why);
	return -1;
}

static int
install_pair(struct change *change, char **argv, const char *host,
    const struct tls_about *about)
{
	struct slice names = str_slice(&about->names), first = { "", 0 };
	const char *file, *key, *name = host;
	int status;

	(void)slice_word(&names, &first);
	if (name == NULL)
		name = slice_dup(change->arena, first);
	if (!cert_places(change, name, &file, &key)) {
		fprintf(stderr, "zmailer: cert: the certificate has no name "
		    "that a file could have; say --for NAME\n");
		return EX_DATAERR;
	}
	if (host != NULL && !tls_about_has(about, host))
		printf("note: the certificate is not for %s, but for %s\n",
		    host, about->names.buf);
	status = cert_copy(change, argv[0], file, about);
	if (status == EX_OK)
		status = cert_copy(change, argv[1], key, NULL);
	if (status == EX_OK && !cert_is_named(change->conf, file, key))
		status = statement_put(change, file, key, host, about);
	return status == EX_OK ? change_carry_out(change) : status;
}

static int
cert_install_pair(struct change *change, const struct arguments *arguments)
{
	const char *host = arguments_text(arguments, OPT_FOR_HOST);
	char **files = arguments->words;
	struct tls_about about = { .begins_s = 0 };
	struct err err;
	int status;

	if (host != NULL && (host[0] == '[' ||
	    domain_parse(slice_of(host), NULL) != 0))
		return arguments_refuse(arguments, "--for wants the name of a "
		    "host");
	for (int i = 0; i < 2; i++)
		if (access(files[i], R_OK) != 0) {
			err_sys(&err, "%s", files[i]);
			return verb_failed("cert", &err, EX_NOINPUT);
		}
	status = pair_check(files[0], files[1], &about) != 0 ? EX_DATAERR :
	    install_pair(change, files, host, &about);
	tls_about_release(&about);
	return status;
}

static int
cert_run(struct change *change, const struct arguments *arguments)
{
	if (arguments_is(arguments, "install"))
		return cert_install_pair(change, arguments);
	return cert_list(change, arguments_is(arguments, "check"));
}

int
verb_cert(struct arguments *arguments)
{
	return change_verb(arguments, cert_run);
}
