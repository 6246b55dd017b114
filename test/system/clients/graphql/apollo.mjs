/**
 * Runs Apollo Client, of the major version in the first argument, with links that a server may not support. Prints each outcome as JSON.
 * Arguments: version, address, API key.
 */
import { createHash } from 'node:crypto';

const [version, uri, key] = process.argv.slice(2);
const load = (path) => import(`apollo-${version}/${path}${version === '3' ? '/index.js' : ''}`);
const { ApolloClient, InMemoryCache, HttpLink, gql } = await load('core');
const { createPersistedQueryLink, PersistedQueryLink } = await load('link/persisted-queries');
const { BatchHttpLink } = await load('link/batch-http');

const sent = [];
const http = {
  uri,
  headers: { authorization: `Bearer ${key}` },
  fetch: (url, init) => {
    sent.push({ method: init.method ?? 'GET', whole: /"query":|[?&]query=/.test(`${init.body ?? ''}${url}`) });
    return fetch(url, init);
  },
};
const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const persisted = (options) =>
  version === '3' ? createPersistedQueryLink({ sha256, ...options }) : new PersistedQueryLink({ sha256, ...options });
const createClient = (link) => new ApolloClient({ link, cache: new InMemoryCache() });
const ask = (client, query) =>
  client.query({ query, fetchPolicy: 'no-cache' }).then(
    ({ data, error }) => ({ data, ...(error && { error: String(error.message) }) }),
    (error) => ({
      error: JSON.stringify([error.message, error.errors, error.result, error.bodyText, error.networkError?.result]),
    }),
  );

const answers = {};
for (const [name, options] of [
  ['persisted', {}],
  ['persisted by GET', { useGETForHashedQueries: true }],
]) {
  sent.length = 0;
  const client = createClient(persisted(options).concat(new HttpLink(http)));
  const first = await ask(client, gql`query A { me { email } }`);
  const second = await ask(client, gql`query B { me { id } }`);
  answers[name] = { first, second, sent: [...sent] };
}
const batching = createClient(new BatchHttpLink({ ...http, batchInterval: 1 }));
answers.batch = await Promise.all([
  ask(batching, gql`query A { me { email } }`),
  ask(batching, gql`query B { me { id } }`),
]);
process.stdout.write(JSON.stringify(answers));
process.exit(0);
