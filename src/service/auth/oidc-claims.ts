/**
 * Checks the documents of an outside provider of sign-in, and its claims about a user, by OpenID Connect. Pure: no I/O,
 * no clock.
 */

/** A provider, as the settings name it. */
export interface OidcProvider {
  /** Exactly as its documents and tokens name it. */
  issuer: string;
  /** Its name on the sign-in page. */
  name: string;
  clientId: string;
  /** Without one the client is a public one, which PKCE alone protects. */
  clientSecret: string | undefined;
  /** Whether people who have no account here are given one. */
  signUp: boolean;
  /** Claims that hold the e-mail address, the first one that has one; `email` alone by default. */
  emailClaims: readonly string[];
  /** Whether all its e-mail addresses are taken to be their owners', also where it does not say so. */
  trustsEmail: boolean;
}

/** The reason why nobody can sign in there, for operators; it holds no secret. */
export class OidcError extends Error {
  override readonly name = 'OidcError';
}

/** The used part of OpenID Connect Discovery 1.0, section 3. */
export interface OidcEndpoints {
  authorization: string;
  token: string;
  userInfo: string | undefined;
  keys: string;
  /** Signatures to be taken; never `none`, and none that is made with a secret. */
  algorithms: string[];
  /** Whether the client's secret goes into the header (RFC 6749, section 2.3.1) rather than into the form. */
  basic: boolean;
  /** Whether each answer names the issuer (RFC 9207). */
  namesIssuer: boolean;
}

export type IdTokenClaims = Readonly<Record<string, unknown>>;

const ASYMMETRIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
/** RFC 5321, section 4.5.3.1. */
const MAX_ADDRESS = 254;
const MAX_NAME = 100;
/** Controls, and signs that turn the direction of a text or take no room. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;

const lists = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** Returns the address of the discovery document (OpenID Connect Discovery 1.0, section 4.1). */
export const discoveryUrl = (issuer: string): string => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;

/** Throws an OidcError when the document is another issuer's, or has not what is needed. */
export function readDiscovery(document: unknown, issuer: string): OidcEndpoints {
  const fields = (typeof document === 'object' && document !== null ? document : {}) as IdTokenClaims;
  // Section 4.3: otherwise one could stand in for another.
  if (fields.issuer !== issuer) throw new OidcError(`The issuer in the discovery document is not exactly ${issuer}.`);
  const isSafe = ({ protocol }: URL) => protocol === 'https:' || protocol === new URL(issuer).protocol;
  const endpoint = (name: string): string => {
    const value = fields[name];
    if (typeof value !== 'string' || !URL.canParse(value) || !isSafe(new URL(value)))
      throw new OidcError(`The discovery document has no ${name} with https.`);
    return value;
  };
  const algorithms = lists(fields.id_token_signing_alg_values_supported).filter((alg) => ASYMMETRIC.includes(alg));
  if (algorithms.length === 0)
    throw new OidcError('The provider supports no accepted signing algorithm, such as RS256 or ES256.');
  // The default is the header (section 3).
  const methods = lists(fields.token_endpoint_auth_methods_supported ?? ['client_secret_basic']);
  return {
    authorization: endpoint('authorization_endpoint'),
    token: endpoint('token_endpoint'),
    userInfo: fields.userinfo_endpoint === undefined ? undefined : endpoint('userinfo_endpoint'),
    keys: endpoint('jwks_uri'),
    algorithms,
    basic: methods.includes('client_secret_basic'),
    namesIssuer: fields.authorization_response_iss_parameter_supported === true,
  };
}

/**
 * Checks the rest of an ID token whose signature, issuer, audience and time are valid: the nonce of this very request,
 * and a token meant for us alone (OpenID Connect Core 1.0, section 3.1.3.7). Throws an OidcError.
 */
export function checkIdToken(claims: IdTokenClaims, expected: { clientId: string; nonce: string | undefined }): void {
  if (expected.nonce === undefined || claims.nonce !== expected.nonce)
    throw new OidcError('The ID token does not belong to this sign-in (nonce).');
  if (typeof claims.sub !== 'string' || claims.sub === '' || claims.sub.length > 255)
    throw new OidcError('The ID token does not name a user (sub).');
  const isOthersToo = Array.isArray(claims.aud) && claims.aud.length > 1;
  if ((isOthersToo || claims.azp !== undefined) && claims.azp !== expected.clientId)
    throw new OidcError('The ID token was issued for another client (azp).');
}

/** Section 5.3.2: what it says elsewhere counts only where it is about the same person. Throws an OidcError. */
export function joinClaims(idToken: IdTokenClaims, userInfo: IdTokenClaims): IdTokenClaims {
  if (userInfo.sub !== idToken.sub) throw new OidcError('The user info and the ID token name different users (sub).');
  return { ...userInfo, ...idToken };
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value.replace(UNSEEN, '').replace(/\s+/g, ' ').trim().slice(0, MAX_NAME) : '';

export interface OidcUser {
  /** Null when none is known to be theirs: the sign-in is then refused. */
  email: string | null;
  emailVerified: boolean;
  name: string;
  firstName: string;
  lastName?: string;
}

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= MAX_ADDRESS &&
  // linear-time: the length is checked before.
  /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value) &&
  value.search(UNSEEN) === -1;

/** Amazon Cognito and ADFS send texts. */
const isTrue = (value: unknown): boolean => value === true || value === 'true';

/**
 * Whether the provider has confirmed the address of a claim. `email_verified` and Entra's `xms_edov` (the owner of the
 * domain is verified) speak of the claim `email` alone.
 */
const isConfirmed = (claim: string, claims: IdTokenClaims): boolean =>
  claim === 'email' &&
  (isTrue(claims.email_verified) || (claims.email_verified === undefined && isTrue(claims.xms_edov)));

/**
 * Reads the user from the claims. An address that the provider has not confirmed counts as none: anybody may have typed
 * it there.
 */
export function readUser(
  claims: IdTokenClaims,
  {
    trustsEmail,
    emailClaims = ['email'],
  }: Pick<OidcProvider, 'trustsEmail'> & Partial<Pick<OidcProvider, 'emailClaims'>>,
): OidcUser {
  const isTheirs = (claim: string) => isAddress(claims[claim]) && (trustsEmail || isConfirmed(claim, claims));
  const claim = emailClaims.find(isTheirs);
  const email = claim === undefined ? null : String(claims[claim]).toLowerCase();
  const whole = text(claims.name);
  const firstName = text(claims.given_name) || whole.split(' ')[0] || email?.split('@')[0] || 'You';
  const lastName = text(claims.family_name) || whole.split(' ').slice(1).join(' ');
  const name = [firstName, lastName].filter(Boolean).join(' ');
  return { email, emailVerified: email !== null, name, firstName, ...(lastName !== '' && { lastName }) };
}
