/* metrics.c - zmailer metrics: OpenMetrics text for monitoring
 *
 * In     the counters that the processes share; the spool; the scheduler's
 *        counts when it runs
 * Out    text that Prometheus and its kin read
 * Trusts nothing in the spool
 * Spec   zmailer-metrics(8); OpenMetrics 1.0; libzm/journal/metrics.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "journal/counters.h"
#include "mail/spool/spool.h"
#include "tools/answers/answers.h"
#include "tools/zmailer/metrics/metrics.h"
#include "tools/queue/view.h"
#include "tools/zmailer/verb.h"

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

int
verb_metrics(struct arguments *arguments)
{
	struct str out = STR_INIT, classic = STR_INIT;
	struct spool *spool;
	struct conf *conf;
	struct err err;
	bool is_classic = arguments_has(arguments, OPT_PROMETHEUS);
	int log_fd, status;

	conf = verb_conf_spool(arguments->conf_path);
	if (answers_have(conf, conf->log_dir, arguments, &status)) {
		conf_free(&conf);
		return status;
	}
	if ((view_is_forbidden(conf) && view_refuse(conf, AREA_ROUTER, &err)
		< 0) || spool_open(conf->spool_dir, 0, conf->hash_levels,
		&spool, &err) < 0) {
		conf_free(&conf);
		return verb_failed("metrics", &err, EX_NOINPUT);
	}
	log_fd = open(conf->log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)counters_read(log_fd);	/* without it: all zero */
	if (log_fd >= 0)
		close(log_fd);
	counters_print_head(&out, "build");
	str_adds(&out, "zmailer_build_info{version=\"" PACKAGE_VERSION
	    "\"} 1\n");
	counters_print(&out);
	metrics_add_queue(&out, conf->run_dir);
	metrics_add_processes(&out, conf->run_dir);
	metrics_add_spool(&out, spool, conf->spool_dir);
	metrics_add_certificates(&out, conf);
	str_adds(&out, "# EOF\n");
	if (is_classic)
		classic_add(&classic, str_slice(&out));
	fputs(is_classic ? classic.buf : out.buf, stdout);
	str_release(&classic);
	str_release(&out);
	spool_close(&spool);
	conf_free(&conf);
	return EX_OK;
}
