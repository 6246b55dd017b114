/** Reads kube-apiserver's audit log: the requests of a namespace's service accounts. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Line {
  verb: string;
  user: { username: string };
  objectRef?: { resource?: string; subresource?: string; apiGroup?: string };
  annotations?: Record<string, string>;
}

/** Returns a right in words: `verb resource/subresource.group`. */
export const formatRight = (verb: string, resource: string, group = ''): string =>
  `${verb} ${[resource, group].filter(Boolean).join('.')}`;

export interface Asked {
  /** Rights that the authorizer allowed, whatever admission (a quota, Pod Security) decided afterwards. */
  used: Set<string>;
  refused: Set<string>;
}

export function clusterAudit(dir: string, namespace: string) {
  mkdirSync(dir, { recursive: true });
  const policy = join(dir, 'policy.json');
  const log = join(dir, 'audit.log');
  writeFileSync(log, '');
  writeFileSync(
    policy,
    JSON.stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      rules: [{ level: 'Metadata', userGroups: [`system:serviceaccounts:${namespace}`] }, { level: 'None' }],
    }),
  );
  const prefix = `system:serviceaccount:${namespace}:`;
  return {
    /** Arguments of kube-apiserver. The file must not be rotated while it is read. */
    args: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-maxsize=4096'],
    /** Requests so far by the service account's name. An account without a request for a resource is absent. */
    asked(): Map<string, Asked> {
      const all = new Map<string, Asked>();
      for (const text of readFileSync(log, 'utf8').split('\n')) {
        // The last line may be half written.
        if (!text.endsWith('}')) continue;
        const { verb, user, objectRef, annotations } = JSON.parse(text) as Line;
        if (!user.username.startsWith(prefix) || !objectRef?.resource) continue;
        const account = user.username.slice(prefix.length);
        const rights = all.get(account) ?? { used: new Set(), refused: new Set() };
        all.set(account, rights);
        const resource = [objectRef.resource, objectRef.subresource].filter(Boolean).join('/');
        const allowed = annotations?.['authorization.k8s.io/decision'] === 'allow';
        (allowed ? rights.used : rights.refused).add(formatRight(verb, resource, objectRef.apiGroup));
      }
      return all;
    },
  };
}
