/* received.h - reports that others sent us, read by zm-reports
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_REPORT_RECEIVED_H
#define ZM_TOOLS_ZMAILER_REPORT_RECEIVED_H

struct arguments;

/* zmailer report dmarc|tls PATH...: execute zm-reports (tools/reports).
 * returns only if that fails: an exit status. */
int received_report(struct arguments *arguments);

#endif
