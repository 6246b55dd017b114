/**
 * Lists every POST that takes an Idempotency-Key, with a request and a count of its effects. A new POST is added to `buildPosts`, by its
 * operationId.
 */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Resource } from '../../../src/core/kube/types.ts';
import { ACCOUNT_LABEL } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { SCENES } from '../../../src/core/resources/scene/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { Phase } from '../../../src/core/resources/stream/spec.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import type { WebhookSink } from '../../kit/fake/webhook-sink.ts';
import { beginScanning } from '../../kit/make/crypto-settings.ts';
import { buildPlatformStatus } from '../../kit/make/platform-status.ts';
import { inMinutes, type Streams } from '../../kit/make/streams.ts';
import { query } from '../../kit/real/postgres.ts';
import { createEtcdReader } from '../../kit/real/restarts.ts';
import type { Client, TestApi } from '../../kit/system/api.ts';

export interface Post {
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** The effect is in the database alone, so that Kubernetes cannot delay the answer. */
  isQuick?: true;
  /** The number of effects so far; earlier ones count too. */
  effects(): Promise<number>;
  /** Returns whether a server knows all objects of the request. */
  isKnown(to: Client['call']): Promise<boolean>;
}

const CODE = '12345678';
const link = { type: 'VIDEO', url: 'https://example.com/once.mp4' };
const destination = { name: 'Once', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: 'abcd-efgh-1234' };

/** `streams` belong to `owner`; nothing else makes objects in that account. `sink` receives webhooks. */
export function buildPosts(
  api: TestApi,
  owner: Client,
  streams: Streams,
  sink: WebhookSink,
): Record<string, () => Promise<Post>> {
  const { wish, destinationID, videoUploadObjectID } = streams;
  const countWrites = createEtcdReader(api.kubernetes);
  /** Counts every write of the object, including its creation. */
  const writes =
    ({ plural }: Resource, name: string) =>
    () =>
      countWrites(`/registry/loopstream.dev/${plural}/${NAMESPACE}/${name}`);
  const labelSelector = `${ACCOUNT_LABEL}=${owner.accountId}`;
  const creation = async (post: Pick<Post, 'path' | 'body' | 'headers'>, resource: Resource): Promise<Post> => ({
    ...post,
    effects: async () => (await api.kube.list(resource, { namespace: NAMESPACE, labelSelector })).length,
    isKnown: async (to) => {
      const paths = [`/v1/destinations/${destinationID}`, `/v1/uploads/${videoUploadObjectID}`];
      const answers = await Promise.all(paths.map((path) => to('GET', path)));
      return answers.every(({ status }) => status === 200);
    },
  });
  const create = async (path: string, body: unknown): Promise<string> => {
    const answer = await owner.call('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return String(answer.body.id);
  };

  const aStream = async (phase: Phase, more: Record<string, unknown> = {}) => {
    const id = await create('/v1/streams', wish(more));
    await api.observe(id, { phase });
    return {
      id,
      effects: writes(LOOPSTREAMS, id),
      isKnown: async (to: Client['call']) => {
        const { body } = await to('GET', `/v1/streams/${id}`);
        return body.status === phase && body.ready === true;
      },
    };
  };
  const items = [{ uploadObjectID: videoUploadObjectID }];
  const playlist = { kind: 'video', mode: 'sequential', items };
  /** Makes a playlist at version 2, without a published version. */
  const aPlaylist = async () => {
    const id = await create('/v1/playlists', playlist);
    expect((await owner.call('PATCH', `/v1/playlists/${id}`, { version: 1, mode: 'shuffle' })).status).toBe(200);
    return {
      id,
      effects: writes(PLAYLISTS, id),
      isKnown: async (to: Client['call']) => (await to('GET', `/v1/playlists/${id}`)).body.version === 2,
    };
  };
  const onStream = async (action: string, phase: Phase, body?: unknown, more?: Record<string, unknown>) => {
    const { id, ...rest } = await aStream(phase, more);
    return { path: `/v1/streams/${id}/${action}`, body, ...rest };
  };
  const onPlaylist = async (action: string, body: unknown) => {
    const { id, ...rest } = await aPlaylist();
    return { path: `/v1/playlists/${id}/${action}`, body, ...rest };
  };
  const graphql = (query: string, variables: Record<string, unknown>) => ({
    path: '/graphql',
    body: { query, variables },
  });

  /** The effects are rows of `text`. */
  const inDatabase = (text: string): Pick<Post, 'isQuick' | 'effects' | 'isKnown'> => ({
    isQuick: true,
    effects: async () => (await query(api.databaseUrl, text)).length,
    isKnown: async () => true,
  });
  const anEndpoint = async (state: 'active' | 'unverified'): Promise<string> => {
    const id = `end-${randomUUID()}`;
    await query(
      api.databaseUrl,
      `insert into loopstream.endpoints (id, account_id, kind, name, target, types, has_all_types, with_billing, state, code)
        values ('${id}', '${owner.accountId}', 'webhook', 'Once', '${sink.url}/${id}', '{stream.live}', false, false, '${state}', '${CODE}')`,
    );
    return id;
  };
  const aFailedDelivery = async () => {
    const id = await anEndpoint('active');
    const deliveryId = `dlv_${randomUUID()}`;
    await query(
      api.databaseUrl,
      `insert into loopstream.deliveries (id, endpoint_id, account_id, message_id, type, message, state)
        values ('${deliveryId}', '${id}', '${owner.accountId}', 'evt_1', 'stream.live', '{}', 'failed')`,
    );
    return {
      id,
      deliveryId,
      ...inDatabase(`select 1 from loopstream.deliveries where id = '${deliveryId}' and state <> 'failed'`),
    };
  };

  const onItsWay = { 'tus-resumable': '1.0.0', 'upload-length': '10', 'upload-metadata': `type ${btoa('VIDEO')}` };

  return {
    createStream: () => creation({ path: '/v1/streams', body: wish() }, LOOPSTREAMS),
    cloneStream: async () => {
      const id = await create('/v1/streams', wish());
      return creation({ path: `/v1/streams/${id}/clone`, body: { name: 'Copy' } }, LOOPSTREAMS);
    },
    startStream: () => onStream('start', 'idle'),
    stopStream: () => onStream('stop', 'scheduled', undefined, { scheduleStartAt: inMinutes(60) }),
    skipStreamItem: () => onStream('skip', 'live'),
    scheduleStream: () => onStream('schedule', 'idle', { scheduleStartAt: inMinutes(60) }),
    createDestination: () => creation({ path: '/v1/destinations', body: destination }, DESTINATIONS),
    testDestination: async () => {
      const id = await create('/v1/destinations', destination);
      const path = `/v1/destinations/${id}`;
      return {
        path: `${path}/test`,
        // The request is one write, and its result another.
        effects: async () => (await writes(DESTINATIONS, id)()) / 2,
        isKnown: async (to) => (await to('GET', path)).status === 200,
      };
    },
    resumeDestinationRepair: async () => {
      const platform = { kind: 'youtube', policy: 'Repair', refreshToken: 'a-token' };
      const id = await create('/v1/destinations', { ...destination, platform });
      const repair = { phase: 'stalled' as const, inserts: [], stalled: 'limit' as const };
      const status = buildPlatformStatus({ status: 'False', reason: 'no_broadcast', repair });
      await api.kube.mergePatch(DESTINATIONS, NAMESPACE, id, { status }, { subresource: 'status' });
      const path = `/v1/destinations/${id}`;
      return {
        path: `${path}/resume-repair`,
        effects: writes(DESTINATIONS, id),
        isKnown: async (to) => JSON.stringify((await to('GET', path)).body).includes('"repairStalled":true'),
      };
    },
    createUploadFromLink: () => creation({ path: '/v1/uploads/from-link', body: link }, UPLOADS),
    // One of the links is refused, and makes nothing.
    createUploadsFromLinks: () =>
      creation({ path: '/v1/uploads/from-links', body: { links: [{ ...link, url: 'no address' }, link] } }, UPLOADS),
    retryUpload: async () => {
      const upload = await owner.call('POST', '/v1/uploads/from-link', link);
      const id = String(upload.body.objectID);
      const error = { code: 'link_unreachable', message: 'The link could not be fetched.' };
      const status = { phase: 'failed', error };
      await api.kube.mergePatch(UPLOADS, NAMESPACE, id, { status }, { subresource: 'status' });
      const path = `/v1/uploads/${id}`;
      return {
        path: `${path}/retry`,
        effects: writes(UPLOADS, id),
        isKnown: async (to) => (await to('GET', path)).body.state === 'failed',
      };
    },
    quarantineUpload: async () => {
      const { body } = await owner.call('POST', '/v1/uploads/from-link', link);
      const id = String(body.objectID);
      const path = `/v1/uploads/${id}`;
      return {
        path: `${path}/quarantine`,
        body: { reason: 'A claim is being checked.' },
        effects: writes(UPLOADS, id),
        isKnown: async (to) => (await to('GET', path)).status === 200,
      };
    },
    createResumableUpload: () => creation({ path: '/v1/uploads/resumable', headers: onItsWay }, UPLOADS),
    createPlaylist: () => creation({ path: '/v1/playlists', body: playlist }, PLAYLISTS),
    createScene: () =>
      creation({ path: '/v1/scenes', body: { name: 'Evening', layers: [{ text: 'On air' }] } }, SCENES),
    changePlaylist: () => onPlaylist('changes', { version: 2, changes: [{ op: 'insert', index: 0, items }] }),
    publishPlaylist: () => onPlaylist('publish', { version: 2 }),
    rollbackPlaylist: () => onPlaylist('rollback', { version: 1 }),
    createTopUp: async () => ({
      path: '/v1/billing/top-ups',
      body: { amountMinor: '2500', currency: 'USD' },
      isQuick: true,
      effects: async () => {
        const text = `select 1 from loopstream.topups where account_id = '${owner.accountId}'`;
        return (await query(api.databaseUrl, text)).length;
      },
      isKnown: async () => true,
    }),
    createCryptoDeposit: async () => {
      await beginScanning(api.databaseUrl);
      return {
        path: '/v1/crypto/deposits',
        body: { asset: 'ETH', network: 'ethereum' },
        isQuick: true,
        effects: async () => {
          const text = `select 1 from loopstream.crypto_deposits where account_id = '${owner.accountId}'`;
          return (await query(api.databaseUrl, text)).length;
        },
        isKnown: async () => true,
      };
    },
    createEndpoint: async () => ({
      path: '/v1/endpoints',
      body: { kind: 'webhook', url: sink.url },
      ...inDatabase(`select 1 from loopstream.endpoints where account_id = '${owner.accountId}'`),
    }),
    verifyEndpoint: async () => {
      const id = await anEndpoint('unverified');
      return {
        path: `/v1/endpoints/${id}/verify`,
        body: { code: CODE },
        ...inDatabase(`select 1 from loopstream.endpoints where id = '${id}' and state = 'active'`),
      };
    },
    testEndpoint: async () => {
      const id = await anEndpoint('active');
      return {
        path: `/v1/endpoints/${id}/test`,
        isQuick: true,
        effects: async () => sink.received.filter(({ path }) => path === `/${id}`).length,
        isKnown: async () => true,
      };
    },
    rotateEndpointSecret: async () => {
      const id = await anEndpoint('active');
      const text = `select generate_series(1, secret_version) from loopstream.endpoints where id = '${id}'`;
      return { path: `/v1/endpoints/${id}/rotate-secret`, ...inDatabase(text) };
    },
    recoverEndpoint: async () => {
      const { id, ...rest } = await aFailedDelivery();
      return { path: `/v1/endpoints/${id}/recover`, body: { since: '2026-01-01T00:00:00Z' }, ...rest };
    },
    replayDelivery: async () => {
      const { id, deliveryId, ...rest } = await aFailedDelivery();
      return { path: `/v1/endpoints/${id}/deliveries/${deliveryId}/replay`, ...rest };
    },
    'mutation createDestination': () => {
      const query =
        'mutation($input: DestinationCreateInput!) { createDestination(input: $input) { destination { id } } }';
      return creation(graphql(query, { input: destination }), DESTINATIONS);
    },
    'mutation skipStreamItem': async () => {
      const { id, ...rest } = await aStream('live');
      return { ...graphql('mutation($id: ID!) { skipStreamItem(id: $id) { done stream { id } } }', { id }), ...rest };
    },
    'mutation publishPlaylist, and another one': async () => {
      const { id, ...rest } = await aPlaylist();
      const query = `mutation($id: ID!) { publishPlaylist(id: $id, version: 2) { playlist { publishedVersion } }
        rollbackPlaylist(id: $id, version: 1) { playlist { version } } }`;
      // The request has two effects, of one write each.
      return { ...graphql(query, { id }), ...rest, effects: async () => (await rest.effects()) / 2 };
    },
  };
}
