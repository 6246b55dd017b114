/** Starts the node agent in this process: a Node of the local cluster that runs pods as processes of this machine. */
import { createHash } from 'node:crypto';
import { createKube } from '../../src/core/kube/client.ts';
import { IMAGE_ENV, IMAGE_PROGRAM } from '../../src/core/operator/stream/command-line.ts';
import type { ControlPlane } from '../control-plane/controlplane.ts';
import { runNode } from '../node-agent/run.ts';
import { DRAW_TEXT, findCompiled, SENDER } from '../process/compiled.ts';
import type { LocalEnvironment } from '../process/environment.ts';
import { type Context, MAIN } from './context.ts';

const NODE_NAME = 'local';

/**
 * Pods' addresses: a range of the loopback net for each state directory, so that two local systems on one machine do
 * not meet. The first sixteen ranges are left to the machine itself.
 */
function podCidr(stateDir: string): string {
  const [byte = 0] = createHash('sha256').update(stateDir).digest();
  return `127.${16 + (byte % 224)}.0.0/16`;
}

/** Returns the variables that the image has. Its programs work here too, from the next start of a container on, once they are built. */
function imageEnvironment({ settings, cacheDir }: LocalEnvironment): Record<string, string> {
  const sender = settings.LOOPSTREAM_SENDER ?? findCompiled(SENDER, cacheDir);
  const drawText = settings.LOOPSTREAM_DRAW_TEXT ?? findCompiled(DRAW_TEXT, cacheDir);
  return {
    ...IMAGE_ENV,
    ...(sender !== undefined && { LOOPSTREAM_SENDER: sender }),
    ...(drawText !== undefined && { LOOPSTREAM_DRAW_TEXT: drawText }),
  };
}

/** Starts it with a node's own rights (system:node, Node authorization) and resolves when the Node is Ready. */
export async function startNode(
  { env, options, state, lifecycle, log }: Context,
  controlPlane: ControlPlane,
  images: Record<string, string[]>,
): Promise<void> {
  const { certificates } = controlPlane;
  const identity = { user: `system:node:${NODE_NAME}`, groups: ['system:nodes'] };
  const kube = createKube({ kubeconfig: await controlPlane.kubeconfigFor('node', identity) });
  lifecycle.defer('node client', () => kube.close());
  const serving = await certificates.issueServing(identity.user, ['127.0.0.1']);
  await runNode(
    {
      kube,
      nodeName: NODE_NAME,
      stateDir: state.path('node'),
      images,
      imageFiles: { [IMAGE_PROGRAM]: MAIN },
      imageEnvironment: () => imageEnvironment(env),
      podCidr: podCidr(state.dir),
      equalShares: options.equalShares,
      tls: { ...serving, clientCa: certificates.ca },
      log,
    },
    lifecycle,
  );
}
