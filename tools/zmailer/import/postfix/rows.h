/* rows.h - what is known about Postfix: a row for each parameter of main.cf
 *
 * IMPORT_NOTHING(name, preset, text)		not needed, and why
 * IMPORT_DIFFERENT(name, preset, text)		it is done in another way
 * IMPORT_LACKS(name, preset, text)		missing, and what to do
 * IMPORT_WITH(name, preset, text)		a function of another row takes
 *						it; text: when none has
 * IMPORT_STATEMENT(name, preset, part, text)	@ is the value
 * IMPORT_FUNCTION(name, preset, function)	import_FUNCTION
 *
 * preset is Postfix's own ("" when it is empty or does not matter): a parameter
 * that is set to it changes nothing.  A name that ends with * is a prefix, one
 * that begins with * a suffix; the first row that matches counts.  Functions
 * are called in this order, whether the parameter is set or not.
 *
 * SPDX-License-Identifier: ISC
 */

/* ---- the host ----------------------------------------------------------- */
IMPORT_FUNCTION("myhostname", "", host)
IMPORT_WITH("mydomain", "", "it only stands in other values")
IMPORT_FUNCTION("myorigin", "$myhostname", origin)
IMPORT_FUNCTION("inet_interfaces", "all", interfaces)
IMPORT_WITH("inet_protocols", "all", "each listener names its addresses")
IMPORT_WITH("smtpd_tls_cert_file", "", "it names no file")
IMPORT_WITH("smtpd_tls_key_file", "$smtpd_tls_cert_file",
    "there is no certificate for it")
IMPORT_WITH("smtpd_tls_chain_files", "", "there is no file of that name")
IMPORT_FUNCTION("smtpd_sasl_auth_enable", "no", login)
IMPORT_WITH("smtpd_sasl_type", "cyrus", "nobody logs in")
IMPORT_WITH("smtpd_sasl_path", "smtpd", "nobody logs in")
IMPORT_STATEMENT("message_size_limit", "10240000", IMPORT_SITE, "size @B")
IMPORT_STATEMENT("recipient_delimiter", "", IMPORT_SITE,
    "recipient-delimiter @")
IMPORT_STATEMENT("smtpd_recipient_limit", "1000", IMPORT_SITE,
    "limit recipients @")
IMPORT_STATEMENT("header_size_limit", "102400", IMPORT_SITE, "limit header @B")
IMPORT_STATEMENT("smtpd_hard_error_limit", "20", IMPORT_SITE, "limit errors @")
IMPORT_STATEMENT("smtpd_client_connection_count_limit", "50", IMPORT_SITE,
    "limit sessions-per-client @")
IMPORT_STATEMENT("hopcount_limit", "50", IMPORT_SITE, "limit received @")

/* ---- whose mail --------------------------------------------------------- */
IMPORT_FUNCTION("alias_maps", "hash:/etc/aliases", aliases)
IMPORT_FUNCTION("mydestination", "$myhostname, localhost.$mydomain, localhost",
    destination)
IMPORT_WITH("local_recipient_maps", "proxy:unix:passwd.byname $alias_maps",
    "accounts and aliases are looked up anyway")
IMPORT_WITH("mailbox_transport", "", "no domain is delivered to by it")
IMPORT_FUNCTION("virtual_mailbox_domains", "$virtual_mailbox_maps",
    mailbox_domains)
IMPORT_WITH("virtual_mailbox_maps", "", "there is no virtual mailbox domain")
IMPORT_WITH("virtual_mailbox_base", "",
    "virtual_transport delivers, or no mailbox is below it")
IMPORT_WITH("virtual_transport", "virtual",
    "there is no virtual mailbox domain")
IMPORT_WITH("virtual_uid_maps", "", "the account of the mailboxes is not "
    "ours to choose: virtual_transport delivers")
IMPORT_WITH("virtual_gid_maps", "", "the group is that of the account")
IMPORT_NOTHING("virtual_minimum_uid", "100",
    "an account that owns mailboxes is named")
IMPORT_FUNCTION("virtual_alias_maps", "$virtual_maps", virtual_aliases)
IMPORT_WITH("virtual_maps", "", "virtual_alias_maps is in force")
IMPORT_WITH("virtual_alias_domains", "$virtual_alias_maps",
    "no domain stands there")
IMPORT_FUNCTION("canonical_maps", "", canonical)
IMPORT_FUNCTION("sender_canonical_maps", "", sender_canonical)
IMPORT_FUNCTION("recipient_canonical_maps", "", recipient_canonical)
IMPORT_FUNCTION("smtp_generic_maps", "", generic)
IMPORT_FUNCTION("masquerade_domains", "", masquerade)
IMPORT_WITH("masquerade_exceptions", "", "nothing is masqueraded")
IMPORT_STATEMENT("always_bcc", "", IMPORT_ADDRESSES, "copy @")
IMPORT_FUNCTION("sender_bcc_maps", "", sender_bcc)
IMPORT_FUNCTION("recipient_bcc_maps", "", recipient_bcc)

/* ---- who may, and who may not ------------------------------------------- */
IMPORT_FUNCTION("smtpd_tls_security_level", "", tls_wanted)
IMPORT_WITH("smtpd_enforce_tls", "no", "smtpd_tls_security_level says it")
IMPORT_FUNCTION("smtpd_client_restrictions", "", client_rules)
IMPORT_FUNCTION("smtpd_helo_restrictions", "", helo_rules)
IMPORT_FUNCTION("smtpd_sender_restrictions", "", sender_rules)
IMPORT_FUNCTION("smtpd_relay_restrictions", "permit_mynetworks, "
    "permit_sasl_authenticated, defer_unauth_destination", relay_rules)
IMPORT_FUNCTION("smtpd_recipient_restrictions", "", recipient_rules)
IMPORT_FUNCTION("smtpd_data_restrictions", "", data_rules)
IMPORT_FUNCTION("smtpd_end_of_data_restrictions", "", end_of_data_rules)
IMPORT_WITH("smtpd_sender_login_maps", "",
    "no restriction asks whose address it is, or nobody logs in")
IMPORT_FUNCTION("mynetworks", "", networks)
IMPORT_WITH("mynetworks_style", "host", "mynetworks is said")
IMPORT_FUNCTION("relay_domains", "", relay_domains)
IMPORT_WITH("relay_recipient_maps", "", "there is no relay domain")
IMPORT_FUNCTION("smtpd_milters", "", milters)
IMPORT_WITH("non_smtpd_milters", "", "no milter is named")
IMPORT_WITH("milter_default_action", "tempfail", "there is no milter")

/* ---- where it goes ------------------------------------------------------ */
IMPORT_FUNCTION("transport_maps", "", transports)
IMPORT_FUNCTION("sender_dependent_relayhost_maps", "", sender_relays)
IMPORT_FUNCTION("relayhost", "", relayhost)
IMPORT_WITH("smtp_tls_wrappermode", "no", "there is no relayhost")
IMPORT_WITH("smtp_fallback_relay", "", "it stands in the last route")
IMPORT_FUNCTION("smtp_sasl_auth_enable", "no", passwords)
IMPORT_WITH("smtp_sasl_password_maps", "",
    "smtp_sasl_auth_enable is not yes: nothing logs in")
IMPORT_FUNCTION("smtp_tls_policy_maps", "", tls_policies)
IMPORT_FUNCTION("smtp_tls_security_level", "", tls_level)
IMPORT_WITH("smtp_use_tls", "no", "TLS is used wherever it is offered")
IMPORT_WITH("smtp_enforce_tls", "no", "smtp_tls_security_level says it")
IMPORT_FUNCTION("smtp_bind_address", "", bind_address)
IMPORT_WITH("smtp_bind_address6", "", "no address is named")
IMPORT_WITH("smtp_helo_name", "$myhostname", "the name of host is said")

/* ---- how it is delivered ------------------------------------------------ */
IMPORT_FUNCTION("home_mailbox", "", home_mailbox)
IMPORT_WITH("mail_spool_directory", "/var/mail",
    "home_mailbox or virtual mailboxes say where mail lies")
IMPORT_FUNCTION("mailbox_size_limit", "51200000", mailbox_limit)
IMPORT_NOTHING("virtual_mailbox_limit", "51200000",
    "see quota: zmailer help quota")
IMPORT_FUNCTION("maximal_queue_lifetime", "5d", lifetime)
IMPORT_WITH("bounce_queue_lifetime", "5d",
    "reports wait as long as other mail: maximal_queue_lifetime")
IMPORT_WITH("minimal_backoff_time", "300s", "the waits are ours")
IMPORT_WITH("maximal_backoff_time", "4000s", "the waits are ours")
IMPORT_WITH("delay_warning_time", "0h", "nothing is warned of")
IMPORT_WITH("default_destination_concurrency_limit", "20",
    "sessions grow and shrink with the answers")
IMPORT_WITH("smtp_destination_concurrency_limit",
    "$default_destination_concurrency_limit",
    "sessions grow and shrink with the answers")

/* ---- what is otherwise here --------------------------------------------- */
IMPORT_LACKS("mailbox_command", "", "write `deliver pipe \"COMMAND\" as "
    "ACCOUNT`, or `deliver lmtp unix:/PATH` of the mail store, into the "
    "domain's block (zmailer help deliver); until then mail is put into the "
    "mailbox")
IMPORT_LACKS("mailbox_command_maps", "", "users may have a .forward: "
    "|COMMAND")
IMPORT_LACKS("mailbox_transport_maps", "", "give those names a domain of "
    "their own with `deliver`")
IMPORT_LACKS("fallback_transport*", "", "write `domain NAME { users any; "
    "deliver ... }` for mail to names that are no account")
IMPORT_LACKS("luser_relay", "", "write `@DOMAIN ADDRESS` into the table of "
    "aliases")
IMPORT_LACKS("relocated_maps", "", "write `reject to ADDRESS text \"has moved "
    "to ...\"` for each")
IMPORT_LACKS("content_filter", "", "let the filter speak milter (amavisd: "
    "amavisd-milter; SpamAssassin: spamass-milter) and write `milter`; or "
    "zmailer help content-filter")
IMPORT_LACKS("header_checks", "", "a hook sees the header: on_header in "
    "doc/HOOKS.md; or a milter")
IMPORT_LACKS("mime_header_checks", "", "a milter (rspamd) sees it")
IMPORT_LACKS("nested_header_checks", "", "a milter (rspamd) sees it")
IMPORT_LACKS("body_checks", "", "a milter (rspamd) sees the body")
IMPORT_LACKS("smtp_header_checks", "", "a hook sees the header: on_header")
IMPORT_LACKS("milter_header_checks", "", "a hook sees the header: on_header")
IMPORT_LACKS("sender_dependent_default_transport_maps", "",
    "write `route * from SENDER via ...`, or zones (zmailer help zone)")
IMPORT_LACKS("default_transport", "smtp", "write `route * via ...`")
IMPORT_LACKS("relay_transport", "relay", "write `route DOMAIN via ...`")
IMPORT_LACKS("local_transport", "local:$myhostname", "write `deliver` into "
    "the domain's block")
IMPORT_LACKS("propagate_unmatched_extensions", "canonical, virtual",
    "details after + go on as Postfix's preset says")
IMPORT_DIFFERENT("smtp_sender_dependent_authentication", "no",
    "write `route * from SENDER via HOST login NAME`; NAME is a key of the "
    "table of auth-to")
IMPORT_DIFFERENT("owner_request_special", "yes",
    "owner-NAME and NAME-request are aliases as others")
IMPORT_DIFFERENT("smtpd_banner", "$myhostname ESMTP $mail_name",
    "the greeting is that of host")
IMPORT_DIFFERENT("smtpd_relay_before_recipient_restrictions", "",
    "all rules are in one list, refusals first")
IMPORT_DIFFERENT("smtpd_delay_reject", "yes",
    "rules decide at RCPT; listen ... decide early does so before")
IMPORT_DIFFERENT("notify_classes", "resource, software",
    "zmailer watch rings; keep failed, report")
IMPORT_DIFFERENT("append_at_myorigin", "yes", "names without @ get host")
IMPORT_DIFFERENT("smtpd_helo_required", "no", "HELO or EHLO is wanted always")
IMPORT_DIFFERENT("smtpd_client_message_rate_limit", "0",
    "write `limit rate N/1m per client of messages`")
IMPORT_DIFFERENT("smtpd_client_recipient_rate_limit", "0",
    "write `limit rate N/1m per client`")
IMPORT_DIFFERENT("smtpd_client_connection_rate_limit", "0",
    "write `limit parallel N per client of sessions`")
IMPORT_DIFFERENT("anvil_*", "", "limits: zmailer help limit")
IMPORT_DIFFERENT("smtpd_forbid_bare_newline*", "",
    "a bare line feed is refused always (bare-newline)")
IMPORT_DIFFERENT("smtpd_forbid_unauth_pipelining", "",
    "who speaks before the greeting is refused: greet-pause")
IMPORT_DIFFERENT("postscreen_*", "", "write dnsbl with `reject listed`, "
    "greet-pause, greylist")
IMPORT_DIFFERENT("smtpd_discard_ehlo_keyword*", "",
    "write `ehlo without KEYWORD`")
IMPORT_DIFFERENT("smtpd_authorized_xclient_hosts", "",
    "write `trust NET xclient`")
IMPORT_DIFFERENT("smtpd_authorized_xforward_hosts", "",
    "write `trust NET xforward`")
IMPORT_DIFFERENT("smtpd_upstream_proxy_protocol", "",
    "write `trust NET proxy`")
IMPORT_DIFFERENT("smtpd_tls_ask_ccert", "no",
    "write `tls client-certificates ask`")
IMPORT_DIFFERENT("smtpd_tls_req_ccert", "no",
    "write `tls client-certificates require`")
IMPORT_DIFFERENT("smtp_tls_cert_file", "", "write it after tls-to: cert FILE")
IMPORT_DIFFERENT("smtp_tls_key_file", "$smtp_tls_cert_file",
    "write it after tls-to: key FILE")
IMPORT_DIFFERENT("tls_server_sni_maps", "",
    "write `tls certificates <table>`")
IMPORT_DIFFERENT("smtpd_tls_mandatory_protocols", "", "TLS 1.2 and newer; "
    "tls min 1.3 for more")
IMPORT_DIFFERENT("smtpd_tls_protocols", "", "TLS 1.2 and newer")
IMPORT_DIFFERENT("smtp_tls_mandatory_protocols", "", "TLS 1.2 and newer")
IMPORT_DIFFERENT("smtp_tls_protocols", "", "TLS 1.2 and newer")
IMPORT_DIFFERENT("allow_mail_to_commands", "alias, forward",
    "commands may stand in aliases and .forward")
IMPORT_DIFFERENT("allow_mail_to_files", "alias, forward",
    "files may stand in aliases and .forward")
IMPORT_DIFFERENT("default_privs", "nobody",
    "commands of aliases run as the file's owner, those of root as nobody")
IMPORT_DIFFERENT("forward_path", "", "write `forward PATH`")
IMPORT_DIFFERENT("bounce_template_file", "", "forms: zmailer-forms(5)")
IMPORT_DIFFERENT("double_bounce_sender", "double-bounce",
    "what nobody can be told waits in freezer/")
IMPORT_DIFFERENT("*_destination_rate_delay", "0s",
    "write `schedule CHANNEL/* { rate 1/SPAN }`")
IMPORT_DIFFERENT("*_destination_concurrency_limit", "",
    "write `schedule CHANNEL/* { parallel N }`")
IMPORT_DIFFERENT("*_destination_recipient_limit", "",
    "the agent takes what the host allows")
IMPORT_DIFFERENT("smtpd_*_timeout", "", "zmailer help timeout")
IMPORT_DIFFERENT("smtp_*_timeout", "", "zmailer help timeout")
IMPORT_DIFFERENT("smtpd_timeout", "", "write `timeout command SPAN`")
IMPORT_DIFFERENT("debug_peer_list", "",
    "zmailer log level debug client|dest PATTERN")

/* ---- what nobody needs here --------------------------------------------- */
IMPORT_NOTHING("biff", "", "there is no such thing")
IMPORT_NOTHING("append_dot_mydomain", "", "addresses stay as they are")
IMPORT_NOTHING("compatibility_level", "", "there are no levels")
IMPORT_NOTHING("alias_database", "", "aliases are read as they are")
IMPORT_NOTHING("*_directory", "", "the place of Postfix's own files")
IMPORT_NOTHING("sendmail_path", "", "the place of Postfix's own files")
IMPORT_NOTHING("newaliases_path", "", "the place of Postfix's own files")
IMPORT_NOTHING("mailq_path", "", "the place of Postfix's own files")
IMPORT_NOTHING("mail_owner", "", "accounts are those of user")
IMPORT_NOTHING("setgid_group", "", "sendmail needs no group")
IMPORT_NOTHING("default_database_type", "", "tables name their type")
IMPORT_NOTHING("mail_name", "", "it stood in the greeting alone")
IMPORT_NOTHING("mail_version", "", "it is no setting")
IMPORT_NOTHING("multi_instance_*", "", "zmailer -C FILE is another instance")
IMPORT_NOTHING("syslog_*", "", "the journal; log-to syslog")
IMPORT_NOTHING("maillog_*", "", "the journal; log-to syslog")
IMPORT_NOTHING("import_environment", "", "there is nothing to hand on")
IMPORT_NOTHING("export_environment", "", "there is nothing to hand on")
IMPORT_NOTHING("debugger_command", "", "it is a tool of Postfix")
IMPORT_NOTHING("debug_peer_level", "", "it is a tool of Postfix")
IMPORT_NOTHING("disable_vrfy_command", "",
    "VRFY answers 252 unless trust says otherwise")
IMPORT_NOTHING("strict_rfc821_envelopes", "",
    "the syntax of envelopes is always checked")
IMPORT_NOTHING("smtpd_use_tls", "", "a certificate is enough")
IMPORT_NOTHING("smtpd_tls_auth_only", "",
    "passwords never go in the clear")
IMPORT_NOTHING("smtpd_sasl_security_options", "",
    "passwords never go in the clear, nobody is anonymous")
IMPORT_NOTHING("smtpd_sasl_tls_security_options", "", "nobody is anonymous")
IMPORT_NOTHING("smtpd_sasl_local_domain", "",
    "a name without domain is looked up in all of ours")
IMPORT_NOTHING("smtpd_sasl_authenticated_header", "",
    "Received says ESMTPSA")
IMPORT_NOTHING("broken_sasl_auth_clients", "", "they are extinct")
IMPORT_NOTHING("smtpd_sasl_exceptions_networks", "",
    "AUTH is offered on ports for users alone")
IMPORT_NOTHING("smtp_sasl_security_options", "",
    "passwords go under TLS only")
IMPORT_NOTHING("smtp_sasl_tls_security_options", "",
    "passwords go under TLS only")
IMPORT_NOTHING("smtp_sasl_mechanism_filter", "",
    "a third word of an auth-to entry names the mechanism")
IMPORT_NOTHING("smtp_sasl_type", "", "it is built in")
IMPORT_NOTHING("smtp_tls_CAfile", "", "the system's roots; tls-to ... ca FILE")
IMPORT_NOTHING("smtp_tls_CApath", "", "the system's roots; tls-to ... ca FILE")
IMPORT_NOTHING("smtpd_tls_CAfile", "",
    "write it after tls client-certificates: ca FILE")
IMPORT_NOTHING("smtpd_tls_CApath", "",
    "write it after tls client-certificates: ca FILE")
IMPORT_NOTHING("*_tls_session_cache_*", "", "tickets need no file")
IMPORT_NOTHING("*_tls_loglevel", "", "the journal notes protocol and cipher")
IMPORT_NOTHING("*_tls_note_starttls_offer", "", "the journal notes it")
IMPORT_NOTHING("smtpd_tls_received_header", "", "Received always says it")
IMPORT_NOTHING("tls_*", "", "OpenSSL's own presets")
IMPORT_NOTHING("*_tls_*ciphers", "", "OpenSSL's own presets")
IMPORT_NOTHING("smtpd_tls_dh*", "", "OpenSSL's own presets")
IMPORT_NOTHING("smtpd_tls_eecdh_grade", "", "OpenSSL's own presets")
IMPORT_NOTHING("smtp_dns_support_level", "", "the DNS is always asked")
IMPORT_NOTHING("smtp_host_lookup", "", "the DNS, then /etc/hosts")
IMPORT_NOTHING("smtp_address_preference", "", "both families are tried")
IMPORT_NOTHING("milter_protocol", "", "it is agreed on with the filter")
IMPORT_NOTHING("milter_mail_macros", "", "milters get what they ask for")
IMPORT_NOTHING("milter_*_macros", "", "milters get what they ask for")
IMPORT_NOTHING("unknown_local_recipient_reject_code", "",
    "550, or 451 when it cannot be known")
IMPORT_NOTHING("unknown_*_reject_code", "", "each refusal has its code")
IMPORT_NOTHING("*_reject_code", "", "each refusal has its code")
IMPORT_NOTHING("soft_bounce", "no", "zmailer check and test tell before")
IMPORT_NOTHING("smtputf8_*", "", "SMTPUTF8 is offered and used")
IMPORT_NOTHING("parent_domain_matches_subdomains", "",
    "relay domains take what is below them")
IMPORT_NOTHING("swap_bangpath", "", "a bang is a byte as others")
IMPORT_NOTHING("allow_percent_hack", "", "a percent is a byte as others")
IMPORT_NOTHING("allow_min_user", "", "names that begin with - are refused")
IMPORT_NOTHING("qmgr_message_*", "", "the queue lies on the disk")
IMPORT_NOTHING("queue_run_delay", "", "each destination has its own time")
IMPORT_NOTHING("queue_minfree", "", "zmailer help keep; 452 when it is full")
IMPORT_NOTHING("default_process_limit", "", "see limit agents and sessions")
IMPORT_NOTHING("max_use", "", "processes are not replaced by count")
IMPORT_NOTHING("max_idle", "", "processes are not replaced by count")
IMPORT_NOTHING("in_flow_delay", "", "the disk sets the pace")
IMPORT_NOTHING("disable_dns_lookups", "no", "route * via HOST asks no MX")
IMPORT_NOTHING("proxy_read_maps", "", "tables are read without a proxy")
IMPORT_NOTHING("address_verify_*", "", "see verify")
IMPORT_NOTHING("mailbox_delivery_lock", "", "mbox files are locked both ways")
IMPORT_NOTHING("rewrite_service_name", "", "it is a service of Postfix")
IMPORT_NOTHING("*_service_name", "", "it is a service of Postfix")
IMPORT_NOTHING("dovecot_destination_recipient_limit", "", "LMTP takes many")

#undef IMPORT_NOTHING
#undef IMPORT_DIFFERENT
#undef IMPORT_LACKS
#undef IMPORT_WITH
#undef IMPORT_STATEMENT
#undef IMPORT_FUNCTION
