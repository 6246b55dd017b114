/** Installs the chart on the real cluster, and makes a client of its API outside it. */
import { Resolver } from 'node:dns/promises';
import { CHART } from '../../../../tools/generate/chart/generate.ts';
import { until } from '../../wait.ts';
import { type Helm, openHelms, type Values } from '../helm/index.ts';
import { outside as leadOutside } from './addons.ts';
import type { Cluster } from './cluster.ts';
import { IMAGE_REPOSITORY } from './images.ts';
import { DNS_ADDRESS } from './layout.ts';
import type { Outside } from './outside.ts';

/** The name of the release, and of its streams. */
export const SERVICE = 'loopstream';
export const NAMESPACE = 'loopstream-streams';
const OUTSIDE = 'outside';
const getHost = (name: string) => `${name}.${OUTSIDE}.svc.cluster.local`;

export interface Answer<T> {
  status: number;
  body: T;
}

export interface ReleaseOptions {
  /** A directory, or the file of a packaged chart. */
  chart?: string;
  /** The chart's values of the image, by the tag that an installation asks for. */
  image?: (tag: string) => Values;
  /** The tag of the first installation; `1` by default. */
  tag?: string;
}

export async function installRelease(cluster: Cluster, outside: Outside, options: ReleaseOptions = {}) {
  const { chart = CHART, image = (tag) => ({ repository: IMAGE_REPOSITORY, tag }), tag: first = '1' } = options;
  const kubectl = async (args: string[], objects?: object[]): Promise<string> => {
    const { ok, stdout, stderr } = await cluster.kubectl(args, objects);
    if (!ok) throw new Error(`kubectl ${args.join(' ')}: ${stderr}${stdout}`);
    return stdout;
  };
  const inside = (...args: string[]) => kubectl(['-n', NAMESPACE, ...args]);
  const service = (...args: string[]) => kubectl(['-n', SERVICE, ...args]);
  const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await kubectl(
    ['apply', '-f', '-'],
    [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SERVICE, labels: restricted } },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: OUTSIDE } },
      ...Object.entries(outside.ports).flatMap(([name, port]) =>
        leadOutside(OUTSIDE, name, cluster.layout.gateway, port),
      ),
    ],
  );
  const { helms, close } = await openHelms(cluster.plane.kubeconfig);
  const [helm4, helm3] = helms;
  if (!helm4 || !helm3) throw new Error('no Helm');
  const credentials = {
    url: outside.databaseUrl(getHost('postgres')),
    auth: 'a-secret-that-nobody-can-guess-0123456789',
  };
  /** The policies take the addresses outside the cluster for private ones. */
  const egress = (...names: (keyof Outside['ports'])[]) => ({
    to: [{ ipBlock: { cidr: `${cluster.layout.gateway}/32` } }],
    ports: names.map((name) => ({ port: outside.ports[name], protocol: 'TCP' })),
  });
  const values = (tag: string, operator: Values = {}): Values => ({
    image: image(tag),
    operator: { allowPrivateLinks: true, allowPrivateDestinations: true, ...operator },
    api: { auth: { secret: credentials.auth } },
    database: { url: credentials.url },
    networkPolicy: { mediaAlsoTo: [egress('receiver', 'watched', 'films')], storageTo: [egress('s3')] },
    // A test makes the operator use an image that does not exist.
    policies: { images: [`${cluster.layout.gateway}:1/loopstream`] },
    storage: {
      type: 's3',
      s3: {
        bucket: outside.s3.bucket,
        endpoint: `http://${getHost('s3')}:${outside.ports.s3}`,
        region: 'us-east-1',
        forcePathStyle: true,
        accessKeyId: outside.s3.accessKeyId,
        secretAccessKey: outside.s3.secretAccessKey,
      },
    },
  });
  /** Returns Helm's commands for the release. Each ends when all is ready, and throws Helm's message when it fails. */
  const buildCommands = (helm: Helm) => {
    const run = async (args: string[], given?: Values, namespace = SERVICE) => {
      const { ok, stderr } = await helm.run([...args, '--namespace', namespace], given);
      if (!ok) throw new Error(`${stderr}\n${await service('get', 'pods,events')}`);
    };
    const ready = async () => {
      for (const name of ['operator', 'api'])
        await service('rollout', 'status', `deployment/loopstream-${name}`, '--timeout=200s');
    };
    return {
      install: (given: Values, namespace?: string) =>
        run(['install', 'loopstream', chart], given, namespace).then(ready),
      upgrade: (given: Values, to = chart) => run(['upgrade', 'loopstream', to], given).then(ready),
      rollback: (...more: string[]) => run(['rollback', 'loopstream', ...more]).then(ready),
      uninstall: () => run(['uninstall', 'loopstream', '--wait', '--timeout', '90s']),
    };
  };
  const [four, three] = [buildCommands(helm4), buildCommands(helm3)];
  await four.install(values(first));

  // Resolves as a pod does: the name from the cluster's DNS, the address through kube-proxy.
  const resolver = new Resolver({ timeout: 2000, tries: 5 });
  resolver.setServers([DNS_ADDRESS]);
  let address = '';
  const findService = async () => {
    [address = ''] = await resolver.resolve4(`loopstream-api.${SERVICE}.svc.cluster.local`);
  };
  await findService();
  const main = ['deployment/loopstream-api', '--', 'node', '/app/dist/app/main.js'];
  const apiKey = (await service('exec', ...main, 'keys', '--email', 'sre@example.org')).trim();
  const call = async <T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> => {
    const response = await fetch(`http://${address}/v1${path}`, {
      method,
      headers: { 'X-API-Key': apiKey, ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text ? JSON.parse(text) : undefined) as T };
  };
  await until('the Service answers', () =>
    call('GET', '/me').then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  return {
    get address() {
      return address;
    },
    /** A new installation's Service has another address. */
    findService,
    apiKey,
    call,
    inside,
    service,
    kubectl,
    urls: {
      film: `http://${getHost('films')}:${outside.ports.films}/film.mp4`,
      long: `http://${getHost('films')}:${outside.ports.films}/long.mp4`,
      receiver: `rtmp://${getHost('receiver')}:${outside.ports.receiver}/live`,
      watched: `rtmp://${getHost('watched')}:${outside.ports.watched}/live`,
    },
    upgrade: (tag: string, operator?: Values) => four.upgrade(values(tag, operator)),
    helms: { four, three },
    values,
    credentials,
    close,
  };
}
export type Release = Awaited<ReturnType<typeof installRelease>>;
