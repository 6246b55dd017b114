/**
 * The security headers of every answer, and what each kind of page may load (Content Security Policy Level 3). An answer of
 * the API is no page: its headers are those of OWASP's REST Security Cheat Sheet, which keep a browser from taking it for one.
 */
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import helmet from 'helmet';
import { ERROR_PAGE_STYLE } from './error-page-style.ts';

const NOTHING_BUT = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** The page: nothing inline, nothing from elsewhere. The player feeds the video element from a blob. */
const PAGE = {
  ...NOTHING_BUT,
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  mediaSrc: ["'self'", 'blob:'],
};

/** Swagger UI: its program adds a style element, and its style sheet holds icons as data: images. */
const API_PAGES = {
  ...PAGE,
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  mediaSrc: ["'none'"],
};

/** The pages of error codes: their own style and no more. */
const ERROR_PAGES = { ...NOTHING_BUT, styleSrc: [ERROR_PAGE_STYLE] };

type Headers = Record<string, string>;

/** What a middleware of helmet's sets: always the same, so that it is asked once and not for each request. */
function buildHeaders(middleware: ReturnType<typeof helmet>): Headers {
  const found: Headers = {};
  const response = {
    setHeader: (name: string, value: string) => {
      found[name.toLowerCase()] = value;
    },
    removeHeader: () => undefined,
  };
  middleware({} as never, response as never, () => undefined);
  return found;
}

const buildPolicy = (directives: Record<string, string[]>): Headers =>
  buildHeaders(helmet.contentSecurityPolicy({ useDefaults: false, directives }));

const setting =
  (headers: Headers): onRequestHookHandler =>
  (_request, reply, done) => {
    void reply.headers(headers);
    done();
  };

/** A hook for the routes of error pages. */
export const errorPageHeaders = setting(buildPolicy(ERROR_PAGES));

const onPages = (overTls: boolean): Headers =>
  buildHeaders(helmet({ contentSecurityPolicy: false, strictTransportSecurity: overTls }));

function onAnswers(overTls: boolean): Headers {
  const { frameguard, noSniff, crossOriginResourcePolicy, strictTransportSecurity } = helmet;
  return {
    ...buildPolicy(NOTHING_BUT),
    ...buildHeaders(frameguard({ action: 'deny' })),
    ...buildHeaders(noSniff()),
    ...buildHeaders(crossOriginResourcePolicy()),
    ...(overTls && buildHeaders(strictTransportSecurity())),
  };
}

/**
 * Before any route, for hooks see only routes that come after them. `api`: where the paths of the API begin; `docs`: where
 * Swagger UI is.
 */
export function secureHeaders(app: FastifyInstance, options: { api: string[]; docs: string; overTls: boolean }): void {
  const [page, answer] = [{ ...onPages(options.overTls), ...buildPolicy(PAGE) }, onAnswers(options.overTls)];
  const isAnswer = new RegExp(`^(?:${options.api.join('|')})(?![^/?])`);
  app.addHook('onRequest', ({ url }, reply, done) => {
    void reply.headers(isAnswer.test(url) ? answer : page);
    done();
  });
  const apiPages = setting(buildPolicy(API_PAGES));
  app.addHook('onRoute', (route) => {
    if (route.url !== options.docs && !route.url.startsWith(`${options.docs}/`)) return;
    route.onRequest = [apiPages, ...[route.onRequest ?? []].flat()];
  });
}
