/**
 * Tests `kubectl loop` as a person has it: the bundled file in PATH, the real kubectl, an account that an exec plug-in signs in, the
 * operator on a real control plane.
 */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { buildKubectl } from '../../../scripts/build-kubectl.ts';
import { EVENTS, JOBS, PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { Resource } from '../../../src/core/kube/types.ts';
import { READINESS_ISSUES } from '../../../src/core/lib/codes/streams.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { applyRights } from '../../../tools/local/rights.ts';
import { createRefusals } from '../../kit/make/refusals.ts';
import { run } from '../../kit/run.ts';
import {
  aroundEachTest,
  buildObject,
  cluster,
  createDestination,
  createStream,
  createUpload,
  finishJob,
  getStream,
  goLive,
  KEY,
  kube,
  kubelet,
  NS,
  prepareUpload,
  setSpec,
  waitForPhase,
  waitForPod,
} from '../../kit/system/operator-system.ts';
import { tempDir } from '../../kit/temp-dir.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const dir = tempDir();
let kubeconfig: string;

/** A kubeconfig whose user is signed in by an exec plug-in, and whose context names the namespace. */
async function writeKubeconfig(user: string): Promise<string> {
  const file = await cluster.kubeconfigFor(`plugin-${user}`, { user });
  const config = parse(await readFile(file, 'utf8')) as {
    users: { user: Record<string, string> }[];
    contexts: { context: Record<string, string> }[];
  };
  const { 'client-certificate-data': cert = '', 'client-key-data': key = '' } = config.users[0]?.user ?? {};
  const [plugIn, credential] = [join(dir, `sign-in-${user}`), join(dir, `credential-${user}.json`)];
  const decode = (text: string) => Buffer.from(text, 'base64').toString();
  const status = { clientCertificateData: decode(cert), clientKeyData: decode(key) };
  await writeFile(
    credential,
    JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }),
  );
  await writeFile(plugIn, `#!/bin/sh\ncat '${credential}'\n`);
  await chmod(plugIn, 0o755);
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugIn, interactiveMode: 'Never' };
  Object.assign(config, { users: [{ ...config.users[0], user: { exec } }] });
  Object.assign(config.contexts[0]?.context ?? {}, { namespace: NS });
  const written = join(dir, `kubeconfig-${user}`);
  await writeFile(written, stringify(config));
  return written;
}

beforeAll(async () => {
  await buildKubectl(dir);
  kubeconfig = await writeKubeconfig('ada');
  const subjects = [{ kind: 'User', name: 'ada', apiGroup: 'rbac.authorization.k8s.io' }];
  const roleRef = { kind: 'ClusterRole', name: 'cluster-admin', apiGroup: 'rbac.authorization.k8s.io' };
  await kube.create(BINDINGS, '', { metadata: { name: 'plugin-ada' }, roleRef, subjects } as never);
});

afterAll(() => kube.delete(BINDINGS, '', 'plugin-ada'));

const ROLE_BINDINGS: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  namespaced: true,
};
const BINDINGS: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};

interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

const environment = (config: string) => ({
  KUBECONFIG: config,
  HOME: dir,
  PATH: [dir, process.env.PATH].join(delimiter),
});

/** Runs `kubectl …` with the plugin in PATH. */
const kubectl = (args: string[], config = kubeconfig): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(cluster.binaries.kubectl, args, { env: environment(config) }, (error, stdout, stderr) =>
      resolve({ status: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    );
  });
const loop = (...args: string[]) => kubectl(['loop', ...args]);
const rows = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {3,}/));

test('status says why a stream is off air, start and stop wait, and diagnose has the fix', async () => {
  expect(await loop('status')).toEqual({
    status: 0,
    stdout: '',
    stderr: `There are no streams in namespace "${NS}". List all with kubectl loop status -A.\n`,
  });
  await createStream({ replicas: 0 });
  await waitForPhase('idle');
  const tooLate = await loop('start', 'bunny', '--wait', '--timeout', '1s');
  expect(tooLate.status).toBe(1);
  expect(tooLate.stderr).toMatch(
    /^kubectl loop start: Stream "bunny" is still waiting\. Destination "tv" does not exist\./,
  );

  const { stdout } = await loop('status');
  expect(rows(stdout)).toEqual([
    ['NAME', 'STATE', 'SINCE', 'DESTINATION', 'RESTARTS', 'WHY'],
    ['bunny', 'waiting', expect.stringMatching(/^\d+m?s$/), 'tv', '0', 'Destination "tv" does not exist.'],
  ]);
  const story = await loop('diagnose', 'bunny');
  expect(story.status).toBe(1);
  expect(story.stdout).toMatch(/^Stream "bunny" is waiting, since \w+ ago\. Destination "tv" does not exist\.\n/);
  const { DestinationNotFound, UploadNotFound } = READINESS_ISSUES;
  expect(story.stdout).toContain(`1. Destination "tv" does not exist.\n   ${DestinationNotFound.fix}\n`);
  expect(story.stdout).toContain(`   ${UploadNotFound.fix}\n`);

  const tried = await loop('stop', 'bunny', '--dry-run');
  expect(tried).toMatchObject({ status: 0 });
  expect(tried.stdout).toContain('Nothing was changed (dry run).');
  expect(await loop('stop', 'bunny', '--wait')).toMatchObject({ status: 0, stdout: 'Stream "bunny" is idle.\n' });
  expect((await getStream()).spec.replicas).toBe(0);
});

test('a start that Kubernetes refuses says so and when it is tried again, and the next one is on air', async () => {
  const refusals = createRefusals(kube, NS);
  await createDestination();
  await createUpload();
  await createStream({ replicas: 0 });
  await prepareUpload();
  await until('it can start', async () => (await getStream()).status?.canStart);
  await refusals.makePolicy({ resources: 'pods' });
  try {
    await refusals.untilPodsRefused();
    const tooLate = await loop('start', 'bunny', '--wait', '--timeout', '2s');
    expect(tooLate.status).toBe(1);
    expect(tooLate.stderr).toMatch(
      /^kubectl loop start: Stream "bunny" is still waiting\. .*Everything needs the label team\./,
    );
    expect(tooLate.stderr).toContain(READINESS_ISSUES.PodRefused.fix);
  } finally {
    await refusals.remove();
  }
  await refusals.untilPodsAccepted();
  const started = loop('start', 'bunny', '--wait');
  await waitForPod();
  await kubelet.bind('bunny-onair');
  await kubelet.run('bunny-onair', true);
  expect(await started).toMatchObject({ status: 0, stdout: 'Stream "bunny" is live.\n' });
});

test('a stream on air has nothing wrong; -o json, -A, -l and names choose; skip waits until it is done', async () => {
  await goLive();
  const live = await until('nothing is wrong', async () => {
    const ended = await loop('diagnose', 'loop/bunny');
    return ended.status === 0 && ended.stdout;
  });
  expect(live).toMatch(/^Stream "bunny" is live, since \w+ ago\.\n\nNothing is wrong with it\.\n/);
  expect(live).toMatch(/\nDestinations\n {2}tv {3}rtmp:\/\/127\.0\.0\.1\/live {3}ready {3}never tested\n/);
  expect(live).toMatch(/\nPods\n {2}bunny-onair {3}Running, ready {3}node test-node {3}0 restarts/);
  expect(live).toMatch(/\nEvents\n[\s\S]*Normal +Live +A destination is accepting media\./);
  expect(live).not.toContain(KEY);

  const json = JSON.parse((await loop('status', 'bunny', '-o', 'json')).stdout);
  expect(json.streams).toEqual([
    expect.objectContaining({ name: 'bunny', phase: 'live', why: '', destinations: ['tv'] }),
  ]);
  expect(parse((await loop('status', '-o', 'yaml')).stdout)).toEqual(json);
  // A stream of another namespace may have a title, and then all have the column.
  expect((await loop('status', '-A')).stdout).toMatch(/^NAMESPACE +NAME [\s\S]*\ntv +bunny +(?:- +)?live /);
  expect((await loop('status', '-l', 'team=news')).stdout).toBe('');
  expect((await loop('status', '-o', 'wide')).stdout).toContain('720p30');
  const absent = await loop('status', 'nobody');
  expect(absent).toMatchObject({ status: 1, stdout: '' });
  expect(absent.stderr).toContain('There is no stream "nobody"');

  // The pod of this test answers no skip: the annotation is what the plugin has to write.
  const skipping = loop('skip', 'bunny');
  const asked = await until(
    'the skip is asked for',
    async () => (await getStream()).metadata.annotations?.['loopstream.dev/skip'],
  );
  expect(asked).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+Z [0-9a-f]{8}$/);
  await setSpec({ replicas: 0 });
  await kubelet.remove('bunny-onair');
  await kube.delete(LOOPSTREAMS as Resource, NS, 'bunny');
  expect((await skipping).status).toBe(1);
  expect((await loop('skip', 'bunny')).stderr).toContain('There is no stream "bunny"');
});

test('-w prints a row for each change, and Ctrl-C ends it at once', async () => {
  await createStream({ replicas: 0 });
  await waitForPhase('idle');
  const watching = spawn(cluster.binaries.kubectl, ['loop', 'status', '-w'], { env: environment(kubeconfig) });
  let output = '';
  watching.stdout.on('data', (chunk) => (output += chunk));
  await until('the first row', () => output.includes('idle'));
  await setSpec({ replicas: 1 });
  await until('the row of the change', () => output.includes('waiting'));
  watching.kill('SIGINT');
  await once(watching, 'exit');
});

test('test waits for the outcome, and its exit status is that of the destination', async () => {
  await createDestination();
  const testing = loop('test', 'tv');
  const { uid } = (await kube.get(DESTINATIONS, NS, 'tv')).metadata;
  const pod = `test-${uid}`;
  await until('the test pod', () =>
    kube.raw('GET', `/api/v1/namespaces/${NS}/pods/${pod}`).then(({ status }) => status === 200),
  );
  await kubelet.bind(pod);
  const refusal = {
    ok: false,
    stage: 'publish',
    code: 'publish_rejected',
    message: 'The destination rejected the stream.',
    tookMs: 1234,
  };
  await kubelet.end(pod, 0, JSON.stringify(refusal));
  const failed = await testing;
  expect(failed.status).toBe(1);
  expect(failed.stdout).toMatch(
    /^Destination "tv" failed the test at the step publish: The destination rejected the stream\. \(publish_rejected, 1\.2 s\)\nCopy the key/,
  );
  const story = await loop('diagnose', 'destination/tv');
  expect(story.status).toBe(1);
  expect(story.stdout).toContain('Copy the key');
  expect(story.stdout).not.toContain(KEY);
});

test('diagnose upload names the error with its fix, and retry fetches the link again', async () => {
  await createUpload();
  await createDestination();
  await createStream();
  const error = { code: 'link_unreachable', message: 'The link could not be fetched.' };
  await finishJob('film-import', { action: 'failed', error });
  await until('the upload failed', async () => (await kube.get(UPLOADS, NS, 'film')).status?.phase === 'failed');
  const story = await loop('diagnose', 'upload/film');
  expect(story.status).toBe(1);
  expect(story.stdout).toMatch(
    /Upload "film" failed: The link could not be fetched\.\n {3}Open the link in a private browser window/,
  );
  const retried = await loop('retry', 'film');
  expect(retried).toMatchObject({ status: 0, stdout: 'Upload "film" is fetched again.\n' });
  expect((await loop('retry', 'film')).stderr).toContain('only a failed one is fetched again');
});

test('kubectl completes commands, flags and names', async () => {
  await createStream({ displayName: 'Evening news' });
  await createUpload();
  const complete = async (...words: string[]) => (await kubectl(['__complete', 'loop', ...words])).stdout.split('\n');
  expect(await complete('di')).toEqual(expect.arrayContaining([expect.stringMatching(/^diagnose\t/), ':4']));
  expect(await complete('status', '--al')).toEqual(
    expect.arrayContaining([expect.stringMatching(/^--all-namespaces\t/)]),
  );
  expect(await complete('status', '-o', 'w')).toContain('wide');
  expect(await complete('status', 'bu')).toContain('bunny\tEvening news');
  expect(await complete('status', 'bunny', '')).not.toContain('bunny\tEvening news');
  expect(await complete('diagnose', 'upl')).toContain('upload/film');
  expect(await complete('status', '-n', NS)).toContain(NS);
  expect(await complete('status', '-n', 'default', '')).not.toContain('bunny\tEvening news');
});

test('whoever may not, is told the right that is missing; wrong use has status 2', async () => {
  const stranger = await writeKubeconfig('eve');
  const forbidden = await kubectl(['loop', 'status'], stranger);
  expect(forbidden.status).toBe(1);
  expect(forbidden.stderr).toBe(
    `kubectl loop status: Your account may not list loopstreams.loopstream.dev in namespace "${NS}". Ask an administrator for the ClusterRole "view" there.\n`,
  );
  expect((await kubectl(['loop', 'stop', 'bunny'], stranger)).stderr).toContain(
    'may not patch loopstreams.loopstream.dev',
  );
  expect(await loop('status', '--colour')).toMatchObject({ status: 2 });
  expect(await loop('skip')).toMatchObject({ status: 2 });
  expect(await loop('dance')).toMatchObject({ status: 2 });
  const elsewhere = await loop('status', '--context', 'nowhere');
  expect(elsewhere).toMatchObject({ status: 1 });
  expect(elsewhere.stderr).toContain('has no context "nowhere"');
});

test('the roles view and edit of Kubernetes are all that people need', async () => {
  await applyRights(kube);
  const grant = async (user: string, role: string) => {
    const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
    const roleRef = { kind: 'ClusterRole', name: role, apiGroup: 'rbac.authorization.k8s.io' };
    await kube.create(ROLE_BINDINGS, NS, { metadata: { name: user }, roleRef, subjects } as never);
    return writeKubeconfig(user);
  };
  const [viewer, editor] = [await grant('vera', 'view'), await grant('emil', 'edit')];
  await createDestination();
  await createStream({ replicas: 0 });
  await waitForPhase('idle');
  await until('the roles are aggregated', async () => (await kubectl(['loop', 'status'], viewer)).status === 0);
  const story = await kubectl(['loop', 'diagnose', 'bunny'], viewer);
  expect(story.stdout).toContain('Upload "film" does not exist.');
  expect(story.stdout).not.toContain('Not visible');
  expect((await kubectl(['loop', 'start', 'bunny'], viewer)).stderr).toContain(
    'Ask an administrator for the ClusterRole "edit"',
  );
  // Each role is aggregated on its own.
  await until('the editor may', async () => (await kubectl(['loop', 'start', 'bunny'], editor)).status === 0);
  expect((await kubectl(['loop', 'status', '-A'], editor)).stderr).toContain('or name a namespace with -n');
});

test('events of the operator are in the story, and a list of kubeconfigs is one', async () => {
  await createStream();
  await waitForPhase('waiting');
  await until('the event', async () => (await kube.list(EVENTS, { namespace: NS })).length > 0);
  const list = [join(dir, 'does-not-exist'), kubeconfig].join(delimiter);
  const { stdout } = await kubectl(['loop', 'diagnose', 'bunny'], list);
  expect(stdout).toMatch(/\nEvents\n.*Warning +NotReady +Destination "tv" does not exist\./);
});

test('support-bundle has what helps, and no value of a Secret, an address or an environment', async () => {
  const canary = 'c4n4ry-Qw7';
  await goLive();
  const data = { stringData: { rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: `${KEY}-${canary}`, extra: canary } };
  await kube.mergePatch(SECRETS, NS, 'tv-secret', data);
  const source = { url: `https://media.example/${canary}?token=${canary}` };
  const annotations = { 'team/password': canary };
  const linked = buildObject('Upload', 'linked', { track: 'video', source });
  await kube.create(UPLOADS, NS, { ...linked, metadata: { ...linked.metadata, annotations } } as never);
  const container = {
    name: 'main',
    image: 'x:1',
    args: ['operator', canary],
    env: [{ name: 'LOOPSTREAM_PASSWORD', value: canary }],
  };
  await kube.create(PODS, NS, {
    metadata: { name: 'an-operator', labels: { 'app.kubernetes.io/component': 'operator' }, annotations },
    spec: {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        { ...container, securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
      ],
    },
  });
  await createStream({ destinationNames: ['nowhere'] }, 'waits');
  await waitForPhase('waiting', 'waits');
  await until('the import of the link', async () =>
    (await kube.list(JOBS, { namespace: NS })).some(({ metadata }) => metadata.name === 'linked-import'),
  );

  expect((await loop('version')).stdout).toMatch(
    /^Plugin: +\d.*\nKubernetes: +v1\..*\nOperator: +x:1 \(namespace tv\)\n/,
  );
  const file = join(dir, 'bundle.tar.gz');
  expect(await loop('support-bundle', '-o', file)).toMatchObject({ status: 0, stdout: `${file}\n` });
  const again = await loop('support-bundle', '-o', file);
  expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('exists') });
  const { stdout: names } = await run('tar', ['-tzf', file]);
  const piped = `'${cluster.binaries.kubectl}' loop support-bundle -o - | tar -tz`;
  const { stdout: same } = await run('sh', ['-c', piped], { env: environment(kubeconfig) });
  expect(same.split('\n')).toContain('loopstream-support/summary.txt');
  const { stdout: text } = await run('tar', ['-xzOf', file]);
  for (const name of [
    'summary.txt',
    'versions.yaml',
    'events.yaml',
    'pods.yaml',
    'jobs.yaml',
    'resources/loopstreams.yaml',
    'stories/tv/waits.txt',
  ])
    expect(names.split('\n')).toContain(`loopstream-support/${name}`);
  for (const secret of [canary, KEY, Buffer.from(canary).toString('base64').slice(0, 12)])
    expect(text).not.toContain(secret);
  for (const kept of [
    'bunny',
    'Destination "nowhere" does not exist.',
    'linked-import',
    'media.example',
    'LOOPSTREAM_PASSWORD',
    'an-operator',
  ])
    expect(text).toContain(kept);
});
