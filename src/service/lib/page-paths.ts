/** Lists the addresses of the page. Its router has these alone, and the server answers any other with 404. Pure: no I/O, no clock. */

export const PAGE_PATHS = [
  ...([
    '/',
    '/streams',
    '/streams/$id',
    '/create',
    '/uploads',
    '/playlists',
    '/playlists/$id',
    '/scenes',
    '/destinations',
    '/notifications',
    '/notifications/events',
    '/notifications/$id',
  ] as const),
  ...(['/sign-in', '/sign-up', '/check-mail', '/verify', '/forgot-password', '/reset-password', '/consent'] as const),
  ...(['/account', '/account/keys', '/account/apps', '/billing', '/billing/deposits/$id'] as const),
];

export type PagePath = (typeof PAGE_PATHS)[number];

// linear-time: the paths are our own, and of a fixed length.
const PATTERN = new RegExp(`^(?:${PAGE_PATHS.map((path) => path.replace(/\$\w+/g, '[^/]+')).join('|')})$`, 'i');

/** Whether the page has something at this path. A slash at its end changes nothing, as in the router. */
export const isPagePath = (path: string): boolean => PATTERN.test(path.replace(/(.)\/$/, '$1'));
