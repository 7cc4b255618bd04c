/* formset.c - the languages that reports are written in
 *
 * In     `report languages`, `report forms`
 * Out    forms
 * Holds  one arena
 * Trusts a form file as far as form_parse does
 * Spec   zmailer-forms(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "journal/event.h"
#include "scheduler/report/formset.h"

#include "base/banned.h"

static void
formset_add_language(struct formset *set, const struct conf *conf,
    const char *language)
{
	struct report_form *form = arena_alloc(set->arena, sizeof(*form));
	struct err err;

	if (form_load(set->arena, conf->report_forms, language, form,
	    &err) == 0) {
		set->all[set->count++] = form;
	} else if (strcmp(language, "en") == 0) {
		set->all[set->count++] = form_english();
	} else {
		event(EV_FORM_BAD, NULL, "language", slice_of(language),
		    "reason", slice_of(err.text), NULL);
	}
}

void
formset_load(struct formset *set, const struct conf *conf)
{
	struct slice rest = slice_of(conf->report_languages), word;

	formset_release(set);
	set->arena = arena_new();
	while (set->count < FORMSET_MAX && slice_word(&rest, &word))
		formset_add_language(set, conf, slice_dup(set->arena, word));
}

void
formset_release(struct formset *set)
{
	if (set->arena != NULL)
		arena_free(&set->arena);
	*set = (struct formset){ .count = 0 };
}
