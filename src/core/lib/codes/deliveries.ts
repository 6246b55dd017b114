/** Lists the codes of deliveries: why a receiver did not accept an event. Pure: no I/O, no clock. */
import type { CodeText } from './code-text.ts';

const CHECK =
  'Compare host and port in the address of the endpoint with those of the receiver, and check for a firewall in between.';

export const DELIVERY_ERRORS = {
  timeout: {
    meaning: 'The receiver did not answer within 30 seconds.',
    fix: 'Answer at once, and do the work later.',
  },
  dns_failed: {
    meaning: 'The host name of the receiver does not exist, or has no public address.',
    fix: 'Compare the host name in the address of the endpoint with the one of the receiver.',
  },
  connection_refused: { meaning: 'The receiver refuses connections.', fix: CHECK },
  unreachable: { meaning: 'The receiver cannot be reached, or closed the connection.', fix: CHECK },
  certificate_expired: {
    meaning: 'The certificate of the receiver has expired.',
    fix: 'Renew the certificate.',
  },
  certificate_invalid: {
    meaning: 'The certificate of the receiver is not valid for this host, or its issuer is not known.',
    fix: 'Give the receiver a certificate of a known issuer, with all certificates of the chain.',
  },
  address_forbidden: {
    meaning: 'The address of the receiver is not public.',
    fix: 'Give the endpoint a public address.',
  },
  redirected: {
    meaning: 'The receiver answered with a redirect, which is not followed.',
    fix: 'Give the endpoint the address that the redirect leads to.',
  },
  rejected: {
    meaning: 'The receiver answered with an error.',
    fix: 'Look at its answer and at its log.',
  },
  gone: {
    meaning: 'The receiver wants no more events: it answered 410. The endpoint is disabled.',
    fix: 'Set `enabled` to true once the receiver wants events again.',
  },
  not_kept: {
    meaning: 'The event is no longer kept, so it was not sent.',
    fix: 'Read the objects as they are now.',
  },
  mail_failed: {
    meaning: 'The mail could not be handed over to the mail server.',
    fix: 'Compare the address with the one of the mailbox.',
  },
  mailbox_full: {
    meaning: 'The mailbox got as many mails as it may within an hour.',
    fix: 'Nothing has to be done: it is sent later. To get fewer, name fewer types or objects.',
  },
} as const satisfies Record<string, CodeText>;
export type DeliveryCode = keyof typeof DELIVERY_ERRORS;
