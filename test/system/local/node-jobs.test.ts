/** Tests Jobs on the node agent: init containers, sidecars, parts of volumes and their ends, on the real control plane. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOBS, type Job, PODS } from '../../../src/core/kube/core.ts';
import { listProcesses, NS, podSpec, startTestNode, type TestNode, until } from '../../kit/real/node.ts';

let node: TestNode;
beforeAll(async () => {
  node = await startTestNode();
});
afterAll(() => node?.stop());

const WAIT = 'setInterval(() => {}, 1000);';

it('has the share of the processors that it requests, also after that was changed', async () => {
  const script = "const { getPriority } = require('node:os'); setInterval(() => console.log(getPriority()), 50);";
  const request = (cpu: string) => ({ resources: { requests: { cpu } } });
  await node.createPod('share', { script, container: request('50m') });
  const shows = (nice: number) =>
    until(`nice ${nice}`, async () => (await node.readLog('share')).trimEnd().endsWith(`\n${nice}`));
  await shows(6);
  const { spec } = await node.kube.get(PODS, NS, 'share');
  const resize = async (cpu: string) => {
    const containers = (spec.containers as object[]).map((one) => ({ ...one, ...request(cpu) }));
    await node.kube.mergePatch(PODS, NS, 'share', { spec: { containers } }, { subresource: 'resize' });
  };
  await node.untilReady('share');
  await resize('10m');
  await shows(13);
  // Only root may give more.
  if (process.getuid?.() === 0) {
    await resize('200m');
    await shows(0);
  }
  await node.kube.delete(PODS, NS, 'share', { gracePeriodSeconds: 0 });
});

describe('a Job', () => {
  const createJob = (name: string, script: string, spec: Record<string, unknown> = {}): Promise<Job> =>
    node.kube.create(JOBS, NS, {
      metadata: { name },
      spec: { backoffLimit: 0, template: { spec: { ...podSpec({ script }), restartPolicy: 'Never', ...spec } } },
    });
  const findPod = async (job: string) =>
    (await node.kube.list(PODS, { namespace: NS, labelSelector: `job-name=${job}` }))[0];
  const finished = (name: string, type: string) =>
    until(`${name} to be ${type}`, async () =>
      (await node.kube.get(JOBS, NS, name)).status?.conditions?.some(
        (each) => each.type === type && each.status === 'True',
      ),
    );

  it('completes, after its init container, and its termination message is in the status of its pod', async () => {
    const write = (text: string) => `require('node:fs').writeFileSync('/dev/termination-log', ${JSON.stringify(text)})`;
    const mount = { volumeMounts: [{ name: 'work', mountPath: '/scratch' }] };
    const script = `const text = require('node:fs').readFileSync('/scratch/x', 'utf8'); ${write('done')}; console.log(text)`;
    await createJob('good', script, {
      initContainers: [
        {
          name: 'first',
          image: 'test:1',
          args: ['-e', "require('node:fs').writeFileSync('/scratch/x', 'made')"],
          ...mount,
        },
      ],
      containers: [{ name: 'main', image: 'test:1', args: ['-e', script], ...mount }],
      volumes: [{ name: 'work', emptyDir: {} }],
    });
    await finished('good', 'Complete');
    const pod = await findPod('good');
    expect(pod?.status?.phase).toBe('Succeeded');
    expect(pod?.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({
      exitCode: 0,
      reason: 'Completed',
      message: 'done',
    });
    expect(await node.readLog(pod?.metadata.name ?? '')).toBe('made\n');
  });

  it('has its sidecar beside it, which is started again when it falls over and ends with it', async () => {
    const mount = { volumeMounts: [{ name: 'work', mountPath: '/scratch' }] };
    const count = `const { appendFileSync, existsSync, readFileSync } = require('node:fs');
      const runs = () => existsSync('/scratch/runs') ? readFileSync('/scratch/runs', 'utf8').length : 0;`;
    const twice = `${count} appendFileSync('/scratch/runs', 'x'); if (runs() === 1) process.exit(1); ${WAIT}`;
    const script = `${count} setInterval(() => { if (runs() === 2) process.exit(0); }, 20);`;
    const sidecar = { name: 'beside', image: 'test:1', args: ['-e', twice], restartPolicy: 'Always', ...mount };
    await createJob('pair', script, {
      initContainers: [sidecar],
      containers: [{ name: 'main', image: 'test:1', args: ['-e', script], ...mount }],
      volumes: [{ name: 'work', emptyDir: {} }],
    });
    await finished('pair', 'Complete');
    const pod = await findPod('pair');
    expect(pod?.status?.phase).toBe('Succeeded');
    expect(listProcesses(pod?.metadata.uid ?? '')).toEqual([]);
    await node.kube.delete(JOBS, NS, 'pair', { propagationPolicy: 'Background' });
  });

  it('sees the parts of a volume that it mounts, where all of it would be, and nothing else of it', async () => {
    const part = (subPath: string) => ({ name: 'work', mountPath: `/media/${subPath}`, subPath });
    const all = { volumeMounts: [{ name: 'work', mountPath: '/media' }] };
    const make = "const fs = require('node:fs'); fs.mkdirSync('/media/own'); fs.writeFileSync('/media/own/x', 'mine');";
    const script = `const fs = require('node:fs'); const root = process.env.ROOT; console.log(fs.readdirSync(root).join());
      console.log(fs.readFileSync(root + '/own/x', 'utf8')); fs.writeFileSync('/media/new/y', ''); console.log('end')`;
    await createJob('part', script, {
      initContainers: [
        { name: 'first', image: 'test:1', args: ['-e', `${make} fs.writeFileSync('/media/foreign', 'x')`], ...all },
      ],
      containers: [
        {
          name: 'main',
          image: 'test:1',
          args: ['-e', script],
          env: [{ name: 'ROOT', value: '/media' }],
          volumeMounts: [part('own'), part('new')],
        },
      ],
      volumes: [{ name: 'work', emptyDir: {} }],
    });
    await finished('part', 'Complete');
    expect(await node.readLog((await findPod('part'))?.metadata.name ?? '')).toBe('new,own\nmine\nend\n');
    await node.kube.delete(JOBS, NS, 'part', { propagationPolicy: 'Background' });
  });

  it('that exits with an error fails, with the exit code in the status of its pod', async () => {
    await createJob(
      'bad',
      "require('node:fs').writeFileSync('/dev/termination-log', 'x'.repeat(5000)); process.exit(7)",
    );
    await finished('bad', 'Failed');
    const terminated = (await findPod('bad'))?.status?.containerStatuses?.[0]?.state?.terminated;
    expect(terminated).toMatchObject({ exitCode: 7, reason: 'Error' });
    expect(terminated?.message).toHaveLength(4096);
    for (const name of ['good', 'bad']) await node.kube.delete(JOBS, NS, name, { propagationPolicy: 'Background' });
    await until('the pods of both to be gone', async () => !(await findPod('good')) && !(await findPod('bad')));
  });
});
