/** Declares the values about users: the mail server, and outside providers of sign-in. Pure: no I/O, no clock. */
import { flag, group, secretName, text } from './schema.ts';

export const mail = group(
  'The mail server by which people are sent links: to confirm an address, to choose a new password.',
  {
    existingSecret: secretName('A Secret that holds its URL.'),
    existingSecretKey: text('The URL’s key in that Secret.', 'smtpUrl', { minLength: 1 }),
    url: text('The URL itself (`smtps://user:password@host`), for a Secret that the chart makes.', '', {
      pattern: '^(smtps?://.+)?$',
    }),
    from: text('Who mail is from, e.g. `Loops <loops@example.com>`.'),
  },
);

export const oidc = group('An OpenID Connect provider at which people may sign in too.', {
  issuer: text(
    'Its issuer, letter for letter, e.g. `https://id.example.com`; nobody signs in elsewhere when empty.',
    '',
    {
      pattern: '^(https://[^\\s?#]+)?$',
    },
  ),
  name: text('What it is called on the sign-in page; its host when empty.', '', { maxLength: 40 }),
  clientId: text('What this service is called there.'),
  existingSecret: secretName('A Secret that holds the client’s secret.'),
  existingSecretKey: text('Its key in that Secret.', 'oidcClientSecret', { minLength: 1 }),
  clientSecret: text('It itself, for a Secret that the chart makes; empty for a public client.'),
  signUp: flag('Give people from there who have no account here one.', true),
  trustEmail: flag('Take all e-mail addresses from there to be confirmed, also where it does not say so.', false),
});
