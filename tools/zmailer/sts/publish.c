/* publish.c - zmailer sts publish: our own policy, as a file and as records
 *
 * In     a domain, its hosts (else those of its MX records), a mode
 * Out    the file, on standard output or in a directory; what the DNS and the
 *        web server need, in words
 * Holds  nothing
 * Spec   zmailer-sts(8); RFC 8461 sections 3.1 to 3.3, 8.3
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/fd.h"
#include "grammar/sts.h"
#include "io/dns/dns.h"
#include "tools/zmailer/sts/sts.h"

#include "base/banned.h"

enum { PUBLISH_AGE_S = 604800, PATH_BYTES = 4200 };

static int
publish_complain(const struct err *err, int status)
{
	fprintf(stderr, "zmailer: sts: %s\n", err->text);
	return status;
}

/* The digits of this moment: another id each second. */
static void
publish_make_id(char id[STS_ID_BYTES])
{
	char text[CLOCK_TEXT_BYTES];
	size_t n = 0;

	clock_rfc3339(clock_wall_us(), text);
	for (size_t i = 0; text[i] != '\0' && text[i] != '.' &&
	    n + 1 < STS_ID_BYTES; i++)
		if (ascii_is_digit(text[i]))
			id[n++] = text[i];
	id[n] = '\0';
}

static int
publish_hosts_of_dns(const struct conf *conf, const char *domain,
    struct sts_policy *policy, struct err *err)
{
	struct dns_mx mx[DNS_MX_MAX];
	size_t count = 0;

	if (dns_use(conf->dns_server, err) < 0)
		return -1;
	if (dns_mx(domain, mx, &count, NULL, err) != DNS_OK || count == 0)
		return err_set(err, "%s has no MX records that could be had; "
		    "name its hosts: --mx mx.example.org", domain);
	for (size_t i = 0; i < count; i++)
		if (!sts_policy_add_mx(policy, slice_of(mx[i].host)))
			return err_set(err, "the MX '%s' of %s is no name of "
			    "a host", mx[i].host, domain);
	return 0;
}

static int
publish_hosts(struct arguments *arguments, const char *domain,
    struct sts_policy *policy, struct err *err)
{
	const char *list = arguments_text(arguments, OPT_STS_MX);
	struct slice rest = slice_of(list != NULL ? list : ""), one;
	struct conf *conf;
	int result;

	if (list == NULL) {
		conf = verb_conf(arguments->conf_path);
		result = publish_hosts_of_dns(conf, domain, policy, err);
		conf_free(&conf);
		return result;
	}
	while (slice_cut(&rest, ',', &one))
		if (!sts_policy_add_mx(policy, slice_trim(one)))
			return err_set(err, "'" SLICE_FMT "' is no name of a "
			    "host, nor one after *.", SLICE_ARG(one));
	return 0;
}

/* Whole or not at all: web servers read it at any time. */
static int
publish_write(const char *dir, struct slice text, struct err *err)
{
	char path[PATH_BYTES], new[PATH_BYTES + 8];
	int fd, result = 0;

	snprintf(path, sizeof(path), "%s/mta-sts.txt", dir);
	snprintf(new, sizeof(new), "%s.new", path);
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, "cannot make %s", new);
	if (fchmod(fd, 0644) < 0 || fd_write_all(fd, text.p, text.n) < 0 ||
	    fsync(fd) < 0)
		result = err_sys(err, "cannot write %s", new);
	close(fd);
	if (result == 0 && rename(new, path) < 0)
		result = err_sys(err, "cannot rename %s", new);
	if (result < 0)
		(void)unlink(new);
	else
		printf("%s is written\n", path);
	return result;
}

static void
publish_say(FILE *out, const char *domain, const struct sts_policy *policy)
{
	fprintf(out, "The web server needs it at\n"
	    "    https://mta-sts.%s/.well-known/mta-sts.txt\n"
	    "as text/plain, with a certificate for mta-sts.%s, and no "
	    "redirect.  When that is so,\nthe DNS needs\n"
	    "    mta-sts.%s. A (or AAAA, CNAME) of that web server\n"
	    "    _mta-sts.%s. TXT \"v=STSv1; id=%s;\"\n"
	    "The id must be another one each time the file changes.\n",
	    domain, domain, domain, domain, policy->id);
	if (policy->mode == STS_TESTING)
		fputs("mode testing stops no mail: change to --mode enforce "
		    "when reports say that all is well.\n", out);
}

int
sts_publish(struct arguments *arguments)
{
	const char *mode = arguments_text(arguments, OPT_STS_MODE);
	const char *dir = arguments_text(arguments, OPT_WEB_DIR);
	struct sts_policy policy = { .mode = STS_TESTING,
	    .max_age_s = PUBLISH_AGE_S };
	char domain[STS_DOMAIN_BYTES];
	struct str text = STR_INIT;
	int status = EX_OK;
	struct err err;

	if (!sts_domain(slice_of(arguments_word(arguments, 0)), domain))
		return arguments_refuse(arguments, "'%s' is no domain",
		    arguments_word(arguments, 0));
	if (mode != NULL && strcmp(mode, "enforce") == 0)
		policy.mode = STS_ENFORCE;
	if (arguments_has(arguments, OPT_MAX_AGE))
		policy.max_age_s = arguments_number(arguments,
		    OPT_MAX_AGE, 0) / 1000;
	if (policy.max_age_s > STS_MAX_AGE_S)
		policy.max_age_s = STS_MAX_AGE_S;
	if (publish_hosts(arguments, domain, &policy, &err) < 0)
		return publish_complain(&err, EX_DATAERR);
	publish_make_id(policy.id);
	sts_policy_add_file(&text, &policy);
	if (dir == NULL)
		fputs(text.buf, stdout);
	else if (publish_write(dir, str_slice(&text), &err) < 0)
		status = publish_complain(&err, EX_CANTCREAT);
	if (status == EX_OK)
		publish_say(dir == NULL ? stderr : stdout, domain, &policy);
	str_release(&text);
	return status;
}
