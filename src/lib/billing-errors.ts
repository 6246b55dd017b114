/** Lists the public errors (errors.ts) of billing. Pure: no I/O, no clock. */

export const BILLING_ERRORS = {
  account_suspended: {
    status: 403,
    title: 'Account suspended',
    meaning: 'Staff of the service have locked the account: its streams are off air, and nothing of it can be changed.',
    fix: 'Ask the service’s support why. The bills, the balance and the export of the account can still be had.',
  },
  billing_disabled: {
    status: 404,
    title: 'Billing disabled',
    meaning: 'Nothing costs anything here, so there is no balance and nothing was booked.',
    fix: 'Leave out what has to do with money; whoever runs the service turns it on with `LOOPSTREAM_BILLING`.',
  },
  insufficient_credits: {
    status: 402,
    title: 'Insufficient credits',
    meaning: 'The credit of the account is used up, so nothing of it goes on air.',
    fix: 'Top up the balance; what is meant to be on air goes on by itself then. `GET /v1/billing` tells what is left.',
  },
  topup_not_found: {
    status: 404,
    title: 'Top-up not found',
    meaning: 'No top-up of this account has this id.',
    fix: 'Take the id from `GET /v1/billing/top-ups`.',
  },
  invoice_not_found: {
    status: 404,
    title: 'Invoice not found',
    meaning: 'No invoice of this account has this id.',
    fix: 'Take the id from `GET /v1/billing/invoices`.',
  },
  webhook_forged: {
    status: 400,
    title: 'Webhook forged',
    meaning:
      'What was sent does not bear the payment provider’s signature over these very bytes, or is older than five minutes.',
    fix: 'Only the payment provider sends events here. Where they are refused, set the signing secret of this endpoint, and look whether a proxy changes bodies.',
  },
  topups_disabled: {
    status: 404,
    title: 'Top-ups disabled',
    meaning: 'This service takes no cards: it has no payment provider.',
    fix: 'Ask whoever runs the service; `paymentMethods` of `GET /v1/billing` names the ways to pay that there are.',
  },
  topups_unavailable: {
    status: 503,
    title: 'Top-ups unavailable',
    meaning: 'No card can be taken at the moment: the payment provider does not let this service in.',
    fix: 'Ask whoever runs the service; credits can be granted by hand, or paid in another way where there is one.',
  },
  crypto_deposit_not_found: {
    status: 404,
    title: 'Deposit not found',
    meaning: 'No crypto deposit of this account has this id.',
    fix: 'Take the id from `GET /v1/crypto/deposits`.',
  },
  crypto_deposit_quota_exceeded: {
    status: 403,
    title: 'Too many open deposits',
    meaning: 'The account has as many deposits that wait to be paid as it may.',
    fix: 'Pay one of them, or wait until one has expired; `GET /v1/crypto/deposits` lists them.',
  },
  crypto_disabled: {
    status: 404,
    title: 'Crypto deposits disabled',
    meaning: 'This service takes no crypto deposits.',
    fix: 'Top up in another way: `paymentMethods` of `GET /v1/billing` names those that there are.',
  },
  crypto_unavailable: {
    status: 503,
    title: 'Crypto deposits unavailable',
    meaning: 'The service has not begun to follow the network that was asked for.',
    fix: 'Try again in a minute, or pay on another network that `GET /v1/crypto/assets` lists.',
  },
  crypto_rate_unavailable: {
    status: 503,
    title: 'Rate unavailable',
    meaning: 'What the asset is worth is not known at the moment, so no quote can be given.',
    fix: 'Try again in a minute. What is paid to deposits that were made before is credited when the rate is known.',
  },
} as const;
