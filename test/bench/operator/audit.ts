/** Counts the operator's writes in kube-apiserver's audit log. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Audit {
  /** Arguments of kube-apiserver. */
  args: string[];
  /** Returns writes since the last call by kind (`create pods`, `patch loopstreams/status`), without leases. */
  takeWrites(): Map<string, number>;
}

const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];

interface Line {
  verb: string;
  user: { username: string };
  objectRef?: { resource?: string; subresource?: string };
}

/** Counts the writes of one account. Those of the bench, and of peers with its rights, are audited too: all bear the cost of that. */
export function createAudit(dir: string, user: string): Audit {
  const policy = join(dir, 'audit-policy.json');
  const log = join(dir, 'audit.log');
  writeFileSync(log, '');
  writeFileSync(
    policy,
    JSON.stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      rules: [
        // A leader renews its lease every few seconds; that is not a write for a stream.
        { level: 'None', resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }] },
        { level: 'Metadata', users: [user], verbs: WRITES },
        { level: 'Metadata', userGroups: ['system:masters'], verbs: WRITES },
        { level: 'None' },
      ],
    }),
  );
  let read = 0;
  return {
    args: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-maxsize=4096'],
    takeWrites() {
      const text = readFileSync(log, 'utf8');
      // A partial line is complete at the next call.
      const end = text.lastIndexOf('\n') + 1;
      const writes = new Map<string, number>();
      for (const line of text.slice(read, end).split('\n')) {
        if (line === '') continue;
        const { verb, objectRef, user: by } = JSON.parse(line) as Line;
        if (by.username !== user) continue;
        const what = `${verb} ${[objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/')}`;
        writes.set(what, (writes.get(what) ?? 0) + 1);
      }
      read = end;
      return writes;
    },
  };
}

export const sum = (writes: ReadonlyMap<string, number>): number => [...writes.values()].reduce((a, b) => a + b, 0);

/** Returns `create pods 1, patch loopstreams/status 2`, each divided by `streams`. */
export const perStream = (writes: ReadonlyMap<string, number>, streams: number): string =>
  [...writes]
    .sort(([, a], [, b]) => b - a)
    .map(([what, n]) => `${what} ${Number((n / streams).toFixed(2))}`)
    .join(', ');
