# transports - the frame of every agent, then one folder a channel
# order: frame < pipe < smtp < error < mailbox < sm < kit < http < lmtp < discard < expirer < reroute < hold < examples
noinst_LIBRARIES += transports/libagent.a
transports_libagent_a_SOURCES = transports/frame/process.c \
	transports/frame/agent.c transports/frame/agent.h \
	transports/frame/carrier.c transports/frame/carrier.h

noinst_LIBRARIES += transports/smtp/libclient.a
transports_smtp_libclient_a_SOURCES = \
	transports/smtp/client.h transports/smtp/transaction/mail.h \
	transports/smtp/auth/auth.h transports/smtp/memory.c \
	transports/smtp/security/policy.c transports/smtp/hosts.c \
	transports/smtp/offer.c transports/smtp/auth/auth.c \
	transports/smtp/auth/scram.c transports/smtp/auth/secret.c \
	transports/smtp/target.c transports/smtp/connect.c \
	transports/smtp/security/dane.c transports/smtp/security/dane.h \
	transports/smtp/security/sts.c transports/smtp/security/sts.h \
	transports/smtp/provider.c transports/smtp/zone.c \
	transports/smtp/hello.c transports/smtp/security/starttls.c transports/smtp/reply.c \
	transports/smtp/dialogue.c \
	transports/smtp/xclient.c \
	transports/smtp/transaction/mail.c transports/smtp/client.c transports/smtp/transaction/mail_commands.c \
	transports/smtp/transaction/mail_form.c transports/smtp/transaction/mail_replies.c transports/smtp/transaction/mail_content.c \
	transports/smtp/agent.c transports/smtp/agent.h \
	transports/smtp/probe.c transports/smtp/probe.h

agent_PROGRAMS += transports/smtp/smtp transports/lmtp/lmtp
transports_smtp_smtp_SOURCES = transports/smtp/smtp.c
transports_smtp_smtp_LDADD = transports/smtp/libclient.a \
	transports/libagent.a $(ZM_LIBS)
transports_lmtp_lmtp_SOURCES = transports/lmtp/lmtp.c
transports_lmtp_lmtp_LDADD = transports/smtp/libclient.a \
	transports/libagent.a $(ZM_LIBS)

transports_libagent_a_SOURCES += transports/frame/account.c transports/frame/account.h \
	transports/frame/content.c transports/frame/content.h transports/frame/handin.c \
	transports/frame/handin.h

noinst_LIBRARIES += transports/mailbox/libmailbox.a
transports_mailbox_libmailbox_a_SOURCES = transports/mailbox/mailbox.h \
	transports/mailbox/deliver.c transports/mailbox/maildir.c \
	transports/mailbox/mbox.c transports/mailbox/place.c \
	transports/mailbox/forward.c transports/mailbox/act.c \
	transports/mailbox/steps.c transports/mailbox/steps.h \
	transports/mailbox/quota.c transports/mailbox/quota.h \
	transports/mailbox/vacation.c transports/mailbox/vacation.h \
	transports/mailbox/vacation_run.c \
	transports/mailbox/dotlock.c transports/mailbox/dotlock.h \
	transports/mailbox/roots.c transports/mailbox/roots.h \
	transports/mailbox/berths.c transports/mailbox/berths.h

agent_PROGRAMS += transports/mailbox/mailbox
transports_mailbox_mailbox_SOURCES = transports/mailbox/mailbox.c
transports_mailbox_mailbox_LDADD = transports/mailbox/libmailbox.a \
	transports/pipe/libpipe.a \
	transports/libagent.a $(ZM_LIBS)

noinst_LIBRARIES += transports/error/liberror.a
transports_error_liberror_a_SOURCES = transports/error/reason.c \
	transports/error/reason.h transports/error/forms.h
agent_PROGRAMS += transports/error/error transports/hold/hold
transports_error_error_SOURCES = transports/error/error.c
transports_error_error_LDADD = transports/error/liberror.a \
	transports/libagent.a $(ZM_LIBS)
transports_hold_hold_SOURCES = transports/hold/hold.c
transports_hold_hold_LDADD = transports/libagent.a $(ZM_LIBS)

noinst_LIBRARIES += transports/pipe/libpipe.a
transports_pipe_libpipe_a_SOURCES = transports/pipe/command.c \
	transports/pipe/command.h transports/pipe/program.c \
	transports/pipe/program.h transports/pipe/deliver.c \
	transports/pipe/deliver.h transports/pipe/order.c \
	transports/pipe/order.h
agent_PROGRAMS += transports/pipe/pipe
transports_pipe_pipe_SOURCES = transports/pipe/pipe.c
transports_pipe_pipe_LDADD = transports/pipe/libpipe.a \
	transports/libagent.a $(ZM_LIBS)

agent_PROGRAMS += transports/discard/discard transports/expirer/expirer \
	transports/reroute/reroute
transports_discard_discard_SOURCES = transports/discard/discard.c
transports_discard_discard_LDADD = transports/libagent.a $(ZM_LIBS)
transports_expirer_expirer_SOURCES = transports/expirer/expirer.c
transports_expirer_expirer_LDADD = transports/error/liberror.a \
	transports/libagent.a $(ZM_LIBS)
transports_reroute_reroute_SOURCES = transports/reroute/reroute.c
transports_reroute_reroute_LDADD = transports/libagent.a $(ZM_LIBS)

noinst_LIBRARIES += transports/sm/libsm.a
transports_sm_libsm_a_SOURCES = transports/sm/mailer.c \
	transports/sm/mailer.h transports/sm/batch.c transports/sm/batch.h
agent_PROGRAMS += transports/sm/sm
transports_sm_sm_SOURCES = transports/sm/sm.c
transports_sm_sm_LDADD = transports/sm/libsm.a transports/pipe/libpipe.a \
	transports/libagent.a $(ZM_LIBS)

agent_PROGRAMS += transports/kit/kit
transports_kit_kit_SOURCES = transports/kit/kit.c
transports_kit_kit_LDADD = transports/pipe/libpipe.a transports/libagent.a \
	$(ZM_LIBS)

# examples of doc/AGENT.md: built for the flows, installed to be read
noinst_PROGRAMS += transports/examples/count
transports_examples_count_SOURCES = transports/examples/count.c
transports_examples_count_LDADD = transports/libagent.a $(ZM_LIBS)
examplesdir = $(docdir)/examples
dist_examples_DATA = transports/examples/archive.sh \
	transports/examples/count.c doc/examples/accounts.sql

noinst_LIBRARIES += transports/http/libhttp.a
transports_http_libhttp_a_SOURCES = transports/http/http.h \
	transports/http/address.c transports/http/message.c \
	transports/http/post.c transports/http/meaning.c
agent_PROGRAMS += transports/http/http
transports_http_http_SOURCES = transports/http/http.c
transports_http_http_LDADD = transports/http/libhttp.a \
	transports/smtp/libclient.a transports/libagent.a $(ZM_LIBS)
