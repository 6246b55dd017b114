/** Lists the public errors (errors.ts) of billing. Pure: no I/O, no clock. */

export const BILLING_ERRORS = {
  account_suspended: {
    status: 403,
    title: 'Account suspended',
    meaning: 'Staff of the service have suspended the account: its streams are off air, and it cannot be changed.',
    fix: 'Ask the support of the service for the reason. The bills, the balance and the export of the account stay available.',
  },
  billing_disabled: {
    status: 404,
    title: 'Billing disabled',
    meaning: 'Billing is off in this installation, so the account has no balance and no charges.',
    fix: 'Skip the requests about billing. The administrator of the service turns billing on with `LOOPSTREAM_BILLING`.',
  },
  insufficient_credits: {
    status: 402,
    title: 'Insufficient credits',
    meaning: 'The account has no credit, or it is used up. None of its streams goes on air.',
    fix: 'Add credit; streams that should be on air then go on air automatically. `GET /v1/billing` shows the balance, the ways to pay, and whom to ask where there is none.',
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
    meaning: 'The request does not carry the payment provider’s signature of its body, or is older than five minutes.',
    fix: 'Only the payment provider sends events here. If its events are rejected, check the signing secret of this endpoint, and whether a proxy changes bodies.',
  },
  topups_disabled: {
    status: 404,
    title: 'Top-ups disabled',
    meaning: 'This service accepts no cards, because it has no payment provider.',
    fix: 'Ask the administrator of the service, or pay in one of the ways that `paymentMethods` of `GET /v1/billing` lists.',
  },
  topups_unavailable: {
    status: 503,
    title: 'Top-ups unavailable',
    meaning:
      'No card can be charged at the moment: the payment provider rejects the credentials of this service, or does not charge its currency.',
    fix: 'Ask the administrator of the service, who can grant credits by hand, or pay in another way.',
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
    meaning: 'The account has reached its limit of deposits that wait for payment.',
    fix: 'Pay an open deposit, or wait until one expires; `GET /v1/crypto/deposits` lists them.',
  },
  crypto_disabled: {
    status: 404,
    title: 'Crypto deposits disabled',
    meaning: 'This service accepts no crypto deposits.',
    fix: 'Top up in another way: `paymentMethods` of `GET /v1/billing` lists the ways to pay.',
  },
  crypto_unavailable: {
    status: 503,
    title: 'Crypto deposits unavailable',
    meaning: 'The service does not follow the blocks of the requested network yet.',
    fix: 'Try again in a minute, or pay on another network that `GET /v1/crypto/assets` lists.',
  },
  crypto_rate_unavailable: {
    status: 503,
    title: 'Rate unavailable',
    meaning: 'The value of the asset is unknown at the moment, so no quote can be given.',
    fix: 'Try again in a minute. Payments to earlier deposits are credited when the rate is known.',
  },
} as const;
