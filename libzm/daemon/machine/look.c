/* look.c - a complaint about what the machine has
 *
 * SPDX-License-Identifier: ISC
 */
#include "daemon/machine/look.h"

#include "base/banned.h"

void
machine_tell(const struct machine_look *look, enum conf_kind kind,
    struct conf_at at, const char *hint, const char *text)
{
	conf_complain_at(look->report, look->arena, look->conf->book, kind,
	    at, look->width, hint, text);
}
