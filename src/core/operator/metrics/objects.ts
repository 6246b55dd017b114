/**
 * Counts how much of Kubernetes' database our objects take, and how much of that one account takes. No account is named: there may be many.
 * Pure: no I/O, no clock.
 */

import type { KubeObject, Stored } from '../../kube/types.ts';
import { ACCOUNT_LABEL } from '../../resources/common/names.ts';
import { recordBytes } from '../../resources/record-bytes.ts';

type Objects = Readonly<Record<string, readonly Stored<KubeObject>[]>>;

const LABELS = ['namespace', 'kind'];
export const OBJECT_COUNT_METRICS = [
  { name: 'loopstream_objects', type: 'gauge', help: 'Objects of loopstream, by kind.', labels: LABELS },
  {
    name: 'loopstream_object_bytes',
    type: 'gauge',
    help: 'Bytes of these objects in etcd, including versions of playlists and Secrets of destinations.',
    labels: LABELS,
  },
  {
    name: 'loopstream_objects_largest_account',
    type: 'gauge',
    help: 'Objects of the account that has the most of a kind.',
    labels: LABELS,
  },
] as const;

interface Sums {
  count: number;
  bytes: number;
  byAccount: Map<string, number>;
}

function sumByNamespace(objects: readonly Stored<KubeObject>[]): Map<string, Sums> {
  const sums = new Map<string, Sums>();
  for (const object of objects) {
    const { namespace = '', labels } = object.metadata;
    const found = sums.get(namespace) ?? { count: 0, bytes: 0, byAccount: new Map() };
    sums.set(namespace, found);
    found.count += 1;
    found.bytes += recordBytes(object);
    const account = labels?.[ACCOUNT_LABEL];
    if (account !== undefined) found.byAccount.set(account, (found.byAccount.get(account) ?? 0) + 1);
  }
  return sums;
}

/** In Prometheus' text format (version 0.0.4). `objects`: by the plural of their kind. */
export function countObjects(objects: Objects): string {
  const all = Object.entries(objects).flatMap(([kind, list]) =>
    [...sumByNamespace(list)].map(([namespace, sums]) => ({
      labels: `{namespace="${namespace}",kind="${kind}"}`,
      ...sums,
    })),
  );
  const values = [
    ({ count }: Sums) => count,
    ({ bytes }: Sums) => bytes,
    ({ byAccount }: Sums) => [...byAccount.values()].reduce((most, count) => Math.max(most, count), 0),
  ];
  return OBJECT_COUNT_METRICS.map(({ name, type, help }, i) => {
    const lines = all.map((sums) => `${name}${sums.labels} ${values[i]?.(sums) ?? 0}\n`);
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
  }).join('');
}
