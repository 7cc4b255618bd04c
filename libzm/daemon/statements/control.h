/* control.h - rows of conf_statements.h: the operator's socket, reports
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "control", NONE, setting, "setting", "",
    "control admins|operators GROUP", "",
    "Groups of this machine whose members may use the scheduler's socket: "
    "admins change what they like, operators look.  Root may always; "
    "everybody else sees the mail that they submitted themselves.",
    "control admins mailadmin\n"
    "control operators adm")
SETTING("control", "admins", control_admins, "account", "-",
    "a group; -: nobody but root")
SETTING("control", "operators", control_operators, "account", "-",
    "a group; -: nobody")

STATEMENT(TOP, "report", NONE, setting, "setting", "",
    "report languages \"TAG ...\" | report forms DIRECTORY", "",
    "The words of delivery reports: each language in its turn, the first "
    "one in the subject.  A language is a file of that name in the "
    "directory of forms (zmailer-forms(5)); en, de and fi are installed.",
    "report languages \"fi en\"")
SETTING("report", "languages", report_languages, "text", "en",
    "tags like en, de, pt-BR with blanks between them")
SETTING("report", "forms", report_forms, "path", ZM_DATADIR "/forms",
    "where the form files are")
