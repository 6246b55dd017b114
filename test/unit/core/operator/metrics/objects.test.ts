/** Tests the metrics about our share of Kubernetes' database. */
import { expect, test } from 'vitest';
import type { KubeObject, Stored } from '../../../../../src/core/kube/types.ts';
import { countObjects } from '../../../../../src/core/operator/metrics/objects.ts';

const object = (account: string | undefined, name: string, padding = 0): Stored<KubeObject> =>
  ({
    kind: 'Playlist',
    metadata: { name, namespace: 'tv', ...(account && { labels: { 'loopstream.dev/account': account } }) },
    spec: { items: [], displayName: 'x'.repeat(padding) },
  }) as unknown as Stored<KubeObject>;

test('objects, their bytes with the versions, and the most of one account are reported, and no account is named', () => {
  const lists = {
    playlists: [object('ada', 'a'), object('ada', 'b', 10_000), object('bob', 'c'), object(undefined, 'd')],
  };
  const text = countObjects({ ...lists, streams: [] });
  const value = (name: string) =>
    Number(new RegExp(`^${name}{namespace="tv",kind="playlists"} (\\d+)$`, 'm').exec(text)?.[1]);
  expect(value('loopstream_objects')).toBe(4);
  expect(value('loopstream_objects_largest_account')).toBe(2);
  // The stored version has the same items once more.
  expect(value('loopstream_object_bytes')).toBeGreaterThan(20_000);
  expect(text).not.toMatch(/ada|bob/);
});
