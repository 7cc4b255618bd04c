# transports - the frame of every agent, then one folder a channel
noinst_LIBRARIES += transports/libagent.a
transports_libagent_a_SOURCES = transports/agent.c transports/agent.h

noinst_LIBRARIES += transports/smtp/libclient.a
transports_smtp_libclient_a_SOURCES = \
	transports/smtp/client.h transports/smtp/mail.h \
	transports/smtp/client_target.c transports/smtp/client_connect.c \
	transports/smtp/client_hello.c transports/smtp/client_reply.c \
	transports/smtp/client_mail.c transports/smtp/mail_say.c \
	transports/smtp/mail_hear.c transports/smtp/client_data.c \
	transports/smtp/client_agent.c transports/smtp/client_agent.h

agent_PROGRAMS += transports/smtp/smtp transports/lmtp/lmtp
transports_smtp_smtp_SOURCES = transports/smtp/smtp.c
transports_smtp_smtp_LDADD = transports/smtp/libclient.a \
	transports/libagent.a $(ZM_LIBS)
transports_lmtp_lmtp_SOURCES = transports/lmtp/lmtp.c
transports_lmtp_lmtp_LDADD = transports/smtp/libclient.a \
	transports/libagent.a $(ZM_LIBS)
