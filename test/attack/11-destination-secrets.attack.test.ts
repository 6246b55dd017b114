/** Attacks secrets in a destination's URL, which never come out again, for any client and through any API. */
import { beforeAll, expect, test } from 'vitest';
import { makeStrangers, type Stranger } from '../kit/system/strangers.ts';

const PASSPHRASE = 'SuperSecretPass1';
const STREAM_ID = 'live/SECRETKEY';

let mallory: Stranger;
beforeAll(async () => {
  ({ mallory } = await makeStrangers());
});

test.each([
  ['rtmpUrl', 'rtmpKey'],
  ['url', 'key'],
])(
  'a passphrase and a stream id in an SRT URL, given as %s, are in no answer, and the shown URL can be sent back',
  async (url, key) => {
    const address = `srt://127.0.0.1:9000?latency=200000&passphrase=${PASSPHRASE}&streamid=${STREAM_ID}`;
    const shown = 'srt://127.0.0.1:9000?latency=200000&passphrase=…&streamid=…';
    const made = await mallory.call('POST', '/destinations', { name: 'x', [url]: address, [key]: 'k3y' });
    const path = `/destinations/${made.body.id}`;
    const query = { query: '{ destinations { edges { node { rtmpUrl url } } } }' };
    const graphql = await fetch(new URL('/graphql', mallory.facts.apiUrl), {
      method: 'POST',
      headers: { 'x-api-key': mallory.facts.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(query),
    });
    const answers = [
      ...[made, await mallory.call('GET', path), await mallory.call('GET', '/destinations')],
      // The form sends the URL back like this, with another name.
      await mallory.call('PATCH', path, { name: 'y', [url]: shown }),
      { status: graphql.status, body: await graphql.json() },
    ];
    for (const { status, body } of answers) {
      expect(status).toBeLessThan(300);
      expect(JSON.stringify(body)).not.toMatch(/SuperSecret|SECRETKEY/);
      expect(JSON.stringify(body)).toContain(shown);
    }
    // A hidden value cannot be sent to another server.
    const moved = await mallory.call('PATCH', path, { [url]: shown.replace('9000', '9001') });
    expect(moved).toMatchObject({ status: 422, body: { code: 'validation_failed', errors: [{ path: `/${url}` }] } });
    expect((await mallory.call('DELETE', path)).status).toBe(204);
  },
);

test('a token in the query of an RTMP URL is in no answer', async () => {
  const rtmpUrl = 'rtmp://127.0.0.1/live?token=SuperSecretPass1';
  const made = await mallory.call('POST', '/destinations', { name: 'x', rtmpUrl, rtmpKey: 'k3y' });
  expect(made.body.rtmpUrl).toBe('rtmp://127.0.0.1/live?token=…');
  await mallory.call('DELETE', `/destinations/${made.body.id}`);
});

test('a login, given in its fields or within the URL, is in no answer of any API', async () => {
  const [rtmpUser, rtmpPassword] = ['SuperSecretUser', 'SuperSecretPass1'];
  const shown = { rtmpUrl: 'rtmp://127.0.0.1/live', hasLogin: true };
  const pasted = { name: 'x', rtmpUrl: `rtmp://${rtmpUser}:${rtmpPassword}@127.0.0.1/live`, rtmpKey: 'k3y' };
  const made = await mallory.call('POST', '/destinations', pasted);
  const path = `/destinations/${made.body.id}`;
  const mutation = {
    query:
      'mutation ($id: ID!, $input: DestinationUpdateInput!) { updateDestination(id: $id, input: $input) { destination { id name rtmpUrl hasLogin } } }',
    variables: { id: made.body.id, input: { rtmpUser, rtmpPassword } },
  };
  const graphql = await fetch(new URL('/graphql', mallory.facts.apiUrl), {
    method: 'POST',
    headers: { 'x-api-key': mallory.facts.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(mutation),
  });
  const changed = (await graphql.json()) as { data: { updateDestination: { destination: object } } };
  const answers = [
    made,
    await mallory.call('PATCH', path, { rtmpPassword }),
    await mallory.call('GET', path),
    { status: graphql.status, body: changed.data.updateDestination.destination },
  ];
  for (const { status, body } of answers) {
    expect(status).toBeLessThan(300);
    expect(JSON.stringify(body)).not.toContain('SuperSecret');
    expect(body).toMatchObject(shown);
  }
  // An error about a secret does not contain it.
  const refused = await mallory.call('PATCH', path, { rtmpUrl: `rtmp://${rtmpUser}2:x@127.0.0.1/live`, rtmpUser });
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ path: '/rtmpUrl' }] } });
  expect(JSON.stringify(refused.body)).not.toContain('SuperSecret');
  expect((await mallory.call('PATCH', path, { rtmpUser: '' })).body).toMatchObject({ hasLogin: false });
  await mallory.call('DELETE', path);
});

test('the token of a platform’s account is in no answer of any API, and a private watch address is refused', async () => {
  const refreshToken = '1//0-SuperSecretToken';
  const platform = { kind: 'youtube', policy: 'Repair', refreshToken };
  const made = await mallory.call('POST', '/destinations', {
    ...{ name: 'x', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'k3y' },
    platform,
  });
  const path = `/destinations/${made.body.id}`;
  const query = 'query ($id: ID!) { destination(id: $id) { platform { kind hasToken } platformLive { status } } }';
  const graphql = await fetch(new URL('/graphql', mallory.facts.apiUrl), {
    method: 'POST',
    headers: { 'x-api-key': mallory.facts.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { id: made.body.id } }),
  });
  const answers = [
    ...[made, await mallory.call('GET', path), await mallory.call('GET', '/destinations')],
    await mallory.call('PATCH', path, { platform: { ...platform, refreshToken: `${refreshToken}-2` } }),
    { status: graphql.status, body: await graphql.json() },
  ];
  for (const { status, body } of answers) {
    expect(status).toBeLessThan(300);
    expect(JSON.stringify(body)).not.toContain('SuperSecret');
    expect(JSON.stringify(body)).toContain('"hasToken":true');
  }
  const spaced = await mallory.call('PATCH', path, { platform: { ...platform, refreshToken: 'SuperSecret Token' } });
  expect(spaced).toMatchObject({ status: 422, body: { errors: [{ path: '/platform/refreshToken' }] } });
  expect(JSON.stringify(spaced)).not.toContain('SuperSecret');
  // Where private ones are allowed, the credentials of a cloud still are not.
  for (const url of ['http://169.254.169.254/latest', 'http://[fe80::1]/x', 'rtmp://169.254.169.254/app/x']) {
    const moved = await mallory.call('PATCH', path, { platform: { kind: 'watch', url } });
    expect(moved, url).toMatchObject({ status: 422, body: { code: 'destination_forbidden' } });
  }
  expect((await mallory.call('DELETE', path)).status).toBe(204);
});
