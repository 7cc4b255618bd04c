# libzm/daemon - configuration, the ladder of a daemon, the launcher
libzm_a_SOURCES += \
	libzm/daemon/launcher.h \
	libzm/daemon/listen_socket.h \
	libzm/daemon/sandbox.h \
	libzm/daemon/skeleton.h \
	libzm/daemon/drop.c \
	libzm/daemon/drop_reader.c \
	libzm/daemon/fork.c \
	libzm/daemon/route_value.c libzm/daemon/route_value.h \
	libzm/daemon/launcher.c \
	libzm/daemon/launcher_client.c \
	libzm/daemon/launcher_command.c \
	libzm/daemon/listen_socket.c \
	libzm/daemon/sandbox.c \
	libzm/daemon/sandbox_calls.c \
	libzm/daemon/sandbox_try.c \
	libzm/daemon/skeleton.c
# the configuration: who calls it includes conf/conf.h
libzm_a_SOURCES += \
	libzm/daemon/conf/at.h \
	libzm/daemon/conf/conf.h \
	libzm/daemon/conf/edit.h \
	libzm/daemon/conf/internal.h \
	libzm/daemon/conf/statements.h \
	libzm/daemon/conf/at.c \
	libzm/daemon/conf/complain.c \
	libzm/daemon/conf/edit.c \
	libzm/daemon/conf/file.c \
	libzm/daemon/conf/index.c \
	libzm/daemon/conf/rows.c \
	libzm/daemon/conf/word.c
# what they fill in, by the same subjects
libzm_a_SOURCES += \
	libzm/daemon/conf/settings/agents.h \
	libzm/daemon/conf/settings/control.h \
	libzm/daemon/conf/settings/door.h \
	libzm/daemon/conf/settings/hooks.h \
	libzm/daemon/conf/settings/policy.h \
	libzm/daemon/conf/settings/queue.h \
	libzm/daemon/conf/settings/rewrite.h \
	libzm/daemon/conf/settings/routing.h \
	libzm/daemon/conf/settings/secure.h \
	libzm/daemon/conf/settings/site.h
# a row a statement
libzm_a_SOURCES += \
	libzm/daemon/conf/statements/agents.h \
	libzm/daemon/conf/statements/control.h \
	libzm/daemon/conf/statements/door.h \
	libzm/daemon/conf/statements/hooks.h \
	libzm/daemon/conf/statements/policy.h \
	libzm/daemon/conf/statements/queue.h \
	libzm/daemon/conf/statements/rewrite.h \
	libzm/daemon/conf/statements/routing.h \
	libzm/daemon/conf/statements/secure.h \
	libzm/daemon/conf/statements/site.h
# bytes to a checked tree
libzm_a_SOURCES += \
	libzm/daemon/conf/read/check.c \
	libzm/daemon/conf/read/lex.c \
	libzm/daemon/conf/read/load.c \
	libzm/daemon/conf/read/names.c \
	libzm/daemon/conf/read/parse.c \
	libzm/daemon/conf/read/preset.c \
	libzm/daemon/conf/read/value.c
# what each statement does to the settings
libzm_a_SOURCES += \
	libzm/daemon/conf/part/agents.c \
	libzm/daemon/conf/part/apply.c \
	libzm/daemon/conf/part/auth.c \
	libzm/daemon/conf/part/classes.c \
	libzm/daemon/conf/part/door.c \
	libzm/daemon/conf/part/hooks.c \
	libzm/daemon/conf/part/log.c \
	libzm/daemon/conf/part/mailbox.c \
	libzm/daemon/conf/part/mailq.c \
	libzm/daemon/conf/part/milter.c \
	libzm/daemon/conf/part/policy.c \
	libzm/daemon/conf/part/policy_text.c \
	libzm/daemon/conf/part/policy_value.c \
	libzm/daemon/conf/part/reach.c \
	libzm/daemon/conf/part/retry.c \
	libzm/daemon/conf/part/rewrite.c \
	libzm/daemon/conf/part/routing.c \
	libzm/daemon/conf/part/schedule.c \
	libzm/daemon/conf/part/target.c \
	libzm/daemon/conf/part/tls.c \
	libzm/daemon/conf/part/zenv.c \
	libzm/daemon/conf/part/zone.c
# the rows and the settings as text
libzm_a_SOURCES += \
	libzm/daemon/conf/show/help.c \
	libzm/daemon/conf/show/manual.c \
	libzm/daemon/conf/show/report.c \
	libzm/daemon/conf/show/schedule.c \
	libzm/daemon/conf/show/show.c
# has the machine what the configuration names?
libzm_a_SOURCES += \
	libzm/daemon/conf/machine/certificates.c \
	libzm/daemon/conf/machine/named.c \
	libzm/daemon/conf/machine/values.c \
	libzm/daemon/conf/machine/files.c
# ZMailer's scheduler.conf
libzm_a_SOURCES += \
	libzm/daemon/conf/legacy/legacy.h \
	libzm/daemon/conf/legacy/legacy.c \
	libzm/daemon/conf/legacy/words.c
# the site's script
libzm_a_SOURCES += \
	libzm/daemon/hook/frame.h \
	libzm/daemon/hook/hook.h \
	libzm/daemon/hook/peer.h \
	libzm/daemon/hook/script.h \
	libzm/daemon/hook/script_internal.h \
	libzm/daemon/hook/built.c \
	libzm/daemon/hook/client.c \
	libzm/daemon/hook/frame.c \
	libzm/daemon/hook/peer.c \
	libzm/daemon/hook/script.c \
	libzm/daemon/hook/script_header.c \
	libzm/daemon/hook/script_zm.c \
	libzm/daemon/hook/serve.c
