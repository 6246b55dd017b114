/**
 * Attacks the network from a hijacked pod, or through a destination or a link: the tests check the chart's rendered NetworkPolicies.
 * test/cluster tests that they hold on the wire.
 */
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildJob, wantImport, wantRendition } from '../../src/core/operator/upload/job.ts';
import { MEDIA, SETTINGS, upload } from '../kit/make/operator.ts';
import { type Helm, openHelms, type Values } from '../kit/real/helm/index.ts';
import { INLINE } from '../kit/real/helm/values.ts';
import { tempDir } from '../kit/temp-dir.ts';

interface Peer {
  ipBlock?: { cidr: string; except?: string[] };
  namespaceSelector?: { matchLabels: Record<string, string> };
}
interface Rule {
  to?: Peer[];
  ports?: { port: number; protocol?: string }[];
}
interface Policy {
  podSelector: {
    matchLabels: Record<string, string>;
    matchExpressions?: { key: string; operator: string; values: string[] }[];
  };
  policyTypes: string[];
  egress: Rule[];
}
type Labels = Record<string, string>;

const dir = tempDir();
let helm: Helm;
let close: () => void;
beforeAll(async () => {
  const opened = await openHelms(join(dir, 'no-cluster'));
  close = opened.close;
  helm = opened.helms[0] as Helm;
});
afterAll(() => {
  close?.();
});

const S3 = (endpoint = '') => ({ type: 's3', s3: { bucket: 'media', endpoint, existingSecret: 's3' } });

/** Returns the egress rules of pods with these labels; undefined where no policy selects them, which is no limit at all. */
async function renderRules(labels: Labels, values: Values = {}): Promise<Rule[] | undefined> {
  const objects = await helm.render({ ...INLINE, ...values });
  const policies = objects
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .map(({ spec }) => spec as unknown as Policy)
    .filter(({ policyTypes }) => policyTypes.includes('Egress'))
    .filter(
      ({ podSelector: { matchLabels, matchExpressions = [] } }) =>
        Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
        matchExpressions.every(
          ({ key, operator, values: among }) => among.includes(labels[key] ?? '') === (operator === 'In'),
        ),
    );
  return policies.length === 0 ? undefined : policies.flatMap(({ egress }) => egress);
}

const within = (address: string, cidr: string): boolean => {
  const [one, network] = [ipaddr.parse(address), ipaddr.parseCIDR(cidr)];
  return one.kind() === network[0].kind() && one.match(network as never);
};
const allows = (rules: Rule[] | undefined, address: string, port = 1935): boolean =>
  rules === undefined ||
  rules.some(
    ({ to, ports }) =>
      (!ports || ports.some((one) => one.port === port)) &&
      (!to ||
        to.some(
          ({ ipBlock }) =>
            ipBlock && within(address, ipBlock.cidr) && !ipBlock.except?.some((cidr) => within(address, cidr)),
        )),
  );

const ours = (component: string): Labels => ({
  'app.kubernetes.io/name': 'loopstream',
  'app.kubernetes.io/managed-by': 'loopstream',
  'app.kubernetes.io/component': component,
});
const jobLabels = (job: ReturnType<typeof buildJob>): Labels =>
  (job.spec as { template: { metadata: { labels: Labels } } }).template.metadata.labels;
const ready = upload('film', {});
const PODS: Record<string, Labels> = {
  'a stream': ours('streamer'),
  'a destination test': ours('probe'),
  'an import': jobLabels(buildJob(ready, wantImport(ready), SETTINGS)),
  'an import by an operator of before': ours('prepare'),
};
const RENDITION = jobLabels(buildJob(ready, wantRendition(ready, MEDIA, '720p30'), SETTINGS));

const PRIVATE = [
  ...['10.96.0.1', '10.0.0.8', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '127.0.0.1', '0.0.0.0'],
  ...['169.254.169.254', '192.0.0.192', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['::1', '::', 'fd00:ec2::254', 'fe80::1', 'ff02::1', '64:ff9b::a00:1', '64:ff9b:1::1', '::ffff:10.0.0.1'],
  ...['2002:a00:1::', '2001:0:a00:1::', '::10.0.0.1'],
];
const PUBLIC = ['142.250.1.1', '172.32.0.1', '100.128.0.1', '198.20.0.1', '2606:4700:4700::1111', '2a00:1450::1'];

describe.each(Object.entries(PODS))('%s', (_, labels) => {
  test('reaches every public address and no other', async () => {
    const rules = await renderRules(labels);
    for (const address of PRIVATE) expect(allows(rules, address), address).toBe(false);
    for (const address of PUBLIC) expect(allows(rules, address), address).toBe(true);
  });

  test('reaches the further addresses of the values, at those ports alone', async () => {
    const mediaAlsoTo = [{ to: [{ ipBlock: { cidr: '10.9.0.5/32' } }], ports: [{ port: 1935 }] }];
    const rules = await renderRules(labels, { networkPolicy: { mediaAlsoTo, privateNetworks: ['142.250.0.0/16'] } });
    expect(allows(rules, '10.9.0.5')).toBe(true);
    expect(allows(rules, '10.9.0.5', 443)).toBe(false);
    expect(allows(rules, '10.9.0.6')).toBe(false);
    expect(allows(rules, '142.250.1.1'), 'a network that is private here').toBe(false);
  });
});

test('a stream reaches the operator, and no other pod of the service, at the port for reports alone', async () => {
  const rules = (await renderRules(ours('streamer'))) ?? [];
  const inside = rules.filter(({ to = [] }) => JSON.stringify(to).includes('"loopstream"'));
  expect(inside).toEqual([
    {
      to: [
        {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'loopstream' } },
          podSelector: {
            matchLabels: {
              'app.kubernetes.io/name': 'loopstream',
              'app.kubernetes.io/instance': 'loopstream',
              'app.kubernetes.io/component': 'operator',
            },
          },
        },
      ],
      ports: [{ port: 9406, protocol: 'TCP' }],
    },
  ]);
});

describe('a Job that makes a rendition', () => {
  test('reaches nothing with media in a volume', async () => {
    const rules = await renderRules(RENDITION);
    for (const address of [...PRIVATE, ...PUBLIC]) expect(allows(rules, address), address).toBe(false);
  });

  test.each<[string, Values, [string, number], [string, number][]]>([
    ['S3 at AWS', { storage: S3() }, ['52.216.1.1', 443], [['52.216.1.1', 1935]]],
    [
      'S3 at a private address',
      { storage: S3('http://10.9.0.6:9000') },
      ['10.9.0.6', 9000],
      [
        ['10.9.0.6', 22],
        ['142.250.1.1', 443],
      ],
    ],
    [
      'S3 where the values say',
      {
        storage: S3('http://s3.corp:9000'),
        networkPolicy: { storageTo: [{ to: [{ ipBlock: { cidr: '10.9.0.0/24' } }] }] },
      },
      ['10.9.0.7', 9000],
      [['142.250.1.1', 9000]],
    ],
  ])('reaches %s alone', async (_, values, [address, port], others) => {
    const rules = await renderRules(RENDITION, values);
    expect(allows(rules, address, port)).toBe(true);
    for (const [other, at] of others) expect(allows(rules, other, at), `${other}:${at}`).toBe(false);
    for (const one of PRIVATE) expect(allows(rules, one, 443), one).toBe(false);
  });

  test('reaches the namespace of S3 in the cluster, and so does a stream; a destination test does not', async () => {
    const storage = { storage: S3('http://minio.store.svc.cluster.local:9000') };
    const names = async (labels: Labels) =>
      ((await renderRules(labels, storage)) ?? []).flatMap(({ to = [] }) =>
        to.flatMap(({ namespaceSelector }) => namespaceSelector?.matchLabels['kubernetes.io/metadata.name'] ?? []),
      );
    expect(await names(RENDITION)).toEqual(['kube-system', 'store']);
    expect(await names(ours('streamer'))).toEqual(['kube-system', 'store', 'loopstream']);
    expect(await names(ours('probe'))).toEqual(['kube-system']);
  });
});

test('where an installation has said where media goes, that alone counts, for storage too', async () => {
  const networkPolicy = { mediaTo: [{ to: [{ ipBlock: { cidr: '10.9.0.0/16' } }] }] };
  for (const labels of [...Object.values(PODS), RENDITION]) {
    const rules = await renderRules(labels, { networkPolicy });
    expect(allows(rules, '10.9.0.5')).toBe(true);
    for (const address of ['142.250.1.1', '10.8.0.1']) expect(allows(rules, address), address).toBe(false);
  }
});
