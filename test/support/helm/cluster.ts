/** A cluster in which an installed chart runs: the control plane, a node that runs its pods as processes, PostgreSQL. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../../../src/config.ts';
import { createKube } from '../../../src/kube/client.ts';
import { Lifecycle } from '../../../src/lifecycle.ts';
import { runNode } from '../../../src/local/node/run.ts';
import { run } from '../../../src/local/run.ts';
import { createLogger } from '../../../src/log.ts';
import { startTestKubernetes } from '../kubernetes.ts';
import { startTestPostgres } from '../postgres.ts';
import { ROOT } from '../system.ts';

const NODE = 'node-a';

/** `tags`: of the images that the node has; each stands for the code as it is here. */
export async function startChartCluster(tags: string[]) {
  const [kubernetes, postgres] = await Promise.all([startTestKubernetes(), startTestPostgres()]);
  const kube = createKube({ kubeconfig: kubernetes.kubeconfig });
  const dir = await mkdtemp(join(tmpdir(), 'loopstream-chart-'));
  const lifecycle = new Lifecycle();
  const identity = { user: `system:node:${NODE}`, groups: ['system:nodes'] };
  const own = createKube({ kubeconfig: await kubernetes.kubeconfigFor(NODE, identity) });
  lifecycle.defer('node client', () => own.close());
  const { ca, issueServing } = kubernetes.certificates;
  const entrypoint = [process.execPath, join(ROOT, 'src/main.ts')];
  await runNode(
    {
      kube: own,
      nodeName: NODE,
      stateDir: dir,
      images: Object.fromEntries(tags.map((tag) => [`loopstream:${tag}`, entrypoint])),
      // Other tests may have nodes on this machine at the same time.
      podCidr: `127.${32 + (process.pid % 192)}.0.0/16`,
      tls: { ...(await issueServing(identity.user, ['127.0.0.1'])), clientCa: ca },
      capacity: { cpu: '64', memory: '64Gi' },
      log: createLogger('node', 'error'),
    },
    lifecycle,
  );

  /** What pods lack on this node: the mounted token of their account, and a network of their own. */
  const extraEnv = async (namespace: string, account: string) => {
    const user = `system:serviceaccount:${namespace}:${account}`;
    const fieldRef = { fieldPath: 'status.podIP' };
    const kubeconfig = await kubernetes.kubeconfigFor(`${namespace}-${account}`, { user });
    return [
      // Written so, the node does not take it for a path in the pod's own /tmp.
      { name: 'KUBECONFIG', value: `/.${kubeconfig}` },
      { name: 'LOOPSTREAM_HOST', valueFrom: { fieldRef } },
      { name: 'LOOPSTREAM_OPS_HOST', valueFrom: { fieldRef } },
    ];
  };
  const kubectl = (...args: string[]) =>
    run(kubernetes.binaries.kubectl, args, {
      env: { PATH: environment().PATH, HOME: dir, KUBECONFIG: kubernetes.kubeconfig },
      timeoutMs: 60_000,
    });
  const stop = async () => {
    await lifecycle.stop();
    await kube.close();
    await Promise.all([kubernetes.stop(), postgres.stop()]);
    await rm(dir, { recursive: true, force: true });
  };
  return { kubernetes, kube, databaseUrl: postgres.url, extraEnv, kubectl, stop };
}
export type ChartCluster = Awaited<ReturnType<typeof startChartCluster>>;
