/* certificates.c - until when our certificates are good, as metrics
 *
 * In     the tls statements, their files
 * Out    a moment for each
 * Trusts nothing in a certificate: only its dates are taken
 * Spec   zmailer-metrics(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/counters.h"
#include "io/tls_about.h"
#include "tools/metrics/metrics.h"

#include "base/banned.h"

void
metrics_add_certificates(struct str *out, const struct conf *conf)
{
	struct tls_about about;
	struct err err;

	if (conf->certificate_count > 0)
		counters_print_head(out,
		    "certificate_expiry_timestamp_seconds");
	for (size_t i = 0; i < conf->certificate_count; i++) {
		const struct conf_certificate *one = &conf->certificates[i];

		if (tls_about_load(&about, one->file, &err) == 1) {
			str_adds(out,
			    "zmailer_certificate_expiry_timestamp_seconds{");
			counters_print_label(out, "name",
			    slice_of(one->file));
			str_addf(out, "} %" PRId64 "\n", about.expires_s);
		}
		tls_about_release(&about);
	}
}
