/**
 * Runs a node agent as a process of its own, so that a test can kill it. Its one argument is JSON: the arguments of `runNode`, with a
 * kubeconfig instead of a connection. It prints `ready`.
 */
import { createKube } from '../../../src/core/kube/client.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { createLogger } from '../../../src/core/lib/log.ts';
import { type NodeOptions, runNode } from '../../../tools/node-agent/run.ts';

export type AgentArguments = Omit<NodeOptions, 'kube' | 'log' | 'clock'> & { kubeconfig: string };

if (import.meta.main) {
  const { kubeconfig, ...options } = JSON.parse(process.argv[2] ?? '') as AgentArguments;
  const log = createLogger('node', 'warn');
  const lifecycle = new Lifecycle(log);
  lifecycle.exitOnSignal();
  const kube = createKube({ kubeconfig });
  lifecycle.defer('kube', () => kube.close());
  await runNode({ ...options, kube, log }, lifecycle);
  process.stdout.write('ready\n');
}
