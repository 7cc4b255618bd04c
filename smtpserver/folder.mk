# smtpserver - takes mail from the network
# order: helper < origin < copies < tls < auth < policy < milter < transaction < session < command < worker < listener < rehearse
noinst_LIBRARIES += smtpserver/libsmtpserver.a
smtpserver_libsmtpserver_a_SOURCES = \
	smtpserver/helper/ask.c smtpserver/helper/ask.h \
	smtpserver/helper/dns.c smtpserver/helper/etrn.c \
	smtpserver/helper/etrn.h smtpserver/helper/helper.c smtpserver/helper/helper.h \
	smtpserver/helper/helpers.c smtpserver/helper/helpers.h \
	smtpserver/helper/helpers_internal.h smtpserver/helper/helpers_process.c \
	smtpserver/tls/files.c smtpserver/tls/files.h smtpserver/tls/keyring.c \
	smtpserver/tls/keyring.h smtpserver/tls/keys.c smtpserver/tls/keys.h \
	smtpserver/tls/process.c \
	smtpserver/auth/check.c smtpserver/auth/check.h smtpserver/auth/dovecot.c \
	smtpserver/auth/dovecot.h \
	smtpserver/auth/failures.c smtpserver/auth/failures.h smtpserver/auth/login.c \
	smtpserver/auth/login.h smtpserver/auth/login_internal.h \
	smtpserver/auth/login_scram.c smtpserver/auth/process.c \
	smtpserver/auth/process.h \
	smtpserver/policy/early.c \
	smtpserver/policy/facts.c smtpserver/policy/facts.h smtpserver/policy/fit.c \
	smtpserver/policy/fit_count.c smtpserver/policy/fit_identity.c \
	smtpserver/policy/fit_service.c smtpserver/policy/fit_spf.c \
	smtpserver/policy/greylist.c \
	smtpserver/policy/greylist.h smtpserver/policy/greylist_serve.c \
	smtpserver/policy/late.c smtpserver/policy/late.h \
	smtpserver/policy/blocked.c smtpserver/policy/blocked.h \
	smtpserver/auth/blocks.c smtpserver/auth/blocks.h \
	smtpserver/policy/domain.c smtpserver/policy/fit_table.c \
	smtpserver/policy/internal.h \
	smtpserver/policy/owner.c smtpserver/policy/peers.c smtpserver/policy/peers.h \
	smtpserver/policy/policy.c smtpserver/policy/policy.h smtpserver/policy/policyd.c \
	smtpserver/policy/policyd.h smtpserver/policy/policyd_serve.c \
	smtpserver/policy/rate_serve.c smtpserver/policy/serve.h smtpserver/policy/shed.c \
	smtpserver/policy/shed.h \
	smtpserver/milter/conversation.c smtpserver/milter/conversation.h \
	smtpserver/milter/facts.c smtpserver/milter/facts.h smtpserver/milter/filter.c \
	smtpserver/milter/filter.h smtpserver/milter/filter_answer.c \
	smtpserver/milter/hungry.c smtpserver/milter/hungry.h smtpserver/milter/link.c \
	smtpserver/milter/link.h smtpserver/milter/local.c smtpserver/milter/local.h \
	smtpserver/milter/macros.c smtpserver/milter/macros.h \
	smtpserver/milter/mail.c smtpserver/milter/mail.h smtpserver/milter/packet.c \
	smtpserver/milter/packet.h smtpserver/milter/talk.c smtpserver/milter/talk.h \
	smtpserver/milter/talk_changes.c smtpserver/milter/talk_internal.h \
	smtpserver/milter/talk_steps.c \
	smtpserver/origin/judge.c smtpserver/origin/judge.h \
	smtpserver/origin/judge_line.c smtpserver/origin/judge_mark.c \
	smtpserver/origin/judge_mark.h \
	smtpserver/copies/copier.c smtpserver/copies/copier.h \
	smtpserver/transaction/answer.c smtpserver/transaction/answer.h \
	smtpserver/transaction/content.c smtpserver/transaction/content.h \
	smtpserver/transaction/space.c smtpserver/transaction/space.h \
	smtpserver/transaction/transaction.c smtpserver/transaction/transaction.h \
	smtpserver/session/auth.c smtpserver/session/auth.h smtpserver/session/client.c \
	smtpserver/session/client.h smtpserver/session/copy.c smtpserver/session/copy.h \
	smtpserver/session/data.c smtpserver/session/deadline.c \
	smtpserver/session/filter/filter.c smtpserver/session/filter/filter.h \
	smtpserver/session/filter/facts.c smtpserver/session/filter/steps.c \
	smtpserver/session/filter/said.c smtpserver/session/filter/said.h \
	smtpserver/session/greet.c smtpserver/session/judge/rules.c smtpserver/session/judge/rules.h \
	smtpserver/session/judge/steps.c smtpserver/session/publish.c \
	smtpserver/session/publish.h smtpserver/session/records/journal.c \
	smtpserver/session/records/journal.h smtpserver/session/recipient/permit.c \
	smtpserver/session/recipient/permit.h smtpserver/session/receive.c \
	smtpserver/session/receive.h smtpserver/session/recipient/recipient.c \
	smtpserver/session/recipient/recipient.h smtpserver/session/records/record.c \
	smtpserver/session/records/record.h \
	smtpserver/session/recipient/cut_through.c smtpserver/session/recipient/cut_through.h \
	smtpserver/session/reply.c \
	smtpserver/session/service.c smtpserver/session/service.h \
	smtpserver/session/session.c smtpserver/session/session.h smtpserver/session/step.h \
	smtpserver/session/steps.h smtpserver/session/tarpit.c smtpserver/session/tls.c \
	smtpserver/session/records/transcript.c smtpserver/session/records/transcript.h \
	smtpserver/command/argument.c smtpserver/command/argument.h \
	smtpserver/command/attributes.c smtpserver/command/attributes.h \
	smtpserver/command/auth.c smtpserver/command/bdat.c smtpserver/command/commands.c \
	smtpserver/command/commands.h smtpserver/command/data.c smtpserver/command/ehlo.c \
	smtpserver/command/etrn.c smtpserver/command/expn.c smtpserver/command/helo.c \
	smtpserver/command/help.c smtpserver/command/keywords.c \
	smtpserver/command/keywords.h smtpserver/command/mail.c \
	smtpserver/command/mail_params.c smtpserver/command/mail_params.h \
	smtpserver/command/noop.c smtpserver/command/quit.c smtpserver/command/rcpt.c \
	smtpserver/command/rset.c smtpserver/command/starttls.c \
	smtpserver/command/verify_arg.c smtpserver/command/verify_arg.h \
	smtpserver/command/vrfy.c smtpserver/command/xclient.c \
	smtpserver/command/xforward.c \
	smtpserver/worker/command_line.c smtpserver/worker/confine.c \
	smtpserver/worker/confine.h smtpserver/worker/process.c smtpserver/worker/run.c \
	smtpserver/worker/run.h smtpserver/worker/standalone.c \
	smtpserver/worker/standalone.h smtpserver/worker/commit.c smtpserver/worker/connection.h \
	smtpserver/worker/worker.c \
	smtpserver/worker/worker.h \
	smtpserver/listener/admit.c smtpserver/listener/arrivals.c \
	smtpserver/listener/arrivals.h smtpserver/listener/clients.c \
	smtpserver/listener/clients.h smtpserver/listener/hearing.c smtpserver/listener/hearing.h \
	smtpserver/listener/helper_kinds.c \
	smtpserver/listener/helper_kinds.h smtpserver/listener/internal.h \
	smtpserver/listener/listener.c smtpserver/listener/listener.h \
	smtpserver/listener/workers.c smtpserver/listener/workers.h \
	smtpserver/rehearse/again.c smtpserver/rehearse/again.h \
	smtpserver/rehearse/again_row.c smtpserver/rehearse/again_end.c \
	smtpserver/rehearse/again_internal.h \
	smtpserver/rehearse/counting.c smtpserver/rehearse/counting.h smtpserver/rehearse/inquiry.c \
	smtpserver/rehearse/inquiry.h smtpserver/rehearse/replay.c \
	smtpserver/rehearse/replay.h smtpserver/rehearse/dialogue.c smtpserver/rehearse/dialogue.h \
	smtpserver/rehearse/rehearsal_late.c smtpserver/rehearse/rehearsal.c smtpserver/rehearse/rehearsal.h \
	smtpserver/rehearse/rehearsal_row.c smtpserver/rehearse/rehearse.c \
	smtpserver/rehearse/rehearse.h

pkglibexec_PROGRAMS += smtpserver/smtpserver
smtpserver_smtpserver_SOURCES = smtpserver/smtpserver.c
smtpserver_smtpserver_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS) \
	$(CRYPT_LIBS) $(SODIUM_LIBS) $(PAM_LIBS)
