/* acl.h - convert a statement of an ACL to rules
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_EXIM_ACL_H
#define ZM_TOOLS_IMPORT_EXIM_ACL_H

#include "tools/zmailer/import/exim/exim4.h"

enum { EXIM4_CONDITIONS_MAX = 20 };
struct exim4_condition {
	struct slice	name, value;
	bool		is_not;
};
struct exim4_group {			/* VERB and what follows it */
	struct slice		 verb, message;
	struct exim4_condition	 conditions[EXIM4_CONDITIONS_MAX];
	size_t			 count;
	size_t			 first, end;	/* its rows */
	int			 statement;	/* of ours, or -1 */
	const char		*why, *needless, *differs;
};

/* The first condition of that name; NULL: none. */
const struct exim4_condition *exim4_condition_of(
    const struct exim4_group *group, const char *name);
/* Is there nothing that the ACL could accept? */
bool exim4_acl_is_empty(struct exim4 *exim, struct slice name);
/* Convert require verify = ... to a rule, or say why there is none
 * (refuse.c). */
void exim4_verify_say(struct exim4 *exim, struct exim4_group *group,
    const struct exim4_condition *verify);
/* Convert deny, defer, drop and warn to rules that refuse (refuse.c). */
void exim4_refuse(struct exim4 *exim, struct exim4_group *group);

#endif
