/* metrics.c - zmailer metrics: OpenMetrics text for monitoring
 *
 * In     the counters that the processes share; the spool; the scheduler's
 *        counts when it runs
 * Out    text that Prometheus and its kin read, once or by listen.c
 * Trusts nothing in the spool
 * Spec   zmailer-metrics(8); OpenMetrics 1.0; libzm/journal/metrics.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "journal/counters.h"
#include "mail/spool/spool.h"
#include "tools/answers/answers.h"
#include "tools/zmailer/metrics/metrics.h"
#include "tools/queue/view.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

/* The same in the text format of Prometheus (0.0.4), which promtool reads:
 * a family is called as its samples are. */
static void
classic_add(struct str *out, struct slice text)
{
	struct slice line, word, kind, name = { "", 0 };
	const char *suffix = "";

	while (slice_cut(&text, '\n', &line)) {
		struct slice rest = slice_from(line, 7);

		if (line.n == 0 || slice_is(line, "# EOF"))
			continue;
		if (slice_starts(line, "# TYPE ") && slice_word(&rest, &name) &&
		    slice_word(&rest, &kind)) {
			suffix = slice_is(kind, "counter") ? "_total" :
			    slice_is(kind, "info") ? "_info" : "";
			str_addf(out, "# TYPE " SLICE_FMT "%s " SLICE_FMT
			    "\n", SLICE_ARG(name), suffix,
			    SLICE_ARG(slice_is(kind, "info") ?
			    SLICE("gauge") : kind));
		} else if (slice_starts(line, "# HELP ") &&
		    slice_word(&rest, &word)) {
			str_addf(out, "# HELP " SLICE_FMT "%s" SLICE_FMT
			    "\n", SLICE_ARG(word), suffix, SLICE_ARG(rest));
		} else {
			str_add_slice(out, line);
			str_addc(out, '\n');
		}
	}
}

static void
metrics_add_all(const struct conf *conf, const struct spool *spool,
    struct str *out)
{
	int log_fd = open(conf->log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)counters_read(log_fd);	/* without it: all zero */
	if (log_fd >= 0)
		close(log_fd);
	counters_print_head(out, "build");
	str_adds(out, "zmailer_build_info{version=\"" PACKAGE_VERSION
	    "\"} 1\n");
	counters_print(out);
	metrics_add_queue(out, conf->run_dir);
	metrics_add_processes(out, conf->run_dir);
	metrics_add_spool(out, spool, conf->spool_dir);
	metrics_add_neighbours(out, conf);
	metrics_add_certificates(out, conf);
	str_adds(out, "# EOF\n");
}

int
metrics_text(const struct conf *conf, bool is_open, struct str *out)
{
	const char *words[] = { "metrics", is_open ? NULL : "--prometheus",
	    NULL };
	struct str text = STR_INIT;
	struct spool *spool;
	struct err err;
	int status;

	if (answers_collect(conf, conf->log_dir, words, out, &status))
		return status;
	if ((view_is_forbidden(conf) && view_refuse(conf, AREA_ROUTER, &err)
		< 0) || conf_spool_open(conf, 0, &spool, &err) < 0)
		return verb_failed("metrics", &err, EX_NOINPUT);
	metrics_add_all(conf, spool, &text);
	if (is_open)
		str_add_slice(out, str_slice(&text));
	else
		classic_add(out, str_slice(&text));
	str_release(&text);
	spool_close(&spool);
	return EX_OK;
}

int
verb_metrics(struct arguments *arguments)
{
	const char *where = arguments_text(arguments, OPT_SCRAPE);
	struct conf *conf = verb_conf_spool(arguments->conf_path);
	struct str out = STR_INIT;
	int status;

	if (where != NULL) {
		status = metrics_listen(conf, arguments, where);
	} else {
		status = metrics_text(conf, !arguments_has(arguments,
		    OPT_PROMETHEUS), &out);
		fputs(out.buf, stdout);
	}
	str_release(&out);
	conf_free(&conf);
	return status;
}
