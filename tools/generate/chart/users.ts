/** Declares the values about users: the mail server, and outside providers of sign-in. Pure: no I/O, no clock. */
import { flag, group, list, secretName, text } from './schema.ts';

export const mail = group(
  'The mail server, which sends links to users: to confirm an address, or to choose a new password.',
  {
    existingSecret: secretName('An existing Secret with its URL.'),
    existingSecretKey: text('Name of the entry in that Secret.', 'smtpUrl', { minLength: 1 }),
    url: text('The URL (`smtps://user:password@host`), for a Secret that the chart creates.', '', {
      pattern: '^(smtps?://.+)?$',
    }),
    from: text('Sender of mails, e.g. `Loops <loops@example.com>`.'),
  },
);

export const oidc = group('An OpenID Connect provider, at which users can sign in too.', {
  issuer: text('Exact issuer of the provider, e.g. `https://id.example.com`. Empty for no provider.', '', {
    pattern: '^(https://[^\\s?#]+)?$',
  }),
  name: text('Name of the provider on the sign-in page. Defaults to its host.', '', { maxLength: 40 }),
  clientId: text('Client id of this service at the provider.'),
  existingSecret: secretName('An existing Secret with the client secret.'),
  existingSecretKey: text('Name of the entry in that Secret.', 'oidcClientSecret', { minLength: 1 }),
  clientSecret: text('The client secret, for a Secret that the chart creates. Empty for a public client.'),
  signUp: flag('Create an account for each new user from the provider.', true),
  emailClaims: list('Claims that hold the e-mail address, in order. Defaults to `email`.', {
    type: 'string',
    minLength: 1,
  }),
  trustEmail: flag(
    'Trust every e-mail address from the provider, even if the provider does not mark it as verified.',
    false,
  ),
});
