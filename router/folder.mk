# router
