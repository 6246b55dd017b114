/** The security headers of every answer, and what each kind of page may load (Content Security Policy Level 3). */
import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';
import { ERROR_PAGE_STYLE } from './errorpages.ts';

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

const policy = (directives: Record<string, string[]>) => ({
  contentSecurityPolicy: { useDefaults: false, directives },
});

/** For the `helmet` option of the routes of error pages. */
export const errorPageHeaders = policy(ERROR_PAGES);

/** Before any route, for hooks see only routes that come after them. `docs` is where Swagger UI is. */
export async function secureHeaders(app: FastifyInstance, options: { docs: string; overTls: boolean }): Promise<void> {
  app.addHook('onRoute', (route) => {
    if (route.url === options.docs || route.url.startsWith(`${options.docs}/`)) route.helmet ??= policy(API_PAGES);
  });
  await app.register(helmet, {
    ...policy(PAGE),
    strictTransportSecurity: options.overTls,
    referrerPolicy: { policy: 'no-referrer' },
  });
}
