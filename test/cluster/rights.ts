/** Tests the rights of the release's service accounts against their requests during all earlier tests. */
import { describe, expect, test } from 'vitest';
import { API_VERSION, importJobName } from '../../src/core/resources/common/names.ts';
import { HISTORY_LIMIT } from '../../src/core/resources/playlist/version-bytes.ts';
import { type Asked, formatRight } from '../kit/real/cluster/audit.ts';
import { NAMESPACE, type Release, SERVICE } from '../kit/real/cluster/release.ts';
import { createStream, PATIENCE_MS, type Scene, waitUntilReady } from '../kit/real/cluster/scene.ts';
import type { WatchedStream } from '../kit/real/cluster/stream.ts';
import { until } from '../kit/wait.ts';

interface Rule {
  apiGroups?: string[];
  resources?: string[];
  verbs: string[];
}
interface Role {
  kind: string;
  metadata: { name: string };
  rules?: Rule[];
}
interface Binding {
  subjects?: { kind: string; name: string; namespace?: string }[];
  roleRef: { kind: string; name: string };
}

/** No request needs these rights, except an admission plug-in of this cluster (OwnerReferencesPermissionEnforcement). */
const ASKED_BY_ADMISSION: Record<string, string[]> = {
  operator: ['update loopstreams/finalizers.loopstream.dev', 'update uploads/finalizers.loopstream.dev'],
  api: [],
};
/** No request needs these rights, except for objects that an older release made. */
const ASKED_BY_UPGRADES: Record<string, string[]> = { operator: ['patch controllerrevisions.apps'], api: [] };
/** Some requests reach the log late, or happen again after a while. */
const SHOWN_MS = 60_000;

const listRights = (rules: Rule[]): string[] =>
  rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => formatRight(verb, resource, group))),
    ),
  );

/** Returns all rights of the roles that are bound to a service account by its name. */
async function grantedTo(account: string, { inside }: Release): Promise<Set<string>> {
  const list = async <T>(kinds: string) =>
    (JSON.parse(await inside('get', kinds, '-o', 'json')) as { items: T[] }).items;
  const bindings = await list<Binding>('rolebindings,clusterrolebindings');
  const mine = bindings.filter(({ subjects = [] }) =>
    subjects.some(({ kind, name, namespace }) =>
      [kind, name, namespace].every((value, i) => value === ['ServiceAccount', account, SERVICE][i]),
    ),
  );
  const roles = await list<Role>('roles,clusterroles');
  return new Set(
    mine.flatMap(({ roleRef }) =>
      listRights(
        roles.find(({ kind, metadata }) => kind === roleRef.kind && metadata.name === roleRef.name)?.rules ?? [],
      ),
    ),
  );
}

/** Reads, changes and deletes each noun of the API once: the earlier tests did not need all of it. */
async function useTheApi(scene: Scene, ok: Ok, uploadID: string): Promise<void> {
  const { inside } = scene.release;
  const id = await createStream(scene, 'last-key-of-the-cluster', uploadID);
  const { destinationID } = await ok<{ destinationID: string }>('GET', `/streams/${id}`);
  await ok('PATCH', `/destinations/${destinationID}`, { name: 'renamed', rtmpKey: 'newer-key-of-the-cluster' });
  await ok('PATCH', `/streams/${id}`, { name: 'renamed' });
  await ok('GET', `/streams/${id}/events`);
  const items = [{ uploadObjectID: uploadID }];
  const playlist = await ok<{ id: string }>('POST', '/playlists', { kind: 'video', mode: 'sequential', items });
  // So many versions that the oldest one is deleted.
  for (let version = 1; version <= HISTORY_LIMIT + 1; version += 1)
    await ok('PATCH', `/playlists/${playlist.id}`, { version, name: `version ${version + 1}` });
  await ok('GET', `/playlists/${playlist.id}/versions`);
  await ok('GET', `/playlists/${playlist.id}/versions/${HISTORY_LIMIT}`);
  await ok('DELETE', `/playlists/${playlist.id}`);
  const overlay = await ok<{ id: string }>('POST', '/scenes', { name: 'Evening', layers: [{ text: 'On air' }] });
  await ok('PATCH', `/scenes/${overlay.id}`, { version: 1, name: 'renamed' });
  await ok('DELETE', `/scenes/${overlay.id}`);
  await changeByKubectl(scene, ok, items);
  // One byte of media, which is complete with the creation of its upload.
  const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '1', 'Upload-Metadata': `type ${btoa('AUDIO')}` };
  await ok('POST', '/uploads/resumable', 1, { ...headers, 'Content-Type': 'application/offset+octet-stream' });
  const { data } = await ok<{ data: { objectID: string }[] }>('GET', '/uploads?limit=1');
  await ok('DELETE', `/uploads/${data[0]?.objectID}`);
  await ok('DELETE', `/streams/${id}`);
  await inside('wait', `loopstream/${id}`, '--for=delete', '--timeout=120s');
  await ok('DELETE', `/destinations/${destinationID}`);
}

/** Edits and deletes by kubectl what the API server made: the operator records the version, and deletes what belongs to the objects. */
async function changeByKubectl({ release: { inside } }: Scene, ok: Ok, items: object[]): Promise<void> {
  const playlist = await ok<{ id: string }>('POST', '/playlists', { kind: 'video', mode: 'sequential', items });
  await inside('patch', 'playlist', playlist.id, '--type=merge', '-p', '{"spec":{"displayName":"by kubectl"}}');
  await inside('wait', `playlist/${playlist.id}`, '--for=jsonpath={.status.version}=2', '--timeout=60s');
  const rtmp = { name: 'by kubectl', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'a-key-of-the-cluster' };
  const destination = await ok<{ id: string }>('POST', '/destinations', rtmp);
  // It returns when both are gone.
  await inside('delete', `playlist/${playlist.id}`, `destination/${destination.id}`, '--timeout=120s');
}

/** Makes a link that leads nowhere, and an edit that retries it with another Job. */
async function editWhatFailed({ inside, urls }: Release, ok: Ok): Promise<void> {
  const link = { type: 'VIDEO', url: `${urls.film}.gone` };
  const { objectID } = await ok<{ objectID: string }>('POST', '/uploads/from-link', link);
  await inside('wait', `upload/${objectID}`, '--for=jsonpath={.status.phase}=failed', '--timeout=120s');
  await inside('patch', 'upload', objectID, '--type=merge', '-p', '{"spec":{"displayName":"again"}}');
  // The failed Job is deleted before the status says so.
  await inside('wait', `upload/${objectID}`, '--for=jsonpath={.status.observedGeneration}=2', '--timeout=120s');
  await ok('DELETE', `/uploads/${objectID}`);
}

/** Puts a foreign Job in the way: the operator checks its owner, and reports the same again after an edit. */
async function standInTheWay({ inside, kubectl, urls }: Release): Promise<void> {
  const name = 'in-the-way';
  const containers = [{ name: 'main', image: 'never-started' }];
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: importJobName(name), namespace: NAMESPACE },
    spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers } } },
  };
  const upload = {
    apiVersion: API_VERSION,
    kind: 'Upload',
    metadata: { name, namespace: NAMESPACE },
    spec: { track: 'video', source: { url: urls.film } },
  };
  const waitForEvent = (times: number) =>
    until(
      `it was said ${times} times`,
      async () => {
        const events = await inside('get', 'events', `--field-selector=involvedObject.name=${name}`, '-o', 'json');
        const { items } = JSON.parse(events) as { items: { reason: string; count?: number }[] };
        return items.some(({ reason, count = 1 }) => reason === 'JobRefused' && count >= times);
      },
      PATIENCE_MS,
    );
  await kubectl(['apply', '-f', '-'], [job]);
  await kubectl(['apply', '-f', '-'], [upload]);
  await waitForEvent(1);
  await inside('patch', 'upload', name, '--type=merge', '-p', '{"spec":{"displayName":"still in the way"}}');
  await waitForEvent(2);
  await inside('delete', `upload/${name}`, `job/${importJobName(name)}`);
}

interface PreparePod {
  status: { initContainerStatuses?: { name: string; resources?: { requests?: { cpu?: string } } }[] };
}

/** Starts a stream whose media is prepared in the background: kubelet gives the pod more of the processors while it runs. */
async function startWhilePrepared({ inside }: Release, stream: string, upload: string): Promise<void> {
  const selector = `loopstream.dev/upload=${upload},loopstream.dev/task=rendition`;
  const readCpus = async () => {
    const { items } = JSON.parse(await inside('get', 'pods', '-l', selector, '-o', 'json')) as { items: PreparePod[] };
    const statuses = items.flatMap(({ status }) => status.initContainerStatuses ?? []);
    return statuses.map(({ resources }) => resources?.requests?.cpu);
  };
  expect(await readCpus()).toEqual(['20m']);
  await inside('scale', `loopstream/${stream}`, '--replicas=1');
  await until('its pod has the share of an awaited one', async () => (await readCpus()).join() === '200m', PATIENCE_MS);
}

/** Prepares a film so long that a pod helps, which gives its place to another preparation and gets it back. */
async function helpWithLongFilm(scene: Scene, ok: Ok, uploadID: string): Promise<void> {
  const { inside, urls } = scene.release;
  const { objectID } = await ok<{ objectID: string }>('POST', '/uploads/from-link', { type: 'VIDEO', url: urls.long });
  const long = await createStream(scene, 'long-film', objectID);
  const readHelpers = async () => {
    const { items } = JSON.parse(await inside('get', 'jobs', '-o', 'json')) as {
      items: { metadata: { name: string }; spec: { completionMode?: string }; status: { active?: number } }[];
    };
    return items.find(({ spec }) => spec.completionMode === 'Indexed');
  };
  await until('a pod helps', async () => ((await readHelpers())?.status.active ?? 0) > 0, PATIENCE_MS);
  const other = await createStream(scene, 'another-profile', uploadID);
  await ok('PATCH', `/streams/${other}`, { quality: 'q_1080p' });
  await startWhilePrepared(scene.release, long, objectID);
  await waitUntilReady(scene, other);
  await waitUntilReady(scene, long);
  for (const id of [other, long]) await ok('DELETE', `/streams/${id}`);
  await ok('DELETE', `/uploads/${objectID}`);
  await until('nobody helps any more', async () => (await readHelpers()) === undefined, PATIENCE_MS);
}

type Ok = <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<T>;

/** Whether a collection was read as a stream here, for which another API server has only pages (Kubernetes before 1.34). */
const isForPages = (right: string, used: ReadonlySet<string>): boolean =>
  right.startsWith('list ') && used.has(right.replace('list ', 'watch '));

/** Registers steps for the tests below, at any time: their requests during other tests count as well. */
export function usageTests(getContext: () => { scene: Scene; stream: WatchedStream; upload: string }): void {
  test('uses rights that no other test needs', async () => {
    const { scene, stream, upload } = getContext();
    const { call } = scene.release;
    const ok: Ok = async <T>(method: string, path: string, ...given: [unknown?, Record<string, string>?]) => {
      const answer = await call<T>(method, path, ...given);
      expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
      return answer.body;
    };
    // The key to the pod's metrics is read once.
    const shown = await ok<{ live: boolean; framesSent: number }>('GET', `/streams/${stream.id}/live-stats`);
    expect(shown).toMatchObject({ live: true, framesSent: expect.any(Number) });
    await Promise.all([useTheApi(scene, ok, upload), editWhatFailed(scene.release, ok), standInTheWay(scene.release)]);
    await helpWithLongFilm(scene, ok, upload);
  });
}

export function rightsTests(getContext: () => { scene: Scene }): void {
  describe('the release uses exactly its rights', () => {
    const readAsked = () => getContext().scene.cluster.audit.asked();
    const none: Asked = { used: new Set(), refused: new Set() };

    test.each(['operator', 'api'])('%s: nothing is missing, and nothing unused', async (component) => {
      const account = `loopstream-${component}`;
      const granted = await grantedTo(account, getContext().scene.release);
      const unspoken = [...(ASKED_BY_ADMISSION[component] ?? []), ...(ASKED_BY_UPGRADES[component] ?? [])];
      const spoken = [...granted].filter((right) => !unspoken.includes(right));
      const unused = () => {
        const { used } = readAsked().get(account) ?? none;
        return spoken.filter((right) => !used.has(right) && !isForPages(right, used));
      };
      await expect.poll(unused, { timeout: SHOWN_MS, interval: 1000 }).toEqual([]);
      const { used, refused } = readAsked().get(account) ?? none;
      expect([...refused], 'refused').toEqual([]);
      expect([...used].filter((right) => !granted.has(right)).sort(), 'allowed by other roles').toEqual([]);
    });

    test('no other account of the namespace sent a request', () => {
      expect([...readAsked().keys()].sort()).toEqual(['loopstream-api', 'loopstream-operator']);
    });
  });
}
