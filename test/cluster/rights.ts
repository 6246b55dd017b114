/** The verbs that the service accounts of the release used while all the tests before ran, beside the verbs that they have. */
import { expect, test } from 'vitest';
import { createStream, PATIENCE_MS, type Scene } from '../support/cluster/scene.ts';
import { until } from '../support/rtmp.ts';

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

const rights = (rules: Rule[]) =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${[resource, group].filter(Boolean).join('.')}`)),
    ),
  );

/** What only a race brings about, or no request at all asks for. */
const UNSEEN: Record<string, string[]> = {
  operator: [
    // The Job is there already: another operator made it a moment ago.
    'get jobs.batch',
    // An admission plug-in asks whether they are granted (OwnerReferencesPermissionEnforcement).
    'update loopstreams/finalizers.loopstream.dev',
    'update uploads/finalizers.loopstream.dev',
  ],
  api: [],
};

/** What the tests before had no use for: each noun is changed, read and deleted once. */
async function useTheRest(scene: Scene, uploadID: string): Promise<void> {
  const { call, inside } = scene.release;
  const ok = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await call<T>(method, path, body);
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };
  const id = await createStream(scene, 'last-key-of-the-cluster', uploadID);
  const { destinationID } = await ok<{ destinationID: string }>('GET', `/streams/${id}`);
  await ok('PATCH', `/destinations/${destinationID}`, { name: 'renamed', rtmpKey: 'newer-key-of-the-cluster' });
  await ok('PATCH', `/streams/${id}`, { name: 'renamed' });
  await ok('GET', `/streams/${id}/events`);
  const { id: playlist } = await ok<{ id: string }>('POST', '/playlists', {
    kind: 'video',
    mode: 'sequential',
    items: [{ uploadObjectID: uploadID }],
  });
  await ok('DELETE', `/playlists/${playlist}`);
  await ok('DELETE', `/streams/${id}`);
  await until('the stream is gone', async () => (await call('GET', `/streams/${id}`)).status === 404, PATIENCE_MS);
  await ok('DELETE', `/destinations/${destinationID}`);
  // A link that leads nowhere, and an edit after which it is tried again, by another Job.
  const link = { type: 'VIDEO', url: `${scene.release.urls.film}.gone` };
  const { objectID } = await ok<{ objectID: string }>('POST', '/uploads/from-link', link);
  await inside('wait', `upload/${objectID}`, '--for=jsonpath={.status.state}=failed', '--timeout=60s');
  await inside('patch', 'upload', objectID, '--type=merge', '-p', '{"spec":{"displayName":"again"}}');
  const generation = '--for=jsonpath={.status.observedGeneration}=2';
  await inside('wait', `upload/${objectID}`, generation, '--timeout=60s');
  await ok('DELETE', `/uploads/${objectID}`);
  // An operator that is new counts on with the events that the one before it told.
  await inside('rollout', 'restart', 'deployment/loopstream-operator');
  await inside('rollout', 'status', 'deployment/loopstream-operator', '--timeout=150s');
}

export function rightsTests(of: () => { scene: Scene; upload: string }): void {
  test('what the operator and the API may do is what they did', async () => {
    const { scene, upload } = of();
    const { release, cluster } = scene;
    await useTheRest(scene, upload);
    const list = async (kind: string) =>
      JSON.parse(await release.inside('get', kind, '-o', 'json')).items as {
        metadata: { name: string };
        rules: Rule[];
      }[];
    const all = [...(await list('roles')), ...(await list('clusterroles'))];
    for (const component of ['operator', 'api']) {
      const granted = new Set(
        rights(
          all.filter(({ metadata }) => metadata.name.startsWith(`loopstream-${component}`)).flatMap((r) => r.rules),
        ),
      );
      const { used, refused } = cluster.audit.of(`system:serviceaccount:loopstream:loopstream-${component}`);
      expect(refused, component).toEqual([]);
      const unused = [...granted].filter((right) => !used.has(right) && !UNSEEN[component]?.includes(right));
      expect(unused, `unused by ${component}`).toEqual([]);
      expect([...used].filter((right) => !granted.has(right)).sort(), `beyond the role of ${component}`).toEqual([]);
    }
  });
}
