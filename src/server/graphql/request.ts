/**
 * Reads the request of GraphQL out of one of HTTP, and refuses it in words that tell what to send. Pure: no I/O, no clock.
 */
import { GraphQLError } from 'graphql';
import { parseRequestParams, type Request, type RequestParams } from 'graphql-http';
import { AppError } from '../../lib/errors.ts';

/** By what the library says of a request that it cannot read. */
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
 * What clients with automatic persisted queries send first: a hash in place of the query. The message and the code are Apollo's
 * (apollographql/apollo-client, src/link/persisted-queries): told so, they send whole queries from then on.
 */
const notPersisted = () =>
  new GraphQLError('PersistedQueryNotSupported', { extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } });

/** Rejects with what is wrong: an AppError, or a GraphQLError where its form is a protocol of its own. */
export async function readRequest<Raw, Context>(request: Request<Raw, Context>): Promise<RequestParams> {
  if (Array.isArray(request.body))
    throw new AppError(
      'malformed_request',
      'The server takes one operation per request. Turn off batching in the client.',
    );
  try {
    return (await parseRequestParams(request)) as RequestParams;
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : '';
    if (said === 'Missing query' && namesPersistedQuery(request)) throw notPersisted();
    throw new AppError('malformed_request', SENTENCES[said] ?? 'The request is not valid GraphQL over HTTP.', {
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
 * As the library wants headers. Bodies are JSON in UTF-8 by now, however their type was written; and who accepts neither of the
 * types that there are is answered all the same (RFC 9110, section 12.5.1), since the answer says what is wrong.
 */
export const readableHeaders = <T extends { accept?: string | undefined }>(headers: T): T => ({
  ...headers,
  'content-type': 'application/json',
  accept: `${headers.accept ?? '*/*'}, */*`,
});
