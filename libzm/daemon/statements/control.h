/* control.h - rows of conf_statements.h for the operator's socket
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
