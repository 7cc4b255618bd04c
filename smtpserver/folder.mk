# smtpserver
