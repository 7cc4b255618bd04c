# order: settings < snapshot < statements < read < part < show < legacy
# libzm/conf - the configuration: who calls it includes conf/conf.h
libzm_a_SOURCES += \
	libzm/conf/brief.c libzm/conf/conf.h \
	libzm/conf/edit.h \
	libzm/conf/edit.c \
	libzm/conf/in_force.c \
	libzm/conf/load.c \
	libzm/conf/load.h libzm/conf/open_spool.c \
	libzm/conf/route_value.c libzm/conf/route_value.h
# what the statements fill in, by subject
libzm_a_SOURCES += \
	libzm/conf/settings/agents.h \
	libzm/conf/settings/at.h \
	libzm/conf/settings/brief.h \
	libzm/conf/settings/conf.h \
	libzm/conf/settings/control.h \
	libzm/conf/settings/clients.h \
	libzm/conf/settings/cluster.h \
	libzm/conf/settings/hooks.h \
	libzm/conf/settings/notify.h \
	libzm/conf/settings/policy.h \
	libzm/conf/settings/queue.h \
	libzm/conf/settings/report.h \
	libzm/conf/settings/resolver.h \
	libzm/conf/settings/rewrite.h \
	libzm/conf/settings/routing.h \
	libzm/conf/settings/secure.h \
	libzm/conf/settings/site.h
# what a running zmailer took over
libzm_a_SOURCES += \
	libzm/conf/snapshot/snapshot.h \
	libzm/conf/snapshot/parse.c \
	libzm/conf/snapshot/readers.c \
	libzm/conf/snapshot/write.c
# a row a statement, by subject
libzm_a_SOURCES += \
	libzm/conf/statements/agents.h \
	libzm/conf/statements/control.h \
	libzm/conf/statements/clients.h \
	libzm/conf/statements/cluster.h \
	libzm/conf/statements/hooks.h \
	libzm/conf/statements/notify.h \
	libzm/conf/statements/policy.h \
	libzm/conf/statements/queue.h \
	libzm/conf/statements/resolver.h \
	libzm/conf/statements/rewrite.h \
	libzm/conf/statements/routing.h \
	libzm/conf/statements/rows.h \
	libzm/conf/statements/secure.h \
	libzm/conf/statements/site.h \
	libzm/conf/statements/statements.h \
	libzm/conf/statements/rows.c
# bytes to a checked tree
libzm_a_SOURCES += \
	libzm/conf/read/read.h \
	libzm/conf/read/at.c \
	libzm/conf/read/check.c \
	libzm/conf/read/complain.c \
	libzm/conf/read/connection.c \
	libzm/conf/read/file.c \
	libzm/conf/read/foreign.c \
	libzm/conf/read/index.c \
	libzm/conf/read/lex.c \
	libzm/conf/read/mend.c \
	libzm/conf/read/mend_name.c libzm/conf/read/idn.c \
	libzm/conf/read/names.c libzm/conf/read/ours.c \
	libzm/conf/read/node_at.c \
	libzm/conf/read/parse.c \
	libzm/conf/read/policy_value.c \
	libzm/conf/read/source.c \
	libzm/conf/read/target.c \
	libzm/conf/read/text.c \
	libzm/conf/read/value.c \
	libzm/conf/read/word.c \
	libzm/conf/read/zenv.c
# what each statement does to the settings
libzm_a_SOURCES += \
	libzm/conf/part/part.h \
	libzm/conf/part/agents.c \
	libzm/conf/part/apply.c \
	libzm/conf/part/auth.c \
	libzm/conf/part/classes.c \
	libzm/conf/part/clients.c \
	libzm/conf/part/cluster.c \
	libzm/conf/part/doubt.c \
	libzm/conf/part/hooks.c \
	libzm/conf/part/log.c \
	libzm/conf/part/mailbox.c \
	libzm/conf/part/mailq.c \
	libzm/conf/part/milter.c \
	libzm/conf/part/named.c \
	libzm/conf/part/policy.c \
	libzm/conf/part/policy_origin.c \
	libzm/conf/part/policy_spare.c \
	libzm/conf/part/policy_text.c \
	libzm/conf/part/preset.c \
	libzm/conf/part/reach.c \
	libzm/conf/part/resolver.c \
	libzm/conf/part/retry.c \
	libzm/conf/part/rewrite.c \
	libzm/conf/part/sign.c \
	libzm/conf/part/sign_keys.c \
	libzm/conf/part/routing.c \
	libzm/conf/part/schedule.c \
	libzm/conf/part/tls.c \
	libzm/conf/part/objective.c \
	libzm/conf/part/zone.c
# rows, settings and complaints as text
libzm_a_SOURCES += \
	libzm/conf/show/show.h \
	libzm/conf/show/cluster.c libzm/conf/show/field.c \
	libzm/conf/show/help.c \
	libzm/conf/show/manual.c \
	libzm/conf/show/meets.c \
	libzm/conf/show/report.c \
	libzm/conf/show/schedule.c \
	libzm/conf/show/show.c
# ZMailer's scheduler.conf
libzm_a_SOURCES += \
	libzm/conf/legacy/legacy.h \
	libzm/conf/legacy/legacy.c \
	libzm/conf/legacy/words.c
