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
#include <string.h>

#include "journal/counters.h"
#include "tls/about.h"
#include "tools/zmailer/metrics/metrics.h"

#include "base/banned.h"

enum { NAMES_MAX = 100 };	/* of a table of them; then the first to end */

static bool
expiry_of(const char *file, int64_t *out_s)
{
	struct tls_about about;
	struct err err;
	bool is_read = tls_about_load(&about, file, &err) == 0;

	*out_s = is_read ? about.expires_s : 0;
	tls_about_release(&about);
	return is_read;
}

/* One file may serve several names. */
static bool
is_new(const struct conf_certificate *rows, size_t count)
{
	for (size_t i = 0; i < count && i < NAMES_MAX; i++)
		if (strcmp(rows[i].file, rows[count].file) == 0)
			return false;
	return true;
}

static void
add_expiry(struct str *out, const char *name, int64_t expires_s)
{
	str_adds(out, "zmailer_certificate_expiry_timestamp_seconds{");
	counters_print_label(out, "name", slice_of(name));
	str_addf(out, "} %" PRId64 "\n", expires_s);
}

void
metrics_add_certificates(struct str *out, const struct conf *conf)
{
	struct arena *arena = arena_new();
	struct conf_certificate *rows;
	int64_t others_s = 0, expires_s;
	struct err err;
	size_t count;

	/* what a broken table does not tell is left out */
	(void)conf_all_certificates(conf, arena, &rows, &count, &err);
	if (count > 0)
		counters_print_head(out,
		    "certificate_expiry_timestamp_seconds");
	for (size_t i = 0; i < count; i++) {
		if (!is_new(rows, i) || !expiry_of(rows[i].file, &expires_s))
			continue;
		if (i < NAMES_MAX)
			add_expiry(out, rows[i].file, expires_s);
		else if (others_s == 0 || expires_s < others_s)
			others_s = expires_s;
	}
	if (others_s != 0)
		add_expiry(out, "others", others_s);
	arena_free(&arena);
}
