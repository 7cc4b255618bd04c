# libzm/daemon - configuration, the ladder of a daemon, the launcher
libzm_a_SOURCES += \
	libzm/daemon/skeleton.c libzm/daemon/skeleton.h \
	libzm/daemon/fork.c libzm/daemon/drop.c \
	libzm/daemon/drop_reader.c \
	libzm/daemon/launcher.c libzm/daemon/launcher_client.c \
	libzm/daemon/launcher_command.c \
	libzm/daemon/launcher.h
libzm_a_SOURCES += \
	libzm/daemon/conf.h libzm/daemon/conf_internal.h \
	libzm/daemon/conf_at.h libzm/daemon/conf_rewrite.h \
	libzm/daemon/conf_statements.h \
	libzm/daemon/statements/site.h \
	libzm/daemon/statements/door.h \
	libzm/daemon/statements/secure.h \
	libzm/daemon/statements/policy.h \
	libzm/daemon/statements/routing.h \
	libzm/daemon/statements/rewrite.h libzm/daemon/conf_rewrite.c \
	libzm/daemon/statements/hooks.h \
	libzm/daemon/statements/agents.h \
	libzm/daemon/statements/queue.h \
	libzm/daemon/statements/control.h \
	libzm/daemon/conf_rows.c libzm/daemon/conf_lex.c \
	libzm/daemon/conf_parse.c libzm/daemon/conf_value.c \
	libzm/daemon/conf_check.c libzm/daemon/conf_apply.c \
	libzm/daemon/conf_schedule.c libzm/daemon/conf_retry.c \
	libzm/daemon/conf_show_schedule.c libzm/daemon/conf_classes.c \
	libzm/daemon/conf_legacy.c libzm/daemon/conf_legacy_words.c \
	libzm/daemon/conf_legacy.h libzm/daemon/conf_zone.c \
	libzm/daemon/conf_target.c \
	libzm/daemon/conf_agents.c libzm/daemon/conf_mailbox.c \
	libzm/daemon/sandbox.c libzm/daemon/sandbox.h \
	libzm/daemon/sandbox_calls.c libzm/daemon/sandbox_try.c \
	libzm/daemon/conf_preset.c libzm/daemon/conf_index.c \
	libzm/daemon/conf_tls.c libzm/daemon/conf_auth.c \
	libzm/daemon/conf_reach.c libzm/daemon/conf_zenv.c \
	libzm/daemon/conf_load.c libzm/daemon/conf_report.c \
	libzm/daemon/conf_help.c libzm/daemon/conf_manual.c \
	libzm/daemon/conf_door.c libzm/daemon/conf_policy.c \
	libzm/daemon/conf_policy_text.c libzm/daemon/conf_policy_value.c \
	libzm/daemon/conf_milter.c libzm/daemon/conf_routing.c \
	libzm/daemon/conf_show.c libzm/daemon/conf_files.c
libzm_a_SOURCES += \
	libzm/daemon/conf_hooks.h \
	libzm/daemon/conf_hooks.c libzm/daemon/conf_names.c \
	libzm/daemon/hook/hook.h libzm/daemon/hook/client.c \
	libzm/daemon/hook/peer.h libzm/daemon/hook/peer.c \
	libzm/daemon/hook/frame.h libzm/daemon/hook/frame.c \
	libzm/daemon/hook/serve.c libzm/daemon/hook/built.c \
	libzm/daemon/hook/script.h libzm/daemon/hook/script_internal.h \
	libzm/daemon/hook/script.c libzm/daemon/hook/script_zm.c \
	libzm/daemon/hook/script_header.c
libzm_a_SOURCES += libzm/daemon/conf_edit.c libzm/daemon/conf_edit.h
libzm_a_SOURCES += libzm/daemon/conf_log.c
libzm_a_SOURCES += libzm/daemon/conf_mailq.c \
	libzm/daemon/listen_socket.c libzm/daemon/listen_socket.h
