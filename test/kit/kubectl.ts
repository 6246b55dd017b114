/** Runs kubectl on a test's Kubernetes. */
import { join } from 'node:path';
import { environment } from '../../src/core/settings/environment.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import { run } from './run.ts';

/** A local system, or a control plane of the tests. */
type Cluster = { stateDir: string } & (
  | { facts: { kubeconfig: string } }
  | { kubeconfig: string; binaries: { kubectl: string } }
);

/** Runs kubectl as an administrator, in the namespace `loopstream` unless told. Returns its output; a failure throws its complaint. */
export async function kubectl(cluster: Cluster, ...args: string[]): Promise<string> {
  const [program, KUBECONFIG] =
    'facts' in cluster
      ? [join(cluster.stateDir, 'bin/kubectl'), cluster.facts.kubeconfig]
      : [cluster.binaries.kubectl, cluster.kubeconfig];
  const env = { PATH: environment().PATH, HOME: cluster.stateDir, KUBECONFIG };
  return (await run(program, ['-n', NAMESPACE, ...args], { env })).stdout;
}
