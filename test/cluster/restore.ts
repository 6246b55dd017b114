/**
 * Tests the drill of docs/backup.md on a real cluster: every object is lost while streams are on air, and made again with another UID.
 * The streams are on air again by themselves, no file is sent again, and versions and ledger are as before.
 */
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/core/kube/types.ts';
import { FINALIZER, MANAGED_BY, MANAGED_BY_LABEL } from '../../src/core/resources/common/names.ts';
import { BYTES, buildChecksum, encodeMetadata, parseUploadId, tusWire } from '../kit/make/tus-wire.ts';
import { NAMESPACE } from '../kit/real/cluster/release.ts';
import { PATIENCE_MS, type Scene, seconds, waitUntilReady } from '../kit/real/cluster/scene.ts';
import type { WatchedStream } from '../kit/real/cluster/stream.ts';
import { until } from '../kit/wait.ts';

/** An owner comes before what it owns. */
const KINDS = ['destinations', 'secrets', 'uploads', 'playlists', 'scenes', 'controllerrevisions', 'loopstreams'];
const LEFT_OUT = ['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields', 'deletionTimestamp'];

/** Ten credits a second: a second of the usual price is less than one. */
const PRICES = ['720p', '1080p', '1440p', '2160p'].flatMap((quality) =>
  [24, 25, 30, 60].map((framerate) => ({ quality, framerate, creditsPerHour: 36_000 })),
);

type Saved = KubeObject & { kind: string; status?: object };
interface Way {
  hasStatus?: boolean;
  hasOwners?: boolean;
}

/** `make test` restores a cluster in one way, `make test-all` in each. */
const GATE = ['gate'];

interface LedgerEntry {
  id: string;
  kind: string;
  credits: string;
}

/** The Secrets of streams are made again, and the release has Secrets of its own. */
const isSaved = ({ kind, metadata: { name, labels } }: Saved): boolean =>
  kind !== 'Secret' || (labels?.[MANAGED_BY_LABEL] === MANAGED_BY && !name.startsWith('stream-'));

/** Returns the object as a backup tool makes it, or as `kubectl apply` does: it keeps owners, whose UIDs are gone. */
function bare({ status: _, ...object }: Saved, { hasOwners = false }: Way): object {
  const left = hasOwners ? LEFT_OUT : [...LEFT_OUT, 'ownerReferences', 'finalizers'];
  const metadata = Object.entries(object.metadata).filter(([name]) => !left.includes(name));
  return { ...object, metadata: Object.fromEntries(metadata) };
}

export function restoreTests(getContext: () => { scene: Scene; stream: WatchedStream }): void {
  describe('a cluster that is lost with streams on air, and restored', () => {
    let [uploadID, playlistID, streamID] = ['', '', ''];

    const readLedger = async () =>
      (await getContext().scene.release.call<{ data: LedgerEntry[] }>('GET', '/billing/ledger?limit=100')).body.data;
    const waitUntilLive = async (id: string) => {
      const { inside } = getContext().scene.release;
      await inside('wait', `loopstream/${id}`, '--for=jsonpath={.status.phase}=live', '--timeout=150s');
    };
    const readSaved = async (): Promise<Saved[]> => {
      const { inside } = getContext().scene.release;
      return JSON.parse(await inside('get', KINDS.join(','), '-o', 'json')).items.filter(isSaved);
    };
    const scale = async (replicas: Record<string, number>) => {
      const { service } = getContext().scene.release;
      for (const [role, count] of Object.entries(replicas))
        await service('scale', `deployment/loopstream-${role}`, `--replicas=${count}`);
      for (const [role, count] of Object.entries(replicas)) {
        const pods = `app.kubernetes.io/component=${role}`;
        if (count > 0) await service('rollout', 'status', `deployment/loopstream-${role}`, '--timeout=200s');
        else await service('wait', 'pods', '-l', pods, '--for=delete', '--timeout=120s');
      }
    };
    const goOnAir = async () => {
      await getContext().scene.release.call('POST', `/streams/${streamID}/start?wait=60`);
      await waitUntilLive(streamID);
    };
    /** Time on air is charged once its session has ended. */
    const stopAndCharge = async () => {
      const { length } = await readLedger();
      await getContext().scene.release.call('POST', `/streams/${streamID}/stop?wait=60`);
      await until('time on air is charged', async () => (await readLedger()).length > length, PATIENCE_MS);
    };
    /** Nobody takes a stream off air before, and no finalizer holds anything. */
    async function loseAll(saved: readonly Saved[]): Promise<void> {
      const { inside } = getContext().scene.release;
      const held = [...saved, ...(JSON.parse(await inside('get', 'pods', '-o', 'json')).items as Saved[])];
      for (const { kind, metadata } of held)
        if (metadata.finalizers?.length)
          await inside('patch', `${kind}/${metadata.name}`, '--type=merge', '-p', '{"metadata":{"finalizers":[]}}');
      const names = saved.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
      await inside('delete', ...names, '--ignore-not-found', '--timeout=60s');
      await inside('delete', 'jobs', '--all', '--timeout=60s');
      await inside('delete', 'pods', '--all', '--grace-period=0', '--force', '--timeout=60s');
    }
    async function restore(saved: readonly Saved[], way: Way): Promise<void> {
      const { kubectl, inside } = getContext().scene.release;
      await kubectl(
        ['-n', NAMESPACE, 'apply', '-f', '-'],
        saved.map((object) => bare(object, way)),
      );
      if (!way.hasStatus) return;
      for (const { kind, metadata, status } of saved)
        if (status)
          await inside(
            ...['patch', `${kind}/${metadata.name}`, '--subresource=status', '--type=merge', '-p'],
            JSON.stringify({ status }),
          );
    }

    test('has a file that was sent, a playlist of three versions, and charges', {
      tags: GATE,
      timeout: 2 * PATIENCE_MS,
    }, async () => {
      const { scene, stream } = getContext();
      const { release, cluster, outside } = scene;
      const { call, service, helms, values } = release;
      const admin = ['exec', 'deployment/loopstream-api', '--', 'node', '/app/dist/app/main.js', 'admin'];
      await service(...admin, 'grant', 'sre@example.org', '--credits', '1000000', '--reason', 'the drill');
      const tag = (await stream.pod()).spec.containers[0]?.image.split(':').at(-1) ?? '';
      await helms.four.upgrade({ ...values(tag), billing: { enabled: true, replicas: 1, prices: PRICES } });

      const film = await fetch(`http://${cluster.layout.gateway}:${outside.ports.films}/film.mp4`);
      const bytes = Buffer.from(await film.arrayBuffer());
      const sent = await tusWire(`http://${release.address}`, { key: release.apiKey }).send(
        'POST',
        '',
        {
          'Upload-Metadata': encodeMetadata({ type: 'VIDEO', filename: 'film.mp4' }),
          'Upload-Length': String(bytes.length),
          ...BYTES,
          ...buildChecksum(bytes),
        },
        bytes,
      );
      expect(sent.status).toBe(201);
      uploadID = parseUploadId(sent);
      const items = [{ uploadObjectID: uploadID }];
      const playlist = { name: 'Evening', kind: 'video', mode: 'sequential', items };
      playlistID = (await call<{ id: string }>('POST', '/playlists', playlist)).body.id;
      for (const version of [1, 2]) {
        const edited = await call('PATCH', `/playlists/${playlistID}`, { version, name: `Evening ${version}` });
        expect(edited.status, JSON.stringify(edited.body)).toBe(200);
      }
      expect((await call('POST', `/playlists/${playlistID}/publish`, { version: 3 })).status).toBe(200);
      const target = { name: 'the receiver', rtmpUrl: release.urls.receiver, rtmpKey: 'restored' };
      const { body } = await call<{ id: string }>('POST', '/destinations', target);
      const wish = { name: 'drill', quality: 'q_720p', framerate: 'f_30', destinationID: body.id };
      const made = await call<{ id: string }>('POST', '/streams', { ...wish, playlistIDs: [playlistID] });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      streamID = made.body.id;
      await waitUntilReady(scene, streamID);
      await goOnAir();
      await stopAndCharge();
      await goOnAir();
    });

    const testRestore = (how: string, version: number, way: Way, tags: string[] = []) =>
      test(`is on air again ${how}`, { tags, timeout: 3 * PATIENCE_MS }, async () => {
        const { scene, stream } = getContext();
        const { call, inside, service } = scene.release;
        const before = { pod: await stream.pod(), ledger: await readLedger() };
        const saved = await readSaved();
        await scale({ api: 0, operator: 0, billing: 0 });
        await loseAll(saved);
        await restore(saved, way);
        const from = performance.now();
        await scale({ operator: 2, api: 2, billing: 1 });

        for (const id of [stream.id, streamID]) await waitUntilLive(id);
        scene.results.add(
          `a cluster restored ${how}, until its streams are live`,
          seconds(performance.now() - from),
          '',
        );
        expect((await stream.pod()).metadata.uid).not.toBe(before.pod.metadata.uid);
        const restored = JSON.parse(await inside('get', `upload/${uploadID}`, '-o', 'json')) as Saved;
        const lost = saved.find(({ kind, metadata }) => kind === 'Upload' && metadata.name === uploadID);
        expect(restored.metadata.uid).not.toBe(lost?.metadata.uid);
        expect(restored.metadata.finalizers).toEqual([expect.stringContaining('loopstream.dev/')]);
        const { metadata } = JSON.parse(await inside('get', `loopstream/${streamID}`, '-o', 'json')) as Saved;
        expect(metadata.finalizers).toContain(FINALIZER);

        // Three versions and one more after each restore: no number is given twice, and none is lost.
        const read = await call<{ version: number; publishedVersion: number }>('GET', `/playlists/${playlistID}`);
        expect(read.body).toMatchObject({ version, publishedVersion: 3 });
        const versions = await call<{ data: { version: number }[] }>('GET', `/playlists/${playlistID}/versions`);
        expect(versions.body.data.map((one) => one.version)).toContain(3);
        const edited = await call<{ version: number }>('PATCH', `/playlists/${playlistID}`, { version, name: how });
        expect(edited.body.version).toBe(version + 1);

        const after = await readLedger();
        expect(after.slice(after.length - before.ledger.length)).toEqual(before.ledger);
        await stopAndCharge();
        const admin = ['exec', 'deployment/loopstream-api', '--', 'node', '/app/dist/app/main.js', 'admin'];
        expect(await service(...admin, 'reconcile')).toBeTruthy();
        await goOnAir();
      });
    testRestore('without status', 3, {}, GATE);
    testRestore('with its status', 4, { hasStatus: true });
    testRestore('by kubectl apply, with owners that are gone', 5, { hasOwners: true });

    test('has its source: the upload is prepared in another quality', {
      tags: GATE,
      timeout: 2 * PATIENCE_MS,
    }, async () => {
      const { scene } = getContext();
      const { call } = scene.release;
      await call('POST', `/streams/${streamID}/stop?wait=60`);
      const changed = await call('PATCH', `/streams/${streamID}`, { quality: 'q_1080p' });
      expect(changed.status, JSON.stringify(changed.body)).toBe(200);
      await waitUntilReady(scene, streamID);
      await goOnAir();
      await call('POST', `/streams/${streamID}/stop?wait=60`);
    });
  });
}
