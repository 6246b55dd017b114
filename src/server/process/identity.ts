/** Opens the database, the auth library and its mails. */
import { openAuth } from '../../auth/open.ts';
import { createLetters } from '../../domain/accounts/letters.ts';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import { createMailer } from '../../lib/mail/mailer.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import type { ApiConfig } from '../settings.ts';

export type Identity = ReturnType<typeof openIdentity>;

export function openIdentity(config: ApiConfig, lifecycle: Lifecycle, metrics: HttpMetrics, log: Logger) {
  const { publicUrl, authLimits } = config;
  const mailer = config.mail && createMailer(config.mail, log, { onDone: metrics.mail });
  const { service, library, db, pools, mails, close } = openAuth({
    ...config,
    openMails: mailer && ((db) => createLetters({ mailer, db, publicUrl, perHour: authLimits.mails, log })),
    onOutsideFailure: (reason) => log.warn({ reason }, 'a sign-in at the OpenID Connect provider failed'),
  });
  metrics.showPools(pools);
  lifecycle.defer('database', close);
  lifecycle.defer('mail', () => mailer?.close());
  lifecycle.defer('letters', () => mails?.close());
  lifecycle.defer('use of keys', service.usage.start(log));
  return { auth: service, library, db, mails };
}
