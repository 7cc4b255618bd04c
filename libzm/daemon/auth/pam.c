/* pam.c - ask PAM
 *
 * In     a user and a password
 * Out    yes, no, or trouble
 * Trusts PAM's modules, which run in this process
 * Spec   pam(3), pam_conv(3)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>

#include "daemon/auth/servers.h"

#ifdef HAVE_PAM
#include <security/pam_appl.h>
#endif

#include "base/mem.h"

#include "base/banned.h"

#ifdef HAVE_PAM
/* PAM frees the answers with free(3), which is what mem_ has. */
static int
pam_on_talk(int count, const struct pam_message **asked,
    struct pam_response **out, void *context)
{
	struct pam_response *answers;

	if (count <= 0 || count > PAM_MAX_NUM_MSG)
		return PAM_CONV_ERR;
	answers = mem_alloc((size_t)count, sizeof(*answers));
	for (int i = 0; i < count; i++)
		if (asked[i]->msg_style == PAM_PROMPT_ECHO_OFF)
			answers[i].resp = mem_strdup(context);
	*out = answers;
	return PAM_SUCCESS;
}

static enum auth_result
pam_result(int code, pam_handle_t *pam, struct err *err)
{
	switch (code) {
	case PAM_SUCCESS:
		return AUTH_YES;
	case PAM_AUTH_ERR:
	case PAM_USER_UNKNOWN:
	case PAM_MAXTRIES:
	case PAM_ACCT_EXPIRED:
	case PAM_NEW_AUTHTOK_REQD:
	case PAM_PERM_DENIED:
	case PAM_CRED_INSUFFICIENT:
		return AUTH_NO;
	default:
		err_set(err, "PAM: %s", pam_strerror(pam, code));
		return AUTH_TROUBLE;
	}
}

enum auth_result
auth_pam_check(const char *service, const char *user, const char *password,
    const char *client, struct err *err)
{
	struct pam_conv talk = { pam_on_talk, (void *)(uintptr_t)password };
	pam_handle_t *pam = NULL;
	enum auth_result result;
	int code = pam_start(service, user, &talk, &pam);

	if (code == PAM_SUCCESS)
		code = pam_set_item(pam, PAM_RHOST, client);
	if (code == PAM_SUCCESS)
		code = pam_authenticate(pam, PAM_SILENT |
		    PAM_DISALLOW_NULL_AUTHTOK);
	if (code == PAM_SUCCESS)
		code = pam_acct_mgmt(pam, PAM_SILENT);
	result = pam_result(code, pam, err);
	if (pam != NULL)
		(void)pam_end(pam, code);
	return result;
}

#else
enum auth_result
auth_pam_check(const char *service, const char *user, const char *password,
    const char *client, struct err *err)
{
	err_set(err, "PAM is not in this build");
	return AUTH_TROUBLE;
}
#endif
