/** What the release's service accounts asked of kube-apiserver, by its audit log. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Line {
  verb: string;
  user: { username: string };
  objectRef?: { resource?: string; subresource?: string; apiGroup?: string; name?: string };
  responseStatus?: { code?: number; message?: string };
}

export function clusterAudit(dir: string) {
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
      rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts:loopstream'] }, { level: 'None' }],
    }),
  );
  return {
    args: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
    /** `verb resource/subresource.group` of what was asked and allowed, and what was not. */
    of(username: string) {
      const used = new Set<string>();
      const refused = new Set<string>();
      for (const text of readFileSync(log, 'utf8').split('\n')) {
        // The last line may be half written.
        if (!text.endsWith('}')) continue;
        const { verb, user, objectRef, responseStatus } = JSON.parse(text) as Line;
        if (user.username !== username || !objectRef?.resource) continue;
        const resource = [objectRef.resource, objectRef.subresource].filter(Boolean).join('/');
        const what = `${verb} ${[resource, objectRef.apiGroup].filter(Boolean).join('.')}`;
        (responseStatus?.code === 403 && !/exceeded quota/.test(responseStatus.message ?? '') ? refused : used).add(
          what,
        );
      }
      return { used, refused: [...refused] };
    },
  };
}
