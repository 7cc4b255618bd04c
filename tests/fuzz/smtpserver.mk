# fuzz targets of smtpserver
