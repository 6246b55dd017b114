/** Tells a person's browser that opens an address from a program that calls it. Pure: no I/O, no clock. */

interface Visit {
  method: string;
  url: string;
  headers: { accept?: string | undefined };
}

/** Types that programs ask for. A browser that opens an address names none of them. */
const FOR_PROGRAMS = /application\/(graphql-response\+)?json|text\/event-stream/i;

export const isVisit = ({ method, headers: { accept = '' } }: Visit): boolean =>
  (method === 'GET' || method === 'HEAD') && /text\/html/i.test(accept) && !FOR_PROGRAMS.test(accept);

/** Below these, programs are answered: an unknown address is a problem there, for browsers too. */
const OF_PROGRAMS = /^\/(v1|graphql|mcp|api|assets|\.well-known)(\/|$)/;

export const readPath = (url: string): string => url.split('?', 1)[0] ?? '';

/** Whether a browser gets the page at this address, be it to say that there is none. */
export const isPageVisit = (request: Visit): boolean => isVisit(request) && !OF_PROGRAMS.test(readPath(request.url));

/** Address of the reference of the API. */
export const DOCS = '/docs';

/** Pages about an address of programs, by that address. */
const EXPLAINED = /^\/(graphql|mcp)\/?$/;
/** A query that somebody has put into the address is answered. */
const HAS_QUERY = /[?&](query|extensions)=/;

/** The file of the page that explains an address of programs to the browser that opens it; undefined for every other request. */
export const findExplanation = (request: Visit): string | undefined => {
  const [, name] = EXPLAINED.exec(readPath(request.url)) ?? [];
  return name !== undefined && isVisit(request) && !HAS_QUERY.test(request.url) ? `${name}.html` : undefined;
};

export const isExplained = (request: Visit): boolean => findExplanation(request) !== undefined;
