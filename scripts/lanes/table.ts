/**
 * The lanes of the tests, from fast to slow. `unit` needs Node and ffmpeg alone; `system` starts real servers (Postgres, etcd,
 * kube-apiserver, nginx-rtmp); `e2e` runs the whole product as a person would, `attack` as strangers would who mean harm, and `cluster`
 * has it on a real Kubernetes with two nodes.
 */
export interface Lane {
  name: string;
  tests: string;
  /** Modules that start what the lane's files share. */
  setup: readonly string[];
}

const SERVERS = 'test/kit/system/shared.ts';
const WHOLE_SYSTEM = 'test/kit/system/shared-system.ts';

export const LANES = {
  unit: { name: 'unit', tests: 'test/unit/**/*.test.ts', setup: [] },
  system: { name: 'system', tests: 'test/system/**/*.test.ts', setup: [SERVERS] },
  e2e: { name: 'e2e', tests: 'test/e2e/**/*.test.ts', setup: [WHOLE_SYSTEM] },
  cluster: { name: 'cluster', tests: 'test/cluster/**/*.test.ts', setup: [] },
  attack: { name: 'attack', tests: 'test/attack/**/*.attack.test.ts', setup: [SERVERS, WHOLE_SYSTEM] },
} as const satisfies Record<string, Lane>;

/** It builds the image of a node and starts a Docker engine: `make test-kind` runs it. */
export const KIND = 'test/cluster/kind.test.ts';

/**
 * Files that `make test-all` runs and `make test` leaves out: each takes the longest of its lane and guards what seldom breaks. The
 * seconds are those of one run of all lanes beside each other, on two cores.
 */
const LATER: readonly string[] = [
  'test/cluster/release.test.ts', // 113 s
  'test/system/api/schemathesis.test.ts', // 249 to 367 s
  'test/system/chart/chart.test.ts', // 180 to 337 s
  'test/system/chart/checks.test.ts', // 54 s
  'test/system/clients/rest.test.ts', // 115 to 610 s
  'test/system/clients/tus.test.ts', // 80 s
  'test/system/crypto/killed.test.ts', // 80 s
  'test/system/kube/reflector.test.ts', // 65 s
  'test/system/local/node.test.ts', // 58 s
  'test/system/local/outlives.test.ts', // 255 s
  'test/system/endpoints/outlives.test.ts', // 75 s
  'test/system/metrics/alertmanager.test.ts', // 80 s
  'test/system/operator/flapping.test.ts', // 105 s
  'test/system/operator/namespaces.test.ts', // 154 to 242 s
  'test/system/prepare/b-frames.test.ts', // 100 to 280 s
  'test/system/prepare/corpus.test.ts', // 139 s
  'test/system/prepare/damaged.test.ts', // 79 to 208 s
  'test/system/prepare/odd-time.test.ts', // 124 to 218 s
  'test/system/prepare/placement.test.ts', // 68 s
  'test/system/prepare/tracks.test.ts', // 98 s
  'test/system/storage/faults.test.ts', // 81 s
  'test/system/platform/repair-kills.test.ts', // 180 s
  'test/system/streamer/b-frames.test.ts', // 85 s
  'test/system/streamer/dns.test.ts', // 68 s
  'test/system/streamer/flapping.test.ts', // 103 s
  'test/system/streamer/rules-long.test.ts', // 1215 s
  'test/system/streamer/srt.test.ts', // 45 s
  'test/system/streamer/storage.test.ts', // 188 s
  'test/e2e/alerts.test.ts', // 57 s
  'test/e2e/arriving-start.test.ts', // 39 s
  'test/e2e/progressive-start.test.ts', // 79 to 257 s
  'test/unit/core/programme/rules.many.test.ts', // 565 s
];

/** Files of lanes that this run leaves out. */
export const LEFT_OUT: readonly string[] = process.env.LOOPSTREAM_TEST_SCOPE === 'gate' ? [KIND, ...LATER] : [KIND];

/** Files that a test reads without naming them in a string. `main.ts reads` fails a lane whose files read more. */
export const DATA: readonly { tests: string; data: readonly string[] }[] = [
  { tests: 'test/unit/tools/generate/logs.test.ts', data: ['src/**'] },
  { tests: 'test/unit/tools/generate/client.test.ts', data: ['src/**/record.ts'] },
  { tests: 'test/unit/service/lib/errors.codes.test.ts', data: ['src/**'] },
  { tests: 'test/system/operator/repository.test.ts', data: ['docs/gitops.md'] },
  {
    tests: 'test/unit/tools/generate/chart/files.test.ts',
    data: ['crds/**', 'manifests/**', 'src/dashboard/public/favicon.svg', 'package.json', 'docs/settings.md'],
  },
  { tests: 'test/system/prepare/draw-texts.test.ts', data: ['test/system/prepare/texts/**'] },
  { tests: 'test/system/clients/**', data: ['test/system/clients/**'] },
  // An image is built of the whole repository.
  { tests: 'test/cluster/**', data: ['**', '.*', '.*/**'] },
  // They start the product, which is built of all this.
  {
    tests: 'test/{system,e2e,attack}/**',
    data: [
      'src/**',
      'test/kit/real/**',
      'tools/**',
      'scripts/**',
      'charts/**',
      'crds/**',
      'manifests/**',
      'native/**',
      'Dockerfile',
      '*.json',
    ],
  },
];

/** Each lane depends on these. */
export const COMMON = ['package-lock.json', 'vitest.config.ts', 'scripts/test-lane', 'scripts/lanes/table.ts'] as const;
