# order: auth < . < hook < machine
# libzm/daemon - the ladder of a daemon, the launcher, the site's script
libzm_a_SOURCES += \
	libzm/daemon/child.h \
	libzm/daemon/callers.h \
	libzm/daemon/callers.c \
	libzm/daemon/consulted.h \
	libzm/daemon/consulted.c \
	libzm/daemon/sidecar.h \
	libzm/daemon/given.h \
	libzm/daemon/launcher.h \
	libzm/daemon/carriers.h \
	libzm/daemon/listen_socket.h \
	libzm/daemon/rights.h \
	libzm/daemon/sandbox.h \
	libzm/daemon/skeleton.h \
	libzm/daemon/child.c \
	libzm/daemon/sidecar.c \
	libzm/daemon/drop.c \
	libzm/daemon/drop_reader.c \
	libzm/daemon/fork.c \
	libzm/daemon/given.c \
	libzm/daemon/launcher.c \
	libzm/daemon/carriers.c \
	libzm/daemon/launcher_client.c \
	libzm/daemon/launcher_command.c \
	libzm/daemon/listen_socket.c \
	libzm/daemon/rights.c \
	libzm/daemon/sandbox.c \
	libzm/daemon/sandbox_calls.c \
	libzm/daemon/sandbox_try.c \
	libzm/daemon/skeleton.c
# who else knows passwords
libzm_a_SOURCES += \
	libzm/daemon/auth/servers.h \
	libzm/daemon/auth/dovecot_ask.c \
	libzm/daemon/auth/dovecot_lines.h \
	libzm/daemon/auth/dovecot_lines.c \
	libzm/daemon/auth/pam.c \
	libzm/daemon/auth/saslauthd.c
# the site's script
libzm_a_SOURCES += \
	libzm/daemon/hook/frame.h \
	libzm/daemon/hook/hook.h \
	libzm/daemon/hook/peer.h \
	libzm/daemon/hook/script.h \
	libzm/daemon/hook/script_internal.h \
	libzm/daemon/hook/client.c \
	libzm/daemon/hook/frame.c \
	libzm/daemon/hook/peer.c \
	libzm/daemon/hook/script.c \
	libzm/daemon/hook/script_header.c \
	libzm/daemon/hook/script_zm.c \
	libzm/daemon/hook/serve.c
# has the machine what the configuration names?
libzm_a_SOURCES += \
	libzm/daemon/machine/look.h \
	libzm/daemon/machine/machine.h \
	libzm/daemon/machine/certificates.c \
	libzm/daemon/machine/cluster.c \
	libzm/daemon/machine/notify.c \
	libzm/daemon/machine/notify_key.c libzm/daemon/machine/notify_key.h \
	libzm/daemon/machine/files.c \
	libzm/daemon/machine/hooks.c \
	libzm/daemon/machine/hosts.c \
	libzm/daemon/machine/listeners.c \
	libzm/daemon/machine/look.c \
	libzm/daemon/machine/loops.c \
	libzm/daemon/machine/neighbours.c \
	libzm/daemon/machine/neighbours.h \
	libzm/daemon/machine/postmaster.c \
	libzm/daemon/machine/programs.c \
	libzm/daemon/machine/relay.c \
	libzm/daemon/machine/resolver.c \
	libzm/daemon/machine/signs.c \
	libzm/daemon/machine/tables.c \
	libzm/daemon/machine/values.c \
	libzm/daemon/machine/warmups.c
