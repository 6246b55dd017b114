/** What the operator wrote, as kube-apiserver counted it: its audit log, with the operator's writes alone. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Audit {
  /** For kube-apiserver's command line. */
  args: string[];
  /** Writes since the last call, by what was done (`create pods`, `patch loopstreams/status`); leases are not among them. */
  takeWrites(): Map<string, number>;
}

interface Line {
  verb: string;
  objectRef?: { resource?: string; subresource?: string };
}

/** `users` are those whose writes count. */
export function createAudit(dir: string, users: readonly string[]): Audit {
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
        // A leader says every few seconds that it is there; that is not a write for a stream.
        { level: 'None', resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }] },
        { level: 'Metadata', users, verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
        { level: 'None' },
      ],
    }),
  );
  let read = 0;
  return {
    args: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-maxsize=4096'],
    takeWrites() {
      const text = readFileSync(log, 'utf8');
      // A line that is being written is whole at the next call.
      const end = text.lastIndexOf('\n') + 1;
      const writes = new Map<string, number>();
      for (const line of text.slice(read, end).split('\n')) {
        if (line === '') continue;
        const { verb, objectRef } = JSON.parse(line) as Line;
        const what = `${verb} ${[objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/')}`;
        writes.set(what, (writes.get(what) ?? 0) + 1);
      }
      read = end;
      return writes;
    },
  };
}

export const sum = (writes: ReadonlyMap<string, number>): number => [...writes.values()].reduce((a, b) => a + b, 0);

/** `create pods 1, patch loopstreams/status 2`, each divided by `streams`. */
export const perStream = (writes: ReadonlyMap<string, number>, streams: number): string =>
  [...writes]
    .sort(([, a], [, b]) => b - a)
    .map(([what, n]) => `${what} ${Number((n / streams).toFixed(2))}`)
    .join(', ');
