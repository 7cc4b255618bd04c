/* control.h - rows of statements.h: the operator's socket, reports
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "control", NONE, setting, "setting", "",
    "control admins|operators GROUP", "",
    "Groups of this machine whose members may use the scheduler's socket: "
    "admins may change anything, operators may look.  Root may always; other "
    "users see the mail that they submitted themselves.",
    "control admins mailadmin\n"
    "control operators adm")
SETTING("control", "admins", control_admins, "account", "-",
    "a group; -: nobody but root")
SETTING("control", "operators", control_operators, "account", "-",
    "a group; -: nobody")

STATEMENT(TOP, "mailq", NONE, mailq, "listen", "users!=path sha256-only",
    "mailq [ADDRESS:]PORT|unix:/PATH users FILE [sha256-only]", "none",
    "Answer ZMailer's mailq protocol, version 2, here, for its tools and for "
    "mailq -h.  A port alone is on loopback; ZMailer's is 174.  FILE has a "
    "line for each user: NAME:PASSWORD:RIGHT...[:[ADDRESS]/WIDTH...]; rights "
    "are SNMP, QQ, TT, ETRN, KILL, ALL and NONE.  Only the agents' account "
    "should be able to read it.  Passwords never cross the network; "
    "sha256-only refuses the MD5 sums of the old tools.  The answers are not "
    "encrypted.",
    "mailq 127.0.0.1:174 users /etc/zmailer/mailq-users sha256-only")

STATEMENT(TOP, "report", NONE, setting, "setting", "",
    "report languages \"TAG ...\" | report forms DIRECTORY", "",
    "The languages of delivery reports: one after the other, the first one in "
    "the subject.  A language is a file of that name in the directory of "
    "forms (zmailer-forms(5)); en, de and fi are installed.",
    "report languages \"fi en\"")
SETTING("report", "languages", report_languages, "text", "en",
    "tags like en, de, pt-BR with blanks between them")
SETTING("report", "forms", report_forms, "path", ZM_DATADIR "/forms",
    "where the form files are")
