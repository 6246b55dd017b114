/**
 * Tests the egress of the pods of streams and Jobs on the wire. Each address has a listener that a pod without a policy reaches, so a
 * failed connection proves a policy.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import {
  COMPONENT_LABEL,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  STREAMER_METRICS_PORT,
  STREAMER_PORT,
  TASK_LABEL,
} from '../../src/core/resources/common/names.ts';
import { environment } from '../../src/core/settings/environment.ts';
import { spawnChild } from '../../tools/process/processes.ts';
import { METADATA_ADDRESS } from '../kit/real/cluster/layout.ts';
import { NAMESPACE } from '../kit/real/cluster/release.ts';
import { PATIENCE_MS, type Scene } from '../kit/real/cluster/scene.ts';
import type { WatchedStream } from '../kit/real/cluster/stream.ts';
import { until } from '../kit/wait.ts';

type Those = () => { scene: Scene; stream: WatchedStream };
type Addresses = Record<string, [host: string, port: number]>;

const OUTSIDE = 'outside';
/** Prints the names of the addresses that accepted a connection, as JSON. */
export const CONNECT = `
const addresses = Object.entries(JSON.parse(process.argv[1]));
const reached = ([name, [host, port]]) => new Promise((resolve) => {
  const socket = require('node:net').connect({ host, port, timeout: 5000 });
  const end = (result) => { socket.destroy(); resolve(result); };
  socket.on('connect', () => end([name]));
  for (const event of ['error', 'timeout']) socket.on(event, () => end([]));
});
Promise.all(addresses.map(reached)).then((all) => console.log(JSON.stringify(all.flat().sort())));
`;

const security = {
  pod: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
  container: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
};
/** Builds an idle pod with the labels of one of ours. */
export const idlePod = (name: string, namespace: string, image: string, labels: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 0,
    securityContext: security.pod,
    containers: [
      {
        name: 'idle',
        image,
        command: ['node', '-e', 'setInterval(() => {}, 1000)'],
        securityContext: security.container,
      },
    ],
  },
});

/** Starts a metadata service on each node, and a server with a public address, for the duration of the test. */
async function startServers({ cluster }: Scene) {
  const { layout } = cluster;
  const internet = createServer((_, response) => response.end());
  internet.listen(0, layout.internet);
  await once(internet, 'listening');
  const serve = `require('node:http').createServer((_, r) => r.end()).listen(80, '${METADATA_ADDRESS}')`;
  const { PATH = '' } = environment();
  const services = await Promise.all(
    layout.nodes.map(({ id, dir }) =>
      spawnChild({
        name: `metadata service of ${id}`,
        command: 'nsenter',
        args: [`--net=/run/netns/${id}`, process.execPath, '-e', serve],
        env: { PATH },
        logFile: `${dir}/metadata.log`,
        stateDir: layout.stateDir,
      }),
    ),
  );
  const close = async () => {
    internet.closeAllConnections();
    internet.close();
    await Promise.all(services.map((service) => service.stop()));
  };
  return { port: (internet.address() as AddressInfo).port, close };
}

async function listAddresses({ cluster, outside, release }: Scene, internetPort: number): Promise<Addresses> {
  const { gateway, internet, nodes } = cluster.layout;
  const ip = async (component: string) => {
    const which = ['-l', `app.kubernetes.io/component=${component}`, '--field-selector=status.phase=Running'];
    return release.service('get', 'pods', ...which, '-o', 'jsonpath={.items[0].status.podIP}');
  };
  return {
    'kube-apiserver by its Service': ['10.96.0.1', 443],
    'kube-apiserver': [gateway, Number(new URL(cluster.plane.apiserverUrl).port)],
    'kubelet of a node': [nodes[0]?.address ?? '', 10_250],
    'the metadata service': [METADATA_ADDRESS, 80],
    'the API by its Service': [release.address, 80],
    'a pod of the API': [await ip('api'), 8080],
    'metrics of the operator': [await ip('operator'), 9401],
    Postgres: [gateway, outside.ports.postgres],
    S3: [gateway, outside.ports.s3],
    'the receiver': [gateway, outside.ports.receiver],
    'a web server': [gateway, outside.ports.films],
    'the internet': [internet, internetPort],
  };
}

const MEDIA = ['a web server', 'the internet', 'the receiver'];

export function networkTests(getContext: Those): void {
  test(
    'streams, imports and destination tests reach public addresses and those of the values, renditions storage alone',
    async () => {
      const { scene, stream } = getContext();
      const { kubectl } = scene.release;
      const { metadata, spec } = await stream.pod();
      const image = spec.containers[0]?.image ?? '';
      const servers = await startServers(scene);
      const ours = (component: string, task?: string) => ({
        'app.kubernetes.io/name': 'loopstream',
        [MANAGED_BY_LABEL]: MANAGED_BY,
        [COMPONENT_LABEL]: component,
        ...(task !== undefined && { [TASK_LABEL]: task }),
      });
      const pods = [
        idlePod('like-nobody', OUTSIDE, image, {}),
        idlePod('like-an-import', NAMESPACE, image, ours('prepare', 'import')),
        idlePod('like-a-rendition', NAMESPACE, image, ours('prepare', 'rendition')),
        idlePod('like-a-helper', NAMESPACE, image, ours('prepare', 'range')),
        idlePod('like-a-test', NAMESPACE, image, ours('probe')),
      ];
      const names = pods.map(({ metadata: { namespace, name } }) => ['-n', namespace, `pod/${name}`]);
      try {
        await kubectl(['apply', '-f', '-'], pods);
        const addresses = await listAddresses(scene, servers.port);
        for (const name of names) await kubectl(['wait', ...name, '--for=condition=Ready', '--timeout=120s']);
        const reached = async (namespace: string, name: string): Promise<string[]> =>
          JSON.parse(
            await kubectl(['-n', namespace, 'exec', name, '--', 'node', '-e', CONNECT, JSON.stringify(addresses)]),
          );
        expect(await reached(OUTSIDE, 'like-nobody')).toEqual(Object.keys(addresses).sort());
        const expected: [namespace: string, pod: string, reached: string[]][] = [
          [NAMESPACE, metadata.name, [...MEDIA, 'S3']],
          [NAMESPACE, 'like-an-import', [...MEDIA, 'S3']],
          [NAMESPACE, 'like-a-rendition', ['S3']],
          [NAMESPACE, 'like-a-helper', ['S3']],
          [NAMESPACE, 'like-a-test', MEDIA],
        ];
        for (const [namespace, pod, wanted] of expected) {
          let last: string[] = [];
          const settled = async () => {
            last = await reached(namespace, pod);
            return JSON.stringify(last) === JSON.stringify([...wanted].sort());
          };
          // Policies bind a new pod soon after it has an address.
          await until(`${pod} is bound`, settled, 20_000).catch(() => undefined);
          expect(last, pod).toEqual([...wanted].sort());
        }
        // The service reaches the pod on air, Prometheus its metrics, and no other pod its metrics and previews.
        const onAir = JSON.parse(await scene.release.inside('get', 'pod', metadata.name, '-o', 'json')).status.podIP;
        const ports = JSON.stringify({ numbers: [onAir, STREAMER_PORT], metrics: [onAir, STREAMER_METRICS_PORT] });
        const connect = ['--', 'node', '-e', CONNECT, ports];
        for (const component of ['operator', 'api'])
          expect(
            JSON.parse(await scene.release.service('exec', `deployment/loopstream-${component}`, ...connect)),
          ).toEqual(['metrics', 'numbers']);
        expect(JSON.parse(await kubectl(['-n', OUTSIDE, 'exec', 'like-nobody', ...connect]))).toEqual(['metrics']);
        // The pod on air reaches the operator's port for reports, and no other pod does.
        const operators = await scene.release.service(
          ...['get', 'pods', '-l', 'app.kubernetes.io/component=operator', '--field-selector=status.phase=Running'],
          ...['-o', 'jsonpath={.items[0].status.podIP}'],
        );
        const report = ['--', 'node', '-e', CONNECT, JSON.stringify({ reports: [operators, 9406] })];
        expect(JSON.parse(await kubectl(['-n', NAMESPACE, 'exec', metadata.name, ...report]))).toEqual(['reports']);
        for (const [namespace, name] of [
          [OUTSIDE, 'like-nobody'],
          [NAMESPACE, 'like-an-import'],
        ] as const)
          expect(JSON.parse(await kubectl(['-n', namespace, 'exec', name, ...report]))).toEqual([]);
        // The lookup of a name works as well.
        const lookup =
          "require('node:dns').promises.lookup('loopstream-api.loopstream.svc.cluster.local').then(console.log)";
        expect(await kubectl(['-n', NAMESPACE, 'exec', 'like-a-rendition', '--', 'node', '-e', lookup])).toContain(
          scene.release.address,
        );
      } finally {
        for (const name of names) await kubectl(['delete', ...name, '--ignore-not-found', '--wait=false']);
        await servers.close();
      }
    },
    2 * PATIENCE_MS,
  );
}
