/** Opens the database, the auth library and its mails. */
import { openAuth } from '../../auth/open.ts';
import { createLedger } from '../../billing/ledger/ledger.ts';
import { createWelcome } from '../../billing/ledger/welcome.ts';
import { createAccountMails } from '../../domain/accounts/mails.ts';
import { createMailer } from '../../lib/mail/mailer.ts';
import type { ProcessContext } from './context.ts';

export type AuthParts = ReturnType<typeof openAuthParts>;

export function openAuthParts({ config, lifecycle, metrics, log }: ProcessContext) {
  const { publicUrl, authLimits } = config;
  const mailer = config.mail && createMailer(config.mail, log, { onDone: metrics.mail });
  const { service, library, documents, db, pools, mails, close } = openAuth({
    ...config,
    onConfirmed: async ({ id, email }) => {
      if (!config.billing) return;
      const welcome = createWelcome({
        db,
        ledger: createLedger(db),
        secret: config.authSecret,
        ...config.welcomeGrant,
      });
      // An account without the grant is better than none.
      const result = await welcome(id, email).catch((error: unknown) => {
        log.error({ err: error, account: id }, 'the welcome grant could not be posted');
      });
      if (result === 'spent') log.warn({ account: id }, 'the welcome grants of this day are used up');
    },
    openMails: mailer && ((db) => createAccountMails({ mailer, db, publicUrl, perHour: authLimits.mails, log })),
    onOutsideFailure: (reason) => log.warn({ reason }, 'a sign-in at the OpenID Connect provider failed'),
  });
  metrics.showPools(pools);
  lifecycle.defer('database', close);
  lifecycle.defer('mail', () => mailer?.close());
  lifecycle.defer('pending mails', () => mails?.close());
  lifecycle.defer('use of keys', service.usage.start(log));
  return { service, library, documents, db, mails };
}
