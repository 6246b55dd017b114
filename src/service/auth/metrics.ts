/** Counts sign-ins and refusals by credential for Prometheus. The numbers name no user, address or program. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import { AUTH_PATH, readCookie } from './addresses.ts';
import { OIDC_CALLBACK_PATH } from './oidc.ts';
import { PASSKEY_SIGN_IN_PATH } from './passkeys.ts';

/** Ways to sign in, by the path below /api/auth that ends them. */
const SIGN_IN_PATHS = new Map([
  ['/sign-in/email', 'password'],
  [PASSKEY_SIGN_IN_PATH, 'passkey'],
  [OIDC_CALLBACK_PATH, 'provider'],
]);
const TOKEN_PATH = '/oauth2/token';
const REGISTER_PATH = '/oauth2/register';

const GRANTS = ['authorization_code', 'refresh_token', 'other'] as const;
/**
 * `ok`: the request succeeded; `refused`: because of its content; `limited`: it came too often; `failed`: a
 * fault on our side.
 */
const OUTCOMES = ['ok', 'refused', 'limited', 'failed'] as const;
type SignInOutcome = (typeof OUTCOMES)[number];

export interface AuthMetrics {
  /**
   * Counts what is answered below /api/auth on `app`. `cookie`: the name of a session's; `wasUsed`: whether a refresh token is
   * one that was exchanged or given back before.
   */
  observe(app: FastifyInstance, source: { cookie: string; wasUsed: (refreshToken: string) => Promise<boolean> }): void;
}

export function authMetrics(registry: Registry): AuthMetrics {
  const counter = <Label extends string>(name: string, help: string, labels: Record<Label, readonly string[]>) => {
    const made = new Counter({ name, help, labelNames: Object.keys(labels) as Label[], registers: [registry] });
    // Shown from the beginning, so that the first of its kind is seen to be one more.
    for (const values of combinations(labels)) made.inc(values as Record<Label, string>, 0);
    return made;
  };
  const signIns = counter('auth_sign_ins_total', 'Attempts of users to sign in.', {
    method: [...SIGN_IN_PATHS.values()],
    outcome: OUTCOMES,
  });
  const tokens = counter('auth_tokens_total', 'Token requests of OAuth clients.', { grant: GRANTS, outcome: OUTCOMES });
  const registrations = counter('auth_registrations_total', 'Registration requests of OAuth clients.', {
    outcome: OUTCOMES,
  });
  const reuses = counter(
    'auth_refresh_reuse_total',
    'Refresh tokens that were used again after their reuse interval. Each time, all tokens of the OAuth client for that user were revoked.',
    {},
  );
  return {
    observe(app, { cookie, wasUsed }) {
      const again = new WeakSet<FastifyRequest>();
      // The token is gone once the response is sent, so it is looked up before.
      app.addHook('preHandler', async (request) => {
        const token = readPath(request) === TOKEN_PATH && readRefreshToken(request);
        if (token && (await wasUsed(token))) again.add(request);
      });
      app.addHook('onResponse', (request, reply, done) => {
        // A request whose client has left has no result.
        const path = reply.raw.writableFinished ? readPath(request) : '';
        const outcome = readOutcome(reply);
        const method = SIGN_IN_PATHS.get(path);
        if (method !== undefined) {
          const isIn = setsSession(reply, cookie);
          signIns.inc({ method, outcome: outcome === 'ok' && !isIn ? 'refused' : outcome });
        } else if (path === TOKEN_PATH) {
          const grant = parseForm(request).get('grant_type');
          tokens.inc({ grant: GRANTS.find((known) => known === grant) ?? 'other', outcome });
          if (again.has(request) && outcome === 'refused') reuses.inc();
        } else if (path === REGISTER_PATH) registrations.inc({ outcome });
        done();
      });
    },
  };
}

const readPath = ({ method, routeOptions: { url = '' } }: FastifyRequest): string =>
  method !== 'OPTIONS' && url.startsWith(AUTH_PATH) ? url.slice(AUTH_PATH.length) : '';

const parseForm = ({ body }: FastifyRequest): URLSearchParams =>
  new URLSearchParams(Buffer.isBuffer(body) ? body.toString() : '');

function readRefreshToken(request: FastifyRequest): string | null {
  const form = parseForm(request);
  return form.get('grant_type') === 'refresh_token' ? form.get('refresh_token') : null;
}

function readOutcome({ statusCode }: FastifyReply): SignInOutcome {
  if (statusCode === 429) return 'limited';
  if (statusCode >= 500) return 'failed';
  return statusCode < 400 ? 'ok' : 'refused';
}

/** A redirect to the sign-in page has a good status, too; only a successful sign-in sets a session. */
const setsSession = (reply: FastifyReply, cookie: string): boolean =>
  [reply.getHeader('set-cookie') ?? []]
    .flat()
    .some((one) => Boolean(readCookie(String(one).split(';', 1)[0] ?? '', cookie)));

/** Each value of each label with each of all others. */
const combinations = (labels: Readonly<Record<string, readonly string[]>>): Record<string, string>[] =>
  Object.entries(labels).reduce<Record<string, string>[]>(
    (all, [label, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
