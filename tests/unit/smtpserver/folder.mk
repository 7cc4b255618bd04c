# unit tests of smtpserver
