/**
 * Lets a browser keep the API key of its user in a cookie that no script can read, so that every tab works with it until the user signs
 * out, the browser ends, or the key is revoked. The cookie allows what the key allows, and nothing that needs a signed-in person.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AUTH_PATH, keyCookieName, readCookie } from '../../auth/addresses.ts';
import type { AuthService } from '../../auth/service.ts';
import { AppError } from '../../lib/errors.ts';
import { readClientAddress } from '../http/ratelimit.ts';
import { crossSite, isOwnPage } from '../http/samesite.ts';

interface KeySessionDeps {
  auth: Pick<AuthService, 'authenticate'>;
  publicUrl: string;
}

export function serveKeySession(app: FastifyInstance, { auth, publicUrl }: KeySessionDeps): void {
  const name = keyCookieName(publicUrl);
  // `Strict`: a page of another site never sends it, not even by a link.
  const attributes = `Path=/; HttpOnly; SameSite=Strict${publicUrl.startsWith('https:') ? '; Secure' : ''}`;
  const setCookie = (reply: FastifyReply, value: string, age = '') =>
    reply.headers({ 'cache-control': 'no-store', 'set-cookie': `${name}=${value}; ${attributes}${age}` });
  const requireOwnPage = ({ headers }: FastifyRequest) => {
    if (!isOwnPage(headers, publicUrl)) throw crossSite();
  };
  const url = `${AUTH_PATH}/key-session`;
  const schema = { hide: true } as object;

  app.post(url, { schema }, async (request, reply) => {
    requireOwnPage(request);
    const { 'x-api-key': apiKey } = request.headers;
    if (typeof apiKey !== 'string') throw new AppError('unauthenticated', 'Send the API key in the header X-API-Key.');
    await auth.authenticate({ apiKey, authorization: undefined, address: readClientAddress(request) });
    return setCookie(reply, apiKey).send({ kept: true });
  });

  app.get(url, { schema, exposeHeadRoute: false }, async (request, reply) => {
    const apiKey = readCookie(request.headers.cookie ?? '', name);
    void reply.header('cache-control', 'no-store');
    if (!apiKey) return { kept: false };
    const isRefused = (error: unknown) => error instanceof AppError && error.status === 401;
    const kept = await auth
      .authenticate({ apiKey, authorization: undefined, address: readClientAddress(request) })
      .then(
        () => true,
        (error: unknown) => {
          if (!isRefused(error)) throw error;
          return false;
        },
      );
    return { kept };
  });

  app.post(`${url}/end`, { schema }, async (request, reply) => {
    requireOwnPage(request);
    return setCookie(reply, '', '; Max-Age=0').send({ kept: false });
  });
}
