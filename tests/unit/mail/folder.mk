# unit tests of mail
