/**
 * Checks requests to the authorization server before the auth library sees them, and fills in omitted parameters. Pure:
 * no I/O, no clock.
 */
import { listResources } from './addresses.ts';
import { findRedirectProblem, isNativeRedirect, quoteRedirect } from './redirect-uris.ts';

/** The error document of RFC 7591, section 3.2.2. */
export interface RegistrationError {
  error: 'invalid_redirect_uri' | 'invalid_client_metadata';
  error_description: string;
}

const MAX_REDIRECT_URIS = 10;
const MAX_URI = 2000;
const MAX_NAME = 100;
const MAX_TEXT = 1000;

/** RFC 7591, section 2: what is not known is ignored. Keys and addresses that we would have to fetch from are not taken. */
const URIS = ['client_uri', 'logo_uri', 'tos_uri', 'policy_uri'] as const;
const TEXTS = ['scope', 'software_id', 'software_version', 'token_endpoint_auth_method', 'application_type'] as const;
const LISTS = ['grant_types', 'response_types', 'contacts'] as const;
export const CLIENT_AUTHENTICATION = ['none', 'client_secret_basic', 'client_secret_post'];
export const GRANTS = ['authorization_code', 'refresh_token'] as const;

/** Controls, and signs that turn the direction of a text or take no room: they make one name look like another. */
const DECEIVING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u;

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max && !value.includes('\0') && value.isWellFormed();

/** Escaped in JSON; the sign itself cannot stand there. */
// linear-time: a run of backslashes begins once: the sign before it is none.
const JSON_NUL = /(?<!\\)(?:\\\\)*\\u0000/i;

/** Whether a form or a query has U+0000, which Postgres keeps in no text, and nobody means. */
const hasNul = (form: string): boolean => /%00|\0/.test(form);

/** Returns the reason to refuse the body of a page's request; undefined for a JSON object, or an empty body. */
export function findPageProblem(
  body: string,
  query: string,
): { code: 'malformed_json' | 'validation_failed'; detail: string } | undefined {
  const wrong = (detail: string) => ({ code: 'validation_failed' as const, detail });
  if (hasNul(query)) return wrong('A parameter contains the character U+0000, which is not allowed.');
  if (body === '') return undefined;
  let fields: unknown;
  try {
    fields = JSON.parse(body);
  } catch {
    return { code: 'malformed_json', detail: 'The body must be JSON.' };
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    return wrong('The body must be a JSON object.');
  if (JSON_NUL.test(body)) return wrong('A string contains the character U+0000, which is not allowed.');
  const { oauth_query: asked } = fields as Record<string, unknown>;
  return asked === undefined || typeof asked === 'string' ? undefined : wrong('oauth_query must be a string.');
}

/** Returns the reason to refuse a form (RFC 6749, section 5.2); it quotes none of the form's own words. */
export function findFormRefusal(form: string, path: string): { error: string; error_description: string } | undefined {
  if (hasNul(form))
    return {
      error: 'invalid_request',
      error_description: 'A parameter contains the character U+0000, which is not allowed.',
    };
  const grants = new URLSearchParams(form).getAll('grant_type');
  if (path !== '/oauth2/token' || (grants.length === 1 && GRANTS.includes(grants[0] as never))) return undefined;
  const error = grants.length === 1 ? 'unsupported_grant_type' : 'invalid_request';
  return { error, error_description: `grant_type must be one of ${GRANTS.join(', ')}.` };
}

const refusal = (error: RegistrationError['error'], error_description: string) => ({
  refused: { error, error_description },
});

export interface Registration {
  redirect_uris: string[];
  application_type: unknown;
  [field: string]: unknown;
}

/** The redirect URIs that can be used, once each; with `refused`, why there are none. */
function readRedirects(uris: unknown[]): { redirects: string[] } | { refused: RegistrationError } {
  const unfit = uris.filter((uri) => findRedirectProblem(uri) !== undefined);
  const redirects = new Set(uris.filter((uri) => !unfit.includes(uri)) as string[]);
  if (redirects.size > 0) return { redirects: [...redirects] };
  const reasons = unfit.map((uri) => `${quoteRedirect(uri)} ${findRedirectProblem(uri)}`);
  return refusal('invalid_redirect_uri', `None of the redirect_uris is allowed: ${reasons.join('; ')}.`);
}

/**
 * Reads the metadata of a registration, or of a client's own document. A redirect URI that cannot be used is left out where
 * others can; `refused` says why nothing is registered.
 */
export function readRegistration(body: unknown): { metadata: Registration } | { refused: RegistrationError } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return refusal('invalid_client_metadata', 'The body must be a JSON object.');
  const given = body as Record<string, unknown>;
  const { redirect_uris: uris, client_name: name } = given;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS)
    return refusal('invalid_redirect_uri', `redirect_uris must be a list of 1 to ${MAX_REDIRECT_URIS} URIs.`);
  const read = readRedirects(uris);
  if ('refused' in read) return read;
  if (name !== undefined && (!isText(name, MAX_NAME) || name.trim() === '' || DECEIVING.test(name)))
    return refusal('invalid_client_metadata', `client_name must have 1 to ${MAX_NAME} characters, all visible.`);
  const metadata: Registration = {
    redirect_uris: read.redirects,
    application_type: undefined,
    ...(name === undefined ? {} : { client_name: name }),
  };
  for (const field of [...URIS, ...TEXTS, ...LISTS]) {
    if (given[field] === undefined || given[field] === null) continue;
    const problem = findFieldProblem(field, given[field]);
    if (problem) return refusal('invalid_client_metadata', `${field} ${problem}.`);
    metadata[field] = given[field];
  }
  // Some name all grants that they know of, also those that nobody here could give them.
  if (Array.isArray(metadata.grant_types))
    metadata.grant_types = metadata.grant_types.filter((grant) => GRANTS.includes(grant));
  // Programs on a person's machine seldom say that they are such, and some say the opposite (OpenID Connect Registration 1.0,
  // section 2).
  if (read.redirects.some(isNativeRedirect)) metadata.application_type = 'native';
  metadata.application_type ??= 'web';
  return { metadata };
}

function findFieldProblem(field: string, value: unknown): string | undefined {
  if (URIS.includes(field as never)) {
    const isSafe = isText(value, MAX_URI) && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
    return isSafe ? undefined : 'must be a URL that begins with https://';
  }
  if (field === 'token_endpoint_auth_method')
    return CLIENT_AUTHENTICATION.includes(String(value)) ? undefined : `must be one of ${CLIENT_AUTHENTICATION}`;
  if (field === 'application_type') return value === 'web' || value === 'native' ? undefined : 'must be web or native';
  if (TEXTS.includes(field as never)) return isText(value, MAX_TEXT) ? undefined : 'must be a short string';
  const isList = Array.isArray(value) && value.length <= 10 && value.every((entry) => isText(entry, 200));
  return isList ? undefined : 'must be a short list of strings';
}

/**
 * The resource as tokens name it. URL libraries put a slash after an address without a path, people after any, and the two
 * mean the same here (RFC 3986, section 6.2.3).
 */
function nameResources(parameters: URLSearchParams, publicUrl: string): void {
  const known = Object.values(listResources(publicUrl));
  const named = parameters.getAll('resource').map((named) => known.find((one) => named === `${one}/`) ?? named);
  parameters.delete('resource');
  for (const resource of named) parameters.append('resource', resource);
}

/**
 * A request without a resource means the API, and one without a scope gets the weakest scope (RFC 6749, section 3.3).
 * Any program on a user's machine can claim to be another one: the user is asked each time (RFC 8252, section 8.6).
 */
export function completeAuthorization(query: string, site: { publicUrl: string; scopePrefix: string }): string {
  const parameters = new URLSearchParams(query);
  nameResources(parameters, site.publicUrl);
  if (!parameters.has('resource')) parameters.set('resource', site.publicUrl);
  if (!parameters.get('scope')?.trim()) parameters.set('scope', `${site.scopePrefix}:read`);
  // Errors would otherwise be sent in the mode that is refused.
  parameters.delete('response_mode');
  const prompts = (parameters.get('prompt') ?? '').split(' ');
  if (isNativeRedirect(parameters.get('redirect_uri') ?? '') && !prompts.includes('none'))
    parameters.set('prompt', [...new Set([...prompts, 'consent'])].join(' ').trim());
  return parameters.toString();
}

/**
 * Refuses, at the client's own address, what the library does not refuse: a response mode that is not offered, and a silent answer
 * to a client whose person is asked each time. `location`: where the library sends the browser; `asked`: the request as it came.
 * Resolves to where the browser is sent instead, if anywhere. The library has checked the redirect URI when it sends the browser to
 * a page without an error, or back with a code.
 */
export function refuseAuthorization(location: string, asked: URLSearchParams, publicUrl: string): string | undefined {
  const redirect = asked.get('redirect_uri');
  if (redirect === null || !URL.canParse(location, publicUrl) || !URL.canParse(redirect)) return undefined;
  const there = new URL(location, publicUrl);
  const isAccepted = there.origin === new URL(publicUrl).origin && !there.searchParams.has('error');
  if (!isAccepted && !there.searchParams.has('code')) return undefined;
  const [mode, prompts] = [asked.get('response_mode') ?? 'query', (asked.get('prompt') ?? '').split(' ')];
  const error =
    mode !== 'query'
      ? ['invalid_request', 'response_mode must be query.']
      : prompts.includes('none') && isNativeRedirect(redirect)
        ? [
            'consent_required',
            'An app on the device of the user needs consent for each authorization, so prompt=none is not possible.',
          ]
        : undefined;
  if (!error) return undefined;
  const back = new URL(redirect);
  back.searchParams.set('error', error[0] ?? '');
  back.searchParams.set('error_description', error[1] ?? '');
  const state = asked.get('state');
  if (state !== null) back.searchParams.set('state', state);
  back.searchParams.set('iss', publicUrl);
  return back.href;
}

export function completeTokenRequest(body: string, publicUrl: string): string {
  const parameters = new URLSearchParams(body);
  nameResources(parameters, publicUrl);
  return parameters.toString();
}
