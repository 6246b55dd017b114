/**
 * Sets the security headers of every response, and the Content Security Policy (Level 3) of each kind of page. Responses of the API
 * follow OWASP's REST Security Cheat Sheet, which keeps a browser from rendering them as pages.
 */
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import helmet from 'helmet';
import { ERROR_PAGE_STYLE } from './error-page-style.ts';

const NOTHING_BUT = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** Dashboard: nothing inline, nothing from other origins. The player feeds the video element from a blob. */
const PAGE = {
  ...NOTHING_BUT,
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  mediaSrc: ["'self'", 'blob:'],
};

/** The reference of the API: its script adds style elements, and its styles contain icons as data: images. */
const API_PAGES = {
  ...PAGE,
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  mediaSrc: ["'none'"],
};

/** Error pages: only their own style. */
const ERROR_PAGES = { ...NOTHING_BUT, styleSrc: [ERROR_PAGE_STYLE] };

type Headers = Record<string, string>;

/** Headers of a helmet middleware are constant, so it runs once and not for each request. */
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

interface HeaderOptions {
  api: string[];
  docs: string;
  isPage: (request: FastifyRequest) => boolean;
  overTls: boolean;
}

/**
 * Must run before any route, since hooks apply only to later routes. `api` lists the path prefixes of the API; `docs` is that of
 * its reference. `isPage` tells requests to the API that are answered with a page.
 */
export function secureHeaders(app: FastifyInstance, options: HeaderOptions): void {
  const [page, answer] = [{ ...onPages(options.overTls), ...buildPolicy(PAGE) }, onAnswers(options.overTls)];
  // linear-time: the paths are our own, and of a fixed length.
  const isAnswer = new RegExp(`^(?:${options.api.join('|')})(?![^/?])`);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(isAnswer.test(request.url) && !options.isPage(request) ? answer : page);
    done();
  });
  const apiPages = setting(buildPolicy(API_PAGES));
  app.addHook('onRoute', (route) => {
    if (route.url !== options.docs && !route.url.startsWith(`${options.docs}/`)) return;
    route.onRequest = [apiPages, ...[route.onRequest ?? []].flat()];
  });
}
