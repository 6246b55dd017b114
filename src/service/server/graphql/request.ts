/** Reads a GraphQL request from an HTTP request, and rejects an invalid one with advice. Pure: no I/O, no clock. */
import { GraphQLError } from 'graphql';
import { parseRequestParams, type Request, type RequestParams } from 'graphql-http';
import { AppError } from '../../lib/errors.ts';

/** Our messages by those of the library for unreadable requests. */
const SENTENCES: Record<string, string> = {
  'Missing body': 'The body is empty. Send a JSON object with `query`.',
  'Unparsable JSON body': 'The body must be a JSON object with `query`.',
  'JSON body must be an object': 'The body must be a JSON object with `query`.',
  'Missing query': '`query` is missing. Send the text of the operation; the server stores no operations.',
  'Invalid query': '`query` must be a string.',
  'Invalid variables': '`variables` must be an object.',
  'Invalid operationName': '`operationName` must be a string.',
  'Invalid extensions': '`extensions` must be an object.',
  'Unparsable URL': '`variables` and `extensions` must be JSON in the URL.',
};

/**
 * Answers automatic persisted queries, which send a hash first. Message and code are Apollo's (apollographql/apollo-client,
 * src/link/persisted-queries): clients then send whole queries.
 */
const notPersisted = () =>
  new GraphQLError('PersistedQueryNotSupported', { extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } });

/** Rejects with an AppError, or with a GraphQLError where a protocol defines its form. */
export async function readRequest<Raw, Context>(request: Request<Raw, Context>): Promise<RequestParams> {
  if (Array.isArray(request.body))
    throw new AppError(
      'malformed_request',
      'The server takes one operation per request. Turn off batching in the client.',
    );
  try {
    return (await parseRequestParams(request)) as RequestParams;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : '';
    if (message === 'Missing query' && namesPersistedQuery(request)) throw notPersisted();
    throw new AppError('malformed_request', SENTENCES[message] ?? 'The request is not valid GraphQL over HTTP.', {
      cause,
    });
  }
}

function namesPersistedQuery({ method, url, body }: Request<unknown, unknown>): boolean {
  const given = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('extensions');
  const extensions: unknown =
    method === 'GET' ? JSON.parse(given ?? 'null') : (body as { extensions?: unknown } | null)?.extensions;
  return typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions;
}

/**
 * Adapts headers for the library. Bodies are parsed JSON in UTF-8 by now, whatever their declared type. A client that accepts
 * neither available type gets a response all the same (RFC 9110, section 12.5.1), since it describes the mistake.
 */
export const readableHeaders = <T extends { accept?: string | undefined }>(headers: T): T => ({
  ...headers,
  'content-type': 'application/json',
  accept: `${headers.accept ?? '*/*'}, */*`,
});
