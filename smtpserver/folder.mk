# smtpserver - takes mail from the network
noinst_LIBRARIES += smtpserver/libsmtpserver.a
smtpserver_libsmtpserver_a_SOURCES = \
	smtpserver/answer.c smtpserver/answer.h \
	smtpserver/argument.c smtpserver/argument.h \
	smtpserver/arrivals.c smtpserver/arrivals.h \
	smtpserver/ask.c smtpserver/ask.h \
	smtpserver/attributes.c smtpserver/attributes.h \
	smtpserver/buckets.c smtpserver/buckets.h \
	smtpserver/cache.c smtpserver/cache.h \
	smtpserver/client.c smtpserver/client.h \
	smtpserver/clients.c smtpserver/clients.h \
	smtpserver/cmd_bdat.c smtpserver/cmd_etrn.c smtpserver/cmd_expn.c \
	smtpserver/cmd_data.c smtpserver/cmd_ehlo.c smtpserver/cmd_helo.c \
	smtpserver/cmd_help.c smtpserver/cmd_mail.c smtpserver/cmd_noop.c \
	smtpserver/cmd_quit.c smtpserver/cmd_rcpt.c smtpserver/cmd_rset.c \
	smtpserver/auth_check.c smtpserver/auth_check.h \
	smtpserver/auth_dovecot.c smtpserver/auth_dovecot.h \
	smtpserver/auth_keeper.c smtpserver/auth_keeper.h \
	smtpserver/auth_pam.c smtpserver/auth_saslauthd.c \
	smtpserver/cmd_auth.c smtpserver/cmd_starttls.c \
	smtpserver/dovecot_lines.c \
	smtpserver/failures.c smtpserver/failures.h \
	smtpserver/login.c smtpserver/login.h smtpserver/login_internal.h \
	smtpserver/login_scram.c \
	smtpserver/session_auth.c smtpserver/session_auth.h \
	smtpserver/cmd_vrfy.c smtpserver/cmd_xclient.c smtpserver/cmd_xforward.c \
	smtpserver/commands.c smtpserver/commands.h \
	smtpserver/content.c smtpserver/content.h \
	smtpserver/etrn.c smtpserver/etrn.h \
	smtpserver/crew.c smtpserver/crew.h \
	smtpserver/doorman.c smtpserver/doorman.h \
	smtpserver/doorman_admit.c smtpserver/doorman_internal.h \
	smtpserver/shed.c smtpserver/shed.h smtpserver/session_greet.c \
	smtpserver/facts.c smtpserver/facts.h \
	smtpserver/helper.c smtpserver/helper.h smtpserver/helper_dns.c \
	smtpserver/helper_greylist.c smtpserver/helper_rate.c \
	smtpserver/greylist.c smtpserver/greylist.h \
	smtpserver/helper_kinds.c \
	smtpserver/helpers.c smtpserver/helpers.h \
	smtpserver/helpers_internal.h smtpserver/helpers_process.c \
	smtpserver/keyring.c smtpserver/keyring.h \
	smtpserver/keys.c smtpserver/keys.h smtpserver/keys_process.c \
	smtpserver/keys_files.c smtpserver/keys_files.h \
	smtpserver/keywords.c smtpserver/keywords.h \
	smtpserver/listen_socket.c smtpserver/listen_socket.h \
	smtpserver/mail_params.c smtpserver/mail_params.h \
	smtpserver/notes.c smtpserver/notes.h \
	smtpserver/peers.c smtpserver/peers.h \
	smtpserver/permit.c smtpserver/permit.h \
	smtpserver/policy.c smtpserver/policy.h \
	smtpserver/policy_fit.c smtpserver/policy_internal.h \
	smtpserver/policy_service.c smtpserver/helper_policy.c \
	smtpserver/policyd.c smtpserver/policyd.h \
	smtpserver/rehearsal.c smtpserver/rehearsal.h \
	smtpserver/rehearsal_row.c \
	smtpserver/rehearse.c smtpserver/rehearse.h \
	smtpserver/recipient.c smtpserver/recipient.h \
	smtpserver/receive.c smtpserver/receive.h \
	smtpserver/service.c smtpserver/service.h \
	smtpserver/session.c smtpserver/session.h smtpserver/steps.h \
	smtpserver/session_filter.c \
	smtpserver/milter/packet.c smtpserver/milter/packet.h \
	smtpserver/milter/mail.c smtpserver/milter/mail.h \
	smtpserver/milter/talk.c smtpserver/milter/talk_steps.c \
	smtpserver/milter/talk_internal.h smtpserver/milter/talk.h \
	smtpserver/milter/filter.c smtpserver/milter/filter_answer.c \
	smtpserver/milter/filter.h \
	smtpserver/session_life.c \
	smtpserver/session_content.c smtpserver/session_internal.h \
	smtpserver/session_tls.c \
	smtpserver/transaction.c smtpserver/transaction.h \
	smtpserver/standalone.c smtpserver/standalone.h \
	smtpserver/verify_arg.c smtpserver/verify_arg.h \
	smtpserver/worker.c smtpserver/worker.h \
	smtpserver/worker_process.c

pkglibexec_PROGRAMS += smtpserver/smtpserver
smtpserver_smtpserver_SOURCES = smtpserver/smtpserver.c
smtpserver_smtpserver_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS) \
	$(CRYPT_LIBS) $(PAM_LIBS)
