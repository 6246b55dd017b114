/**
 * Reads the settings about people: the mail server, and outside providers of sign-in. A secret may stand in a file, which neither a
 * process list nor the description of a pod shows.
 */
import { DISPLAY_NAME_PATTERN } from '../../core/lib/sentences.ts';
import { readSecretFile } from '../../core/settings/secret-file.ts';
import { ConfigError, type Env } from '../../core/settings/settings.ts';
import { reader, type SecretName } from '../settings/settings.ts';
import type { OidcProvider } from './oidc-claims.ts';

/** Reads the secret, from its file where it has one. */
const readSecret = (env: Env, name: SecretName): string | undefined => readSecretFile(name, reader(env).secret(name));

const ADDRESS = /^[^\s<>@]+@[^\s<>@]+$/;

/** By which server mail is sent, and who it is from; without the first no mail is sent. */
export const mail = (env: Env): { smtpUrl: string; from: string } | undefined => {
  const smtpUrl = readSecret(env, 'SMTP_URL');
  if (smtpUrl === undefined) return undefined;
  // It holds a password, so it is not repeated.
  if (!URL.canParse(smtpUrl) || !/^smtps?:$/.test(new URL(smtpUrl).protocol) || new URL(smtpUrl).hostname === '')
    throw new ConfigError('LOOPSTREAM_SMTP_URL must be a URL such as smtp://user:password@host:port or smtps://….');
  const from = reader(env).text('MAIL_FROM');
  const [, inner] = /^[^<>\r\n]+<([^<>]+)>$/.exec(from) ?? [];
  if (!ADDRESS.test(inner ?? from))
    throw new ConfigError(
      'LOOPSTREAM_MAIL_FROM must be an e-mail address, such as loops@example.com, or Loops <loops@example.com>.',
    );
  return Object.freeze({ smtpUrl, from });
};

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const MAX_CLAIM = 200;
const MAX_NAME = 40;

/** An issuer (OpenID Connect Discovery 1.0, section 3); `http` only where nobody else can listen. */
const isIssuer = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username } = new URL(text);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  return isSafe && search === '' && hash === '' && username === '';
};

/** Claims of an ID token that hold the e-mail address, in order. */
function emailClaims(env: Env): readonly string[] {
  const claims = reader(env).list('OIDC_EMAIL_CLAIMS');
  if (claims.some((claim) => claim.length > MAX_CLAIM || /[\s\p{Cc}]/u.test(claim)))
    throw new ConfigError(
      'LOOPSTREAM_OIDC_EMAIL_CLAIMS must be names of claims with commas in between, such as email,upn.',
    );
  return claims.length > 0 ? claims : ['email'];
}

/** The outside provider of sign-in; none without an issuer. */
export const outsideProvider = (env: Env): OidcProvider | undefined => {
  const { text, optional, flag } = reader(env);
  const issuer = optional('OIDC_ISSUER');
  if (issuer === undefined) return undefined;
  if (!isIssuer(issuer))
    throw new ConfigError('LOOPSTREAM_OIDC_ISSUER must be the issuer of the provider, such as https://id.example.com.');
  const name = text('OIDC_NAME', new URL(issuer).hostname.slice(0, MAX_NAME));
  // linear-time: one class of signs, repeated once.
  if (name.length > MAX_NAME || !new RegExp(DISPLAY_NAME_PATTERN).test(name))
    throw new ConfigError(`LOOPSTREAM_OIDC_NAME must have at most ${MAX_NAME} characters, and no control characters.`);
  return Object.freeze({
    issuer,
    name,
    clientId: text('OIDC_CLIENT_ID'),
    clientSecret: readSecret(env, 'OIDC_CLIENT_SECRET'),
    signUp: flag('OIDC_SIGN_UP', flag('SIGN_UP')),
    emailClaims: emailClaims(env),
    trustsEmail: flag('OIDC_TRUST_EMAIL'),
  });
};

/** Against the guessing of passwords and floods of mails and clients; the first two for one address. */
export const authLimits = (env: Env) => {
  const { integer } = reader(env);
  return Object.freeze({
    /** For one account in ten minutes. */
    attempts: integer('SIGN_IN_ATTEMPTS'),
    /** In an hour. */
    registrations: integer('CLIENT_REGISTRATIONS'),
    /** For one mailbox in an hour, whatever their cause. */
    mails: integer('MAILS_PER_HOUR'),
  });
};
