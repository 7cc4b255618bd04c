/* orders.c - the verbs that are a row of tools/selection/orders.h
 *
 * In     argv
 * Out    what selection_order does
 * Spec   tools/selection/orders.h; doc/protocol/control.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/selection/selection.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum {
	DEFERRED = 1 << AREA_DEFERRED, FREEZER = 1 << AREA_FREEZER,
	POSTMAN = 1 << AREA_POSTMAN, TRASH = 1 << AREA_TRASH
};

#define ORDER(verb, op, done, files, act) \
	int verb_##verb(struct arguments *arguments) \
	{ \
		static const struct selection_order order = { op, done, files, \
			act }; \
		return selection_order(arguments, &order); \
	}
#include "tools/selection/orders.h"
