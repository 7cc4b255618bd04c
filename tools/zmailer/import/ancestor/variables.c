/* variables.c - what the variables of ZMailer's zmailer.conf come to
 *
 * In     NAME=VALUE
 * Out    mailbox, hash, log-to; what is not needed
 * Holds  nothing
 * Spec   the manual of ZMailer 2.99.57; zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/ancestor/ancestor.h"

#include "base/banned.h"

static const struct import_told notes[] = {
	{ "ZCONFIG", IMPORT_NOT_NEEDED, "programs know where the file is" },
	{ "MAILBIN", IMPORT_NOT_NEEDED, "programs know where they are" },
	{ "MAILSHARE", IMPORT_NOT_NEEDED, "its files are told by "
	    "themselves" },
	{ "MAILVAR", IMPORT_NOT_NEEDED, "its files are told by themselves" },
	{ "POSTOFFICE", IMPORT_NOT_NEEDED, "see spool: let the old one "
	    "deliver what waits there" },
	{ "LOGDIR", IMPORT_NOT_NEEDED, "see log" },
	{ "MANDIR", IMPORT_NOT_NEEDED, "it was for the installation" },
	{ "LIBRARYDIR", IMPORT_NOT_NEEDED, "it was for the installation" },
	{ "INCLUDEDIR", IMPORT_NOT_NEEDED, "it was for the installation" },
	{ "prefix", IMPORT_NOT_NEEDED, "it was for the installation" },
	{ "SENDMAILPATH", IMPORT_NOT_NEEDED, "it was for the installation" },
	{ "RMAILPATH", IMPORT_NOT_NEEDED, "it was for the installation" },
	{ "ROUTERDIRS", IMPORT_NOT_NEEDED, "router.1 to router.9 are there "
	    "(limit router-share)" },
	{ "ROUTERDIRHASH", IMPORT_NOT_NEEDED, "see hash" },
	{ "INPUTDIRS", IMPORT_MISSING, "a program between: write `milter` or "
	    "`content-filter`" },
	{ "INPUTDIRHASH", IMPORT_NOT_NEEDED, "see INPUTDIRS" },
	{ "INPUTNOTIFY", IMPORT_NOT_NEEDED, "see INPUTDIRS" },
	{ "ROUTERNOTIFY", IMPORT_NOT_NEEDED, "see run" },
	{ "SCHEDULERNOTIFY", IMPORT_NOT_NEEDED, "see run" },
	{ "ROUTEROPTIONS", IMPORT_NOT_NEEDED, "see workers" },
	{ "SMTPOPTIONS", IMPORT_NOT_NEEDED, "see workers, and the journal" },
	{ "SCHEDULEROPTIONS", IMPORT_NOT_NEEDED, "see schedule, and the "
	    "journal" },
	{ "ALLOWSOURCEROUTE", IMPORT_DIFFERS, "routes in addresses are left "
	    "out" },
	{ "MAILSERVER", IMPORT_NOT_NEEDED, "mailq(1) shows this machine's "
	    "queue" },
	{ "NOBODY", IMPORT_NOT_NEEDED, "see user" },
	{ "TRUSTEDUSER", IMPORT_NOT_NEEDED, "see user" },
	{ "LOGLEVEL", IMPORT_NOT_NEEDED, "see log-level" },
	{ "NNTPSERVER", IMPORT_MISSING, "no channel posts news: write "
	    "`deliver pipe \"COMMAND\" as ACCOUNT`" },
	{ "INEWSBIN", IMPORT_MISSING, "no channel posts news: write `deliver "
	    "pipe \"COMMAND\" as ACCOUNT`" },
	{ "TA_USE_MMAP", IMPORT_NOT_NEEDED, "agents read as they like" },
	{ "TALOCKMODE", IMPORT_NOT_NEEDED, "one scheduler has each "
	    "recipient" },
	{ "MBOXLOCKS", IMPORT_NOT_NEEDED, "an mbox is locked in each way" },
	{ "SELFADDRESSES", IMPORT_DIFFERS, "addresses of the machine are "
	    "known; those of others in a cluster are not" },
	{ "BINDADDR", IMPORT_DIFFERS, "write `zone NAME { source ADDRESS }`, "
	    "and `listen ADDRESS:25`" },
	{ "DBTYPE", IMPORT_NOT_NEEDED, "tables are text, or zmailer table "
	    "build makes a database" },
	{ "DBEXT", IMPORT_NOT_NEEDED, "see DBTYPE" },
	{ "DBEXTtest", IMPORT_NOT_NEEDED, "see DBTYPE" },
	{ "DEFCHARSET", IMPORT_NOT_NEEDED, "headers go on as they came" },
	{ "RFC822TABS", IMPORT_NOT_NEEDED, "headers go on as they came" },
	{ "NORECEIVEDFORCLAUSE", IMPORT_DIFFERS, "Received names a recipient "
	    "when there is one alone" },
	{ "MAX_NR", IMPORT_NOT_NEEDED, "see zmailer status" },
	{ "MAX_NT", IMPORT_NOT_NEEDED, "see zmailer status" },
	{ "MAX_LOAD", IMPORT_NOT_NEEDED, "see zmailer status" },
	{ "ORGDOMAIN", IMPORT_NOT_NEEDED, "boundaries have the name of "
	    "host" },
	{ "ROUTEUSER_IN_ABNORMAL_UNIX", IMPORT_NOT_NEEDED, "an account is "
	    "enough" },
	{ "DOMAIN_AWARE_GETPWNAM", IMPORT_DIFFERS, "write `domain NAME { "
	    "users <TABLE> }`" },
	{ "LISTSERV", IMPORT_MISSING, "write the addresses of its lists into "
	    "aliases, with \"|COMMAND\"" },
	{ "MAILMAN_ROOT", IMPORT_MISSING, "write `domain NAME { users any; "
	    "deliver lmtp HOST:8024 }` (Mailman 3), or its addresses into "
	    "aliases" },
	{ "SNMPSHAREDFILE", IMPORT_NOT_NEEDED, "see zmailer metrics" },
	{ "RENDEZVOUS", IMPORT_NOT_NEEDED, "see zmailer list" },
	{ "SCHEDULER_M_EXTRA", IMPORT_NOT_NEEDED, "see zmailer metrics" },
	{ "VACATIONINTERVAL", IMPORT_DIFFERS, "let Sieve answer mail "
	    "(vacation), or a program in a .forward" },
	{ "LDAP_MASTER_CONF", IMPORT_MISSING, "write a definition "
	    "(zmailer-table(8)), and `aliases <TABLE>`" },
	{ "SMTPPERL5OPT", IMPORT_MISSING, "let a hook do what the script "
	    "does (doc/HOOKS.md)" },
	{ "PATH", IMPORT_NOT_NEEDED, "programs get a clean environment" },
	{ "PUNTHOST", IMPORT_NOT_NEEDED, "its domains have no names" },
	{ "FORCEPUNT", IMPORT_NOT_NEEDED, "its domains have no names" },
	{ "hostname", IMPORT_NOT_NEEDED, "see host" },
	{ "orgdomain", IMPORT_DIFFERS, "names below it are no names of it: "
	    "write `masquerade NAME`" },
	{ "orgdomains", IMPORT_DIFFERS, "names below these are no names of "
	    "them: write `masquerade NAME...`" },
	{ "mydomain", IMPORT_NOT_NEEDED, "see host" },
	{ "toplevels", IMPORT_NOT_NEEDED, "the DNS knows the names" },
};

/* "/var/mail", "/var/mail/%P..." of templates. */
static void
variable_mailbox(struct ancestor *old, struct import_item *item)
{
	const char *path = import_word(old->import, ancestor_value(old,
	    "MAILBOX"));

	if (path == NULL || path[0] != '/' || strchr(path, '%') != NULL)
		import_item_note(old->import, item, IMPORT_MISSING, "write "
		    "`mailbox mbox PATH` with {user} in it (zmailer help "
		    "mailbox)");
	else
		import_item_taken(old->import, item, import_say(old->import,
		    IMPORT_DELIVERY, "", "mailbox mbox %s/{user}", path));
}

static void
variable_visit(struct ancestor *old, struct import_item *item)
{
	const struct import_told *told = import_told_of(notes, sizeof(notes) /
	    sizeof(notes[0]), slice_of(item->name));
	struct import *import = old->import;

	if (ancestor_item(old, item->name) != item) {
		import_item_note(import, item, IMPORT_NOT_NEEDED, "a later "
		    "line says it again, and the last one counts");
		return;
	}
	if (strcmp(item->name, "MAILBOX") == 0) {
		variable_mailbox(old, item);
		return;
	}
	if (strcmp(item->name, "SCHEDULERDIRHASH") == 0) {
		const char *levels = import_word(import, slice_of(
		    item->value));

		import_item_taken(import, item, import_say(import,
		    IMPORT_SITE, "", "hash %s", levels == NULL ? "0" :
		    levels));
		return;
	}
	if (strcmp(item->name, "SYSLOGFLG") == 0 && item->value[0] != '\0') {
		import_item_taken(import, item, import_say(import,
		    IMPORT_SITE, "", "log-to syslog"));
		return;
	}
	if (told == NULL)
		import_item_note(import, item, IMPORT_MISSING, "not known: no "
		    "variable of this name is in the tables of zmailer "
		    "import; see `zmailer help`");
	else if (item->value[0] == '\0')
		import_item_note(import, item, IMPORT_NOT_NEEDED,
		    "it is empty");
	else
		import_item_note(import, item, told->kind, "%s", told->text);
}

void
ancestor_variables(struct ancestor *old)
{
	for (size_t i = 0; i < old->count; i++)
		if (!old->items[i].is_told)
			variable_visit(old, &old->items[i]);
}
